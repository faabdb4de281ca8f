package reports

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"zksim/model/history"
)

// names shortens the paths of a run so that sentences can be read: a znode whose name has a GUID or a sequence number
// goes by "lock#3". The result is printable and of bounded length, whatever a program has used as path or data.
type names struct {
	short    map[string]string // by path
	replacer *strings.Replacer
}

// longest is how many characters of one piece of text are shown.
const longest = 240

var (
	sequence = regexp.MustCompile(`^(.*?)-?(-?\d{10})$`)
	digits   = regexp.MustCompile(`([0-9a-f]{4})[0-9a-f]{28}`)
	guid     = regexp.MustCompile(`_?[a-z]?_?(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})[-_]?`)
)

// newNames names the paths of a history and its trace.
func newNames(h *history.History, t *history.Trace) *names {
	paths := pathsOf(h, t, 0, len(t.Steps))
	bearers := map[string]int{}
	for p := range paths {
		bearers[nickname(p)]++
		bearers[longNickname(p)]++
	}
	n := &names{short: map[string]string{}}
	var pairs []string
	// the longest comes first, because it may begin with another
	for _, p := range slices.SortedFunc(maps.Keys(paths), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	}) {
		for _, nick := range []string{nickname(p), longNickname(p)} {
			if nick != "" && bearers[nick] == 1 {
				n.short[p] = clip(Printable(nick))
				pairs = append(pairs, p, nick)
				break
			}
		}
	}
	n.replacer = strings.NewReplacer(pairs...)
	return n
}

// pathsOf returns the znodes that there is news of between two steps. A sentence of code is also in the path of an
// event. It is no znode: if it ends with one, it would have, or take away, the short name of that.
func pathsOf(h *history.History, t *history.Trace, first, last int) map[string]bool {
	paths := map[string]bool{}
	for i := range h.Events {
		p, at := h.Events[i].Path, int(h.Events[i].Step)
		if at >= first && at <= last && strings.HasPrefix(p, "/") {
			paths[p] = true
		}
	}
	for i := range h.Waiting {
		for _, p := range h.Waiting[i].Paths {
			paths[p] = true
		}
	}
	note := func(rows []history.Row) {
		for _, r := range rows {
			if r.Table == history.Znodes {
				paths[r.Key] = true
			}
		}
	}
	note(t.Rows)
	for i := first; i < last; i++ {
		note(t.Steps[i].Rows)
	}
	return paths
}

// nickname returns the short name of a path, if it is the only one with that name. It returns "" for a path that needs
// none.
func nickname(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	plain := guid.ReplaceAllString(name, "")
	if m := sequence.FindStringSubmatch(plain); m != nil {
		if number, err := strconv.ParseInt(m[2], 10, 64); err == nil {
			return fmt.Sprintf("%s#%d", m[1], number)
		}
	}
	if plain == name || plain == "" {
		return ""
	}
	return plain + "*"
}

// longNickname returns a nickname with the folder before it, for names that are the same in several folders.
func longNickname(path string) string {
	nick := nickname(path)
	parts := strings.Split(path, "/")
	if nick == "" || len(parts) < 3 {
		return ""
	}
	return parts[len(parts)-2] + "/" + nick
}

// text makes a sentence of a run fit to be shown.
func (n *names) text(s string) string {
	return clip(Printable(digits.ReplaceAllString(n.replacer.Replace(s), "$1…")))
}

// Printable makes what a program has said fit for a terminal: one line, in which every character that is not visible is
// shown by its number.
func Printable(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !strconv.IsPrint(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// cutBefore finds how long a text was before package zktest cut it.
var cutBefore = regexp.MustCompile(`\.\.\. (\(\d+ bytes\))`)

// longestWord is how long a word may be to be left out rather than cut.
const longestWord = 40

// clip cuts a long text, visibly and between two words. It adds how long the text is, or was before it was cut for the
// first time.
func clip(s string) string {
	if len(s) <= longest {
		return s
	}
	size := fmt.Sprintf("(%d bytes)", len(s))
	if m := cutBefore.FindStringSubmatch(s); m != nil {
		size = m[1]
	}
	for i := range s {
		if i >= longest-20 {
			if blank := strings.LastIndexByte(s[:i+1], ' '); blank >= i-longestWord {
				i = blank
			}
			return s[:i] + "… " + size
		}
	}
	return s
}

// list returns the short names of paths with what they stand for, sorted.
func (n *names) list(paths map[string]bool) [][2]string {
	var list [][2]string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if short, ok := n.short[path]; ok {
			list = append(list, [2]string{short, clip(Printable(path))})
		}
	}
	return list
}
