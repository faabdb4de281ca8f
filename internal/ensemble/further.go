package ensemble

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/live"
)

// process returns connection i and its environment as the program of a client sees them.
func (x *liveRun) process(i int, c *live.Client, of connection) (recipes.Conn, recipes.Env) {
	conn := hearing{c, x.host, of, func() { x.closes(i) }}
	return conn, hearingEnv{timed{c.Env(), x}, conn}
}

// dialFurther gives a client another connection.
//
//zksim:ignore only on a real ensemble
func (x *liveRun) dialFurther(ctx context.Context, id int) (recipes.Conn, recipes.Env, error) {
	x.mu.Lock()
	x.several[int32(id)]++
	of := connection{int32(id), x.several[int32(id)]}
	i := len(x.taps)
	x.taps, x.state, x.closed = append(x.taps, nil), append(x.state, 0), append(x.closed, false)
	x.mu.Unlock()
	c, err := dial(ctx, x.o, x.further(i, of))
	if err != nil {
		x.closes(i)
		return nil, nil, err
	}
	x.host.mu.Lock()
	x.host.dialed = append(x.host.dialed, c)
	x.host.mu.Unlock()
	conn, env := x.process(i, c, of)
	return conn, env, nil
}

// further returns the options of connection i, a further connection of a client.
func (x *liveRun) further(i int, of connection) live.Options {
	var session int64 // of the library, which calls OnSession in one goroutine
	return live.Options{SessionTimeout: x.o.Session, Dial: x.dialer(i, of.client),
		OnSession: func(ev zk.Event) {
			x.mu.Lock()
			x.state[i] = ev.State
			switch ev.State {
			case zk.StateHasSession:
				session = x.taps[i].Session()
				x.who[session] = of.client
			case zk.StateExpired:
				session = 0
			}
			x.mu.Unlock()
			x.host.hear(history.Event{Kind: history.Session, Client: of.client, Op: ev.State.String(), Session: session,
				Version: of.number})
		}}
}
