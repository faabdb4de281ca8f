package herd

import (
	"fmt"
	"testing"
	"time"

	"zksim/recipes/live/zkserver/zkservertest"
	"zksim/scenarios"
)

func TestLiveTry(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	r := scenarios.NewRunner()
	defer r.Close()
	for i := range All {
		for _, n := range []int{1, 2, 5, 20, 100} {
			m, err := Measure(r, &All[i], n, 1)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			l, err := MeasureLive(t.Context(), addrs, &All[i], n)
			if err != nil {
				t.Error(err)
				continue
			}
			fmt.Println(time.Since(begin))
			if x := l; x.Events == m.Events && x.Notifications == m.Notifications && x.Burst == m.Burst && x.Wasted == m.Wasted && x.Requests == m.Requests && x.Txns == m.Txns && x.Messages == m.Messages && x.Watches == m.Watches {
				fmt.Println(x.Variant, n, "same")
			} else {
				for _, x := range []Measurement{m, l} {
					fmt.Printf("%-20s %3d ev %d notif %.3f burst %d wasted %.3f req %.3f txns %.3f msg %.3f watches %d %v %v %v %v\n", x.Variant, n, x.Events, x.Notifications, x.Burst, x.Wasted, x.Requests, x.Txns, x.Messages, x.Watches, x.P50, x.P99, x.Quiet, x.Spike)
				}
			}
			fmt.Printf("%+v\n", *l.Server)
		}
	}
}
