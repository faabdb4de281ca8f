package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// queueWatch is what a consumer that waits listens to. Channels are kept until
// they fire, from call to call: there is no way to take a watch back, and each one
// left would stay in memory.
//
// The session is listened to because the server does not always tell after a
// reconnect what the watches have missed: once sequence numbers repeat, a create
// does not move the parent's pzxid any more, by which it would know.
type queueWatch struct{ items, claims, session <-chan zk.Event }

// begin forgets the watches if the session has changed state since they were left.
func (w *queueWatch) begin(env Env) {
	if w.session == nil || len(w.session) > 0 {
		*w = queueWatch{session: env.SessionEvents()}
	}
}

// list returns a function that lists the children of a znode and sees to it that
// the next change of them is heard from event, which is one of w's.
func (w *queueWatch) list(conn requests, event *<-chan zk.Event) func(path string) ([]string, error) {
	return func(path string) (names []string, err error) {
		if *event != nil && len(*event) == 0 {
			names, _, err = conn.Children(path)
			return names, err
		}
		names, _, *event, err = conn.ChildrenW(path)
		return names, err
	}
}

// wait waits for any of the three.
func (w *queueWatch) wait(ctx context.Context, env Env) error {
	i, _, err := env.Await(ctx, w.items, w.claims, w.session)
	switch i {
	case 0:
		w.items = nil
	case 1:
		w.claims = nil
	case 2:
		w.session = nil
	}
	return err
}
