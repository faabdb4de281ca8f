package txnlog_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/txnlog"
	"zksim/internal/zkserver/zkservertest"
	"zksim/model"
	"zksim/recipes/live"
)

func TestTheLogOfARealServerHoldsWhatWasCommitted(t *testing.T) {
	e := zkservertest.ForTest(t, 1)
	c, err := live.Dial(t.Context(), e.Addrs(), live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	acl := zk.WorldACL(zk.PermAll)
	do := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now().UnixMilli()
	do(c.Create("/a", []byte("x"), 0, acl))
	do(c.Create("/a/n-", nil, zk.FlagEphemeral|zk.FlagSequence, acl))
	do(c.Set("/a", []byte("yy"), -1))
	if _, err := c.Create("/a", nil, 0, acl); !errors.Is(err, zk.ErrNodeExists) {
		t.Fatal(err)
	}
	do(c.Multi(&zk.CreateRequest{Path: "/b", Acl: acl}, &zk.SetDataRequest{Path: "/b", Data: []byte("z"), Version: -1},
		&zk.DeleteRequest{Path: "/b", Version: -1}))
	if _, err := c.Multi(&zk.CreateRequest{Path: "/b", Acl: acl}, &zk.CreateRequest{Path: "/a", Acl: acl}); err == nil {
		t.Fatal("a multi that fails has no error")
	}
	session := c.SessionID()
	c.Close()
	txns, err := txnlog.Folder(e.LogDir(0))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, x := range txns {
		if x.Session != session {
			t.Errorf("of session %x: %+v", x.Session, x)
		}
		if i > 0 && x.Zxid != txns[i-1].Zxid+1 {
			t.Errorf("0x%x follows 0x%x", x.Zxid, txns[i-1].Zxid)
		}
		if x.Time < begin-10_000 || x.Time > time.Now().UnixMilli() {
			t.Errorf("at %d: %+v", x.Time, x)
		}
		fmt.Fprint(&b, x.Op)
		for _, y := range x.Changes {
			fmt.Fprintf(&b, ", %v %s %q %v %d", y.Op, y.Path, y.Data, y.Owned, y.Nth)
		}
		fmt.Fprintln(&b)
	}
	want := fmt.Sprintf(`%v
create, create /a "x" false 1
create, create /a/n-0000000000 "" true 1
%v, %v /a "yy" false 0
%v
multi, create /b "" false 2, %v /b "z" false 0, delete /b "" false 0
multi
%v, delete /a/n-0000000000 "" false 0
`, model.OpCreateSession, model.OpSetData, model.OpSetData, model.OpError, model.OpSetData, model.OpCloseSession)
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	cutAnywhere(t, e.LogDir(0), len(txns))
}

// cutAnywhere reads the log with fewer and fewer bytes: what a killed server leaves behind ends anywhere.
func cutAnywhere(t *testing.T, folder string, txns int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "log.*"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.TrimRight(string(text), "\x00"))
	for n := range text {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "log.1"), text[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := txnlog.Folder(dir); err != nil || len(got) >= txns {
			t.Fatalf("%d of %d bytes: %d txns, %v", n, len(text), len(got), err)
		}
	}
}

func TestWhatIsNoLogIsAnError(t *testing.T) {
	entry := func(body string) string {
		return "ZKLG" + strings.Repeat("\x00", 12) + strings.Repeat("\x00", 11) + string(rune(len(body))) + body + "B"
	}
	for name, x := range map[string]struct{ text, want string }{
		"log.x": {"", "is not named after a zxid"},
		"log.1": {strings.Repeat("?", 16), "no log of txns"},
		"log.2": {entry("short"), "an entry ends too early"},
		"log.3": {entry(strings.Repeat("\x00", 31) + "\x01"), "an entry ends too early"},
	} {
		dir := filepath.Join(t.TempDir(), "a[1]") // which as a pattern would be another folder
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(x.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := txnlog.Folder(dir); err == nil || !strings.HasSuffix(err.Error(), x.want) {
			t.Errorf("%s: %v, want %s", name, err, x.want)
		}
	}
	if txns, err := txnlog.Folder(t.TempDir()); err != nil || len(txns) > 0 {
		t.Errorf("an empty folder: %v, %v", txns, err)
	}
}

func TestALogSaysWhatNotEverybodyMayRead(t *testing.T) {
	text := func(b []byte, s string) []byte {
		return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	for _, x := range []struct {
		acl  []zk.ACL
		want bool
	}{
		{zk.WorldACL(zk.PermAll), false},
		{zk.WorldACL(zk.PermWrite), true},
		{zk.DigestACL(zk.PermAll, "a", "b"), true},
		{append(zk.DigestACL(zk.PermAll, "a", "b"), zk.WorldACL(zk.PermRead)...), false},
	} {
		body := make([]byte, 28) // whose, and when
		body = binary.BigEndian.AppendUint32(body, uint32(model.OpCreate))
		body = binary.BigEndian.AppendUint32(text(text(body, "/a"), "data"), uint32(len(x.acl)))
		for _, a := range x.acl {
			body = text(text(binary.BigEndian.AppendUint32(body, uint32(a.Perms)), a.Scheme), a.ID)
		}
		body = append(body, 1, 0, 0, 0, 7)
		file := append([]byte("ZKLG"), make([]byte, 12+8)...)
		file = append(append(binary.BigEndian.AppendUint32(file, uint32(len(body))), body...), 'B')
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "log.1"), file, 0o644); err != nil {
			t.Fatal(err)
		}
		txns, err := txnlog.Folder(dir)
		want := txnlog.Change{Op: model.OpCreate, Path: "/a", Data: "data", Owned: true, Shut: x.want, Nth: 7}
		if err != nil || len(txns) != 1 || len(txns[0].Changes) != 1 || txns[0].Changes[0] != want {
			t.Errorf("%+v: %+v, %v", x.acl, txns, err)
		}
	}
}
