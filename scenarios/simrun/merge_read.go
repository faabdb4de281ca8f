package simrun

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// partRead is a part and the folder that it was read from.
type partRead struct {
	*shardFile
	dir string
}

// parts are the parts of a work that exist, by number.
type parts struct {
	list   []partRead
	of     uint64
	absent []string // the numbers of the missing parts
	notes  []string // what is missing, in sentences

	damaged func(error) // what to do with the error of a file that is none of a part; nil: it is one of the merge
}

// readParts reads the parts in folders. Each folder is that of a part, or has folders of parts. It fails unless they
// are parts of one work, run by one version of the program, and that is this version. A damaged part in a folder of
// parts is missing, if damaged is there to be told.
func readParts(dirs []string, damaged func(error)) (*parts, error) {
	if len(dirs) == 0 {
		return nil, errNoShards
	}
	p := &parts{damaged: damaged}
	for _, dir := range dirs {
		if err := p.read(dir); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(p.list, func(a, b partRead) int { return int(a.Index) - int(b.Index) })
	if err := p.check(); err != nil {
		return nil, err
	}
	p.of = p.list[0].Of
	p.missing()
	return p, nil
}

// read reads the part in a folder, or the parts in its subfolders.
func (p *parts) read(dir string) error {
	x, err := readShard(dir)
	if err == nil {
		p.list = append(p.list, partRead{x, filepath.Clean(dir)})
		return nil
	}
	if info, missing := os.Stat(dir); missing == nil && !info.IsDir() {
		return fmt.Errorf("%s is no folder: %w", dir, errNoShards)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		sub := filepath.Join(dir, e.Name())
		x, err := readShard(sub)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil && p.damaged != nil {
			p.damaged(err)
			continue
		}
		if err != nil {
			return err
		}
		found = true
		p.list = append(p.list, partRead{x, sub})
	}
	if !found {
		return fmt.Errorf("%s has no %s: %w", dir, shardName, errNoShards)
	}
	return nil
}

// check refuses parts that do not belong together.
func (p *parts) check() error {
	program, err := programVersion()
	if err != nil {
		return err
	}
	one := p.list[0]
	for i, x := range p.list {
		switch {
		case x.Program != one.Program:
			return fmt.Errorf("%s was run by %s, and %s by %s, expected one version", one.dir, one.Program, x.dir, x.Program)
		case x.Command != one.Command:
			return fmt.Errorf("%s is a part of %s, and %s one of %s, expected one command", one.dir, one.Command, x.dir,
				x.Command)
		case x.Of != one.Of:
			return fmt.Errorf("%s is one of %d parts, and %s one of %d, expected parts of one work", one.dir, one.Of, x.dir,
				x.Of)
		case !reflect.DeepEqual(x.Parameters, one.Parameters):
			return fmt.Errorf("%s and %s were run with other parameters (%s), expected the same", one.dir, x.dir,
				differing(&one.Parameters, &x.Parameters))
		case i > 0 && x.Index == p.list[i-1].Index:
			return fmt.Errorf("%s and %s are both part %d/%d, expected each once", p.list[i-1].dir, x.dir, x.Index, x.Of)
		}
	}
	if one.Program != program {
		return fmt.Errorf("the parts were run by %s, and this is %s, expected one version", one.Program, program)
	}
	return nil
}

// differing names a parameter that differs, and both values.
func differing(a, b *shardParameters) string {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		if v, w := x.Field(i).Interface(), y.Field(i).Interface(); !reflect.DeepEqual(v, w) {
			return fmt.Sprintf("%s: %.80s and %.80s", strings.ToLower(x.Type().Field(i).Name), fmt.Sprint(v), fmt.Sprint(w))
		}
	}
	return ""
}

// missing notes which parts are missing or have not ended.
func (p *parts) missing() {
	there := map[uint64]bool{}
	for _, x := range p.list {
		there[x.Index] = true
		if x.Unended != "" {
			p.notes = append(p.notes, fmt.Sprintf("part %d/%d in %s is not done: %s", x.Index, x.Of, x.dir,
				reports.Printable(x.Unended)))
		}
	}
	for i := uint64(1); i <= p.of; i++ {
		if !there[i] {
			p.absent = append(p.absent, fmt.Sprint(i))
		}
	}
	if len(p.absent) > 0 {
		p.notes = append(p.notes, fmt.Sprintf("not there: %s", p.named(p.absent)))
	}
}

// undone returns, in order, the numbers of the parts that are missing, have not ended, lack runs of a scenario, or have
// a portion that is missing or damaged.
func (p *parts) undone() (numbers []string) {
	for i := uint64(1); i <= p.of; i++ {
		k := slices.IndexFunc(p.list, func(x partRead) bool { return x.Index == i })
		if k < 0 || !p.done(&p.list[k]) {
			numbers = append(numbers, fmt.Sprint(i))
		}
	}
	return numbers
}

// done reports whether a part has all that it should, and notes what is damaged.
func (p *parts) done(x *partRead) bool {
	if x.Unended != "" || slices.ContainsFunc(x.Scenarios, func(s shardScenario) bool { return s.Cut != "" }) {
		return false
	}
	err := x.portionError()
	if err != nil {
		p.damaged(err)
	}
	return err == nil
}

// mostNamed is how many parts are named one by one.
const mostNamed = 20

// named names parts by their numbers.
func (p *parts) named(numbers []string) string {
	word, more := "part", ""
	if len(numbers) > 1 {
		word = "parts"
	}
	if len(numbers) > mostNamed {
		numbers, more = numbers[:mostNamed], fmt.Sprintf(" and %d more", len(numbers)-mostNamed)
	}
	return fmt.Sprintf("%s %s%s of %d", word, strings.Join(numbers, ", "), more, p.of)
}

// folderOf returns the folder of a failure, and its name below that of its scenario.
func (m *merge) folderOf(s *engine.Scenario, f *mergedFailure) (dir, name string, err error) {
	if f.Folder == "" {
		return "", "", errors.New("the part could not write one")
	}
	name = path.Base(f.Folder)
	if !seedFolder.MatchString(name) || f.Folder != pipeline.FileName(s)+"/"+name {
		return "", "", fmt.Errorf("%.80q is no folder of a failure of %s", f.Folder, s.Name)
	}
	return filepath.Join(f.dir, filepath.FromSlash(f.Folder)), name, nil
}
