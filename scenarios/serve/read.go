package serve

import (
	"fmt"
	"slices"
	"strings"

	"zksim/internal/judge"
	"zksim/model"
)

// Read returns what the answer to a request has told its client, as far as it is the same whenever the same requests
// are made in the same order: data and version, the stems of children, that something exists; neither zxids nor times.
// It returns "" for what servers write below /zookeeper, and for an answer that is an error.
func Read(q *model.Request, res *model.Response) string {
	if res.Err != model.OK || strings.HasPrefix(q.Path, "/zookeeper") {
		return ""
	}
	switch q.Op {
	case model.OpGetData:
		return fmt.Sprintf("%q of version %d", judge.ShortData(string(res.Data)), res.Stat.Version)
	case model.OpGetChildren, model.OpGetChildren2:
		names := make([]string, len(res.Children))
		for i, name := range res.Children {
			names[i] = Stem(name)
		}
		slices.Sort(names)
		return fmt.Sprintf("%d children: %s", len(names), judge.ShortData(strings.Join(names, " ")))
	case model.OpExists, model.OpSetData:
		return fmt.Sprintf("version %d", res.Stat.Version)
	case model.OpSetACL:
		return fmt.Sprintf("ACL version %d", res.Stat.Aversion)
	case model.OpGetACL:
		return judge.ShortData(fmt.Sprintf("%v of version %d", res.ACL, res.Stat.Aversion))
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		return judge.ShortPath(Stem(res.Path))
	case model.OpMulti:
		var all []string
		for i := range min(len(q.Ops), len(res.Results)) {
			all = append(all, Read(&q.Ops[i], &res.Results[i]))
		}
		return judge.ShortData(strings.Join(all, "; "))
	}
	return ""
}

// Stem returns a path without the number of a sequential znode, and without the prefix that a library has drawn to
// recognize it.
func Stem(path string) string {
	const digits = 10
	if n := len(path) - digits; n >= 0 && strings.Trim(path[n:], "0123456789") == "" {
		path = path[:n]
	}
	dir, name := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(name, '-'); i > 0 && strings.HasSuffix(name, "-") {
		name = name[strings.LastIndexByte(name[:i], '-')+1:]
	}
	return dir + name
}
