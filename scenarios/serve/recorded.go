package serve

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"zksim/model/history"
)

// JudgeRecording judges what [Ensemble.WriteRecording] has written: h is the history that [reports.ReadHistory] has
// read from it, and r is the whole. The judgement is the same as the ensemble's own. Gap is what
// [Ensemble.RecordingGap] said.
func JudgeRecording(h *history.History, r io.Reader) (_ Judgement, gap string, err error) {
	before, v := []string{}, circumstances{away: map[int32]away{}}
	err = eachLine(r, func(l *recordLine) error {
		switch l.Kind {
		case "recording":
			v.forgotten, gap = l.Forgotten, l.Incomplete
			return l.known()
		case "reported":
			v.reported = append(v.reported, l.Message)
		case "before":
			before = append(before, l.Message)
		case "rule":
			v.rules = append(v.rules, Rule{Rule: l.Name, Times: l.Times, Earlier: l.Earlier})
		case "asked":
			v.asked = true
		case "session":
			return v.session(h, l)
		}
		return nil
	})
	if err != nil {
		return Judgement{}, "", err
	}
	h.Txns = true
	return Judgement{v.judge(h), before}, gap, nil
}

// lines returns the lines that tell JudgeRecording what it must know besides the history.
func (v *evidence) lines(before []string) (list []recordLine) {
	for _, id := range slices.Sorted(maps.Keys(v.sessions)) {
		client := v.sessions[id]
		list = append(list, recordLine{Kind: "session", Session: fmt.Sprintf("%#x", uint64(id)), Client: int(client),
			Away: v.away[client]})
	}
	for _, r := range v.rules {
		list = append(list, recordLine{Kind: "rule", Name: r.Rule, Times: r.Times, Earlier: r.Earlier})
	}
	if v.asked {
		list = append(list, recordLine{Kind: "asked"})
	}
	for _, text := range v.reported {
		list = append(list, recordLine{Kind: "reported", Message: text})
	}
	for _, text := range before {
		list = append(list, recordLine{Kind: "before", Message: text})
	}
	return list
}

// session reads the line of a session that existed at the end.
func (v *circumstances) session(h *history.History, l *recordLine) error {
	id, err := strconv.ParseUint(l.Session, 0, 64)
	if err != nil || l.Client < 1 {
		return fmt.Errorf("the session %.60q of client %d, expected a number as 0x1001 and a client from 1 on", l.Session,
			l.Client)
	}
	switch l.Away {
	case "", mayComeBack, hasGone:
	default:
		return fmt.Errorf("a client that is %.60q, expected %q or %q", l.Away, mayComeBack, hasGone)
	}
	h.Sessions[int64(id)] = int32(l.Client)
	v.away[int32(l.Client)] = l.Away
	return nil
}
