package ensemble

import (
	"context"
	"encoding/binary"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/internal/nemesis"
	"zksim/internal/wire"
	"zksim/model"
	"zksim/model/history"
	"zksim/model/jute"
	"zksim/recipes"
)

// sink is a connection that takes everything.
type sink struct{ net.Conn }

func (sink) Write(b []byte) (int, error) { return len(b), nil }

// packet is a request as it is sent.
func packet(xid int32, q *model.Request) []byte {
	body := jute.AppendRequest(nil, xid, q)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// One holds the lock of the run when it asks what is on its way, the other waits for it when something is.
func TestAProgramMayLookWhetherAllIsStillWhileAnotherOneAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const times = 500
		x := &liveRun{host: &liveHost{}, state: []zk.State{zk.StateHasSession}, closed: make([]bool, 1)}
		hear := func(e history.Event) {
			runtime.Gosched() // to the one that looks
			x.hears(0)(e)
		}
		tap := &wire.Tap{Client: 1, Hear: hear, Broken: func(err error) { t.Error(err) }}
		x.taps = []*wire.Tap{tap}
		conn := tap.Conn(sink{})
		conn.Write(packet(0, &model.Request{})) // the handshake, of which nothing is heard
		looked := make(chan bool)
		go func() {
			for range times {
				time.Sleep(lookEvery) // both at the same time
				x.still()
			}
			close(looked)
		}()
		for i := range int32(times) {
			time.Sleep(lookEvery)
			conn.Write(packet(i+1, &model.Request{Op: model.OpSync, Path: "/"}))
		}
		<-looked
		if n := len(x.host.history.Events); n != times {
			t.Errorf("%d requests were heard, expected %d", n, times)
		}
		if tap.Open() != times || x.still() {
			t.Error("all is still while requests are on their way")
		}
	})
}

// Only an operation that returns shows that a program goes on, unless it has said for how long it sleeps.
func TestALongSleepIsNoGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &liveRun{host: &liveHost{}, o: LiveOptions{Timeout: time.Minute}}
		begin, ctx := time.Now(), t.Context()
		short, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		for _, s := range []struct {
			ctx  context.Context
			d    time.Duration
			want time.Duration // since the beginning
		}{{ctx, 20 * time.Second, 0}, {ctx, 3 * time.Minute, 200 * time.Second}, {short, time.Hour, 200 * time.Second}} {
			timed{recipes.Env(plain{}), x}.Sleep(s.ctx, s.d)
			if x.host.got.IsZero() != (s.want == 0) || s.want > 0 && x.host.got.Sub(begin) != s.want {
				t.Errorf("after a sleep of %v: %v", s.d, x.host.got)
			}
		}
	})
}

// plain sleeps.
type plain struct{ recipes.Env }

// Sleep implements [recipes.Env].
//
//zksim:ignore as on a real ensemble
func (plain) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// As in the simulator: a timer that fires at a bad moment catches some mutants, and the same moment hides others.
func TestWhereNothingStrikesSomeTimersFireWhileOtherThingsHappen(t *testing.T) {
	for seed, want := range map[uint64]int{0: 0, 1: 0, 2: 2, 3: 0, 4: 3, 16: 1} {
		if n := (&liveRun{o: LiveOptions{Seed: seed}}).haste(); n != want {
			t.Errorf("seed %d: %d, expected %d", seed, n, want)
		}
	}
	if n := (&liveRun{o: LiveOptions{Seed: 2, Faults: faults.Contract()}}).haste(); n != 0 {
		t.Errorf("with faults %d, expected 0", n)
	}
	synctest.Test(t, func(t *testing.T) {
		x := &liveRun{host: &liveHost{}, diary: nemesis.NewDiary(), free: 2}
		x.host.works(1) // something goes on
		for n := range 2 {
			if x.over || len(x.host.history.Events) > 0 {
				t.Errorf("after %d timers it is calm", n)
			}
			x.turn(t.Context(), time.Now())
		}
		if e := x.host.history.Events; !x.over || len(e) != 1 || e[0].Kind != history.Calm || len(x.host.moments) > 0 {
			t.Errorf("%v, moments %v, expected nothing but a calm", e, x.host.moments)
		}
		begin := time.Now()
		if x.turn(t.Context(), begin); time.Since(begin) != oversleep {
			t.Errorf("the next timer waited for %v while something went on, expected %v", time.Since(begin), oversleep)
		}
	})
}
