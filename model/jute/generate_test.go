package jute

import (
	"slices"

	"github.com/go-zookeeper/zk"
	"pgregory.net/rapid"

	"zksim/model"
)

var (
	paths = rapid.OneOf(rapid.SampledFrom([]string{"", "/", "/a", "a/", "/a/\x00", "/\uffff",
		model.Null}), rapid.StringN(0, 9, 30))
	buffers = rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOfN(rapid.Byte(), 0, 20))
	lists   = rapid.OneOf(rapid.Just([]string{model.Null}), rapid.SliceOfN(paths, 0, 4))
	// a list that has null paths among others is read without them
	kept = rapid.Custom(func(t *rapid.T) []string {
		list := lists.Draw(t, "list")
		if len(list) == 1 {
			return list
		}
		return slices.DeleteFunc(list, func(path string) bool { return path == model.Null })
	})
	acls = rapid.OneOf(rapid.Just([]zk.ACL(nil)), rapid.SliceOfN(rapid.Custom(func(t *rapid.T) zk.ACL {
		return zk.ACL{Perms: rapid.Int32().Draw(t, "perms"), Scheme: paths.Draw(t, "scheme"), ID: paths.Draw(t, "id")}
	}), 0, 3))
	// what a server sends is as it sends it: no character beyond the basic plane
	texts = rapid.StringOf(rapid.RuneFrom([]rune("/ab0\u00e9\u20ac")))
	names = rapid.SliceOfN(texts, 0, 4)
	stats = rapid.Custom(func(t *rapid.T) zk.Stat {
		long, int := rapid.Int64(), rapid.Int32()
		return zk.Stat{Czxid: long.Draw(t, "czxid"), Mzxid: long.Draw(t, "mzxid"), Ctime: long.Draw(t, "ctime"),
			Mtime: long.Draw(t, "mtime"), Version: int.Draw(t, "version"), Cversion: int.Draw(t, "cversion"),
			Aversion: int.Draw(t, "aversion"), EphemeralOwner: long.Draw(t, "owner"),
			DataLength: int.Draw(t, "length"), NumChildren: int.Draw(t, "children"), Pzxid: long.Draw(t, "pzxid")}
	})
)

// every is all operations that have packets.
var every = []model.Op{model.OpCreate, model.OpDelete, model.OpExists, model.OpGetData, model.OpSetData, model.OpGetACL,
	model.OpSetACL, model.OpGetChildren, model.OpSync, model.OpPing, model.OpGetChildren2, model.OpCheck, model.OpMulti,
	model.OpCreate2, model.OpReconfig, model.OpCheckWatches, model.OpRemoveWatches, model.OpCreateContainer,
	model.OpDeleteContainer, model.OpCreateTTL, model.OpMultiRead, model.OpAuth, model.OpSetWatches, model.OpSASL,
	model.OpGetEphemerals, model.OpCountChildren, model.OpSetWatches2, model.OpAddWatch, model.OpWhoAmI,
	model.OpCloseSession}

// inMulti is what a multi or multiRead can have.
var inMulti = []model.Op{model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL, model.OpDelete,
	model.OpSetData, model.OpCheck, model.OpGetData, model.OpGetChildren}

// request draws a request of an operation with all its fields.
func request(t *rapid.T, op model.Op) model.Request {
	q := model.Request{Op: op}
	switch op {
	case model.OpPing, model.OpWhoAmI, model.OpCloseSession:
		return q
	case model.OpReconfig:
		for range 3 {
			q.Data = appendString(q.Data, paths.Draw(t, "servers"))
		}
		q.Data = appendInt64(q.Data, 7)
		return q
	case model.OpSASL:
		q.Data = appendBuffer(nil, buffers.Draw(t, "token"))
		return q
	case model.OpMulti, model.OpMultiRead:
		for range rapid.IntRange(0, 3).Draw(t, "ops") {
			q.Ops = append(q.Ops, request(t, rapid.SampledFrom(inMulti).Draw(t, "op")))
		}
		return q
	case model.OpSetWatches, model.OpSetWatches2:
		q.Watches = &model.WatchLists{RelativeZxid: rapid.Int64().Draw(t, "zxid"), Data: lists.Draw(t, "data"),
			Exist: lists.Draw(t, "exist"), Child: lists.Draw(t, "child")}
		if op == model.OpSetWatches2 {
			q.Watches.Persistent, q.Watches.Recursive = kept.Draw(t, "persistent"), kept.Draw(t, "recursive")
		}
		return q
	}
	q.Path = paths.Draw(t, "path")
	switch op {
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		q.Data, q.ACL, q.Flags = buffers.Draw(t, "data"), acls.Draw(t, "acl"), rapid.Int32().Draw(t, "flags")
		if op == model.OpCreateTTL {
			q.TTL = rapid.Int64().Draw(t, "ttl")
		}
	case model.OpSetData:
		q.Data, q.Version = buffers.Draw(t, "data"), rapid.Int32().Draw(t, "version")
	case model.OpSetACL:
		q.ACL, q.Version = acls.Draw(t, "acl"), rapid.Int32().Draw(t, "version")
	case model.OpDelete, model.OpCheck:
		q.Version = rapid.Int32().Draw(t, "version")
	case model.OpExists, model.OpGetData, model.OpGetChildren, model.OpGetChildren2:
		q.Watch = rapid.Bool().Draw(t, "watch")
	case model.OpAddWatch, model.OpRemoveWatches, model.OpCheckWatches:
		q.Mode = rapid.Int32().Draw(t, "mode")
	case model.OpAuth:
		q.Data = buffers.Draw(t, "auth")
	}
	return q
}

// response draws an answer without an error to a request of an operation.
func response(t *rapid.T, op model.Op) model.Response {
	res := model.Response{Op: op}
	switch op {
	case model.OpCreate, model.OpSync:
		res.Path = texts.Draw(t, "path")
	case model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		res.Path, res.Stat = texts.Draw(t, "path"), stats.Draw(t, "stat")
	case model.OpExists, model.OpSetData, model.OpSetACL:
		res.Stat = stats.Draw(t, "stat")
	case model.OpGetData, model.OpReconfig:
		res.Data, res.Stat = buffers.Draw(t, "data"), stats.Draw(t, "stat")
	case model.OpGetChildren, model.OpGetEphemerals:
		res.Children = names.Draw(t, "children")
	case model.OpGetChildren2:
		res.Children, res.Stat = names.Draw(t, "children"), stats.Draw(t, "stat")
	case model.OpGetACL:
		res.ACL = []zk.ACL{{Perms: 31, Scheme: texts.Draw(t, "scheme"), ID: texts.Draw(t, "id")}}
		res.Stat = stats.Draw(t, "stat")
	case model.OpWhoAmI:
		res.ACL = []zk.ACL{{Scheme: texts.Draw(t, "scheme"), ID: texts.Draw(t, "id")}}
	case model.OpCountChildren:
		res.Count = int(rapid.Int32().Draw(t, "count"))
	case model.OpSASL:
		res.Data = buffers.Draw(t, "token")
	case model.OpMulti:
		res.Results = results(t, model.OpCreate, model.OpCreate2, model.OpDelete, model.OpSetData, model.OpCheck)
	case model.OpMultiRead:
		res.Results = results(t, model.OpGetData, model.OpGetChildren)
	}
	return res
}

// results draws those of a multi, errors among them.
func results(t *rapid.T, ops ...model.Op) []model.Response {
	list := []model.Response{}
	for range rapid.IntRange(0, 3).Draw(t, "results") {
		op := rapid.SampledFrom(append(ops, model.OpError)).Draw(t, "op")
		res := response(t, op)
		if op == model.OpError {
			res.Err = model.Code(rapid.Int32().Draw(t, "err"))
		}
		list = append(list, res)
	}
	return list
}
