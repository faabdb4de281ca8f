package serve

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
)

// Options are the settings of an ensemble. The zero value is useful: one server on a free loopback port.
type Options struct {
	// Listen is the address of the first server, host:port, or the addresses of all three, separated by commas. "" is
	// 127.0.0.1:0, a free port. If only the first is given, the others have the ports after it, or free ones too.
	Listen string
	// Nodes is the number of servers, 1 or 3; 0 means 1.
	Nodes int

	// Like says whose semantics the servers have; the zero value is ZooKeeper 3.8.0. The four-letter words and the admin
	// server are always ZooKeeper's.
	Like model.Like

	// TickTime is ZooKeeper's unit of time, in whole milliseconds; 0 means 2 s. A session expires between its timeout and
	// one tick later, by the machine's clock.
	TickTime time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound the timeouts that clients are granted; 0 means 2 and 20 ticks.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// ContainerCheck is how often containers and TTL znodes that are due are deleted; 0 means a minute.
	ContainerCheck time.Duration
	// MaxPacket is jute.maxbuffer, in bytes; 0 means model.MaxPacketLen. The connection of a client that sends a longer
	// packet ends.
	MaxPacket int

	// Faults is the plan of faults. A rule strikes as soon as it can. With a Seed, a rule without nth lets some requests
	// pass, which the seed draws.
	Faults faults.Plan
	// Seed draws what a plan leaves open: which of the requests that match a rule are struck, how connections end, and the
	// order of children. 0 draws nothing: the first requests are struck, connections end with FIN, and children are in the
	// order of a real server.
	Seed uint64
	// Lag is how long a fault suspends something: a server that is cut off or deposed, a slow connection; 0 means 200 ms.
	// See also [Ensemble.Continue].
	Lag time.Duration

	// Events is how many events of the history are kept; 0 means a million. The oldest are forgotten first. They are also
	// forgotten when the paths and data of all events take more than 512 MB.
	Events int
	// Record keeps all requests, at most as many as Events and 256 MB, for [Ensemble.WriteRecording].
	Record bool
	// Step, if not nil, is called with each step, such as "serve c1" or "lose-reply c2". Everything is halted during the
	// call, which must not call the ensemble.
	Step func(name string)
}

const (
	usualTick      = 2 * time.Second
	usualCheck     = time.Minute
	usualLag       = 200 * time.Millisecond
	usualEvents    = 1_000_000
	minTicks       = 2
	maxTicks       = 20
	loopbackListen = "127.0.0.1:0"
	longestTimeout = math.MaxInt32 * time.Millisecond // of a session
)

// unserved lists the faults that strike simulated code, or something that existed before it, and why a plan for other
// code cannot have them.
var unserved = []struct{ name, why string }{
	{"pause", "it stops a simulated process; stop your own"},
	{"crash", "it ends a simulated process; end your own"},
	{"cancel", "it cancels a context of simulated code"},
	{"late-request", "it needs the simulated client library"},
	{"expiry-lag", "it needs the simulated client library"},
	{"deliver-slow", "it needs simulated code"},
	{"overtake", "it needs the simulated client library"},
	{"broken-pipe", "it needs the simulated client library"},
	{"handshake", "it needs the simulated client library"},
	{"refuse", "it needs the simulated client library"},
	{"sequence", "it needs a znode that is there before anybody has connected"},
	{"skew", "it puts the clock of simulated code ahead"},
	{"lost-early", "it is what a client's library does, and yours goes by a clock of its own"},
}

// contract is the name of the plan of all possible faults.
const contract = "contract"

// ParsePlan reads a plan in the language of package faults, see [faults.ParseServed], or "contract", which is
// [Contract]. It returns an error for a plan that is not [Servable].
func ParsePlan(text string) (faults.Plan, error) {
	if strings.TrimSpace(text) == contract {
		return Contract(), nil
	}
	p, err := faults.ParseServed(text)
	if err != nil {
		return nil, err
	}
	return p, Servable(p)
}

// Servable returns an error if a plan has faults that cannot happen to clients outside of the simulator, or rules that
// never strike.
func Servable(p faults.Plan) error {
	for _, r := range p {
		if r.Budget < 1 {
			return fmt.Errorf("fault plan: %q: it never strikes, expected 1 or more", r.String())
		}
		for _, u := range unserved {
			if r.Fault == u.name {
				return fmt.Errorf("fault plan: %q: %s", r.String(), u.why)
			}
		}
	}
	return nil
}

// Contract is [faults.Contract] without the faults that cannot happen to clients outside of the simulator, and with
// faults that only such clients can tell from others.
func Contract() faults.Plan {
	p := append(faults.Contract(), faults.Connections()...)
	return slices.DeleteFunc(p, func(r faults.Rule) bool { return Servable(faults.Plan{r}) != nil })
}

func (o Options) withDefaults() (Options, error) {
	o.Listen = cmp.Or(o.Listen, loopbackListen)
	o.Nodes = cmp.Or(o.Nodes, 1)
	o.TickTime = cmp.Or(o.TickTime, usualTick)
	o.MinSessionTimeout = cmp.Or(o.MinSessionTimeout, minTicks*o.TickTime)
	o.MaxSessionTimeout = cmp.Or(o.MaxSessionTimeout, maxTicks*o.TickTime)
	o.ContainerCheck = cmp.Or(o.ContainerCheck, usualCheck)
	o.MaxPacket = cmp.Or(o.MaxPacket, model.MaxPacketLen)
	o.Lag = cmp.Or(o.Lag, usualLag)
	o.Events = cmp.Or(o.Events, usualEvents)
	if o.Nodes != 1 && o.Nodes != 3 {
		return o, fmt.Errorf("serve: %s, expected 1 or 3", history.Counted(o.Nodes, "server"))
	}
	for _, d := range []struct { // these two first: a duration derived from a longer one may have overflowed
		name  string
		value time.Duration
		most  time.Duration
	}{{"TickTime", o.TickTime, longestTimeout / maxTicks}, {"MaxSessionTimeout", o.MaxSessionTimeout, longestTimeout}} {
		if d.value > d.most {
			return o, fmt.Errorf("serve: %s %v, expected at most %v: the protocol has no longer timeouts", d.name, d.value,
				d.most)
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"TickTime", o.TickTime}, {"MinSessionTimeout", o.MinSessionTimeout}, {"MaxSessionTimeout", o.MaxSessionTimeout},
		{"ContainerCheck", o.ContainerCheck}, {"Lag", o.Lag}} {
		if d.value <= 0 || d.value%time.Millisecond != 0 {
			return o, fmt.Errorf("serve: %s %v, expected whole milliseconds", d.name, d.value)
		}
	}
	if o.MinSessionTimeout > o.MaxSessionTimeout {
		return o, fmt.Errorf("serve: MinSessionTimeout %v, expected at most MaxSessionTimeout, %v", o.MinSessionTimeout,
			o.MaxSessionTimeout)
	}
	if o.MaxPacket < 0 || o.Events < 0 {
		return o, fmt.Errorf("serve: MaxPacket %d, Events %d, expected none negative", o.MaxPacket, o.Events)
	}
	return o, Servable(o.Faults)
}

// following returns the addresses of all servers, given the first.
func (o *Options) following(addr string) (list []string, err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("serve: %q, expected host:port: %w", addr, err)
	}
	first, err := strconv.Atoi(port)
	if err != nil || first < 0 || first+o.Nodes-1 > 65535 {
		return nil, fmt.Errorf("serve: %q, expected a port from 0 to %d", addr, 65535-o.Nodes+1)
	}
	for k := range o.Nodes {
		at := first
		if first > 0 {
			at += k
		}
		list = append(list, net.JoinHostPort(host, strconv.Itoa(at)))
	}
	return list, nil
}
