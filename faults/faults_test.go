package faults_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

var open = zk.WorldACL(zk.PermAll)

// script is a chooser that follows lines: the name of a transition makes it
// happen, "+ name" and "- name" say that it is possible or not, "= text" what
// the programs have said since the last such line, and "made: paths" what was
// created. At the end it completes the run.
type script struct {
	t     *testing.T
	lines []string
	said  []string
	sim.Replay
}

func (s *script) say(format string, args ...any) {
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

func possible(w *sim.World) map[string]sim.Transition {
	all := map[string]sim.Transition{}
	for _, t := range append(slices.Clone(w.Normal()), w.Faults()...) {
		all[w.Name(t)] = t
	}
	return all
}

func (s *script) Choose(w *sim.World) (sim.Transition, bool, error) {
	for len(s.lines) > 0 {
		line := s.lines[0]
		s.lines = s.lines[1:]
		all := possible(w)
		name := strings.TrimLeft(line, "+- ")
		t, ok := all[name]
		switch {
		case line[0] == '=':
			if got := strings.Join(s.said, "; "); got != strings.TrimSpace(line[1:]) {
				s.t.Fatalf("the programs said %q, want %q", got, line[2:])
			}
			s.said = nil
		case strings.HasPrefix(line, "made:"):
			if got := made(w); got != strings.TrimSpace(line[5:]) {
				s.t.Fatalf("made were %q, want %q", got, line[5:])
			}
		case line[0] == '+', line[0] == '-':
			if ok != (line[0] == '+') {
				s.t.Fatalf("%q possible: %v, %d lines before the end", name, ok, len(s.lines))
			}
		case !ok:
			s.t.Fatalf("%q is not possible, %d lines before the end; possible: %v", line, len(s.lines), all)
		default:
			return t, true, nil
		}
	}
	return s.Replay.Choose(w)
}

// made returns the last components of what was created below /d.
func made(w *sim.World) string {
	var list []string
	for _, e := range w.History.Events {
		if e.Kind == history.Created && strings.HasPrefix(e.Path, "/d/") {
			list = append(list, strings.TrimPrefix(e.Path, "/d/"))
		}
	}
	return strings.Join(list, " ")
}

type program func(s *script, c *sim.Client)

// play runs a script under a plan and returns the world at its end.
func play(t *testing.T, servers int, plan string, lines []string, programs ...program) *sim.World {
	t.Helper()
	p, err := faults.Parse(plan)
	if err != nil {
		t.Fatal(err)
	}
	w, in, s := sim.NewWorld(), &faults.Injector{}, &script{t: t, lines: lines}
	t.Cleanup(w.Close)
	in.Reset(p)
	w.Reset(sim.Config{Clients: len(programs), Servers: servers, Order: 3}, in,
		func(c *sim.Client) { programs[c.ID()-1](s, c) })
	w.Prepare(model.Request{Op: model.OpCreate, Path: "/d", ACL: open})
	p.Prepare(w)
	if err := w.Run(s); err != nil || w.History.Outcome != history.Quiet {
		t.Fatalf("%v, outcome %v, %s", err, w.History.Outcome, w.History.Panic)
	}
	return w
}

// rests is a scheduling point.
func rests(c *sim.Client) { c.Env().Now() }

func create(s *script, c *sim.Client) {
	_, err := c.Conn().Create("/d/a", nil, 0, open)
	s.say("%v", err)
}

// createAndLook says whether there is a connection when the answer is there, too.
func createAndLook(s *script, c *sim.Client) {
	_, err := c.Conn().Create("/d/a", nil, 0, open)
	s.say("%v, then %v", err, c.Conn().State())
}

// tellsTime says what its clock shows, before and after a second, and when the next second ends.
func tellsTime(s *script, c *sim.Client) {
	s.say("%v", c.Env().Now().Sub(sim.Epoch))
	c.Env().Sleep(context.Background(), time.Second)
	ctx, end := c.Env().WithTimeout(context.Background(), time.Second)
	defer end()
	at, _ := ctx.Deadline()
	s.say("%v until %v", c.Env().Now().Sub(sim.Epoch), at.Sub(sim.Epoch))
}

// createAndList says what there is right after its own znode was made.
func createAndList(s *script, c *sim.Client) {
	_, err := c.Conn().Create("/d/e", nil, zk.FlagEphemeral, open)
	list, _, failed := c.Conn().Children("/d")
	s.say("%v, then %v %v", err, list, failed)
}

// hears says what it hears of its session.
func hears(s *script, c *sim.Client) {
	for range 3 {
		_, ev, err := c.Env().Await(context.Background(), c.Env().SessionEvents())
		s.say("%v %v", ev.State, err)
	}
}

// watches leaves a watch, and asks for another znode as soon as it knows that it is connected again.
func watches(s *script, c *sim.Client) {
	c.Conn().ExistsW("/d/a")
	for ev := (zk.Event{}); ev.State != zk.StateHasSession; {
		_, ev, _ = c.Env().Await(context.Background(), c.Env().SessionEvents())
	}
	ok, _, err := c.Conn().Exists("/d")
	s.say("%v %v", ok, err)
}

func createLater(s *script, c *sim.Client) { rests(c); create(s, c) }

// ephemeral makes a znode and then looks for it until there is an answer.
func ephemeral(s *script, c *sim.Client) {
	c.Conn().Create("/d/e", nil, zk.FlagEphemeral, open)
	for {
		rests(c)
		ok, _, err := c.Conn().Exists("/d/e")
		s.say("%v %v", ok, err)
		if err == nil {
			return
		}
	}
}

func watcher(s *script, c *sim.Client) {
	_, _, ch, _ := c.Conn().ChildrenW("/d")
	_, ev, _ := c.Env().Await(context.Background(), ch)
	s.say("%s", history.EventName(ev.Type))
}

func interruptible(s *script, c *sim.Client) {
	ctx, cancel := context.WithCancel(context.Background())
	rests(c)
	c.OnInterrupt(ctx, cancel)
	_, _, err := c.Env().Await(ctx, nil)
	s.say("%v", err)
}

// synced lists what there is behind a sync.
func synced(s *script, c *sim.Client) {
	_, err := c.Conn().Sync("/d")
	list, _, failed := c.Conn().Children("/d")
	s.say("%v %v %v", err, list, failed)
}

func nothing(*script, *sim.Client) {}

const lost = "zk: connection closed"

// faultTests play every fault of the table: when it is possible, and what it
// does.
var faultTests = []struct {
	fault, plan string
	servers     int
	programs    []program
	lines       []string
}{
	{"lose-request", "lose-request", 1, []program{create}, []string{"run c1", "- lose-request c1", "connect c1 s1",
		"+ lose-request c1", "lose-request c1", "- lose-request c1", "run c1", "= " + lost, "- serve c1", "made:"}},
	{"lose-request", "lose-request", 1, []program{create},
		[]string{"run c1", "connect c1 s1", "serve c1", "- lose-request c1"}},
	{"lose-reply", "lose-reply", 1, []program{create}, []string{"run c1", "- lose-reply c1", "connect c1 s1",
		"lose-reply c1", "run c1", "= " + lost, "made: a"}},
	{"lose-reply", "lose-reply", 1, []program{create}, []string{"run c1", "connect c1 s1", "serve c1", "made: a",
		"+ lose-reply c1", "lose-reply c1", "run c1", "= " + lost, "made: a"}},
	{"lose-reply", "lose-reply", 1, []program{create},
		[]string{"run c1", "connect c1 s1", "serve c1", "deliver c1", "- lose-reply c1"}},
	{"late-request", "late-request disconnect", 3, []program{createLater},
		[]string{"run c1", "connect c1 s1", "disconnect c1",
			"- late-request c1", "run c1", "late-request c1", "connect c1 s2", "connect c1 s3", "serve c1", "replicate s3",
			"deliver c1", "= <nil>", "made: a"}},
	{"late-request", "late-request disconnect", 1, []program{createLater},
		[]string{"run c1", "connect c1 s1", "disconnect c1",
			"run c1", "- late-request c1"}}, // with one server the request fails before
	{"disconnect", "disconnect", 1, []program{create},
		[]string{"run c1", "- disconnect c1", "connect c1 s1", "disconnect c1",
			"run c1", "= " + lost, "made:", "serve c1", "made: a"}},
	{"expire", "expire disconnect", 1, []program{createLater},
		[]string{"run c1", "- expire c1", "connect c1 s1", "- expire c1",
			"disconnect c1", "- expire c1", "run c1", "expire c1", "round c1", "run c1", "= zk: could not connect to a server",
			"connect c1 s1"}},
	{"expire", "expire disconnect crash", 1, []program{createLater},
		[]string{"run c1", "connect c1 s1", "crash c1", "+ expire c1",
			"expire c1", "- expire c1"}}, // that is not the fault
	{"learn-late", "learn-late", 1, []program{ephemeral},
		[]string{"run c1", "- learn-late c1", "connect c1 s1", "serve c1",
			"deliver c1", "learn-late c1", "- learn-late c1", "run c1", "- serve c1", "deliver c1", "run c1", "= false " +
				lost}},
	{"learn-late", "learn-late pause disconnect", 1, []program{ephemeral},
		[]string{"run c1", "connect c1 s1", "disconnect c1",
			"- learn-late c1", "pause c1", "+ learn-late c1", "learn-late c1"}},
	{"expiry-lag", "expiry-lag disconnect expire", 3, []program{ephemeral}, []string{"run c1", "connect c1 s1", "serve c1",
		"deliver c1", "replicate s3", "replicate s3", "disconnect c1", "run c1", "expire c1", "round c1", "run c1",
		"= true zk: could not connect to a server", "connect c1 s1", "- expiry-lag c1", "connect c1 s2", "run c1",
		"expiry-lag c1", "run c1", "= false " + lost, "run c1", "serve c1", "deliver c1", "= true <nil>"}},
	{"expiry-lag", "expiry-lag disconnect expire", 3, []program{ephemeral},
		[]string{"run c1", "connect c1 s1", "disconnect c1",
			// nowhere does the old one live
			"run c1", "run c1", "expire c1", "connect c1 s2", "connect c1 s3", "- expiry-lag c1"}},
	{"watch-delay", "watch-delay", 1, []program{watcher, create},
		[]string{"run c1", "run c2", "connect c1 s1", "connect c2 s1",
			"serve c1", "- watch-delay c1", "deliver c1", "serve c2", "watch-delay c1", "- deliver c1", "deliver c2", "= <nil>",
			"undelay c1", "deliver c1", "run c1", "= child"}},
	{"stale-read", "stale-read", 3, []program{ephemeral, create},
		[]string{"connect c1 s1", "- stale-read c1", "connect c2 s2",
			"stale-read c2", "- replicate s2", "- connect c2 s2", "run c2", "serve c2", "made: a", "- deliver c2", "thaw s2",
			"replicate s2", "deliver c2", "= <nil>"}},
	{"failover", "failover", 3, []program{create},
		[]string{"run c1", "- failover c1", "connect c1 s1", "replicate s2", "failover c1",
			"run c1", "= " + lost, "made:"}},
	{"failover", "failover", 1, []program{create}, []string{"run c1", "connect c1 s1", "- failover c1"}},
	{"pause", "pause", 1, []program{create},
		[]string{"run c1", "connect c1 s1", "serve c1", "pause c1", "- deliver c1", "- pause c1",
			"resume c1", "deliver c1", "= <nil>"}},
	{"crash", "crash=9", 1, []program{ephemeral}, []string{"run c1", "connect c1 s1", "serve c1", "crash c1", "- crash c1",
		"- run c1", "- connect c1 s1", "+ expire c1"}},
	{"late-commit", "late-commit", 3, []program{ephemeral},
		[]string{"run c1", "- late-commit c1", "connect c1 s1", "replicate s3",
			"late-commit c1", "made: e", "run c1", "run c1", "serve c1", "deliver c1", "= false <nil>"}},
	{"late-commit", "late-commit", 1, []program{create}, []string{"run c1", "connect c1 s1", "- late-commit c1"}},
	{"zombie", "zombie", 3, []program{ephemeral, create},
		[]string{"run c1", "connect c2 s1", "- zombie c2", "connect c1 s2", "serve c1",
			"replicate s2", "deliver c1", "zombie c1", "- zombie c1", "run c1", "serve c1", "deliver c1", "= true <nil>",
			"thaw s2", "replicate s2", "deliver c1"}},
	{"cancel", "cancel", 1, []program{interruptible},
		[]string{"- cancel c1", "run c1", "run c1", "cancel c1", "- cancel c1", "run c1",
			"= context canceled"}},
	{"cancel", "cancel crash", 1, []program{interruptible}, []string{"run c1", "run c1", "crash c1", "- cancel c1"}},
	{"depose", "depose=9", 1, []program{create}, []string{"run c1", "connect c1 s1", "- depose s1", "- depose c1 s1"}},
	// The old leader answers a sync at once and reads from what it has, while what was acknowledged elsewhere is missing.
	{"depose", "depose", 3, []program{synced, create}, []string{"run c1", "connect c1 s1", "serve c1", "+ depose s1",
		"- depose c1 s1", "depose s1", "- depose s2", "- replicate s1", "run c2", "connect c2 s3", "serve c2",
		"- deliver c2", "replicate s3", "deliver c2", "= <nil>", "made: a", "deliver c1", "serve c1", "deliver c1",
		"= <nil> [] <nil>", "stepdown s1", "- stepdown s1", "deliver c1", "- connect c1 s1"}},
	// A write waits there, and a sync behind one; both end with the connection, and nothing is left of them.
	{"depose", "depose", 3, []program{create, synced},
		[]string{"run c1", "run c2", "connect c1 s1", "connect c2 s1", "depose s1",
			"serve c1", "- serve c1", "- deliver c1", "serve c2", "- deliver c2", "stepdown s1", "deliver c1", "run c1",
			"= " + lost, "deliver c2", "run c2", "connect c2 s2", "serve c2", "deliver c2", "= " + lost + " [] <nil>", "made:"}},
	// Of a write that was proposed before, the old leader does not hear that the others have it.
	{"depose", "depose@client=c1", 3, []program{create, synced},
		[]string{"run c1", "connect c1 s1", "- depose s1", "- depose c2 s1",
			"depose c1 s1", "made: a", "- deliver c1", "run c2", "connect c2 s2", "serve c2", "deliver c2", "serve c2",
			"deliver c2",
			"= <nil> [a] <nil>", "stepdown s1", "deliver c1", "run c1", "= " + lost}},
	// Clients of the followers come to the old leader if they have seen no more than it has; it may tell them that their
	// sessions, which live on, have expired.
	{"depose", "depose disconnect=2", 3, []program{ephemeral, create},
		[]string{"run c1", "connect c1 s2", "serve c1", "replicate s2",
			"deliver c1", "depose s1", "run c1", "- connect c1 s2", "+ connect c1 s1", "disown c1 s1",
			"+ lapse c1", "- connect c1 s1", "connect c1 s3", "serve c1", "deliver c1",
			"= true <nil>", "made: e", "lapse c1", "- lapse c1", "run c2", "connect c2 s3", "disconnect c2", "- connect c2 s3",
			"+ connect c2 s2", "+ connect c2 s1", "stepdown s1", "- disown c2 s1"}},
	{"depose", "depose disconnect", 3, []program{createLater},
		[]string{"depose s1", "- connect c1 s1", "connect c1 s3", "disconnect c1",
			// it has never heard of that session
			"connect c1 s1", "connect c1 s2", "- lapse c1", "run c1", "run c1", "lapse c1"}},
	{"elect", "elect=9", 1, []program{create}, []string{"run c1", "connect c1 s1", "- elect s2"}},
	{"elect", "elect=2 depose", 3, []program{create, create},
		[]string{"run c1", "run c2", "connect c1 s1", "connect c2 s2", "serve c1",
			"elect s2", "made: a", "run c1", "= " + lost, "run c2", "= " + lost, "- replicate s1", "- replicate s3",
			"- serve c1",
			"+ depose s2", "elect s3"}},
	// The library knows only when code has gone on.
	{"deliver-close", "deliver-close=2@op=create", 1, []program{createAndLook},
		[]string{"run c1", "connect c1 s1", "- deliver-close c1", "serve c1", "deliver-close c1", "- deliver c1",
			"= <nil>, then StateHasSession"}},
	{"deliver-close", "disconnect", 1, []program{createAndLook},
		[]string{"run c1", "connect c1 s1", "serve c1", "deliver c1", "disconnect c1", "run c1",
			"= <nil>, then StateConnecting"}},
	// The next request waits for a connection, and is executed in another session; in two steps it would be lost.
	{"deliver-close", "deliver-close expire", 3, []program{createAndList},
		[]string{"run c1", "connect c1 s1", "serve c1", "deliver-close c1", "- serve c1", "expire c1", "replicate s2",
			"replicate s2", "connect c1 s2", "connect c1 s3", "serve c1", "deliver c1", "= <nil>, then [] <nil>"}},
	{"deliver-close", "disconnect expire", 1, []program{createAndList},
		[]string{"run c1", "connect c1 s1", "serve c1", "deliver c1", "+ serve c1", "disconnect c1", "run c1",
			"= <nil>, then [] " + lost}},
	// The next request comes when the only server has been tried, and waits for it.
	{"deliver-slow", "deliver-slow disconnect", 1, []program{createAndList},
		[]string{"run c1", "connect c1 s1", "- deliver-slow c1", "serve c1", "deliver-slow c1", "- deliver-slow c1",
			"disconnect c1", "round c1", "run c1", "connect c1 s1", "serve c1", "deliver c1", "= <nil>, then [e] <nil>"}},
	// What was asked last is answered first, before the watches are set again.
	{"overtake", "overtake disconnect", 1, []program{watches},
		[]string{"run c1", "connect c1 s1", "serve c1", "deliver c1", "disconnect c1", "run c1", "round c1",
			"connect c1 s1", "- overtake c1", "run c1", "overtake c1", "- overtake c1", "serve c1", "deliver c1",
			"= true <nil>", "serve c1"}},
	{"overtake", "disconnect", 1, []program{watches},
		[]string{"run c1", "connect c1 s1", "serve c1", "deliver c1", "disconnect c1", "run c1", "round c1",
			"connect c1 s1", "run c1", "serve c1", "deliver c1", "serve c1", "deliver c1", "= true <nil>"}},
	{"broken-pipe", "broken-pipe", 1, []program{createAndLook},
		[]string{"run c1", "- broken-pipe c1", "connect c1 s1", "broken-pipe c1", "- serve c1",
			"= write tcp: broken pipe, then StateHasSession", "made:"}},
	{"broken-pipe", "broken-pipe", 1, []program{create},
		[]string{"run c1", "connect c1 s1", "serve c1", "- broken-pipe c1"}},
	{"handshake", "handshake=2 disconnect", 1, []program{createAndLook},
		[]string{"run c1", "- handshake c1", "connect c1 s1", "serve c1", "deliver c1", "- handshake c1", "disconnect c1",
			"- handshake c1", "round c1", "handshake c1", "- handshake c1", "run c1", "= <nil>, then StateConnected"}},
	{"refuse", "refuse handshake disconnect", 1, []program{hears},
		[]string{"- refuse c1", "run c1", "run c1", "connect c1 s1", "- refuse c1", "run c1", "run c1", "disconnect c1",
			"run c1", "run c1", "- refuse c1", "round c1", "+ refuse c1", "handshake c1", "refuse c1", "- connect c1 s1",
			"round c1", "+ connect c1 s1", "run c1",
			"= StateHasSession <nil>; StateDisconnected <nil>; StateDisconnected <nil>"}},
	{"reset", "reset", 1, []program{createAndLook}, // what is on its way to the client is lost
		[]string{"- reset c1", "run c1", "connect c1 s1", "serve c1", "reset c1", "made: a", "- deliver c1", "run c1",
			"run c1",
			"= zk: connection closed, then StateConnecting"}},
	{"reset", "reset", 1, []program{createAndLook}, // and what is on its way to the server
		[]string{"run c1", "connect c1 s1", "reset c1", "- serve c1", "run c1", "run c1", "made: ",
			"= zk: connection closed, then StateConnecting"}},
	// The old session lives on, with its znode, until it lapses; the library goes on with a new one.
	{"lost-early", "lost-early disconnect", 1, []program{ephemeral},
		[]string{"run c1", "connect c1 s1", "serve c1", "made: e", "- lost-early c1", "disconnect c1",
			"+ lost-early c1", "run c1", "- lapse c1", "run c1", "lost-early c1", "- lost-early c1",
			"+ lapse c1", "- connect c1 s1", "round c1", "run c1", "= true zk: could not connect to a server",
			"connect c1 s1", "run c1", "serve c1", "deliver c1", "= true <nil>", "lapse c1", "- lapse c1"}},
	// When it has lapsed, the new one lives.
	{"lost-early", "lost-early disconnect=2", 1, []program{ephemeral},
		[]string{"run c1", "connect c1 s1", "serve c1", "disconnect c1", "run c1", "run c1", "lost-early c1", "lapse c1",
			"round c1", "run c1", "= true zk: could not connect to a server", "connect c1 s1", "run c1", "serve c1",
			"deliver c1", "= false <nil>"}},
	// It is for a client that goes on without a connection, and whose session lives.
	{"lost-early", "lost-early disconnect expire pause", 1, []program{ephemeral},
		[]string{"run c1", "- lost-early c1", "connect c1 s1", "serve c1", "disconnect c1", "run c1", "run c1",
			"pause c1", "- lost-early c1", "resume c1", "+ lost-early c1", "expire c1", "- lost-early c1"}},
	// A timer that is due by then fires after it.
	{"lost-early", "lost-early disconnect", 1, []program{func(s *script, c *sim.Client) {
		began := c.Env().Now()
		change := c.Env().SessionEvents()
		ctx, end := c.Env().WithTimeout(context.Background(), time.Second)
		defer end()
		_, ev, err := c.Env().Await(ctx, change)
		s.say("%v %v after %v", ev.State, err, c.Env().Now().Sub(began))
	}}, []string{"run c1", "connect c1 s1", "disconnect c1", "run c1", "run c1", "lost-early c1", "+ run c1", "+ tick",
		"run c1", "run c1", "= StateExpired <nil> after 3.333s"}},
	{"sequence", "sequence=2@path=/d", 1, []program{func(s *script, c *sim.Client) {
		p, err := c.Conn().Create("/d/", nil, zk.FlagSequence, open)
		s.say("%s %v", p, err)
	}}, []string{"- sequence c1", "run c1", "connect c1 s1", "serve c1", "deliver c1", "= /d/2147483645 <nil>"}},
	// It strikes code that is about to look at its clock for the first time, so no code sees its clock go wrong.
	{"skew", "skew=3", 1, []program{tellsTime, tellsTime},
		[]string{"- skew c1", "run c1", "+ skew c1", "run c2", "skew c1", "- skew c1", "run c1", "- skew c1",
			"= 1h0m0s", "tick", "run c1", "- skew c1", "run c1", "= 1h0m1s until 1h0m2s", "+ skew c2", "run c2",
			"- skew c2", "= 1s", "tick", "run c2", "run c2", "= 2s until 3s"}},
	{"skew", "skew pause crash", 1, []program{tellsTime},
		[]string{"run c1", "pause c1", "- skew c1", "resume c1", "+ skew c1", "crash c1", "- skew c1"}},
	// A deadline shows the time, too.
	{"skew", "skew", 1, []program{func(s *script, c *sim.Client) {
		ctx, end := c.Env().WithTimeout(context.Background(), time.Second)
		defer end()
		at, _ := ctx.Deadline()
		s.say("%v %v", at.Sub(sim.Epoch), c.Env().Now().Sub(sim.Epoch))
	}}, []string{"run c1", "- skew c1", "run c1", "= 1s 0s"}},
}

func TestEveryFaultIsPossibleWhenItShouldBeAndDoesWhatItSays(t *testing.T) {
	untested := map[string]bool{}
	for _, f := range faults.Table {
		untested[f.Name] = true
		if f.Doc == "" {
			t.Errorf("%s has no documentation", f.Name)
		}
	}
	for i, x := range faultTests {
		delete(untested, x.fault)
		t.Run(fmt.Sprintf("%s/%d", x.fault, i), func(t *testing.T) { play(t, x.servers, x.plan, x.lines, x.programs...) })
	}
	if len(untested) > 0 {
		t.Errorf("not tested: %v", untested)
	}
}
