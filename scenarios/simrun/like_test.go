package simrun

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/scenarios/engine"
)

// TestARunOnAnotherServerIsRepeatedThere checks a recipe that a server like ClickHouse Keeper breaks, and follows what
// is left of that.
func TestARunOnAnotherServerIsRepeatedThere(t *testing.T) {
	t.Chdir(t.TempDir())
	run := []string{"check", "-seeds", "4", "-strategy", "random", "-faults", "disconnect=2 lose-reply=2",
		"double-barrier/lowest-patient"}
	if r := simrun(t, run...); r.code == exitViolation {
		t.Fatalf("with ZooKeeper: %+v", r)
	}
	r := simrun(t, append(run, "-like", "keeper")...)
	if r.code != exitViolation || !strings.Contains(r.out, "  quiescence: ") {
		t.Fatalf("with Keeper: %+v", r)
	}
	if !regexp.MustCompile(`(?m)^ +or .* -like keeper -strategy random$`).MatchString(r.out) {
		t.Errorf("the command that finds it again does not say like what: %s", r.out)
	}
	dir := regexp.MustCompile(`report +(\S+)/index.html`).FindStringSubmatch(r.out)[1]
	text, err := os.ReadFile(dir + "/schedule.txt")
	if err != nil || !strings.Contains(string(text), "\nlike keeper\n") {
		t.Errorf("%v\n%s", err, text)
	}
	var report struct{ Like string }
	if text, err := os.ReadFile(dir + "/report.json"); err != nil || json.Unmarshal(text, &report) != nil ||
		report.Like != "keeper" {
		t.Errorf("%v\n%s", err, text)
	}
	page, err := os.ReadFile(dir + "/index.html")
	if err != nil || !strings.Contains(string(page), "1 server like keeper") {
		t.Errorf("the page does not say like what: %v", err)
	}
	again := simrun(t, "replay", "-v", dir+"/schedule.txt")
	if again.code != exitViolation || !strings.Contains(again.out, "a session ends that c2 had before it was given "+
		"another one") {
		t.Errorf("%+v", again)
	}
	zookeeper := strings.Replace(string(text), "like keeper\n", "", 1)
	write(t, "zookeeper.txt", zookeeper)
	if r := simrun(t, "diff", dir+"/schedule.txt", "zookeeper.txt"); r.code == exitHeld {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "replay", "zookeeper.txt"); r.code == exitViolation {
		t.Errorf("%+v", r)
	}
}

// TestServeIsLikeAnotherServer has a client lose its session, and replays the recording.
func TestServeIsLikeAnotherServer(t *testing.T) {
	t.Chdir(t.TempDir())
	r := serveUntil(t, func(connect, _ string) {
		c, _, err := zk.Connect([]string{connect}, 10*time.Second, zk.WithLogInfo(false))
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		if _, err := c.Create("/own", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != zk.ErrConnectionClosed {
			t.Error(err)
		}
		if there, stat, err := c.Exists("/own"); !there || stat.EphemeralOwner == c.SessionID() {
			t.Errorf("%v, %+v, %v, session 0x%x", there, stat, err, c.SessionID())
		}
	}, "-listen", "127.0.0.1:0", "-like", "keeper", "-faults", "lose-reply=1@client=c1,op=create,nth=1", "-record",
		"history.jsonl")
	if r.code != exitHeld || r.err != "" {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "replay", "-v", "history.jsonl"); r.code != exitHeld ||
		!strings.Contains(r.out, "c1 is connected with session 0x1002\n") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "serve", "-like", "etcd"); r.code != exitUsage ||
		!strings.Contains(r.err, `the server is zookeeper, keeper, zookeeper-3.9 or zookeeper-3.6, not "etcd"`) {
		t.Errorf("%+v", r)
	}
}

// TestAProofSaysLikeWhatTheServersAre proves a lock on the semantics of ClickHouse Keeper, and derives it again.
func TestAProofSaysLikeWhatTheServersAre(t *testing.T) {
	t.Chdir(t.TempDir())
	r := simrun(t, "prove", "-like", "keeper", "-faults", "disconnect=1", "-checkers", "state", "-cert", "proof.json",
		"lock/single-node")
	if r.code != exitHeld || !strings.Contains(r.out, "disconnect=1, at most 1, like keeper, all reductions; ") {
		t.Fatalf("%+v", r)
	}
	text, err := os.ReadFile("proof.json")
	if err != nil || !strings.Contains(string(text), "\"like\": \"keeper\",\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if r := simrun(t, "prove", "-verify", "proof.json"); r.code != exitHeld {
		t.Errorf("%+v", r)
	}
	write(t, "other.json", strings.Replace(string(text), "  \"like\": \"keeper\",\n", "", 1))
	if r := simrun(t, "prove", "-verify", "other.json"); r.code != exitViolation {
		t.Errorf("a certificate of another server: %+v", r)
	}
	write(t, "unknown.json", strings.Replace(string(text), "\"keeper\"", "\"etcd\"", 1))
	if r := simrun(t, "prove", "-verify", "unknown.json"); r.code != exitUsage ||
		!strings.Contains(r.err, `the server is zookeeper, keeper, zookeeper-3.9 or zookeeper-3.6, not "etcd"`) {
		t.Errorf("%+v", r)
	}
}

// TestALikeThatThereIsNot gives wrong values.
func TestALikeThatThereIsNot(t *testing.T) {
	for args, want := range map[string]string{
		"check -like keper lock/lock": `simrun check: invalid value "keper" for flag -like: the server is zookeeper, ` +
			`keeper, zookeeper-3.9 or zookeeper-3.6, not "keper"; did you mean keeper?`,
		"prove -like etcd lock/lock":                        `zookeeper-3.9 or zookeeper-3.6, not "etcd"`,
		"prove -like= lock/lock":                            `zookeeper-3.9 or zookeeper-3.6, not ""`,
		"check -like keeper -backend zookeeper lock/lock":   "-like goes with -backend sim only",
		"prove -like keeper -verify x.json":                 "-like does not go with -verify",
		"prove -like keeper -obligations x.json -shard 1/1": "-like does not go with -obligations",
	} {
		if r := simrun(t, strings.Fields(args)...); r.code != exitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

// TestGoalsAreReachedOnAnotherServer checks recipes whose goals are about sessions that end.
func TestGoalsAreReachedOnAnotherServer(t *testing.T) {
	t.Chdir(t.TempDir())
	r := simrun(t, "check", "-like", "keeper", "-strategy", "random", "-seeds", "1-300", "watch/data", "config/config",
		"members/names")
	if r.code != exitHeld || !strings.HasSuffix(r.out, "\n3 scenarios: 3 held\n") {
		t.Errorf("%+v", r)
	}
}

// TestAScenarioSaysWhatItsServersAreLike has a scenario with servers of its own, which a flag can change, and takes its
// certificate for what it is.
func TestAScenarioSaysWhatItsServersAreLike(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, engine.Scenario{Name: "mine/keeper", Clients: 2, Like: model.Keeper, Program: idle})
	for _, x := range []struct {
		flags, want string
	}{{"", ", like keeper"}, {"-like zookeeper-3.9", ", like zookeeper-3.9"}, {"-like zookeeper", ""}} {
		args := append([]string{"prove", "-most", "1", "-cert", "c.json"}, strings.Fields(x.flags)...)
		if r := simrun(t, append(args, "mine/keeper")...); r.code != exitHeld || !strings.Contains(r.out, x.want) ||
			strings.Contains(r.out, ", like ") != (x.want != "") {
			t.Errorf("%q: %+v", x.flags, r)
		}
		if r := simrun(t, "prove", "-verify", "c.json"); r.code != exitHeld {
			t.Errorf("%q: %+v", x.flags, r)
		}
	}
	for _, given := range []bool{false, true} {
		c, sized := checkFlags{}, []engine.Scenario{{Like: model.Keeper}}
		c.like.given = given
		if err := c.adapt(sized, nil); err != nil || sized[0].Like == model.Keeper == given {
			t.Errorf("check with a flag %v: %v, %v", given, sized[0].Like, err)
		}
	}
}
