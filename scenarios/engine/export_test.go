package engine

// What tests from outside look at.
const (
	MinClients = minClients
	MaxLine    = maxLine
)

var (
	AnswerText   = answerText
	RequestText  = requestText
	NamesWithout = namesWithout
	Reason       = reason
	StrictRuns   = strictRuns
)

// StepLimit is stepLimit.
func (s *Scenario) StepLimit(clients, rounds int) (limit int, capped bool) {
	return s.stepLimit(clients, rounds)
}
