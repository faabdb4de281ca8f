// Package zktest provides a ZooKeeper for tests of code that connects to one: the simulated ensemble on loopback ports,
// with faults that strike the requests that a test names. It needs no Java and starts in a millisecond, so every test
// can have its own, in parallel.
//
//	func TestMyLock(t *testing.T) {
//		e := zktest.Start(t, zktest.Options{Faults: "lose-reply=1@client=c1,op=create,nth=1"})
//		conn, _, err := zk.Connect(e.Addrs(), 10*time.Second)
//		...
//	}
//
// Clients are numbered by their first connection: c1, c2 and so on.
package zktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios/serve"
)

// Options are the settings of an ensemble. The zero value is one server without faults.
type Options struct {
	// Servers is the number of servers, 1 or 3; 0 means 1.
	Servers int
	// Like says what the servers behave like: "zookeeper", which "" means, too, "zookeeper-3.6", "zookeeper-3.9" or
	// "keeper"; see [Like]. The flag -zksim.like has precedence.
	Like string
	// Faults is a plan in the language of package faults, such as "lose-reply=1@client=c1,op=create,nth=1". "contract" is
	// every fault that can happen to code outside of the simulator. A rule, unless it is one of contract, that has not
	// struck when the test ends makes it fail: what never happened was not tested.
	Faults string
	// Seed draws which of the requests that match a rule without nth are struck, how connections end, and the order of
	// children. 0 draws nothing: the first requests are struck, connections end with FIN, and children are in the order of
	// a real server.
	Seed uint64
	// TickTime is ZooKeeper's unit of time; 0 means 2 s. Sessions get timeouts of 2 to 20 ticks.
	TickTime time.Duration
	// MinSessionTimeout and MaxSessionTimeout bound the timeouts that clients are granted; 0 means 2 and 20 ticks.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// ContainerCheck is how often containers and TTL znodes that are due are deleted; 0 means a minute.
	ContainerCheck time.Duration
	// MaxPacket is jute.maxbuffer, in bytes; 0 means 1 MB.
	MaxPacket int
	// Lag is how long a fault suspends something; 0 means 200 ms.
	Lag time.Duration

	// Record is the file to which the recording is written when the test ends, for "simrun replay" and "simrun shrink",
	// also as a page; "" means none.
	Record string
	// Unjudged means that the judges' findings do not make the test fail; see [Ensemble.Judge].
	Unjudged bool
}

// contract is the plan of all faults.
const contract = "contract"

// Ensemble is a running ensemble. Its methods end the test when they fail, so only the goroutine of the test may call
// them.
type Ensemble struct {
	t testing.TB
	e *serve.Ensemble
}

// Start starts an ensemble that serves until the test ends.
func Start(t testing.TB, o Options) *Ensemble {
	t.Helper()
	refuse("Start")
	p, err := faults.ParseServed(o.Faults)
	if o.Faults == contract {
		p = serve.Contract()
	}
	if err != nil {
		t.Fatal(err)
	}
	e, err := serve.Start(serve.Options{Nodes: o.Servers, Faults: p, Seed: o.Seed, TickTime: o.TickTime,
		Like:              like(t, cmp.Or(o.Like, model.ZooKeeper.String())),
		MinSessionTimeout: o.MinSessionTimeout, MaxSessionTimeout: o.MaxSessionTimeout, ContainerCheck: o.ContainerCheck,
		Lag: o.Lag, MaxPacket: o.MaxPacket, Record: o.Record != ""})
	if err != nil {
		t.Fatal(err)
	}
	x := &Ensemble{t, e}
	exempt := 0
	if o.Faults == contract {
		exempt = len(p)
	}
	t.Cleanup(func() { x.end(&o, exempt) })
	return x
}

// end ends the ensemble and judges. The first exempt rules need not have struck.
func (x *Ensemble) end(o *Options, exempt int) {
	x.e.Close()
	if !o.Unjudged {
		x.held()
	}
	if !x.t.Skipped() { // a skipped test has not tried anything
		x.allStruck(exempt)
	}
	if o.Record != "" {
		if err := x.record(o.Record); err != nil {
			x.t.Errorf("zktest: the recording: %v", err)
		}
	}
}

// reported matches the beginning of violations that the test has reported.
var reported = regexp.MustCompile(`^(before reset \d+: )?reported: `)

// held makes the test fail for the violations that the judges find. What the test has reported has made it fail
// already.
func (x *Ensemble) held() {
	j := x.e.Judge()
	for _, text := range append(j.Before, j.Violations...) {
		if !reported.MatchString(text) {
			x.t.Errorf("zktest: %s", text)
		}
	}
	for _, text := range j.Inconclusive {
		x.t.Logf("zktest: unsure: %s", text)
	}
}

// record writes the recording.
func (x *Ensemble) record(file string) error {
	if gap := x.e.RecordingGap(); gap != "" {
		return fmt.Errorf("it cannot be replayed: %s", gap)
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(x.e.WriteRecording(out), out.Close())
}

// allStruck makes the test fail for rules that have never struck, except the first ones, which are exempt. Rules of the
// options that struck before a reset need not strike again; rules that were added must strike before the next reset.
func (x *Ensemble) allStruck(exempt int) {
	strikes, rules := x.e.Strikes()
	for _, r := range rules[exempt:] {
		if r.Times+r.Earlier == 0 {
			x.t.Errorf("zktest: the rule %s has never struck, so the test did not meet that fault", r.Rule)
		}
	}
	if x.t.Failed() {
		for i := range strikes {
			x.t.Logf("zktest: struck: %s", &strikes[i])
		}
	}
}

// Addrs returns the addresses of all servers, s1 first.
func (x *Ensemble) Addrs() []string { return x.e.Addrs() }

// Connect returns the connect string: host:port,...
func (x *Ensemble) Connect() string { return x.e.Connect() }

// must ends the test at an error.
func (x *Ensemble) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

// Strike adds rules to the plan. They strike as soon as they can; a rule with nth counts from now on. They stay until
// the next Reset. A rule that has not struck by then makes the test fail when it ends.
func (x *Ensemble) Strike(plan string) { x.t.Helper(); x.must(x.e.Strike(plan)) }

// Struck returns the faults that have happened.
func (x *Ensemble) Struck() []serve.Strike {
	list, _ := x.e.Strikes()
	return list
}

// Expire ends the session of a client, 1 for c1, as if nothing had been heard of it for its timeout.
func (x *Ensemble) Expire(client int) { x.t.Helper(); x.must(x.e.Expire(client)) }

// ExpireSession is Expire with the id of the session.
func (x *Ensemble) ExpireSession(id int64) { x.t.Helper(); x.must(x.e.ExpireSession(id)) }

// Stop makes a server, 1 for s1, do nothing until Continue, like a process that gets SIGSTOP.
func (x *Ensemble) Stop(server int) { x.t.Helper(); x.must(x.e.Stop(server)) }

// Kill ends a server until Continue, like a process that gets SIGKILL.
func (x *Ensemble) Kill(server int) { x.t.Helper(); x.must(x.e.Kill(server)) }

// Continue makes a server go on, and everything that faults have suspended.
func (x *Ensemble) Continue(server int) { x.t.Helper(); x.must(x.e.Continue(server)) }

// Elect makes the leader of three servers restart and another one be elected.
func (x *Ensemble) Elect() { x.t.Helper(); x.must(x.e.Elect()) }

// Report makes the test fail but lets it go on. Use it for a violation that the test has seen and no judge can see,
// such as two holders of a lock. The sentence goes into the history.
func (x *Ensemble) Report(violation string) {
	x.t.Helper()
	x.must(x.e.Report(violation))
	x.t.Errorf("zktest: reported: %s", violation)
}

// Quiet waits until nothing is under way and no request has come for 20 ms.
func (x *Ensemble) Quiet() {
	x.t.Helper()
	const calm = 20 * time.Millisecond
	ctx := context.Background()
	if t, ok := x.t.(*testing.T); ok {
		ctx = t.Context()
	}
	x.must(x.e.Quiet(ctx, calm))
}

// Judge returns the judges' verdict on everything since the beginning or the last Reset. When the test ends, violations
// make it fail, unless Options.Unjudged is set.
func (x *Ensemble) Judge() serve.Judgement { return x.e.Judge() }

// State returns the current state: servers, sessions, znodes.
func (x *Ensemble) State() serve.State { return x.e.State() }

// History returns what has happened, for the checkers.
func (x *Ensemble) History() *history.History {
	h, _ := x.e.History()
	return h
}

// Reset starts over: no sessions, no znodes, clients numbered from c1, the plan of the options.
func (x *Ensemble) Reset() {
	x.t.Helper()
	_, err := x.e.Reset()
	x.must(err)
}
