// Package real runs published modules that use ZooKeeper, as they are, in simulated ensembles. The folders have a test
// each, and what mends the bugs that it finds; README.md has a table of them.
package real

import (
	"flag"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/zktest"
)

var show = flag.Bool("show", false, "let the tests of published code fail, so that they tell what they find")

// Broken runs code in which something is to be found. With -show it fails with what is found, shrunk and explained.
func Broken(t *testing.T, code func(c *zktest.Cluster), options ...zktest.Option) {
	t.Helper()
	if !*show {
		options = append(options, zktest.Caught("always"))
	}
	run(t, "1-1000", code, options)
}

// Holds runs code in which nothing is to be found.
func Holds(t *testing.T, code func(c *zktest.Cluster), options ...zktest.Option) {
	t.Helper()
	run(t, "1-100", code, options)
}

// run runs code from these seeds, if no flag says others.
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
	zk.NewDialer = nil // it has one by itself
	return c.Connect()
}
