package prove_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// register is what code has of a result.
type register struct {
	ok    bool
	err   error
	data  []byte
	text  string
	stat  zk.Stat
	names []string
	acl   []zk.ACL
	ch    <-chan zk.Event
	own   chan zk.Event // ch, if code has made it
	ended bool          // ... and closed it
	event zk.Event
	n     int64
	zxid  bool // n is one
}

// key is that of the value of a context.
type key struct{}

// machine is a client that runs its part of a program.
type machine struct {
	*engine.Process
	program *program
	object  engine.Object
	client  *client
	regs    [2][10]*register // r and t; nil: not used so far
	ctxs    [4]context.Context
	cancels [4]func()
	live    int // goroutines
	second  *engine.Process
}

// client is what is known of the part of a client before it is run.
type client struct {
	list    []stmt
	lasting []string        // registers and contexts that it has, without those of pieces
	shared  map[string]bool // by several goroutines, if it says what it keeps
}

func clientOf(list []stmt) client {
	c := client{list: list, lasting: lasting(statement(nil, list...).names)}
	if forgets(list) {
		c.shared = shared(list)
	}
	return c
}

// scenario makes a scenario of a program.
func (p *program) scenario() *engine.Scenario {
	s := &engine.Scenario{Name: "program", Clients: len(p.clients), Servers: []int{p.servers}, Faults: p.faults}
	for _, path := range p.setup {
		s.Setup = append(s.Setup, model.Request{Op: model.OpCreate, Path: path, ACL: zk.WorldACL(zk.PermAll)})
	}
	clients := make([]client, len(p.clients))
	for i, list := range p.clients {
		clients[i] = clientOf(list)
		if anyOf(list, func(s *stmt) bool { return s.op() == "dial" }) {
			s.Dials = 1
		}
	}
	s.Program = func(x *engine.Process) {
		m := &machine{Process: x, program: p, live: 1, client: &clients[x.ID-1]}
		m.object = x.Register(nil)
		m.block(m.client.list, place{main: true})
		m.end()
	}
	return s
}

// end ends a goroutine. The last one writes down what the client has seen and made of it.
func (m *machine) end() {
	if m.live--; m.live > 0 {
		return
	}
	text := m.String()
	for _, cancel := range m.cancels {
		if cancel != nil {
			cancel()
		}
	}
	m.Fail(errors.New(text))
}

// place is where in a program a statement is run.
type place struct {
	main  bool // by the first goroutine of the client
	round *int // of the loop around it; nil: there is none
}

// block runs statements.
func (m *machine) block(list []stmt, at place) {
	for i := range list {
		s := &list[i]
		if !at.main && m.client.shared != nil && s.op() != "go" { // what others have written it has to look at
			for _, name := range s.names {
				if m.client.shared[name] {
					recipes.Forget(m.Env)(m.kept(name))
				}
			}
		}
		m.run(s, at)
	}
}

// run runs a statement.
func (m *machine) run(s *stmt, at place) {
	a := s.args()
	switch s.op() {
	case "if":
		if m.holds(a[0]) {
			m.block(s.body, at)
		}
	case "repeat":
		for round := range 2 {
			m.block(s.body, place{at.main, &round})
		}
	case "until":
		for round := 0; round < 3 && (round == 0 || !m.holds(a[0])); round++ {
			m.block(s.body, place{at.main, &round})
		}
	case "piece":
		end := recipes.Forget(m.Env)
		m.block(s.body, at)
		m.wipe(s.names)
		end(m.all(s.names)...)
	case "keep":
		m.wipe(s.names)
		recipes.Keep(m.Env, append(m.all(m.client.lasting), at.round)...)
	case "go":
		m.live++
		m.Env.Go("g", func() {
			m.block(s.body, place{})
			m.end()
		})
	case "step", "rest", "close", "dial", "other":
		m.connection(s.op())
	case "send", "end":
		m.queue(s.op(), a)
	case "fork": // what is to be done shows in the request
		path, x := a[3], m.reg(s.target)
		if m.holds(a[1]) {
			path = a[2]
		}
		m.live++
		m.Env.Go("f", func() {
			y := register{}
			m.read(a[0], []string{path}, &y)
			*x = y
			m.end()
		})
	case "timeout", "interruptible", "cancel":
		m.context(s.op(), a)
	default:
		x := register{}
		if !m.read(s.op(), a, &x) && !m.write(s.op(), a, &x) && !m.other(s.op(), a, &x) {
			panic("no such statement: " + strings.Join(s.words, " "))
		}
		if s.target != "" {
			*m.reg(s.target) = x
		}
		if m.program.flags.told {
			m.object.Record(history.Event{Kind: history.Told, Op: s.op() + " " + x.describe(nil, false)})
		}
	}
}

// read runs a statement that asks the servers for something.
func (m *machine) read(op string, a []string, x *register) bool {
	var stat *zk.Stat
	switch op {
	case "get":
		x.data, stat, x.err = m.Conn.Get(m.path(a[0]))
	case "getw":
		x.data, stat, x.ch, x.err = m.Conn.GetW(m.path(a[0]))
	case "exists":
		x.ok, stat, x.err = m.Conn.Exists(m.path(a[0]))
	case "existsw":
		x.ok, stat, x.ch, x.err = m.Conn.ExistsW(m.path(a[0]))
	case "children":
		x.names, stat, x.err = m.Conn.Children(m.path(a[0]))
	case "childrenw":
		x.names, stat, x.ch, x.err = m.Conn.ChildrenW(m.path(a[0]))
	case "getacl":
		x.acl, stat, x.err = m.Conn.GetACL(m.path(a[0]))
	case "sync":
		x.text, x.err = m.Conn.Sync(m.path(a[0]))
	default:
		return false
	}
	if stat != nil {
		x.stat = *stat
	}
	return true
}

// write runs a statement that changes something on the servers.
func (m *machine) write(op string, a []string, x *register) bool {
	var stat *zk.Stat
	switch op {
	case "create":
		path, data, acl := m.path(a[0]), m.data(a[1]), aclOf(a[3])
		switch a[2] {
		case "c":
			x.text, x.err = m.Conn.CreateContainer(path, data, zk.FlagContainer, acl)
		case "t":
			x.text, x.err = m.Conn.CreateTTL(path, data, zk.FlagTTL, acl, 500*time.Millisecond)
		default:
			x.text, x.err = m.Conn.Create(path, data, flagsOf[a[2]], acl)
		}
	case "protected":
		x.text, x.err = m.Conn.CreateProtectedEphemeralSequential(m.path(a[0]), m.data(a[1]), aclOf("any"))
	case "delete":
		x.err = m.Conn.Delete(m.path(a[0]), m.version(a[1]))
	case "set":
		stat, x.err = m.Conn.Set(m.path(a[0]), m.data(a[1]), m.version(a[2]))
	case "setacl":
		stat, x.err = m.Conn.SetACL(m.path(a[0]), aclOf(a[1]), m.version(a[2]))
	case "auth":
		scheme := "digest"
		if a[0] == "none" { // which no server knows
			scheme = a[0]
		}
		x.err = m.Conn.AddAuth(scheme, []byte(a[0]+":p"))
	case "multi":
		ops := make([]any, len(a))
		for i := range a {
			ops[i] = m.part(strings.Split(a[i], ":"))
		}
		var list []zk.MultiResponse
		list, x.err = m.Conn.Multi(ops...)
		for _, y := range list {
			x.names = append(x.names, fmt.Sprint(y.String, y.Error))
			if y.Stat != nil {
				x.stat = *y.Stat
			}
		}
	default:
		return false
	}
	if stat != nil {
		x.stat = *stat
	}
	return true
}

// other runs a statement that concerns the client itself.
func (m *machine) other(op string, a []string, x *register) bool {
	switch op {
	case "session":
		x.n = m.Conn.SessionID()
	case "state":
		x.text = m.Conn.State().String()
	case "now":
		x.n = m.Env.Now().UnixMilli()
	case "sleep":
		x.err = m.Env.Sleep(m.ctx(a[0]), duration(a[1]))
	case "await":
		var chans []<-chan zk.Event
		for _, name := range a[1:] {
			chans = append(chans, m.reg(name).ch)
		}
		var i int
		i, x.event, x.err = m.Env.Await(m.ctx(a[0]), chans...)
		x.n = int64(i)
	case "events":
		x.ch = m.Env.SessionEvents()
	case "make":
		x.own = make(chan zk.Event, m.version(a[0]))
		x.ch = x.own
	case "len":
		x.n = int64(len(m.reg(a[0]).ch))
	case "err":
		x.err = m.ctx(a[0]).Err()
	case "deadline":
		at, _ := m.ctx(a[0]).Deadline()
		x.text = at.Format(time.StampNano)
	case "value":
		x.text, _ = m.ctx(a[0]).Value(key{}).(string)
	case "answer-for":
		m.Register(func() []string { return []string{a[0]} })
	case "close-list": // which nobody else has
		for i := range m.reg(a[0]).acl {
			m.reg(a[0]).acl[i].Perms = 0
		}
	case "choose":
		x.n = int64(m.Choose(int(m.version(a[0]))))
	case "uuid":
		x.text = m.Env.UUID()[:6]
	case "within":
		m.within(m.ctx(a[0]), a[1], a[2:], x)
	case "lookalike": // a number that is no zxid
		x.n = int64(m.ID)<<32 | int64(m.version(a[0]))
	case "copy":
		*x = *m.reg(a[0])
	case "zxid":
		x.n, x.zxid = m.zxid(a[0]), true
	case "less":
		x.ok = m.zxid(a[0]) < m.zxid(a[1])
	case "older":
		x.ok = m.reg(a[0]).stat.Mtime < m.reg(a[1]).stat.Ctime
	case "lapsed":
		stat := m.reg(a[0]).stat
		x.ok = m.Env.Now().UnixMilli()-stat.Mtime > duration(a[1]).Milliseconds()
	case "acquire":
		m.object.Acquired(m.path(a[0]), m.number(a[1]))
	case "tell":
		m.object.Record(history.Event{Kind: history.Told, Op: "value", Value: m.number(a[0])})
	case "access":
		x.ok = m.object.Write(m.number(a[0]))
	default:
		return false
	}
	return true
}

// within runs a request for which the client does not wait longer than a context allows.
func (m *machine) within(ctx context.Context, op string, a []string, x *register) {
	y := register{}
	if m.Env.Within(ctx, func() { _ = m.read(op, a, &y) || m.write(op, a, &y) }) {
		*x = y
	} else { // nobody may look at y
		x.err = zk.ErrNoServer
	}
}

// context runs a statement about a context.
func (m *machine) context(op string, a []string) {
	k := a[0][1] - '0'
	switch op {
	case "timeout":
		name, value, ok := strings.Cut(a[2], "+")
		ctx := m.ctx(name)
		if ok {
			ctx = context.WithValue(ctx, key{}, fmt.Sprint(string(m.reg(value).data), m.reg(value).err))
		}
		m.ctxs[k], m.cancels[k] = m.Env.WithTimeout(ctx, duration(a[1]))
	case "interruptible":
		m.ctxs[k], m.cancels[k] = m.Interruptible()
	case "cancel":
		if m.cancels[k] != nil {
			m.cancels[k]()
		}
	}
}

// part is an operation of a multi.
func (m *machine) part(words []string) any {
	switch path := m.path(words[1]); words[0] {
	case "create":
		r := &zk.CreateRequest{Path: path, Data: m.data(words[2]), Acl: aclOf("any")}
		if len(words) > 3 {
			r.Flags = flagsOf[words[3]]
		}
		return r
	case "set":
		return &zk.SetDataRequest{Path: path, Data: m.data(words[2]), Version: m.version(words[3])}
	case "delete":
		return &zk.DeleteRequest{Path: path, Version: m.version(words[2])}
	default:
		return &zk.CheckVersionRequest{Path: path, Version: m.version(words[2])}
	}
}

// wipe empties the registers of a piece among those names.
func (m *machine) wipe(names []string) {
	for _, name := range names {
		if name[0] == 't' {
			*m.reg(name) = register{}
		}
	}
}

// all returns pointers to what code keeps of what has these names.
func (m *machine) all(names []string) (list []any) {
	for _, name := range names {
		if name[0] != 't' {
			list = append(list, m.kept(name))
		}
	}
	return list
}

func (m *machine) kept(name string) any {
	if name[0] == 'k' {
		return &m.ctxs[name[1]-'0']
	}
	return m.reg(name)
}

func (m *machine) reg(name string) *register {
	x := &m.regs[0][name[1]-'0']
	if name[0] == 't' {
		x = &m.regs[1][name[1]-'0']
	}
	if *x == nil {
		*x = &register{}
	}
	return *x
}

func (m *machine) ctx(name string) context.Context {
	if name == "bg" || m.ctxs[name[1]-'0'] == nil {
		return context.Background()
	}
	return m.ctxs[name[1]-'0']
}

// path is a path, or the one that a create has returned.
func (m *machine) path(word string) string {
	if word[0] == '/' {
		return word
	}
	if text := m.reg(word).text; strings.HasPrefix(text, "/") {
		return text
	}
	return "/a"
}

// data is a sum of words, or of what registers have.
func (m *machine) data(word string) (b []byte) {
	for _, w := range strings.Split(word, "+") {
		name, field, ok := strings.Cut(w, ".")
		if !ok {
			b = append(b, w...)
			continue
		}
		switch x := m.reg(name); field {
		case "data":
			b = append(b, x.data...)
		case "text":
			b = append(b, x.text...)
		case "version":
			b = fmt.Appendf(b, "v%d", x.stat.Version)
		case "n":
			if !x.zxid {
				b = fmt.Appendf(b, "n%d", x.n)
				break
			}
			fallthrough
		default:
			b = fmt.Appendf(b, "z%019d", m.zxid(w))
		}
	}
	return b
}

func (m *machine) version(word string) int32 {
	if name, _, ok := strings.Cut(word, "."); ok {
		return m.reg(name).stat.Version
	}
	n, _ := strconv.Atoi(word)
	return int32(n)
}

// zxid is one of a stat, as r1.m, or one that was kept, as r1.n.
func (m *machine) zxid(word string) int64 {
	name, field, _ := strings.Cut(word, ".")
	switch x := m.reg(name); field {
	case "c":
		return x.stat.Czxid
	case "m":
		return x.stat.Mzxid
	case "p":
		return x.stat.Pzxid
	default:
		return x.n
	}
}

// number is a zxid or any other.
func (m *machine) number(word string) int64 {
	if n, err := strconv.Atoi(word); err == nil {
		return int64(n)
	}
	return m.zxid(word)
}

// holds reports whether a condition does, as "r1.ok", "!r1.err" and "r1.data=1".
func (m *machine) holds(word string) bool {
	word, not := strings.CutPrefix(word, "!")
	name, field, _ := strings.Cut(word, ".")
	x := m.reg(name)
	field, value, _ := strings.Cut(field, "=")
	switch field {
	case "ok":
		return x.ok != not
	case "err":
		return (x.err != nil) != not
	case "data":
		return (string(x.data) == value) != not
	case "n":
		return (fmt.Sprint(x.n) == value) != not
	default:
		return (fmt.Sprint(x.stat.Version) == value) != not
	}
}

var flagsOf = map[string]int32{"-": 0, "e": zk.FlagEphemeral, "s": zk.FlagSequence,
	"es": zk.FlagEphemeral | zk.FlagSequence}

func aclOf(word string) []zk.ACL {
	switch word {
	case "read":
		return zk.WorldACL(zk.PermRead)
	case "u1", "u2":
		return zk.DigestACL(zk.PermAll, word, "p")
	case "auth":
		return zk.AuthACL(zk.PermAll)
	}
	return zk.WorldACL(zk.PermAll)
}

func duration(word string) time.Duration {
	d, err := time.ParseDuration(word)
	if err != nil {
		panic(err)
	}
	return d
}

// String is what the client has seen and made of it. Of zxids it says in what order they are.
func (m *machine) String() string {
	var zxids []int64
	for _, x := range m.regs[0] {
		if x == nil {
			continue
		}
		if zxids = append(zxids, x.stat.Czxid, x.stat.Mzxid, x.stat.Pzxid); x.zxid {
			zxids = append(zxids, x.n)
		}
	}
	slices.Sort(zxids)
	zxids = slices.Compact(zxids)
	var b strings.Builder
	for i, x := range m.regs[0] {
		if x == nil {
			continue
		}
		if text := x.describe(zxids, m.program.flags.times); text != "" {
			fmt.Fprintf(&b, " r%d:%s", i, text)
		}
	}
	for i, ctx := range m.ctxs {
		if ctx != nil {
			fmt.Fprintf(&b, " k%d:%v", i, ctx.Err())
		}
	}
	return b.String()
}

// describe is what a register has, with zxids by their places in a list.
func (x *register) describe(zxids []int64, times bool) string {
	var b strings.Builder
	add := func(is bool, format string, args ...any) {
		if is {
			fmt.Fprintf(&b, " "+format, args...)
		}
	}
	place := func(zxid int64) int {
		i, _ := slices.BinarySearch(zxids, zxid)
		return i
	}
	add(x.ok, "ok")
	add(x.err != nil, "%v", x.err)
	add(len(x.data) > 0, "%q", x.data)
	add(x.text != "", "%s", x.text)
	if s := x.stat; s != (zk.Stat{}) {
		add(true, "v%d.%d.%d len %d children %d owner %x", s.Version, s.Cversion, s.Aversion, s.DataLength, s.NumChildren,
			s.EphemeralOwner)
		add(zxids != nil, "zxids %d %d %d", place(s.Czxid), place(s.Mzxid), place(s.Pzxid))
		add(times, "times %d %d", s.Ctime, s.Mtime)
	}
	add(x.names != nil, "%v", x.names)
	add(x.acl != nil, "%v", x.acl)
	add(x.ch != nil, "ch %d", len(x.ch))
	add(x.event != zk.Event{}, "%v %v %s %v", x.event.Type, x.event.State, x.event.Path, x.event.Err)
	add(x.n != 0 && !x.zxid, "n %d", x.n)
	add(x.zxid && zxids != nil, "z %d", place(x.n))
	return b.String()
}
