package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
)

var listing = model.Request{Op: model.OpGetChildren, Path: "/l", Watch: true}

// A server tells those that watch before it answers the client that has made the change.
func TestANotificationComesAfterItsChange(t *testing.T) {
	r := NewRecorder()
	a, b := &talk{c: attached(r, 1)}, &talk{c: attached(r, 2)}
	a.done(creating("/l", "", 0), model.Response{Path: "/l", Zxid: 3})
	b.done(listing, model.Response{Zxid: 3})
	create := a.ask(creating("/l/a", "", 0))
	b.notified(zk.EventNodeChildrenChanged, "/l")
	a.tell(create, model.OpCreate, model.Response{Path: "/l/a", Zxid: 4})
	h, err := r.History()
	if err != nil {
		t.Fatal(err)
	}
	change := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Kind.IsChange() && e.Path == "/l/a" })
	told := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Notify })
	if told < change || h.Events[told].Zxid != 4 {
		t.Errorf("event %d, the change is %d: %v", told, change, h.Events)
	}
}

// Three clients are told that the ephemeral of an ended session is gone, of which no packet tells, and later that two
// znodes were made.
func TestAChangeThatWasNotAskedForYetWakesNobody(t *testing.T) {
	for name, watch := range map[string]model.Request{ // order-free: each by itself
		"a listing":          listing,
		"a watch that stays": {Op: model.OpAddWatch, Path: "/l"},
	} {
		r := NewRecorder()
		a := &talk{c: attached(r, 1)}
		a.done(creating("/l", "", 0), model.Response{Path: "/l", Zxid: 3})
		list := []*talk{{c: attached(r, 2)}, {c: attached(r, 3)}, {c: attached(r, 4)}}
		wake := func(zxid int64) {
			for _, b := range list {
				b.notified(zk.EventNodeChildrenChanged, "/l")
				b.done(watch, model.Response{Zxid: zxid})
			}
		}
		for _, b := range list {
			b.done(watch, model.Response{Zxid: 4})
		}
		wake(5)
		for i, path := range []string{"/l/a", "/l/b"} {
			create, zxid := a.ask(creating(path, "", 0)), int64(6+i)
			wake(zxid)
			a.tell(create, model.OpCreate, model.Response{Path: path, Zxid: zxid})
		}
		j, h, err := r.Judge(nil)
		var told []int64 // c2 of what
		for _, e := range h.Events {
			if e.Kind == history.Notify && e.Client == 2 {
				told = append(told, e.Zxid)
			}
		}
		const want = "herd: 9 notifications, at most 3 by one change (created /l/"
		if err != nil || !strings.Contains(strings.Join(j.Facts, "; "), want) || !slices.Equal(told, []int64{0, 6, 7}) {
			t.Errorf("%s: %q, c2 was told of %d, %v", name, j.Facts, told, err)
		}
	}
}

func TestARecursiveWatchTellsOfZnodesBelow(t *testing.T) {
	r := NewRecorder()
	a, b := &talk{c: attached(r, 1)}, &talk{c: attached(r, 2)}
	b.done(model.Request{Op: model.OpAddWatch, Path: "/", Mode: 1}, model.Response{Zxid: 3})
	create := a.ask(creating("/l", "", 0))
	b.notified(zk.EventNodeCreated, "/l")
	a.tell(create, model.OpCreate, model.Response{Path: "/l", Zxid: 4})
	const want = "herd: 1 notification, at most 1 by one change (created /l)"
	if j, _, err := r.Judge(nil); err != nil || !slices.Contains(j.Facts, want) {
		t.Errorf("%q, %v, want %q", j.Facts, err, want)
	}
}

// The views find the call of an answer by what both have in common.
func TestTheModeOfAWatchIsNothingThatIsAskedOrAnswered(t *testing.T) {
	r := NewRecorder()
	(&talk{c: attached(r, 1)}).done(model.Request{Op: model.OpAddWatch, Path: "/", Mode: 1}, model.Response{Zxid: 3})
	h, err := r.History()
	if n := len(h.Events); err != nil || h.Events[n-1].Value != h.Events[n-2].Value || h.Events[n-1].Version != 1 {
		t.Errorf("%v, %v", h.Events, err)
	}
}
