package reports

import (
	"fmt"
	"slices"
	"strings"

	"zksim/model/history"
)

// place returns the step at which the violation shows, and the clients that it is about. For a violation at the end of
// the run, that is the client that is named first. A client that gave up did so with its last event. Everything else
// that shows at the end shows at the last step.
func (f *Failure) place() (step int, clients []int32) {
	h := f.History
	clients = f.named()
	if i := f.Verdict.Event; i >= 0 {
		if c := h.Events[i].Client; c > 0 {
			clients = append(clients, c)
		}
		return max(1, int(h.Events[i].Step)), clients
	}
	clients = clients[:min(1, len(clients))]
	for i := range h.Events {
		if e := &h.Events[i]; slices.Contains(clients, e.Client) && h.Failed[e.Client] != "" {
			step = int(e.Step)
		}
	}
	if step == 0 {
		step = len(f.Trace.Steps)
	}
	return step, clients
}

// named returns the clients in the message, in its order.
func (f *Failure) named() []int32 {
	var clients []int32
	for _, word := range strings.FieldsFunc(f.Verdict.Message, isBreak) {
		var c int32
		if n, _ := fmt.Sscanf(word, "c%d", &c); n == 1 && word == client(c) && !slices.Contains(clients, c) {
			clients = append(clients, c)
		}
	}
	return clients
}

// makers returns the clients that have made the znodes, or put the items, that the message names.
func (f *Failure) makers() (clients []int32) {
	for i := range f.History.Events {
		e := &f.History.Events[i]
		made := e.Kind == history.Created && mentions(f.Verdict.Message, e.Path) ||
			e.Kind == history.Invoke && e.Op == "put" && mentions(f.Verdict.Message, fmt.Sprintf("item %d", e.Value))
		if made && e.Client > 0 && !slices.Contains(clients, e.Client) {
			clients = append(clients, e.Client)
		}
	}
	return clients
}

// breaks is what stands around a word.
const breaks = " ,;:.'\"()[]"

func isBreak(r rune) bool { return strings.ContainsRune(breaks, r) }

// mentions reports whether a word, or a path, stands in a text.
func mentions(text, word string) bool {
	for i := 0; ; i++ {
		k := strings.Index(text[i:], word)
		if k < 0 || word == "" {
			return false
		}
		i += k
		end := i + len(word)
		if (i == 0 || strings.IndexByte(breaks, text[i-1]) >= 0) &&
			(end == len(text) || strings.IndexByte(breaks, text[end]) >= 0) {
			return true
		}
	}
}
