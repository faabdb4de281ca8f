package scenarios

import "zksim/scenarios/engine"

// What tests from outside set and call.
var (
	SeedsFlag    = seedsFlag
	ScheduleFlag = scheduleFlag
	OutFlag      = outFlag
	ForFlag      = forFlag
	ShardFlag    = shardFlag
)

// OneInput runs one input of a fuzzer.
func OneInput(t T, r *engine.Runner, s *Scenario, data []byte) {
	newRecord(t, s, byFuzz).input(t, r, data)
}
