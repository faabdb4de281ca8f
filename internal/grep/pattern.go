package grep

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"zksim/internal/edit"
	"zksim/model/history"
)

// Pattern is a list of things that happen in an order.
type Pattern struct {
	clauses []clause
	clients []string // names of variables, as cA
}

// clause is one thing that happens, and its place in the order.
type clause struct {
	before bool // it has not happened between the first and the last that were found
	what   event
}

// event is something that happens.
type event struct {
	words    []primary // any of these
	op       string    // "": any
	path     string    // with * for any text; "": any
	arg      string    // a server or a number; "": any
	failed   bool
	client   int32 // 0: any, or
	variable int   // a variable, from 1
}

// The words for the order of clauses, and words that are only there for readers.
const (
	laterWord  = "later"
	beforeWord = "before"
	ofWord     = "of"
	failedWord = "failed"
)

// Parse reads a pattern like "lose-reply of c1, later c2 acquired, before expiry of c1": clauses separated by commas.
// The first word of a clause may be later, which is the default, or before. Then it has one word that says what
// happens. It may have a client, c1, or a variable, cA, which stands for one client in the whole pattern, and for
// another one than cB does; for an operation its name, one of ops or of ZooKeeper's own; a path with * for any text;
// for a transition or a fault its server, s1, or its number; and failed. An error names the unknown word, and the
// known ones.
func Parse(text string, ops []string) (*Pattern, error) {
	p := &Pattern{}
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		if len(words) == 0 {
			return nil, errors.New("a clause is empty, expected one as \"lose-reply of c1\" between commas")
		}
		c := clause{before: words[0] == beforeWord}
		if words[0] == laterWord || words[0] == beforeWord {
			words = words[1:]
			if len(p.clauses) == 0 {
				return nil, fmt.Errorf("the first clause is what to look for at first, not %q", strings.TrimSpace(part))
			}
		}
		if err := p.event(&c.what, words, ops); err != nil {
			return nil, fmt.Errorf("in %q: %w", strings.TrimSpace(part), err)
		}
		p.clauses = append(p.clauses, c)
	}
	return p, p.bound()
}

// bound returns an error if a variable is only in clauses with before: it would stand for nobody.
func (p *Pattern) bound() error {
	for i, name := range p.clients {
		if !slices.ContainsFunc(p.clauses, func(c clause) bool { return !c.before && c.what.variable == i+1 }) {
			return fmt.Errorf("%s is in no clause that is found, expected one without %s in which it stands for a client", name,
				beforeWord)
		}
	}
	return nil
}

// Clients returns how many clients a run must have for the pattern to be found.
func (p *Pattern) Clients() int {
	n := int32(len(p.clients))
	for i := range p.clauses {
		n = max(n, p.clauses[i].what.client)
	}
	return int(n)
}

// event reads what happens in a clause.
func (p *Pattern) event(e *event, words, ops []string) error {
	for _, word := range words {
		switch {
		case word == ofWord:
		case word == failedWord:
			e.failed = true
		case word[0] == '/' || word[0] == '*':
			if e.path != "" {
				return fmt.Errorf("%.60q is the second path, expected one at most", word)
			}
			e.path = word
		case isClient(word):
			if err := p.client(e, word); err != nil {
				return err
			}
		case argumentOf(word) != nothing && !slices.Contains(ops, word):
			if e.arg != "" {
				return fmt.Errorf("%.60q is one too many behind %s, expected one server or number at most", word, e.arg)
			}
			e.arg = word
		case len(e.words) == 0:
			if err := e.primary(word); err != nil {
				return err
			}
		case e.op == "":
			if err := e.operation(word, ops); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%.60q is one word too many behind %s and %s", word, e.words[0].name, e.op)
		}
	}
	if len(e.words) == 0 {
		return fmt.Errorf("nothing happens, expected one of %s", strings.Join(names(), ", "))
	}
	if e.arg != "" && !slices.ContainsFunc(e.words, func(p primary) bool { return p.has(argumentOf(e.arg)) }) {
		return fmt.Errorf("%s has no %s, expected none behind it", e.words[0].name, argumentOf(e.arg))
	}
	if e.path != "" && !slices.ContainsFunc(e.words, primary.hasPath) {
		return fmt.Errorf("%s has no path, expected none behind it", e.words[0].name)
	}
	if e.failed && !slices.ContainsFunc(e.words, primary.fails) {
		return fmt.Errorf("%s cannot fail, only return, told, reply and write do", e.words[0].name)
	}
	return nil
}

// has reports whether what a word stands for may have such an argument.
func (p primary) has(x argument) bool {
	return p.takes == x || p.class == kindWord && p.kind == history.Fault && x == server
}

// hasPath reports whether what a word stands for may have a path.
func (p primary) hasPath() bool {
	return p.class == kindWord && slices.Contains([]history.Kind{history.Invoke, history.Return, history.Told,
		history.Acquired, history.Call, history.Reply, history.Notify, history.Created, history.Changed, history.Deleted},
		p.kind)
}

// fails reports whether what a word stands for may have failed. What a call comes to is in its reply.
func (p primary) fails() bool {
	return p.class == kindWord && slices.Contains([]history.Kind{history.Return, history.Told, history.Reply,
		history.Write}, p.kind)
}

// Transition returns a word of the pattern that stands only for transitions, which a history does not have; "" if there
// is none.
func (p *Pattern) Transition() string {
	for i := range p.clauses {
		words := p.clauses[i].what.words
		if !slices.ContainsFunc(words, func(w primary) bool { return w.class != transitionWord }) {
			return words[0].name
		}
	}
	return ""
}

// isClient reports whether a word is a client or a variable: c and digits, or c and a capital letter.
func isClient(word string) bool {
	if len(word) < 2 || word[0] != 'c' {
		return false
	}
	return strings.Trim(word[1:], "0123456789") == "" || len(word) == 2 && word[1] >= 'A' && word[1] <= 'Z'
}

func (p *Pattern) client(e *event, word string) error {
	if e.client != 0 || e.variable != 0 {
		return fmt.Errorf("%s is the second client, expected one at most", word)
	}
	if word[1] >= 'A' {
		if i := slices.Index(p.clients, word); i >= 0 {
			e.variable = i + 1
			return nil
		}
		p.clients = append(p.clients, word)
		e.variable = len(p.clients)
		return nil
	}
	n, err := strconv.ParseInt(word[1:], 10, 32)
	if err != nil || n < 1 {
		return fmt.Errorf("clients are c1, c2 and so on, not %.60q", word)
	}
	e.client = int32(n)
	return nil
}

// names returns all words that say what happens.
func names() (list []string) {
	for _, x := range primaries() {
		if !slices.Contains(list, x.name) {
			list = append(list, x.name)
		}
	}
	return list
}

// primary reads the word that says what happens.
func (e *event) primary(word string) error {
	want := []string{word}
	all := primaries()
	for _, x := range all {
		if x.name == word && x.class == aliasWord {
			want = x.any
		}
	}
	for _, x := range all {
		if slices.Contains(want, x.name) && x.class != aliasWord {
			e.words = append(e.words, x)
		}
	}
	if len(e.words) == 0 {
		return fmt.Errorf("nothing is called %.60q, expected one of %s%s", word, strings.Join(names(), ", "),
			edit.Meant(word, names()))
	}
	return nil
}

// operation reads the word after the first.
func (e *event) operation(word string, ops []string) error {
	var known []string
	switch w := e.words[0]; {
	case w.class != kindWord:
		return fmt.Errorf("%s takes a client and no word, not %.60q", w.name, word)
	case w.kind == history.Call || w.kind == history.Reply:
		known = requestNames()
	case w.kind == history.Notify:
		known = eventNames()
	case w.kind == history.Fault:
		known = wordsOf(faultWord)
	case w.kind == history.Session:
		known = wordsOf(stateWord)
	case w.kind == history.Invoke || w.kind == history.Return || w.kind == history.Told:
		known = ops
	default:
		return fmt.Errorf("%s takes a client and a path, and no word, not %.60q", w.name, word)
	}
	if !slices.Contains(known, word) {
		return fmt.Errorf("%s has no %.60q, expected one of %s%s", e.words[0].name, word, strings.Join(known, ", "),
			edit.Meant(word, known))
	}
	e.op = word
	return nil
}
