package prove

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"zksim/faults"
	"zksim/internal/files"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// checkpoint is a search in a file: its claim, what is known, and what is left to explore.
type checkpoint struct {
	Format string
	Claim  Claim
	Code   uint64 // hash of a run, and of the program
	Levels []Level
	Done   [3]int64 // runs, ends, transitions
	// Collision is the bound of the levels so far, and Chance is what the memo adds to it.
	Collision, Chance float64
	Unsure            string
	Held              bool            // a possible fault was withheld
	Feasible          uint64          // faults, of all levels, as in a search
	Said              map[string]bool // sentences of Process.Sometimes of all levels, and whether they held
	Known             [][]fingerprint // of states, by shard
	Hops              []hop
	Points            []savedPoint
	Edges             []savedEdge
}

// savedPoint is a point. Parent is the index of an earlier one in the list, or -1.
type savedPoint struct {
	Parent int
	By     sim.Transition
	Faults int32
	Ticks  int32
	Busy   bool
}

type savedEdge struct {
	From int // a point, or -1
	By   sim.Transition
}

const checkpointFormat = "zksim checkpoint 14"

// program returns a hash of the running program. The hash of a fair run does not cover the judges, nor what code does
// after a fault.
var program = sync.OnceValue(func() uint64 {
	sum := sha256.New()
	if name, err := os.Executable(); err == nil {
		if f, err := os.Open(name); err == nil {
			io.Copy(sum, f)
			f.Close()
		}
	}
	return binary.BigEndian.Uint64(sum.Sum(nil))
})

// probe returns a hash of the program and of one fair run of the scenario without faults, with at most as many steps as
// a schedule may have.
func (p *prover) probe() (uint64, error) {
	if p.code != 0 {
		return p.code, nil
	}
	s := newSearch(&p.scope, p.Reductions, 0)
	s.scenario.MaxSteps = maxSteps
	hash := make(chan uint64, 1)
	go func() { // the client's code may block or end it
		defer close(hash)
		r := engine.NewRunner()
		defer r.Close()
		res, _ := r.Explore(s.scenario, s.schedule, &sim.Replay{})
		hash <- res.Hash ^ program() | 1
	}()
	late := time.NewTimer(p.Stuck)
	defer late.Stop()
	select {
	case p.code = <-hash:
	case <-late.C:
	}
	if p.code == 0 {
		return 0, fmt.Errorf("checkpoint: the program of %s does not come to an end", p.scope.Scenario.Name)
	}
	return p.code, nil
}

// save writes a checkpoint if one is wanted. A new file replaces the last one when it is complete. All workers must
// rest.
func (p *prover) save(s *search, queue []edge) error {
	if p.Checkpoint == "" {
		return nil
	}
	code, err := p.probe()
	if err != nil {
		return err
	}
	p.sentences.add(s.sentences)
	cert := &p.result.Certificate
	x := checkpoint{Format: checkpointFormat, Claim: cert.Claim, Code: code, Levels: cert.Levels,
		Done: [3]int64{s.runs.Load(), s.ends.Load(), s.transitions.Load()}, Collision: cert.Collision,
		Chance: p.chance + p.memo.chance(), Unsure: s.unsure, Held: s.withheld.Load(),
		Feasible: p.feasible | s.feasible.Load(), Said: p.sentences.held, Hops: s.hops.list()}
	for i := range s.known.shards {
		x.Known = append(x.Known, s.known.members(i))
	}
	places := map[*point]int{nil: -1}
	for _, e := range queue {
		x.Edges = append(x.Edges, savedEdge{x.place(places, e.from), e.by})
	}
	return p.write(&x)
}

// place returns the index of a point in the list. It first adds the point and those that lead to it.
func (x *checkpoint) place(places map[*point]int, p *point) int {
	var way []*point
	for {
		if _, ok := places[p]; ok {
			break
		}
		way = append(way, p)
		p = p.parent
	}
	at := places[p]
	for i := len(way) - 1; i >= 0; i-- {
		p = way[i]
		x.Points = append(x.Points, savedPoint{Parent: at, By: p.by, Faults: p.faults, Ticks: p.ticks, Busy: p.busy})
		at = len(x.Points) - 1
		places[p] = at
	}
	return at
}

// write saves a checkpoint, which is on the disk afterwards.
func (p *prover) write(x *checkpoint) error {
	err := files.Save(filepath.Dir(p.Checkpoint), filepath.Base(p.Checkpoint), func(w io.Writer) error {
		out, sum := bufio.NewWriter(w), sha256.New()
		err := gob.NewEncoder(io.MultiWriter(out, sum)).Encode(x)
		_, tail := out.Write(sum.Sum(nil))
		return cmp.Or(err, tail, out.Flush(), w.(*os.File).Sync()) // the first error is enough
	})
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// resume reads the checkpoint, if there is one.
func (p *prover) resume() (*checkpoint, error) {
	if p.Checkpoint == "" {
		return nil, nil
	}
	program() // now, because its file may be another one when the first checkpoint is saved
	f, err := os.Open(p.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) { // find out now whether it can be written, not when there is something to lose
		if err = files.Writable(filepath.Dir(p.Checkpoint), filepath.Base(p.Checkpoint)); err == nil {
			return nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	defer f.Close()
	var x checkpoint
	if !intact(f) || gob.NewDecoder(bufio.NewReader(f)).Decode(&x) != nil || x.Format != checkpointFormat {
		return nil, fmt.Errorf("checkpoint: %s is not a complete %s", p.Checkpoint, checkpointFormat)
	}
	if !reflect.DeepEqual(x.Claim, p.result.Claim) {
		return nil, fmt.Errorf("checkpoint: %s is of another search, %v; this one is %v", p.Checkpoint,
			x.Claim.whole(), p.result.Claim.whole())
	}
	code, err := p.probe()
	if err != nil {
		return nil, err
	}
	if x.Code != code {
		return nil, fmt.Errorf("checkpoint: %s is of other code, expected the program that has written it", p.Checkpoint)
	}
	if err := x.sound(); err != nil {
		return nil, fmt.Errorf("checkpoint: %s is damaged: %w", p.Checkpoint, err)
	}
	p.result.Levels, p.result.Collision, p.chance = x.Levels, x.Collision, x.Chance
	return &x, nil
}

// intact reports whether a file ends with the checksum of what comes before, and seeks to its beginning.
func intact(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() < sha256.Size {
		return false
	}
	sum, tail := sha256.New(), make([]byte, sha256.Size)
	_, err = io.CopyN(sum, f, info.Size()-sha256.Size)
	_, last := io.ReadFull(f, tail)
	_, begin := f.Seek(0, io.SeekStart)
	return errors.Join(err, last, begin) == nil && bytes.Equal(sum.Sum(nil), tail)
}

// sound returns an error if the parts do not fit together.
func (x *checkpoint) sound() error {
	if len(x.Known) != shardCount {
		return fmt.Errorf("%d shards of states, not %d", len(x.Known), shardCount)
	}
	var known set
	for i, prints := range x.Known {
		for _, print := range prints {
			if !known.add(print) || print[0]>>58 != uint64(i) {
				return fmt.Errorf("shard %d of the states", i)
			}
		}
	}
	for i, p := range x.Points {
		if p.Parent < -1 || p.Parent >= i || !x.possible(p.By) {
			return fmt.Errorf("point %d", i)
		}
	}
	for i, e := range x.Edges {
		if e.From < -1 || e.From >= len(x.Points) || !x.possible(e.By) {
			return fmt.Errorf("edge %d", i)
		}
	}
	return nil
}

// possible reports whether a transition could be one of the search.
func (x *checkpoint) possible(t sim.Transition) bool {
	return int(t.Client) <= x.Claim.Clients*(1+x.Claim.Dials) &&
		(t.Kind < sim.Kinds || t.Kind >= sim.FirstFault && int(t.Kind-sim.FirstFault) < len(faults.Table))
}

// restore puts what is known into s, and returns what is left to explore.
func (x *checkpoint) restore(s *search) []edge {
	s.runs.Store(x.Done[0])
	s.ends.Store(x.Done[1])
	s.transitions.Store(x.Done[2])
	s.unsure = x.Unsure
	s.withheld.Store(x.Held)
	s.feasible.Store(x.Feasible)
	for sentence, held := range x.Said { // order-free: each by itself
		s.sentences.note(&history.Event{Path: sentence, OK: held})
	}
	for _, h := range x.Hops {
		s.hops.add(h)
	}
	for _, prints := range x.Known {
		s.states.Add(int64(len(prints)))
		for _, print := range prints {
			s.known.add(print)
		}
	}
	points := make([]*point, len(x.Points))
	for i, p := range x.Points {
		points[i] = &point{by: p.By, faults: p.Faults, ticks: p.Ticks, busy: p.Busy, bare: true}
		if p.Parent >= 0 {
			points[i].parent = points[p.Parent]
		}
	}
	edges := make([]edge, len(x.Edges))
	for i, e := range x.Edges {
		edges[i] = edge{by: e.By}
		if e.From >= 0 {
			edges[i].from = points[e.From]
			edges[i].from.left.Add(1)
		}
	}
	return edges
}

// discard removes the checkpoint of a search that is complete.
func (p *prover) discard() error {
	if p.Checkpoint == "" {
		return nil
	}
	if err := files.Remove(p.Checkpoint); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}
