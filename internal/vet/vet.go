// Package vet finds in the source of simulated code what the simulator cannot see or repeat: waiting, clocks,
// goroutines, randomness and orders that do not come from a recipes.Env. It must know nothing of how a run works. Of
// this module it knows only the names of the types that mark simulated code.
//
// [Analyzer] has the rules. docs/vet.md describes them for users.
package vet

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// Analyzer reports in simulated code what does not come from the code's Env.
//
// A function is simulated if its receiver or one of its parameters is, or holds in its fields, a recipes.Conn, a
// recipes.Env, a *scenarios.Process or a scenarios.Object. It is also simulated if a simulated function of the same
// package mentions it. What a function of another package of the same module does is reported where a simulated
// function mentions it, unless that function is itself simulated. The comment //zksim:ignore with a reason silences
// findings.
var Analyzer = &analysis.Analyzer{
	Name: "zksim",
	Doc: `find in simulated code what does not come from its Env

Code that takes a recipes.Conn, a recipes.Env or a *scenarios.Process runs in the
simulator, where all waiting, time, concurrency and randomness must come from the Env.
This analyzer reports everything else in it, and what to write instead.
The comment "//zksim:ignore reason" on a line or above it silences what is found there,
above a function what is found in it, and above the package clause what is found
in the file.`,
	Run:       run,
	FactTypes: []analysis.Fact{new(outside)},
}

// finding is something that simulated code must not have. "what why" is a sentence.
type finding struct {
	pos  token.Pos
	what string // such as time.Sleep
	why  string // what is wrong with it; what to write instead
	via  string // the function of another package that is used at pos and has it; "": it is at pos
	at   string // where it is, if there is a via
}

func (f *finding) message() string {
	if f.via == "" {
		return f.what + " " + f.why
	}
	return fmt.Sprintf("%s leads to %s (%s), which %s", f.via, f.what, f.at, f.why)
}

// outside is what other packages know about a function that is not simulated: what happens if simulated code calls it.
type outside struct {
	Module    string
	What, Why string // of the first finding
	At        string // package, file and line
}

// AFact marks outside as a fact about functions.
func (*outside) AFact() {}

// String is what tests of facts compare.
func (o *outside) String() string { return o.What + " at " + o.At }

func run(pass *analysis.Pass) (any, error) {
	s := newScan(pass)
	for _, f := range pass.Files {
		s.file(f)
	}
	ignores, complaints, err := ignoresOf(pass)
	if err != nil {
		return nil, err
	}
	for _, u := range s.units {
		u.findings = slices.DeleteFunc(u.findings, func(f finding) bool { return ignores.silence(pass.Fset, f.pos) })
	}
	s.reach()
	found := append(complaints, ignores.idle()...)
	for _, u := range s.units {
		if !u.simulated {
			continue
		}
		for _, f := range u.findings {
			message := f.message()
			if u.by != nil {
				message += fmt.Sprintf(" (simulated because %s uses %s)", u.by.name, u.name)
			}
			found = append(found, analysis.Diagnostic{Pos: f.pos, Message: message})
		}
	}
	s.exportFacts()
	slices.SortStableFunc(found, func(a, b analysis.Diagnostic) int { return cmp.Compare(a.Pos, b.Pos) })
	for _, d := range found {
		pass.Report(d)
	}
	return nil, nil
}
