package serve

import (
	"github.com/go-zookeeper/zk"

	"zksim/internal/judge"
	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

// recorder keeps what has happened: the events of the world, and between them, for the judge of znodes, the operations
// on single znodes with what they were asked and answered.
type recorder struct {
	limit   int // of events, and of requests
	events  chunks
	steps   int   // of worlds that were trimmed
	objects int32 // operations so far
	clients int

	keeps    bool // what follows is wanted, see Recording
	requests []recordLine
	heard    map[int]heard // by client
	names    []string
	known    map[string]string // names, each once
	bytes    int               // of all that
	gap      string            // why there is nothing of it any more
	reported []string          // violations, by tests
}

func (r *recorder) reset(limit int, keeps bool) {
	*r = recorder{limit: limit, events: chunks{limit: limit, maxBytes: maxHistory}, keeps: keeps,
		known: map[string]string{}, heard: map[int]heard{}}
}

const (
	// maxHistory is how many bytes of paths and data the history has; the oldest events are forgotten first.
	maxHistory = 512 << 20
	// maxRecording is how many bytes a recording may take.
	maxRecording = 256 << 20
)

// step is the number of the step that the world makes next.
func (r *recorder) step(w *sim.World) int { return r.steps + w.Step() + 1 }

// take takes the events out of the world, which forgets them.
func (r *recorder) take(w *sim.World) {
	if len(w.History.Events) == 0 {
		return
	}
	r.clients = w.History.Clients
	for i := range w.History.Events {
		e := &w.History.Events[i]
		e.Step += int32(r.steps)
		e.Path, e.Data = judge.ShortPath(e.Path), judge.ShortData(e.Data)
	}
	r.events.add(w.History.Events)
	r.steps += w.Step()
	w.Trim()
}

// call is an operation that has no answer yet. Answers come in the order of the requests.
type call struct {
	object int32 // 0: the judge of znodes does not look at it
	op     string
	kept   int // place in recorder.requests; -1: none
}

// asked notes a request before the world gets it.
func (r *recorder) asked(s *session, q *model.Request) {
	if q.Op == model.OpAuth { // which is answered out of order
		r.keep(s, q)
		return
	}
	op := judge.Word(q)
	if op == "" {
		s.synced = q.Op == model.OpSync
	}
	if op == "" || op == "get" && !s.synced { // what it reads may be stale
		s.calls = append(s.calls, call{kept: r.keep(s, q)})
		return
	}
	r.objects++
	s.calls = append(s.calls, call{r.objects, op, r.keep(s, q)})
	version := q.Version
	if op == "create" || op == "get" {
		version = -1
	}
	s.e.world.History.Add(history.Event{Kind: history.Invoke, Client: int32(s.client.ID()), Object: r.objects, Op: op,
		Path: q.Path, Data: string(q.Data), Version: version, Step: int32(s.e.world.Step())})
}

// answered notes an answer.
func (r *recorder) answered(s *session, q *model.Request, res *model.Response) {
	if q.Op == model.OpAuth || len(s.calls) == 0 {
		return
	}
	x := s.calls[0]
	s.calls = append(s.calls[:0], s.calls[1:]...)
	r.kept(x.kept, q, res)
	if x.object == 0 || x.op == "get" && s.e.world.Deposed() == s.conn.server { // which answers a sync by itself
		return
	}
	e := history.Event{Kind: history.Return, Client: int32(s.client.ID()), Object: x.object, Op: x.op, Path: q.Path,
		Err: res.Err.Err(), Version: res.Stat.Version, Zxid: res.Stat.Mzxid, Step: int32(s.e.world.Step())}
	if x.op == "get" {
		e.Data = string(res.Data)
	}
	s.e.world.History.Add(e)
}

// expired notes that a client is told that its session is over. Its client in the world may have left, or may still
// have a connection to a server that does not know, so the world is not told.
func (r *recorder) expired(w *sim.World, session int64) {
	w.History.Add(history.Event{Kind: history.Session, Client: int32(w.Numbered(session)), Step: int32(w.Step()),
		Op: zk.StateExpired.String(), Session: session})
}

// cut notes that what has no answer will get none.
func (r *recorder) cut(s *session) {
	s.calls = s.calls[:0]
	s.synced = false
}
