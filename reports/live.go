package reports

import "zksim/model/history"

// live reports whether the run was one of real clients.
func (f *Failure) live() bool { return f.Report.Backend != "sim" }

// Recorded returns the failure of a run of which only the events are known. Each of them
// becomes a step, in h as well.
func Recorded(h *history.History) *Failure {
	f := &Failure{History: h, Trace: &history.Trace{}}
	for i := range h.Events {
		e := &h.Events[i]
		e.Step = int32(i + 1)
		f.Trace.Steps = append(f.Trace.Steps, history.Step{Name: e.Kind.String() + " " + client(e.Client)})
	}
	return f
}
