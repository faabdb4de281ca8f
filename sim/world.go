package sim

import (
	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
	"zksim/model"
	"zksim/model/history"
)

// FirstDrawn is the lowest Order for which the order of a library's watches is drawn, like that of a map in
// go-zookeeper; it decides what code hears first. Searches use lower ones: they treat states that differ only in the
// names of znodes as one.
const FirstDrawn = 16

// Backward is a bit of an Order below FirstDrawn. Without it, of several events of one step, code hears the one of the
// channel that it named first, and the library goes through its watches in the order of their paths. With it, code
// hears that of the channel named last, and the order of paths is reversed.
const Backward = 4

// backward reports whether simultaneous events come in the order of Backward.
func (w *World) backward() bool { return w.Order < FirstDrawn && w.Order&Backward != 0 }

// Config says what a world consists of.
type Config struct {
	Clients        int   // 1 or more
	Dials          int   // how many more connections the code of each client may make
	Servers        int   // 1, or 3 with lagging followers; 0 means 1
	SessionTimeout int32 // milliseconds; 0 means 10,000

	// Order decides what ZooKeeper leaves open and what is random in a program: the order of children, the order of the
	// deletions at a session's end, and the UUIDs. From FirstDrawn on it also decides the order of the library's watches.
	Order uint64
	// JavaSets puts children, the deletions at a session's end, and what one container check deletes, in the order of
	// ZooKeeper's Java sets instead.
	JavaSets bool

	// SafetySteps is the step at which faults end at the latest, MaxSteps the step at which the run is given up; 0 means
	// 2,000 and 20,000.
	SafetySteps, MaxSteps int

	Like model.Like // whose semantics the servers have

	Detail Detail
}

// The limits of a Config that sets none.
const (
	UsualSafetySteps = 2000
	UsualMaxSteps    = 20_000
)

// Detail is how a world differs from a real ensemble to have fewer different states.
type Detail struct {
	// DenseZxids makes zxids count only the txns that change a znode; any other txn has the zxid of the one before it.
	// Code that uses only the order of zxids cannot tell the difference.
	DenseZxids bool
	// Forget leaves out of states what code has seen and says that it does not keep (see [Env.Forget]), and what code that
	// has ended has seen.
	Forget bool
}

// Injector supplies the faults. Its transitions have kinds from FirstFault on.
type Injector interface {
	// Enabled appends the faults that are possible in w now.
	Enabled(w *World, list []Transition) []Transition
	// Apply makes one of them happen.
	Apply(w *World, t Transition)
	// Issued is called with every request that client code makes.
	Issued(c *Client, r *model.Request)
	// Moved says that the request issued as from is now in to, since its caller has given it up.
	Moved(c *Client, from, to *model.Request)
	// Aimed returns a hash of what a request on its way means to the faults, besides what it says.
	Aimed(c *Client, r *model.Request) uint64
	// Fingerprint returns a hash of all else that decides which faults are yet to come.
	Fingerprint() uint64
	// Verb returns the first word of a transition's name.
	Verb(Kind) string
}

// World is one simulated ensemble with its clients. It is single-threaded and can be used for any number of runs, one
// after the other.
type World struct {
	Config
	History *history.History // of the current run
	// OnStep, if not nil, is called after every step. It must only look.
	OnStep func()
	// OnEnd, if not nil, is called at the end of a run, before what code still runs is unwound. It must only look.
	OnEnd func()
	// Watch, if not nil, is told which goroutines run client code. With Strict it is also told of every turn.
	Watch  Watch
	Strict bool
	// Share, if not nil, returns what is kept under the fingerprint of a replica. If there is nothing, it keeps what fresh
	// returns.
	Share func(print uint64, fresh func() *Stored) *Stored
	// Residual, if not nil, appends all that a client's code leaves to the judges when it has ended, besides the events in
	// the history. See Detail.Forget.
	Residual func(h hash.Hash, c *Client) hash.Hash

	clients   []*Client
	joined    int // the highest number of a client
	lefts     int // connections that their sessions have left
	servers   []*server
	log       []entry // kept only for followers
	trimmed   int     // entries that were removed from its beginning
	committed int     // txns so far
	zxid      int64
	lead      int   // the server that leads
	respite   int64 // virtual time before which no session ends: their timers have started anew since the election
	former    int64 // respite of the deposed leader; 0: there is none, or it did not begin with an election
	changed   bool  // the txn being applied changed a znode
	injector  Injector
	program   func(*Client)

	now        int64 // virtual milliseconds since the epoch of virtual time
	timers     timerQueue
	timerOrder uint64

	txn    model.Txn // being committed
	answer model.Response
	author int // of the txn being applied: a client, or 0

	current  *coroutine
	pool     []*coroutine
	normal   []Transition
	faults   []Transition
	lagging  []int
	tree     []model.Znode
	schedule []Transition
	hashes   []uint64 // after each step
	hash     hash.Hash
	step     int32
	calm     bool
	panicked string
	misuse   *Misuse
	choosing *coroutine   // that has asked for a number; nil: none
	strays   chan *Misuse // reported by goroutines that the world does not know
	looking  bool         // at a context
	made     int          // coroutines so far
	members  []*Client    // all clients ever made, for reuse
	replicas []*server    // all servers ever made, for reuse

	faultNames map[Transition]string

	dirty       []*Client // to be polled at the end of the step
	invalidated []*Client // since Timed or Eager last looked
	tracks      bool      // Timed or Eager chooses
	syncs       []*Client // that may wait for the answer to a sync, if tracks
	dying       string    // what the leader deletes for Eager; "": the first znode that is due
	outside     Outside   // nil: all code is simulated
	follows     bool      // Timed chooses
	listing     listing   // for Timed
	values      valueHasher
	scratch     []*timer
}

// NewWorld returns a world without clients; Reset equips it.
func NewWorld() *World {
	return &World{History: &history.History{}, faultNames: map[Transition]string{}, strays: make(chan *Misuse, 1)}
}

// origin returns the zxid before the first txn. Several servers have an epoch. With dense zxids no client is ever
// answered 0, as in a real ensemble, where its session had a txn.
func (c *Config) origin() int64 {
	switch {
	case c.Servers > 1:
		return 1 << 32
	case c.Detail.DenseZxids:
		return 1
	}
	return 0
}

// Reset prepares a run: fresh servers, and clients that have just started and will each run program. The injector may
// be nil. What the last run returned is no longer valid.
func (w *World) Reset(cfg Config, inj Injector, program func(*Client)) {
	if cfg.Servers == 0 {
		cfg.Servers = 1
	}
	if cfg.SessionTimeout == 0 {
		cfg.SessionTimeout = 10_000
	}
	if cfg.SafetySteps == 0 {
		cfg.SafetySteps = UsualSafetySteps
	}
	if cfg.MaxSteps == 0 {
		cfg.MaxSteps = UsualMaxSteps
	}
	if w.injector != inj || w.Config.Clients != cfg.Clients { // they decide whose connections are whose
		clear(w.faultNames)
	}
	for _, c := range w.clients { // of a run that was given up
		c.killAll()
	}
	if cfg.Dials > 0 { // what is kept of one connection may be known by another
		cfg.Detail.Forget = false
	}
	w.Config, w.injector, w.program = cfg, inj, program
	all := cfg.Clients * (1 + cfg.Dials)
	for len(w.members) < all {
		c := &Client{w: w, id: len(w.members) + 1}
		c.start = func() { w.main(c) }
		w.members = append(w.members, c)
	}
	for len(w.replicas) < cfg.Servers {
		w.replicas = append(w.replicas, newServer(w, len(w.replicas)))
	}
	w.clients, w.servers = w.members[:all:all], w.replicas[:cfg.Servers]
	w.joined, w.lefts = all, 0
	order := cfg.Order | 1
	if cfg.JavaSets {
		order = 0
	}
	for _, s := range w.servers {
		s.store.Reset(model.Config{ExtendedTypes: true, Order: order, Like: cfg.Like})
		s.applied, s.frozen, s.deposed, s.stuck = 0, false, false, false
	}
	w.log, w.trimmed, w.timers = w.log[:0], 0, w.timers[:0]
	w.schedule, w.hashes = w.schedule[:0], w.hashes[:0]
	w.dirty, w.invalidated, w.follows, w.tracks = w.dirty[:0], w.invalidated[:0], false, false
	w.outside, w.dying, w.syncs = nil, "", nil
	w.zxid, w.committed, w.lead, w.respite, w.former = cfg.origin(), 0, 0, 0, 0
	w.now, w.timerOrder, w.step, w.calm, w.panicked, w.misuse = 0, 0, 0, false, "", nil
	w.hash = hash.Hash(hash.Mix(uint64(all)<<32 ^ uint64(cfg.Servers)<<16 ^ cfg.Order))
	if cfg.Like != model.ZooKeeper {
		w.hash = w.hash.Int(int64(cfg.Like))
	}
	w.History.Reset(cfg.Clients)
	w.History.Txns = true
	for i, c := range w.clients {
		c.host = w.clients[i%cfg.Clients]
		if c.reset(); c != c.host {
			c.closed, c.undialed = true, true
			continue
		}
		w.spawn(c, "", c.start)
		c.coroutines[0].slow = true
	}
}

func (w *World) main(c *Client) {
	w.program(c)
	w.History.Finished[c.host.id] = !w.current.killed
}

// Prepare executes a request on all servers before the run begins, like one of an earlier session. It panics when the
// request fails.
func (w *World) Prepare(r model.Request) {
	if err := w.TryPrepare(r); err != nil {
		panic("sim: Prepare: " + r.Op.String() + " " + r.Path + ": " + w.answer.Err.String())
	}
}

// TryPrepare is Prepare, except that it returns ZooKeeper's error when the request fails.
func (w *World) TryPrepare(r model.Request) error {
	w.commit(nil, 0, &r)
	for _, s := range w.servers[1:] {
		s.catchUp(w.committed)
	}
	if w.answer.Err != model.OK {
		return w.answer.Err.Err()
	}
	return nil
}

// SetConfig sets the data of the config node on all servers, before the run begins.
func (w *World) SetConfig(members string) {
	for _, s := range w.servers {
		s.store.SetConfig(members, w.wall())
	}
}

// SetCounter moves the sequence counter of a znode on all servers, as if that many children had been created and
// deleted.
func (w *World) SetCounter(path string, creates int32) {
	for _, s := range w.servers {
		s.store.SetCounter(path, creates)
	}
}

// Run makes transitions happen that ch chooses, until nothing is left to happen or the step limit is reached. It also
// ends when ch fails, and returns its error, and when client code leaves the simulator, and returns a [*Misuse]. The
// result is in History.
func (w *World) Run(ch Chooser) error {
	var err error
	outcome := history.Quiet
	for {
		var t Transition
		var more bool
		if w.outside != nil {
			w.outside.Rest()
		}
		if t, more, err = ch.Choose(w); err != nil {
			outcome = history.Stopped
			break
		} else if !more {
			break
		}
		w.perform(t)
		if w.Misuse() != nil {
			outcome = history.Stopped
			break
		}
		if w.panicked != "" {
			outcome = history.Panicked
			break
		}
		if int(w.step) >= w.MaxSteps {
			outcome = history.StepLimit
			break
		}
	}
	w.conclude(outcome)
	if m := w.Misuse(); m != nil {
		return m
	}
	return err
}

// perform makes t happen as the next step.
func (w *World) perform(t Transition) {
	w.step++
	w.schedule = append(w.schedule, t)
	w.apply(t)
	w.hashes = append(w.hashes, uint64(w.hash))
	if w.OnStep != nil {
		w.OnStep()
	}
}

// conclude writes the end of the history and unwinds coroutines that still exist.
func (w *World) conclude(outcome history.Outcome) {
	h := w.History
	h.Outcome, h.Panic = outcome, w.panicked
	for _, c := range w.clients {
		for _, g := range c.coroutines {
			if !c.crashed && outcome == history.Quiet {
				h.Waiting = append(h.Waiting, c.waiting(g))
			}
		}
		if w.leader().store.HasSession(c.session) {
			h.Sessions[c.session] = c.number()
		}
	}
	w.tree = w.leader().store.AppendTree(w.tree[:0])
	for _, z := range w.tree {
		h.Tree = append(h.Tree, history.Node{Path: z.Path, Data: string(z.Data), Owner: z.Stat.EphemeralOwner,
			Czxid: z.Stat.Czxid, Mzxid: z.Stat.Mzxid, Pzxid: z.Stat.Pzxid, Version: z.Stat.Version})
	}
	if w.OnEnd != nil { // now, since deferred calls may change what code knows
		w.OnEnd()
	}
	for _, c := range w.clients {
		c.killAll()
	}
}

// waiting describes a coroutine that nothing can wake.
func (c *Client) waiting(g *coroutine) history.Waiting {
	x := history.Waiting{Client: c.number(), Where: c.names[g.name]}
	for _, ch := range g.chans {
		for _, k := range c.connections() {
			for _, watch := range k.watchers {
				if (<-chan zk.Event)(watch.ch) == ch {
					x.Paths = append(x.Paths, watch.path)
				}
			}
		}
	}
	return x
}

// killAll unwinds the client's coroutines. What their code still writes to the history did not happen.
func (c *Client) killAll() {
	h := c.w.History
	events := len(h.Events)
	for len(c.coroutines) > 0 {
		c.coroutines[len(c.coroutines)-1].kill()
	}
	h.Events = h.Events[:events]
}

// Close frees the coroutines of a world that will not be used again.
func (w *World) Close() {
	for _, c := range w.members {
		c.killAll()
	}
	for _, g := range w.pool {
		g.stop()
	}
	w.pool = nil
}

// beCalm ends the safety phase: no more faults, and everything suspended continues.
func (w *World) beCalm() {
	w.calm = true
	for _, c := range w.clients {
		c.paused, c.slow, c.bound = false, false, -1
		c.invalidate()
	}
	for _, s := range w.servers {
		s.frozen = false
		if s.deposed {
			s.stepDown()
		}
	}
	w.History.Add(history.Event{Kind: history.Calm, Step: w.step})
}

func (w *World) recordFault(t Transition) {
	var who int32 // the client whose connection is struck
	if c := w.Client(int(t.Client)); c != nil {
		who = c.number()
	}
	w.History.Add(history.Event{Kind: history.Fault, Client: who, Step: w.step, Op: w.faultName(t)})
}

// faultName is Name for faults, which have few different names.
func (w *World) faultName(t Transition) string {
	name, ok := w.faultNames[t]
	if !ok {
		name = w.Name(t)
		w.faultNames[t] = name
	}
	return name
}

// Calm reports whether the faults are over.
func (w *World) Calm() bool { return w.calm }

// Step returns the number of transitions so far.
func (w *World) Step() int { return int(w.step) }

// Clients returns the clients of the current run, c1 first.
func (w *World) Clients() []*Client { return w.clients }

// Schedule returns the names of the transitions so far.
func (w *World) Schedule() []string {
	names := make([]string, len(w.schedule))
	for i, t := range w.schedule {
		names[i] = w.Name(t)
	}
	return names
}
