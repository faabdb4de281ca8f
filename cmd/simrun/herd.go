package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"zksim/scenarios"
	"zksim/scenarios/herd"
)

// mostClients is far beyond what the simulator can do in reasonable time.
const mostClients = 10_000

// herdEffect measures how many clients recipes wake, and draws it.
func herdEffect(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("herd", "")
	list := f.String("clients", "1,2,5,10,20,50,100,200,500,1000", "numbers of clients to measure with")
	pattern := f.String("variants", "", "only variants whose name matches this regular expression")
	out := f.String("o", filepath.Join("out", "herd"), "folder for the numbers, the plots and the page")
	seed := f.Uint64("seed", 1, "of the times that messages take")
	if err := parse(f, args, 0); err != nil {
		return 0, err
	}
	clients, err := parseClients(*list)
	if err != nil {
		return 0, err
	}
	variants, err := pickVariants(*pattern)
	if err != nil {
		return 0, err
	}
	jobs := plan(variants, clients)
	if len(jobs) == 0 {
		return 0, fmt.Errorf("-clients: so many are too many for the variants chosen, which go up to %d", variants[0].Most)
	}
	if err := os.MkdirAll(*out, 0o777); err != nil {
		return 0, err
	}
	if err := measureAll(ctx, a, jobs, *seed); err != nil {
		return 0, err
	}
	var all []herd.Measurement
	for _, v := range variants {
		for i := range jobs {
			if jobs[i].Variant == v && jobs[i].done {
				all = append(all, jobs[i].Measurement)
			}
		}
	}
	if len(all) > 0 {
		if err := publish(a, *out, all); err != nil {
			return 0, err
		}
	}
	if ctx.Err() != nil {
		fmt.Fprintf(a.err, "simrun herd: interrupted after %d of %d measurements\n", len(all), len(jobs))
		return exitInconclusive, nil
	}
	return exitHeld, nil
}

func parseClients(s string) ([]int, error) {
	var all []int
	for word := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > mostClients {
			return nil, fmt.Errorf("-clients are numbers from 1 to %d, as 1,10,100, not %q", mostClients, s)
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func pickVariants(pattern string) ([]*herd.Variant, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("-variants: %w", err)
	}
	var picked []*herd.Variant
	var names []string
	for i := range herd.All {
		v := &herd.All[i]
		names = append(names, v.Name)
		if re.MatchString(v.Name) {
			picked = append(picked, v)
		}
	}
	if len(picked) == 0 {
		return nil, fmt.Errorf("-variants: nothing matches %q; there are %s", pattern, strings.Join(names, ", "))
	}
	return picked, nil
}

// job is one measurement.
type job struct {
	*herd.Variant
	clients int
	done    bool
	herd.Measurement
}

// plan lists what is to be measured, the quickest first, so that an interrupt
// leaves all variants with some points.
func plan(variants []*herd.Variant, clients []int) []job {
	var jobs []job
	for _, n := range clients {
		for _, v := range variants {
			if v.Fits(n) {
				jobs = append(jobs, job{Variant: v, clients: n})
			}
		}
	}
	return jobs
}

// measureAll does the jobs on all cores until ctx is done.
func measureAll(ctx context.Context, a *app, jobs []job, seed uint64) error {
	bar := a.progress("herd", int64(len(jobs)))
	defer bar.clear()
	next := make(chan *job)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for k := range errs {
		wg.Go(func() {
			r := scenarios.NewRunner()
			defer r.Close()
			for j := range next {
				m, err := herd.Measure(r, j.Variant, j.clients, seed)
				j.Measurement, j.done = m, err == nil
				errs[k] = errors.Join(errs[k], err)
				bar.add()
			}
		})
	}
	for i := range jobs {
		if ctx.Err() != nil {
			break
		}
		next <- &jobs[i]
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}
