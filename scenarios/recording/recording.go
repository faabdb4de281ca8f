// Package recording makes a scenario of what clients of any language have asked a served ensemble for (package serve):
// a program for each client that makes the same requests in the same order, and a schedule in which they come in the
// order of the recording and are struck by the same faults. So what was seen in another language can be replayed,
// shrunk and told as a failure of ours.
//
// The package must not know where a recording comes from, nor what a recipe is.
package recording

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/serve"
	"zksim/sim"
)

// Prefix is what the names of such scenarios begin with; the file of the recording follows.
const Prefix = "recorded:"

// Load reads the recording in a file.
func Load(file string) (*engine.Scenario, engine.Schedule, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, engine.Schedule{}, err
	}
	defer in.Close()
	r, err := serve.ReadRecording(in)
	if err != nil {
		return nil, engine.Schedule{}, fmt.Errorf("%s: %w", file, err)
	}
	s, err := Scenario(Prefix+file, r)
	if err != nil {
		return nil, engine.Schedule{}, fmt.Errorf("%s: %w", file, err)
	}
	schedule, err := Schedule(s, r)
	if err != nil {
		return nil, schedule, fmt.Errorf("%s: %w", file, err)
	}
	return s, schedule, nil
}

// Scenario returns the scenario of a recording. Each client has as many rounds as there are requests of the client that
// has the most: a scenario with fewer rounds leaves out the last ones.
func Scenario(name string, r *serve.Recording) (*engine.Scenario, error) {
	lists := byClient(r)
	if len(lists) == 0 {
		return nil, fmt.Errorf("no client has asked for anything, expected requests")
	}
	rounds := 1
	for _, list := range lists {
		rounds = max(rounds, len(list))
	}
	s := &engine.Scenario{Name: name, Doc: "what clients have asked " + fmt.Sprint(r.Servers) + " served server(s) for",
		Clients: len(lists), Rounds: rounds, Servers: []int{r.Servers}, Faults: plan(r),
		Checkers: []checkers.Checker{checkers.Steps{}}}
	if left := note(r); left != "" {
		*s = s.With(engine.Notes{Source: "left out, since no simulated code can ask for it: " + left})
	}
	s.Program = func(p *engine.Process) { play(p, lists[p.ID-1]) }
	if len(r.Violations) > 0 {
		s.Finally = func(h *history.History) error { return again(r, h) }
	}
	return s, nil
}

// unplayed are the operations of a recording that no code in the simulator can ask for, and how many of each there are.
func unplayed(r *serve.Recording) map[string]int {
	list := map[string]int{}
	for i := range r.Requests {
		if q := &r.Requests[i].Request; !plays(q) && !librarys(q) {
			list[sim.OpName(q)]++
		}
	}
	return list
}

// byClient returns the requests of each client, c1 first, that a program can make.
func byClient(r *serve.Recording) (lists [][]serve.Asked) {
	for _, x := range r.Requests {
		for len(lists) < x.Client {
			lists = append(lists, nil)
		}
		if plays(&x.Request) {
			lists[x.Client-1] = append(lists[x.Client-1], x)
		}
	}
	return lists
}

// librarys reports whether it is the simulated library that asks for such a thing by itself.
func librarys(q *model.Request) bool {
	return q.Op == model.OpSetWatches || q.Op == model.OpSetWatches2 || q.Op == model.OpPing
}

// plays reports whether a program can make a request.
func plays(q *model.Request) bool {
	switch q.Op {
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL, model.OpDelete, model.OpExists,
		model.OpGetData, model.OpSetData, model.OpGetACL, model.OpSetACL, model.OpGetChildren, model.OpGetChildren2,
		model.OpSync, model.OpMulti, model.OpAuth, model.OpCloseSession:
		return true
	}
	return false
}

// plan is what has struck, as often as it did.
func plan(r *serve.Recording) (p faults.Plan) {
	for _, name := range r.Steps {
		word, who, _ := strings.Cut(name, " ")
		if !slices.ContainsFunc(faults.Table, func(f faults.Fault) bool { return f.Name == word }) {
			continue
		}
		x := faults.Rule{Fault: word, Budget: 1}
		fmt.Sscanf(who, "c%d", &x.Aim.Client)
		if i := slices.IndexFunc(p, func(y faults.Rule) bool { return y.Fault == word && y.Aim == x.Aim }); i >= 0 {
			p[i].Budget++
			continue
		}
		p = append(p, x)
	}
	return p
}

// again says what the recording said, if the run ends as that did: what it said is left over, or, as to what a test has
// said, if each client was answered as it was.
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
		if slices.EqualFunc(answered(h), asRecorded(r), slices.Equal) {
			return fmt.Errorf("each client was answered as in the recording, of which was said: %s", text)
		}
	}
	return nil
}

// owned reports whether a client has left a znode like that behind, whatever its number.
func owned(h *history.History, path string, client int32) bool {
	return slices.ContainsFunc(h.Tree, func(n history.Node) bool {
		return n.Owner != 0 && h.Sessions[n.Owner] == client && stem(n.Path) == stem(path)
	})
}

// stem is a path without the number of a sequential znode and without what a library has drawn to know it again.
func stem(path string) string {
	const digits = 10
	if n := len(path) - digits; n > 0 && strings.Trim(path[n:], "0123456789") == "" {
		path = path[:n]
	}
	dir, name := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(name, '-'); i > 0 && strings.HasSuffix(name, "-") {
		name = name[strings.LastIndexByte(name[:i], '-')+1:]
	}
	return dir + name
}

// answered is what each client was answered, in the order of its requests: the operation, and the error.
func answered(h *history.History) [][]string {
	lists := make([][]string, h.Clients)
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Reply || slices.Contains(unanswered, e.Op) || e.Err == zk.ErrNoServer {
			continue
		}
		text := e.Op
		if e.Err != nil {
			text += ": " + e.Err.Error()
		}
		lists[e.Client-1] = append(lists[e.Client-1], text)
	}
	return lists
}

// unanswered are operations of which it makes no difference how they are answered.
var unanswered = []string{"setWatches", "closeSession", "auth"}

func asRecorded(r *serve.Recording) [][]string {
	lists := make([][]string, 0, len(r.Requests))
	for _, list := range byClient(r) {
		var texts []string
		for i := range list {
			x := &list[i]
			op := sim.OpName(&x.Request)
			if slices.Contains(unanswered, op) {
				continue
			}
			switch {
			case x.Open:
				op += ": " + zk.ErrConnectionClosed.Error()
			case x.Err != "":
				op += ": " + x.Err
			}
			texts = append(texts, strings.Replace(op, "create2", "create", 1))
		}
		lists = append(lists, texts)
	}
	return lists
}

// player makes the requests of one client.
type player struct {
	*engine.Process
	made    map[string]string // paths that creates have made in the recording, and in this run
	watches map[string][]<-chan zk.Event
}

// patience is how long a client waits for an event that had come in the recording, before it goes on without.
const patience = time.Minute

// play is the program of a client.
func play(p *engine.Process, list []serve.Asked) {
	x := player{p, map[string]string{}, map[string][]<-chan zk.Event{}}
	for i := range list[:min(len(list), p.Rounds)] {
		for _, path := range list[i].Heard {
			x.await(path)
		}
		if list[i].Request.Op == model.OpCloseSession {
			p.Conn.Close()
			return
		}
		x.ask(&list[i])
	}
}

// await waits for an event that the recording has, as long as there is a watch.
func (p *player) await(path string) {
	chans := p.watches[p.path(path)]
	if len(chans) == 0 {
		return
	}
	ctx, cancel := p.Env.WithTimeout(context.Background(), patience)
	defer cancel()
	if i, _, err := p.Env.Await(ctx, chans...); err == nil {
		p.watches[p.path(path)] = slices.Delete(chans, i, i+1)
	}
}

// path is what a path of the recording is in this run.
func (p *player) path(path string) string {
	for dir := path; dir != ""; dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)] {
		if made, ok := p.made[dir]; ok {
			return made + path[len(dir):]
		}
	}
	return path
}

// ask makes a request, again if the library says that it was not sent. What is answered is in the history.
func (p *player) ask(x *serve.Asked) {
	for errors.Is(p.try(x), zk.ErrNoServer) {
	}
}

func (p *player) try(x *serve.Asked) (err error) {
	q, path := &x.Request, p.path(x.Request.Path)
	switch q.Op {
	case model.OpDelete:
		err = p.Conn.Delete(path, q.Version)
	case model.OpSetData:
		_, err = p.Conn.Set(path, q.Data, q.Version)
	case model.OpSync:
		_, err = p.Conn.Sync(path)
	case model.OpGetACL:
		_, _, err = p.Conn.GetACL(path)
	case model.OpSetACL:
		_, err = p.Conn.SetACL(path, q.ACL, q.Version)
	case model.OpAuth:
		err = p.Conn.AddAuth(q.Path, q.Data)
	case model.OpMulti:
		err = p.multi(q)
	case model.OpExists, model.OpGetData, model.OpGetChildren, model.OpGetChildren2:
		err = p.read(q, path)
	default:
		err = p.create(x, path)
	}
	return err
}

// read makes a read, and keeps the channel of its watch, if it leaves one.
func (p *player) read(q *model.Request, path string) (err error) {
	var ch <-chan zk.Event
	switch {
	case q.Op == model.OpExists && q.Watch:
		_, _, ch, err = p.Conn.ExistsW(path)
	case q.Op == model.OpExists:
		_, _, err = p.Conn.Exists(path)
	case q.Op == model.OpGetData && q.Watch:
		_, _, ch, err = p.Conn.GetW(path)
	case q.Op == model.OpGetData:
		_, _, err = p.Conn.Get(path)
	case q.Watch:
		_, _, ch, err = p.Conn.ChildrenW(path)
	default:
		_, _, err = p.Conn.Children(path)
	}
	if ch != nil {
		p.watches[path] = append(p.watches[path], ch)
	}
	return err
}

func (p *player) create(x *serve.Asked, path string) (err error) {
	q, made := &x.Request, ""
	switch q.Op {
	case model.OpCreateContainer:
		made, err = p.Conn.CreateContainer(path, q.Data, q.Flags, q.ACL)
	case model.OpCreateTTL:
		made, err = p.Conn.CreateTTL(path, q.Data, q.Flags, q.ACL, time.Duration(q.TTL)*time.Millisecond)
	default:
		made, err = p.Conn.Create(path, q.Data, q.Flags, q.ACL)
	}
	if err == nil && x.Path != "" && x.Path != made {
		p.made[x.Path] = made
	}
	return err
}

func (p *player) multi(q *model.Request) error {
	var ops []any
	for i := range q.Ops {
		switch o := &q.Ops[i]; o.Op {
		case model.OpCreate, model.OpCreate2:
			ops = append(ops, &zk.CreateRequest{Path: p.path(o.Path), Data: o.Data, Acl: o.ACL, Flags: o.Flags})
		case model.OpDelete:
			ops = append(ops, &zk.DeleteRequest{Path: p.path(o.Path), Version: o.Version})
		case model.OpSetData:
			ops = append(ops, &zk.SetDataRequest{Path: p.path(o.Path), Data: o.Data, Version: o.Version})
		case model.OpCheck:
			ops = append(ops, &zk.CheckVersionRequest{Path: p.path(o.Path), Version: o.Version})
		}
	}
	_, err := p.Conn.Multi(ops...)
	return err
}
