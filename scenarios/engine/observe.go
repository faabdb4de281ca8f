package engine

import (
	"fmt"
	"slices"
	"strings"

	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

// observe returns the state of w, except the znodes, as the rows of all tables.
func observe(w *sim.World) []history.Row {
	stores := w.Stores()
	rows := sessionRows(w, stores)
	for k := range stores {
		off := "no"
		switch {
		case w.Frozen(k):
			off = "yes"
		case k == w.Deposed():
			off = "deposed"
		}
		rows = append(rows, history.Row{Table: history.Servers, Key: serverName(k),
			Cells: []string{fmt.Sprint(w.Behind(k)), off}})
	}
	for _, c := range w.Clients() {
		if !c.Dialed() {
			continue
		}
		rows = append(rows, clientRow(c))
		rows = append(rows, watchRows(c, stores)...)
		rows = append(rows, taskRows(c)...)
	}
	return rows
}

func idText(n int64) string { return fmt.Sprintf("0x%x", uint64(n)) }

func serverName(k int) string { return fmt.Sprintf("s%d", k+1) }

// znodeRows returns the znodes, as the leader has them.
func znodeRows(w *sim.World) []history.Row {
	var rows []history.Row
	for _, z := range w.Stores()[w.Leader()].Tree() {
		owner, name := 0, ""
		if c := w.Owner(z.Stat.EphemeralOwner); c != nil {
			owner, name = c.ID(), c.Name()+", "+idText(z.Stat.EphemeralOwner)
		}
		rows = append(rows, history.Row{Table: history.Znodes, Client: int32(owner), Key: z.Path,
			Cells: []string{string(z.Data), name, fmt.Sprint(z.Stat.Version), idText(z.Stat.Czxid)}})
	}
	return rows
}

// sessionRows returns the sessions that any server holds.
func sessionRows(w *sim.World, stores []*model.Server) []history.Row {
	var rows []history.Row
	at := map[int64]int{} // the row of a session; there may be many sessions
	for k, s := range stores {
		for _, id := range s.Sessions() {
			if i, there := at[id]; there {
				rows[i].Cells[1] += " " + serverName(k)
				continue
			}
			at[id] = len(rows)
			c := w.Owner(id)
			rows = append(rows, history.Row{Table: history.Sessions, Client: int32(c.ID()), Key: idText(id),
				Cells: []string{c.Name(), serverName(k)}})
		}
	}
	return rows
}

// clientRow returns the row of a client: its process, connection, session.
func clientRow(c *sim.Client) history.Row {
	process, connection, session := "runs", "none", "none"
	switch {
	case c.Crashed():
		process = "crashed"
	case !c.Alive():
		process = "closed its connection"
	case c.Paused():
		process = "paused"
	}
	if c.Skewed() {
		process += ", its clock is ahead"
	}
	if c.Connected() {
		connection = serverName(c.Server())
	}
	if c.Delayed() {
		connection += ", delayed"
	}
	if id := c.Session(); id != 0 {
		session = idText(id)
		if !c.HasSession() {
			session += ", which has ended"
		}
	}
	return history.Row{Table: history.Clients, Client: int32(c.ID()), Key: c.Name(),
		Cells: []string{process, connection, session}}
}

// watchRows returns the watches of c and where they are: those that its library has channels for, and those that its
// server holds.
func watchRows(c *sim.Client, stores []*model.Server) []history.Row {
	var held []model.Watch
	if c.Connected() {
		held = stores[c.Server()].Watches(c.ServerConn())
	}
	var rows []history.Row
	known := map[string]bool{}
	add := func(w model.Watch, where string) {
		kind := "znode"
		if w.Child {
			kind = "children"
		}
		key := fmt.Sprintf("%s %s %s", c.Name(), kind, w.Path)
		if !known[key] {
			known[key] = true
			rows = append(rows, history.Row{Table: history.Watches, Client: int32(c.ID()), Key: key, Cells: []string{where}})
		}
	}
	for _, w := range held {
		add(w, "at "+serverName(c.Server()))
	}
	for _, w := range c.Watches() {
		fired := func(m sim.Message) bool { return m.Reply == nil && m.Event.Path == w.Path }
		switch {
		case !c.Connected():
			add(w, "nowhere until it is connected again")
		case slices.ContainsFunc(c.Messages(), fired):
			add(w, "fired, the event is on its way")
		default:
			add(w, "not at "+serverName(c.Server()))
		}
	}
	return rows
}

// taskRows returns what each task of c is doing.
func taskRows(c *sim.Client) []history.Row {
	var rows []history.Row
	for _, x := range c.Tasks() {
		row := history.Row{Table: history.Tasks, Client: int32(c.ID()), Key: c.Name(), Cells: []string{"", string(x.Doing)}}
		if x.Name != "" {
			row.Key += "/" + x.Name
		}
		if x.Request != nil {
			row.Cells[0] = requestText(x.Request)
		}
		if len(x.Paths) > 0 {
			row.Cells[1] = "waits for " + strings.Join(x.Paths, " and ")
		}
		rows = append(rows, row)
	}
	return rows
}
