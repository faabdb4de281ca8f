package checkers

import (
	"slices"
	"strings"

	"zksim/internal/hash"
	"zksim/model/history"
)

// The operations of watchers in a history. Invoke begins a watcher, with a word for what it watches and a Path, and
// Return of the same word ends it. Told reports a state of a znode: ToldData with its mzxid and the fingerprint of the
// data, ToldChildren with the pzxid and the fingerprint of the names, zxid 0 if there is no znode, and ToldGone. Invoke
// of Rest begins a time in which everything settles if the faults are over. At the Invoke of Stop, what was told must
// be how things are.
const (
	WatchData     = "watch-data"
	WatchChildren = "watch-children"
	WatchCache    = "watch-cache"   // data of all children
	WatchMembers  = "watch-members" // data of all children that are ephemeral
	Rest          = "rest"
	Stop          = "stop"

	ToldData     = "data"
	ToldChildren = "children"
	ToldGone     = "gone"
)

// told is a path and the sort of state that an object told of it.
type told struct {
	object   int32
	path     string
	children bool
}

func toldOf(e *history.Event) told { return told{e.Object, e.Path, e.Op == ToldChildren} }

// tellsState reports whether a watcher tells a state by an event.
func tellsState(e *history.Event) bool {
	return e.Kind == history.Told && (e.Op == ToldData || e.Op == ToldChildren || e.Op == ToldGone)
}

// print returns a hash of what t says, without the object.
func (t told) print() hash.Hash { return hash.Hash(0).String(t.path).Bool(t.children) }

// Fingerprint returns a number for a set of strings without NUL (63 bits of FNV-1a). Histories record it for what a
// watcher told.
func Fingerprint(set ...string) int64 {
	set = slices.Sorted(slices.Values(set))
	x := uint64(14695981039346656037)
	for _, b := range []byte(strings.Join(set, "\x00")) {
		x = (x ^ uint64(b)) * 1099511628211
	}
	return int64(x >> 1)
}
