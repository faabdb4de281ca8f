package ensemble

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

func TestTheHistoryOfARealRunHasThePathsOfItsScenario(t *testing.T) {
	const root = "/zksim-1"
	var h history.History
	h.Reset(1)
	h.Add(history.Event{Path: root + "/a", Data: root + "/b", Err: fmt.Errorf("%s/a: %w", root, zk.ErrNoNode)})
	h.Add(history.Event{Path: root, Err: zk.ErrNoNode})
	h.Tree = []history.Node{{Path: root}, {Path: root + "/a", Data: "x"}}
	h.Waiting = []history.Waiting{{Client: 1, Paths: []string{root + "/a"}}}
	h.Known[root+"/a"] = true
	h.Failed[1] = "no " + root + "/a"
	relative(&h, root)
	if e := h.Events[0]; e.Path != "/a" || e.Data != "/b" || e.Err.Error() != "/a: zk: node does not exist" ||
		!errors.Is(e.Err, zk.ErrNoNode) {
		t.Errorf("%v", e)
	}
	if e := h.Events[1]; e.Path != "/" || e.Err != zk.ErrNoNode {
		t.Errorf("%v", e)
	}
	if h.Tree[0].Path != "/" || h.Tree[1].Path != "/a" || h.Tree[1].Data != "x" || h.Waiting[0].Paths[0] != "/a" ||
		!h.Known["/a"] || len(h.Known) != 1 || h.Failed[1] != "no /a" {
		t.Errorf("%+v", h)
	}
}
