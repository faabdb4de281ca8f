package prove_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"zksim/faults"
)

// A program is about a few of these subjects, since programs that have a little of everything have too many states, and
// seldom enough of anything. (Groce et al., Swarm Testing, ISSTA 2012.)
const (
	watches = 1 << iota
	acls
	multis
	sequences // and ephemerals
	ends      // containers, ttl
	sessions
	times
	timers
	cancels
	goroutines
	pieces
	zxids
	numbers // that look like zxids
	resource
	names
	closes
	conditions
	protected // creates, and multis that create what has no lasting name
	quotas
	rests
	queues // channels that code makes itself
	dials
	loops
	choices
	elections // only where it is asked for: there are too many states to compare outcomes
	subjects  = 24
)

// subjectNames are the names of the subjects.
var subjectNames = [subjects + 1]string{"watches", "acls", "multis", "sequences", "ends", "sessions", "times", "timers",
	"cancels", "goroutines", "pieces", "zxids", "numbers", "resource", "names", "closes", "conditions", "protected",
	"quotas", "rests", "queues", "dials", "loops", "choices", "elections"}

// generator makes a program.
type generator struct {
	*rand.Rand
	p      *program
	about  int
	regs   []string // of the client that have a value
	chans  []string // the same, with a channel
	ctxs   []string
	marks  []string // registers with a zxid as a number
	tokens bool     // those of the resource are zxids
	brief  bool     // timers are
	open   bool     // a piece may keep a context that faults cancel: with a second one no search can tell which it is
	fresh  int      // register
	temps  int      // the same
	inner  string   // "piece" in a piece, "if" where it is not certain that it is run
	in     int      // goroutine
	left   int      // statements of the client
}

// generate makes the program of a seed, about these subjects and others.
func generate(seed uint64, about int) *program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), p: &program{servers: 1, order: 1, most: -1}, about: about}
	g.tokens, g.brief = g.chance(2), g.chance(3)
	for range 1 + g.IntN(3) {
		g.about |= 1 << g.IntN(subjects)
	}
	g.scope()
	for id := range 2 + g.IntN(16)/15 {
		g.regs, g.chans, g.ctxs, g.marks, g.fresh, g.temps, g.inner, g.in = nil, nil, nil, nil, 0, 0, "", 0
		g.open = false
		g.left = 2 + g.IntN(4)
		if id > 0 {
			g.left = 1 + g.IntN(4)
		}
		g.p.clients = append(g.p.clients, g.block())
	}
	g.p.flags.keeper = g.chance(20)
	other := !g.p.flags.keeper && g.chance(10)
	g.p.flags.newer = other && g.chance(2)
	g.p.flags.older = other && !g.p.flags.newer
	return g.p
}

func (g *generator) has(subject int) bool { return g.about&subject != 0 }

// chance is one in n.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

// scope draws what else the scope has.
func (g *generator) scope() {
	p := g.p
	p.order = 1 + g.Uint64N(9)
	if g.chance(20) || g.has(elections) {
		p.servers = 3
	}
	if g.chance(4) || g.has(timers|times) && g.chance(2) {
		p.ticks = 1 + g.IntN(2)
	}
	p.flags = flags{slowWakes: g.chance(8), offline: g.chance(12) || g.has(closes) && g.chance(3),
		interleave: g.chance(12), told: g.chance(6), times: g.has(times) && g.chance(2),
		fenced: g.has(resource) && g.chance(2)}
	for _, path := range []string{"/a", "/b"} {
		if path == "/a" && !g.chance(4) || path == "/b" && g.chance(3) {
			p.setup = append(p.setup, path)
		}
	}
	if g.chance(2) || g.has(closes|elections) {
		p.faults = g.plan()
	}
	if g.has(cancels) {
		p.faults = append(p.faults, faults.Rule{Fault: "cancel", Budget: 1})
	}
	if g.has(quotas) {
		p.setup = []string{"/a", "/zookeeper/quota/a", quotaLimits, quotaStats}
	}
	p.most = min(1+g.IntN(5)/4, len(p.faults))
	if g.has(sequences) && g.chance(8) && slices.Contains(p.setup, "/a") {
		p.faults = append(p.faults, faults.Rule{Fault: "sequence", Budget: g.IntN(2), Aim: faults.Aim{Path: "/a"}})
	}
}

// plan draws up to two rules.
func (g *generator) plan() (plan faults.Plan) {
	common := []string{"disconnect", "lose-reply", "lose-request", "crash", "expire"}
	for range 1 + g.IntN(2) {
		name := pick(g, common...)
		if g.chance(2) {
			name = faults.Table[g.IntN(len(faults.Table)-1)].Name // without sequence
		}
		if g.has(elections) && len(plan) == 0 {
			name = pick(g, "depose", "elect", "failover", "late-commit", "zombie", "stale-read", "late-request", "learn-late")
		} else if len(plan) > 0 && g.chance(3) {
			name = plan[0].Fault
		}
		word := fmt.Sprintf("%s=%d", name, 1+g.IntN(8)/7)
		aims := ""
		if g.chance(2) {
			aims += fmt.Sprintf(",client=c%d", 1+g.IntN(2))
		}
		if g.chance(2) {
			aims += pick(g, ",op="+pick(g, faults.Ops...), ",op="+pick(g, "create", "set", "get"), ",path=/a",
				fmt.Sprint(",nth=", 1+g.IntN(2)), ",op="+pick(g, "create", "set", "get")+",path=/a,nth=2",
				",path="+pick(g, "/a", "/b")+",nth=1")
		}
		if aims != "" {
			aims = "@" + aims[1:]
		}
		rule, err := faults.Parse(word + aims)
		if err != nil { // it strikes no request
			rule, _ = faults.Parse(word)
		}
		plan = append(plan, rule...)
	}
	return plan
}

// block makes statements until the client has enough of them.
func (g *generator) block() (list []stmt) {
	for g.left > 0 {
		g.left--
		list = append(list, g.statement()...)
	}
	return list
}

// some is block of a few of the statements that are left, or of one.
func (g *generator) some() []stmt {
	rest := g.left
	g.left = 1 + g.IntN(max(1, rest))
	rest = max(0, rest-g.left)
	list := g.block()
	g.left = rest
	return list
}

// statement makes the next statement, or a few that belong together.
func (g *generator) statement() []stmt {
	type choice struct {
		subject int
		make    func() []stmt
	}
	all := []choice{{0, g.plain}, {0, g.plain}, {watches, g.watch}, {watches, g.wait}, {acls, g.acl},
		{multis, g.multi}, {sequences, g.sequence}, {ends, g.mortal}, {sessions, g.session}, {times, g.time},
		{timers, g.timer}, {timers, g.wait}, {timers, g.within},
		{cancels, g.cancel}, {cancels, g.within}, {goroutines, g.goroutine}, {pieces, g.piece},
		{zxids, g.zxid}, {numbers, g.number}, {resource, g.access}, {names, g.name}, {closes, g.close},
		{conditions, g.condition}, {protected, g.protect}, {protected, g.multi}, {quotas, g.quota},
		{rests, g.rest}, {queues, g.queue}, {queues, g.wait}, {dials, g.dial}, {loops, g.loop}, {choices, g.choose}}
	for {
		if c := pick(g, all...); c.subject == 0 || g.has(c.subject) {
			if list := c.make(); list != nil {
				return list
			}
		}
	}
}

// st makes a statement without a result.
func st(words ...any) []stmt { return []stmt{statement(text(words))} }

func text(words []any) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = fmt.Sprint(w)
	}
	return list
}

// to makes a statement whose result goes to a register.
func (g *generator) to(words ...any) []stmt {
	var name string
	switch {
	case g.inner == "piece" && !g.chance(3):
		g.temps = g.temps%9 + 1
		name = fmt.Sprint("t", g.temps)
	case g.fresh > 0 && (g.chance(6) || g.has(goroutines) && g.chance(3)):
		name = fmt.Sprint("r", 1+g.IntN(g.fresh))
	default:
		g.fresh = min(g.fresh+1, 9)
		name = fmt.Sprint("r", g.fresh)
	}
	list := st(append(words, "->", name)...)
	g.regs = append(g.regs, name)
	g.marks = slices.DeleteFunc(g.marks, func(x string) bool { return x == name })
	switch words[0] {
	case "zxid":
		g.marks = append(g.marks, name)
	case "getw", "existsw", "childrenw", "events", "make":
		g.chans = append(g.chans, name)
	}
	return list
}

func (g *generator) path() string { return pick(g, "/a", "/a", "/a", "/b", "/a/x") }

// data is what to write.
func (g *generator) data() string {
	if len(g.regs) == 0 || g.chance(2) {
		return fmt.Sprint(1 + g.IntN(2))
	}
	fields := []string{".data", ".data+1", ".text", ".version"}
	if g.has(zxids | numbers | choices) {
		fields = append(fields, ".m", ".c", ".n", ".n")
	}
	return pick(g, g.regs...) + pick(g, fields...)
}

func (g *generator) version() string {
	if len(g.regs) > 0 && g.chance(3) {
		return pick(g, g.regs...) + ".version"
	}
	return pick(g, "-1", "-1", "0", "1")
}

func (g *generator) plain() []stmt {
	switch g.IntN(9) {
	case 0, 1:
		return g.to("create", g.path(), g.data(), "-", "any")
	case 2:
		return g.to("delete", g.path(), g.version())
	case 3, 4:
		return g.to("set", g.path(), g.data(), g.version())
	case 5, 6:
		return g.to("get", g.path())
	case 7:
		return g.to(pick(g, "exists", "children"), g.path())
	default:
		return g.to(pick(g, "exists", "children", "sync", "getacl"), g.path())
	}
}

func (g *generator) watch() []stmt {
	return g.to(pick(g, "getw", "getw", "existsw", "childrenw"), g.path())
}

func (g *generator) ctx() string {
	if len(g.ctxs) == 0 || g.chance(3) {
		return "bg"
	}
	return pick(g, g.ctxs...)
}

// wait waits for channels or looks at them.
func (g *generator) wait() []stmt {
	switch {
	case len(g.chans) == 0 && len(g.ctxs) == 0:
		return nil
	case len(g.chans) == 0:
		return g.to("await", pick(g, g.ctxs...))
	case len(g.chans) > 1 && g.chance(3):
		return g.to("await", g.ctx(), pick(g, g.chans...), pick(g, g.chans...))
	case g.chance(4):
		return append(st("step"), g.to("len", pick(g, g.chans...))...)
	default:
		return g.to("await", g.ctx(), g.chans[len(g.chans)-1])
	}
}

func (g *generator) acl() []stmt {
	acl := pick(g, "any", "read", "u1", "u2", "auth")
	switch g.IntN(6) {
	case 0, 1:
		return g.to("create", g.path(), g.data(), "-", acl)
	case 2:
		return g.to("setacl", g.path(), acl, g.version())
	case 3:
		return g.to("getacl", g.path())
	case 4:
		if len(g.regs) > 0 {
			return st("close-list", pick(g, g.regs...))
		}
		fallthrough
	default:
		return g.to("auth", pick(g, "u1", "u1", "u1", "u1", "u2", "u2", "none"))
	}
}

func (g *generator) multi() []stmt {
	words := []any{"multi"}
	for range 1 + g.IntN(2) {
		switch path := g.path(); g.IntN(4) {
		case 0:
			word := fmt.Sprintf("create:%s:%s", path, g.data())
			if g.has(protected) {
				word = fmt.Sprintf("create:%s:%s:%s", pick(g, path, "/a/s"), g.data(), pick(g, "e", "s", "es"))
			}
			words = append(words, word)
		case 1:
			words = append(words, fmt.Sprintf("set:%s:%s:%s", path, g.data(), g.version()))
		case 2:
			words = append(words, fmt.Sprintf("delete:%s:%s", path, g.version()))
		default:
			words = append(words, fmt.Sprintf("check:%s:%s", path, g.version()))
		}
	}
	return g.to(words...)
}

func (g *generator) sequence() []stmt {
	if g.chance(2) {
		return g.to("create", pick(g, "/a/x", "/b"), g.data(), "e", "any")
	}
	list := g.to("create", "/a/s", g.data(), pick(g, "s", "es"), "any")
	if name := g.regs[len(g.regs)-1]; g.chance(3) {
		list = append(list, g.to(pick(g, "get", "exists", "delete"), name)...)
		if s := &list[1]; s.op() == "delete" {
			list[1] = statement(slices.Insert(slices.Clone(s.words), 2, "-1"))
		}
	}
	return list
}

func (g *generator) mortal() []stmt {
	switch g.IntN(4) {
	case 0, 1:
		return g.to("create", pick(g, "/a/x", "/b"), g.data(), pick(g, "c", "t"), "any")
	case 2:
		return g.to("create", "/b/y", g.data(), "-", "any")
	default:
		return g.to("delete", "/b/y", "-1")
	}
}

func (g *generator) session() []stmt {
	switch g.IntN(4) {
	case 0:
		return g.to(pick(g, "session", "state"))
	case 1, 2:
		return g.to("events")
	default:
		if len(g.chans) == 0 {
			return nil
		}
		return append(st("step"), g.to("len", pick(g, g.chans...))...)
	}
}

func (g *generator) time() []stmt {
	if len(g.regs) == 0 || g.chance(4) {
		return g.to("now")
	}
	if g.chance(2) {
		return g.to("older", pick(g, g.regs...), pick(g, g.regs...))
	}
	return g.to("lapsed", pick(g, g.regs...), pick(g, "400ms", "900ms"))
}

func (g *generator) duration() string {
	if g.brief {
		return pick(g, "1ms", "2ms", "3ms", "2999us")
	}
	return pick(g, "500ms", "1s", "1500ms")
}

func (g *generator) timer() []stmt {
	switch {
	case g.chance(3) || g.inner == "if":
		return g.to("sleep", g.ctx(), g.duration())
	case len(g.ctxs) == 0 || g.chance(2):
		k := fmt.Sprint("k", 1+min(len(g.ctxs), 2))
		of := g.ctx()
		if g.chance(4) && len(g.regs) > 0 { // with a value
			of += "+" + pick(g, g.regs...)
		}
		list := st("timeout", k, g.duration(), of)
		g.ctxs = append(g.ctxs, k)
		return list
	default:
		return g.to(pick(g, "err", "err", "deadline", "value"), pick(g, g.ctxs...))
	}
}

func (g *generator) cancel() []stmt {
	switch {
	case len(g.ctxs) < 2 && g.inner != "if" && (len(g.ctxs) == 0 || !g.open && g.chance(3)):
		g.open = g.has(pieces)
		k := fmt.Sprint("k", 1+len(g.ctxs))
		g.ctxs = append(g.ctxs, k)
		return st("interruptible", k)
	case len(g.ctxs) == 0:
		return nil
	case g.chance(3) && g.inner != "if":
		return st("cancel", pick(g, g.ctxs...))
	default:
		return append(st("step"), g.to("err", pick(g, g.ctxs...))...)
	}
}

// within waits for an answer no longer than a context allows.
func (g *generator) within() []stmt {
	if len(g.ctxs) == 0 {
		return nil
	}
	list := g.plain()
	if g.has(watches) && g.chance(2) {
		list = g.watch()
	}
	return []stmt{statement(append([]string{"within", pick(g, g.ctxs...)}, list[0].words...))}
}

func (g *generator) goroutine() []stmt {
	switch {
	case g.chance(4):
		return st("step")
	case len(g.regs) > 0 && g.chance(3):
		return g.to("copy", pick(g, g.regs...))
	case g.in > 0 && !g.chance(4):
		return nil
	}
	inner, regs, chans, marks := g.inner, g.regs, g.chans, g.marks
	if inner != "" { // what the piece has for itself is not for others
		g.inner = "if"
		g.regs, g.chans, g.marks = lasting(regs), lasting(chans), lasting(marks)
	}
	g.in++
	list := []stmt{statement([]string{"go"}, g.some()...)}
	if g.in, g.inner = g.in-1, inner; inner != "" {
		g.regs, g.chans = append(g.regs, regs...), append(g.chans, chans...)
	}
	return list
}

// lasting returns the registers of a list that are not those of a piece.
func lasting(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name[0] == 't' })
}

// piece says what it keeps.
func (g *generator) piece() []stmt {
	switch {
	case g.inner == "piece" && g.chance(4):
		return st("answer-for", g.path())
	case g.inner == "piece" && len(g.regs) > 0:
		op, cond := pick(g, "existsw", "getw", "exists", "get"), pick(g, g.regs...)+pick(g, ".ok", ".err", ".data=1")
		g.fresh = min(g.fresh+1, 9)
		name := fmt.Sprint("r", g.fresh)
		g.regs = append(g.regs, name)
		if op[len(op)-1] == 'w' {
			g.chans = append(g.chans, name)
		}
		return st("fork", op, cond, "/a", pick(g, "/b", "/a/x"), "->", name)
	case g.inner != "":
		return nil
	}
	g.inner = "piece"
	g.left += 1 + g.IntN(2)
	body := g.some()
	loop := g.chance(4)
	if loop {
		body = append(st("keep", g.wiped(body)), body...)
		body = []stmt{statement([]string{"repeat"}, body...)}
	}
	list := []stmt{statement([]string{"piece"}, body...)}
	g.inner = ""
	g.chans, g.regs, g.marks = lasting(g.chans), lasting(g.regs), lasting(g.marks)
	return list
}

// wiped is a word that names the temporary registers of a block.
func (g *generator) wiped(body []stmt) string {
	word := ""
	for _, name := range statement([]string{""}, body...).names {
		if name[0] == 't' {
			word += name + ","
		}
	}
	return word
}

func (g *generator) zxid() []stmt {
	if len(g.regs) == 0 {
		return nil
	}
	one := func() string {
		if len(g.marks) > 0 && g.chance(3) {
			return pick(g, g.marks...) + ".n"
		}
		return pick(g, g.regs...) + pick(g, ".c", ".m", ".p")
	}
	if g.chance(3) {
		return g.to("zxid", pick(g, g.regs...)+pick(g, ".c", ".m", ".p"))
	}
	return g.to("less", one(), one())
}

func (g *generator) number() []stmt {
	switch {
	case len(g.regs) == 0 || g.chance(3):
		return g.to("lookalike", g.IntN(8))
	case g.chance(2):
		return g.to("lookalike", pick(g, g.regs...)+".version")
	}
	return st("tell", pick(g, g.regs...)+".n")
}

// access uses the guarded resource, in some programs with zxids, in others with other numbers: these cannot be
// compared.
func (g *generator) access() []stmt {
	switch {
	case !g.tokens:
		return g.to("access", 1+g.IntN(5))
	case len(g.regs) == 0:
		return nil
	case g.chance(3):
		return st("acquire", g.path(), pick(g, g.regs...)+".c")
	default:
		return g.to("access", pick(g, g.regs...)+pick(g, ".c", ".m"))
	}
}

func (g *generator) name() []stmt { return g.to("uuid") }

func (g *generator) choose() []stmt { return g.to("choose", 1+g.IntN(3)) }

func (g *generator) close() []stmt {
	if g.left == 0 || g.chance(2) {
		return st("close")
	}
	return nil
}

func (g *generator) condition() []stmt {
	if len(g.regs) == 0 || g.inner == "if" {
		return nil
	}
	cond := pick(g, "", "!") + pick(g, g.regs...) + pick(g, ".ok", ".err", ".err", ".data=1", ".version=1", ".n=0")
	inner := g.inner
	g.inner = "if"
	g.left++
	list := []stmt{statement([]string{"if", cond}, g.some()...)}
	g.inner = inner
	return list
}
