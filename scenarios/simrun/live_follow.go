package simrun

import (
	"context"
	"fmt"
	"path/filepath"

	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// followSeeds is how many simulated runs are tried to find one that fails like a real one.
const followSeeds = 4000

// followFolder is where the simulated run is written, below the folder of the real one.
const followFolder = "simulated"

// follow looks for a simulated run that violates the same property under the faults that struck a real one. It prints
// where its report is, or that there is none.
func (x *liveCheck) follow(ctx context.Context, a *app, s *engine.Scenario, r *liveResult, dir string) error {
	twin, err := s.Sized(r.run.History.Clients, 0)
	if err != nil {
		return err
	}
	twin.Faults = r.run.Plan.InSim(r.run.Struck)
	checker, fails := r.run.Verdict.Checker, engine.Caught
	if twin.Caught = []string{checker}; r.run.History.Outcome == history.Panicked { // which no checker finds
		twin.Caught, fails = nil, engine.Violation
	}
	twin.Servers = []int{len(x.addrs)}
	if len(x.addrs) != 3 {
		twin.Servers = []int{1}
	}
	found, err := pipeline.Run(ctx, &twin, pipeline.Options{Options: engine.Options{
		Seeds: engine.Range{First: 1, Last: followSeeds}, Strategy: engine.Random}})
	if err != nil {
		return err
	}
	if found.Status != fails || found.Failure.Verdict.Checker != checker {
		fmt.Fprintf(a.out, "        simulated  none of %d runs under %q fails so\n", found.Runs, twin.Faults)
		return nil
	}
	f, err := x.explain(ctx, a, &twin, &found.Failure, found.Where())
	if err != nil {
		return err
	}
	below := filepath.Join(dir, followFolder)
	file := filepath.Join(below, pipeline.ScheduleFile)
	if err := f.Write(below, a.command+" replay "+pipeline.QuoteFile(file)); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "        simulated  %s: %s, %d steps\n", filepath.Join(below, "index.html"),
		reports.Printable(f.Report.Checker), len(f.Small.Schedule.Names))
	return nil
}

// followed is follow, but only prints its error: that is no reason to keep silent about the rest.
func (x *liveCheck) followed(ctx context.Context, a *app, s *engine.Scenario, r *liveResult, dir string) {
	if err := x.follow(ctx, a, s, r, dir); err != nil {
		fmt.Fprintf(a.out, "        simulated  nothing: %s\n", reports.Printable(oneLine(err.Error())))
	}
}
