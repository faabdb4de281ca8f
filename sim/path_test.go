package sim

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"pgregory.net/rapid"
)

// realLibrary returns a connection of the real client library that was closed
// before it reached a server: its methods still check paths.
func realLibrary(t testing.TB) *zk.Conn {
	refuse := func(network, address string, timeout time.Duration) (net.Conn, error) {
		return nil, errors.New("refused")
	}
	conn, _, err := zk.Connect([]string{"127.0.0.1:1"}, time.Second, zk.WithDialer(refuse), zk.WithLogInfo(false),
		zk.WithLogger(silence{}))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	return conn
}

type silence struct{}

func (silence) Printf(string, ...any) {}

func checkPath(t testing.TB, conn *zk.Conn, path string) {
	t.Helper()
	if want := conn.Delete(path, -1) != zk.ErrInvalidPath; clientPath(path, false) != want {
		t.Fatalf("clientPath(%q) = %v, the library says %v", path, !want, want)
	}
	_, err := conn.Create(path, nil, zk.FlagSequence, open)
	if want := err != zk.ErrInvalidPath; clientPath(path, true) != want {
		t.Fatalf("clientPath(%q) of a sequential node = %v, the library says %v", path, !want, want)
	}
}

func TestPathsAreRefusedExactlyAsTheRealLibraryRefusesThem(t *testing.T) {
	conn := realLibrary(t)
	parts := []string{"/", "/", ".", "..", "a", "\x00", "\x1f", "\x7f", "\u009f", "\u00a0", "é", "\ue000", "\uefff",
		"\uf000", "\uf8ff", "\uf900", "\uffef", "\ufff0", "\ufffd", "\uffff", "😀", "\xff", "\xc3"}
	var all func(prefix string, n int)
	all = func(prefix string, n int) {
		checkPath(t, conn, prefix)
		if n == 0 {
			return
		}
		for _, p := range []string{"/", ".", "a", "é"} {
			all(prefix+p, n-1)
		}
	}
	all("", 6)
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(t, "parts")
		path := strings.Join(list, "")
		if rapid.Bool().Draw(t, "rooted") {
			path = "/" + path
		}
		if want := conn.Delete(path, -1) != zk.ErrInvalidPath; clientPath(path, false) != want {
			t.Fatalf("clientPath(%q) = %v", path, !want)
		}
		_, err := conn.Create(path, nil, zk.FlagSequence, open)
		if want := err != zk.ErrInvalidPath; clientPath(path, true) != want {
			t.Fatalf("clientPath(%q) of a sequential node = %v", path, !want)
		}
	})
}

func FuzzPath(f *testing.F) {
	conn := realLibrary(f)
	for _, p := range []string{"", "/", "/.", "/./x", "/../x", "/a/./b", "/a//b", "/a/", "//", "a", "/\xff"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) { checkPath(t, conn, path) })
}
