package simrun

import (
	"fmt"
	"slices"
	"strconv"

	"zksim/internal/plots"
	"zksim/model/history"
	"zksim/scenarios/herd"
)

// herdReal is what the page says about a real ensemble.
const herdReal = "Crosses and dotted lines are those of a real ensemble: ZooKeeper with as many go-zookeeper " +
	"clients, which do the same. Their traffic was recorded on their connections, and every count was compared with the " +
	"servers' own figures (mntr). A count that the protocol determines must be equal; times are those of another machine."

// differences compares all pairs of measurements. The exit status says whether there is a forbidden difference.
func (s *sweep) differences() (all []herd.Difference, code int) {
	for _, j := range s.done() {
		if j.live == nil {
			continue
		}
		for _, d := range j.Compare(*j.simulated, *j.live) {
			all = append(all, d)
			if !d.Equal() && d.Why == "" {
				code = exitViolation
			}
		}
	}
	return all, code
}

// explain prints why counts differ, or that they must not differ.
func (s *sweep) explain(a *app, all []herd.Difference) {
	equal := 0
	var open []string // variants
	for _, d := range all {
		switch {
		case d.Equal():
			equal++
		case d.Why == "":
			fmt.Fprintf(a.out, "\nWRONG %s with %s: %s: %s and %s, although the protocol determines it\n", d.Variant,
				history.Counted(d.Clients, "client"), d.Count, number(d.Simulated), number(d.Real))
		case !slices.Contains(open, d.Variant):
			open = append(open, d.Variant)
		}
	}
	fmt.Fprintf(a.out, "\n%d of %d counts are equal, simulated and real, and at clients and servers.\n", equal, len(all))
	if len(open) > 0 {
		fmt.Fprintln(a.out, "The others may differ:")
	}
	for _, v := range s.variants {
		if slices.Contains(open, v.Name) {
			fmt.Fprintf(a.out, "%s: %s\n", v.Name, v.Open)
		}
	}
}

// verdict says what a difference means.
func verdict(d *herd.Difference) string {
	switch {
	case d.Equal():
		return "equal"
	case d.Why == "":
		return "WRONG: the protocol determines it"
	}
	return d.Why
}

// comparison is the table of the differences, or of all counts.
func comparison(all []herd.Difference, equal bool) plots.Table {
	t := plots.Table{Title: "Simulated and real",
		Columns: []string{"variant", "clients", "count", "simulated", "real", "difference"},
		Text: "Every count that differs, and why; those that are not listed are equal. In rows with mntr, the first number " +
			"was counted by the clients and the second one by their servers."}
	for i := range all {
		if d := &all[i]; equal || !d.Equal() {
			t.Rows = append(t.Rows, []string{d.Variant, strconv.Itoa(d.Clients), d.Count, number(d.Simulated), number(d.Real),
				verdict(d)})
		}
	}
	return t
}
