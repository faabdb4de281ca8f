//go:build unix

package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFolderThatOthersCouldHaveMadeIsNotUsed(t *testing.T) {
	for _, x := range []struct {
		name  string
		there func(dir string) error
		same  bool
	}{
		{"nothing", func(string) error { return nil }, true},
		{"its own folder", func(dir string) error { return os.Mkdir(dir, 0o755) }, true},
		{"a link", func(dir string) error { return os.Symlink(t.TempDir(), dir) }, false},
		{"a file", func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, false},
		{"a folder for everybody", func(dir string) error {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.Chmod(dir, 0o777)
		}, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			want := filepath.Join(os.TempDir(), "zksim-1")
			if err := x.there(want); err != nil {
				t.Fatal(err)
			}
			got, err := Own("zksim-1")
			if err != nil || (got == want) != x.same || !strings.HasPrefix(got, want) {
				t.Errorf("%s, %v", got, err)
			}
			if info, err := os.Lstat(got); err != nil || !info.IsDir() {
				t.Errorf("%s is no folder: %v", got, err)
			}
		})
	}
}
