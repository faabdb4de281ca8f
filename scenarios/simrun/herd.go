package simrun

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"zksim/internal/edit"
	"zksim/internal/ensemble"
	"zksim/internal/zkserver"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/herd"
)

// The largest numbers of clients, and the default ones. The clients of a real ensemble are all in this process, with
// buffers of 3 MB each.
const (
	mostSimulated    = 100_000
	mostReal         = 1000
	defaultSimulated = "1,2,5,10,20,50,100,200,500,1000"
	defaultReal      = "1,2,5,10,20,50,100,200"
)

// memory is how much memory a sweep should use at most, unless GOMEMLIMIT is set; below it there is no need to collect
// garbage. A herd of more than largeHerd clients, each of which keeps 10 kB in use, needs a good part of it.
const (
	memory    = 2800 << 20
	largeHerd = 20_000
)

// herdFlags are the flags of herd.
type herdFlags struct {
	clients, variants, out string
	backend, servers       string
	nodes                  int
	nodesGiven             bool
	seed                   uint64
}

func (f *herdFlags) define(set *flag.FlagSet) {
	set.StringVar(&f.clients, "clients", "", fmt.Sprintf("numbers of clients to measure (default %q, with -backend "+
		"zookeeper %q)", defaultSimulated, defaultReal))
	set.StringVar(&f.variants, "variants", "", "only variants whose names match this regular expression")
	set.StringVar(&f.out, "o", filepath.Join("out", "herd"), "folder for the numbers, the plots and the page")
	set.Uint64Var(&f.seed, "seed", 1, "seed of the times that messages take in simulations")
	set.StringVar(&f.backend, "backend", "sim", "sim: simulate; zookeeper: also do the same with a real "+
		"ensemble, and compare")
	set.StringVar(&f.servers, "servers", "", "with -backend zookeeper: use the ensemble at host:port,..., which "+
		"must serve nobody else, instead of starting one")
	set.IntVar(&f.nodes, "nodes", 1, "with -backend zookeeper: start this many servers, 1 or 3")
}

// herdEffect measures how many clients recipes wake, and draws it.
func herdEffect(ctx context.Context, a *app, args []string) (_ int, err error) {
	var f herdFlags
	set := a.flags("herd")
	f.define(set)
	if err := parse(set, args, 0); err != nil {
		return 0, err
	}
	set.Visit(func(x *flag.Flag) { f.nodesGiven = f.nodesGiven || x.Name == "nodes" })
	s, err := f.sweep(a)
	if err != nil {
		return 0, err
	}
	addrs, err := addresses(f.servers, f.nodes)
	if err != nil {
		return 0, err
	}
	if err := reportFolder(f.out); err != nil {
		return 0, err
	}
	if s.real {
		var stop func() error
		// An interrupt ends the start, but not servers that serve: a measurement still has to remove its znodes.
		starting, cancel := context.WithCancel(context.WithoutCancel(ctx))
		started := context.AfterFunc(ctx, cancel)
		s.servers, stop, err = startEnsemble(starting, addrs, zkserver.Options{Servers: f.nodes})
		started()
		if err != nil && ctx.Err() != nil {
			return s.interrupted(a), nil
		}
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	failure := s.measure(ctx, a)
	code := exitHeld
	if len(s.done()) > 0 {
		if code, err = s.publish(a, f.out); err != nil {
			return 0, errors.Join(failure, err)
		}
	}
	if failure != nil {
		return 0, failure
	}
	if ctx.Err() != nil && len(s.done()) < len(s.jobs) {
		return cmp.Or(code, s.interrupted(a)), nil
	}
	return code, nil
}

// interrupted prints what is not done, and returns the exit status.
func (s *sweep) interrupted(a *app) int {
	a.says("herd", "interrupted after %d of %d measurements; not done: %s", len(s.done()), len(s.jobs), s.undone())
	return exitInconclusive
}

// sweep checks the flags and plans the measurements.
func (f *herdFlags) sweep(a *app) (*sweep, error) {
	s := &sweep{seed: f.seed, real: f.backend == "zookeeper"}
	most, list := mostSimulated, defaultSimulated
	switch {
	case s.real:
		most, list = mostReal, defaultReal
	case f.backend != "sim":
		return nil, noBackend(f.backend)
	case f.servers != "" || f.nodesGiven:
		return nil, errors.New("-servers and -nodes go with -backend zookeeper only")
	}
	if f.servers != "" && f.nodesGiven {
		return nil, errors.New("-servers and -nodes exclude each other")
	}
	clients, err := parseClients(cmp.Or(f.clients, list), most)
	if err != nil {
		return nil, err
	}
	if s.variants, err = a.pickVariants(f.variants); err != nil {
		return nil, err
	}
	s.plan(clients)
	if len(s.jobs) == 0 {
		return nil, fmt.Errorf("-clients: so many are too many for the variants chosen, which go up to %d",
			s.variants[0].Most)
	}
	return s, nil
}

func parseClients(s string, most int) ([]int, error) {
	var all []int
	for word := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > most {
			return nil, fmt.Errorf("-clients are numbers from 1 to %d, as 1,10,100, not %q", most, s)
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (a *app) pickVariants(pattern string) ([]*herd.Variant, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("-variants: %w", err)
	}
	var picked []*herd.Variant
	for i := range a.variants {
		if v := &a.variants[i]; re.MatchString(v.Name) {
			picked = append(picked, v)
		}
	}
	if len(a.variants) == 0 {
		return nil, errors.New("this program has no variants to measure; see simrun.Tool")
	}
	if names := a.variantNames(); len(picked) == 0 {
		return nil, fmt.Errorf("-variants: nothing matches %q; there are %s%s", pattern, strings.Join(names, ", "),
			edit.Meant(strings.Trim(pattern, "^$"), names))
	}
	return picked, nil
}

// sweep is a set of measurements.
type sweep struct {
	variants []*herd.Variant
	jobs     []job
	seed     uint64
	real     bool // measure also on these servers
	servers  []string
	large    sync.Mutex // held while there is a large herd
}

// job is the measurement of one variant with one number of clients.
type job struct {
	*herd.Variant
	clients         int
	simulated, live *herd.Measurement // nil: not done
}

// plan lists what is to be measured, the quickest first, so that an interrupt
// leaves all variants with some points.
func (s *sweep) plan(clients []int) {
	for _, n := range clients {
		for _, v := range s.variants {
			if v.Fits(n) {
				s.jobs = append(s.jobs, job{Variant: v, clients: n})
			}
		}
	}
}

// measure does the jobs until ctx is done: first the simulations, on all cores, then the measurements on a real
// ensemble, one after the other.
func (s *sweep) measure(ctx context.Context, a *app) error {
	total := len(s.jobs)
	if s.real {
		total *= 2
	}
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // GOMEMLIMIT sets none
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(memory))
	}
	bar := a.progress("herd", "measurements", int64(total))
	defer bar.clear()
	if err := s.simulate(ctx, bar); err != nil || !s.real {
		return err
	}
	for i := range s.jobs {
		j := &s.jobs[i]
		m, err := herd.MeasureLive(ctx, ensemble.Ensemble(s.servers), j.Variant, j.clients)
		debug.FreeOSMemory() // the buffers of its clients
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		j.live = &m
		bar.add()
	}
	return nil
}

func (s *sweep) simulate(ctx context.Context, bar *bar) error {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // the stacks of 100,000 clients take long to scan
	next := make(chan *job)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for k := range errs {
		wg.Go(func() {
			r := engine.NewRunner()
			defer r.Close()
			for j := range next {
				m, err := s.simulateOne(ctx, r, j)
				switch {
				case err == nil:
					j.simulated = &m
				case ctx.Err() == nil:
					errs[k] = errors.Join(errs[k], err)
				}
				bar.add()
			}
		})
	}
	for i := range s.jobs {
		if ctx.Err() != nil {
			break
		}
		next <- &s.jobs[i]
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

// simulateOne does a job. Large jobs run one at a time, so that they need not share the memory.
func (s *sweep) simulateOne(ctx context.Context, r *engine.Runner, j *job) (herd.Measurement, error) {
	if j.clients > largeHerd {
		s.large.Lock()
		defer s.large.Unlock()
	}
	return herd.Measure(ctx, r, j.Variant, j.clients, s.seed)
}

// done returns the jobs that are done, grouped by variant.
func (s *sweep) done() []*job {
	var all []*job
	for _, v := range s.variants {
		for i := range s.jobs {
			j := &s.jobs[i]
			if j.Variant == v && s.isDone(j) {
				all = append(all, j)
			}
		}
	}
	return all
}

func (s *sweep) isDone(j *job) bool { return j.simulated != nil && (j.live != nil || !s.real) }

// undone names a few of the jobs that are not done, and says how many more there are.
func (s *sweep) undone() string {
	var names []string
	for i := range s.jobs {
		if j := &s.jobs[i]; !s.isDone(j) {
			names = append(names, fmt.Sprintf("%s with %s", j.Name, history.Counted(j.clients, "client")))
		}
	}
	if n := len(names); n > undoneNamed {
		names = append(names[:undoneNamed], fmt.Sprintf("and %d more", n-undoneNamed))
	}
	return strings.Join(names, ", ")
}

// undoneNamed is how many measurements that were not done are named one by one.
const undoneNamed = 3

// backends are where scenarios can run.
var backends = []string{"sim", "zookeeper"}

// noBackend is the error for any other backend.
func noBackend(name string) error {
	return fmt.Errorf("-backend is sim or zookeeper, not %q%s", name, edit.Meant(name, backends))
}
