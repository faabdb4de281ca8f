package recipes_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver/zkservertest"
	"zksim/recipes"
	"zksim/recipes/live"
)

// slow is a connection that sends no multi before it may, as one that waits for a server.
type slow struct {
	*live.Client
	asked chan struct{} // has something for each multi
	may   chan struct{} // closed when they may be sent
	sent  chan string   // the data of the first one
}

// Multi implements [recipes.Conn].
func (s slow) Multi(ops ...interface{}) ([]zk.MultiResponse, error) {
	s.asked <- struct{}{}
	<-s.may
	var data string
	for _, op := range ops {
		switch op := op.(type) {
		case *zk.CreateRequest:
			data += string(op.Data)
		case *zk.SetDataRequest:
			data += string(op.Data)
		}
	}
	select {
	case s.sent <- data:
	default:
	}
	return s.Client.Multi(ops...)
}

// The library may read the data of a request after its caller has given up, and uses the buffer for something else.
func TestARequestThatIsGivenUpHasItsOwnData(t *testing.T) {
	c := dial(t, zkservertest.ForTest(t, 1).Addrs())
	for name, put := range map[string]func(ctx context.Context, conn recipes.Conn, data []byte) error{
		"create": func(ctx context.Context, conn recipes.Conn, data []byte) error {
			return recipes.NewQueue(conn, c.Env(), "/queue", recipes.QueueOptions{}).Put(ctx, data)
		},
		"set": func(ctx context.Context, conn recipes.Conn, data []byte) error {
			base, err := recipes.NewConfig(c, c.Env(), "/config", recipes.ConfigOptions{}).Get(ctx)
			if err != nil {
				return err
			}
			config := recipes.NewConfig(conn, c.Env(), "/config", recipes.ConfigOptions{})
			return config.Update(ctx, base, map[string][]byte{"a": data})
		},
	} {
		if err := put(bounded(t), c, []byte("before")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(bounded(t))
		s := slow{c, make(chan struct{}, 100), make(chan struct{}), make(chan string, 1)}
		data, ended := []byte("a value"), make(chan error)
		go func() { ended <- put(ctx, s, data) }()
		<-s.asked
		cancel()
		if err := <-ended; err == nil {
			t.Errorf("%s: no error of a call that was given up", name)
		}
		copy(data, bytes.ToUpper(data))
		close(s.may)
		if got := <-s.sent; got != "a value" {
			t.Errorf("%s: sent %q, expected %q", name, got, "a value")
		}
	}
}
