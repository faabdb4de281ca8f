package nemesis

import (
	"testing"

	"zksim/model"
)

func TestTheDiaryNamesRequestsByThePathsOfTheScenario(t *testing.T) {
	n := &Nemesis{o: Options{Root: "/zksim-1"}}
	for want, q := range map[string]model.Request{
		"create /lock/a": {Op: model.OpCreate, Path: "/zksim-1/lock/a"},
		"existsW /":      {Op: model.OpExists, Watch: true, Path: "/zksim-1"},
		"setWatches":     {Op: model.OpSetWatches},
		"multi of check /q and delete /q/a": {Op: model.OpMulti, Ops: []model.Request{
			{Op: model.OpCheck, Path: "/zksim-1/q"}, {Op: model.OpDelete, Path: "/zksim-1/q/a"}}},
	} {
		if got := n.words(&q); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
