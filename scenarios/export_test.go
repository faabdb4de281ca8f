package scenarios

// What tests from outside set and call.
var (
	SeedsFlag    = seedsFlag
	ScheduleFlag = scheduleFlag
	OutFlag      = outFlag
	ForFlag      = forFlag
	FuzzOne      = fuzz
)
