package judge

import (
	"fmt"
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

// Namings are those that are known, the most particular first.
var Namings = []Naming{
	{"Kazoo", regexp.MustCompile(`^[0-9a-f]{32}__lock__(-?\d{10})$`)},
	{"Curator", regexp.MustCompile(
		`^_c_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-(?:lock|latch)-(-?\d{10})$`)},
	{"go-zookeeper", regexp.MustCompile(`^_c_[0-9a-f]{32}-lock-(-?\d{10})$`)},
	{"the recipe of the documentation", regexp.MustCompile(`^(?:lock|latch)-(-?\d{10})$`)},
}

// named reads the name of a lock's znode: its folder, its number, and whose names these are; false: it is none.
func named(path string) (folder string, number int64, library string, ok bool) {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := range Namings {
		if m := Namings[i].Pattern.FindStringSubmatch(name); m != nil {
			number, err := strconv.ParseInt(m[len(m)-1], 10, 64)
			return model.ParentPath(path), number, Namings[i].Library, err == nil
		}
	}
	return "", 0, "", false
}

// Guard is a znode that only the holder of a lock may write.
type Guard struct {
	Path   string
	Folder string // of the lock
}

// ParseGuard reads "/path=/folder".
func ParseGuard(s string) (Guard, error) {
	path, folder, ok := strings.Cut(s, "=")
	if !ok || !strings.HasPrefix(path, "/") || !strings.HasPrefix(folder, "/") {
		return Guard{}, fmt.Errorf("a guard is the path of a znode and the folder of a lock, as /config=/locks/config, "+
			"not %q", s)
	}
	return Guard{path, folder}, nil
}
