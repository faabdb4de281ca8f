package catalog

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/workload"
)

// configs updates both kinds of configurations.
func (a alone) configs() {
	values := func(text string) map[string][]byte {
		all := map[string][]byte{}
		for _, pair := range strings.Fields(text) {
			name, value, _ := strings.Cut(pair, "=")
			all[name] = []byte(value)
		}
		return all
	}
	same := func(set recipes.ConfigSet, text string) bool {
		want := values(text)
		for name, value := range want { // order-free: all must hold
			if have, ok := set.Values[name]; !ok || string(have) != string(value) {
				return false
			}
		}
		return len(set.Values) == len(want)
	}
	c := recipes.NewConfig(a.p.Conn, a.p.Env, a.path("config"), recipes.ConfigOptions{})
	none, err := c.Get(background)
	a.is(err == nil && len(none.Values) == 0 && none.Zxid == 0, "a configuration is empty at first")
	last := none
	for _, text := range []string{"a=1 b=2", "a=1 b=3 c=4", "c=4", "a="} {
		a.fine(c.Update(background, last, values(text)), "Config.Update to "+text)
		set, err := c.Get(background)
		a.is(err == nil && same(set, text) && set.Zxid > last.Zxid, "Config.Get after the update to %s", text)
		if last.Zxid > 0 {
			a.with(recipes.ErrConfigChanged, c.Update(background, last, values("x=1")), "Config.Update of an old set")
			a.with(recipes.ErrConfigChanged, c.Update(background, last, last.Values), "Config.Update back to an old set")
		}
		last = set
	}
	err = c.Update(background, none, values("x=1"))
	a.with(recipes.ErrConfigChanged, err, "Config.Update of the set before the first")
	f := recipes.NewFlaggedConfig(a.p.Conn, a.p.Env, a.path("flagged"), recipes.ConfigOptions{})
	last = none
	for _, text := range []string{"a=1 b=2", "a=1 b=3 c=4", "c=4", "a="} {
		a.fine(f.Update(background, values(text)), "FlaggedConfig.Update to "+text)
		set, err := f.Get(background)
		a.is(err == nil && same(set, text) && set.Zxid > last.Zxid, "FlaggedConfig.Get after the update to %s", text)
		last = set
	}
	for _, name := range []string{"", "x/y", "_r_x", "."} {
		bad := map[string][]byte{name: nil}
		a.with(zk.ErrInvalidPath, c.Update(background, recipes.ConfigSet{}, bad), "Config.Update of an invalid name")
		a.with(zk.ErrInvalidPath, f.Update(background, bad), "FlaggedConfig.Update of an invalid name")
	}
	var cached *recipes.CachedConfig
	var told []recipes.ConfigSet
	first := recipes.NewMailbox[int](a.p.Env)
	ctx, cancel := context.WithCancel(background)
	cached = recipes.NewCachedConfig(a.p.Conn, a.p.Env, a.path("flagged"), func(set recipes.ConfigSet) {
		if told = append(told, set); same(set, "d=5") {
			cancel()
		}
		first.Put(len(told))
	})
	waits := a.background("cached", func(context.Context) error { return cached.Run(ctx) })
	first.Get(background)
	a.is(same(told[0], "a=") && same(cached.Get(), "a="), "a cached reader is told of the set that is there")
	updates := a.background("update", func(ctx context.Context) error { return f.Update(ctx, values("d=5")) })
	for range 6 {
		a.p.Step()
		a.is(same(cached.Get(), "a=") || same(cached.Get(), "d=5"), "a cached reader has a set while it is replaced")
	}
	a.fine(updates(), "FlaggedConfig.Update beside a cached reader")
	a.with(context.Canceled, waits(), "CachedConfig.Run until it was told of the next set")
	a.is(len(told) == 2 && same(cached.Get(), "d=5"), "a cached reader is told of each set once")
}

// queues puts and takes beside znodes that are not items.
func (a alone) queues() {
	q := recipes.NewQueue(a.p.Conn, a.p.Env, a.path("queue"), recipes.QueueOptions{})
	for _, item := range []string{"1", "2", "3"} {
		a.fine(q.Put(background, []byte(item)), "Queue.Put")
	}
	n, err := q.Len(background)
	a.is(err == nil && n == 3, "three items are three, whatever else is there")
	data, err := q.Take(background)
	a.is(err == nil && string(data) == "1", "Queue.Take takes the first item")
	item, err := q.Claim(background)
	a.fine(err, "Queue.Claim")
	a.p.Register(item.Znodes)
	a.is(string(item.Data()) == "2" && len(item.Znodes()) > 0, "Queue.Claim claims the first item that is left")
	data, err = q.TryTake(background)
	a.is(err == nil && string(data) == "3", "Queue.TryTake takes what nobody has claimed")
	_, err = q.TryClaim(background)
	a.with(recipes.ErrEmpty, err, "Queue.TryClaim of what is claimed")
	a.fine(q.Put(background, []byte("4")), "Queue.Put behind what is claimed")
	a.fine(item.Return(background), "QueueItem.Return")
	a.is(len(item.Znodes()) == 0, "nothing is left of a claim that was returned")
	again, err := q.TryClaim(background)
	a.fine(err, "Queue.TryClaim of what was returned")
	a.p.Register(again.Znodes)
	a.is(string(again.Data()) == "2", "an item that was returned is the first again")
	a.with(recipes.ErrClaimLost, item.Ack(background), "QueueItem.Ack of an item that was returned")
	a.fine(again.Ack(background), "QueueItem.Ack")
	a.with(recipes.ErrClaimLost, again.Return(background), "QueueItem.Return of an item that is settled")
	n, err = q.Len(background)
	a.is(err == nil && n == 1, "what is behind an item that was returned is left")
	data, err = q.TryTake(background)
	a.is(err == nil && string(data) == "4", "what was put behind an item that was returned comes after it")
	a.fine(q.Put(background, []byte("5")), "Queue.Put of an item that is acknowledged in the background")
	item, err = q.Claim(background)
	a.fine(err, "Queue.Claim of an item that is acknowledged in the background")
	a.with(recipes.ErrUnknownOutcome, item.Ack(canceled()), "QueueItem.Ack with a context that is done")
	for range 2 {
		_, err = q.TryTake(background)
		a.with(recipes.ErrEmpty, err, "Queue.TryTake while the only item is acknowledged in the background")
		workload.Steps(a.p, 10)
	}
	ctx, cancel := a.p.Env.WithTimeout(background, time.Second)
	_, err = q.Take(ctx)
	a.with(context.DeadlineExceeded, err, "Queue.Take that has waited too long")
	cancel()
	p := recipes.NewPriorityQueue(a.p.Conn, a.p.Env, a.path("priority"), recipes.QueueOptions{})
	for _, item := range []uint16{300, 9, 10000, 10, 0, 65535, 9999} {
		a.fine(p.Put(background, []byte{byte(item)}, item), "PriorityQueue.Put")
	}
	var order []byte
	for range 7 {
		data, err := p.Take(background)
		a.is(err == nil && len(data) == 1, "PriorityQueue.Take takes an item")
		order = append(order, data...)
	}
	a.is(slices.Equal(order, []byte{0, 9, 10, 300 & 255, 9999 & 255, 10000 & 255, 255}),
		"a priority queue goes by the number")
	_, err = p.TryTake(background)
	a.with(recipes.ErrEmpty, err, "PriorityQueue.TryTake of an empty queue")
}
