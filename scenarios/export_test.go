package scenarios

import "zksim/scenarios/engine"

// What tests from outside set and call.
var (
	SeedsFlag    = &seedsFlag.given
	ScheduleFlag = &scheduleFlag.given
	OutFlag      = &outFlag.given
	ForFlag      = &forFlag.given
	ShardFlag    = &shardFlag.given
)

// OneInput runs one input of a fuzzer.
func OneInput(t T, r *engine.Runner, s *Scenario, data []byte) { Inputs(t, s)(t, r, data) }

// Inputs returns what runs each input of a fuzzer.
func Inputs(t T, s *Scenario) func(t T, r *engine.Runner, data []byte) {
	return newRecord(t, s, byFuzz).input
}

// What makes the command that repeats a failure.
var (
	BuildFlags  = buildFlags
	TestCommand = testCommand
	Tested      = tested
)

// ForgetRows is what another process begins with.
func ForgetRows() { kept.Clear() }
