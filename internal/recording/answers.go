package recording

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios/serve"
	"zksim/sim"
)

// again returns a violation that the recording reported, if the run reproduces it: the znode is left over as before,
// or, for what a test reported, each client got the same answers.
func again(r *serve.Recording, h *history.History) error {
	for _, text := range r.Violations {
		var path string
		var client int32
		if _, err := fmt.Sscanf(text, "left over: %s of c%d,", &path, &client); err == nil {
			if owned(h, path, client) {
				return fmt.Errorf("%s", text)
			}
			continue
		}
		if difference(answered(h), asRecorded(r)) == "" {
			return fmt.Errorf("each client was answered as in the recording, of which was said: %s", text)
		}
	}
	return nil
}

// owned reports whether a client has left such a znode behind, whatever its number.
func owned(h *history.History, path string, client int32) bool {
	return slices.ContainsFunc(h.Tree, func(n history.Node) bool {
		return n.Owner != 0 && h.Sessions[n.Owner] == client && serve.Stem(n.Path) == serve.Stem(path)
	})
}

// NotReproduced says why a run of the recording in a file, with a history without a violation, does not show what the
// recording showed; "" if the recording showed no violation either.
func NotReproduced(file string, h *history.History) (string, error) {
	r, err := read(file)
	switch {
	case err != nil || len(r.Violations)+len(r.Before) == 0:
		return "", err
	case len(r.Violations) == 0:
		return fmt.Sprintf("not reproduced: %s: the recording begins after the last reset", r.Before[0]), nil
	}
	text := difference(answered(h), asRecorded(r))
	if text == "" {
		text = "each client was answered as in the recording"
	}
	return fmt.Sprintf("not reproduced: %s: %s", r.Violations[0], text), nil
}

// difference names the first answer that differs, for the first client with a difference; "" if none differs.
func difference(got, recorded [][]string) string {
	for c := range max(len(got), len(recorded)) {
		a, b := at(got, c), at(recorded, c)
		for i := range max(len(a), len(b)) {
			switch {
			case i >= len(a):
				return fmt.Sprintf("c%d did not make its %s request, in the recording %s", c+1, ordinal(i+1), b[i])
			case i >= len(b):
				return fmt.Sprintf("c%d made a %s request, %s, which is not in the recording", c+1, ordinal(i+1), a[i])
			case a[i] != b[i]:
				return fmt.Sprintf("c%d's %s request was answered %s, in the recording %s", c+1, ordinal(i+1), a[i], b[i])
			}
		}
	}
	return ""
}

// at returns the list of client c, counted from 0; nil if there is none.
func at(lists [][]string, c int) []string {
	if c >= len(lists) {
		return nil
	}
	return lists[c]
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}

// toldAnswer is the Op with which a program records an answer; the text is in Path.
const toldAnswer = "answered"

// answered returns the answers to each client, in the order of its requests.
func answered(h *history.History) [][]string {
	lists := make([][]string, h.Clients)
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Told && e.Op == toldAnswer {
			lists[e.Client-1] = append(lists[e.Client-1], e.Path)
		}
	}
	return lists
}

// compares reports whether the answer to a request is compared.
func compares(q *model.Request) bool { return q.Op != model.OpCloseSession && q.Op != model.OpAuth }

// answer is the text of an answer: the operation, and the error or what was read.
func answer(q *model.Request, errText, read string) string {
	op := strings.Replace(sim.OpName(q), "create2", "create", 1)
	switch {
	case errText != "":
		return op + ": " + errText
	case read != "":
		return op + ": " + read
	}
	return op
}

// asRecorded is answered for a recording.
func asRecorded(r *serve.Recording) [][]string {
	lists := make([][]string, 0, len(r.Requests))
	for _, list := range byClient(r) {
		var texts []string
		for i := range list {
			x := &list[i]
			if !compares(&x.Request) {
				continue
			}
			text := x.Err
			if x.Open {
				text = zk.ErrConnectionClosed.Error()
			}
			texts = append(texts, answer(&x.Request, text, x.Read))
		}
		lists = append(lists, texts)
	}
	return lists
}

// read reads the recording in a file.
func read(file string) (*serve.Recording, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r, err := serve.ReadRecording(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}
