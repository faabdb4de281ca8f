// Package overlay changes Go's runtime, for the flag -overlay of the go command, so that in a bubble of
// testing/synctest everything that the runtime decides comes from a seed. It knows nothing about the simulator.
// Programs use it through package internal/turns.
//
// The changed files are generated from those of the user's own GOROOT. Nothing is written to GOROOT.
package overlay

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"zksim/internal/files"
)

// added is the file that is added to the runtime.
//
//go:embed turns.go.txt
var added string

// addedName is the name of the added file, and Description the name of the file that -overlay takes.
const (
	addedName   = "zksim_turns.go"
	Description = "overlay.json"
)

// Generate writes an overlay for a version of Go, like go1.26.8, below dir, and returns the file that -overlay takes.
// pkg is the import path of the package whose functions seedBubble and readBubble the runtime implements. Generate
// fails if the runtime of the version is not known, or if an anchor does not occur exactly once.
func Generate(goroot, goversion, pkg, dir string) (file string, err error) {
	if !slices.Contains(releases, version.Lang(goversion)) {
		return "", fmt.Errorf("overlay: the runtime of %s is not known, expected one of %s", goversion,
			strings.Join(releases, ", "))
	}
	texts := map[string]string{}
	for _, e := range edits {
		path := filepath.Join(goroot, "src", "runtime", e.file)
		if texts[path] == "" {
			text, err := os.ReadFile(path)
			if err != nil {
				return "", fmt.Errorf("overlay: %w", err)
			}
			texts[path] = string(text)
		}
		if n := strings.Count(texts[path], e.anchor); n != 1 {
			return "", fmt.Errorf("overlay: the runtime of %s is not known: %s has %d times %q, expected it once",
				goversion, path, n, e.anchor)
		}
		texts[path] = strings.Replace(texts[path], e.anchor, e.change, 1)
	}
	texts[filepath.Join(goroot, "src", "runtime", addedName)] = strings.ReplaceAll(added, "PACKAGE", pkg)
	return save(texts, goversion, dir)
}

// save writes the files, which have their paths in GOROOT as keys, into a folder with a hash of their content in its
// name. So an overlay that is in use never changes. The go command finds no package in a folder with such a name.
func save(texts map[string]string, goversion, dir string) (file string, err error) {
	hash := sha256.New()
	paths := slices.Sorted(maps.Keys(texts))
	for _, path := range paths {
		fmt.Fprintf(hash, "%s %d\n%s", path, len(texts[path]), texts[path])
	}
	dir, err = filepath.Abs(filepath.Join(dir, fmt.Sprintf("_%s-%x", goversion, hash.Sum(nil)[:6])))
	replace := map[string]string{}
	for _, path := range paths {
		name := saved(path)
		replace[path] = filepath.Join(dir, name)
		if err == nil {
			err = files.Save(dir, name, func(w io.Writer) error { _, err := io.WriteString(w, texts[path]); return err })
		}
	}
	if err == nil {
		err = files.Save(dir, Description, func(w io.Writer) error {
			return json.NewEncoder(w).Encode(map[string]any{"Replace": replace})
		})
	}
	if err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	return filepath.Join(dir, Description), nil
}

// saved returns the name under which a file of GOROOT is saved. It has the name of the package's folder, because
// several packages have files of the same name.
func saved(path string) string { return filepath.Base(filepath.Dir(path)) + "_" + filepath.Base(path) }

// Link makes a folder of symbolic links below dir to everything in a GOROOT, and returns its path. The go command
// refuses overlays of files in the module cache, where it keeps the releases that it downloads.
func Link(goroot, dir string) (string, error) {
	entries, err := os.ReadDir(goroot)
	if err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	link, err := filepath.Abs(filepath.Join(dir, filepath.Base(goroot)))
	if err == nil {
		err = os.MkdirAll(link, 0o777)
	}
	for _, e := range entries {
		name := filepath.Join(link, e.Name())
		if _, missing := os.Stat(name); missing != nil && err == nil {
			err = os.Symlink(filepath.Join(goroot, e.Name()), name)
			if errors.Is(err, fs.ErrExist) { // another process was faster, or the link is broken
				_, err = os.Stat(name)
			}
		}
	}
	if err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	return link, nil
}
