package reports

import (
	"html"
	"html/template"
	"regexp"
	"slices"
	"strings"
)

// simulated are the words of the glossary that mean something only in simulated runs.
var simulated = []string{"fault plan", "hash", "random futures", "schedule", "seed"}

// glossaryOf returns what the page of a failure needs of the glossary.
func glossaryOf(f *Failure) []fact {
	if !f.live() {
		return glossary
	}
	return slices.DeleteFunc(slices.Clone(glossary), func(x fact) bool { return slices.Contains(simulated, x.Name) })
}

// glossary explains words that readers of a page may not know, in alphabetical order.
var glossary = []fact{
	{"czxid", "the zxid of the txn that has created a znode; recipes take it as a token, since it only grows"},
	{"ensemble", "the servers of one ZooKeeper; a client has a connection to one of them at a time"},
	{"ephemeral", "said of a znode that a session owns: it is deleted when that ends"},
	{"fault plan", "what may go wrong in a run, and how often"},
	{"hash", "a digest of the whole run: two runs with the same hash did the same"},
	{"herd", "clients that are woken at once although only one of them can go on"},
	{"linearizable", "said of operations whose answers are as if each had happened at one moment between its " +
		"call and its return"},
	{"random futures", "runs that begin with the same steps and go on by chance, without further faults"},
	{"schedule", "the list of the steps of a run, which repeats it exactly"},
	{"seed", "a number that decides all random choices of a run, and so repeats it"},
	{"session", "what ties a client to the ensemble for longer than a connection; it expires when nothing was " +
		"heard of the client for too long"},
	{"token", "a number that grows with each holder of a lock, so that a resource can refuse what an earlier " +
		"holder still writes"},
	{"txn", "a change of the tree; all servers apply all txns in the same order"},
	{"watch", "the wish of a client to be told of the next change of a znode, once"},
	{"znode", "a node of ZooKeeper's tree; it has data, a version and perhaps children"},
	{"zxid", "the number of a txn, in the order in which all servers apply them"},
}

// glossed finds the words of the glossary, and their plurals.
var glossed = func() *regexp.Regexp {
	words := make([]string, len(glossary))
	for i, f := range glossary {
		words[i] = f.Name
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)(?:s|es)?\b`)
}()

// besides are characters that make a word beside them a part of a path or name.
const besides = "/_-#.:*\\"

// gloss makes a text fit for a page. Each word of the glossary has its meaning to hover over, the first time it occurs.
func gloss(s string) template.HTML {
	var b strings.Builder
	seen, done := map[string]bool{}, 0
	for _, m := range glossed.FindAllStringSubmatchIndex(s, -1) {
		word := strings.ToLower(s[m[2]:m[3]])
		inName := m[0] > 0 && strings.IndexByte(besides, s[m[0]-1]) >= 0 ||
			m[1]+1 < len(s) && strings.IndexByte(besides, s[m[1]]) >= 0 && s[m[1]+1] != ' '
		if seen[word] || inName {
			continue
		}
		seen[word] = true
		b.WriteString(html.EscapeString(s[done:m[0]]))
		b.WriteString(`<abbr title="` + html.EscapeString(meaning(word)) + `">` + html.EscapeString(s[m[0]:m[1]]) +
			`</abbr>`)
		done = m[1]
	}
	b.WriteString(html.EscapeString(s[done:]))
	return template.HTML(b.String()) // every piece was escaped
}

// meaning is what a word of the glossary means.
func meaning(word string) string {
	for _, f := range glossary {
		if f.Name == word {
			return f.Value
		}
	}
	return ""
}
