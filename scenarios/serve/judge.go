package serve

import (
	"fmt"
	"slices"
	"time"

	"zksim/internal/judge"
	"zksim/model"
	"zksim/model/history"
)

// Judgement is what can be said about a run from the wire alone.
type Judgement struct {
	judge.Judgement
	// Before lists the violations found at each [Ensemble.Reset], the first 100 of all, as "before reset 1: ...".
	Before []string `json:"before"`
}

// Judge judges everything since the beginning or the last Reset.
func (e *Ensemble) Judge() Judgement {
	e.mu.Lock()
	v := e.evidence()
	before := append([]string{}, e.before...)
	e.mu.Unlock()
	return Judgement{v.judge(), before}
}

// evidence is what can be judged. It is collected with the ensemble locked and examined afterwards.
type evidence struct {
	events   chunks
	clients  int
	steps    int
	tree     []model.Znode   // unsorted
	sessions map[int64]int32 // clients
	circumstances
}

// circumstances are what the judges must know besides the history.
type circumstances struct {
	forgotten int            // events, the oldest ones
	away      map[int32]away // clients without a connection
	rules     []Rule
	reported  []string
	asked     bool // before a reset
}

// earlier is what a judgement after a reset does not require again, because a test may end with a reset. Clients that
// outlive the reset still read, and close their sessions.
type earlier struct {
	asked bool   // clients have asked for something
	times []int  // how often rules of the options have struck
	unmet []Rule // added rules that had not struck when a reset removed them
}

// add adds the evidence of the time before a reset. The first ofOptions rules are those of the options.
func (x *earlier) add(v *evidence, ofOptions int) {
	x.asked = x.asked || slices.ContainsFunc(v.events.all(), judge.Asks)
	if x.times == nil {
		x.times = make([]int, ofOptions)
	}
	for i, r := range v.rules {
		switch {
		case i < ofOptions:
			x.times[i] += r.Times
		case r.Times == 0 && len(x.unmet) < maxReports:
			x.unmet = append(x.unmet, r)
		}
	}
}

// away says what is known about a client that has no connection.
type away string

const (
	mayComeBack away = "may come back"
	hasGone     away = "gone"
)

// usualReturn is how long clients may take to reconnect when they have not ended the connection themselves.
const usualReturn = 5 * time.Second

// evidence copies what may change. After Close it returns the evidence as of Close.
func (e *Ensemble) evidence() evidence {
	if e.closed {
		return e.final
	}
	store := e.world.Stores()[e.world.Leader()]
	v := evidence{events: e.record.events.snapshot(), clients: e.record.clients, steps: e.record.steps,
		tree: store.Znodes(), sessions: map[int64]int32{}, circumstances: circumstances{
			forgotten: e.record.events.forgotten, away: map[int32]away{}, rules: e.rules(), reported: e.record.reported,
			asked: e.earlier.asked}}
	for _, s := range e.sessions { // order-free: maps
		client := int32(s.client.ID())
		if store.HasSession(s.id) {
			v.sessions[s.id] = client
		}
		switch {
		case s.conn != nil, s.orphaned(), s.over: // or it has closed its session and only the servers do not know
		case s.quit, e.led() && time.Since(s.lost) > usualReturn:
			v.away[client] = hasGone
		default:
			v.away[client] = mayComeBack
		}
	}
	return v
}

// history returns the evidence as a history.
func (v *evidence) history() *history.History {
	h := &history.History{}
	h.Reset(v.clients)
	h.Events, h.Steps, h.Txns = v.events.all(), v.steps, true
	h.Outcome = history.Stopped
	tree := slices.Clone(v.tree) // several goroutines may use the evidence
	model.SortTree(tree)
	for _, z := range tree {
		h.Tree = append(h.Tree, history.Node{Path: z.Path, Data: string(z.Data), Owner: z.Stat.EphemeralOwner,
			Czxid: z.Stat.Czxid, Mzxid: z.Stat.Mzxid, Pzxid: z.Stat.Pzxid, Version: z.Stat.Version})
	}
	for id, client := range v.sessions { // order-free: a map
		h.Sessions[id] = client
	}
	return h
}

func (v *evidence) judge() judge.Judgement { return v.circumstances.judge(v.history()) }

// judge judges a history.
func (v *circumstances) judge(h *history.History) judge.Judgement {
	j := judge.New()
	judged := 0
	if n := v.forgotten; n > 0 {
		j.Inconclusive = append(j.Inconclusive, fmt.Sprintf("the first %d events are forgotten, so the znodes cannot be "+
			"judged", n))
	} else {
		judged = j.Znodes(h)
	}
	j.Herd(h)
	v.leftOver(&j, h)
	for _, text := range v.reported {
		j.Violations = append(j.Violations, "reported: "+text)
	}
	for _, r := range v.rules {
		if r.Times+r.Earlier == 0 {
			j.Inconclusive = append(j.Inconclusive, fmt.Sprintf("the rule %s has never struck", r.Rule))
		}
	}
	changed := slices.ContainsFunc(h.Events, func(x history.Event) bool { return x.Kind.IsChange() })
	if v.forgotten == 0 && (!v.asked || changed) {
		j.Asked(h, judged)
	}
	return j
}

// leftOver finds the ephemerals of clients that left without closing their sessions.
func (v *circumstances) leftOver(j *judge.Judgement, h *history.History) {
	n := 0
	for _, z := range h.Tree {
		if z.Owner == 0 {
			continue
		}
		n++
		switch c := h.Sessions[z.Owner]; v.away[c] {
		case hasGone:
			j.LeftOver(z.Path, c)
		case mayComeBack:
			j.MayComeBack(z.Path, c)
		}
	}
	if n > 0 {
		j.Facts = append(j.Facts, fmt.Sprintf("ephemerals: %d are there at the end", n))
	}
}
