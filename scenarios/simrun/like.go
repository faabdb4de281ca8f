package simrun

import (
	"flag"
	"fmt"

	"zksim/internal/edit"
	"zksim/model"
)

// likeValue is the value of -like.
type likeValue struct{ like *model.Like }

// likeFlag defines -like.
func likeFlag(f *flag.FlagSet, l *model.Like) {
	f.Var(likeValue{l}, "like", "whose semantics the simulated servers have: zookeeper, which is 3.8.0, zookeeper-3.9 "+
		"(docs/releases.md), or keeper, which is ClickHouse Keeper (docs/keeper.md)")
}

// String implements [flag.Value]; the flag package asks the zero value, too.
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
	*v.like = l
	return nil
}
