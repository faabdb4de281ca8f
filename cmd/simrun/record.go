package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// recorder passes on what is printed about each scenario: as it is, or as the
// events of go tool test2json, and besides into a JUnit file.
type recorder struct {
	out   io.Writer
	json  bool
	junit string // file, or empty
	began time.Time
	suite junit.Testsuite
	code  int // the worst that was recorded, 0 if all is well
}

// suiteName stands where go test names the package. Its readers take what is before
// a slash for a test with subtests and want to hear of that, too: root.
const (
	suiteName = "zksim"
	root      = "check"
)

func newRecorder(out io.Writer, asJSON bool, junitFile string) (*recorder, error) {
	r := &recorder{out: out, json: asJSON, junit: junitFile, began: time.Now(), suite: junit.Testsuite{Name: suiteName}}
	if junitFile != "" {
		if info, err := os.Stat(junitFile); err == nil && info.IsDir() || strings.HasSuffix(junitFile, "/") {
			return nil, fmt.Errorf("-junit: %s is a folder, not a file", junitFile)
		}
		if err := writable(filepath.Dir(junitFile)); err != nil {
			return nil, fmt.Errorf("-junit: %w", err)
		}
	}
	return r, errors.Join(r.event(event{Action: "start"}), r.event(event{Action: "run", Test: root}))
}

// event is one line of test2json.
type event struct {
	Time    time.Time
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
	e.Time, e.Package = time.Now(), suiteName
	return json.NewEncoder(r.out).Encode(e)
}

// print writes what somebody should read, about a scenario or, if that is empty,
// about all.
func (r *recorder) print(scenario, text string) error {
	if !r.json {
		_, err := io.WriteString(r.out, text)
		return err
	}
	for line := range strings.Lines(text) {
		if err := r.event(event{Action: "output", Test: path.Join(root, scenario), Output: line}); err != nil {
			return err
		}
	}
	return nil
}

// scenario records one scenario: run prints its lines and returns an exit status.
func (r *recorder) scenario(name string, run func(out io.Writer) (int, error)) (int, error) {
	began := time.Now()
	if err := r.event(event{Action: "run", Test: path.Join(root, name)}); err != nil {
		return 0, err
	}
	var text bytes.Buffer
	code, failure := run(&text)
	took := time.Since(began)
	what := code
	if failure != nil {
		what = exitUsage
		if r.json { // elsewhere it is on the standard error, and there only
			text.WriteString(oneLine(failure.Error()) + "\n")
		}
	}
	if err := r.print(name, text.String()); err != nil {
		return 0, err
	}
	if failure != nil && !r.json {
		text.WriteString(failure.Error())
	}
	r.code = max(r.code, what)
	r.suite.AddTestcase(testcase(name, what, text.String(), took))
	if err := r.event(ending(path.Join(root, name), what, took)); err != nil {
		return 0, err
	}
	return code, failure
}

func ending(name string, code int, took time.Duration) event {
	seconds := took.Seconds()
	e := event{Action: "fail", Test: name, Elapsed: &seconds}
	if code == exitHeld {
		e.Action = "pass"
	}
	return e
}

// testcase is a scenario in the words of JUnit: a failure is a property that does
// not hold, an error is anything else for which the scenario has no verdict.
func testcase(name string, code int, text string, took time.Duration) junit.Testcase {
	text = printable(text)
	c := junit.Testcase{Classname: suiteName, Name: name, Time: seconds(took)}
	head, _, _ := strings.Cut(text, "\n")
	problem := &junit.Result{Message: strings.TrimSpace(head), Data: text}
	switch code {
	case exitHeld:
		c.SystemOut = &junit.Output{Data: text}
	case exitViolation:
		problem.Type = "violation"
		c.Failure = problem
	default:
		problem.Type = map[int]string{exitUsage: "error", exitInconclusive: "inconclusive",
			exitNondeterministic: "nondeterministic"}[code]
		c.Error = problem
	}
	return c
}

// printable leaves out what XML has no way to write.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// close ends the record and writes the JUnit file.
func (r *recorder) close() error {
	took := time.Since(r.began)
	r.suite.Time = seconds(took)
	err := errors.Join(r.event(ending(root, r.code, took)), r.event(ending("", r.code, took)))
	if err != nil || r.junit == "" {
		return err
	}
	all := junit.Testsuites{Name: suiteName, Time: r.suite.Time}
	all.AddSuite(r.suite)
	return save(filepath.Dir(r.junit), filepath.Base(r.junit), func(w io.Writer) error {
		if _, err := io.WriteString(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"); err != nil {
			return err
		}
		return all.WriteXML(w)
	})
}
