package gokit_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-kit/kit/sd"
	kit "github.com/go-kit/kit/sd/zk"
	"github.com/go-kit/log"
	"github.com/go-zookeeper/zk"

	"example.com/real"
	"example.com/real/gokit"
	"zksim/scenarios/zktest"
)

const dir = "/services"

// watched lets an Instancer follow a list of instances while they come and go. At the end it compares what the
// Instancer knows with what there is. The first client, c1, belongs to the Instancer.
func watched(client func(c *zktest.Cluster) (kit.Client, func())) func(c *zktest.Cluster) {
	return func(c *zktest.Cluster) {
		own, stop := client(c)
		defer stop()
		var known list
		events := make(chan sd.Event)
		go known.follow(events)
		defer close(events)
		s, err := kit.NewInstancer(own, dir, log.NewNopLogger())
		for err != nil {
			time.Sleep(time.Second)
			s, err = kit.NewInstancer(own, dir, log.NewNopLogger())
		}
		defer s.Stop()
		s.Register(events)
		defer s.Deregister(events)
		others(real.Connect(c))
		c.AtRest()
		if !known.is("b", "c") {
			c.Errorf("there are b and c, and the Instancer knows %q", known.get())
		}
	}
}

// others creates three instances, and deletes one of them.
func others(conn *zk.Conn) {
	for _, name := range []string{"a", "b", "c"} {
		for {
			_, err := conn.Create(dir+"/"+name, []byte(name), 0, zk.WorldACL(zk.PermAll))
			if err == nil || err == zk.ErrNodeExists {
				break
			}
			time.Sleep(time.Second)
		}
	}
	for {
		if err := conn.Delete(dir+"/a", -1); err == nil || err == zk.ErrNoNode {
			return
		}
		time.Sleep(time.Second)
	}
}

// list is the latest list that an Instancer has sent.
type list struct {
	mu    sync.Mutex
	names []string
}

func (l *list) follow(events <-chan sd.Event) {
	for e := range events {
		l.mu.Lock()
		l.names = slices.Sorted(slices.Values(e.Instances))
		l.mu.Unlock()
	}
}

func (l *list) get() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.names
}

func (l *list) is(names ...string) bool { return slices.Equal(l.get(), names) }

// published returns go-kit's client, which connects by itself.
func published(c *zktest.Cluster) (kit.Client, func()) {
	client, err := kit.NewClient(c.Addrs(), log.NewNopLogger())
	if err != nil {
		panic(err)
	}
	return client, client.Stop
}

func mended(c *zktest.Cluster) (kit.Client, func()) {
	client, stop := published(c)
	p := &gokit.Patient{Client: client, Conn: real.Connect(c), Quit: make(chan struct{})}
	return p, func() { close(p.Quit); stop() }
}

// Reading the data of an instance fails, and the instance is left out. No watch reports this.
func TestAnInstanceIsLeftOut(t *testing.T) {
	real.Broken(t, watched(published), zktest.Faults("lose-request=1@client=c1,op=get"))
}

// The listing fails and leaves no watch. The loop then waits for a nil channel and never hears of a change again.
func TestTheInstancerIsDeaf(t *testing.T) {
	real.Broken(t, watched(published), zktest.Faults("disconnect=1@client=c1"))
}

func TestTheMendedInstancerHolds(t *testing.T) {
	real.Holds(t, watched(mended), zktest.Faults("lose-request=2 lose-reply=2 disconnect=2 watch-delay=1 "+
		"stale-read=1 failover=1 late-commit=1 elect=1"))
}
