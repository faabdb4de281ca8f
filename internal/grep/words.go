// Package grep finds patterns in runs: what happened, to which client, and in which order. Patterns use the words of
// histories and schedules. The package knows neither files nor scenarios.
package grep

import (
	"slices"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

// class is what a word of a pattern names.
type class uint8

const (
	kindWord       class = iota // a kind of event
	faultWord                   // a fault
	stateWord                   // a new state of a session
	transitionWord              // a transition that is not a fault
	aliasWord                   // one of several words
)

func (c class) String() string {
	return [...]string{"events", "faults", "states of a session", "transitions", "short for others"}[c]
}

// primary is a word that says what has happened.
type primary struct {
	name  string
	class class
	kind  history.Kind // of a kindWord
	any   []string     // of an aliasWord
	takes argument     // of a transition or a fault
}

// argument is what the name of a transition ends with.
type argument uint8

const (
	nothing argument = iota
	server           // s1
	number           // 2, of choose
)

func (x argument) String() string { return [...]string{"argument", "server", "number"}[x] }

// argumentOf returns what kind of an argument a word is.
func argumentOf(word string) argument {
	digits, of := strings.CutPrefix(word, "s")
	switch {
	case digits == "" || strings.Trim(digits, "0123456789") != "":
		return nothing
	case of:
		return server
	}
	return number
}

// aliases stand for any of several words.
var aliases = []primary{
	{name: "expiry", class: aliasWord, any: []string{"expire", "exceeded", "expired"}},
	{name: "txn", class: aliasWord, any: []string{"created", "changed", "deleted"}},
}

// primaries returns all such words. They come from the tables that name what happens, so everything can be looked for.
// A word in several tables stands for all of its meanings.
var primaries = sync.OnceValue(func() []primary {
	var list []primary
	for _, name := range history.KindNames() {
		kind, _ := history.KindOf(name)
		list = append(list, primary{name: name, class: kindWord, kind: kind})
	}
	for i := range faults.Table {
		if f := &faults.Table[i]; f.Strikes() {
			p := primary{name: f.Name, class: faultWord}
			if f.OfServer() {
				p.takes = server
			}
			list = append(list, p)
		}
	}
	for _, s := range []string{zk.StateDisconnected.String(), zk.StateHasSession.String(), zk.StateExpired.String(),
		history.Closed} {
		list = append(list, primary{name: stateName(s), class: stateWord})
	}
	w := sim.NewWorld() // it names its transitions
	defer w.Close()
	w.Reset(sim.Config{Clients: 1, Servers: 1}, nil, func(*sim.Client) {})
	for k := range sim.Kinds {
		m := transition(1, w.Name(sim.Transition{Kind: k, Client: 1}))
		list = append(list, primary{name: m.Verb, class: transitionWord, takes: argumentOf(m.Arg)})
	}
	return append(list, aliases...)
})

// stateName is the word for a state of a session.
func stateName(state string) string { return strings.ToLower(strings.TrimPrefix(state, "State")) }

// requestNames are the operations of ZooKeeper itself.
func requestNames() []string {
	var list []string
	for op := model.OpCloseSession; op <= model.OpWhoAmI; op++ {
		if op.String() == model.Op(0).String() { // no operation has this number
			continue
		}
		for _, watch := range []bool{false, true} {
			if name := sim.OpName(&model.Request{Op: op, Watch: watch}); !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// eventNames are the types of watch events.
func eventNames() []string {
	var list []string
	for _, t := range []zk.EventType{zk.EventNodeCreated, zk.EventNodeDeleted, zk.EventNodeDataChanged,
		zk.EventNodeChildrenChanged, zk.EventNotWatching} {
		list = append(list, history.EventName(t))
	}
	return list
}

// wordsOf returns the words of a class.
func wordsOf(c class) (list []string) {
	for _, p := range primaries() {
		if p.class == c {
			list = append(list, p.name)
		}
	}
	return list
}

// Words returns the words of patterns as text, a line for each class.
func Words() string {
	var b strings.Builder
	for c := kindWord; c <= aliasWord; c++ {
		b.WriteString(c.String() + ": " + strings.Join(wordsOf(c), ", ") + "\n")
	}
	return b.String()
}
