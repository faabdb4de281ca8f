package serve

import (
	"github.com/go-zookeeper/zk"

	"zksim/internal/judge"
	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

// recorder keeps what has happened: the events of the world, and between them, for the judge of znodes, the operations
// on single znodes with their arguments and answers.
type recorder struct {
	limit   int // of events, and of requests
	events  chunks
	steps   int   // made before the world was last trimmed
	objects int32 // operations so far
	clients int

	keeps    bool // keep the fields up to bytes, see Recording
	requests []recordLine
	heard    map[int]heard // by client
	names    []string
	known    map[string]string // interned names
	bytes    int               // of all these
	gap      string            // why the recording was given up
	reported []string          // violations reported by tests
}

func (r *recorder) reset(limit int, keeps bool) {
	*r = recorder{limit: limit, events: chunks{limit: limit, maxBytes: maxHistory}, keeps: keeps,
		known: map[string]string{}, heard: map[int]heard{}}
}

const (
	// maxHistory limits the bytes of paths and data in the history; the oldest events are forgotten first.
	maxHistory = 512 << 20
	// maxRecording limits the bytes of a recording.
	maxRecording = 256 << 20
)

// step returns the number of the world's next step.
func (r *recorder) step(w *sim.World) int { return r.steps + w.Step() + 1 }

// take moves the events out of the world.
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

// call is an operation without an answer. Answers come in the order of the requests.
type call struct {
	object int32 // 0: the judge of znodes ignores it
	op     string
	kept   int // index in recorder.requests; -1: none
}

// asked records a request before the world gets it.
func (r *recorder) asked(s *session, q *model.Request) {
	if q.Op == model.OpAuth { // it is answered out of order
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

// answered records an answer.
func (r *recorder) answered(s *session, q *model.Request, res *model.Response) {
	if q.Op == model.OpAuth || len(s.calls) == 0 {
		return
	}
	x := s.calls[0]
	s.calls = append(s.calls[:0], s.calls[1:]...)
	r.kept(x.kept, q, res)
	if x.object == 0 || x.op == "get" && s.e.world.Deposed() == s.conn.server { // a deposed one answers a sync by itself
		return
	}
	e := history.Event{Kind: history.Return, Client: int32(s.client.ID()), Object: x.object, Op: x.op, Path: q.Path,
		Err: res.Err.Err(), Version: res.Stat.Version, Zxid: res.Stat.Mzxid, Step: int32(s.e.world.Step())}
	if x.op == "get" {
		e.Data = string(res.Data)
	}
	s.e.world.History.Add(e)
}

// expired records that a client is told that its session is over. Its client in the world may have left, or may still
// have a connection to a server that does not know, so the world is not told.
func (r *recorder) expired(w *sim.World, session int64) {
	w.History.Add(history.Event{Kind: history.Session, Client: int32(w.Numbered(session)), Step: int32(w.Step()),
		Op: zk.StateExpired.String(), Session: session})
}

// cut records that unanswered requests will get no answer.
func (r *recorder) cut(s *session) {
	s.calls = s.calls[:0]
	s.synced = false
}
