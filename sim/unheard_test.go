package sim

import (
	"context"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"
)

// dropsWatch leaves a watch on /d in a piece of code that keeps nothing, and then
// reads something else.
func dropsWatch(s *script, c *Client) {
	forget := c.Env().Forget()
	c.Conn().GetW("/d")
	forget()
	c.Conn().Exists("/")
}

func setsData(s *script, c *Client) { c.Conn().Set("/d", []byte("x"), -1) }

// held returns how many watches the library and the server of c1 have.
func (s *script) held() (library, server int) {
	c := s.w.clients[0]
	return len(c.watchers), len(s.w.servers[0].store.Watches(&c.conn))
}

func TestAWatchThatNobodyHearsIsForgotten(t *testing.T) {
	for _, unheard := range []bool{true, false} {
		s := start(t, 1, dropsWatch)
		s.w.Detail = Detail{Forget: true, Unheard: unheard}
		s.do("run c1", "connect c1 s1", "serve c1")
		if library, server := s.held(); library != 0 || server != 1 {
			t.Errorf("%d and %d watches before the answer has come", library, server)
		}
		s.do("deliver c1")
		x := s.w.Sweeping()
		if library, server := s.held(); unheard && (library+server > 0 || x.Times != 1 || len(x.Removed) != 1 || len(x.Dropped) != 1) {
			t.Errorf("%d and %d watches, %+v", library, server, x)
		} else if !unheard && (library != 1 || server != 1 || x.Times > 0) {
			t.Errorf("%d and %d watches without that, %+v", library, server, x)
		}
	}
}

func TestTheEventOfAWatchThatNobodyHearsIsForgotten(t *testing.T) {
	for _, unheard := range []bool{true, false} {
		s := start(t, 1, dropsWatch, setsData)
		s.w.Detail = Detail{Forget: true, Unheard: unheard}
		s.do("run c1", "connect c1 s1", "serve c1")
		s.alone("c2") // the event is behind the answer
		s.do("deliver c1")
		if s.can("deliver c1") == unheard {
			t.Errorf("unheard %v: possible is %v", unheard, s.possible())
		}
		if next, ok := s.w.Unheard(); ok == unheard || ok && s.w.Name(next) != "deliver c1" {
			t.Errorf("unheard %v: %v %v", unheard, s.w.Name(next), ok)
		}
	}
}

func TestSetWatchesThatNobodyNeedsAreToldFromOthers(t *testing.T) {
	s := start(t, 1, dropsWatch)
	s.w.Detail = Detail{Forget: true}
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "serve c1", "deliver c1", "cut c1", "round c1", "connect c1 s1")
	for _, want := range []string{"serve c1", "deliver c1"} {
		next, ok := s.w.Unheard()
		if !ok || s.w.Name(next) != want {
			t.Fatalf("%v %v, want %s", s.w.Name(next), ok, want)
		}
		s.step(next)
	}

	s = start(t, 1, func(s *script, c *Client) {
		_, _, ch, _ := c.Conn().GetW("/d")
		c.Env().Await(context.Background(), ch)
	})
	s.w.Detail = Detail{Forget: true}
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "cut c1", "round c1", "connect c1 s1")
	if next, ok := s.w.Unheard(); ok {
		t.Errorf("%s", s.w.Name(next))
	}
	if !s.can("serve c1") {
		t.Error("there are no SetWatches")
	}
}

// What a drop can do wrong is told: a channel is used after all, or a read of the same znode has waited for a
// connection.
func TestDropsThatMatterAreTold(t *testing.T) {
	for _, kept := range []bool{true, false} {
		s := start(t, 1, func(s *script, c *Client) {
			var ch <-chan zk.Event
			var other struct{ ch <-chan zk.Event }
			forget := c.Env().Forget()
			_, _, ch, _ = c.Conn().GetW("/d")
			forget()
			if kept {
				other.ch = ch
				c.Env().Forget()(&other)
			} else {
				c.Env().Await(context.Background(), ch)
			}
		})
		s.w.Detail = Detail{Forget: true, Unheard: true}
		s.do("run c1", "connect c1 s1", "serve c1", "deliver c1")
		if s.w.Sweeping().Mistaken == 0 {
			t.Errorf("kept %v: nobody is mistaken", kept)
		}
	}

	s := start(t, 1, func(s *script, c *Client) {
		for range 3 {
			forget := c.Env().Forget()
			c.Conn().GetW("/d")
			forget()
		}
	})
	s.w.Detail = Detail{Forget: true, Unheard: true}
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "cut c1", "run c1", "round c1", "run c1")
	if x := s.w.Sweeping(); len(x.Dropped) != 1 || !slices.Equal(x.Dropped, x.Awaited) {
		t.Errorf("%+v", x)
	}
}

func TestDropEndsAWatchOfAnyCode(t *testing.T) {
	for _, drops := range []bool{true, false} {
		s := start(t, 1, func(s *script, c *Client) {
			_, _, ch, _ := c.Conn().GetW("/d")
			if drops {
				c.Env().Drop(ch)
			}
			c.Conn().Exists("/")
		})
		s.w.Detail = Detail{Forget: true, Unheard: true}
		s.do("run c1", "connect c1 s1", "serve c1", "deliver c1")
		if library, server := s.held(); (library+server == 0) != drops {
			t.Errorf("drops %v: %d and %d watches", drops, library, server)
		}
	}
}
