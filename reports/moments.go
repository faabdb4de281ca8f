package reports

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"zksim/model/history"
)

// moment is something that happened in one place: at a client, a server, or among the faults.
type moment struct {
	host  int
	step  int
	name  string // a few words
	text  string
	after []cause // what happened elsewhere before it, and why it is known
	times int64   // virtual milliseconds after it; 0 before the first step
}

// cause is an earlier moment at another host from which news has come.
type cause struct {
	moment int
	kind   string // request, reply, txn, watch event or fault
}

// The kinds of causes.
const (
	byRequest = "request"
	byReply   = "reply"
	byTxn     = "txn"
	byWatch   = "watch event"
	byFault   = "fault"
)

// pending is a call that has not been answered yet.
type pending struct {
	asked  string
	call   int     // its moment
	served int     // where it was executed; -1: nowhere yet
	zxids  []int64 // of the txns that it has made
}

// chart is a run as moments, in an order in which each comes after its causes.
type chart struct {
	hosts   []string // faults, then servers, then clients
	servers int
	moments []moment

	names   *names
	follows *follower
	history *history.History
	calls   [][]*pending // by client
	cut     [][]*pending // those that ended without an answer, and may still be executed
	losses  losses
	txns    map[int64]int
	applied map[[2]int64]int // by server and zxid
	fault   int              // the moment of the fault in this step; -1: there is none
	serving *pending         // the call that is executed in this step, if that is known
}

// faultHost is where faults happen.
const faultHost = 0

// newChart reads a failure, or any other run. A recorded one has a single server, the ensemble.
func newChart(f *Failure) *chart {
	x := &chart{names: newNames(f.History, f.Trace), follows: newFollower(f), history: f.History,
		calls: make([][]*pending, f.History.Clients+1), cut: make([][]*pending, f.History.Clients+1),
		losses: newLosses(f.History), txns: map[int64]int{}, applied: map[[2]int64]int{}}
	x.servers = x.follows.servers
	x.hosts = append([]string{"faults"}, x.follows.hosts(f.History.Clients)...)
	next := 0
	for i := 0; i <= len(f.Trace.Steps); i++ {
		x.fault = -1
		if i > 0 {
			x.step(i, &f.Trace.Steps[i-1])
		}
		for ; next < len(f.History.Events) && int(f.History.Events[next].Step) <= i; next++ {
			x.event(next, i)
		}
	}
	for i := range x.moments {
		if s := x.moments[i].step; s > 0 {
			x.moments[i].times = f.Trace.Steps[s-1].Time
		}
	}
	return x
}

// add appends a moment and returns its number. It leaves out causes at the same host: what happens there is in order.
func (x *chart) add(host, step int, name, text string, after ...cause) int {
	after = slices.DeleteFunc(after, func(c cause) bool { return c.moment < 0 || x.moments[c.moment].host == host })
	x.moments = append(x.moments, moment{host: host, step: step, name: clip(Printable(x.names.text(name))),
		text: x.names.text(text), after: after})
	return len(x.moments) - 1
}

// appliesTxn finds the txn that a server applies.
var appliesTxn = regexp.MustCompile(`applies zxid (0x[0-9a-f]+)`)

// step adds what a transition does at a server.
func (x *chart) step(i int, s *history.Step) {
	verb, _, _ := strings.Cut(s.Name, " ")
	at := x.follows.at[i]
	x.serving = x.executed(s)
	switch {
	case verb == "choose": // no event of the history tells it
		x.add(x.servers+int(clientOf(s.Name)), i, s.Name, s.Did)
	case at < 0 || x.follows.recorded:
	case verb == "serve":
		m := x.add(1+at, i, s.Name, s.Did, x.serving.sent()...)
		if x.serving != nil {
			x.serving.served = m
		}
	case verb == "replicate":
		m := appliesTxn.FindStringSubmatch(s.Did)
		if m == nil {
			break
		}
		zxid, _ := strconv.ParseInt(m[1], 0, 64)
		txn, known := x.txns[zxid]
		if !known {
			txn = -1
		}
		x.applied[[2]int64{int64(at), zxid}] = x.add(1+at, i, s.Name, s.Did, cause{txn, byTxn})
	case verb == "thaw" || verb == "stepdown":
		x.add(1+at, i, s.Name, s.Did)
	}
}

// executed returns the call that a step executes, or nil if there is none. It is the first call of the client that
// waits for that and fits what the step says, or else the last one that has ended without an answer. It is the other
// way around if the step says that the call was sent before.
func (x *chart) executed(s *history.Step) *pending {
	c := clientOf(s.Name)
	fits := func(p *pending) bool { return p.served < 0 && p.is(s.Did) }
	k := slices.IndexFunc(x.calls[c], fits)
	if k >= 0 && !strings.Contains(s.Did, " sent ") {
		return x.calls[c][k]
	}
	for _, p := range slices.Backward(x.cut[c]) {
		if fits(p) {
			return p
		}
	}
	if k < 0 {
		return nil
	}
	return x.calls[c][k]
}

// is reports whether a text is about the call.
func (p *pending) is(text string) bool {
	asked := p.asked
	if asked == "closeSession" {
		asked = "the end of a session"
	}
	return strings.Contains(text+" ", " "+asked+" ") || strings.Contains(text, " "+asked+",")
}

// makes reports whether the call can have made a txn.
func (p *pending) makes(v *history.Event) bool {
	op, path, _ := strings.Cut(p.asked, " ")
	switch {
	case op == "multi":
		return true
	case v.Kind == history.Created:
		return strings.HasPrefix(op, "create") && strings.HasPrefix(v.Path, path)
	case v.Kind == history.Changed:
		return op == "set" && v.Path == path
	}
	return op == "delete" && v.Path == path || op == "closeSession"
}

// sent is the cause of what a server does with a request.
func (p *pending) sent() []cause {
	if p == nil {
		return nil
	}
	return []cause{{p.call, byRequest}}
}

// event adds event e of the history, in step i.
func (x *chart) event(e, i int) {
	v := &x.history.Events[e]
	text, _ := narrate(x.history, e)
	name := v.Kind.String()
	if v.Op != "" {
		name += " " + v.Op
	}
	if int(v.Client) >= len(x.calls) {
		return
	}
	host := 1 + x.servers + int(v.Client) - 1
	switch v.Kind {
	case history.Created, history.Changed, history.Deleted:
		x.committed(v, i, text)
	case history.Fault:
		x.fault = x.add(faultHost, i, v.Op, x.strikes(v, i))
	case history.Calm:
		x.fault = x.add(faultHost, i, name, text)
	case history.Call:
		m := x.add(host, i, v.Op, text, x.struck(v.Client)...)
		if isPart(v) {
			break
		}
		x.calls[v.Client] = append(x.calls[v.Client], &pending{asked: asked(v), call: m, served: -1})
	case history.Reply:
		x.add(host, i, name, text, x.answer(v, i)...)
	case history.Notify:
		x.add(host, i, name, text, x.known(v.Zxid, i, byWatch)...)
	default:
		if v.Client > 0 {
			x.add(host, i, name, text, x.struck(v.Client)...)
		}
		if x.losses.at(v) {
			x.cut[v.Client] = append(x.cut[v.Client], x.calls[v.Client]...)
			x.calls[v.Client] = nil
		}
	}
}

// strikes says what a fault does.
func (x *chart) strikes(v *history.Event, i int) string {
	if i > 0 && x.follows.trace.Steps[i-1].Did != "" {
		return v.Op + ": " + x.follows.trace.Steps[i-1].Did
	}
	return v.Op
}

// struck returns the fault of this step as a cause of what happens at the client that it strikes.
func (x *chart) struck(c int32) []cause {
	if x.fault < 0 || !strings.HasSuffix(x.moments[x.fault].name, " "+client(c)) {
		return nil
	}
	return []cause{{x.fault, byFault}}
}

// committed adds a txn, at the leader. The first of several with one zxid stands for all.
func (x *chart) committed(v *history.Event, i int, text string) {
	at := max(0, x.follows.leader[i])
	var after []cause
	p := x.serving
	if x.follows.recorded { // a history does not say which one
		p = nil
		open := slices.Concat(x.calls[v.Client], x.cut[v.Client])
		if k := slices.IndexFunc(open, func(q *pending) bool { return q.makes(v) }); k >= 0 {
			p = open[k]
		}
	}
	if p != nil {
		after = append(after, cause{p.call, byRequest}, cause{p.served, byRequest})
	}
	if x.fault >= 0 {
		after = append(after, cause{x.fault, byFault})
	}
	m := x.add(1+at, i, v.Kind.String()+" "+v.Path, text, after...)
	if _, known := x.txns[v.Zxid]; !known {
		x.txns[v.Zxid] = m
		x.applied[[2]int64{int64(at), v.Zxid}] = m
	}
	if p != nil {
		p.zxids = append(p.zxids, v.Zxid)
		if x.fault >= 0 && p.served < 0 {
			p.served = m
		}
	}
}

// answer returns the causes of a reply, and takes its call off the list. If several calls fit, it takes one that was
// executed, or one that was not, as the reply says. A reply that no server has given has no causes.
func (x *chart) answer(v *history.Event, i int) []cause {
	list := x.calls[v.Client]
	unanswered := v.Err != nil && slices.Contains(withoutAnswer, reason(v.Err))
	fits := func(p *pending) bool {
		return p.asked == asked(v) || strings.HasPrefix(v.Op, "create") && strings.HasPrefix(asked(v), p.asked)
	}
	k := slices.IndexFunc(list, func(p *pending) bool { return fits(p) && (p.served < 0) == unanswered })
	if k < 0 {
		k = slices.IndexFunc(list, fits)
	}
	if k < 0 {
		return nil
	}
	p := list[k]
	x.calls[v.Client] = slices.Delete(list, k, k+1)
	if unanswered {
		x.cut[v.Client] = append(x.cut[v.Client], p)
		return nil
	}
	causes := []cause{{p.served, byReply}}
	for _, zxid := range p.zxids {
		causes = append(causes, x.known(zxid, i, byReply)...)
	}
	return causes
}

// withoutAnswer are the errors with which the client's library ends a call that nobody has answered.
var withoutAnswer = []string{"connection closed", "session has been expired by the server",
	"could not connect to a server", "context canceled", "context deadline exceeded", "write tcp: broken pipe"}

// known returns the causes of news of a txn in a step: the txn, and its application by the server that tells of it.
func (x *chart) known(zxid int64, i int, kind string) []cause {
	txn, known := x.txns[zxid]
	if !known {
		return nil
	}
	causes := []cause{{txn, kind}}
	if at := x.follows.at[i]; at >= 0 {
		if m, ok := x.applied[[2]int64{int64(at), zxid}]; ok && m != txn {
			causes = append(causes, cause{m, kind})
		}
	}
	return causes
}
