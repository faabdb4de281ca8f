package zkserver

import (
	"context"
	"time"
)

// Harm kills server i behind the back of the Ensemble and waits for its end.
func (e *Ensemble) Harm(i int) {
	p := e.members[i].proc
	p.cmd.Process.Kill()
	<-p.done
}

// ProbedAsIf returns what a probe of server i finds if it expects the server
// that has its files in dir.
func (e *Ensemble) ProbedAsIf(i int, dir string) (mode string) {
	m := *e.members[i]
	m.dir = dir
	return m.mode(context.Background(), time.Second)
}

// Folder returns the folder of server i.
func (e *Ensemble) Folder(i int) string { return e.members[i].dir }
