package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Step is one operation of a sequence with its outcomes on both sides.
type Step struct {
	Op        Op
	Real, Sim Outcome
}

// Sequence is what was executed on both sides, up to the first difference.
type Sequence struct {
	Root        string // the znode below which everything happened
	Steps       []Step
	Differences []Difference // all of the last step
}

// ops returns the operations without the outcomes.
func (s *Sequence) ops() []Op {
	ops := make([]Op, len(s.Steps))
	for i := range s.Steps {
		ops[i] = s.Steps[i].Op
	}
	return ops
}

// script says what to execute next, and is told the outcome on the real side.
type script interface {
	next() (Op, bool)
	learn(o *Op, out *Outcome)
}

// generated is a script of that many generated operations.
type generated struct {
	*generator
	left int
}

func (g *generated) next() (Op, bool) {
	if g.left == 0 {
		return Op{}, false
	}
	g.left--
	return g.generator.next(), true
}

// fixed is a script of given operations. It leaves out those that the stage does not allow.
type fixed struct {
	stage
	ops []Op
}

func (f *fixed) next() (Op, bool) {
	for len(f.ops) > 0 {
		o := f.ops[0]
		f.ops = f.ops[1:]
		if f.allows(&o) {
			return o, true
		}
	}
	return Op{}, false
}

func (f *fixed) learn(o *Op, out *Outcome) { f.executed(o, out) }

// play executes a script on both sides until its end or the first difference.
func play(ctx context.Context, real, sim side, s script) (*Sequence, error) {
	q := &Sequence{}
	c := newComparison()
	for {
		o, more := s.next()
		if !more {
			return q, nil
		}
		err := ctx.Err()
		if err != nil {
			return q, err
		}
		step := Step{Op: o}
		if step.Sim, err = sim.do(ctx, len(q.Steps), &o); err != nil {
			return q, fmt.Errorf("simulator: %w", err)
		}
		if step.Real, err = real.do(ctx, len(q.Steps), &o); err != nil {
			return q, fmt.Errorf("ZooKeeper: %w", err)
		}
		c.outcome(&o, len(q.Steps), &step.Real, &step.Sim)
		q.Steps = append(q.Steps, step)
		if q.Differences = c.found; len(c.found) > 0 {
			return q, nil
		}
		s.learn(&o, &step.Real)
	}
}

// header is the first line of a written sequence.
type header struct {
	Kind    string `json:"kind"`
	Desc    string `json:"desc"`
	Seed    uint64 `json:"seed"`
	Servers int    `json:"servers"`
}

// line is every other line.
type line struct {
	I       int    `json:"i"`
	Session string `json:"s"`
	Op
	Result    *Outcome `json:"res,omitempty"` // when both sides agree
	ZooKeeper *Outcome `json:"zookeeper,omitempty"`
	Simulator *Outcome `json:"simulator,omitempty"`
	Differ    []string `json:"differ,omitempty"`
}

// Write writes the sequence as a transcript, one JSON object per line. Operations are in the notation of the recorded
// transcripts where it has one. The step that differs has the outcomes of both sides.
func (s *Sequence) Write(w io.Writer, seed uint64, servers int) error {
	if err := s.encode(w, header{"conform", "operations on ZooKeeper and on the simulator, which part at the last step",
		seed, servers}); err != nil {
		return err
	}
	for i := range s.Steps {
		st := &s.Steps[i]
		l := line{I: i, Session: sessionName(st.Op.Session, 1), Op: st.Op, Result: &st.Real}
		for _, d := range s.Differences {
			if d.Step == i {
				l.Result, l.ZooKeeper, l.Simulator = nil, &st.Real, &st.Sim
				l.Differ = append(l.Differ, d.Field)
			}
		}
		if err := s.encode(w, l); err != nil {
			return err
		}
	}
	return nil
}

// encode writes a line without the name of the root, which differs between runs.
func (s *Sequence) encode(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, s.Relative(string(text))+"\n")
	return err
}

// Relative removes the name of the sequence's root from a text.
func (s *Sequence) Relative(text string) string {
	if s.Root == "" {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, s.Root+"/", "/"), s.Root, "/")
}
