package zktest

import (
	"encoding/binary"
	"os"
	"strings"
	"sync/atomic"
	"unsafe"
)

// shared is memory that a process shares with its parent. It tells the parent what it must know about a process that
// has ended: the steps of the run, and replies that were not sent. It begins with numbers: the turns of the code,
// whether the process was ended because of its code, the length of the names, how many of them were prescribed, which
// name of the schedule was not possible, how many runs are over, up to which run the results are not needed any more,
// and the length of the replies.
type shared struct {
	file *os.File
	mem  []byte
}

// The size of the memory and the offsets of its parts. No run has names that are longer together.
const (
	sharedSize = 4 << 20
	hungAt     = 8
	lengthAt   = 16
	takenAt    = 24
	misfitAt   = 32
	overAt     = 40
	vainAt     = 48
	unsentAt   = 56
	repliesAt  = 64
	namesAt    = 64 << 10
	maxUnsent  = namesAt - repliesAt
)

// newShared makes such memory from a file in a folder. It writes the whole file: on a full disk, the first access to a
// byte that is not there would end this process.
func newShared(dir string) (*shared, error) {
	f, err := os.CreateTemp(dir, "shared-*")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // the file exists as long as a process has it open
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

// hung is not zero when the parent has ended the process because of its code.
func (s *shared) hung() *atomic.Int64 { return s.number(hungAt) }

// over is how many of the ordered runs are over.
func (s *shared) over() *atomic.Int64 { return s.number(overAt) }

// vain is how many of the first ordered runs need not be made any more.
func (s *shared) vain() *atomic.Int64 { return s.number(vainAt) }

// unsent returns the replies that were not sent.
func (s *shared) unsent() []byte {
	return s.mem[repliesAt : repliesAt+min(int(s.number(unsentAt).Load()), maxUnsent)]
}

// keep adds a part of a reply to the unsent ones.
func (s *shared) keep(part []byte) {
	n := len(s.unsent())
	copy(s.mem[repliesAt+n:namesAt], part)
	s.number(unsentAt).Store(int64(n + len(part)))
}

// misfit notes that a name of the schedule, counted from 1, was not possible.
func (s *shared) misfit(step int) { s.number(misfitAt).Store(int64(step)) }

// parted returns the number of that name; 0: all were possible.
func (s *shared) parted() int { return int(s.number(misfitAt).Load()) }

// clear forgets the names and whether they were possible.
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
