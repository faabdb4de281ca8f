package conform

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

func TestZxidsCorrespondInOrder(t *testing.T) {
	var z correspondence
	for _, c := range []struct {
		real, sim int64
		match     bool
	}{
		{100, 1, true}, {100, 1, true}, {100, 2, false}, {101, 1, false},
		{200, 5, true}, {150, 3, true}, {160, 2, false}, {160, 5, false}, {160, 4, true},
		{99, 0, true}, {98, 0, false}, {300, 4, false}, {300, 6, true},
	} {
		if got := z.match(c.real, c.sim); got != c.match {
			t.Errorf("match(%d, %d) is %v after %v", c.real, c.sim, got, z.pairs)
		}
	}
	if got := z.describe(0, 150); got != "0x96 (txn 3)" {
		t.Errorf("got %q", got)
	}
	if got := z.describe(1, 7); got != "0x7 (after txn 6)" {
		t.Errorf("got %q", got)
	}
}

// outcomes are an outcome and what the same thing looks like on another
// ensemble.
func outcomes() (real, sim Outcome) {
	stat := func(z int64) *Stat {
		return &Stat{Czxid: z, Mzxid: z + 1, Pzxid: z, Ctime: z * 10, Mtime: z*10 + 3, Version: 1, Owner: "s1"}
	}
	both := func(z int64) Outcome {
		return Outcome{
			Result: Result{Path: "/r/a", Stat: stat(z)}, Data: `"x"`, Children: []string{"a"}, ACL: []string{"world:anyone:31"},
			Results: []Result{{Path: "/r/b", Stat: stat(z)}}, Session: "s1",
			Events: map[string][]string{"s1": {"deleted /r/a", "child /r"}},
			States: map[string][]string{"s1": {"StateHasSession"}}, Fired: []string{"data watch of step 3"},
		}
	}
	return both(0x100000007), both(12)
}

func TestEveryFieldIsCompared(t *testing.T) {
	set := &Op{Session: 1, Kind: Set}
	real, sim := outcomes()
	c := newComparison()
	if c.outcome(set, 0, &real, &sim); len(c.found) > 0 {
		t.Fatalf("the same: %v", c.found)
	}
	for field, change := range map[string]func(o *Outcome){
		"err":                   func(o *Outcome) { o.Err = "e" },
		"path":                  func(o *Outcome) { o.Path = "/r/c" },
		"stat":                  func(o *Outcome) { o.Stat = nil },
		"results[0].stat.czxid": func(o *Outcome) { o.Results[0].Stat.Czxid++ },
		"stat.mzxid":            func(o *Outcome) { o.Stat.Mzxid = o.Stat.Czxid },
		"stat.pzxid":            func(o *Outcome) { o.Stat.Pzxid += 9; o.Results = o.Results[:1] },
		"stat.version":          func(o *Outcome) { o.Stat.Version++ },
		"stat.cversion":         func(o *Outcome) { o.Stat.Cversion++ },
		"stat.aversion":         func(o *Outcome) { o.Stat.Aversion++ },
		"stat.ephemeralOwner":   func(o *Outcome) { o.Stat.Owner = "s1.2" },
		"stat.dataLength":       func(o *Outcome) { o.Stat.Length++ },
		"stat.numChildren":      func(o *Outcome) { o.Stat.Children++ },
		"results[0].stat.ctime": func(o *Outcome) { o.Results[0].Stat.Ctime++ },
		"results[0].stat.mtime": func(o *Outcome) { o.Results[0].Stat.Mtime++ },
		"results":               func(o *Outcome) { o.Results = nil },
		"results[0].err":        func(o *Outcome) { o.Results[0].Err = "e" },
		"data":                  func(o *Outcome) { o.Data = "null" },
		"found":                 func(o *Outcome) { o.Found = "true" },
		"children":              func(o *Outcome) { o.Children = []string{"b"} },
		"acl":                   func(o *Outcome) { o.ACL = nil },
		"session":               func(o *Outcome) { o.Session = "s1.2" },
		"events of s1":          func(o *Outcome) { slices.Reverse(o.Events["s1"]) },
		"events of s2":          func(o *Outcome) { o.Events["s2"] = []string{"child /r"} },
		"session events of s1":  func(o *Outcome) { o.States = nil },
		"fired":                 func(o *Outcome) { o.Fired = nil },
	} {
		for _, side := range []int{0, 1} {
			both := [2]Outcome{}
			both[0], both[1] = outcomes()
			change(&both[side])
			c := newComparison()
			c.outcome(set, 4, &both[0], &both[1])
			if !slices.ContainsFunc(c.found, func(d Difference) bool {
				return d.Field == field && d.Step == 4 &&
					d.Real != d.Sim
			}) {
				t.Errorf("%s, side %d: found %v", field, side, c.found)
			}
		}
	}
}

func TestTheOrderOfEventsIsComparedAsFarAsItIsDetermined(t *testing.T) {
	for _, c := range []struct {
		kind      Kind
		real, sim string
		same      bool
	}{
		{Multi, "deleted /a, deleted /b", "deleted /b, deleted /a", false},
		{Close, "deleted /a, child /, deleted /b, child /", "deleted /b, child /, deleted /a, child /", true},
		{Expire, "deleted /a, deleted /b", "deleted /b, deleted /a", true},
		{Close, "deleted /a, created /a", "created /a, deleted /a", false},
		{Close, "deleted /a", "deleted /a, deleted /a", false},
		{Reconnect, "changed /a, changed /b, child /c", "changed /b, changed /a, child /c", true},
		{Reconnect, "changed /a, child /c", "child /c, changed /a", false},
		{Reconnect, "deleted /d, changed /a", "changed /a, deleted /d", true},
	} {
		real := map[string][]string{"s1": strings.Split(c.real, ", ")}
		sim := map[string][]string{"s1": strings.Split(c.sim, ", ")}
		cmp := newComparison()
		cmp.events(&Op{Kind: c.kind}, real, sim)
		if same := len(cmp.found) == 0; same != c.same {
			t.Errorf("%s: %q and %q: same is %v: %v", c.kind, c.real, c.sim, same, cmp.found)
		}
	}
}

func TestWhatACloserHearsOfItsOwnEndIsNotCompared(t *testing.T) {
	real, sim := Outcome{}, Outcome{States: map[string][]string{"s1": {"StateDisconnected"}}}
	for client, differs := range map[int]bool{1: false, 2: true} {
		c := newComparison()
		c.outcome(&Op{Session: client, Kind: Close}, 0, &real, &sim)
		if got := len(c.found) > 0; got != differs {
			t.Errorf("client %d closes: %v", client, c.found)
		}
	}
}

// torn is a connection on which the library notices the end while it writes.
type torn struct{ recipes.Conn }

func (torn) Set(string, []byte, int32) (*zk.Stat, error) {
	return &zk.Stat{}, fmt.Errorf("wrapped: %w", &net.OpError{Op: "write", Err: errors.New("broken pipe")})
}

func TestAConnectionThatEndsDuringAWriteIsAClosedOne(t *testing.T) {
	out, _ := call(torn{}, &Op{Kind: Set, Path: "/a"}, "/r", nil)
	if out.Err != zk.ErrConnectionClosed.Error() || out.Stat != nil {
		t.Errorf("%+v", out)
	}
}

func TestPathsStayBelowTheRoot(t *testing.T) {
	for _, c := range []struct {
		op   Op
		want string
	}{
		{Op{Kind: Get, Path: "/"}, "/r"},
		{Op{Kind: Get, Path: "/a"}, "/r/a"},
		{Op{Kind: Create, Path: "/", Flags: zk.FlagSequence}, "/r/"},
		{Op{Kind: Create, Path: "/"}, "/r"},
		{Op{Kind: Delete, Path: "/", Outside: true}, "/"},
		{Op{Kind: Get, Path: ""}, ""},
		{Op{Kind: Get, Path: "a"}, "a"},
	} {
		if got := c.op.in("/r"); got != c.want {
			t.Errorf("%v is at %q, want %q", c.op, got, c.want)
		}
	}
}
