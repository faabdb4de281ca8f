package checkers

import (
	"math"
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// stays is what the monitors of [Exit] and [Rounds] follow: the Enters in progress, and
// the times that clients were inside.
type stays struct {
	changes
	calls  []entrance
	all    []stay    // in the order of entering
	znodes []znodeOf // that exist
}

// entrance is an Enter in progress.
type entrance struct {
	caller
	need  int64
	ended []ending // of its client, since it began
}

// ending is a znode that the servers deleted with its session.
type ending struct {
	path  string
	at    int
	again int64 // the zxid at which its client made the next znode of that path; 0: it has not
}

// stay is one time that a client was inside. What has not happened is at never.
type stay struct {
	caller
	path        string
	need, round int64
	rank        hash.Hash // of the round
	leaves, out int       // Leave begins, Leave returns without an error
	ends        int       // the session ends
	crashed     bool
}

const never = math.MaxInt

// inside reports whether nothing has ended the stay.
func (x *stay) inside() bool { return x.leaves == never && x.ends == never }

func (s *stays) Reset() {
	s.changes, s.calls, s.all, s.znodes = s.changes[:0], s.calls[:0], s.all[:0], s.znodes[:0]
}

// step takes event i into account. It returns the stay of an Enter or a Leave that succeeds, otherwise nil.
func (s *stays) step(h *history.History, i int) *stay {
	e := &h.Events[i]
	s.note(e)
	x := s.latest(e.Object)
	switch {
	case e.Kind == history.Invoke && e.Op == "enter":
		s.calls = append(s.calls, entrance{caller: callerOf(e), need: e.Value})
	case e.Kind == history.Return && e.Op == "enter":
		var call entrance
		if s.calls, call = take(s.calls, e); e.Err == nil {
			return s.enter(e, call)
		}
	case e.Kind == history.Invoke && e.Op == "leave" && x != nil:
		x.leaves = min(x.leaves, i)
	case e.Kind == history.Return && e.Op == "leave" && e.Err == nil && x != nil:
		x.out = min(x.out, i)
		return x
	case e.Kind == history.Crashed:
		s.crash(e.Client)
	case e.Kind == history.Created:
		s.znodes = append(s.znodes, znodeOf{e.Path, e.Client})
		s.again(e)
	case e.Kind == history.Deleted:
		if e.Client == 0 {
			s.end(e.Path, i)
		}
		s.znodes = drop(s.znodes, func(x znodeOf) bool { return x.path == e.Path })
	}
	return nil
}

// latest returns the latest stay of an object, nil if there is none.
func (s *stays) latest(object int32) *stay {
	for k := len(s.all) - 1; k >= 0; k-- {
		if s.all[k].object == object {
			return &s.all[k]
		}
	}
	return nil
}

// enter begins a stay.
func (s *stays) enter(e *history.Event, call entrance) *stay {
	x := stay{caller: callerOf(e), path: e.Path, need: call.need, round: e.Value, rank: s.rankOf(e.Value),
		leaves: never, out: never, ends: never}
	for _, y := range call.ended {
		if y.path == x.path && !(y.again != 0 && s.begins(x.round) && x.round >= y.again) {
			x.ends = min(x.ends, y.at)
		}
	}
	s.all = append(s.all, x)
	return &s.all[len(s.all)-1]
}

// rankOf returns the rank, among the txns that changed a znode, of the one that gave a round its number; the number
// itself if none did. Zxids differ between equivalent runs.
func (s *stays) rankOf(round int64) hash.Hash {
	if !s.begins(round) {
		return hash.Hash(0).Uint64(uint64(round)).Bool(false)
	}
	return hash.Hash(s.changes.rank(round)).Bool(true)
}

// begins reports whether the number of a round is the zxid of a txn, by which the round began.
func (s *stays) begins(round int64) bool { return slices.Contains(s.changes, round) }

// crash forgets what a client that has crashed can no longer do.
func (s *stays) crash(client int32) {
	s.calls = withoutClient(s.calls, client)
	for k := range s.all {
		if x := &s.all[k]; x.client == client {
			x.crashed = true
		}
	}
}

// again notes that a client makes a znode whose path it has had before. Of an Enter in progress that answers with it, a
// round that began before is of the znode that has ended, and a later one is of the new znode.
func (s *stays) again(e *history.Event) {
	for k := range s.calls {
		x := &s.calls[k]
		for j := range x.ended {
			if y := &x.ended[j]; x.client == e.Client && y.path == e.Path && y.again == 0 {
				y.again = e.Zxid
			}
		}
	}
}

// end notes that a session has ended, and its znode with it. An Enter in progress of
// the client that made the znode may still answer with it.
func (s *stays) end(path string, i int) {
	for k := range s.all {
		if x := &s.all[k]; x.path == path {
			x.ends = min(x.ends, i)
		}
	}
	made := slices.IndexFunc(s.znodes, func(x znodeOf) bool { return x.path == path })
	for k := range s.calls {
		if x := &s.calls[k]; made < 0 || x.client == s.znodes[made].client {
			x.ended = append(x.ended, ending{path: path, at: i})
		}
	}
}
