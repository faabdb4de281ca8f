// Package zkservertest gives tests a real ZooKeeper. It keeps package testing
// out of zkserver, which the product uses.
package zkservertest

import (
	"context"
	"errors"
	"os"
	"testing"

	"zksim/internal/zkserver"
)

// EnvRequire is the environment variable that, set to 1, makes tests fail that
// would be skipped for want of a server. Continuous integration sets it, so that
// a broken machine cannot pass for a green build.
const EnvRequire = "ZKSIM_REQUIRE_ZOOKEEPER"

// ForTest is [Start] with nothing but a number of servers, 1 or 3.
func ForTest(t testing.TB, servers int) *zkserver.Ensemble {
	t.Helper()
	return Start(t, zkserver.Options{Servers: servers})
}

// Start starts servers that end with the test, after the cleanup functions that
// the test registers from here on. The test fails if they cannot be started, or
// if one has died by itself at the end. Where there is no ZooKeeper to start it
// is skipped, see [EnvRequire].
func Start(t testing.TB, o zkserver.Options) *zkserver.Ensemble {
	t.Helper()
	// Not t.Context(), which ends before cleanup functions run.
	e, err := zkserver.Start(context.Background(), o)
	switch {
	case errors.Is(err, zkserver.ErrUnavailable) && os.Getenv(EnvRequire) != "1":
		t.Skipf("SKIPPED: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	return e
}
