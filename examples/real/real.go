// Package real runs unchanged published modules that use ZooKeeper in simulated ensembles. Each folder has a test, and
// code without the bugs that the test finds. README.md has a table of the bugs.
package real

import (
	"flag"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/zktest"
)

var show = flag.Bool("show", false, "let the tests of published code fail, so that they tell what they find")

// Broken runs code in which a seed must find a bug. With -show the test fails and shows the bug, shrunk and explained.
func Broken(t *testing.T, code func(c *zktest.Cluster), options ...zktest.Option) {
	t.Helper()
	if !*show {
		options = append(options, zktest.Caught("always"))
	}
	run(t, "1-1000", code, options)
}

// Holds runs code in which no seed may find a bug.
func Holds(t *testing.T, code func(c *zktest.Cluster), options ...zktest.Option) {
	t.Helper()
	run(t, "1-100", code, options)
}

// run runs code with the given seeds, unless a flag names others.
func run(t *testing.T, seeds string, code func(c *zktest.Cluster), options []zktest.Option) {
	t.Helper()
	if f := flag.Lookup("zksim.seeds"); f.Value.String() == "" {
		f.Value.Set(seeds)
		defer f.Value.Set("")
	}
	defer func() { zk.NewDialer = nil }()
	zktest.Run(t, func(c *zktest.Cluster) {
		zk.NewDialer = c.Dialer
		code(c)
	}, options...)
}

// Connect returns a connection that is closed at the end of the run.
func Connect(c *zktest.Cluster) *zk.Conn {
	defer func(d func() zk.Dialer) { zk.NewDialer = d }(zk.NewDialer)
	zk.NewDialer = nil // c.Connect passes a dialer of its own
	return c.Connect()
}
