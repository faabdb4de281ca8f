package simrun

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"zksim/internal/files"
	"zksim/internal/pipeline"
	"zksim/internal/shard"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// shardName is the file that a part of a work leaves in its folder, for merge.
const shardName = "shard.json"

const shardFormat = "zksim shard 3"

// shardFile is what a part leaves. It is written when the part begins and after each scenario: a part that is killed
// has not ended.
type shardFile struct {
	Format     string          `json:"format"`
	Command    string          `json:"command"`
	Program    string          `json:"program"` // which version has run it
	Index      uint64          `json:"index"`   // from 1 on
	Of         uint64          `json:"of"`
	Checksum   string          `json:"checksum"`          // of all the rest, see sum
	Unended    string          `json:"unended,omitempty"` // why not all was done; empty if all was
	Parameters shardParameters `json:"parameters"`
	Scenarios  []shardScenario `json:"scenarios,omitempty"`
	Proofs     []shardProof    `json:"proofs,omitempty"`
}

// shardParameters are what all parts of a work must have in common.
type shardParameters struct {
	Scenarios []shardSeeds `json:"scenarios,omitempty"`
	Clients   int          `json:"clients,omitempty"`
	Rounds    int          `json:"rounds,omitempty"`
	Faults    string       `json:"faults,omitempty"`
	Strategy  string       `json:"strategy,omitempty"`
	For       string       `json:"for,omitempty"`
	Like      string       `json:"like,omitempty"` // whose semantics the servers have, unless it is ZooKeeper's

	// Of proofs: a digest of the list, which kinds of it, and how much memory a proof may take.
	Obligations string `json:"obligations,omitempty"`
	Kind        string `json:"kind,omitempty"`
	Memory      string `json:"memory,omitempty"`
	Split       string `json:"split,omitempty"` // the scope, if that is divided
}

// check returns the flags of the check that the parts belong to.
func (p *shardParameters) check() (*checkFlags, error) {
	c := &checkFlags{clients: p.Clients, rounds: p.Rounds, plan: p.Faults, strategy: p.Strategy}
	c.command = "check"
	if p.Like == "" {
		return c, nil
	}
	return c, likeValue{&c.like}.Set(p.Like)
}

// shardSeeds are the seeds of a scenario, of all parts.
type shardSeeds struct {
	Name  string `json:"name"`
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// shardScenario is the result of a scenario in a part.
type shardScenario struct {
	Name     string         `json:"name"`
	Cut      string         `json:"cut,omitempty"`    // why not all of its seeds were run, or failures explained
	Misuse   string         `json:"misuse,omitempty"` // how its code has left the simulator
	Part     engine.Part    `json:"part"`
	Failures []shardFailure `json:"failures,omitempty"` // the first of each kind, by seed
	// Explained is how far failing runs were explained, for the checkers of which not all were.
	Explained []shardExplained `json:"explained,omitempty"`
}

// shardExplained is how many failing runs of a checker were explained, those of the lowest seeds.
type shardExplained struct {
	Checker string `json:"checker"`
	Runs    int    `json:"runs"`
	Last    uint64 `json:"last"` // the highest seed of them; 0 if there are none
}

// shardFailure is a failing run, or one in which a mutant was caught.
type shardFailure struct {
	Seed     uint64 `json:"seed"`
	Steps    int    `json:"steps"`
	Checker  string `json:"checker"`
	Message  string `json:"message,omitempty"`
	Decision string `json:"decision,omitempty"`
	Decides  string `json:"decides,omitempty"` // the kind of the step that decides
	Cut      string `json:"cut,omitempty"`     // why no step that decides was looked for
	Folder   string `json:"folder,omitempty"`  // relative to that of the part; empty: there is none
	Searched bool   `json:"-"`                 // merge has found it by exhaustive search; it has no seed
	Again    string `json:"again,omitempty"`   // arguments that find it again
}

// shardWriter writes the file of a part. It is nil if there is no part or no folder for its results; then its methods
// do nothing.
type shardWriter struct {
	dir  string
	file shardFile
}

// newShard begins the file of a part. It returns nil if there is none to write.
func (c *results) newShard(part shard.Part, p shardParameters) (*shardWriter, error) {
	if part.Of == 0 || !c.asked {
		return nil, nil
	}
	program, err := programVersion()
	if err != nil {
		return nil, err
	}
	w := &shardWriter{c.out, shardFile{Format: shardFormat, Command: c.command, Program: program, Index: part.Index,
		Of: part.Of, Unended: notEnded, Parameters: p}}
	return w, w.save()
}

// sum is the checksum of a part.
func (x shardFile) sum() (string, error) {
	x.Checksum = ""
	text, err := json.Marshal(&x)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), err
}

func (w *shardWriter) save() (err error) {
	if w.file.Checksum, err = w.file.sum(); err != nil {
		return err
	}
	return files.Save(w.dir, shardName, func(out io.Writer) error { return writeIndented(out, &w.file) })
}

// writeIndented writes JSON that people can read.
func writeIndented(w io.Writer, x any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(x)
}

// add notes the result of a scenario.
func (w *shardWriter) add(s shardScenario) error {
	if w == nil {
		return nil
	}
	w.file.Scenarios = append(w.file.Scenarios, s)
	return w.save()
}

// end notes that the part has ended, and why not everything was done; empty if everything was.
func (w *shardWriter) end(why string) error {
	if w == nil {
		return nil
	}
	w.file.Unended = why
	return w.save()
}

// shardFailureOf is a failure as a part notes it. told is nil for one that is not explained.
func shardFailureOf(r *engine.Result, told *reports.RowFailure, again string) shardFailure {
	f := shardFailure{Seed: r.Schedule.Seed, Steps: r.Steps, Checker: r.Verdict.Checker, Message: r.Verdict.Message,
		Again: again}
	if told != nil {
		f.Message, f.Decision, f.Decides = told.Message, told.Decision, told.Decides
		if told.Page != "" {
			f.Folder = filepath.ToSlash(filepath.Dir(told.Page))
		}
	}
	return f
}

// ofShard is the result of a scenario, for the file of a part.
func (c *checkFlags) ofShard(s *engine.Scenario, x *pipeline.Outcome, k *kinds) shardScenario {
	y := shardScenario{Name: s.Name, Part: x.Part, Failures: k.failures, Explained: k.partly, Cut: k.cut}
	if x.Status == engine.Caught && len(y.Failures) == 0 { // not explained without -v
		y.Failures = append(y.Failures, shardFailureOf(&x.Failure, nil, c.again(s, x)))
	}
	if x.Status == engine.Nondeterministic && y.Part.Differs == nil {
		y.Part.Differs = &engine.PartNote{Seed: x.Failure.Schedule.Seed, Text: x.Why}
	}
	return y
}

// programVersion names the version of the program: the commit that it was built from and how, or, if it was not built
// from that alone, a digest of the executable.
var programVersion = sync.OnceValues(func() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		if version := builtFrom(info); version != "" {
			return version, nil
		}
	}
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return "executable " + hex.EncodeToString(sum.Sum(nil)[:8]), nil
})

// builtFrom names the commit, the version of Go and the settings that a program was built from; "" if there are
// uncommitted changes, or a dependency that is not a published version, such as a folder beside it.
func builtFrom(info *debug.BuildInfo) string {
	revision, modified := "", true
	settings := sha256.New()
	for _, s := range info.Settings {
		fmt.Fprintf(settings, "%s=%s\n", s.Key, s.Value)
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			modified = s.Value != "false"
		}
	}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		modified = modified || d.Sum == ""
	}
	if revision == "" || modified {
		return ""
	}
	return fmt.Sprintf("%s %s %s %s", info.Path, revision, info.GoVersion, hex.EncodeToString(settings.Sum(nil)[:4]))
}

// readShard reads the file of a part from its folder.
func readShard(dir string) (*shardFile, error) {
	x := &shardFile{}
	return x, readStrictly(filepath.Join(dir, shardName), shardFormat, x)
}

// readStrictly reads JSON of a format from a regular file into x, which checks it. Unknown fields and trailing data are
// errors.
func readStrictly(name, format string, x interface{ check() error }) error {
	text, err := files.Read(name)
	if err != nil {
		return err
	}
	if err = files.Unmarshal(text, x); err == nil {
		err = x.check()
	}
	if err != nil {
		return fmt.Errorf("%s is not a %s: %w", name, format, err)
	}
	return nil
}

var errNoShards = errors.New("expected folders of parts, which check, and prove with -split or -obligations, leave " +
	"with -shard and -o, or folders of these")
