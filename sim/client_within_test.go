package sim

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
)

// leaves is a program that gives up a read that leaves a watch, and then a create, when its context is done.
func leaves(s *script, c *Client) {
	ctx, cancel := context.WithCancel(context.Background())
	c.OnInterrupt(ctx, cancel)
	for _, request := range []func() error{
		func() error {
			_, _, _, err := c.Conn().ExistsW("/d/a")
			return err
		},
		func() error {
			_, err := c.Conn().Create("/d/b", nil, 0, open)
			return err
		},
	} {
		c.rests()
		var err error
		ended := c.Env().Within(ctx, func() { err = request() })
		s.say("%v %v", ended, err)
	}
	c.Env().Undo("undo", func() { s.say("delete %v", c.Conn().Delete("/d/b", -1)) })
}

func TestARequestThatIsGivenUpTakesItsCourse(t *testing.T) {
	for name, do := range map[string][]string{
		"not sent":                 {"run c1", "cancel c1"},
		"on the wire":              {"run c1", "connect c1 s1", "cancel c1"},
		"the answer is on its way": {"run c1", "connect c1 s1", "serve c1", "cancel c1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, 1, leaves)
			s.do("run c1")
			s.do(do...)
			before := s.w.Fingerprint()
			s.do("run c1")
			s.want("false context canceled")
			if s.w.Fingerprint() == before {
				t.Error("the code has gone on, and the fingerprint does not tell")
			}
			s.do("run c1") // the second does not begin
			s.want("false <nil>")
			s.rest()
			s.want("delete zk: node does not exist")
			if n := len(s.w.Clients()[0].Watches()); n != 1 {
				t.Errorf("the library has %d watches, want that of the read", n)
			}
		})
	}
}

// TestCredentialsThatNobodyWaitsForAreSentAgain: AddAuth goes on in a goroutine that Within has left, which notes them
// for the next connection. Seen with 3.8.0.
func TestCredentialsThatNobodyWaitsForAreSentAgain(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		k := c.Conn()
		k.Create("/d/secret", nil, 0, zk.DigestACL(zk.PermAll, "u", "p"))
		ctx, cancel := context.WithCancel(context.Background())
		c.OnInterrupt(ctx, cancel)
		s.say("%v", c.Env().Within(ctx, func() { k.AddAuth("digest", []byte("u:p")) }))
		for range 2 {
			c.rests()
			_, _, err := k.Get("/d/secret")
			s.say("%v", err)
		}
	})
	s.do("run c1", "connect c1 s1", "serve c1", "deliver c1", "cancel c1", "run c1", "serve c1", "deliver c1")
	s.do("run c1", "serve c1", "deliver c1", "cut c1", "round c1", "connect c1 s1", "run c1", "serve c1", "deliver c1")
	s.want("false", "<nil>", "<nil>")
}

func TestACreateThatIsGivenUpIsExecutedBeforeItIsUndone(t *testing.T) {
	s := start(t, 1, func(s *script, c *Client) {
		ctx, cancel := context.WithCancel(context.Background())
		c.OnInterrupt(ctx, cancel)
		c.rests()
		s.say("%v", c.Env().Within(ctx, func() { c.Conn().Create("/d/b", nil, 0, open) }))
		c.Env().Undo("undo", func() { s.say("delete %v", c.Conn().Delete("/d/b", -1)) })
	})
	s.do("run c1", "run c1")
	s.do("cancel c1", "run c1")
	s.want("false")
	s.rest()
	s.want("delete <nil>")
	s.wantMade("/d/b")
}
