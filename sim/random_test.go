package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

// tape is what happened in a run, message by message: what the guarantees are
// about. It records as a chooser and as an injector, each around another one.
type tape struct {
	sim.Chooser
	faults.Injector
	w     *sim.World
	notes []note
	tree  []history.Node // at the end

	issued map[*model.Request]int  // numbers of the requests, by the memory they are in
	stale  map[*model.Request]bool // whether a deposed leader took it
	count  int
	conns  []int // per client: the number of its connection, negative while disconnected
	events int   // of the history, seen so far
	txns   int
	err    error
}

// note is one entry. Kinds: issue, round, reply, event, attach, detach, commit.
type note struct {
	kind    string
	client  int
	conn    int // of all connections of the client
	n       int // number of the request
	op      model.Op
	key     string // identifies a write
	path    string
	zxid    int64
	session int64
	typ     zk.EventType
	caught  bool
	req     model.Request
	res     model.Response
	txn     model.Txn
	deposed bool // a leader that was deposed has answered
}

func (n *note) String() string {
	return fmt.Sprintf("%s c%d conn %d #%d %v %s zxid %x", n.kind, n.client, n.conn, n.n, n.op, n.path, n.zxid)
}

// config is that of all random runs.
func config(servers int, seed uint64) sim.Config {
	return sim.Config{Clients: 3, Servers: servers, Order: seed*2 + 1, SafetySteps: 300 - int(seed%3)*120, MaxSteps: 4000}
}

// random prepares w for a run of random programs and makes its choices and
// faults a function of seed.
func (tp *tape) random(w *sim.World, servers int, seed uint64) {
	r := &sim.Random{FaultRate: 6000}
	r.Seed(seed)
	tp.Reset(faults.Contract().SwarmInto(nil, servers, r.Uint64))
	tp.start(w, config(servers, seed), r)
}

func (tp *tape) start(w *sim.World, cfg sim.Config, ch sim.Chooser) {
	tp.Chooser, tp.w = ch, w
	tp.notes, tp.tree, tp.count, tp.events, tp.txns, tp.err = nil, nil, 0, 0, 0, nil
	tp.issued, tp.stale, tp.conns = map[*model.Request]int{}, map[*model.Request]bool{}, make([]int, cfg.Clients+1)
	w.Reset(cfg, tp, randomProgram(cfg))
	for _, p := range []string{"/p", "/q", "/s", "/s/0", "/s/1", "/m"} {
		w.Prepare(model.Request{Op: model.OpCreate, Path: p, ACL: sim.OpenACL})
	}
}

// run runs to the end.
func (tp *tape) run() error {
	err := tp.w.Run(tp)
	tp.catchUp()
	tp.tree = append(tp.tree, tp.w.History.Tree...)
	if h := tp.w.History; h.Outcome == history.Panicked {
		return fmt.Errorf("panic: %s", h.Panic)
	} else if h.Outcome == history.StepLimit {
		return fmt.Errorf("step limit")
	}
	if err == nil {
		err = tp.err
	}
	return err
}

// Issued implements sim.Injector.
func (tp *tape) Issued(c *sim.Client, r *model.Request) {
	tp.catchUp() // the connection may have ended in this step
	tp.count++
	tp.issued[r] = tp.count
	tp.add(note{kind: "issue", client: c.ID(), n: tp.count, op: r.Op, key: key(r), path: r.Path})
	if c.Deceived() {
		tp.notes[len(tp.notes)-1].conn *= -1 // it waits for another connection
	}
	tp.Injector.Issued(c, r)
}

func (tp *tape) add(n note) {
	if n.client > 0 {
		n.conn = tp.conns[n.client]
	}
	tp.notes = append(tp.notes, n)
}

// key identifies a write of the random programs.
func key(r *model.Request) string {
	k := fmt.Sprintf("%v %s %s", r.Op, r.Path, r.Data)
	for i := range r.Ops {
		k += " " + r.Ops[i].Path
	}
	return k
}

// catchUp notes what the last step did.
func (tp *tape) catchUp() {
	w := tp.w
	for ; tp.txns < w.LogLen(); tp.txns++ {
		txn, req := w.Committed(tp.txns)
		tp.add(note{kind: "commit", op: req.Op, key: key(&req), path: req.Path, zxid: txn.Zxid, session: txn.Session,
			req: req, txn: txn})
	}
	for ; tp.events < len(w.History.Events); tp.events++ {
		e := &w.History.Events[tp.events]
		if e.Kind != history.Session {
			continue
		}
		c := &tp.conns[e.Client]
		switch e.Op {
		case "StateHasSession":
			*c = -*c + 1
			tp.add(note{kind: "attach", client: int(e.Client), session: e.Session})
		case "StateDisconnected":
			if *c > 0 {
				*c = -*c
			}
		}
	}
}

// Choose implements sim.Chooser.
func (tp *tape) Choose(w *sim.World) (sim.Transition, bool, error) {
	tp.catchUp()
	if err := consistent(w); err != nil && tp.err == nil {
		tp.err = fmt.Errorf("step %d: %w", w.Step()+1, err)
	}
	t, more, err := tp.Chooser.Choose(w)
	if !more || t.Client == 0 {
		return t, more, err
	}
	c := w.Clients()[t.Client-1]
	switch t.Kind {
	case sim.Serve:
		if r := c.Unserved(); r != nil {
			tp.stale[r] = c.Server() == w.Deposed()
		}
	case sim.Round:
		tp.add(note{kind: "round", client: c.ID()})
	case sim.Deliver:
		tp.arrives(c)
	default:
		if name := w.Name(t); strings.HasPrefix(name, "deliver-close ") || strings.HasPrefix(name, "deliver-slow ") {
			tp.arrives(c)
		}
	}
	return t, more, err
}

// arrives notes the next message of c, which is about to arrive.
func (tp *tape) arrives(c *sim.Client) {
	m, _ := c.Head()
	switch {
	case m.Reply != nil:
		tp.add(note{kind: "reply", client: c.ID(), n: tp.issued[m.Reply], op: m.Reply.Op, key: key(m.Reply),
			path: m.Reply.Path, zxid: m.Res.Zxid, session: c.Session(), req: *m.Reply, res: *m.Res,
			deposed: tp.stale[m.Reply]})
		if l := m.Reply.Watches; l != nil { // the library uses its memory again
			tp.notes[len(tp.notes)-1].req.Watches = &model.WatchLists{RelativeZxid: l.RelativeZxid,
				Data: slices.Clone(l.Data), Exist: slices.Clone(l.Exist), Child: slices.Clone(l.Child)}
		}
	case !m.EOF:
		tp.add(note{kind: "event", client: c.ID(), path: m.Event.Path, zxid: m.Event.Zxid, typ: m.Event.Type,
			caught: m.Event.Caught, session: c.Session()})
	}
}

// consistent checks what must hold of the transitions in every state.
func consistent(w *sim.World) error {
	normal := w.Normal()
	seen := map[string]bool{}
	for _, t := range append(slices.Clone(normal), w.Faults()...) {
		name := w.Name(t)
		if seen[name] {
			return fmt.Errorf("two transitions are named %q", name)
		}
		seen[name] = true
	}
	if w.Step() >= w.SafetySteps && len(w.Faults()) > 0 {
		return fmt.Errorf("faults are possible after %d steps", w.Step())
	}
	if fresh := w.FreshNormal(); !slices.Equal(fresh, normal) {
		return fmt.Errorf("what was remembered as possible is %v, but possible is %v", normal, fresh)
	}
	return nil
}

// randomProgram is two coroutines per client that do a bit of everything. Every
// write has a name of its own.
func randomProgram(cfg sim.Config) func(c *sim.Client) {
	return func(c *sim.Client) {
		done := make(chan zk.Event, 1)
		c.Env().Go("x", func() {
			worker{c, rand.New(rand.NewPCG(cfg.Order, uint64(c.ID())<<8)), "x"}.work(7)
			done <- zk.Event{}
		})
		worker{c, rand.New(rand.NewPCG(cfg.Order, uint64(c.ID()))), "m"}.work(9)
		c.Env().Await(context.Background(), done)
		if cfg.Order&2 != 0 {
			c.Conn().Close()
		}
	}
}

type worker struct {
	c    *sim.Client
	rng  *rand.Rand
	name string
}

func (g worker) work(ops int) {
	k, env, acl := g.c.Conn(), g.c.Env(), sim.OpenACL
	var made []string
	for i := range ops {
		label := fmt.Sprintf("%s%s%d", g.c.Name(), g.name, i)
		s := fmt.Sprintf("/s/%d", g.rng.IntN(2))
		switch g.rng.IntN(14) {
		case 0:
			if p, err := k.Create("/p/"+label, []byte(label), 0, acl); err == nil {
				made = append(made, p)
			}
		case 1, 2:
			k.Create("/q/"+label+"-", nil, zk.FlagEphemeral|zk.FlagSequence, acl)
		case 3, 4:
			k.Set(s, []byte(label), -1)
		case 5:
			if len(made) > 0 {
				k.Delete(made[0], -1)
				made = made[1:]
			}
		case 6:
			k.Multi(&zk.CreateRequest{Path: "/m/" + label + "a", Acl: acl},
				&zk.CreateRequest{Path: "/m/" + label + "b", Acl: acl})
		case 7:
			k.Sync("/")
		case 8:
			k.Children("/q")
		case 9:
			k.Get(s)
		case 10:
			_, _, ch, err := k.GetW(s)
			g.wait(env, ch, err)
		case 11:
			_, _, ch, err := k.ChildrenW([]string{"/q", "/p", "/m"}[g.rng.IntN(3)])
			g.wait(env, ch, err)
		case 12:
			_, _, ch, err := k.ExistsW("/p/" + fmt.Sprintf("c%dm%d", 1+g.rng.IntN(3), g.rng.IntN(6)))
			g.wait(env, ch, err)
		case 13:
			env.Sleep(context.Background(), time.Second)
		}
	}
}

// wait waits for a watch, for a change of the session, or for a while.
func (g worker) wait(env sim.Env, ch <-chan zk.Event, err error) {
	if err != nil || g.rng.IntN(2) == 0 {
		return
	}
	ctx, cancel := env.WithTimeout(context.Background(), time.Duration(g.rng.IntN(5))*time.Second)
	defer cancel()
	env.Await(ctx, env.SessionEvents(), ch)
}

// text is a run in full, to compare runs.
func text(w *sim.World) string {
	var b strings.Builder
	h := w.History
	fmt.Fprintf(&b, "%x %d %v %v %v %v\n", w.Hash(), w.Step(), h.Outcome, h.Waiting, h.Tree, h.Finished)
	for i := range h.Events {
		fmt.Fprintln(&b, h.Events[i])
	}
	return b.String()
}
