package zktest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios"
	"zksim/scenarios/zktest"
)

// TestAnIdleClientStaysConnected has a client do nothing for minutes: its pings are answered without a word.
func TestAnIdleClientStaysConnected(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		conn, events, err := zk.Connect(c.Addrs(), 10*time.Second, zk.WithDialer(c.Dialer()), zk.WithLogger(silent{}))
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		defer conn.Close()
		for ev := range events {
			if ev.State == zk.StateHasSession {
				break
			}
		}
		time.Sleep(9 * time.Minute)
		select {
		case ev := <-events:
			c.Errorf("an idle client hears %+v", ev)
		default:
		}
		if ok, _, err := conn.Exists("/zookeeper"); !ok || err != nil {
			c.Errorf("%v, %v", ok, err)
		}
		c.Sometimes("idle", true)
	}, zktest.Faults("none"))
}

// TestTimesOfZnodesAreThoseOfTheCode has code take the age of a znode by its own clock, as for a lease.
func TestTimesOfZnodesAreThoseOfTheCode(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		before := time.Now()
		if _, err := conn.Create("/lease", nil, 0, open); err != nil {
			c.Errorf("%v", err)
			return
		}
		_, stat, err := conn.Get("/lease")
		if err != nil {
			c.Errorf("%v", err)
			return
		}
		made := time.UnixMilli(stat.Mtime)
		if made.Before(before.Truncate(time.Millisecond)) || made.After(time.Now()) {
			c.Errorf("a znode was made at %v, between %v and %v", made.UTC(), before.UTC(), time.Now().UTC())
		}
		time.Sleep(time.Minute)
		if age := time.Since(made); age < time.Minute || age > 2*time.Minute {
			c.Errorf("after a minute it is %v old", age)
		}
		c.Sometimes("made", true)
	}, zktest.Faults("none"))
}

// late has a client do something long after all others have come to rest, in a goroutine that its program does not
// wait for, and another one look at what is there when nothing more can happen.
func late(p *scenarios.Process) {
	path := p.Path("/late")
	if p.ID == 1 {
		p.Env.Go("late", func() {
			ctx, cancel := p.Env.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			p.Env.Await(ctx)
			p.Env.Sleep(context.Background(), 20*time.Second)
			p.Conn.Create(path, nil, 0, open)
		})
		return
	}
	p.AtRest()
	if ok, _, err := p.Conn.Exists(path); !ok {
		p.Fail(errors.Join(errors.New("at rest, and yet something is to come"), err))
	}
}

// TestNothingIsAtRestWhileAProgramWaitsForATime has runs last as long as there is a timer, although nobody wants
// anything meanwhile.
func TestNothingIsAtRestWhileAProgramWaitsForATime(t *testing.T) {
	zktest.Check(t, scenarios.Scenario{Name: "test/late", Doc: "something happens late", Clients: 2, Program: late})
}

// TestCodeMayWaitForAnHour has code wait for times that are far away, and do something then.
func TestCodeMayWaitForAnHour(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		time.Sleep(11 * time.Minute)
		tick := time.NewTicker(15 * time.Minute)
		defer tick.Stop()
		for range 3 {
			<-tick.C
			create(conn, "/x")
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		<-ctx.Done()
		if !exists(conn, "/x") {
			c.Errorf("it is not there")
		}
		c.Sometimes("an hour later", true)
	}, zktest.Faults("disconnect=1"), zktest.Servers(1))
}

// TestATimeoutIsMetWhileClientsAsk has a timeout be over before an answer comes, although others ask without a pause
// from their first connection on.
func TestATimeoutIsMetWhileClientsAsk(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		for range 2 {
			busy := c.Connect()
			go func() {
				for range 20 {
					exists(busy, "/x")
				}
			}()
		}
		conn, late := c.Connect(), 0
		for range 5 {
			answered := make(chan bool, 1)
			go func() { exists(conn, "/x"); answered <- true }()
			begin := time.Now()
			select {
			case <-answered:
			case <-time.After(latency / 2):
				late++
				<-answered
			}
			if took := time.Since(begin); took > 2*latency {
				c.Errorf("an answer took %s", took)
			}
		}
		c.Sometimes("an answer is late", late > 0)
		c.AtRest()
	}, zktest.Faults("none"), zktest.Servers(1))
}

// latency is what an answer may take that no fault holds back.
const latency = time.Second

// TestWhatIsToEndByItselfEndsInTime has code wait for a container and a TTL znode, which ZooKeeper deletes within a
// minute, while nobody wants anything.
func TestWhatIsToEndByItselfEndsInTime(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		const ttl = 30 * time.Minute
		begin := time.Now()
		_, err := conn.CreateContainer("/box", nil, zk.FlagContainer, open)
		_, err2 := conn.CreateTTL("/lease", nil, zk.FlagTTL, open, ttl)
		_, err3 := conn.Create("/box/x", nil, 0, open)
		if err := errors.Join(err, err2, err3, conn.Delete("/box/x", -1)); err != nil {
			c.Errorf("%v", err)
			return
		}
		gone := func(path string) time.Duration {
			for exists(conn, path) {
				time.Sleep(time.Second)
				if ok, _, ch, err := conn.ExistsW(path); ok && err == nil {
					<-ch
				}
			}
			return time.Since(begin)
		}
		if took := gone("/box"); took > 2*time.Minute {
			c.Errorf("a container that is empty was there for %v", took)
		}
		took := gone("/lease")
		if took < ttl || took > ttl+2*time.Minute {
			c.Errorf("a TTL znode of %v was there for %v", ttl, took)
		}
		c.Sometimes("both have ended", true)
	}, zktest.Faults("none"))
}

func TestHiddenOutage(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		c1, c2 := c.Connect(), c.Connect()
		c1.Exists("/")
		c2.Exists("/")
		id := c2.SessionID()
		c.AtRest()
		if now := c2.SessionID(); id != 0 && now != id {
			c.Errorf("c2 had session %d, and has %d", id, now)
		}
	}, zktest.Servers(3), zktest.Faults("elect=4 expire=4@client=c1"))
}

// TestASessionThatEndsInAnOutageIsTold has the session of c1 end when nobody was served for a session timeout, so that
// of c2, which waits for a connection, may end then, too.
func TestASessionThatEndsInAnOutageIsTold(t *testing.T) {
	dir := t.TempDir()
	expect(t, runHidden(t, dir, "TestHiddenOutage", "-zksim.seeds", "1-2000", "-zksim.out", "out"), "c2 had session ")
	page, err := os.ReadFile(filepath.Join(dir, "out", "zktest.TestHiddenOutage", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "the session of c2 expires, which has had no connection for as long as its timeout"
	if !strings.Contains(string(page), want) {
		t.Errorf("the page does not say that %s", want)
	}
}
