package zktest

import (
	"encoding/binary"
	"os"
	"strings"
	"sync/atomic"
	"unsafe"
)

// shared is memory of a process and its parent, for what the parent must know of a process that has ended: the steps
// of the run, and replies that were not sent. It begins with numbers: the turns of code, whether the process was ended
// for its code, how long the names are, how many of them were prescribed, how many runs are over, up to which one
// nobody asks for them any more, and how long the replies are.
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
	overAt     = 32
	vainAt     = 40
	unsentAt   = 48
	repliesAt  = 56
	namesAt    = 64 << 10
	maxUnsent  = namesAt - repliesAt
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

// number returns one of the numbers.
func (s *shared) number(at int) *atomic.Int64 { return (*atomic.Int64)(unsafe.Pointer(&s.mem[at])) }

// turns is odd while code has its turn.
func (s *shared) turns() *atomic.Int64 { return s.number(0) }

// hung is not zero when the parent has ended the process.
func (s *shared) hung() *atomic.Int64 { return s.number(hungAt) }

// over is how many of the runs that were ordered are over.
func (s *shared) over() *atomic.Int64 { return s.number(overAt) }

// vain is how many of the first runs that were ordered need not be made any more.
func (s *shared) vain() *atomic.Int64 { return s.number(vainAt) }

// unsent returns the replies that were not sent.
func (s *shared) unsent() []byte {
	return s.mem[repliesAt : repliesAt+min(int(s.number(unsentAt).Load()), maxUnsent)]
}

// keep adds a part of a reply to those that were not sent.
func (s *shared) keep(part []byte) {
	n := len(s.unsent())
	copy(s.mem[repliesAt+n:namesAt], part)
	s.number(unsentAt).Store(int64(n + len(part)))
}

// clear forgets the names.
func (s *shared) clear() { clear(s.mem[lengthAt:overAt]) }

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
