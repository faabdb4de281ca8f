package zktest_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model"
	"zksim/scenarios"
	"zksim/scenarios/zktest"
)

// reconnects cuts the connection of a client that owns /own, and looks at what the client meets after that. The znode
// of a session that is lost goes with that, 10 to 12 seconds after the cut.
func reconnects(c *zktest.Cluster, keeper bool) {
	conn := c.Connect()
	if _, err := conn.Create("/own", nil, zk.FlagEphemeral, open); err == nil {
		return // else the answer was lost
	}
	begin, session := time.Now(), conn.SessionID()
	exists, stat, err := conn.Exists("/own")
	if err != nil || !exists || (stat.EphemeralOwner == conn.SessionID()) == keeper {
		c.Errorf("there %v, owner %v, session %x: %v", exists, stat, conn.SessionID(), err)
	}
	if stat.EphemeralOwner != session {
		c.Errorf("/own belongs to %x, expected %x", stat.EphemeralOwner, session)
	}
	_, _, gone, _ := conn.ExistsW("/own")
	select {
	case <-gone:
		if d := time.Since(begin); !keeper || d < 9*time.Second || d > 14*time.Second {
			c.Errorf("/own is gone after %v", d)
		}
		c.Sometimes("the session ends", true)
	case <-time.After(time.Minute):
		c.Sometimes("the session goes on", true)
	}
	if state := conn.State(); state != zk.StateHasSession {
		c.Errorf("%v", state)
	}
}

func TestAKeeperGivesAnotherSession(t *testing.T) {
	for i, name := range model.Likes() {
		t.Run(name, func(t *testing.T) {
			zktest.Run(t, func(c *zktest.Cluster) { reconnects(c, model.Like(i) == model.Keeper) }, zktest.Like(name),
				zktest.Faults("lose-reply=1@client=c1,op=create,nth=1"), zktest.Servers(1))
		})
	}
}

func TestHiddenLike(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		conn := c.Connect()
		conn.Sync("/")
		session := conn.SessionID()
		for range 3 {
			conn.Sync("/")
		}
		if session != conn.SessionID() {
			c.Errorf("another session")
		}
	}, zktest.Like("zookeeper-3.9"), zktest.Faults("disconnect=1"))
}

// TestAFailureOnAKeeperIsRepeatedThere has code fail that relies on its session, on servers that the flag names. The
// command that repeats it does not need the flag.
func TestAFailureOnAKeeperIsRepeatedThere(t *testing.T) {
	dir := t.TempDir()
	out := runHidden(t, dir, "TestHiddenLike", "-zksim.seeds", "1-100", "-zksim.like", "keeper")
	expect(t, out, "always: another session", "c1 is connected with session 0x1002")
	expectRepeated(t, out)
	files, _ := filepath.Glob(filepath.Join(dir, "testdata/zksim/*/*.txt"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		expect(t, string(text), "\nlike keeper\n")
	}
	if len(files) != 1 {
		t.Errorf("%d schedules: %q", len(files), files)
	}
}

func TestAServerThatThereIsNotIsAnError(t *testing.T) {
	want := `zktest: the server is zookeeper, keeper, zookeeper-3.9 or zookeeper-3.6, not "etcd"`
	if err := zktest.Like("etcd")(new(scenarios.Scenario)); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	expect(t, runHidden(t, t.TempDir(), "TestHiddenLike", "-zksim.like", "etcd"), want)
}

// TestAnEnsembleIsLikeTheFlagSays looks at what the recording says of the servers.
func TestAnEnsembleIsLikeTheFlagSays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "recording")
	t.Setenv("ZKSIM_LIKE", "keeper")
	t.Run("recorded", func(t *testing.T) {
		zktest.Start(t, zktest.Options{Like: "zookeeper-3.9", Record: file})
	})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, string(text), `"like":"keeper"`)
}

func TestHiddenKeeperLock(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) { holds(c, time.Minute/2) }, zktest.Checkers(checkers.Belief{}),
		zktest.Faults("disconnect=1"), zktest.Like("keeper"))
}

// TestALostConnectionLosesTheLockOfGoZookeeperAtAKeeper has no session end but those that the reconnect gave up.
func TestALostConnectionLosesTheLockOfGoZookeeperAtAKeeper(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenKeeperLock", "-zksim.seeds", "1-300"),
		"belief: c", "believes that it holds")
}

func TestALostConnectionLosesNoLockAtZooKeeper(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) { holds(c, time.Minute/2) }, zktest.Checkers(checkers.Belief{}),
		zktest.Faults("disconnect=1"))
}

// TestClientsOfOneDialerKeepTheirNumbersAtAKeeper has a client give up a connection, and dial at once.
func TestClientsOfOneDialerKeepTheirNumbersAtAKeeper(t *testing.T) {
	zktest.Run(t, func(c *zktest.Cluster) {
		d := c.Dialer()
		var all sync.WaitGroup
		for range 2 {
			conn, _, err := zk.Connect(c.Addrs(), 12*time.Second, zk.WithDialer(d), zk.WithLogInfo(false))
			if err != nil {
				c.Errorf("%v", err)
				return
			}
			all.Go(func() {
				defer conn.Close()
				for before, n := int64(0), 0; n < 4; n++ {
					conn.Sync("/")
					now := conn.SessionID()
					if before != 0 && before>>12 != now>>12 {
						c.Errorf("a client that had the session %x has %x", before, now)
					}
					before = now
					time.Sleep(3 * time.Second)
				}
			})
		}
		all.Wait()
	}, zktest.Like("keeper"), zktest.Servers(3))
}
