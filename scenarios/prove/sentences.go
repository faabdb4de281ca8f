package prove

import (
	"maps"
	"slices"
	"sync"

	"zksim/checkers"
	"zksim/model/history"
)

// sentences are the sentences of Process.Sometimes that runs reached, and whether they held in any. What code says
// depends on what it has seen, so a sentence that holds in some schedule holds in one that was run.
type sentences struct {
	mu   sync.Mutex
	held map[string]bool
}

// note records an event.
func (s *sentences) note(e *history.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = map[string]bool{}
	}
	s.held[e.Path] = s.held[e.Path] || e.OK
}

// add adds the sentences of a level. Levels share the memo, so one that an earlier level knows may run no code.
func (s *sentences) add(level *sentences) {
	for name, held := range level.held { // order-free: each by itself
		s.note(&history.Event{Path: name, OK: held})
	}
}

// never returns those that never held, sorted.
func (s *sentences) never() (list []string) {
	for _, name := range slices.Sorted(maps.Keys(s.held)) {
		if !s.held[name] {
			list = append(list, name)
		}
	}
	return list
}

// assertion records an event that is an assertion of a program: of what must sometimes hold, or of what must hold and
// does not.
func (p *past) assertion(e *history.Event) {
	if e.Kind != history.Told {
		return
	}
	switch e.Op {
	case checkers.ToldSometimes:
		if p.sentences != nil {
			p.sentences.note(e)
		}
	case checkers.ToldBroken:
		if !p.violated() && !p.lenient {
			p.found = checkers.Always{}.Broken(e, -1)
		}
	}
}
