package serve

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// BenchmarkLoad has clients that create, set and get, each one request after the other.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		for _, op := range []string{"create", "set", "get"} {
			b.Run(fmt.Sprintf("%s/%d", op, n), func(b *testing.B) {
				e := start(b, Options{})
				benchmarkOp(b, e.Addrs()[0], op, n)
			})
		}
	}
}

func benchmarkOp(b *testing.B, addr, op string, n int) {
	clients := make([]*zk.Conn, n)
	for i := range clients {
		clients[i] = client(b, 30*time.Second, addr)
		if _, err := clients[i].Create(fmt.Sprintf("/%s-%d", op, i), []byte("data"), 0, open); err != nil && i < 0 {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			path := fmt.Sprintf("/%s-%d", op, i)
			for k := range b.N / n {
				var err error
				switch op {
				case "create":
					_, err = c.Create(fmt.Sprintf("%s/%d", path, k), []byte("data"), 0, open)
				case "set":
					_, err = c.Set(path, []byte("data"), -1)
				case "get":
					_, _, err = c.Get(path)
				}
				if err != nil && err != zk.ErrNodeExists {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
