package scenarios

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

func TestDbg(t *testing.T) {
	name, seedS := os.Getenv("SC"), os.Getenv("SEED")
	seed, _ := strconv.ParseUint(seedS, 10, 64)
	r := NewRunner()
	for i := range All {
		s := &All[i]
		if s.Name != name {
			continue
		}
		res := r.Seed(s, seed)
		r.Names(&res)
		fmt.Println(res.Schedule.Servers, res.Schedule.Faults, res.Verdict, res.History.Waiting)
		k := 0
		for i, n := range res.Schedule.Names {
			fmt.Printf("%3d %-20s", i+1, n)
			for k < len(res.History.Events) && int(res.History.Events[k].Step) <= i+1 {
				e := res.History.Events[k]
				fmt.Printf(" | %v c%d o%d %s %s z%x s%x v%d %v", e.Kind, e.Client, e.Object, e.Op, e.Path, e.Zxid, e.Session, e.Value, e.Err)
				k++
			}
			fmt.Println()
		}
	}
}
