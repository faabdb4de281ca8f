package zktest_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/recipes"
	"zksim/scenarios"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
	"zksim/scenarios/zktest"
)

// drawn does five operations that are drawn from a number, and says what came of them.
func drawn(number uint64, p *scenarios.Process) string {
	r := rand.New(rand.NewPCG(number, uint64(p.ID)))
	ctx := context.Background()
	var said []string
	say := func(what string, err error, more ...any) { said = append(said, fmt.Sprint(what, " ", err, " ", more)) }
	var watches []<-chan zk.Event
	for range 5 {
		path := [...]string{"/d/a", "/d/b"}[r.IntN(2)]
		switch r.IntN(11) {
		case 0, 1:
			_, err := p.Conn.Create(path, nil, zk.FlagEphemeral, open)
			say("ephemeral", err)
		case 2:
			_, err := p.Conn.Create(path, nil, 0, open)
			say("create", err)
		case 3:
			name, err := p.Conn.Create("/d/s-", nil, zk.FlagSequence|zk.FlagEphemeral, open)
			say("sequential", err, strings.TrimPrefix(name, p.Path("")))
		case 4:
			say("delete", p.Conn.Delete(path, -1))
		case 5:
			there, stat, err := p.Conn.Exists(path)
			say("exists", err, there, there && stat.EphemeralOwner == p.Conn.SessionID())
		case 6:
			names, _, err := p.Conn.Children("/d")
			say("children", err, len(names))
		case 7:
			_, err := p.Conn.Multi(&zk.CheckVersionRequest{Path: path},
				&zk.CreateRequest{Path: "/d/m", Acl: open, Flags: zk.FlagEphemeral})
			say("multi", err)
		case 8:
			there, _, ch, err := p.Conn.ExistsW(path)
			say("existsW", err, there)
			watches = append(watches, ch)
		case 9:
			names, _, ch, err := p.Conn.ChildrenW("/d")
			say("childrenW", err, len(names))
			watches = append(watches, ch)
		case 10:
			p.Env.Sleep(ctx, 15*time.Second)
		}
	}
	for _, ch := range watches {
		if ch != nil {
			said = append(said, heardOf(p.Env, ch))
		}
	}
	return fmt.Sprintf("c%d: %s", p.ID, strings.Join(said, ", "))
}

// heardOf waits 20 seconds for an event, and returns what it is.
func heardOf(env recipes.Env, ch <-chan zk.Event) string {
	ctx, cancel := env.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, ev, err := env.Await(ctx, ch)
	return fmt.Sprint(ev.Type, " ", err)
}

// TestWhatRealConnectionsShowIsPossibleInTheSimulator has random programs on go-zookeeper's own library. Whatever one
// of their clients meets, the exhaustive search of the simulator also finds. The real fault may come with others of the
// simulator: code may be slow to go on with an answer, and a request may be lost on the connection that the fault ends.
// It takes one program, and twelve with ZKSIM_WHOLE=1.
func TestWhatRealConnectionsShowIsPossibleInTheSimulator(t *testing.T) {
	first, last := uint64(2), uint64(2)
	if os.Getenv("ZKSIM_WHOLE") == "1" {
		first, last = 1, 12
	}
	for number := first; number <= last; number++ {
		for _, plan := range []string{"lose-reply=1", "deliver-close=1"} {
			for _, like := range []model.Like{model.ZooKeeper, model.Keeper} {
				t.Run(fmt.Sprint(number, plan[:4], like), func(t *testing.T) { reaches(t, number, plan, like) })
			}
		}
	}
}

// reaches compares one program in both.
func reaches(t *testing.T, number uint64, plan string, like model.Like) {
	s := scenarios.Scenario{Name: "test/drawn", Clients: 2, Like: like, Faults: faults.MustParse(plan),
		Setup: []scenarios.Request{scenarios.Mkdir("/d")},
		Program: func(p *scenarios.Process) {
			p.Sometimes(drawn(number, p), true)
		}}.FaultsOptional()
	missing := map[string]bool{} // what real connections have shown, and the search has not found yet
	zktest.Judged(t, s, func(_ scenarios.T, s scenarios.Scenario) {
		rep, err := engine.Run(t.Context(), &s, engine.Options{Seeds: engine.Range{First: 1, Last: 300}})
		if err != nil || rep.Status != engine.Held {
			t.Fatal(rep.Status, rep.Why, err)
		}
		for _, x := range rep.Sometimes {
			missing[x.Sentence] = true
		}
	})
	for _, b := range []prove.Bounds{
		{Faults: plan},
		{Faults: plan + " deliver-slow=1 disconnect=1", Most: 2},
		{Faults: plan + " deliver-slow=1 disconnect=1", Most: 2, SlowWakes: true, Ticks: 1},
	} {
		if len(missing) == 0 {
			return
		}
		sc, err := b.Of(&s)
		if err != nil {
			t.Fatal(err)
		}
		x, _, err := prove.ProvePortion(t.Context(), sc, prove.Options{Reductions: prove.Every}, 1, 1)
		if err != nil || x.Outcome != prove.Holds {
			t.Fatal(cmp.Or(x.Why, string(x.Outcome)), err)
		}
		for sentence := range x.Said {
			delete(missing, sentence)
		}
	}
	for sentence := range missing {
		t.Errorf("%s like %v with %s is not found in the simulator", sentence, like, plan)
	}
}
