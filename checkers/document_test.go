package checkers

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the tables of docs/checkers.md anew")

const tables = "<!-- from here on: go test ./checkers -run Documentation -rewrite -->\n"

// TestTheDocumentationIsWhatCheckersSay compares docs/checkers.md with what the checkers say of themselves.
func TestTheDocumentationIsWhatCheckersSay(t *testing.T) {
	const file = "../docs/checkers.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	intro, rest, ok := strings.Cut(string(text), tables)
	if !ok {
		t.Fatalf("%s lacks the line %s", file, tables)
	}
	want := document()
	if *rewrite {
		if err := os.WriteFile(file, []byte(intro+tables+want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if rest != want {
		t.Errorf("%s is not what the checkers say; run go test ./checkers -run Documentation -rewrite", file)
	}
}

// document returns the tables: all checkers, and the words of each.
func document() string {
	var b strings.Builder
	b.WriteString("\n## What each needs\n\n| checker | what it promises | it needs, in at least one run " +
		"|\n|---|---|---|\n")
	for _, c := range everyChecker {
		var needs []string
		if c.(Declaring).Needs().Txns {
			needs = append(needs, "txns")
		}
		for _, n := range c.(Declaring).Needs().Seen {
			mark := ""
			if n.Simulated {
				mark = " (*)"
			}
			needs = append(needs, n.What+mark)
		}
		if len(needs) == 0 {
			needs = []string{"nothing: it judges every run"}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", title(c), c.Doc(), strings.Join(needs, "; "))
	}
	b.WriteString("\n## Words\n")
	for _, c := range everyChecker {
		list := c.(Declaring).Needs().Words
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n| word | of | what it stands for |\n|---|---|---|\n", title(c))
		for i := 0; i < len(list); {
			w := list[i]
			var same []string
			for ; i < len(list) && list[i].Class == w.Class && list[i].Doc == w.Doc &&
				list[i].Unjudged == w.Unjudged; i++ {
				same = append(same, "`"+list[i].Op+"`")
			}
			doc := w.Doc
			if w.Unjudged {
				doc += "; its events change no verdict"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(same, " "), events[w.Class], doc)
		}
	}
	return b.String()
}

// events says which events have the words of each class.
var events = [...]string{Operation: "Invoke, Return", Telling: "Told", Mode: "Acquired, Write"}

// title is the name of a checker in the documentation: its type, and that it counts leases.
func title(c Checker) string {
	name := "`" + reflect.TypeOf(c).Name() + "`"
	if f := reflect.ValueOf(c).FieldByName("Leases"); f.IsValid() && f.Int() > 0 {
		name += " with Leases"
	}
	if c, ok := c.(Waits); ok && c.For == AwaitedItem {
		name += " for an AwaitedItem"
	}
	if c, ok := c.(Claim); ok {
		name += [...]string{"", " of a ClaimedPlace", " of a ClaimedMember"}[c.Of]
	}
	return name
}
