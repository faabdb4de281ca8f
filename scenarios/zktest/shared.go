package zktest

import (
	"encoding/binary"
	"os"
	"strings"
	"sync/atomic"
	"unsafe"
)

// shared is memory of a process and its parent, for what the parent must know of a process that has ended: the steps
// of the run. It begins with four numbers: the turns of code, whether the process was ended for its code, how long the
// names are, and how many of them were prescribed.
type shared struct {
	file *os.File
	mem  []byte
}

// Its size, and where things are. No run has names that are longer together.
const (
	sharedSize = 4 << 20
	hungAt     = 8
	lengthAt   = 16
	takenAt    = 24
	namesAt    = 32
)

// newShared makes such memory, as a file in a folder. All of it is written: on a disk that is full, the first access to
// a byte that is not there would end this process.
func newShared(dir string) (*shared, error) {
	f, err := os.CreateTemp(dir, "shared-*")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // it lives as long as somebody has it open
	var zeros [64 << 10]byte
	for n := 0; n < sharedSize && err == nil; n += len(zeros) {
		_, err = f.Write(zeros[:])
	}
	if err == nil {
		var s *shared
		if s, err = openShared(f); err == nil {
			return s, nil
		}
	}
	f.Close()
	return nil, err
}

// openShared opens the memory of another process.
func openShared(f *os.File) (*shared, error) {
	mem, err := mapFile(f, sharedSize)
	return &shared{f, mem}, err
}

func (s *shared) close() {
	unmapFile(s.mem)
	s.file.Close()
}

// turns is odd while code has its turn.
func (s *shared) turns() *atomic.Int64 { return (*atomic.Int64)(unsafe.Pointer(&s.mem[0])) }

// hung is not zero when the parent has ended the process.
func (s *shared) hung() *atomic.Int64 { return (*atomic.Int64)(unsafe.Pointer(&s.mem[hungAt])) }

// clear forgets the names.
func (s *shared) clear() { clear(s.mem[lengthAt:namesAt]) }

// note adds the name of a step.
func (s *shared) note(name []byte, taken int) {
	n := int(binary.NativeEndian.Uint64(s.mem[lengthAt:]))
	if namesAt+n+len(name)+1 > len(s.mem) {
		return
	}
	n += copy(s.mem[namesAt+n:], name)
	s.mem[namesAt+n] = '\n'
	binary.NativeEndian.PutUint64(s.mem[takenAt:], uint64(taken))
	binary.NativeEndian.PutUint64(s.mem[lengthAt:], uint64(n+1))
}

// names returns the names of the steps, and how many were prescribed.
func (s *shared) names() ([]string, int) {
	n := min(int(binary.NativeEndian.Uint64(s.mem[lengthAt:])), len(s.mem)-namesAt)
	text := strings.TrimSuffix(string(s.mem[namesAt:namesAt+n]), "\n")
	if text == "" {
		return nil, 0
	}
	return strings.Split(text, "\n"), int(binary.NativeEndian.Uint64(s.mem[takenAt:]))
}
