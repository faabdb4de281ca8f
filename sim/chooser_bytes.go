package sim

import "slices"

// Bytes takes its choices from bytes, for a fuzzer. The same bytes make the same run, every string of bytes is a run,
// and a small change of the bytes is a small change of the run. Each step that has a choice uses one byte. From
// FaultByte on a byte picks one of the first 32 faults, if one is possible, below that a normal transition. Of more
// than 256 of these, as where code asks for a number, a second byte picks one. When the bytes are used up, the run goes
// on calm and fairly, as after the last name of a [Replay], so that fewer bytes are a simpler run.
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
	x := b.next()
	if x >= FaultByte && len(faults) > 0 {
		return faults[(x-FaultByte)%len(faults)], true, nil
	}
	if len(list) > oneByte {
		x = x<<8 | b.next()
	}
	return list[x%len(list)], true, nil
}

// oneByte is how many transitions a byte can pick from.
const oneByte = 256

// next removes the next byte; 0 if there is none.
func (b *Bytes) next() (x int) {
	if len(b.Data) > 0 {
		x, b.Data = int(b.Data[0]), b.Data[1:]
	}
	return x
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
	i, k := slices.Index(faults, t), slices.Index(list, t)
	first := k
	if len(list) > oneByte {
		first = k >> 8
	}
	switch {
	case 0 <= i && i < oneByte-FaultByte:
		r.Data = append(r.Data, byte(FaultByte+i))
	case k < 0 || first >= oneByte || first >= FaultByte && len(faults) > 0:
		r.over = true
	case len(list) > oneByte:
		r.Data = append(r.Data, byte(first), byte(k))
	default:
		r.Data = append(r.Data, byte(k))
	}
	return t, more, err
}
