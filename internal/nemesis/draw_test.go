package nemesis

import (
	"fmt"
	"slices"
	"testing"

	"zksim/faults"
	"zksim/model/history"
)

func plan(t *testing.T, s string) faults.Plan {
	t.Helper()
	p, err := faults.ParseReal(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestASeedDrawsTheSameStrikesAgain(t *testing.T) {
	p := plan(t, "lose-reply=2@op=create kill=1 depose=1@client=c2 disconnect=3")
	for seed := range uint64(50) {
		a, b := draw(Draw(p, seed), seed, 3, nil), draw(Draw(p, seed), seed, 3, nil)
		if !slices.Equal(a, b) || len(a) == 0 {
			t.Fatalf("seed %d: %v and %v", seed, a, b)
		}
	}
	// Those of the present release: reports name seeds.
	text := ""
	for seed := range uint64(3) {
		text += fmt.Sprint(Part(Draw(p, seed)))
		for _, s := range draw(Draw(p, seed), seed, 3, nil) {
			text += fmt.Sprintf("; %v", &s)
		}
		text += "\n"
	}
	const want = `lose-reply=1@op=create depose=1@client=c2 disconnect=1; c3's request 2; c2's write 1; c3's request 4
lose-reply=1@op=create kill=1 depose=1@client=c2; c1's request 3; c2's write 2; c2's write 2
lose-reply=2@op=create kill=1 depose=1@client=c2 disconnect=2; c2's request 3; c3's request 2; c1's request 3; c2's ` +
		"write 3; c3's request 10; c2's write 1\n"
	if text != want {
		t.Errorf("got\n%s", text)
	}
}

func TestTheSeedsDrawEverythingThatThePlanAllows(t *testing.T) {
	p := plan(t, "lose-reply=2@op=create kill=1 depose=1@client=c2 disconnect=3@nth=4")
	drawn, clients, numbers := map[string]int{}, map[int]bool{}, map[int]bool{}
	for seed := range uint64(200) {
		q := Draw(p, seed)
		for _, r := range Part(q) {
			drawn[r.Fault]++
		}
		for _, s := range draw(q, seed, 3, nil) {
			switch r := q[s.rule]; r.Fault {
			case "kill":
				clients[s.client], numbers[s.nth] = true, true
			case "depose":
				if s.client != 2 {
					t.Errorf("seed %d: %v is not of c2", seed, &s)
				}
			case "disconnect":
				if s.nth != 4 {
					t.Errorf("seed %d: %v is not the 4th", seed, &s)
				}
			case "lose-reply":
				if s.nth > aimedRequests {
					t.Errorf("seed %d: %v, of few creates", seed, &s)
				}
			}
		}
	}
	if len(clients) != 3 || len(numbers) != anyRequests {
		t.Errorf("kill strikes at requests of %v, %v", clients, numbers)
	}
	for _, r := range p {
		if n := drawn[r.Fault]; n < 80 || n > 140 {
			t.Errorf("%s is in %d of 200 parts", r.Fault, n)
		}
	}
	if q := Draw(plan(t, "kill"), 7); len(q) != 1 {
		t.Errorf("a seed without faults: %v", q)
	}
	if q := draw(plan(t, "kill=9@client=c1,nth=2"), 7, 3, nil); len(q) != 1 {
		t.Errorf("the same request is struck %d times", len(q))
	}
	if q := Draw(nil, 7); len(q) != 0 {
		t.Errorf("a part of no plan: %v", q)
	}
}

func TestWhatIsDrawnIsARequestThatTheClientsMake(t *testing.T) {
	usual := &history.History{}
	for client, ops := range map[int32][]string{1: {"create", "get", "closeSession"}, 2: {"get", "get"}, 3: {"sync"}} {
		for _, op := range ops {
			usual.Add(history.Event{Kind: history.Call, Client: client, Op: op, Path: "/a"})
		}
	}
	p := plan(t, "lose-reply=2@op=create disconnect=3 expire=1@op=get,nth=2 pause=1@op=delete kill=1@client=c9")
	for seed := range uint64(200) {
		for _, s := range draw(p, seed, 4, usual) {
			n := map[int]int{1: 2, 2: 2, 3: 1}[s.client]
			ok := s.client < 4 && s.nth <= n && (!s.write || s.client == 1 && s.nth == 1)
			switch r := p[s.rule]; r.Fault {
			case "lose-reply":
				ok = s.client == 1 && s.nth == 1
			case "expire":
				ok = s.client == 2
			case "pause", "kill": // which nobody is known to make
				ok = true
			}
			if !ok {
				t.Fatalf("seed %d: %v for %v", seed, &s, p[s.rule])
			}
		}
	}
}
