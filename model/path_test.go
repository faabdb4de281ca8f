package model_test

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf16"

	"zksim/internal/transcript"
	"zksim/model"
)

// slowValidPath is a second ValidPath: it looks at the UTF-16 units of the path
// as the server does, one component after the other.
func slowValidPath(path string) bool {
	units := utf16.Encode([]rune(path))
	if len(units) == 0 || units[0] != '/' {
		return false
	}
	if len(units) == 1 {
		return true
	}
	components := [][]uint16{nil}
	for _, u := range units[1:] {
		if u == '/' {
			components = append(components, nil)
			continue
		}
		last := len(components) - 1
		components[last] = append(components[last], u)
	}
	for _, c := range components {
		dots := 0
		for _, u := range c {
			switch {
			case u == '.':
				dots++
			case u <= 0x1f, 0x7f <= u && u <= 0x9f, 0xd800 <= u && u <= 0xf8ff, 0xfff0 <= u:
				return false
			}
		}
		if len(c) == dots && dots <= 2 { // also the empty component
			return false
		}
	}
	return true
}

// goldenPaths calls f with every step of the recordings about odd paths.
func goldenPaths(t testing.TB, f func(step *transcript.Step)) {
	t.Helper()
	for _, name := range []string{"h02_create_bad_paths", "h03_write_bad_paths", "h04_read_bad_paths"} {
		file, err := os.Open(filepath.Join("..", "internal", "transcript", "testdata", "golden", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		tr, err := transcript.Parse(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		for i := range tr.Steps {
			f(&tr.Steps[i])
		}
	}
}

// TestValidPathIsTheServersVerdict: setData looks at the path before anything
// else, and so says which paths the real server takes for valid.
func TestValidPathIsTheServersVerdict(t *testing.T) {
	tried := 0
	goldenPaths(t, func(step *transcript.Step) {
		if step.Op != "set" {
			return
		}
		tried++
		if got, want := model.ValidPath(step.Path), step.Res.Err != "BADARGUMENTS"; got != want {
			t.Errorf("ValidPath(%q) = %v, the server says %v", step.Path, got, want)
		}
	})
	if tried < 20 {
		t.Errorf("only %d paths", tried)
	}
}

// FuzzValidPath compares ValidPath with its slow reference.
func FuzzValidPath(f *testing.F) {
	goldenPaths(f, func(step *transcript.Step) { f.Add(step.Path) })
	for _, r := range []rune{0x1f, 0x20, 0x7e, 0x7f, 0x9f, 0xa0, 0xd7ff, 0xe000, 0xf8ff, 0xf900, 0xffef, 0xfff0, 0xffff,
		0x10000} {
		f.Add("/a" + string(r))
		f.Add("/" + string(r) + "/.b")
	}
	f.Add("/\xff")
	f.Add("/\xed\xa0\x80") // a surrogate in UTF-8
	f.Fuzz(func(t *testing.T, path string) {
		if got, want := model.ValidPath(path), slowValidPath(path); got != want {
			t.Errorf("ValidPath(%q) = %v, want %v", path, got, want)
		}
	})
}
