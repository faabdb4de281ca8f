package prove

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"zksim/faults"
	"zksim/scenarios"
)

func env(k, d string) string {
	if v := os.Getenv(k); v != "" {
		return v
	}
	return d
}

func TestProto(t *testing.T) {
	names := strings.Split(env("SC", "lock/lock"), ",")
	clients, _ := strconv.Atoi(env("CL", "2"))
	most, _ := strconv.Atoi(env("MOST", "0"))
	plan, err := faults.Parse(env("PLAN", "none"))
	if err != nil {
		t.Fatal(err)
	}
	limit, _ := time.ParseDuration(env("FOR", "60s"))
	for i := range scenarios.All {
		s := scenarios.All[i]
		match := false
		for _, n := range names {
			match = match || n == s.Name || n == "all" && !s.Broken()
		}
		if !match {
			continue
		}
		rounds, _ := strconv.Atoi(env("ROUNDS", "1"))
		if s.Rounds == 0 {
			rounds = 0
		}
		s, err = s.Sized(clients, rounds)
		if err != nil {
			t.Fatal(err)
		}
		sc := &Scope{Scenario: &s, Servers: 1, Order: 1, Faults: plan}
		red := All
		if env("RED", "1") == "0" {
			red = Reductions{}
		}
		if env("RED", "1") == "z" {
			red = Reductions{Zxids: true}
		}
		x := newSearch(sc, red, most)
		if !red.Zxids {
			x.schedule.Exact = true
		}
		begin := time.Now()
		done := x.run(context.Background(), limit)
		el := time.Since(begin).Seconds()
		n, _, d := x.known.size()
		fmt.Printf("%-28s done=%v states=%d trans=%d runs=%d ends=%d %.2fs %.0f st/s digest=%x time=%v deep=%v unsure=%q\n", s.Name, done, n, x.transitions.Load(), x.runs.Load(), x.ends.Load(), el, float64(n)/el, d, x.askedTime.Load(), x.tooDeep.Load(), x.unsure)
		if x.refuted != nil {
			fmt.Println("  REFUTED", x.refuted.Verdict, len(x.refuted.Schedule.Names))
			if env("SHOW", "") != "" {
				fmt.Println("   ", strings.Join(x.refuted.Schedule.Names, "; "))
			}
		}
	}
}
