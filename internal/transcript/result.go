package transcript

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"zksim/model"

	"github.com/go-zookeeper/zk"
)

// result writes a response as the recorder would have: the fields that the
// operation's reply has on the wire, and no others.
func (d *driver) result(op model.Op, res *model.Response) Result {
	r := Result{Zxid: new(res.Zxid), Reply: Reply{Err: res.Err.String()}}
	if res.Err != model.OK {
		return r
	}
	d.fill(&r.Reply, op, res)
	switch op {
	case model.OpGetChildren, model.OpGetChildren2:
		r.N = new(len(res.Children))
	case model.OpGetEphemerals:
		r.Paths = wireTexts(res.Children)
		r.N = new(len(res.Children))
	case model.OpCountChildren:
		r.N = new(res.Count)
	case model.OpGetACL:
		for _, e := range res.ACL {
			r.ACL = append(r.ACL, ACL{e.Perms, wireText(e.Scheme), wireText(e.ID)})
		}
	case model.OpWhoAmI:
		for _, e := range res.ACL {
			r.Info = append(r.Info, e.Scheme+":"+wireText(e.ID))
		}
	}
	for i := range res.Results {
		sub := SubResult{Type: res.Results[i].Op, Reply: Reply{Err: res.Results[i].Err.String()}}
		d.fill(&sub.Reply, sub.Type, &res.Results[i])
		r.Results = append(r.Results, sub)
	}
	return r
}

// fill adds what a successful result of type op has, both at top level and inside a multi.
func (d *driver) fill(r *Reply, op model.Op, res *model.Response) {
	switch op {
	case model.OpCreate, model.OpSync:
		r.Path = new(wireText(res.Path))
	case model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		r.Path = new(wireText(res.Path))
		r.Stat = d.stat(&res.Stat)
	case model.OpSetData, model.OpSetACL, model.OpExists, model.OpGetACL:
		r.Stat = d.stat(&res.Stat)
	case model.OpGetData:
		r.Stat = d.stat(&res.Stat)
		switch {
		case res.Data == nil:
			r.DataNull = true
		case len(res.Data) > maxShownData:
			r.DataLen = new(len(res.Data))
		default:
			r.Data = new(string(res.Data))
		}
	case model.OpGetChildren:
		r.Children = wireTexts(res.Children)
	case model.OpGetChildren2:
		r.Stat = d.stat(&res.Stat)
		r.Children = wireTexts(res.Children)
	}
}

// stat translates a Stat, and checks its times against those of its txns.
func (d *driver) stat(s *zk.Stat) *Stat {
	d.checkTime("ctime", s.Czxid, s.Ctime)
	d.checkTime("mtime", s.Mzxid, s.Mtime)
	st := &Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Pzxid: s.Pzxid,
		Version: s.Version, Cversion: s.Cversion, Aversion: s.Aversion,
		DataLength: s.DataLength, NumChildren: s.NumChildren,
	}
	if id := s.EphemeralOwner; id > 0 && id <= int64(len(d.sessions)) {
		st.EphemeralOwner = d.sessions[id-1].name
	} else if id != 0 {
		st.EphemeralOwner = "unknown session " + strconv.FormatInt(id, 10)
	}
	return st
}

func (d *driver) checkTime(field string, zxid, got int64) {
	if zxid < 0 || zxid >= int64(len(d.times)) || d.times[zxid] != got {
		d.badTimes = append(d.badTimes, Difference{
			Field: "stat." + field, Want: "the time of txn " + strconv.FormatInt(zxid, 10), Got: strconv.FormatInt(got, 10),
		})
	}
}

// wireText is what becomes of a string that the server sends. The server encodes a character beyond the basic plane as
// two surrogates of three bytes each. That is not UTF-8, so the recorder's JSON has six replacement characters.
func wireText(s string) string {
	i := strings.IndexFunc(s, beyondBasicPlane)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if beyondBasicPlane(r) {
			b.WriteString(strings.Repeat(string(utf8.RuneError), 6))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func beyondBasicPlane(r rune) bool { return utf16.RuneLen(r) == 2 }

func wireTexts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = wireText(s)
	}
	return out
}
