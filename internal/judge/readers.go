package judge

import (
	"strconv"

	"zksim/model"
)

// other keeps a znode with another name and a number.
func (l *locks) other(path string, client int32) {
	prefix := unnumbered(path)
	number, err := strconv.ParseInt(path[len(prefix):], 10, 64)
	if prefix == "" || err != nil {
		return
	}
	in := l.others[model.Folder(path)]
	if in == nil {
		in = map[string]*waiter{}
		l.others[model.Folder(path)] = in
	}
	if client > 0 || in[path] == nil { // nobody knows whose one is that only a listing shows
		in[path] = &waiter{path: path, number: number, client: client}
	}
}

// reads reports whether a client has a znode of another name behind w. That may be one of a reader, which waits for w,
// while another thread of the client is a writer.
func (l *locks) reads(f *folder, w *waiter, client int32) bool {
	for _, x := range l.others[f.path] { // order-free: whether there is one
		if x.client == client && before(w, x) {
			return true
		}
	}
	return false
}
