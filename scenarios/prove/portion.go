package prove

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	mix "zksim/internal/hash"
)

// Portion is the result of one of several tasks on one scope. Each task explores from its part of a frontier, with its
// own set of states, so the tasks need nothing from each other. Together they explore all schedules. States that
// several tasks reach count once, by their fingerprints.
type Portion struct {
	Format string `json:"format"`
	Claim
	Part     uint64          `json:"part"` // from 1 on
	Of       uint64          `json:"of"`
	Frontier string          `json:"frontier"` // digest of the states before it, the same in all portions; "": not reached
	Outcome  Outcome         `json:"outcome"`
	Why      string          `json:"why,omitempty"`       // if Inconclusive
	Said     map[string]bool `json:"sentences,omitempty"` // sentences of Process.Sometimes, and whether they held
	Struck   bool            `json:"struck"`              // a fault could strike
	Unstruck []string        `json:"unstruck,omitempty"`  // rules that could never strike, and what they need
	// Idle describes the checkers that have nothing to judge; only the first portion knows.
	Idle   []string `json:"judged_nothing,omitempty"`
	States int      `json:"states"`

	fingerprints []fingerprint // sorted
}

const portionFormat = "zksim portion 5"

// portionEdges is how many edges the frontier has. With fewer, one of the parts would have nearly all the work.
const portionEdges = 6000

// frontier explores breadth first, with one worker, until there are that many edges to go on from, or none are left.
func (s *search) frontier(ctx context.Context, many int, watch func() bool) (edges []edge, err error) {
	edges, s.pool = []edge{{}}, newPool(1)
	over := false // watch says so
	look := func() bool { over = over || watch(); return over }
	for len(edges) > 0 && len(edges) < many && s.refuted == nil && ctx.Err() == nil && !over {
		s.limit = s.states.Load() + 1
		if err := s.run(ctx, 1, edges[:1:1], look); err != nil {
			return nil, err
		}
		edges = append(edges[1:], s.pool.queue...)
		look() // an edge may take less time than passes between two looks of run
	}
	return edges, nil
}

// ProvePortion explores one portion, numbered from 1 to of, of all schedules of a scope with at most as many faults as
// the scope has. A violation is in the result as with [Prove], except that its number of faults may not be the least.
// It supports neither checkpoints nor audits.
func ProvePortion(ctx context.Context, sc Scope, o Options, part, of uint64) (Portion, Result, error) {
	return provePortion(ctx, sc, o, part, of, portionEdges)
}

// provePortion is ProvePortion with a frontier of that many edges.
func provePortion(ctx context.Context, sc Scope, o Options, part, of uint64, many int) (Portion, Result, error) {
	x := Portion{Format: portionFormat, Claim: sc.claim(o.Reductions), Part: part, Of: of}
	if o.Checkpoint != "" || o.Audit {
		return x, Result{}, errors.New("a portion takes no checkpoint and no audit")
	}
	if err := sc.check(); err != nil {
		return x, Result{}, err
	}
	judged := sc.Scenario.Listed()
	sc.Scenario = &judged
	if err := followed(sc.Scenario, o.Reductions); err != nil {
		return x, Result{}, err
	}
	p := &prover{scope: sc, Options: o}
	p.result.Certificate = Certificate{Format: certificateFormat, Claim: x.Claim}
	s := newSearch(&p.scope, o.Reductions, sc.most())
	s.stuck, s.again = cmp.Or(o.Stuck, usuallyStuck), s.again || o.Rerun
	watch := func() bool { return p.watch(s) }
	edges, err := s.frontier(ctx, many, watch)
	if err != nil {
		return x, Result{}, err
	}
	if s.refuted == nil && ctx.Err() == nil && p.stop == "" {
		_, digest := s.known.size()
		x.Frontier = fmt.Sprintf("%016x", digest)
	}
	n := uint64(len(edges))
	mine := edges[n*(part-1)/of : n*part/of] // neighbours have more in common
	s.limit = 0
	s.full.Store(false)
	if s.pool.queue = edges; x.Frontier != "" {
		if err := s.run(ctx, o.workers(), slices.Clone(mine), watch); err != nil {
			return x, Result{}, err
		}
	}
	err = x.conclude(ctx, p, s)
	return x, p.result, err
}

// conclude records the result of the search. The first portion also makes the random runs.
func (x *Portion) conclude(ctx context.Context, p *prover, s *search) error {
	states, digest := s.known.size()
	x.States, x.Said, x.Struck = states, s.sentences.held, s.struck.Load() || s.withheld.Load()
	cert := &p.result.Certificate
	p.result.Last = Level{s.most, states, s.transitions.Load(), s.runs.Load(), s.ends.Load(), fmt.Sprintf("%016x", digest)}
	switch {
	case s.refuted != nil:
		p.refuted(s)
	case ctx.Err() != nil || len(s.pool.queue) > 0:
		p.gaveUp(ctx, s, cmp.Or(s.frontierLeft(), "frontier 0"))
	case s.unsure != "":
		cert.Outcome, cert.Why = Inconclusive, s.unsure
	case len(s.hops.traps().caught) > 0: // only a search of the whole can tell whether others can end it
		cert.Outcome, cert.Why = Inconclusive, "a loop may have no end, which is looked into without -split"
	case x.Part == 1:
		if err := p.settle(s); err != nil {
			return err
		}
	default:
		cert.Outcome = Holds
	}
	x.Outcome, x.Why, x.Idle, x.Unstruck = cert.Outcome, cert.Why, cert.Idle, p.scope.unstruck(s.feasible.Load())
	for i := range shardCount {
		x.fingerprints = append(x.fingerprints, s.known.members(i)...)
	}
	slices.SortFunc(x.fingerprints, fingerprint.compare)
	return nil
}

// Write writes the portion: a line of JSON, the sorted fingerprints with 16 bytes each, and the SHA-256 of all that.
func (x *Portion) Write(w io.Writer) error {
	b, sum := bufio.NewWriter(w), sha256.New()
	both := io.MultiWriter(b, sum)
	if err := json.NewEncoder(both).Encode(x); err != nil {
		return err
	}
	for _, print := range x.fingerprints {
		both.Write(print.bytes()) // an error stays in b
	}
	b.Write(sum.Sum(nil))
	return b.Flush()
}

// bytes returns the bytes of a fingerprint in a file.
func (x fingerprint) bytes() []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], x[0])
	binary.BigEndian.PutUint64(b[8:], x[1])
	return b[:]
}

// PortionReader reads what Write has written, without keeping it in memory.
type PortionReader struct {
	Portion
	in   *bufio.Reader
	sum  hash.Hash
	left int
	next fingerprint // the lowest that has not been taken
}

// NewPortionReader reads the first line.
func NewPortionReader(r io.Reader) (*PortionReader, error) {
	x := &PortionReader{in: bufio.NewReader(r), sum: sha256.New()}
	line, err := x.in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &x.Portion)
	}
	if err != nil || x.Format != portionFormat || x.States < 0 {
		return nil, fmt.Errorf("it does not begin as a %s does", portionFormat)
	}
	x.sum.Write(line)
	x.left = x.States
	return x, x.advance()
}

// advance reads the next fingerprint from the file. Fingerprints are above 0 and ascending.
func (x *PortionReader) advance() error {
	if x.left == 0 {
		var sum [sha256.Size]byte
		if _, err := io.ReadFull(x.in, sum[:]); err != nil {
			return fmt.Errorf("its checksum is missing: %w", err)
		}
		if !bytes.Equal(sum[:], x.sum.Sum(nil)) {
			return errors.New("it is damaged: its checksum is another one")
		}
		if _, err := x.in.ReadByte(); err != io.EOF {
			return errors.New("there is more behind its checksum")
		}
		x.left = -1
		return nil
	}
	x.left--
	var word [16]byte
	if _, err := io.ReadFull(x.in, word[:]); err != nil {
		return fmt.Errorf("its fingerprints end too early: %w", err)
	}
	x.sum.Write(word[:])
	before := x.next
	x.next = fingerprint{binary.BigEndian.Uint64(word[:]), binary.BigEndian.Uint64(word[8:])}
	if x.next.compare(before) <= 0 {
		return errors.New("its fingerprints do not rise")
	}
	return nil
}

// Lacks says what is missing if no fault of the plan could strike in any portion of a scope; "" if one could, or if
// there are no faults.
func Lacks(sc *Scope, all []*PortionReader) string {
	if sc.most() == 0 || slices.ContainsFunc(all, func(x *PortionReader) bool { return x.Struck }) {
		return ""
	}
	return neverStrikes + sc.lacks()
}

// Unstruck returns the rules that could not strike in any portion of a scope, and what they need.
func Unstruck(all []*PortionReader) []string {
	return slices.DeleteFunc(slices.Clone(all[0].Unstruck), func(rule string) bool {
		return slices.ContainsFunc(all, func(x *PortionReader) bool { return !slices.Contains(x.Unstruck, rule) })
	})
}

// UnitePortions returns how many states portions have in total, and their digest, equal to those of a search of the
// whole. It reads the portions to their ends.
func UnitePortions(all []*PortionReader) (states int, digest string, err error) {
	var sum uint64
	for {
		var least fingerprint
		some := false
		for _, x := range all {
			if x.left >= 0 && (!some || x.next.compare(least) < 0) {
				least, some = x.next, true
			}
		}
		if !some {
			return states, fmt.Sprintf("%016x", sum), nil
		}
		states++
		sum += mix.Mix(least[0])
		for _, x := range all {
			if x.left >= 0 && x.next == least {
				if err := x.advance(); err != nil {
					return 0, "", fmt.Errorf("portion %d/%d: %w", x.Part, x.Of, err)
				}
			}
		}
	}
}
