package simrun

import (
	"fmt"
	"math"
	"slices"

	"zksim/internal/plots"
	"zksim/model/history"
	"zksim/scenarios/herd"
)

var herdLead = []string{
	"A watch costs nothing until it fires. When many clients watch one znode, one change wakes them all. Each of " +
		"them reads the znode again, and all but one find that they still have to wait: this is the herd. Meanwhile " +
		"the other clients of the server wait behind them. This page measures the herd in timed simulations without " +
		"faults. The one server takes 20 µs for a read, 50 µs for a write and 5 µs for a notification, and the " +
		"network takes 100 µs each way. A measurement begins when all clients wait.",
	"All counts are per client that goes on: one that gets the lock or the item, leaves the barrier, or learns the " +
		"outcome. So a release that lets a hundred readers go on with a hundred notifications counts as one for each " +
		"reader, and a release that wakes a hundred clients of which one goes on counts as a hundred. A notification " +
		"of a client's own change is not counted. A notification is in vain if its client does not go on after it, " +
		"or is notified again before it does.",
}

// herdFigure is a figure, and how it is made from the measurements.
type herdFigure struct {
	name, title, y, text string
	variants             []string
	value                func(m *herd.Measurement) float64
	fitted               bool // the legend has the slope of the fan-out
	intervals            bool // against the variants' intervals, a line for each number of clients
}

var (
	queueing = []string{"lock/sequential", "lock/single-node", "rwlock/readers", "election/predecessor",
		"election/smallest"}
	together = []string{"leave/lowest", "leave/sequential", "leave/naive", "queue/all", "queue/turns", "commit/all-sites",
		"commit/coordinator"}
	pollers = []string{"wait/poll-50ms", "wait/watch", "wait/poll-1s"}
)

func notifications(m *herd.Measurement) float64 { return m.Notifications }
func wasted(m *herd.Measurement) float64        { return m.Wasted }
func median(m *herd.Measurement) float64        { return ms(m.P50) }
func slowest(m *herd.Measurement) float64       { return ms(m.P99) }
func spike(m *herd.Measurement) float64         { return ms(m.Spike) }
func held(m *herd.Measurement) float64          { return float64(m.Watches) }

// herdFigures are all figures of the variants of this module, in the order of the page.
var herdFigures = []herdFigure{
	{name: "fanout-locks", title: "Fan-out of locks and elections", y: "notifications per client that goes on",
		fitted:   true,
		variants: queueing, value: notifications,
		text: "A client that queues behind one other client is woken by that one alone: one notification for each " +
			"hand-over, however long the queue (slope 0). With a single znode, or if all candidates watch the " +
			"leader, each hand-over wakes all (slope 1), so n hand-overs cost n² notifications. Readers behind a " +
			"writer are also woken all at once, but all of them go on. The slope is that of a straight line from " +
			"20 clients on, with its 95% interval."},
	{name: "fanout-groups", title: "Fan-out of barriers, queues and transactions",
		y: "notifications per client that goes on", fitted: true,
		variants: together, value: notifications,
		text: "Clients that leave a double barrier are a herd if each watches all children, and none if each watches " +
			"one znode. An item of a queue wakes all consumers, unless they take turns. In a two-phase commit in " +
			"which all sites watch all votes, each site is woken by every vote after its own; with a coordinator, " +
			"only the coordinator is woken."},
	{name: "wasted", title: "Wake-ups in vain", y: "notifications in vain per client that goes on",
		variants: []string{"lock/single-node", "election/smallest", "leave/naive", "queue/all", "commit/all-sites",
			"leave/sequential", "queue/turns", "commit/coordinator"},
		value: wasted,
		text: "In a herd, all clients but one are woken in vain. Variants that are not in this figure wake almost " +
			"nobody in vain: the lock, the election by predecessors, the readers. In the flat lines below, a client " +
			"has to be woken twice to go on once: leaving one after the other takes two passes, a consumer is woken " +
			"for its turn and for its item, and a coordinator by each vote."},
	{name: "handover", title: "Hand-over latency, 99th percentile", y: "time from release to acquisition (ms)",
		variants: []string{"lock/sequential", "lock/single-node", "rwlock/readers", "election/predecessor",
			"election/smallest", "queue/all", "queue/turns"},
		value: slowest,
		text: "What a herd costs the clients in it: the time from a release until the next client holds the lock, or " +
			"from a put until a consumer has the item. It grows with the number of clients: the server sends all " +
			"notifications, and answers many clients that cannot go on, before it answers the one that can. The last " +
			"of the readers is late as well: so many of them go on at once, although none is woken in vain."},
	{name: "spike", title: "Spike: the longest read of a bystander", y: "latency of a get (ms)",
		variants: []string{"lock/sequential", "lock/single-node", "election/smallest", "rwlock/readers", "queue/all",
			"queue/turns", "wait/poll-50ms"},
		value: spike,
		text: "What a herd costs the clients outside of it: one that has nothing to do with the recipe reads a znode " +
			"every millisecond. A read takes 0.2 ms when the server is idle. When a herd comes, the read waits " +
			"behind all of it. With the queue of the lock, the longest read hardly depends on the number of clients."},
	{name: "polling", title: "Requests: watching and polling", y: "requests per second of all clients",
		variants: pollers, value: func(m *herd.Measurement) float64 { return m.Rate },
		text: "Clients wait three seconds for a znode to change. A client that polls every 50 ms makes 20 requests a " +
			"second, and one that polls every second makes one, for as long as the wait lasts. A watch takes four " +
			"requests for each wait, however long; in these three seconds that is as many as with a poll every second."},
	{name: "polling-latency", title: "Detection delay: watching and polling", y: "median time from change to notice (ms)",
		variants: pollers, value: median,
		text: "Polling is late by half its period. A watch is as quick as the server can send: with a thousand " +
			"watches the median client hears later than the first, since one change fires them all at once. That is " +
			"no herd if all clients may go on; polling spreads the load at the price of latency."},
	{name: "rearm", title: "Changes that a watch misses", y: "notifications per change and client", intervals: true,
		variants: []string{"rearm/0.25", "rearm/0.5", "rearm/1", "rearm/2", "rearm/4", "rearm/8"},
		value:    func(m *herd.Measurement) float64 { return m.Notifications / float64(m.Clients) },
		text: "A watch fires once, and it takes a round trip to set it again. If changes come faster than that, a " +
			"client is notified of one in each round trip: it sees the latest state, but not all states. With ten " +
			"clients the server needs longer to answer, and they miss more. With a hundred it is busy all the time: " +
			"however fast changes are sent, each waits behind the reads of the clients that the change before it has woken."},
	{name: "watches", title: "Watches held by the server", y: "watches at the same time, at most",
		variants: []string{"lock/sequential", "rwlock/readers", "leave/sequential", "commit/all-sites", "queue/turns"},
		value:    held,
		text: "One or two watches for each client that waits, herd or not. Only if all sites of a transaction watch " +
			"each other's votes, the number grows with the square of the sites. The double barrier holds one more " +
			"watch for each member, on the member's own znode, which tells it if an operator deletes that."},
	{name: "commit-messages", title: "Messages of a two-phase commit", y: "messages per transaction",
		variants: []string{"commit/all-sites", "commit/coordinator"},
		value:    func(m *herd.Measurement) float64 { return m.Messages * float64(m.Events) },
		text: "Requests, answers and notifications from the first vote until all sites know the outcome. If all " +
			"sites watch all votes, their number grows with the square of the sites. With a coordinator it grows in " +
			"proportion to them, but nobody learns the outcome while the coordinator is down."},
}

// ownFigures are the figures of variants that are in none of herdFigures: those of another program.
var ownFigures = []herdFigure{
	{name: "own-fanout", title: "Fan-out", y: "notifications per client that goes on", fitted: true, value: notifications,
		text: "If clients queue one behind the other, each of them goes on with one notification, however many there " +
			"are (slope 0). If each change wakes all that wait, their number grows with the clients (slope 1). The " +
			"slope is that of a straight line from 20 clients on, with its 95% interval."},
	{name: "own-wasted", title: "Wake-ups in vain", y: "notifications in vain per client that goes on",
		value: wasted,
		text: "Notifications after which a client has to wait on. In a herd these are all but one. A variant that " +
			"wakes nobody in vain has no line here."},
	{name: "own-handover", title: "Hand-over latency, 99th percentile", y: "time until a client goes on (ms)",
		value: slowest,
		text: "What a herd costs the clients in it: the time from what lets a client go on until it does. The server " +
			"sends all notifications, and answers many clients that cannot go on, before it answers the one that can."},
	{name: "own-spike", title: "Spike: the longest read of a bystander", y: "latency of a get (ms)",
		value: spike,
		text: "What a herd costs the clients outside of it: one that has nothing to do with the recipe reads a znode " +
			"every millisecond. A read takes 0.2 ms when the server is idle. When a herd comes, the read waits " +
			"behind all of it."},
	{name: "own-watches", title: "Watches held by the server", y: "watches at the same time, at most",
		value: held,
		text: "Clients that wait for one or two znodes have one or two watches each. If each watches all others, the " +
			"number grows with the square of the clients."},
}

// figures are those of this module and, for the variants that these do not show, ownFigures.
func (s *sweep) figures() []herdFigure {
	var own []string
	for _, v := range s.variants {
		if !slices.ContainsFunc(herdFigures, func(f herdFigure) bool { return slices.Contains(f.variants, v.Name) }) {
			own = append(own, v.Name)
		}
	}
	all := slices.Clone(herdFigures)
	for _, f := range ownFigures {
		f.variants = own
		all = append(all, f)
	}
	return all
}

// looks gives each variant of this module one colour and one marker, the same in all figures. There are fewer colours
// than variants. Variants with the same colour are never in one figure, except two in "wasted", which have different
// markers. Other variants look like their place in the figure.
var looks = map[string]plots.Look{
	"lock/sequential": {Color: 1, Marker: 1}, "lock/single-node": {Color: 2, Marker: 2},
	"rwlock/readers": {Color: 3, Marker: 3}, "election/predecessor": {Color: 4, Marker: 4},
	"election/smallest": {Color: 5, Marker: 5}, "queue/all": {Color: 6, Marker: 6}, "queue/turns": {Color: 7,
		Marker: 7},
	"leave/naive": {Color: 1, Marker: 1}, "leave/lowest": {Color: 2, Marker: 2},
	"commit/coordinator": {Color: 3, Marker: 3}, "commit/all-sites": {Color: 4, Marker: 4},
	"leave/sequential": {Color: 5, Marker: 8},
	"wait/watch":       {Color: 1, Marker: 1}, "wait/poll-1s": {Color: 2, Marker: 2}, "wait/poll-50ms": {Color: 4,
		Marker: 8},
}

// draw makes the figure of what was measured.
func (f *herdFigure) draw(jobs []*job) plots.Figure {
	chart := plots.Chart{Name: f.name, Title: f.title, X: "clients", Y: f.y}
	if f.intervals {
		chart.X, chart.Lines = "interval of changes (round trips)", f.byClients(jobs)
	} else {
		chart.Lines = f.byVariant(jobs)
	}
	for _, l := range chart.Lines {
		if len(l.OverX) > 0 {
			chart.Over = "on ZooKeeper"
		}
	}
	return plots.Figure{Chart: chart, Text: f.text}
}

// byVariant makes a line for each variant.
func (f *herdFigure) byVariant(jobs []*job) (lines []plots.Line) {
	for _, variant := range f.variants {
		line := plots.Line{Name: variant, Look: looks[variant]}
		var own []herd.Measurement
		for _, j := range jobs {
			if j.Name == variant {
				f.point(&line, j, float64(j.clients))
				own = append(own, *j.simulated)
			}
		}
		if fit := herd.FanOut(own); f.fitted && !math.IsInf(fit.Margin, 1) {
			line.Name += fmt.Sprintf(", slope %s ± %.2f", hundredths(fit.Slope), fit.Margin)
		}
		lines = append(lines, line)
	}
	return lines
}

// byClients makes a line for each number of clients, or only for the powers of ten if there are any: lines differ
// little from one number to the next.
func (f *herdFigure) byClients(jobs []*job) (lines []plots.Line) {
	var all, tens []int
	for _, j := range jobs {
		if slices.Contains(f.variants, j.Name) && !slices.Contains(all, j.clients) {
			all = append(all, j.clients)
			if power := math.Log10(float64(j.clients)); power == math.Trunc(power) {
				tens = append(tens, j.clients)
			}
		}
	}
	if len(tens) > 0 {
		all = tens
	}
	for _, clients := range all {
		line := plots.Line{Name: history.Counted(clients, "client")}
		for _, variant := range f.variants {
			for _, j := range jobs {
				if j.Name == variant && j.clients == clients {
					f.point(&line, j, j.Interval)
				}
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func (f *herdFigure) point(line *plots.Line, j *job, x float64) {
	line.X, line.Y = append(line.X, x), append(line.Y, f.value(j.simulated))
	if j.live != nil {
		line.OverX, line.OverY = append(line.OverX, x), append(line.OverY, f.value(j.live))
	}
}

// hundredths formats x with two decimals. It never returns -0.00.
func hundredths(x float64) string { return fmt.Sprintf("%.2f", math.Round(x*100)/100+0) }
