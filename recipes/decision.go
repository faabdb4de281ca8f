package recipes

// Decision is what became of a [Transaction].
type Decision int

// The decisions. The last two are final.
const (
	Undecided Decision = iota
	Committed
	Aborted
)

// String returns "undecided", "committed" or "aborted".
func (d Decision) String() string { return [...]string{"undecided", "committed", "aborted"}[d] }

// decisionIn returns the decision that a decision znode with that data records.
func decisionIn(data []byte) Decision {
	if string(data) == Committed.String() {
		return Committed
	}
	return Aborted
}
