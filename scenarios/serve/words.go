package serve

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"zksim/model"
)

// version is the version of the server whose behaviour package model has.
const version = "3.8.0-zksim"

// stats counts packets of a connection, or of a server.
type stats struct {
	received, sent int64
	lastOp         string // "": there was none
	lastXid        int32  // of the last answer, except pings; -1: none since crst
	lastAt         uint32 // milliseconds since the beginning of the ensemble; 0: none
	lastZxid       int64  // of the last answer
}

// answered records an answer, at a time since the beginning of the ensemble.
func (s *stats) answered(xid int32, zxid int64, at time.Duration) {
	s.lastZxid, s.lastAt = zxid, uint32(at.Milliseconds())
	if xid >= 0 {
		s.lastXid = xid
	}
}

// received counts a packet of the client.
func (c *conn) received(q *model.Request) {
	c.stats.received++
	c.e.nodes[c.server].stats.received++
	if op := lastOps[q.Op]; op != "" {
		c.stats.lastOp = op
	}
}

// lastOps maps operations to their names in cons (FinalRequestProcessor), which does not notice others.
var lastOps = map[model.Op]string{model.OpPing: "PING", model.OpCreateSession: "SESS", model.OpCloseSession: "CLOS",
	model.OpMulti: "MULT", model.OpMultiRead: "MLTR", model.OpCreate: "CREA", model.OpCreate2: "CREA",
	model.OpCreateContainer: "CREA", model.OpCreateTTL: "CREA", model.OpDelete: "DELE", model.OpDeleteContainer: "DELE",
	model.OpSetData: "SETD", model.OpReconfig: "RECO", model.OpSetACL: "SETA", model.OpSync: "SYNC", model.OpCheck: "CHEC",
	model.OpExists: "EXIS", model.OpGetData: "GETD", model.OpSetWatches: "SETW", model.OpSetWatches2: "STW2",
	model.OpAddWatch: "ADDW", model.OpGetACL: "GETA", model.OpGetChildren: "GETC", model.OpGetChildren2: "GETC",
	model.OpCountChildren: "GETACN", model.OpGetEphemerals: "GETE", model.OpCheckWatches: "CHKW",
	model.OpRemoveWatches: "REMW", model.OpWhoAmI: "HOMI"}

// sent counts a packet for the client.
func (c *conn) sent() {
	c.stats.sent++
	c.e.nodes[c.server].stats.sent++
}

// notNoticed is the name in cons of an operation that it does not notice.
const notNoticed = "NA"

// failsUnnoticed reports whether cons shows that name for an operation that has failed, because its txn is then an
// error.
func failsUnnoticed(op model.Op) bool {
	switch lastOps[op] {
	case "CREA", "DELE", "SETD", "SETA", "RECO", "CHEC":
		return true
	}
	return false
}

// words maps the four-letter words to functions that answer them. They are called with the ensemble locked.
var words = map[string]func(c *conn) string{
	"ruok": func(*conn) string { return "imok" },
	"isro": func(*conn) string { return "rw" },
	"srvr": func(c *conn) string { return c.e.srvr(c.server, "") },
	"stat": func(c *conn) string { return c.e.srvr(c.server, c.e.clients(c.server)) },
	"cons": func(c *conn) string { return c.e.cons(c.server) },
	"conf": func(c *conn) string { return c.e.conf(c.server) },
	"envi": func(*conn) string {
		return "Environment:\nzookeeper.version=" + version + "\nhost.name=localhost\n"
	},
	"mntr": func(c *conn) string { return c.e.mntr(c.server) },
	"dump": func(c *conn) string { return c.e.dump(c.server) },
	"wchs": func(c *conn) string { return c.e.wchs(c.server) },
	"wchc": func(c *conn) string { return c.e.wchc(c.server) },
	"wchp": func(c *conn) string { return c.e.wchp(c.server) },
	"crst": func(c *conn) string {
		c.e.resetConnections(c.server)
		return "Connection stats reset.\n"
	},
	"srst": func(c *conn) string {
		c.e.nodes[c.server].stats = stats{}
		return "Server stats reset.\n"
	},
}

// resetConnections resets the counts of the connections of a server, and their last operations.
func (e *Ensemble) resetConnections(server int) {
	for x := range e.conns { // order-free: all of them
		if x.server == server {
			x.stats = stats{lastOp: notNoticed, lastXid: -1, lastZxid: -1}
		}
	}
}

// notServing is the answer of a server without a quorum to most words.
const notServing = "This ZooKeeper instance is not currently serving requests\n"

// word answers a four-letter word.
func (c *conn) word(word string, answer func(c *conn) string) {
	c.e.do(c, func() error {
		c.e.awaitServer(c.server)
		text := notServing
		switch {
		case c.e.serves(), word == "ruok", word == "envi":
			text = answer(c)
		case word == "isro":
			text = "null"
		}
		c.told = true
		c.mu.Lock()
		c.out = append(c.out, text...)
		c.mu.Unlock()
		c.sock.SetDeadline(time.Now().Add(lastWordTimeout))
		c.mark()
		return nil
	})
	c.hearOut()
}

// hearOut ends the output to the client, and reads what the client still sends, such as the newline of echo ruok.
// Closing the socket before that would reset the connection, and lose what the client has not read of the answer.
func (c *conn) hearOut() {
	if tcp, ok := c.sock.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
		io.CopyN(io.Discard, tcp, int64(c.frames.Max))
	}
}

// at returns the connections of a server, oldest first, without those that got the answer to a four-letter word.
func (e *Ensemble) at(server int) (list []*conn) {
	for c := range e.conns { // order-free: they are sorted
		if c.server == server && !c.told {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *conn) int { return cmp.Compare(a.since, b.since) })
	return list
}

// mode returns the role of a server in its ensemble.
func (e *Ensemble) mode(server int) string {
	switch {
	case e.options.Nodes == 1:
		return "standalone"
	case e.world.Leader() == server || e.world.Deposed() == server:
		return "leader"
	}
	return "follower"
}

func (e *Ensemble) srvr(server int, clients string) string {
	s, store := &e.nodes[server].stats, e.world.Stores()[server]
	text := fmt.Sprintf("Zookeeper version: %s, built on 2022-02-25 08:49 UTC\n%sLatency min/avg/max: 0/0.0/0\n"+
		"Received: %d\nSent: %d\nConnections: %d\nOutstanding: %d\nZxid: 0x%x\nMode: %s\nNode count: %d\n", version, clients,
		s.received, s.sent, len(e.at(server)), e.outstanding(server), store.Zxid(), e.mode(server), store.Size().Znodes)
	if e.mode(server) == "leader" { // like a leader that has made no proposal yet: there are none to measure
		text += "Proposal sizes last/min/max: -1/-1/-1\n"
	}
	return text
}

// outstanding returns how many requests of a server's clients have no answer yet.
func (e *Ensemble) outstanding(server int) (n int) {
	for _, c := range e.at(server) {
		c.mu.Lock()
		n += int(c.open)
		c.mu.Unlock()
	}
	return n
}

func (e *Ensemble) clients(server int) string {
	var b strings.Builder
	b.WriteString("Clients:\n")
	for _, c := range e.at(server) {
		fmt.Fprintf(&b, " /%s[%d](queued=0,recved=%d,sent=%d)\n", c.sock.RemoteAddr(), c.opsOfInterest(), c.stats.received,
			c.stats.sent)
	}
	return b.String() + "\n"
}

// opsOfInterest returns what the selector of a real server waits for: 1, to read, once there is a session.
func (c *conn) opsOfInterest() int {
	if c.session != nil {
		return 1
	}
	return 0
}

func (e *Ensemble) cons(server int) string {
	var b strings.Builder
	for _, c := range e.at(server) {
		fmt.Fprintf(&b, " /%s[%d](queued=0,recved=%d,sent=%d", c.sock.RemoteAddr(), c.opsOfInterest(), c.stats.received,
			c.stats.sent)
		if s := c.session; s != nil {
			fmt.Fprintf(&b, ",sid=0x%x,lop=%s,est=%d,to=%d", s.id, cmp.Or(c.stats.lastOp, "null"), c.since/1e6,
				s.timeout.Milliseconds())
			if c.stats.lastXid >= 0 {
				fmt.Fprintf(&b, ",lcxid=0x%x", c.stats.lastXid)
			}
			fmt.Fprintf(&b, ",lzxid=0x%x,lresp=%d,llat=0,minlat=0,avglat=0,maxlat=0", uint64(c.stats.lastZxid), c.stats.lastAt)
		}
		b.WriteString(")\n")
	}
	return b.String() + "\n"
}

func (e *Ensemble) conf(server int) string {
	o := e.options
	_, port, _ := net.SplitHostPort(e.addrs[server])
	text := fmt.Sprintf("clientPort=%s\nsecureClientPort=-1\ndataDir=none\ndataDirSize=0\ndataLogDir=none\n"+
		"dataLogSize=0\ntickTime=%d\nmaxClientCnxns=0\nminSessionTimeout=%d\nmaxSessionTimeout=%d\n"+
		"clientPortListenBacklog=-1\nserverId=%d\n", port, o.TickTime.Milliseconds(), o.MinSessionTimeout.Milliseconds(),
		o.MaxSessionTimeout.Milliseconds(), e.serverID(server))
	if len(e.nodes) > 1 {
		text += fmt.Sprintf("initLimit=10\nsyncLimit=5\nelectionAlg=3\nelectionPort=%d\nquorumPort=%d\npeerType=0\n"+
			"membership: \n%s", electionPort, quorumPort, e.members())
	}
	return text
}

// serverID returns the id in the configuration of a server. A standalone server has none.
func (e *Ensemble) serverID(server int) int {
	if len(e.nodes) == 1 {
		return 0
	}
	return server + 1
}

func (e *Ensemble) mntr(server int) string {
	var b strings.Builder
	for _, row := range e.figures(server) {
		fmt.Fprintf(&b, "zk_%s\t%v\n", row.key, row.value)
	}
	return b.String()
}

func (e *Ensemble) dump(server int) string {
	store := e.world.Stores()[server]
	var b strings.Builder
	b.WriteString("SessionTracker dump:\n")
	e.dumpSessions(&b, server)
	b.WriteString("ephemeral nodes dump:\n")
	var owners strings.Builder
	n := 0
	for _, id := range store.Sessions() {
		if store.OwnedEphemerals(id) {
			n++
			writePaths(&owners, hex(id)+":", store.Ephemerals(id))
		}
	}
	fmt.Fprintf(&b, "Sessions with Ephemerals (%d):\n%sConnections dump:\n", n, owners.String())
	sets := map[int64][]string{}
	for _, c := range e.at(server) {
		id, at := int64(0), e.deadline(handshakeTimeout)
		if c.session != nil {
			id, at = c.session.id, c.session.deadline
		}
		sets[at] = append(sets[at], fmt.Sprintf("ip: /%s sessionId: 0x%x", c.sock.RemoteAddr(), id))
	}
	writeSets(&b, "Connections", sets)
	return b.String()
}

// writePaths writes paths below a heading.
func writePaths(b *strings.Builder, head string, paths []string) {
	b.WriteString(head + "\n")
	for _, path := range paths {
		b.WriteString("\t" + path + "\n")
	}
}

// dumpSessions writes the sessions and when they expire. A follower only knows the sessions; the leader expires them
// (LearnerSessionTracker.dumpSessions).
func (e *Ensemble) dumpSessions(b *strings.Builder, server int) {
	if store := e.world.Stores()[server]; e.mode(server) == "follower" {
		list := store.Sessions()
		fmt.Fprintf(b, "Global Sessions(%d):\n", len(list))
		for _, id := range list {
			fmt.Fprintf(b, "0x%x\t%dms\n", id, store.SessionTimeout(id))
		}
		return
	}
	sets := map[int64][]string{}
	for _, s := range e.ordered() {
		sets[s.deadline] = append(sets[s.deadline], hex(s.id))
	}
	writeSets(b, "Session", sets)
}

// writeSets writes what expires together, sorted by time.
func writeSets(b *strings.Builder, what string, sets map[int64][]string) {
	n := 0
	for _, list := range sets { // order-free: a sum
		n += len(list)
	}
	fmt.Fprintf(b, "%s Sets (%d)/(%d):\n", what, len(sets), n)
	for _, at := range slices.Sorted(maps.Keys(sets)) {
		fmt.Fprintf(b, "%d expire at %s:\n", len(sets[at]), time.UnixMilli(at).UTC().Format("Mon Jan 02 15:04:05 MST 2006"))
		for _, text := range sets[at] {
			fmt.Fprintf(b, "\t%s\n", text)
		}
	}
}

// watched returns the paths that each session of a server's clients watches, and the number of watches. As in ZooKeeper
// (DataTree.dumpWatches), watches on children are not included, and a connection whose watches have fired stays, with
// no paths.
func (e *Ensemble) watched(server int) (bySession map[int64][]string, total int) {
	bySession = map[int64][]string{}
	for _, c := range e.at(server) {
		if s := c.session; s != nil && s.client.ServerConn().Watched() {
			bySession[s.id] = []string{}
		}
	}
	e.world.Stores()[server].AllWatches(func(c *model.Conn, x model.Watch) {
		if x.Child {
			return
		}
		total++
		bySession[c.Session] = append(bySession[c.Session], x.Path)
	})
	for id, paths := range bySession { // order-free: each by itself
		slices.Sort(paths)
		bySession[id] = slices.Compact(paths)
	}
	return bySession, total
}

func (e *Ensemble) wchs(server int) string {
	bySession, total := e.watched(server)
	return fmt.Sprintf("%d connections watching %d paths\nTotal watches:%d\n", len(bySession), len(e.watchers(server)),
		total)
}

func (e *Ensemble) wchc(server int) string {
	var b strings.Builder
	bySession, _ := e.watched(server)
	for _, id := range slices.Sorted(maps.Keys(bySession)) {
		writePaths(&b, hex(id), bySession[id])
	}
	return b.String() + "\n"
}

func (e *Ensemble) wchp(server int) string {
	byPath := e.watchers(server)
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(byPath)) {
		b.WriteString(p + "\n")
		for _, id := range byPath[p] {
			fmt.Fprintf(&b, "\t0x%x\n", id)
		}
	}
	return b.String() + "\n"
}
