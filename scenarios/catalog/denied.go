package catalog

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// foldersOf are folders that recipes make in their own, and others that some of the calls ask for.
var foldersOf = []string{"assign", "assign/known", "candidates", "claims", "gate", "items", "known", "leases",
	"masters", "one", "status", "status/known", "tasks", "turns", "workers"}

// restricted is a setup of folders for every recipe, in /dir, in which nobody has more rights than perms.
func restricted(perms int32, more ...string) []model.Request {
	setup := []model.Request{engine.Mkdir("/dir")}
	for _, name := range slices.Concat(foldersOf, more) {
		setup = append(setup, engine.Mkdir("/dir/"+name))
	}
	for _, r := range slices.Backward(setup) {
		setup = append(setup, model.Request{Op: model.OpSetACL, Path: r.Path, ACL: zk.WorldACL(perms), Version: -1})
	}
	return setup
}

// allBut and only choose calls by their names.
func allBut(names string) func(call string) bool {
	some := only(names)
	return func(call string) bool { return !some(call) }
}

func only(names string) func(call string) bool {
	list := strings.Fields(names)
	return func(call string) bool { return slices.Contains(list, call) }
}

// ends makes a program that makes the chosen calls and asserts that each ends with the error want. Where the answer to
// a write is lost, some calls cannot say that it was refused.
func ends(
	want error, chosen func(call string) bool, prepare func(ctx context.Context, p *engine.Process) *engine.Process,
) func(p *engine.Process) {
	return func(p *engine.Process) {
		if p.ID > 1 {
			return // what others do in the same folder would change the answers
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if want == context.Canceled {
			cancel()
		}
		q := prepare(ctx, p)
		if q == nil {
			return
		}
		for _, c := range calls {
			if !chosen(c.name) {
				continue
			}
			err := c.call(ctx, q, q.Path("/dir"))
			p.Always(c.name+" ends with "+want.Error(), errors.Is(err, want) || errors.Is(err, recipes.ErrUnknownOutcome))
		}
	}
}

// asIs leaves the connection as it is.
func asIs(_ context.Context, p *engine.Process) *engine.Process { return p }

// closed returns the process with a connection that it has closed.
func closed(_ context.Context, p *engine.Process) *engine.Process {
	q, err := p.Dial()
	if err != nil {
		p.Fail(err)
		return nil
	}
	q.Conn.Exists(q.Path("/dir")) // whatever the result: it has a session, or has lost it
	q.Conn.Close()
	return q
}

// The calls that are not refused to a client that may only read, and to one that may do everything except read.
const (
	reads = "Lock.Contenders RevocableLock.Queue Election.Leader Election.AwaitLeader Election.Candidates " +
		"Barrier.Release Barrier.Wait Queue.Take Queue.TryTake Queue.Claim Queue.TryClaim Queue.Len " +
		"PriorityQueue.Take Names.Resolve Names.Unregister Names.List Group.List Group.Watch Transaction.Join " +
		"Transaction.Vote Counter.Get Config.Get CachedConfig.Run DataWatch.Run ChildrenWatch.Run " +
		"PatientChildrenWatch.Run Task.Wait Monitor.Run"
	makesNone = " Barrier.Hold Task.Forget"
	writes    = "SingleNodeLock.Lock SingleNodeLock.TryLock Election.Leader Election.AwaitLeader Queue.Put " +
		"PriorityQueue.Put Names.Register Names.RegisterNext Group.Join Transaction.Begin Transaction.Vote " +
		"Config.Update TaskClient.Submit Task.Forget Worker.Next"
)

var deniedScenarios = []engine.Scenario{
	denied("recipes/canceled", "every call ends at once whose context is done", restricted(zk.PermAll),
		ends(context.Canceled, allBut(""), asIs), "lose-request", "lose-reply", "deliver-close",
		"deliver-slow", "broken-pipe", "late-request", "late-commit").Without("tree"),
	denied("recipes/closed", "every call ends whose connection was closed", restricted(zk.PermAll),
		ends(zk.ErrClosing, allBut(""), closed), "late-request", "late-commit").Without("tree"),
	denied("recipes/read-only", "every call that would write ends where one may only read",
		restricted(zk.PermRead), ends(zk.ErrNoAuth, allBut(reads), asIs)).Without("tree"),
	denied("recipes/no-create", "every call that would make a znode ends where one may do all but that",
		restricted(zk.PermAll&^zk.PermCreate, "items/x-0000000001"),
		ends(zk.ErrNoAuth, allBut(reads+makesNone), asIs)).Without("tree"),
	denied("recipes/no-delete", "every call that would only delete ends where one may do all but that",
		restricted(zk.PermAll&^zk.PermDelete), ends(zk.ErrNoAuth, only("FlaggedConfig.Update Task.Forget"),
			asIs)).Without("tree"),
	denied("recipes/write-only", "every call that would read ends where one may do all but read",
		restricted(zk.PermAll&^zk.PermRead, "decision"), ends(zk.ErrNoAuth, allBut(writes), asIs), blind...),
}

// blind are the faults that a client which cannot look for its znode does not survive: they lose the answer to a
// create.
var blind = []string{"lose-request", "lose-reply", "deliver-close", "broken-pipe", "late-commit", "disconnect",
	"depose", "elect", "stale-read", "failover", "expire", "learn-late", "expiry-lag", "late-request", "zombie",
	"handshake", "refuse"}

// denied is a scenario of one client, under every fault except those in without.
func denied(
	name, doc string, setup []model.Request, program func(p *engine.Process), without ...string,
) engine.Scenario {
	return engine.Scenario{Name: name, Doc: doc, Clients: 1, Rounds: 1, Dials: 1, Servers: []int{1, 3}, Setup: setup,
		Program: program, Faults: faults.Contract().Except(append(without, "cancel", "watch-delay", "overtake")...),
		Checkers: orderly}
}
