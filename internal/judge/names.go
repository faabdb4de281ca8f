package judge

import (
	"regexp"
	"strconv"
	"strings"

	"zksim/model"
)

// Naming is how a library names the znodes of clients that wait for a lock. The number at the end gives their order.
type Naming struct {
	Library string
	Pattern *regexp.Regexp // of the last part of the path; its last group is the number
}

// Namings are the known namings, the most specific first.
var Namings = []Naming{
	{"Kazoo", regexp.MustCompile(`^[0-9a-f]{32}__lock__(-?\d{10})$`)},
	{"Curator", regexp.MustCompile(
		`^_c_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-(?:lock|latch)-(-?\d{10})$`)},
	{"go-zookeeper", regexp.MustCompile(`^_c_[0-9a-f]{32}-lock-(-?\d{10})$`)},
	{"the recipe of the documentation", withoutGUID},
}

// withoutGUID names znodes without a GUID.
var withoutGUID = regexp.MustCompile(`^(?:lock|latch)-(-?\d{10})$`)

// named parses the path of a lock's znode: its folder, its number, and the library; ok is false for other names.
func named(path string) (folder string, number int64, library string, ok bool) {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := range Namings {
		if m := Namings[i].Pattern.FindStringSubmatch(name); m != nil {
			number, err := strconv.ParseInt(m[len(m)-1], 10, 64)
			return model.Folder(path), number, Namings[i].Library, err == nil
		}
	}
	return "", 0, "", false
}

// unnumbered returns the path without the number that a sequential create adds to it, "" if it has none.
func unnumbered(path string) string {
	const digits = len("0000000000")
	n := len(path) - digits
	if n < 0 || strings.Trim(path[n:], "-0123456789") != "" {
		return ""
	}
	return path[:n]
}

// isOneTry reports whether two names differ only by their numbers, and have a GUID, which a library draws for one lock.
func isOneTry(a, b string) bool {
	a, of := unnumbered(a), a[strings.LastIndexByte(a, '/')+1:]
	return a == unnumbered(b) && !withoutGUID.MatchString(of)
}
