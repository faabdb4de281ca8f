package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/workload"
)

// patiently repeats a request until it is answered. The errors in done say that an earlier try was executed.
func (a alone) patiently(call string, f func() error, done ...error) {
	for {
		err := f()
		if workload.Interrupted(err) {
			a.p.Step()
			continue
		}
		a.is(err == nil || slices.Contains(done, err), "%s succeeds", call)
		return
	}
}

// set sets a znode for the first time, exactly once.
func (a alone) set(path, data string) {
	a.patiently("set", func() error {
		_, err := a.p.Conn.Set(path, []byte(data), 0)
		return err
	}, zk.ErrBadVersion)
}

func (a alone) create(path, data string) {
	a.patiently("create", func() error {
		_, err := a.p.Conn.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll))
		return err
	}, zk.ErrNodeExists)
}

func (a alone) delete(path string) {
	a.patiently("delete", func() error { return a.p.Conn.Delete(path, -1) }, zk.ErrNoNode)
}

// watchers follow a znode and its children until they have seen enough.
func (a alone) watchers() {
	path := a.path("watched")
	a.create(path, "1")
	seen := a.notes()
	more := func(now string) bool {
		seen.add(now)
		return now != "none"
	}
	waits := a.background("data", func(ctx context.Context) error {
		return recipes.NewDataWatch(a.p.Conn, a.p.Env, path, recipes.WatchOptions{}).Run(ctx,
			func(data []byte, stat *zk.Stat) bool {
				if stat == nil {
					return more("none")
				}
				return more(string(data))
			})
	})
	seen.until("1")
	a.set(path, "2")
	seen.until("2")
	a.delete(path)
	a.fine(waits(), "DataWatch.Run until it is told enough")
	a.is(seen.are("1", "2", "none"), "a watcher of a znode is told of each state")

	a.create(path, "")
	for _, kind := range []string{"ChildrenWatch", "PatientChildrenWatch"} {
		seen = a.notes()
		told := func(names []string, stat *zk.Stat) bool {
			if stat == nil {
				return more("none")
			}
			return more(strings.Join(slices.Sorted(slices.Values(names)), " "))
		}
		waits = a.background(kind, func(ctx context.Context) error {
			if kind == "ChildrenWatch" {
				return recipes.NewChildrenWatch(a.p.Conn, a.p.Env, path, recipes.WatchOptions{}).Run(ctx, told)
			}
			return recipes.NewPatientChildrenWatch(a.p.Conn, a.p.Env, path, time.Second, recipes.WatchOptions{}).Run(ctx, told)
		})
		seen.until("")
		a.create(path+"/a", "")
		seen.until("a")
		a.create(path+"/ab", "")
		seen.until("a ab")
		a.delete(path + "/a")
		seen.until("ab")
		a.delete(path + "/ab")
		seen.until("")
		a.delete(path)
		a.fine(waits(), kind+".Run until it is told enough")
		a.is(seen.are("", "a", "a ab", "ab", "", "none"), "%s tells each list", kind)
		a.create(path, "")
	}
}

// notes are what callbacks were told, in order.
type notes struct {
	box *recipes.Mailbox[string]
	all []string
}

func (a alone) notes() *notes { return &notes{box: recipes.NewMailbox[string](a.p.Env)} }

func (n *notes) add(text string) {
	n.all = append(n.all, text)
	n.box.Put(text)
}

// until waits until text was told, after everything that was waited for before.
func (n *notes) until(text string) {
	for {
		if next, err := n.box.Get(background); err != nil || next == text {
			return
		}
	}
}

// are reports whether texts are all that was told.
func (n *notes) are(texts ...string) bool { return slices.Equal(n.all, texts) }

// children follows the children of a znode and their data.
func (a alone) children() {
	path := a.path("children")
	a.create(path, "")
	a.create(path+"/a", "1")
	var seen *notes
	run := func(last string) func() error {
		seen = a.notes()
		waits := a.background("children", func(ctx context.Context) error {
			return recipes.NewChildrenCache(a.p.Conn, a.p.Env, path, recipes.WatchOptions{}).Run(ctx,
				func(now []recipes.Child, changes []recipes.Change) bool {
					text := ""
					for _, c := range now {
						text += c.Name + "=" + string(c.Data) + " "
					}
					for _, c := range changes {
						text += fmt.Sprint(c.Kind, " ", c.Name, "=", string(c.Data), " ")
					}
					seen.add(strings.TrimSpace(text))
					return strings.TrimSpace(text) != last
				})
		})
		return waits
	}
	waits := run("ab=1 removed a=2")
	seen.until("a=1 added a=1")
	a.set(path+"/a", "2")
	seen.until("a=2 updated a=2")
	a.create(path+"/ab", "1")
	seen.until("a=2 ab=1 added ab=1")
	a.delete(path + "/a")
	a.fine(waits(), "ChildrenCache.Run until it is told enough")
	a.is(seen.are("a=1 added a=1", "a=2 updated a=2", "a=2 ab=1 added ab=1", "ab=1 removed a=2"),
		"a cache of children tells each change")
	a.fine(run("ab=1 added ab=1")(), "ChildrenCache.Run until it is told of what is there")
	waits = run("removed ab=1")
	seen.until("ab=1 added ab=1")
	a.patiently("multi", func() error {
		_, err := a.p.Conn.Multi(&zk.DeleteRequest{Path: path + "/ab", Version: -1}, &zk.DeleteRequest{Path: path,
			Version: -1})
		return err
	}, zk.ErrNoNode)
	a.fine(waits(), "ChildrenCache.Run until the znode has gone with its children")
	root := recipes.NewChildrenCache(a.p.Conn, a.p.Env, "/", recipes.WatchOptions{})
	a.fine(root.Run(background, func(now []recipes.Child, _ []recipes.Change) bool {
		a.is(len(now) > 0, "a cache of the children of / has some")
		return false
	}), "ChildrenCache.Run on /")
}

// members joins a group under names that are prefixes of others.
func (a alone) members() {
	g := recipes.NewGroup(a.p.Conn, a.p.Env, a.path("group"), recipes.GroupOptions{})
	join := func(name string) *recipes.Membership {
		m, err := g.Join(background, name, []byte("of "+name))
		a.fine(err, "Group.Join as "+name)
		a.p.Register(nil)
		return m
	}
	listed := func() (text string) {
		list, err := g.List(background)
		a.is(err == nil, "Group.List")
		for _, c := range list {
			a.is(string(c.Data) == "of "+c.Name && c.Stat != nil, "members are listed with their data")
			text += c.Name + " "
		}
		return strings.TrimSpace(text)
	}
	odd := join("_owners2")
	a.is(listed() == "_owners2", "a member is listed whose name begins as that of the owners does")
	a.fine(odd.Leave(background), "Membership.Leave of _owners2")
	first, second := join("a"), join("ab")
	a.is(listed() == "a ab", "two members are listed by name")
	_, err := g.Join(background, "a", nil)
	a.with(recipes.ErrNameTaken, err, "Group.Join as a member that is there")
	told := a.notes()
	waits := a.background("group", func(ctx context.Context) error {
		return g.Watch(ctx, func(now []recipes.Child, changes []recipes.Change) bool {
			for _, c := range changes {
				told.add(fmt.Sprint(c.Kind, " ", c.Name))
			}
			return len(now) > 0
		})
	})
	told.until("added ab")
	a.fine(first.Leave(background), "Membership.Leave of a")
	a.is(listed() == "ab", "a member that has left is not listed")
	told.until("removed a")
	a.fine(second.Leave(background), "Membership.Leave of ab")
	a.fine(first.Leave(background), "a second Membership.Leave of a")
	a.is(listed() == "", "a group that all have left is empty")
	a.fine(waits(), "Group.Watch until all have left")
	a.is(told.are("added a", "added ab", "removed a", "removed ab"), "all changes of a group are told")
	third := join("b")
	if err := third.Leave(canceled()); err != nil { // it may have ended at once
		a.with(context.Canceled, err, "Membership.Leave with a context that is done")
	}
	a.fine(third.Leave(background), "a second Membership.Leave of b")
}

// fleeting has a znode come and go before the first fence of a watcher, and counts the fences.
type fleeting struct {
	recipes.Conn
	path   string
	fences int
	seen   bool // the znode has come
}

// Multi implements [recipes.Conn].
func (f *fleeting) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if f.fences++; f.fences == 1 {
		_, err := f.Create(f.path, nil, 0, zk.WorldACL(zk.PermAll))
		f.seen = err == nil && f.Delete(f.path, -1) == nil
	}
	return f.Conn.Multi(ops...)
}

// fleets has a znode come and go after the time to settle has passed, before the watcher looks again.
func (a alone) fleets() {
	conn := &fleeting{Conn: a.p.Conn, path: a.path("fleeting")}
	w := recipes.NewPatientChildrenWatch(conn, unforgetting{a.p.Env}, conn.path, time.Second, recipes.WatchOptions{})
	err := w.Run(background, func([]string, *zk.Stat) bool { return false })
	a.fine(err, "PatientChildrenWatch.Run")
	a.is(!conn.seen || conn.fences > 1, "a znode that has come and gone has not settled")
	a.delete(conn.path)
}
