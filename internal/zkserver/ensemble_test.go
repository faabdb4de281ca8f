package zkserver_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver"
	"zksim/internal/zkserver/zkservertest"
	"zksim/recipes/live"
)

var open = zk.WorldACL(zk.PermAll)

func dial(t *testing.T, servers ...string) *live.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := live.Dial(ctx, servers, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !f(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 2 min: %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAStandaloneServerServes(t *testing.T) {
	e := zkservertest.ForTest(t, 1)
	if got := e.Addrs(); len(got) != 1 || got[0] != e.ConnectString() || !strings.HasPrefix(got[0], "127.0.0.1:") {
		t.Fatalf("addresses %q, connect string %q", got, e.ConnectString())
	}
	c := dial(t, e.Addrs()...)
	_, err := c.Create("/a", []byte("x"), 0, open)
	must(t, err)
	data, _, watch, err := c.GetW("/a")
	if err != nil || string(data) != "x" {
		t.Fatalf("got %q, %v", data, err)
	}
	must(t, c.Delete("/a", -1))
	if ev := <-watch; ev.Type != zk.EventNodeDeleted || ev.Path != "/a" {
		t.Errorf("watch: %+v", ev)
	}
}

func TestContainersAndTTLNodesGoSoon(t *testing.T) {
	c := dial(t, zkservertest.ForTest(t, 1).Addrs()...)
	_, err := c.CreateContainer("/container", nil, zk.FlagContainer, open)
	must(t, err)
	_, err = c.Create("/container/child", nil, 0, open)
	must(t, err)
	must(t, c.Delete("/container/child", -1))
	_, err = c.CreateTTL("/ttl", nil, zk.FlagTTL, open, time.Millisecond)
	must(t, err)
	for _, path := range []string{"/container", "/ttl"} {
		eventually(t, path+" is gone", func() bool {
			there, _, err := c.Exists(path)
			must(t, err)
			return !there
		})
	}
}

func TestAQuorumServesThroughEveryMember(t *testing.T) {
	e := zkservertest.ForTest(t, 3)
	addrs := e.Addrs()
	if len(addrs) != 3 || strings.Join(addrs, ",") != e.ConnectString() {
		t.Fatalf("addresses %q, connect string %q", addrs, e.ConnectString())
	}
	_, err := dial(t, addrs[0]).Create("/a", nil, 0, open)
	must(t, err)
	for _, addr := range addrs {
		c := dial(t, addr)
		_, err := c.Sync("/a")
		must(t, err)
		if there, _, err := c.Exists("/a"); !there || err != nil {
			t.Errorf("%s: exists %v, %v", addr, there, err)
		}
	}
}

func TestAQuorumSurvivesTheDeathOfAMember(t *testing.T) {
	e := zkservertest.ForTest(t, 3)
	c := dial(t, e.Addrs()...)
	_, err := c.Create("/own", nil, zk.FlagEphemeral, open)
	must(t, err)
	session := c.SessionID()

	const leader = 2 // the highest id of the first quorum
	e.Kill(leader)
	e.Kill(leader)
	eventually(t, "a write goes through", func() bool {
		_, err := c.Set("/own", nil, -1)
		return err == nil
	})
	if c.SessionID() != session {
		t.Error("the session was lost")
	}
	must(t, e.Restart(t.Context(), leader))
	back := dial(t, e.Addrs()[leader])
	_, err = back.Sync("/own")
	must(t, err)
	if there, _, err := back.Exists("/own"); !there || err != nil {
		t.Errorf("on the restarted member: exists %v, %v", there, err)
	}
}

func TestARestartedServerKeepsDataAndSessions(t *testing.T) {
	e := zkservertest.ForTest(t, 1)
	c := dial(t, e.Addrs()...)
	_, err := c.Create("/own", nil, zk.FlagEphemeral, open)
	must(t, err)
	session := c.SessionID()
	must(t, e.Restart(t.Context(), 0)) // kills it first
	eventually(t, "a read goes through", func() bool {
		there, _, err := c.Exists("/own")
		return there && err == nil
	})
	if c.SessionID() != session {
		t.Error("the session was lost")
	}
}

func TestStopRemovesWhatStartMade(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	e := zkservertest.ForTest(t, 1)
	if !strings.HasPrefix(e.Folder(0), tmp) {
		t.Errorf("%s is not in %s", e.Folder(0), tmp)
	}
	must(t, e.Stop())
	must(t, e.Stop())
	wantStopped(t, e, tmp)
	if err := e.Restart(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "were stopped") {
		t.Errorf("Restart after Stop: %v", err)
	}
}

func TestCancellingTheContextIsAStop(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	zkservertest.ForTest(t, 1) // skips if need be
	before, err := os.ReadDir(tmp)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e, err := zkserver.Start(ctx, zkserver.Options{})
	must(t, err)
	cancel()
	eventually(t, "the folder is gone", func() bool {
		now, err := os.ReadDir(tmp)
		return err == nil && len(now) == len(before)
	})
	wantStopped(t, e, "")
	must(t, e.Stop())
}

// wantStopped checks that the servers are not reachable and left nothing in dir.
func wantStopped(t *testing.T, e *zkserver.Ensemble, dir string) {
	t.Helper()
	for _, addr := range e.Addrs() {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			t.Errorf("%s still listens", addr)
		}
	}
	if dir == "" {
		return
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAGivenFolderIsKeptAndUsedAgain(t *testing.T) {
	for _, servers := range []int{1, 3} {
		dir := filepath.Join(t.TempDir(), "grün & # = two") // each of them special somewhere
		for round := range 2 {
			e := zkservertest.Start(t, zkserver.Options{Servers: servers, Dir: dir})
			c := dial(t, e.Addrs()...)
			_, err := c.Create("/a", nil, 0, open)
			if want := []error{nil, zk.ErrNodeExists}[round]; !errors.Is(err, want) {
				t.Errorf("%d servers, round %d: %v, want %v", servers, round, err, want)
			}
			c.Close()
			must(t, e.Stop())
		}
		if _, err := os.Stat(filepath.Join(dir, "server-1", "zoo.cfg")); err != nil {
			t.Error(err)
		}
	}
}

func TestStopReportsAServerThatDiedByItself(t *testing.T) {
	zkservertest.ForTest(t, 1) // skips if need be
	e, err := zkserver.Start(t.Context(), zkserver.Options{})
	must(t, err)
	e.Harm(0)
	for range 2 {
		if err := e.Stop(); err == nil || !strings.HasPrefix(err.Error(), "zkserver: server 1 died (signal: killed)") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAStrangerOnThePortIsNotTakenForOurServer(t *testing.T) {
	e := zkservertest.ForTest(t, 1)
	if got := e.ProbedAsIf(0, e.Folder(0)); got != "standalone" {
		t.Errorf("our own: %q", got)
	}
	if got := e.ProbedAsIf(0, t.TempDir()); got != "" {
		t.Errorf("a stranger: %q", got)
	}
}

func TestAnUnpackedReleaseCanBeUsed(t *testing.T) {
	const debian = "/usr/share/java"
	jars := []string{"zookeeper.jar", "slf4j-simple.jar"}
	if slices.ContainsFunc(jars, func(jar string) bool {
		_,
			err := os.Stat(filepath.Join(debian, jar))
		return err != nil
	}) {
		t.Skip("SKIPPED: no Debian package zookeeper to make a release of")
	}
	release := t.TempDir()
	lib := filepath.Join(release, "lib")
	must(t, os.Mkdir(lib, 0o755))
	for _, jar := range jars {
		must(t, os.Symlink(filepath.Join(debian, jar), filepath.Join(lib, jar)))
	}
	t.Setenv(zkserver.EnvZooKeeper, release)
	dial(t, zkservertest.ForTest(t, 1).Addrs()...)
}
