package reports

import (
	"fmt"
	"strings"

	"zksim/model/history"
)

// follower knows, for each step of a trace, which servers there are and which one acts.
type follower struct {
	trace   *history.Trace
	servers int
	at      []int // by step: the server that acts; -1: none
	leader  []int // by step: the one that leads; -1: none
	// recorded says that no servers can be told apart: one stands for the ensemble.
	recorded bool
}

// newFollower reads a trace.
func newFollower(f *Failure) *follower {
	x := &follower{trace: f.Trace, at: []int{-1}, leader: []int{0}}
	connected := map[string]int{} // by client
	standing := map[string][]string{}
	note := func(rows []history.Row) {
		for _, r := range rows {
			switch r.Table {
			case history.Servers:
				x.servers = max(x.servers, serverOf(r.Key)+1)
				standing[r.Key] = r.Cells
			case history.Clients:
				delete(connected, r.Key)
				if len(r.Cells) > 1 {
					connected[r.Key] = serverOf(r.Cells[1])
				}
			}
		}
	}
	note(f.Trace.Rows)
	for i := range f.Trace.Steps {
		x.at = append(x.at, x.acts(&f.Trace.Steps[i], connected, standing))
		x.leader = append(x.leader, x.leading(standing))
		note(f.Trace.Steps[i].Rows)
	}
	if x.servers == 0 {
		x.servers, x.recorded = 1, true
		for i := range x.at {
			x.at[i] = 0
		}
	}
	return x
}

// acts returns the server that a step is about: the one that it names, the one of its client, or else the leader.
func (x *follower) acts(s *history.Step, connected map[string]int, standing map[string][]string) int {
	if m := executes.FindStringSubmatch(s.Did); m != nil {
		return serverOf("s" + m[1])
	}
	verb, who, _ := strings.Cut(s.Name, " ")
	if k := serverOf(who); k >= 0 {
		return k
	}
	if k, ok := connected[who]; ok && k >= 0 && verb != "expire" {
		return k
	}
	return x.leading(standing)
}

// leading returns the server that leads: the first that has applied everything and is not cut off, or -1 if there is
// none.
func (x *follower) leading(standing map[string][]string) int {
	for k := range x.servers {
		if cells := standing[fmt.Sprintf("s%d", k+1)]; len(cells) == 2 && cells[0] == "0" && cells[1] == "no" {
			return k
		}
	}
	return -1
}

// hosts are the names of the servers and of that many clients.
func (x *follower) hosts(clients int) (names []string) {
	for k := range x.servers {
		names = append(names, fmt.Sprintf("s%d", k+1))
	}
	if x.recorded {
		names[0] = "ensemble"
	}
	for c := range clients {
		names = append(names, client(int32(c+1)))
	}
	return names
}

// serverOf returns the number of a server, from 0, by its name, or -1 if it is no server.
func serverOf(name string) int {
	k := 0
	if n, _ := fmt.Sscanf(name, "s%d", &k); n != 1 {
		return -1
	}
	return k - 1
}
