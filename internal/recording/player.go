package recording

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/serve"
)

// player makes the requests of one client.
type player struct {
	*engine.Process
	answers engine.Object      // records them
	made    map[string]string  // paths that creates made: those in the recording to those in this run
	watches map[string][]watch // by path
}

// watch is the channel of a watch, on the children of a znode or on its data and existence.
type watch struct {
	children bool
	ch       <-chan zk.Event
}

// patience is how long a client waits for an event that came in the recording before it goes on without it. It is
// longer than the ttl of any znode, because the event may come only when that is over.
const patience = 100 * 365 * 24 * time.Hour

// play is the program of a client. If its library leaves its watches, it sets none again on a new connection.
func play(p *engine.Process, list []serve.Asked, leaves bool) {
	x := player{p, p.Register(nil), map[string]string{}, map[string][]watch{}}
	if conn, ok := p.Conn.(interface{ LeaveWatches() }); ok && leaves {
		conn.LeaveWatches()
	}
	for i := range list {
		for _, event := range list[i].Heard {
			x.await(event)
		}
		if list[i].Request.Op == model.OpCloseSession {
			p.Conn.Close()
			return
		}
		p.Step() // the connection may end before it asks again
		x.ask(&list[i])
	}
}

// await waits for an event of the recording, as long as there is a watch that it ends. A library knows from the kind of
// an event which of its watches that is, and servers like Keeper may send one of another kind.
func (p *player) await(heard string) {
	event, path, _ := strings.Cut(heard, " ")
	path = p.path(path)
	var chans []<-chan zk.Event
	for _, x := range p.watches[path] {
		if event == history.EventName(zk.EventNodeDeleted) ||
			x.children == (event == history.EventName(zk.EventNodeChildrenChanged)) {
			chans = append(chans, x.ch)
		}
	}
	ctx, cancel := p.Env.WithTimeout(context.Background(), patience)
	defer cancel()
	for len(chans) > 0 {
		i, ev, err := p.Env.Await(ctx, chans...)
		if err != nil {
			return
		}
		p.watches[path] = slices.DeleteFunc(p.watches[path], func(x watch) bool { return x.ch == chans[i] })
		if ev.Type != zk.EventNotWatching { // else the watch has ended without one
			return
		}
		chans = slices.Delete(chans, i, i+1)
	}
}

// path translates a path of the recording to this run.
func (p *player) path(path string) string {
	for dir := path; dir != ""; dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)] {
		if made, ok := p.made[dir]; ok {
			return made + path[len(dir):]
		}
	}
	return path
}

// ask makes a request, repeats it if the library says that it was not sent, and records the answer.
func (p *player) ask(x *serve.Asked) {
	q := &x.Request
	res, err := p.try(q)
	for errors.Is(err, zk.ErrNoServer) {
		res, err = p.try(q)
	}
	text := ""
	if err != nil {
		text = err.Error()
	} else if x.Path != "" && x.Path != res.Path {
		p.made[x.Path] = res.Path
	}
	if compares(q) {
		p.answers.Record(history.Event{Kind: history.Told, Op: toldAnswer, Path: answer(q, text, serve.Read(q, &res))})
	}
}

// try makes a request once. The response has what the library hands out.
func (p *player) try(q *model.Request) (res model.Response, err error) {
	var stat *zk.Stat
	path := p.path(q.Path)
	switch q.Op {
	case model.OpCreate, model.OpCreate2:
		res.Path, err = p.Conn.Create(path, q.Data, q.Flags, q.ACL)
	case model.OpCreateContainer:
		res.Path, err = p.Conn.CreateContainer(path, q.Data, q.Flags, q.ACL)
	case model.OpCreateTTL:
		res.Path, err = p.Conn.CreateTTL(path, q.Data, q.Flags, q.ACL, time.Duration(q.TTL)*time.Millisecond)
	case model.OpDelete:
		err = p.Conn.Delete(path, q.Version)
	case model.OpSetData:
		stat, err = p.Conn.Set(path, q.Data, q.Version)
	case model.OpSync:
		res.Path, err = p.Conn.Sync(path)
	case model.OpGetACL:
		res.ACL, stat, err = p.Conn.GetACL(path)
	case model.OpSetACL:
		stat, err = p.Conn.SetACL(path, q.ACL, q.Version)
	case model.OpAuth:
		err = p.Conn.AddAuth(q.Path, q.Data)
	case model.OpMulti:
		res.Results, err = p.multi(q)
	case model.OpExists, model.OpGetData, model.OpGetChildren, model.OpGetChildren2:
		res, stat, err = p.read(q, path)
	default:
		panic("recording: no program asks for " + q.Op.String())
	}
	if stat != nil {
		res.Stat = *stat
	}
	return res, err
}

// read makes a read, and keeps the channel of its watch if it leaves one.
func (p *player) read(q *model.Request, path string) (res model.Response, stat *zk.Stat, err error) {
	var ch <-chan zk.Event
	there := true
	switch {
	case q.Op == model.OpExists && q.Watch:
		there, stat, ch, err = p.Conn.ExistsW(path)
	case q.Op == model.OpExists:
		there, stat, err = p.Conn.Exists(path)
	case q.Op == model.OpGetData && q.Watch:
		res.Data, stat, ch, err = p.Conn.GetW(path)
	case q.Op == model.OpGetData:
		res.Data, stat, err = p.Conn.Get(path)
	case q.Watch:
		res.Children, stat, ch, err = p.Conn.ChildrenW(path)
	default:
		res.Children, stat, err = p.Conn.Children(path)
	}
	if ch != nil {
		children := q.Op == model.OpGetChildren || q.Op == model.OpGetChildren2
		p.watches[path] = append(p.watches[path], watch{children, ch})
	}
	if err == nil && !there {
		err = zk.ErrNoNode
	}
	return res, stat, err
}

func (p *player) multi(q *model.Request) ([]model.Response, error) {
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
		default:
			panic("recording: no multi of a program has " + o.Op.String())
		}
	}
	list, err := p.Conn.Multi(ops...)
	results := make([]model.Response, len(list))
	for i := range list {
		results[i].Path = list[i].String
		if list[i].Stat != nil {
			results[i].Stat = *list[i].Stat
		}
	}
	return results, err
}
