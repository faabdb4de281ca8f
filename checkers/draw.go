package checkers

import (
	"fmt"
	"io"
	"strings"

	"zksim/model/history"
)

// Drawer is a checker that can draw the search by which it judges, as a page made by porcupine.
type Drawer interface {
	Checker
	// Draw writes the page and returns true. If h has no operations or too many, it writes nothing and returns false.
	// The bytes of the page are not the same each time.
	Draw(w io.Writer, h *history.History) (bool, error)
}

var (
	_ Drawer = Linearizability{}
	_ Drawer = Counter{}
	_ Drawer = Znodes{}
)

// maxDrawn is the largest number of operations on a page.
const maxDrawn = 200

// Draw implements [Drawer].
func (Linearizability) Draw(w io.Writer, h *history.History) (bool, error) {
	return draw(w, h, operations(h), lockState{}, lockState.step)
}

// Draw implements [Drawer].
func (Counter) Draw(w io.Writer, h *history.History) (bool, error) {
	return draw(w, h, countings(h.Events), 0, count.step)
}

// Draw implements [Drawer]. It draws the first znode whose operations no order explains, or the first of all.
func (Znodes) Draw(w io.Writer, h *history.History) (bool, error) {
	all := registers(h)
	if len(all) == 0 {
		return false, nil
	}
	worst := all[0]
	for _, r := range all {
		if linearizable(r.ops, znodeState{}, znodeState.step) == Violated {
			worst = r
			break
		}
	}
	return draw(w, h, worst.ops, znodeState{}, znodeState.step)
}

// String describes the operation.
func (o operation) String() string {
	names := [...]string{"acquire", "release", "refuse", "enter", "leave", "perhaps acquire"}
	return fmt.Sprintf("%s c%d", names[o.op], o.client)
}

// String describes the state.
func (s lockState) String() string {
	if s.holder == 0 {
		return "free"
	}
	return "c" + digits(s.holder) + " holds it"
}

// String describes the operation.
func (o counting) String() string {
	asked := o.op
	switch o.op {
	case "add":
		asked = fmt.Sprintf("add %d", o.value)
	case "cas":
		asked = fmt.Sprintf("cas %d to %d", o.old, o.value)
	}
	if !o.answered {
		return asked + ": unknown"
	}
	return fmt.Sprintf("%s: %d", asked, o.answer)
}

// String describes the state.
func (s znodeState) String() string {
	if !s.exists {
		return "does not exist"
	}
	return fmt.Sprintf("%q of version %d", s.data, s.version)
}

// aside is something beside the operations: who believes what, faults, sessions.
type aside struct {
	row, text  string
	begin, end int
}

// asides returns what happened beside the operations.
func asides(h *history.History) (list []aside) {
	holds := map[int32]int{} // object -> index in list
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Acquired:
			holds[e.Object] = len(list)
			list = append(list, aside{fmt.Sprintf("c%d believes", e.Client), "holds " + e.Path, i, len(h.Events)})
		case history.Released, history.Lost:
			if k, ok := holds[e.Object]; ok {
				list[k].end = i
				delete(holds, e.Object)
			}
		case history.Fault:
			list = append(list, aside{"faults", e.Op, i, i})
		case history.Session:
			list = append(list, aside{fmt.Sprintf("c%d session", e.Client), e.Op, i, i})
		}
	}
	return list
}

// clipped makes a text fit to be shown.
func clipped(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
