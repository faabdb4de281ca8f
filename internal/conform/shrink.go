package conform

import "slices"

// shrink returns a part of ops that still fails, as short as it can find within that many tries. It uses delta
// debugging, with halves, quarters and so on, then drops parts of multis, and then merges clients.
func shrink(ops []Op, tries int, fails func([]Op) bool) []Op {
	attempt := func(shorter []Op) bool {
		if tries == 0 {
			return false
		}
		tries--
		return fails(shorter)
	}
	for size := max(1, len(ops)/2); ; {
		smaller := false
		// From the end: later operations are needed least by the others, except the one that differs.
		for end := len(ops); end > 0; end -= size {
			begin := max(0, end-size)
			if shorter := slices.Delete(slices.Clone(ops), begin, end); attempt(shorter) {
				ops, smaller = shorter, true
			}
			if tries == 0 {
				return ops
			}
		}
		switch {
		case size > 1:
			size = (size + 1) / 2
		case !smaller:
			return mergeClients(shrinkMultis(ops, attempt), attempt)
		}
	}
}

func shrinkMultis(ops []Op, attempt func([]Op) bool) []Op {
	for i := range ops {
		for k := len(ops[i].Ops) - 1; k >= 0 && len(ops[i].Ops) > 1; k-- {
			shorter := slices.Clone(ops)
			shorter[i].Ops = slices.Delete(slices.Clone(ops[i].Ops), k, k+1)
			if attempt(shorter) {
				ops = shorter
			}
		}
	}
	return ops
}

// mergeClients tries to let one client do what another one did.
func mergeClients(ops []Op, attempt func([]Op) bool) []Op {
	for from := maxClients; from > 1; from-- {
		if !slices.ContainsFunc(ops, func(o Op) bool { return o.Session == from }) {
			continue
		}
		for to := 1; to < from; to++ {
			if shorter := merged(ops, from, to); attempt(shorter) {
				ops = shorter
				break
			}
		}
	}
	return ops
}

func merged(ops []Op, from, to int) []Op {
	var list []Op
	opened := false
	for _, o := range ops {
		if o.Session == from {
			o.Session = to
		}
		if o.Kind == Open && o.Session == to {
			if opened {
				continue
			}
			opened = true
		}
		list = append(list, o)
	}
	return list
}
