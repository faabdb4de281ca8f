package ensemble

import (
	"strings"

	"zksim/model/history"
)

// relative changes the paths of a history, which begin with the folder of the run, to those of its scenario.
func relative(h *history.History, root string) {
	for i := range h.Events {
		e := &h.Events[i]
		e.Path, e.Data = below(root, e.Path), below(root, e.Data)
		if e.Err != nil && strings.Contains(e.Err.Error(), root) {
			e.Err = relativeError{e.Err, root}
		}
	}
	for i := range h.Tree {
		n := &h.Tree[i]
		n.Path, n.Data = below(root, n.Path), below(root, n.Data)
	}
	for _, w := range h.Waiting {
		for i := range w.Paths {
			w.Paths[i] = below(root, w.Paths[i])
		}
	}
	known := map[string]bool{}
	for path, is := range h.Known { // order-free
		known[below(root, path)] = is
	}
	h.Known = known
	for client, why := range h.Failed { // order-free
		h.Failed[client] = below(root, why)
	}
	h.Panic = below(root, h.Panic)
}

// below returns a text with its paths made relative to a folder. The folder's name occurs in no other text.
func below(root, text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, root+"/", "/"), root, "/")
}

// relativeError is an error that names paths.
type relativeError struct {
	error
	root string
}

// Error implements error.
func (e relativeError) Error() string { return below(e.root, e.error.Error()) }

// Unwrap supports [errors.Is].
func (e relativeError) Unwrap() error { return e.error }
