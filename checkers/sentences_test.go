package checkers

import "testing"

// inSentences are histories that are violated, and how that is said.
var inSentences = []struct {
	name    string
	checker Monitored
	text    string
	want    string
}{
	{"the acknowledgement of a later leader failed, that of another one did not", Acknowledged{}, `
		created c1 /e/1 z1 s11
		invoke c1 o1 acknowledge /e/1 v1
		return c1 o1 acknowledge /e/1 v1
		created c2 /e/2 z2 s12
		invoke c2 o2 acknowledge /e/2 v2
		return c2 o2 acknowledge /e/2 v2: lost
		created c3 /e/3 z3 s13
		invoke c3 o3 acknowledge /e/3 v3
		return c3 o3 acknowledge /e/3 v3
		invoke c4 o4 leader
		return c4 o4 leader v1`,
		"c4 was told that c1 leads, although c3, a later leader, had acknowledged it before"},
	{"a change was refused, and another client has seen it", Counter{}, `
		invoke c1 o1 add v1
		invoke c2 o2 get
		return c2 o2 get v1
		return c1 o1 ok add: refused`,
		"no order of the operations explains that c1's add of 1 was refused"},
	{"the first that a watcher says of its doubts is that it has none", Suspicion{}, `
		invoke c1 o1 watch-data /a
		told c1 o1 doubt ok
		invoke c1 o1 watch-data /a
		told c1 o1 doubt`,
		"c1 was told that what it knows is up to date, and not before that it may not be"},
	{"a watcher has doubts twice", Suspicion{}, `
		invoke c1 o1 watch-data /a
		told c1 o1 doubt ok
		told c1 o1 doubt ok`,
		"c1 was told twice in a row that what it knows may be out of date"},
	{"nothing is said of the znode of a lock", Linearizability{}, `
		invoke c1 o1 lock
		acquired c1 o1
		invoke c2 o2 lock
		acquired c2 o2`,
		"no order of the operations explains that c2 holds the lock"},
	{"nothing is said of the znode of a place", Entry{}, `
		invoke c1 o1 enter v2
		return c1 o1 enter v2`,
		"c1 entered for 2, but there were never more than 1 inside while it did"},
	{"a client that has never held the lock writes", Fenced{}, `
		created c2 /lock z1 s12
		acquired c2 o2 /lock
		write c2 o2 ok
		write c1 o1 ok`,
		"the resource accepted a write of c1, which has not acquired the lock, after one of c2, holder since 0x1"},
}

func TestASentenceSaysWhatHasHappened(t *testing.T) {
	for _, x := range inSentences {
		h := script(t, x.text)
		if v := x.checker.Check(h); v.Message != x.want {
			t.Errorf("%s:\n%s, expected\n%s", x.name, v.Message, x.want)
		}
		if v := follow(h, x.checker.Monitor()); v.Message != x.want {
			t.Errorf("%s: the monitor says\n%s, expected\n%s", x.name, v.Message, x.want)
		}
	}
}
