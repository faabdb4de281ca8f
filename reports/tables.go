package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"zksim/model/history"
)

// tables shows how everything stood after each step, as rows whose numbers are
// their places in their tables.
type tables struct {
	*names
	trace *history.Trace
	place [history.Tables]map[string]int
}

// row is an entry of a table, or its end, as the script reads it.
type row struct {
	Table  int      `json:"t"`
	Place  int      `json:"n"`
	Client int32    `json:"c,omitempty"`
	Cells  []string `json:"v,omitempty"` // none: the entry is gone
}

// headings are the columns of each table, the first for the key.
var headings = [history.Tables][]string{
	history.Znodes:   {"znode", "data", "owner", "version", "made at zxid"},
	history.Sessions: {"session", "client", "held by"},
	history.Clients:  {"client", "process", "connection", "its session"},
	history.Servers:  {"server", "txns behind", "cut off"},
	history.Watches:  {"watch", "where it is"},
	history.Tasks:    {"code of", "outstanding call", "state"},
}

var captions = [history.Tables]string{
	history.Znodes: "Znodes", history.Sessions: "Sessions", history.Clients: "Clients",
	history.Servers: "Servers", history.Watches: "Pending watches", history.Tasks: "What the clients' code is at",
}

func newTables(t *history.Trace, n *names) *tables {
	x := &tables{names: n, trace: t}
	for i := range x.place {
		x.place[i] = map[string]int{}
	}
	x.note(t.Rows)
	for i := range t.Steps {
		x.note(t.Steps[i].Rows)
	}
	for i := range x.place {
		for k, key := range slices.SortedFunc(maps.Keys(x.place[i]), byPath) {
			x.place[i][key] = k
		}
	}
	return x
}

func (x *tables) note(rows []history.Row) {
	for _, r := range rows {
		x.place[r.Table][r.Key] = 0
	}
}

// byPath sorts children behind their parents, in the order of their numbers.
func byPath(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(a, b string) int {
		return cmp.Or(strings.Compare(number(a), number(b)), strings.Compare(a, b))
	})
}

// number returns the digits at the end of a name.
func number(s string) string { return s[len(strings.TrimRight(s, "0123456789")):] }

// row makes r fit to be shown.
func (x *tables) row(r history.Row) row {
	out := row{Table: int(r.Table), Place: x.place[r.Table][r.Key], Client: r.Client}
	if r.Cells == nil {
		return out
	}
	key := x.text(r.Key)
	if parts := strings.Count(strings.TrimSuffix(r.Key, "/"), "/"); r.Table == history.Znodes && parts > 1 {
		key = strings.Repeat("\u2003", min(parts-1, 6)) + key
	}
	out.Cells = append(out.Cells, key)
	for _, c := range r.Cells {
		out.Cells = append(out.Cells, x.text(c))
	}
	return out
}

func (x *tables) rows(list []history.Row) []row {
	out := make([]row, len(list))
	for i, r := range list {
		out[i] = x.row(r)
	}
	return out
}

// at returns the rows that stand after a step.
func (x *tables) at(step int) []row {
	type id struct{ table, place int }
	standing := map[id]row{}
	apply := func(rows []history.Row) {
		for _, r := range x.rows(rows) {
			if k := (id{r.Table, r.Place}); r.Cells == nil {
				delete(standing, k)
			} else {
				standing[k] = r
			}
		}
	}
	apply(x.trace.Rows)
	for i := range step {
		apply(x.trace.Steps[i].Rows)
	}
	return slices.SortedFunc(maps.Values(standing), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Place, b.Place))
	})
}

// panel is a table as the page shows it without its script.
type panel struct {
	ID      string
	Caption string
	Columns []string
	Rows    []row
}

// panels returns the tables after a step. A single server never lags, so it has
// none.
func (x *tables) panels(step, servers int) []panel {
	list := make([]panel, 0, history.Tables)
	rows := x.at(step)
	for t := range history.Tables {
		if history.Table(t) == history.Servers && servers == 1 {
			continue
		}
		p := panel{ID: fmt.Sprintf("table%d", t), Caption: captions[t], Columns: headings[t]}
		for _, r := range rows {
			if r.Table == t {
				p.Rows = append(p.Rows, r)
			}
		}
		list = append(list, p)
	}
	return list
}
