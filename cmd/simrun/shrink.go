package main

import (
	"context"
	"fmt"

	"zksim/checkers"
	"zksim/reports"
)

func shrink(_ context.Context, a *app, args []string) (int, error) {
	f := a.flags("shrink", "FILE")
	if err := parse(f, args, 1); err != nil {
		return 0, err
	}
	file := f.Arg(0)
	schedule, s, err := load(file)
	if err != nil {
		return 0, err
	}
	small, err := shrunk(s, schedule)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	if small.Verdict.Level != checkers.Violated {
		return 0, fmt.Errorf("%s: nothing to shrink: the schedule violates nothing", file)
	}
	told, err := traced(s, small.Schedule)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	small.Schedule.Notes = reports.Notes(told)
	return exitHeld, small.Schedule.Write(a.out)
}
