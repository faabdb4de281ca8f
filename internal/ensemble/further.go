package ensemble

import (
	"context"

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
	c, err := dial(ctx, x.o, x.options(i, of))
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
