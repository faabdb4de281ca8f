package ensemble

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

func TestAWriteThatIsRefusedOrDoneAgainstTheTxnsIsTheStores(t *testing.T) {
	past := aPast(t)
	const ephemeral, sequential, open = zk.FlagEphemeral, zk.FlagSequence, model.OpCreate
	h := &liveHost{}
	for _, x := range []struct {
		op      model.Op
		path    string
		flags   int32
		version int32
		zxid    int64
		err     model.Code
		want    string
	}{
		{open, "/a", 0, 0, 10, model.NodeExists, ""},
		{open, "/a", 0, 0, 3, model.OK, ""},
		{open, "/a/", 0, 0, 6, model.BadArguments, ""},
		{open, "/a", sequential, 0, 6, model.NodeExists, ""},
		{open, "/a", 0, 0, 6, model.NodeExists,
			"create of /a was refused with NODEEXISTS at zxid 0x6, and txn 0x4 has deleted it"},
		{open, "/e/c", ephemeral, 0, 7, model.NoChildrenForEphemerals, ""},
		{open, "/a/c", 0, 0, 10, model.NoChildrenForEphemerals,
			"create of /a/c was refused with NOCHILDRENFOREPHEMERALS at zxid 0xa, and /a is no ephemeral"},
		{open, "/a/c", 0, 0, 5, model.NoNode, ""},
		{open, "/a/c", 0, 0, 10, model.NoNode,
			"create of /a/c was refused with NONODE at zxid 0xa, and txn 0x9 has made it, and none has deleted it"},
		{model.OpDelete, "/a", 0, -1, 5, model.NoNode, ""},
		{model.OpDelete, "/a", 0, -1, 10, model.NoNode,
			"delete of /a was refused with NONODE at zxid 0xa, and txn 0x9 has made it, and none has deleted it"},
		{model.OpDelete, "/a", 0, -1, 13, model.NotEmpty, ""},
		{model.OpDelete, "/a", 0, -1, 12, model.NotEmpty,
			"delete of /a was refused with NOTEMPTY at zxid 0xc, and it has no children then"},
		{model.OpDelete, "/a", 0, 0, 4, model.OK, ""},
		{model.OpDelete, "/a", 0, 1, 4, model.OK,
			"delete of /a was done at zxid 0x4, and it was for version 1, and the txns have made it 0"},
		{model.OpDelete, "/b", 0, 1, 5, model.BadVersion,
			"delete of /b was refused with BADVERSION at zxid 0x5, and no txn has made it"},
		{model.OpSetData, "/a", 0, 0, 11, model.OK, ""},
		{model.OpSetData, "/a", 0, -1, 11, model.OK, ""},
		{model.OpSetData, "/a", 0, 0, 12, model.BadVersion, ""},
		{model.OpSetData, "/a", 0, 1, 12, model.BadVersion,
			"set of /a was refused with BADVERSION at zxid 0xc, and it was for version 1, and the txns have made it 1"},
		{model.OpSetData, "/a", 0, -1, 12, model.BadVersion,
			"set of /a was refused with BADVERSION at zxid 0xc, and it was for version -1, and the txns have made it 1"},
		{model.OpSetData, "/zookeeper/quota", 0, 1, 12, model.OK, ""},
	} {
		h.wrote = nil
		h.writes(1)(&model.Request{Op: x.op, Path: x.path, Flags: x.flags, Version: x.version}, x.zxid, x.err)
		if x.want != "" {
			x.want = "c1's " + x.want
		}
		if got := past.misjudged(h.wrote); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}
