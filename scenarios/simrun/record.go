package simrun

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"zksim/scenarios/engine"
)

// recorder passes on what is printed about each scenario, as it is or as the events of go tool test2json, and also
// writes a JUnit file. That file always says only what is known so far, so a run that is killed leaves no file that
// claims more than was found out.
type recorder struct {
	out   io.Writer
	root  string // the command
	json  bool
	junit *output // nil: none
	began time.Time
	still bool // events have no times, so the same results give the same bytes
	cases []junit.Testcase
	cut   []string // scenarios that were interrupted
	todo  []string // those that have not begun
	code  int      // the worst that was recorded, 0 if all is well

	problem *junit.Result // of the whole run, nil: none
}

// suiteName stands where go test names the package. Readers of test2json take what is before a slash for a test with
// subtests, and expect events for that as well: root, the command.
const suiteName = "zksim"

// What a JUnit file says of scenarios without a verdict.
const (
	interrupted = "interrupted"
	notEnded    = "the run has not ended"
	failedFast  = "-failfast"
	broken      = "an error has ended the run"
)

// outcome is the result of one scenario.
type outcome struct {
	code int
	cut  bool // by an interruption
	left bool // to the merge of all parts
}

// record makes the recorder of these scenarios, after checking that the JUnit file can be written.
func (c *results) record(a *app, scenarios []string) (*recorder, error) {
	r := &recorder{out: a.out, root: c.command, json: c.json, still: c.still, began: time.Now(), todo: scenarios}
	if c.junit == stdStream && c.json {
		return nil, errors.New("-json and -junit - both write to the standard output")
	}
	if c.junit != "" {
		var err error
		if err = c.beside(namedFile{"junit", c.junit}); err != nil {
			return nil, err
		}
		if r.junit, err = a.openOutput(c.command, "junit", c.junit); err != nil {
			return nil, err
		}
	}
	return r, errors.Join(r.soFar(), r.event(event{Action: "start"}), r.event(event{Action: "run", Test: r.root}))
}

// beside returns an error if a file is one that commands write into the folder of -o.
func (c *results) beside(x namedFile) error {
	if x.name != "" && c.writes(x.name) {
		return fmt.Errorf("-%s: %s is a file that commands write into the folder of -o, expected another", x.flag, x.name)
	}
	return nil
}

// writes reports whether a file is one that commands write into the folder of -o.
func (c *results) writes(file string) bool {
	return slices.ContainsFunc([]string{"index.html", shardName, portionName, findingsName, tableName, obligationsName},
		func(name string) bool { return sameFile(file, filepath.Join(c.out, name)) })
}

// scenarioNames returns the names of scenarios.
func scenarioNames(list []*engine.Scenario) (names []string) {
	for _, s := range list {
		names = append(names, s.Name)
	}
	return names
}

// fails ends the record of a run that an error has ended, and returns that error.
func (r *recorder) fails(ctx context.Context, err error) error {
	r.fail("error", oneLine(err.Error()))
	return errors.Join(err, r.close(ctx, broken))
}

// end prints the last lines, ends the record and returns the exit status. An interrupted scenario has not held, and a
// file that could not be written is an error.
func (r *recorder) end(ctx context.Context, a *app, t *tally, text string, lost []error) (int, error) {
	cut, undone, why := ctx.Err() != nil, slices.Concat(r.cut, r.todo), failedFast
	failure := unwritten(lost)
	if failure != nil {
		r.fail("error", oneLine(failure.Error()))
	}
	if cut {
		text, why = text+", "+interrupted, interrupted
		r.fail(interrupted, interrupted)
	}
	err := errors.Join(r.print("", text+"\n"), r.close(ctx, why), failure)
	if cut {
		a.interrupted(r.root, undone)
	}
	code := codes[t.worst()]
	if cut {
		code = cmp.Or(code, exitInconclusive)
	}
	return code, err
}

// event is one line of test2json.
type event struct {
	Time    time.Time `json:",omitzero"`
	Action  string
	Package string
	Test    string   `json:",omitempty"`
	Elapsed *float64 `json:",omitempty"` // seconds
	Output  string   `json:",omitempty"`
}

func (r *recorder) event(e event) error {
	if !r.json {
		return nil
	}
	if e.Package = suiteName; !r.still {
		e.Time = time.Now()
	}
	return json.NewEncoder(r.out).Encode(e)
}

// print prints a text about a scenario or, if that is empty, about all.
func (r *recorder) print(scenario, text string) error {
	if !r.json {
		_, err := io.WriteString(r.out, text)
		return err
	}
	for line := range strings.Lines(text) {
		if err := r.event(event{Action: "output", Test: path.Join(r.root, scenario), Output: line}); err != nil {
			return err
		}
	}
	return nil
}

// since is how long ago a time was, or 0 if the recorder is still.
func (r *recorder) since(began time.Time) time.Duration {
	if r.still {
		return 0
	}
	return time.Since(began)
}

// scenario records the next scenario: run prints its lines and returns its result.
func (r *recorder) scenario(name string, run func(out io.Writer) (outcome, error)) (int, error) {
	began := time.Now()
	if err := r.event(event{Action: "run", Test: path.Join(r.root, name)}); err != nil {
		return 0, err
	}
	var text bytes.Buffer
	x, failure := run(&text)
	took := r.since(began)
	if r.todo = r.todo[1:]; x.cut {
		r.cut = append(r.cut, name)
	}
	if failure != nil {
		x.code = exitUsage
		if r.json { // otherwise it is only on the standard error
			text.WriteString(oneLine(failure.Error()) + "\n")
		}
	}
	if err := r.print(name, text.String()); err != nil {
		return 0, err
	}
	if failure != nil && !r.json {
		text.WriteString(failure.Error())
	}
	r.code = max(r.code, x.code)
	r.cases = append(r.cases, testcase(name, x, text.String(), took))
	r.soFar() // what cannot be written now is an error at the end
	end := ending(path.Join(r.root, name), x.code, took)
	if x.left {
		end.Action = "skip"
	}
	if err := r.event(end); err != nil {
		return 0, err
	}
	return x.code, failure
}

// each records the scenarios that have not begun, one after the other, by number. If one ends in an error, each ends
// the record and returns the error. It ends early when ctx is done or, with failfast, when one has not held.
func (r *recorder) each(
	ctx context.Context, failfast bool, run func(i int, out io.Writer) (outcome, error),
) error {
	for i, name := range r.todo {
		code, err := r.scenario(name, func(out io.Writer) (outcome, error) { return run(i, out) })
		if err != nil {
			return r.fails(ctx, err)
		}
		if ctx.Err() != nil || failfast && code != exitHeld {
			break
		}
	}
	return nil
}

func ending(name string, code int, took time.Duration) event {
	seconds := took.Seconds()
	e := event{Action: "fail", Test: name, Elapsed: &seconds}
	if code == exitHeld {
		e.Action = "pass"
	}
	return e
}

// testcase is a scenario in the words of JUnit: a failure is a property that does not hold, an error is any other
// reason why the scenario has no verdict.
func testcase(name string, x outcome, text string, took time.Duration) junit.Testcase {
	text = printable(text)
	c := junit.Testcase{Classname: suiteName, Name: name, Time: seconds(took)}
	head, _, _ := strings.Cut(text, "\n")
	problem := &junit.Result{Message: strings.TrimSpace(head), Data: text}
	switch {
	case x.cut:
		problem.Type = interrupted
		c.Error = problem
	case x.left:
		c.Skipped = &junit.Result{Message: onlyMerge, Data: text}
	case x.code == exitHeld:
		c.SystemOut = &junit.Output{Data: text}
	case x.code == exitViolation:
		problem.Type = "violation"
		c.Failure = problem
	default:
		types := map[int]string{exitUsage: "error", exitInconclusive: "inconclusive",
			exitNondeterministic: "nondeterministic"}
		problem.Type = types[x.code]
		c.Error = problem
	}
	return c
}

// printable drops what XML cannot represent.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// fail notes a problem of the whole run, of the given type.
func (r *recorder) fail(kind, message string) {
	r.code = max(r.code, exitUsage)
	r.problem = &junit.Result{Type: kind, Message: printable(message)}
}

// close ends the record and writes the JUnit file. Scenarios that have not begun are skipped, with why as the reason.
func (r *recorder) close(ctx context.Context, why string) error {
	took := r.since(r.began)
	var errs []error
	for _, name := range r.todo {
		if !r.json {
			break
		}
		test, none := path.Join(r.root, name), 0.0
		errs = append(errs, r.event(event{Action: "run", Test: test}), r.print(name, "not run: "+why+"\n"),
			r.event(event{Action: "skip", Test: test, Elapsed: &none}))
	}
	content := r.file(r.problem, why)
	if r.junit != nil && r.junit.replaced {
		if err := r.junit.write(ctx, content); err != nil {
			r.code, errs = max(r.code, exitUsage), append(errs, err)
		}
	}
	errs = append(errs, r.event(ending(r.root, r.code, took)), r.event(ending("", r.code, took)))
	if r.junit != nil && !r.junit.replaced { // last, because a pipe may have no reader yet
		errs = append(errs, r.junit.write(ctx, content))
	}
	return errors.Join(errs...)
}

// soFar writes what is known so far, if the file can be replaced later.
func (r *recorder) soFar() error {
	if r.junit == nil || !r.junit.replaced {
		return nil
	}
	problem := &junit.Result{Type: interrupted, Message: notEnded}
	return r.junit.write(context.Background(), r.file(problem, notEnded))
}

// file returns a function that writes the JUnit file: a case for each scenario, and one for a problem of the whole run
// if there is one.
func (r *recorder) file(problem *junit.Result, why string) func(w io.Writer) error {
	took := seconds(r.since(r.began))
	one := junit.Testsuite{Name: suiteName, Time: took}
	if problem != nil {
		one.AddTestcase(junit.Testcase{Classname: suiteName, Name: r.root, Time: took, Error: problem})
	}
	for _, c := range r.cases {
		one.AddTestcase(c)
	}
	for _, name := range r.todo {
		skipped := &junit.Result{Message: why}
		one.AddTestcase(junit.Testcase{Classname: suiteName, Name: name, Time: seconds(0), Skipped: skipped})
	}
	all := &junit.Testsuites{Name: suiteName, Time: took}
	all.AddSuite(one)
	return func(w io.Writer) error {
		if _, err := io.WriteString(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"); err != nil {
			return err
		}
		return all.WriteXML(w)
	}
}
