package engine_test

import (
	"strings"
	"testing"

	"zksim/model"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// TestWhatTheServersAreLikeIsPartOfARun runs seeds on both kinds of servers, and replays them from their texts.
func TestWhatTheServersAreLikeIsPartOfARun(t *testing.T) {
	s := catalog.Named("lock/lock")
	r := engine.NewRunner()
	defer r.Close()
	other, lapsed := 0, 0
	for seed := range uint64(30) {
		hashes := map[model.Like]uint64{}
		for _, like := range []model.Like{model.ZooKeeper, model.Keeper} {
			x := *s
			x.Like = like
			res := r.Seed(&x, seed)
			r.Names(&res)
			hashes[like] = res.Hash
			for _, name := range res.Schedule.Names {
				if strings.HasPrefix(name, "lapse ") && like == model.Keeper {
					lapsed++
				}
			}
			var text strings.Builder
			if err := res.Schedule.Write(&text); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(text.String(), "\nlike keeper\n") != (like == model.Keeper) ||
				strings.Contains(text.String(), "zookeeper") {
				t.Fatalf("the schedule of a run like %v says\n%s", like, text.String())
			}
			p, err := engine.ParseSchedule(strings.NewReader(text.String()))
			if err != nil {
				t.Fatal(err)
			}
			if again, err := r.Replay(s, p); err != nil || again.Hash != res.Hash || again.Schedule.Like != like {
				t.Fatalf("seed %d like %v: the replay has hash %x of %x: %v", seed, like, again.Hash, res.Hash, err)
			}
		}
		if hashes[model.ZooKeeper] != hashes[model.Keeper] {
			other++
		}
	}
	if other != 30 || lapsed == 0 {
		t.Errorf("%d runs of 30 differ, %d sessions lapsed", other, lapsed)
	}
}
