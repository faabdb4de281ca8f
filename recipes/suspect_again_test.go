package recipes_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// loses is a connection that is lost before a read of one path.
type loses struct {
	recipes.Conn
	a    actor
	path string
	read map[string]int // how often each path was read since
	lost bool
}

func (l *loses) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	if path == l.path && !l.lost {
		l.lost = true
		l.a.happen("disconnect c1")
	}
	data, stat, event, err := l.Conn.GetW(path)
	if l.lost && err == nil {
		l.read[path]++
	}
	return data, stat, event, err
}

// What a cache read before the connection was lost has to be read again before it says that it has no doubts.
func TestACacheThatLosesItsConnectionWhileItReadsDoubtsUntilItHasReadAll(t *testing.T) {
	certain := 0
	play(t, func(w *sim.World) {
		create("/w", openACL)(w)
		create("/w/a", openACL)(w)
		create("/w/b", openACL)(w)
	}, func(a actor) {
		a.idle = true
		l := &loses{Conn: a.Conn, a: a, path: "/w/b", read: map[string]int{}}
		stop := false
		opt := recipes.WatchOptions{Suspect: func(suspect bool) {
			if !suspect && l.lost {
				if certain++; l.read["/w/a"] == 0 {
					a.t.Error("no doubts, though /w/a was not read again")
				}
			}
		}}
		a.env.Go("end", func() {
			for range 1000 {
				a.env.Now()
			}
			stop = true
			_, err := a.Set("/w/b", []byte("x"), -1)
			a.is("Set", err, nil)
		})
		a.is("Run", recipes.NewChildrenCache(l, a.env, "/w", opt).Run(ctx,
			func([]recipes.Child, []recipes.Change) bool { return !stop }), nil)
	})
	if certain == 0 {
		t.Error("it has never lost its doubts")
	}
}
