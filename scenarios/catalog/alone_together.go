package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"zksim/recipes"
)

// goroutines is how many goroutines use one object.
const goroutines = 3

// each has goroutines of the client do something at once.
func (a alone) each(name string, f func(i int) error) {
	var waits []func() error
	for i := range goroutines {
		waits = append(waits, a.background(name, func(context.Context) error { return f(i) }))
	}
	for _, wait := range waits {
		a.fine(wait(), name+" by several goroutines at once")
	}
}

// together has several goroutines use one object at once, for each recipe that allows it.
func (a alone) together() {
	c := recipes.NewCounter(a.p.Conn, a.p.Env, a.path("counter-together"), recipes.CounterOptions{})
	var of [goroutines][]int64
	a.each("Counter.Add", func(i int) error {
		for range 2 {
			sum, err := c.Add(background, 1)
			if err != nil {
				return err
			}
			of[i] = append(of[i], sum)
		}
		return nil
	})
	sums := slices.Concat(of[:]...)
	slices.Sort(sums)
	a.is(slices.Equal(sums, []int64{1, 2, 3, 4, 5, 6}), "each sum of a counter is somebody's")

	n := recipes.NewNames(a.p.Conn, a.p.Env, a.path("names-together"), recipes.NamesOptions{Owner: "me"})
	a.each("Names.Register and Unregister", func(i int) error {
		name := fmt.Sprint("n-", i)
		if err := n.Register(background, name, []byte(name)); err != nil {
			return err
		}
		data, err := n.Resolve(background, name)
		a.is(err == nil && string(data) == name, "a name resolves to its data, whatever other goroutines register")
		return n.Unregister(background, name)
	})
	list, err := n.List(background)
	a.is(err == nil && len(list) == 0, "nothing is left of names that several goroutines have given up")

	g := recipes.NewGroup(a.p.Conn, a.p.Env, a.path("group-together"), recipes.GroupOptions{})
	a.each("Group.Join and Membership.Leave", func(i int) error {
		name := fmt.Sprint("m", i)
		m, err := g.Join(background, name, []byte(name))
		if err != nil {
			return err
		}
		members, err := g.List(background)
		mine := slices.IndexFunc(members, func(c recipes.Child) bool { return c.Name == name })
		a.is(err == nil && mine >= 0 && string(members[mine].Data) == name, "each of several members is listed")
		return m.Leave(background)
	})
	members, err := g.List(background)
	a.is(err == nil && len(members) == 0, "nothing is left of members that have left")
	a.updatesTogether()
}

// updatesTogether has several goroutines update a configuration.
func (a alone) updatesTogether() {
	c := recipes.NewConfig(a.p.Conn, a.p.Env, a.path("config-together"), recipes.ConfigOptions{})
	f := recipes.NewFlaggedConfig(a.p.Conn, a.p.Env, a.path("flagged-together"), recipes.ConfigOptions{})
	base, err := c.Get(background)
	a.is(err == nil, "Config.Get")
	values := func(i int) map[string][]byte {
		text := []byte(strings.Repeat("x", i))
		return map[string][]byte{"a": text, "b": text}
	}
	var updated, flagged [goroutines]bool
	a.each("Config.Update", func(i int) error {
		err := c.Update(background, base, values(i))
		updated[i] = err == nil
		if errors.Is(err, recipes.ErrConfigChanged) {
			return nil
		}
		return err
	})
	a.is(made(updated) == 1, "of several updates of one set one is made")
	a.each("FlaggedConfig.Update", func(i int) error {
		err := f.Update(background, values(i))
		flagged[i] = err == nil
		if errors.Is(err, recipes.ErrConfigChanged) {
			return nil
		}
		return err
	})
	a.is(made(flagged) > 0, "of several updates behind a flag one is made")
	for _, get := range []func(context.Context) (recipes.ConfigSet, error){c.Get, f.Get} {
		set, err := get(background)
		a.is(err == nil && len(set.Values) == 2 && bytes.Equal(set.Values["a"], set.Values["b"]),
			"after several updates at once the set is that of one of them")
	}
}

// made returns how many updates were made.
func made(by [goroutines]bool) (n int) {
	for _, ok := range by {
		if ok {
			n++
		}
	}
	return n
}
