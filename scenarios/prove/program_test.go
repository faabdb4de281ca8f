package prove_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"zksim/faults"
)

// program is what a few clients do, and the scope in which all schedules of it are explored, as plain data. It
// prints as text, comes back from that, and statements can be left out of it. The text is
//
//	servers 1
//	order 7
//	ticks 1
//	most 1
//	scope slow-wakes
//	faults disconnect=1
//	setup /a
//	c1:
//	  create /a/x 1 e any -> r1
//	  piece {
//	    getw /a -> t1
//	    await bg t1 -> r2
//	  }
//	c2:
//	  set /a r1.data+1 -1 -> r1
//
// and "#" starts a comment. What the statements do is in interpret_test.go. A client has the registers r1 to r9,
// those of a piece t1 to t9, and the contexts k1 to k3 (and bg).
type program struct {
	servers int
	order   uint64
	ticks   int
	most    int // faults in one run; less than 0: as many as the plan allows
	flags   flags
	faults  faults.Plan
	setup   []string // znodes that there are
	clients [][]stmt
}

// flags are words of the line "scope".
type flags struct {
	slowWakes, offline, interleave bool
	told                           bool // each result is an event that a checker looks at
	times                          bool // the outcome tells the times of stats
	fenced                         bool // checkers.Fenced judges as well
	keeper                         bool // the servers are like ClickHouse Keeper
	newer                          bool // ... like ZooKeeper 3.9
	older                          bool // ... like ZooKeeper 3.6
}

func (f *flags) words() map[string]*bool {
	return map[string]*bool{"slow-wakes": &f.slowWakes, "offline": &f.offline, "interleave": &f.interleave,
		"told": &f.told, "times": &f.times, "fenced": &f.fenced, "keeper": &f.keeper, "newer": &f.newer,
		"older": &f.older}
}

// stmt is a statement: an operation with its operands, and what is in its braces.
type stmt struct {
	words []string
	body  []stmt

	target string   // register for the result; "" for none
	names  []string // registers and contexts that it mentions, the ones in its body included
}

// statement makes a statement of its words.
func statement(words []string, body ...stmt) stmt {
	s := stmt{words: words, body: body}
	if n := len(words); n > 2 && words[n-2] == "->" {
		s.target = words[n-1]
	}
	for _, w := range words {
		s.names = append(s.names, nameOf.FindAllString(w, -1)...)
	}
	for _, x := range body {
		s.names = append(s.names, x.names...)
	}
	slices.Sort(s.names)
	s.names = slices.Compact(s.names)
	return s
}

// nameOf finds registers and contexts in a word.
var nameOf = regexp.MustCompile(`\b[rtk][1-9]\b`)

func (s *stmt) op() string { return s.words[0] }

// args are the operands.
func (s *stmt) args() []string {
	if s.target != "" {
		return s.words[1 : len(s.words)-2]
	}
	return s.words[1:]
}

// any reports whether f holds for a statement of a list, or in the braces of one.
func anyOf(list []stmt, f func(*stmt) bool) bool {
	for i := range list {
		if f(&list[i]) || anyOf(list[i].body, f) {
			return true
		}
	}
	return false
}

// String is the text of a program.
func (p *program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "servers %d\norder %d\nticks %d\nmost %d\n", p.servers, p.order, p.ticks, p.most)
	var on []string
	for word, flag := range p.flags.words() {
		if *flag {
			on = append(on, word)
		}
	}
	if slices.Sort(on); len(on) > 0 {
		fmt.Fprintf(&b, "scope %s\n", strings.Join(on, " "))
	}
	fmt.Fprintf(&b, "faults %s\nsetup %s\n", p.faults, strings.Join(p.setup, " "))
	for i, c := range p.clients {
		fmt.Fprintf(&b, "c%d:\n", i+1)
		printAll(&b, c, "  ")
	}
	return b.String()
}

func printAll(b *strings.Builder, list []stmt, indent string) {
	for _, s := range list {
		b.WriteString(indent + strings.Join(s.words, " "))
		if s.block() {
			b.WriteString(" {\n")
			printAll(b, s.body, indent+"  ")
			b.WriteString(indent + "}")
		}
		b.WriteByte('\n')
	}
}

// block reports whether a statement has braces.
func (s *stmt) block() bool {
	return slices.Contains([]string{"if", "go", "piece", "repeat", "until"}, s.op())
}

// parseProgram reads the text of a program.
func parseProgram(text string) (*program, error) {
	p := &program{servers: 1, most: -1}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		words := wordsOf(lines[i])
		if len(words) == 0 {
			continue
		}
		if words[0] == fmt.Sprintf("c%d:", len(p.clients)+1) {
			list, next, err := parseAll(lines, i+1)
			if err != nil {
				return nil, err
			}
			p.clients = append(p.clients, list)
			i = next - 1
			continue
		}
		if err := p.set(words); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return p, nil
}

func wordsOf(line string) []string {
	line, _, _ = strings.Cut(line, "#")
	return strings.Fields(line)
}

// set reads a line of the head.
func (p *program) set(words []string) (err error) {
	value := strings.Join(words[1:], " ")
	switch words[0] {
	case "servers":
		p.servers, err = strconv.Atoi(value)
	case "order":
		p.order, err = strconv.ParseUint(value, 10, 64)
	case "ticks":
		p.ticks, err = strconv.Atoi(value)
	case "most":
		p.most, err = strconv.Atoi(value)
	case "faults":
		p.faults, err = faults.Parse(value)
	case "setup":
		p.setup = words[1:]
	case "scope":
		for _, w := range words[1:] {
			flag := p.flags.words()[w]
			if flag == nil {
				return fmt.Errorf("there is no scope %q, expected slow-wakes, offline, interleave, told, times, "+
					"fenced, keeper, newer or older", w)
			}
			*flag = true
		}
	default:
		return fmt.Errorf("%q, expected servers, order, ticks, most, scope, faults, setup or a client", words[0])
	}
	return err
}

// parseAll reads statements up to the line that ends them, which is a brace, the name of a client or the end.
func parseAll(lines []string, at int) (list []stmt, next int, err error) {
	for at < len(lines) {
		words := wordsOf(lines[at])
		if len(words) == 0 {
			at++
			continue
		}
		if words[0] == "}" || strings.HasSuffix(words[0], ":") {
			break
		}
		at++
		if words[len(words)-1] != "{" {
			list = append(list, statement(words))
			continue
		}
		body, next, err := parseAll(lines, at)
		if err != nil {
			return nil, next, err
		}
		if next == len(lines) || wordsOf(lines[next])[0] != "}" {
			return nil, next, fmt.Errorf("line %d: the brace is not closed", at)
		}
		list = append(list, statement(words[:len(words)-1], body...))
		at = next + 1
	}
	return list, at, nil
}

// forgets reports whether a client says what it keeps.
func forgets(list []stmt) bool {
	return anyOf(list, func(s *stmt) bool { return s.op() == "piece" || s.op() == "keep" })
}

// shared returns the registers and contexts of a client that several of its goroutines mention.
func shared(list []stmt) map[string]bool {
	set, by := map[string]bool{}, map[string]*stmt{}
	var visit func(list []stmt, in *stmt)
	visit = func(list []stmt, in *stmt) {
		for i := range list {
			s := &list[i]
			if s.op() == "go" {
				visit(s.body, s)
				continue
			}
			own := statement(s.words)
			for _, name := range own.names {
				if at, known := by[name]; known && at != in {
					set[name] = true
				}
				by[name] = in
			}
			visit(s.body, in)
		}
	}
	visit(list, nil)
	return set
}

// smaller returns programs with something left out, the ones with much left out first.
func (p *program) smaller() []*program {
	var list []*program
	with := func(change func(q *program)) {
		q := *p
		q.faults, q.clients, q.setup = slices.Clone(p.faults), slices.Clone(p.clients), slices.Clone(p.setup)
		change(&q)
		list = append(list, &q)
	}
	if n := len(p.clients); n > 1 {
		with(func(q *program) { q.clients, q.faults = q.clients[:n-1], q.faults.Without(n) })
	}
	for i, c := range p.clients {
		for _, less := range without(c) {
			with(func(q *program) { q.clients[i] = less })
		}
	}
	for i, r := range p.faults {
		with(func(q *program) { q.faults = slices.Delete(q.faults, i, i+1) })
		if r.Budget > 1 {
			with(func(q *program) { q.faults[i].Budget-- })
		}
	}
	for i := range p.setup {
		with(func(q *program) { q.setup = slices.Delete(q.setup, i, i+1) })
	}
	if p.servers > 1 {
		with(func(q *program) { q.servers = 1 })
	}
	if p.ticks > 0 {
		with(func(q *program) { q.ticks-- })
	}
	if p.order != 1 {
		with(func(q *program) { q.order = 1 })
	}
	for word, flag := range p.flags.words() {
		if *flag {
			with(func(q *program) { *q.flags.words()[word] = false })
		}
	}
	return list
}

// plainest are the plainest operands of some statements.
var plainest = map[string][]string{"create": {"", "1", "-", "any"}, "set": {"", "1", "-1"}, "delete": {"", "-1"},
	"setacl": {"", "any", "-1"}, "await": {"bg"}, "sleep": {"bg", "1s"}, "timeout": {"", "1s", "bg"}, "access": {"1"},
	"protected": {"", "1"}}

// without returns the lists with one statement less, or with a block replaced by what is in it, or with something
// in it left out.
func without(list []stmt) (all [][]stmt) {
	splice := func(i int, with ...stmt) []stmt {
		return slices.Concat(list[:i], with, list[i+1:])
	}
	for i, s := range list {
		all = append(all, splice(i))
		if s.block() {
			all = append(all, splice(i, s.body...))
		}
		for _, less := range without(s.body) {
			all = append(all, splice(i, statement(s.words, less...)))
		}
		for k, word := range plainest[s.op()] {
			if word != "" && len(s.words) > k+1 && s.words[k+1] != word {
				words := slices.Clone(s.words)
				words[k+1] = word
				all = append(all, splice(i, statement(words)))
			}
		}
	}
	return all
}
