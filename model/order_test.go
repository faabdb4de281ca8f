package model_test

import (
	"fmt"
	"slices"
	"testing"

	"zksim/model"

	"github.com/go-zookeeper/zk"
)

const brood = 8

// orders returns the children of / in the order of a listing, and in that of
// their deletion at the session's end.
func orders(t *testing.T, salt uint64) (listed, deleted []string) {
	t.Helper()
	s := model.NewServer(model.Config{Order: salt})
	w := newWorld(t, s)
	for i := range brood {
		p := fmt.Sprint("/n", i)
		w.do(0, &model.Request{Op: model.OpCreate, Path: p, Flags: zk.FlagEphemeral, ACL: zk.WorldACL(zk.PermAll)})
		w.do(1, &model.Request{Op: model.OpExists, Path: p, Watch: true})
	}
	listed = w.do(1, &model.Request{Op: model.OpGetChildren, Path: "/"}).Children
	again := w.do(1, &model.Request{Op: model.OpGetChildren, Path: "/"}).Children
	if !slices.Equal(listed, again) {
		t.Errorf("salt %d lists %v, then %v", salt, listed, again)
	}
	w.said = nil
	w.do(0, &model.Request{Op: model.OpCloseSession})
	for _, u := range w.said {
		if u.ev.Type == zk.EventNodeDeleted {
			deleted = append(deleted, u.ev.Path[1:])
		}
	}
	return listed, deleted
}

// TestOrderIsAPermutation: the salt changes in which order things come, and
// nothing else.
func TestOrderIsAPermutation(t *testing.T) {
	wantListed, wantDeleted := orders(t, 0)
	slices.Sort(wantListed)
	slices.Sort(wantDeleted)
	if len(wantListed) != brood+1 || len(wantDeleted) != brood {
		t.Fatalf("%v, %v", wantListed, wantDeleted)
	}
	const salts = 50
	seen := map[string]bool{}
	for salt := range uint64(salts) {
		listed, deleted := orders(t, salt)
		seen[fmt.Sprint(listed)] = true
		seen[fmt.Sprint(deleted)] = true
		slices.Sort(listed)
		slices.Sort(deleted)
		if !slices.Equal(listed, wantListed) || !slices.Equal(deleted, wantDeleted) {
			t.Errorf("salt %d: %v, %v", salt, listed, deleted)
		}
	}
	if len(seen) < salts {
		t.Errorf("%d salts make only %d orders", salts, len(seen))
	}
}

// TestOrderDependsOnNamesOnly: with a salt, two histories that lead to the same
// children list them alike; the order of Java's sets remembers how they grew.
func TestOrderDependsOnNamesOnly(t *testing.T) {
	for salt := range uint64(20) {
		var lists [2][]string
		for k, order := range [][]int{{0, 1, 2, 3, 4, 5, 6, 7}, {7, 3, 6, 2, 5, 1, 4, 0}} {
			w := newWorld(t, model.NewServer(model.Config{Order: salt + 1}))
			for _, i := range order {
				w.do(0, &model.Request{Op: model.OpCreate, Path: fmt.Sprint("/n", i), ACL: zk.WorldACL(zk.PermAll)})
			}
			lists[k] = w.do(0, &model.Request{Op: model.OpGetChildren, Path: "/"}).Children
		}
		if !slices.Equal(lists[0], lists[1]) {
			t.Errorf("salt %d: %v and %v", salt+1, lists[0], lists[1])
		}
	}
}
