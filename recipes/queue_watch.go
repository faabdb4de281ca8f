package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// queueWatch is what a waiting consumer listens to. Channels are kept from call to call until they fire, because a
// watch cannot be taken back and stays in memory.
//
// It includes the session because after a reconnect the server does not always tell what the watches have missed: it
// goes by the parent's pzxid, which creates no longer move once sequence numbers repeat.
type queueWatch struct{ items, claims, session <-chan zk.Event }

// begin forgets the watches if the session has changed state since they were left.
func (w *queueWatch) begin(env Env) {
	if w.session == nil || len(w.session) > 0 {
		*w = queueWatch{session: env.SessionEvents()}
	}
}

// list returns a function that lists the children of a znode and makes sure that their next change fires event, a
// field of w.
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
