package conform

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Cell is one entry of the coverage table: an operation, the error that it ended with, and its effect on watches.
type Cell struct{ Op, Err, Watch string }

// Coverage counts how often cells were reached.
type Coverage map[Cell]int

// sequence counts the steps of a sequence by their outcomes on the real side.
func (c Coverage) sequence(q *Sequence) {
	for i := range q.Steps {
		o, out := &q.Steps[i].Op, &q.Steps[i].Real
		cell := Cell{Op: row(o), Err: column(o, out)}
		for _, cell.Watch = range watchEffects(out) {
			c[cell]++
		}
	}
}

// wrongMode is the row of creates whose flags belong to another method, and wrongFlags that of creates whose flags mean
// nothing.
const (
	wrongMode  = "wrong mode"
	wrongFlags = "unknown flags"
)

// row names the operation in the table.
func row(o *Op) string {
	switch {
	case !o.isCreate():
		return o.label()
	case o.Flags < 0 || int(o.Flags) >= len(modes):
		return string(o.Kind) + "/" + wrongFlags
	case o.Kind == Create && o.Flags >= zk.FlagTTL, o.Kind == CreateContainer && o.Flags != zk.FlagContainer,
		o.Kind == CreateTTL && o.Flags < zk.FlagTTL:
		return string(o.Kind) + "/" + wrongMode
	}
	return o.label()
}

// The errors of the table, by the names of their codes. Errors of the library itself have its own names.
const (
	ok               = "OK"
	noError          = ""
	unknownFlags     = "invalid flag value"
	unknownOperation = "unknown operation type"
	marshalling      = "MARSHALLINGERROR"
)

// errorNames are the texts of errors with their names in the table.
var errorNames = []struct{ text, name string }{
	{noError, ok}, {zk.ErrNoNode.Error(), "NONODE"}, {zk.ErrNoAuth.Error(), "NOAUTH"},
	{zk.ErrBadVersion.Error(), "BADVERSION"}, {zk.ErrNotEmpty.Error(), "NOTEMPTY"},
	{zk.ErrNodeExists.Error(), "NODEEXISTS"}, {zk.ErrNoChildrenForEphemerals.Error(), "NOCHILDRENFOREPHEMERALS"},
	{zk.ErrInvalidACL.Error(), "INVALIDACL"}, {zk.ErrBadArguments.Error(), "BADARGUMENTS"},
	{zk.ErrAuthFailed.Error(), "AUTHFAILED"}, {zk.ErrAPIError.Error(), "APIERROR"},
	{"unknown error: -5", marshalling}, {"unknown error: -6", "UNIMPLEMENTED"},
	{"unknown error: -125", "QUOTAEXCEEDED"}, {"unknown error: -2", "RUNTIMEINCONSISTENCY"},
	{zk.ErrSessionExpired.Error(), "SESSIONEXPIRED"}, {zk.ErrSessionMoved.Error(), "SESSIONMOVED"},
	{"unknown error: -119", "NOTREADONLY"}, {"unknown error: -121", "NOWATCHER"},
	{zk.ErrReconfigDisabled.Error(), "RECONFIGDISABLED"},
	{zk.ErrConnectionClosed.Error(), "ErrConnectionClosed"}, {zk.ErrNoServer.Error(), "ErrNoServer"},
	{zk.ErrClosing.Error(), "ErrClosing"}, {zk.ErrInvalidPath.Error(), "ErrInvalidPath"},
	{zk.ErrInvalidFlags.Error(), "ErrInvalidFlags"}, {unknownFlags, unknownFlags},
	{zk.ErrShortBuffer.Error(), "ErrShortBuffer"}, {unknownOperation, unknownOperation},
}

// column names the error in the table. That a znode does not exist is an error of the server, even where the library
// turns it into a result.
func column(o *Op, out *Outcome) string {
	if o.Kind == Exists && out.Err == noError && out.Found == "false" {
		return "NONODE"
	}
	for _, e := range errorNames {
		if e.text == out.Err || e.text != "" &&
			(strings.HasPrefix(out.Err, e.text) || strings.HasSuffix(out.Err, ": "+e.text)) {
			return e.name
		}
	}
	return out.Err
}

const noEffect = "none"

// watchEffects returns the effects of a step on watches, each kind once.
func watchEffects(out *Outcome) []string {
	var effects []string
	if out.armed != "" {
		effects = append(effects, "sets "+string(out.armed))
	}
	for _, f := range out.fired {
		effects = append(effects, effect(f.watch.kind, f.event.Type))
	}
	if len(effects) == 0 {
		return []string{noEffect}
	}
	slices.Sort(effects)
	return slices.Compact(effects)
}

func effect(k watchKind, t zk.EventType) string {
	switch t {
	case zk.EventNodeCreated:
		return string(k) + " created"
	case zk.EventNodeDeleted:
		return string(k) + " deleted"
	case zk.EventNodeDataChanged:
		return string(k) + " changed"
	case zk.EventNodeChildrenChanged:
		return string(k) + " children"
	}
	return string(k) + " ended"
}

// effects are the columns of the third dimension.
var effects = func() []string {
	list := []string{noEffect}
	for _, k := range []watchKind{dataWatch, existWatch, childWatch} {
		list = append(list, "sets "+string(k))
		for _, t := range []zk.EventType{zk.EventNodeCreated, zk.EventNodeDeleted, zk.EventNodeDataChanged,
			zk.EventNodeChildrenChanged, zk.EventNotWatching} {
			list = append(list, effect(k, t))
		}
	}
	return list
}()

// reached returns how many of the reachable cells were reached.
func (c Coverage) reached() (reached, reachable int) {
	for _, cell := range cells() {
		if reason(cell) == "" {
			reachable++
			if c[cell] > 0 {
				reached++
			}
		}
	}
	return reached, reachable
}

// Write prints the table: by operation and error, the effects on watches and how often they happened. Then it prints
// the cells that were never reached, and why the rest cannot be.
func (c Coverage) Write(w io.Writer) error {
	var b strings.Builder
	b.WriteString("coverage: operation x error: effect on watches (times)\n")
	var missing []Cell
	reasons := map[string]int{}
	var order []string
	all := cells()
	for i, cell := range all {
		if i == 0 || all[i-1].Op != cell.Op {
			fmt.Fprintf(&b, "  %s\n", cell.Op)
		}
		n := c[cell]
		why := reason(cell)
		switch {
		case why != "" && reasons[why] == 0:
			order = append(order, why)
			fallthrough
		case why != "":
			reasons[why]++
		case n == 0:
			missing = append(missing, cell)
		}
		if n > 0 {
			fmt.Fprintf(&b, "    %-24s %-16s %d\n", cell.Err, cell.Watch, n)
		}
	}
	reached, reachable := c.reached()
	fmt.Fprintf(&b, "reached %d of %d reachable cells (%.1f%%)\n", reached, reachable,
		100*float64(reached)/float64(reachable))
	for _, cell := range missing {
		fmt.Fprintf(&b, "  never reached: %s %s, watches: %s\n", cell.Op, cell.Err, cell.Watch)
	}
	fmt.Fprintf(&b, "the other %d of %d cells cannot be reached:\n", len(all)-reachable, len(all))
	for _, why := range order {
		fmt.Fprintf(&b, "  %5d  %s\n", reasons[why], why)
	}
	for _, cell := range c.surprises() {
		fmt.Fprintf(&b, "  but this was: %s %s, watches: %s\n", cell.Op, cell.Err, cell.Watch)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// surprises returns the cells that were reached although the table says that they cannot be.
func (c Coverage) surprises() []Cell {
	var list []Cell
	for cell := range c {
		if reason(cell) != "" || !slices.Contains(rows(), cell.Op) {
			list = append(list, cell)
		}
	}
	slices.SortFunc(list, func(a, b Cell) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return list
}

// cells returns the whole table, sorted by operation and error.
func cells() []Cell {
	var list []Cell
	for _, op := range rows() {
		for _, e := range errorNames {
			for _, w := range effects {
				list = append(list, Cell{op, e.name, w})
			}
		}
	}
	return list
}
