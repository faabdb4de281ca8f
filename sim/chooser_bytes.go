package sim

import "slices"

// Bytes takes its choices from bytes, for a fuzzer. The same bytes make the same run, every string of bytes is a run,
// and a small change of the bytes is a small change of the run. Each step that has a choice uses one byte. From
// FaultByte on a byte picks a fault, if one is possible, below that a normal transition. When the bytes are used up,
// the run goes on calm and fairly, as after the last name of a [Replay], so that fewer bytes are a simpler run.
type Bytes struct {
	Data []byte
	fair Replay
}

// FaultByte is the first byte value that picks a fault.
const FaultByte = 0xe0

// Choose implements [Chooser]. It removes from Data what it uses.
func (b *Bytes) Choose(w *World) (Transition, bool, error) {
	if len(b.Data) == 0 || w.calm {
		return b.fair.Choose(w)
	}
	list, faults := w.Normal(), w.Faults()
	switch {
	case len(list) == 0:
		return Transition{}, false, nil
	case !choice(list, faults):
		return list[0], true, nil
	}
	x := int(b.Data[0])
	b.Data = b.Data[1:]
	if x >= FaultByte && len(faults) > 0 {
		return faults[(x-FaultByte)%len(faults)], true, nil
	}
	return list[x%len(list)], true, nil
}

// choice reports whether a step needs a byte.
func choice(list, faults []Transition) bool { return len(list) > 1 || len(faults) > 0 }

// Recorder lets another chooser choose and records, until the run is calm, the bytes with which [Bytes] makes the same
// choices. A fuzzer may begin with them.
type Recorder struct {
	Chooser Chooser
	Data    []byte
}

// Choose implements [Chooser].
func (r *Recorder) Choose(w *World) (Transition, bool, error) {
	list, faults := slices.Clone(w.Normal()), slices.Clone(w.Faults())
	t, more, err := r.Chooser.Choose(w)
	if !more || err != nil || w.calm || !choice(list, faults) {
		return t, more, err
	}
	if i := slices.Index(faults, t); i >= 0 {
		r.Data = append(r.Data, byte(FaultByte+i%(256-FaultByte)))
	} else {
		r.Data = append(r.Data, byte(slices.Index(list, t)%FaultByte))
	}
	return t, more, err
}
