// Package txnlog reads the logs in which a ZooKeeper server keeps its txns: what was committed, in which order, and for
// which session. No client can know that about a request whose answer it never saw. The package reads the format of 3.5
// to 3.9 and changes nothing.
package txnlog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"zksim/model"
)

// Txn is one entry of a log.
type Txn struct {
	Zxid    int64
	Session int64 // of the client; for a closeSession, the one that ends
	Xid     int32 // that the client gave its request; 0 for what servers do by themselves
	Time    int64 // when the leader proposed it, in milliseconds since 1970
	Op      model.Op
	Changes []Change // none for a request that failed
}

// String is the txn as a line, without the data of its znodes.
func (t Txn) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "0x%x %s session 0x%x xid %d %v", t.Zxid, time.UnixMilli(t.Time).UTC().Format("15:04:05.000"),
		uint64(t.Session), t.Xid, t.Op)
	for i, c := range t.Changes {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		fmt.Fprintf(&b, "%s%v %s", sep, c.Op, c.Path)
	}
	return b.String()
}

// Is reports whether both are the same.
func (t *Txn) Is(x *Txn) bool {
	return t.Zxid == x.Zxid && t.Session == x.Session && t.Xid == x.Xid && t.Time == x.Time && t.Op == x.Op &&
		slices.Equal(t.Changes, x.Changes)
}

// Change is what a txn does to a znode. A txn of one operation has one, a multi has one for each operation, and a
// closeSession has one for each ephemeral that the log names.
type Change struct {
	Op    model.Op // create, delete or setData
	Path  string
	Data  string
	Owned bool  // a create of an ephemeral
	Shut  bool  // a create of a znode that not everybody may read
	Nth   int32 // a create: how many children its parent had had by then, this one included
}

const (
	magic     = "ZKLG"
	headLen   = 16 // magic, version, id of the database
	entryHead = 12 // checksum, length
	entryEnd  = 'B'
	mayRead   = 1 // of the rights
)

// Folder reads the logs in the folder version-2 of a server's data, one file after the other. A server that a leader
// has brought up to date may have logged txns twice, so zxids may go back from one file to the next. Folder leaves out
// an incomplete last entry: the server was killed or is still writing it.
func Folder(dir string) ([]Txn, error) {
	names, err := fs.Glob(os.DirFS(dir), "log.*") // the name of dir is no pattern
	if err != nil {
		return nil, fmt.Errorf("txnlog: %w", err)
	}
	type file struct {
		first uint64
		name  string
	}
	var files []file
	for _, name := range names {
		_, zxid, _ := strings.Cut(name, ".")
		first, err := strconv.ParseUint(zxid, 16, 64)
		if err != nil {
			return nil, fmt.Errorf("txnlog: %s is not named after a zxid", filepath.Join(dir, name))
		}
		files = append(files, file{first, filepath.Join(dir, name)})
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.first, b.first) })
	var all []Txn
	for _, f := range files {
		text, err := os.ReadFile(f.name)
		if err != nil {
			return nil, fmt.Errorf("txnlog: %w", err)
		}
		if all, err = parse(all, text); err != nil {
			return nil, fmt.Errorf("txnlog: %s: %w", f.name, err)
		}
	}
	return all, nil
}

var errFormat = errors.New("no log of txns")

// parse appends the txns of one file.
func parse(all []Txn, text []byte) ([]Txn, error) {
	if len(text) < headLen { // just made
		return all, nil
	}
	if string(text[:4]) != magic {
		return nil, errFormat
	}
	for rest := text[headLen:]; len(rest) >= entryHead; {
		n := int(binary.BigEndian.Uint32(rest[8:]))
		if n == 0 || len(rest) < entryHead+n+1 || rest[entryHead+n] != entryEnd {
			break // preallocated space, or an incomplete entry
		}
		t, err := entry(rest[entryHead : entryHead+n])
		if err != nil {
			return nil, err
		}
		all = append(all, t)
		rest = rest[entryHead+n+1:]
	}
	return all, nil
}

// entry reads one txn: a header, and a record that depends on the operation.
func entry(text []byte) (Txn, error) {
	r := reader{rest: text}
	t := Txn{Session: r.int64(), Xid: r.int32(), Zxid: r.int64(), Time: r.int64(), Op: model.Op(r.int32())}
	switch t.Op {
	case model.OpMulti:
		for n := r.int32(); n > 0 && !r.short; n-- {
			op, data := model.Op(r.int32()), r.string()
			if op == model.OpError { // if one failed, all did
				t.Changes = nil
				return t, r.err()
			}
			sub := reader{rest: []byte(data)}
			t.Changes = sub.change(t.Changes, op)
			r.short = r.short || sub.short
		}
	case model.OpCloseSession:
		if len(r.rest) < 4 { // servers of 3.5 name none
			break
		}
		for n := r.int32(); n > 0 && !r.short; n-- {
			t.Changes = append(t.Changes, Change{Op: model.OpDelete, Path: r.string()})
		}
	default:
		t.Changes = r.change(t.Changes, t.Op)
	}
	return t, r.err()
}

// reader reads the fields of a record. Past the end it returns zeros, and sets short.
type reader struct {
	rest  []byte
	short bool
}

// change reads the record of an operation. It adds nothing if the operation changes no znode that clients see.
func (r *reader) change(all []Change, op model.Op) []Change {
	switch op {
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		c := Change{Op: model.OpCreate, Path: r.string(), Data: r.string(), Shut: true}
		for n := r.int32(); n > 0 && !r.short; n-- { // the rights
			perms, scheme, _ := r.int32(), r.string(), r.string()
			c.Shut = c.Shut && (scheme != "world" || perms&mayRead == 0)
		}
		if op == model.OpCreate || op == model.OpCreate2 {
			c.Owned = r.take(1)[0] != 0
		}
		c.Nth = r.int32()
		return append(all, c)
	case model.OpDelete, model.OpDeleteContainer:
		return append(all, Change{Op: model.OpDelete, Path: r.string()})
	case model.OpSetData:
		return append(all, Change{Op: model.OpSetData, Path: r.string(), Data: r.string()})
	}
	return all
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.short, r.rest = true, nil
		return make([]byte, 8)
	}
	field := r.rest[:n]
	r.rest = r.rest[n:]
	return field
}

func (r *reader) int32() int32 { return int32(binary.BigEndian.Uint32(r.take(4))) }
func (r *reader) int64() int64 { return int64(binary.BigEndian.Uint64(r.take(8))) }

// string reads a string or a buffer; the length of a null one is -1.
func (r *reader) string() string {
	n := r.int32()
	if n < 0 {
		return ""
	}
	if int(n) > len(r.rest) {
		r.short, r.rest = true, nil
		return ""
	}
	return string(r.take(int(n)))
}

func (r *reader) err() error {
	if r.short {
		return errors.New("an entry ends too early")
	}
	return nil
}
