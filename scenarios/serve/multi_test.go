package serve

import (
	"testing"
	"time"

	"zksim/model"
	"zksim/model/jute"
)

// A request is lost, and the same client then does the same in a multi, of whose parts the judge knows only the txns.
func TestAMultiIsNotTakenForARequestThatWasLost(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ lost, done model.Request }{
		"create": {model.Request{Op: model.OpCreate, Path: "/b", Data: []byte("1"), ACL: open},
			model.Request{Op: model.OpCreate, Path: "/b", Data: []byte("2"), ACL: open}},
		"set": {model.Request{Op: model.OpSetData, Path: "/a", Data: []byte("1"), Version: 7},
			model.Request{Op: model.OpSetData, Path: "/a", Data: []byte("1"), Version: -1}},
		"delete": {model.Request{Op: model.OpDelete, Path: "/a", Version: 7},
			model.Request{Op: model.OpDelete, Path: "/a", Version: -1}},
	} {
		e := start(t, Options{Faults: mustPlan(t, "lose-request=1@op="+name+",path="+x.lost.Path)})
		other := client(t, 30*time.Second, e.Addrs()...)
		must[string](t)(other.Create("/c", nil, 0, open)) // is judged
		if name != "create" {
			must[string](t)(other.Create("/a", nil, 0, open))
		}
		sock := dial(t, e)
		w := hello(t, sock, 0, make([]byte, jute.PasswordLen))
		send(t, sock, jute.AppendRequest(nil, 1, &x.lost))
		if _, err := receive(sock); err == nil {
			t.Fatalf("%s: expected the end of the connection", name)
		}
		sock = dial(t, e)
		hello(t, sock, w.Session, w.Password)
		if a, _ := ask(t, sock, model.Request{Op: model.OpMulti, Ops: []model.Request{x.done}}); a.Err != model.OK {
			t.Errorf("%s: %+v", name, a)
		}
		ask(t, sock, model.Request{Op: model.OpCloseSession})
		if j := e.Judge(); len(j.Violations)+len(j.Inconclusive) > 0 {
			t.Errorf("%s: %q %q", name, j.Violations, j.Inconclusive)
		}
	}
}
