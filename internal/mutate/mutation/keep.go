package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"zksim/internal/mutate/trial"
)

// kept is what was found by one program: the folder with what its runs reach, and outcomes. Another program, with other
// recipes or scenarios, has another folder.
type kept struct {
	dir      string
	outcomes map[int]trial.Outcome
	file     *os.File
}

// open returns what is kept in a folder of the program, or in work if nothing is to be.
func open(dir, work, program string) (*kept, error) {
	k := &kept{dir: work, outcomes: map[int]trial.Outcome{}}
	if dir == "" {
		return k, nil
	}
	f, err := os.Open(program)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil, err
	}
	k.dir = filepath.Join(dir, fmt.Sprintf("%x", sum.Sum(nil)[:8]))
	if err := os.MkdirAll(k.dir, 0o777); err != nil {
		return nil, err
	}
	name := filepath.Join(k.dir, "outcomes.jsonl")
	if k.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666); err != nil {
		return nil, err
	}
	for in := json.NewDecoder(k.file); ; {
		var o trial.Outcome
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			return k, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w; remove it to begin anew", k.file.Name(), err)
		}
		k.outcomes[o.Mutant] = o
	}
}

// keep notes an trial.Outcome.
func (k *kept) keep(o trial.Outcome) error {
	if k.file == nil {
		return nil
	}
	return json.NewEncoder(k.file).Encode(o)
}

func (k *kept) close() {
	if k.file != nil {
		k.file.Close()
	}
}
