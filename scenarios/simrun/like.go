package simrun

import (
	"flag"
	"fmt"

	"zksim/internal/edit"
	"zksim/model"
	"zksim/scenarios/engine"
)

// like is what -like says.
type like struct {
	model.Like
	given bool // otherwise each scenario has its own servers
}

// of gives a scenario those servers.
func (l like) of(s *engine.Scenario) {
	if l.given {
		s.Like = l.Like
	}
}

// arg returns the flag, with a space before it.
func (l like) arg() string {
	if !l.given {
		return ""
	}
	return " -like " + l.String()
}

// likeValue is the value of -like.
type likeValue struct{ like *like }

// likeFlag defines -like.
func likeFlag(f *flag.FlagSet, l *like) {
	f.Var(likeValue{l}, "like", "what the simulated servers behave like: zookeeper (3.8.0), zookeeper-3.6 or "+
		"zookeeper-3.9 (docs/releases.md), or keeper (ClickHouse Keeper, docs/keeper.md)")
}

// String implements [flag.Value]; the flag package also calls it on the zero value.
func (v likeValue) String() string {
	if v.like == nil {
		return ""
	}
	return v.like.String()
}

// Set implements [flag.Value].
func (v likeValue) Set(name string) error {
	l, err := model.ParseLike(name)
	if err != nil {
		return fmt.Errorf("%w%s", err, edit.Meant(name, model.Likes()))
	}
	*v.like = like{l, true}
	return nil
}
