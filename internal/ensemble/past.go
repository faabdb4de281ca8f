package ensemble

import (
	"fmt"
	"math"
	"path"
	"slices"
	"sort"
	"strings"

	"zksim/internal/txnlog"
	"zksim/model"
)

// life is a znode from its create to its delete.
type life struct {
	path       string
	made, gone int64    // zxids of the create and the delete; gone is math.MaxInt64 while there is no delete
	changed    []int64  // zxids of its changes, in order
	data       []string // when it was made, and after each change
	times      []int64  // times of these, in milliseconds since 1970
	owner      int64    // session of an ephemeral
	family     []family // after each change of its children, in order
}

// family is the children of a znode after a txn.
type family struct {
	zxid        int64
	ever, there int32 // how many it has had, and has now
}

// after returns the state of the children after zxid.
func (l *life) after(zxid int64) family {
	n := sort.Search(len(l.family), func(n int) bool { return l.family[n].zxid > zxid })
	if n == 0 {
		return family{zxid: l.made}
	}
	return l.family[n-1]
}

// birth records its child number ever.
func (l *life) birth(zxid int64, ever int32) {
	l.family = append(l.family, family{zxid, ever, l.after(zxid).there + 1})
}

// death records that it has one child less.
func (l *life) death(zxid int64) {
	f := l.after(zxid)
	l.family = append(l.family, family{zxid, f.ever, f.there - 1})
}

// version returns how many of its changes are not after zxid.
func (l *life) version(zxid int64) int {
	n, _ := slices.BinarySearch(l.changed, zxid+1)
	return n
}

// mzxid returns the zxid of its last change that is not after zxid.
func (l *life) mzxid(zxid int64) int64 {
	if n := l.version(zxid); n > 0 {
		return l.changed[n-1]
	}
	return l.made
}

// past is what a log of txns has made of each znode, in order. It leaves out the servers' own znodes, which are partly
// made without txns.
type past struct {
	lives    map[string][]*life
	children map[string][]string // all that each znode has ever had
	nth      map[string]int32    // number of the last child of each parent
	owned    map[int64][]*life   // ephemerals that each session has made
	ended    map[int64]int64     // zxids of the ends of sessions
}

// pastOf replays a log, and says which txn cannot follow those before it; "" if all can. What several servers have
// logged was committed, or will be, by the protocol. Followers of 3.8.0 may log a txn while they shut down for an
// election, and go on without it in memory (ZOOKEEPER-4712): the next leader then executes the same request again.
func pastOf(log []txnlog.Txn) (p *past, contradiction string) {
	root := &life{gone: math.MaxInt64, data: []string{""}, times: []int64{0}}
	p = &past{map[string][]*life{"/": {root}}, map[string][]string{}, map[string]int32{}, map[int64][]*life{},
		map[int64]int64{}}
	for i := range log {
		if why := p.apply(&log[i]); why != "" {
			return p, fmt.Sprintf("the servers have logged a txn 0x%x that cannot follow the others: %s", log[i].Zxid, why)
		}
	}
	return p, ""
}

// apply executes a txn, or says why that is impossible.
func (p *past) apply(x *txnlog.Txn) (why string) {
	if x.Op == model.OpCloseSession { // it names all its ephemerals or, in logs of 3.5, none
		for i := range x.Changes {
			if name := x.Changes[i].Path; !servers(name) && !slices.Contains(p.owned[x.Session], p.now(name)) {
				return fmt.Sprintf("the end of session 0x%x with %s, which is not its own", uint64(x.Session), name)
			}
		}
		for _, l := range p.owned[x.Session] {
			if l.gone == math.MaxInt64 { // it may be gone already
				p.remove(l.path, x.Zxid)
			}
		}
		delete(p.owned, x.Session)
		p.ended[x.Session] = x.Zxid
		return ""
	}
	for i := range x.Changes {
		c := &x.Changes[i]
		l := p.now(c.Path)
		switch parent := path.Dir(c.Path); {
		case servers(c.Path):
		case p.ended[x.Session] != 0:
			return fmt.Sprintf("%v of %s for session 0x%x, which 0x%x has ended", c.Op, c.Path, uint64(x.Session),
				p.ended[x.Session])
		case c.Op != model.OpCreate && l == nil:
			return fmt.Sprintf("%v of %s, which does not exist", c.Op, c.Path)
		case c.Op == model.OpDelete:
			p.remove(c.Path, x.Zxid)
		case c.Op != model.OpCreate:
			l.changed, l.data, l.times = append(l.changed, x.Zxid), append(l.data, c.Data), append(l.times, x.Time)
		case l != nil:
			return fmt.Sprintf("create of %s, which exists since 0x%x", c.Path, l.made)
		case c.Nth <= p.nth[parent]:
			return fmt.Sprintf("create of %s as child %d of %s, which has had %d", c.Path, c.Nth, parent, p.nth[parent])
		default:
			if p.lives[c.Path] == nil {
				p.children[parent] = append(p.children[parent], c.Path)
			}
			l := &life{path: c.Path, made: x.Zxid, gone: math.MaxInt64, data: []string{c.Data}, times: []int64{x.Time}}
			p.lives[c.Path] = append(p.lives[c.Path], l)
			p.nth[parent] = c.Nth
			if of := p.now(parent); of != nil {
				of.birth(x.Zxid, c.Nth)
			}
			if c.Owned {
				l.owner = x.Session
				p.owned[x.Session] = append(p.owned[x.Session], l)
			}
		}
	}
	return ""
}

// servers reports whether a znode is one of the servers' own.
func servers(name string) bool { return name == "/zookeeper" || strings.HasPrefix(name, "/zookeeper/") }

// now returns the life of a znode that exists; nil if there is none.
func (p *past) now(name string) *life { return p.at(name, math.MaxInt64-1) }

// at returns the life that a znode has after the txn zxid; nil if it does not exist then.
func (p *past) at(name string, zxid int64) *life {
	for _, l := range slices.Backward(p.lives[name]) {
		if l.made <= zxid {
			if zxid < l.gone {
				return l
			}
			return nil
		}
	}
	return nil
}

func (p *past) remove(name string, zxid int64) {
	if l := p.now(name); l != nil {
		l.gone = zxid
		delete(p.nth, name)
		if of := p.now(path.Dir(name)); of != nil {
			of.death(zxid)
		}
	}
}

// existence says what the txns up to zxid have done to a znode.
func (p *past) existence(name string, zxid int64) string {
	if l := p.at(name, zxid); l != nil {
		return fmt.Sprintf("txn 0x%x has made it, and none has deleted it", l.made)
	}
	for _, l := range slices.Backward(p.lives[name]) {
		if l.gone <= zxid {
			return fmt.Sprintf("txn 0x%x has deleted it", l.gone)
		}
	}
	return "no txn has made it"
}

// names returns the names of the children that a znode has after the txn zxid, sorted.
func (p *past) names(parent string, zxid int64) (names []string) {
	for _, name := range p.children[parent] {
		if p.at(name, zxid) != nil {
			names = append(names, path.Base(name))
		}
	}
	slices.Sort(names)
	return names
}
