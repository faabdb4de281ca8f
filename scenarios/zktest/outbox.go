package zktest

import (
	"encoding/gob"
	"io"
	"os"
	"sync"
	"time"

	"zksim/scenarios/engine"
)

// outbox collects the replies of a process for runs. It sends several at a time, because each send wakes the parent.
// Unsent replies are in the memory shared with the parent, which finds them there when the process has ended.
type outbox struct {
	shared *shared
	pipe   *os.File

	mu     sync.Mutex
	encode *gob.Encoder
	sent   time.Time // of the last send
}

// sendEvery is how long replies may wait for others.
const sendEvery = 5 * time.Millisecond

func newOutbox(s *shared, pipe *os.File) *outbox {
	b := &outbox{shared: s, pipe: pipe}
	b.encode = gob.NewEncoder(b)
	return b
}

// add adds a reply, which is sent now or soon.
func (b *outbox) add(r *engine.Reply, now bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.encode.Encode(r); err != nil {
		return err
	}
	if !now && time.Since(b.sent) < sendEvery {
		return nil
	}
	return b.send()
}

func (b *outbox) send() error {
	b.sent = time.Now()
	part := b.shared.unsent()
	b.shared.number(unsentAt).Store(0) // first: a reply that is sent twice would answer another order
	_, err := b.pipe.Write(part)
	return err
}

// Write implements io.Writer, for the encoder.
func (b *outbox) Write(part []byte) (int, error) {
	if len(b.shared.unsent())+len(part) > maxUnsent {
		if err := b.send(); err != nil {
			return 0, err
		}
	}
	if len(part) > maxUnsent {
		return b.pipe.Write(part)
	}
	b.shared.keep(part)
	return len(part), nil
}

// unsent reads what the outbox of a process that has ended has not sent.
type unsent struct {
	shared *shared
	at     int
}

// Read implements io.Reader.
func (u *unsent) Read(b []byte) (int, error) {
	n := copy(b, u.shared.unsent()[u.at:])
	if u.at += n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
