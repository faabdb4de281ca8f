package zk

import (
	"sync"
	"time"
)

func start(m map[string]*sync.Mutex) {
	for k := range m {
		go func() { _ = k }()
	}
	select {
	case <-time.After(time.Second):
	}
}
