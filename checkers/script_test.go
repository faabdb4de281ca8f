package checkers

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// script makes a history of a text with an event a line,
//
//	invoke c1 o1 lock
//	created c1 /lock/a z5 s11
//
// where the words after the kind are, in any order, c client, o object, z zxid, v
// value, n version ("any": -1), s session, "data", ok, proposed, an error after a colon, a path or an Op. Lines that
// begin with a capital say what is not an event:
//
//	Live                     Created and Deleted are not complete
//	Outcome step-limit       or stopped or "panicked WORDS"
//	Waiting c1 /lock/a ...   a client that waits at the end, for watches
//	Znode /lock/a s11 ...    a znode at the end, s0 if persistent; z5 p6 WORDS: mzxid, pzxid, data
//	Open s11 c1              a session that is open at the end
//	Known /lock/a            a znode that a recipe object answers for
//	Failed c1 WORDS          a client that gave up
func script(t *testing.T, text string) *history.History {
	t.Helper()
	h := &history.History{}
	h.Reset(9)
	h.Txns = true
	for line := range strings.Lines(text) {
		line, problem, failed := strings.Cut(strings.TrimSpace(line), ": ")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0][0] < 'a':
			remark(t, h, words)
		default:
			e := event(t, words)
			if failed {
				e.Err = errors.New(problem)
				for _, known := range []error{zk.ErrNoNode, zk.ErrNodeExists, zk.ErrBadVersion, zk.ErrConnectionClosed,
					context.Canceled, context.DeadlineExceeded} {
					if known.Error() == problem {
						e.Err = known
					}
				}
			}
			h.Add(e)
		}
	}
	return h
}

var kinds = func() map[string]history.Kind {
	all := map[string]history.Kind{}
	for k := history.Invoke; k <= history.Calm; k++ {
		all[k.String()] = k
	}
	return all
}()

func event(t *testing.T, words []string) history.Event {
	t.Helper()
	kind, known := kinds[words[0]]
	if !known {
		t.Fatalf("no kind of event is called %s", words[0])
	}
	e := history.Event{Kind: kind}
	for _, word := range words[1:] {
		n := number(word)
		switch {
		case word == "ok":
			e.OK = true
		case word == "proposed":
			e.Proposed = true
		case word[0] == '/':
			e.Path = word
		case word[0] == '"':
			e.Data = strings.Trim(word, "\"")
		case word == "any":
			e.Version = -1
		case n < 0:
			e.Op = word
		case word[0] == 'c':
			e.Client = int32(n)
		case word[0] == 'o':
			e.Object = int32(n)
		case word[0] == 'z':
			e.Zxid = n
		case word[0] == 'v':
			e.Value = n
		case word[0] == 'n':
			e.Version = int32(n)
		case word[0] == 's':
			e.Session = n
		case word[0] == 't':
			e.Step = int32(n)
		}
	}
	return e
}

// number returns the number after the letter, -1 if there is none.
func number(word string) int64 {
	n, err := strconv.ParseInt(word[1:], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func remark(t *testing.T, h *history.History, words []string) {
	t.Helper()
	switch words[0] {
	case "Live":
		h.Txns = false
	case "Outcome":
		h.Outcome = map[string]history.Outcome{"step-limit": history.StepLimit, "stopped": history.Stopped,
			"panicked": history.Panicked}[words[1]]
		h.Panic = strings.Join(words[2:], "\n")
	case "Waiting":
		client, where, _ := strings.Cut(words[1], "/")
		h.Waiting = append(h.Waiting, history.Waiting{Client: int32(number(client)), Where: where, Paths: words[2:]})
	case "Znode":
		n := history.Node{Path: words[1], Owner: number(words[2])}
		for _, word := range words[3:] {
			switch x := number(word); {
			case x >= 0 && word[0] == 'z':
				n.Mzxid = x
			case x >= 0 && word[0] == 'p':
				n.Pzxid = x
			default:
				n.Data = strings.TrimSpace(n.Data + " " + word)
			}
		}
		h.Tree = append(h.Tree, n)
	case "Open":
		h.Sessions[number(words[1])] = int32(number(words[2]))
	case "Known":
		h.Known[words[1]] = true
	case "Steps":
		h.Steps = int(number(" " + words[1]))
	case "Finished":
		for _, c := range words[1:] {
			h.Finished[number(c)] = true
		}
	case "Failed":
		h.Failed[int32(number(words[1]))] = strings.Join(words[2:], " ")
	default:
		t.Fatalf("no remark is called %s", words[0])
	}
}

// judgement is one history and what a checker must say: nothing, or the message
// and the position of the event (counted from 0, -1: the end).
type judgement struct {
	name, text string
	event      int
	message    string
}

func judge(t *testing.T, c Checker, all []judgement) {
	t.Helper()
	for _, x := range all {
		want := Verdict{}
		if x.message != "" {
			want = Verdict{Violated, c.Name(), x.message, x.event}
		}
		h := script(t, x.text)
		if got := c.Check(h); got != want {
			t.Errorf("%s, %s:\n got %+v\nwant %+v", c.Name(), x.name, got, want)
		}
		x, ok := c.(Monitored)
		if !ok {
			continue
		}
		m := x.Monitor()
		h.Events = slices.DeleteFunc(h.Events, func(e history.Event) bool { return !Sees(m, e.Kind) })
		if got := c.Check(h); got.Level != want.Level {
			t.Errorf("%s without the events that its monitor does not see:\n got %+v\nwant %+v", c.Name(), got, want)
		}
	}
}

// long skips a test that takes long, and far longer with the race detector, which it has
// no use for.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long")
	}
}
