package sim

import "slices"

// Bytes takes its choices from bytes, for a fuzzer. The same bytes make the same run, every string of bytes is a run,
// and a small change of the bytes is a small change of the run. Each step that has a choice uses one byte. From
// FaultByte on a byte picks a fault, if one is possible, below that a normal transition: one of the first 32 faults, or
// of the first 224 normal transitions. When the bytes are used up, the run goes on calm and fairly, as after the last
// name of a [Replay], so that fewer bytes are a simpler run.
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

// Recorder lets another chooser choose, and records the bytes with which [Bytes] makes the same choices. It records
// until the run is calm, or makes a choice that no byte makes. A fuzzer may begin with these bytes.
type Recorder struct {
	Chooser Chooser
	Data    []byte

	over bool // nothing more is recorded
}

// Choose implements [Chooser].
func (r *Recorder) Choose(w *World) (Transition, bool, error) {
	list, faults := slices.Clone(w.Normal()), slices.Clone(w.Faults())
	t, more, err := r.Chooser.Choose(w)
	if !more || err != nil || w.calm || r.over || !choice(list, faults) {
		return t, more, err
	}
	switch i, k := slices.Index(faults, t), slices.Index(list, t); {
	case 0 <= i && i < 256-FaultByte:
		r.Data = append(r.Data, byte(FaultByte+i))
	case 0 <= k && k < FaultByte:
		r.Data = append(r.Data, byte(k))
	default:
		r.over = true
	}
	return t, more, err
}
