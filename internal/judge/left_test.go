package judge

import (
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/jute"
)

// c1 has made /m/a, /m/b and went without closing its session. What is left over is what nobody has missed since.
func TestWhatSomebodyHasMissedIsNotLeftOver(t *testing.T) {
	const a, b = "/m/a of c1, which has gone and did not close its session",
		"/m/b of c1, which has gone and did not close its session"
	list := model.Request{Op: model.OpGetChildren, Path: "/m"}
	both := model.Response{Children: []string{"a", "b"}, Zxid: 4}
	look := model.Request{Op: model.OpExists, Path: "/m/a", Watch: true}
	below := model.Request{Op: model.OpGetChildren2, Path: "/m/a"}
	deleted := frame(jute.AppendEvent(nil, model.Event{Type: zk.EventNodeDeleted, Path: "/m/a"}, -1))
	for name, x := range map[string]struct { // order-free: each by itself
		say  func(c *talk)
		want []string
	}{
		"nobody has looked": {func(*talk) {}, []string{a, b}},
		"listed":            {func(c *talk) { c.done(list, both) }, []string{a, b}},
		"listed before":     {func(c *talk) { c.done(list, model.Response{Zxid: 2}) }, []string{a, b}},
		"not listed":        {func(c *talk) { c.done(list, model.Response{Zxid: 5}) }, nil},
		"no znode to list":  {func(c *talk) { c.done(below, none(5)) }, nil},
		"notified": {func(c *talk) {
			c.done(look, model.Response{Zxid: 4})
			c.c.Received(deleted)
		}, nil},
		"notified of one before": {func(c *talk) {
			c.done(look, model.Response{Zxid: 2})
			c.c.Received(deleted)
		}, []string{a, b}},
		"one may have been deleted": {func(c *talk) {
			c.ask(model.Request{Op: model.OpDelete, Path: "/m/a", Version: -1})
			c.c.Dropped()
			again := &talk{c: attached(c.c.r, 3)}
			again.done(list, model.Response{Children: []string{"b"}, Zxid: 5})
		}, []string{b}},
	} {
		r := NewRecorder()
		first, other := &talk{c: attached(r, 1)}, &talk{c: attached(r, 2)}
		first.done(creating("/m/a", "", zk.FlagEphemeral), model.Response{Path: "/m/a", Zxid: 3})
		first.done(creating("/m/b", "", zk.FlagEphemeral), model.Response{Path: "/m/b", Zxid: 4})
		first.c.Left()
		x.say(other)
		j, _, err := r.Judge(nil)
		var got []string
		for _, v := range j.Violations {
			got = append(got, v[len("left over: "):])
		}
		if err != nil || !slices.Equal(got, x.want) {
			t.Errorf("%s: %q, want %q, %v", name, got, x.want, err)
		}
	}
}

// The C client ends its connection behind the request that ends its session, and waits for no answer. With answers
// unread, that resets the connection, and the proxy hears no more of it.
func TestAClientThatHasAskedForTheEndOfItsSessionLeavesNothingOver(t *testing.T) {
	for name, end := range map[string]func(*Connection){ // order-free: each by itself
		"left": (*Connection).Left, "dropped": (*Connection).Dropped,
	} {
		r := NewRecorder()
		c := &talk{c: attached(r, 1)}
		c.done(creating("/a", "", zk.FlagEphemeral), model.Response{Path: "/a", Zxid: 3})
		c.ask(model.Request{Op: model.OpGetData, Path: "/a"})
		c.ask(model.Request{Op: model.OpCloseSession})
		end(c.c)
		j, _, err := r.Judge(nil)
		if err != nil || len(j.Violations)+len(j.Inconclusive) > 0 {
			t.Errorf("%s: %q, %q, %v", name, j.Violations, j.Inconclusive, err)
		}
	}
}

// What stands behind the proxy may be no ZooKeeper.
func TestAnAnswerWithWhatIsNoPathIsJudged(t *testing.T) {
	for _, path := range []string{"abc", "lock-0000000001", ""} {
		r := NewRecorder()
		c := &talk{c: attached(r, 1)}
		c.done(creating("/a", "", zk.FlagEphemeral), model.Response{Path: path, Zxid: 3})
		if _, _, err := r.Judge(nil); err != nil {
			t.Error(err)
		}
	}
}
