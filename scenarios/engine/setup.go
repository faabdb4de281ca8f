package engine

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/sim"
)

// Mkdir returns a request for Scenario.Setup: it makes a persistent znode without data that everybody may use.
func Mkdir(path string) model.Request {
	return model.Request{Op: model.OpCreate, Path: path, ACL: zk.WorldACL(zk.PermAll)}
}

// setUp executes the setup in a world. It fails with a sentence about the first request that does.
func (s *Scenario) setUp(w *sim.World) error {
	for _, r := range s.Setup {
		if err := w.TryPrepare(r); err != nil {
			return fmt.Errorf("the setup of %s fails: %v %.200s: %w%s", s.Name, r.Op, r.Path, err, remedy(err))
		}
	}
	return nil
}

// remedy says what is usually wrong with a request of a setup.
func remedy(err error) string {
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return "; the parent has to be made first, as by Mkdir"
	case errors.Is(err, zk.ErrNodeExists):
		return "; it was made before"
	case errors.Is(err, zk.ErrInvalidACL):
		return "; Mkdir makes a znode that everybody may use"
	}
	return ""
}

// setsUp reports what is wrong with the setup.
func (s *Scenario) setsUp() error {
	if len(s.Setup) == 0 {
		return nil
	}
	w := sim.NewWorld()
	defer w.Close()
	w.Reset(sim.Config{Clients: 1}, nil, func(*sim.Client) {})
	return s.setUp(w)
}
