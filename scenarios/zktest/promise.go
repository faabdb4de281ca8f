package zktest

import (
	"fmt"

	"zksim/checkers"
	"zksim/model/history"
)

// promise is a condition that must hold after each step.
type promise struct {
	sentence string
	holds    func() bool
}

// Always checks a condition after each step, when all goroutines of the run wait. The run fails if holds returns false;
// the sentence says what does not hold. The function may only look at what the code knows: if it waits, for example for
// an answer of ZooKeeper or for a mutex, the run fails too. With -race, what it looks at must be atomic where the code
// writes it after a time.Sleep or a timer: the race detector does not know that the function returned before time
// passed.
func (c *Cluster) Always(sentence string, holds func() bool) {
	if sentence == "" || holds == nil {
		c.fail(fmt.Sprintf("zktest: Always(%q, ...), expected a sentence, and a function that says whether it holds",
			sentence))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.promises = append(c.promises, promise{sentence, holds})
}

// Sometimes records whether a condition holds at this place. It must hold there in at least one run: if no run has
// that, the test fails.
func (c *Cluster) Sometimes(sentence string, holds bool) {
	if sentence == "" {
		c.fail(`zktest: Sometimes("", ...), expected a sentence that says what must hold`)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, history.Event{Kind: history.Told, Op: checkers.ToldSometimes, Path: sentence, OK: holds})
}
