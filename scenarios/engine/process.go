package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/recipes"
)

// Process is what a client's program sees: its connection, its environment, and the record of what it does for the
// judges.
type Process struct {
	Conn recipes.Conn
	Env  recipes.Env
	ID   int // 1 for c1

	Clients int // how many there are
	Rounds  int // how often each repeats what it does

	// root is where the scenario's znodes are: "" in the simulator, a separate folder on a real ensemble.
	root string

	host     Host        `kept:"-"` // a process has one host
	resource *Resource   `kept:"-"` // as above
	own      recipes.Env `kept:"-"` // made by the host: a program may wrap Env
}

// Host is the backend behind a process: the simulator, or a real ensemble. A method does what the method of [Process]
// with its name promises.
type Host interface {
	Record(e history.Event) // adds to the history
	// NewObject returns a number for a recipe object, from 1 on, and in the simulator how many its client had before.
	NewObject() (id, nth int32)
	Know(p *Process, znodes func() []string) // for [Process.Register]; znodes is not nil
	Interruptible(p *Process) (context.Context, context.CancelFunc)
	Fail(p *Process, why error)
	Step(p *Process)
	AtRest(p *Process)
	Choose(p *Process, n int) int
	Clock(p *Process) time.Time
	Dial(p *Process) (*Process, error)
}

// On returns the process with a host, the folder of its znodes, and the guarded resource.
func (p Process) On(h Host, root string, guarded *Resource) *Process {
	p.host, p.root, p.resource = h, root, guarded
	return &p
}

// Path returns the real path of the znode called path, which starts with a slash. It panics if path does not, because
// that would be a znode outside of the scenario's folder on a real ensemble; "" stands for the folder.
func (p *Process) Path(path string) string {
	if path != "" && path[0] != '/' {
		panic(fmt.Sprintf("Process.Path(%.60q), expected a path that starts with a slash", path))
	}
	return p.root + path
}

// Object is a recipe object under observation. Each goroutine needs its own Object: it is an error to begin an
// operation on an object while the same operation is in progress on it.
type Object struct {
	p   *Process
	id  int32 `kept:"-"` // it depends on what other clients have registered before
	nth int32 // stands for it, see Runner.Ordinal
}

// Process returns the process that the object belongs to.
func (o Object) Process() *Process { return o.p }

// Register announces a recipe object. znodes returns the znodes that the object answers for, and is called at the end
// of the run, before the deferred calls of code that still waits then; nil: it answers for none.
func (p *Process) Register(znodes func() []string) Object {
	if znodes == nil {
		znodes = func() []string { return nil }
	}
	p.host.Know(p, znodes)
	id, nth := p.host.NewObject()
	return Object{p, id, nth}
}

// Interruptible returns a context that the fault "cancel" may cancel, and a function that ends this.
func (p *Process) Interruptible() (context.Context, context.CancelFunc) {
	return p.host.Interruptible(p)
}

// Step lets everybody else move.
func (p *Process) Step() { p.host.Step(p) }

// Fail records that the program gives up.
func (p *Process) Fail(why error) {
	if why == nil {
		panic("Process.Fail without an error, expected why the program gives up")
	}
	p.host.Fail(p, why)
}

// Always records whether something holds that the program takes for granted. If it does not, the run is violated, by
// the checker "always", and the report quotes the sentence. The condition may only depend on what the client itself has
// seen and done: a variable that clients share is in no state of a proof, and keeps its value from run to run.
//
//	p.Always("tokens grow", token > last)
func (p *Process) Always(sentence string, holds bool) {
	said("Always", sentence)
	p.always(sentence, holds, nil)
}

// Ends is Always for a call: it must end with an error that is want, or without one if want is nil. The report has the
// error that it ended with instead.
//
//	p.Ends("Unlock", l.Unlock(ctx), nil)
func (p *Process) Ends(call string, err, want error) {
	said("Ends", call)
	sentence := call + " succeeds"
	if want != nil {
		sentence = fmt.Sprintf("%s ends with %q", call, want)
	}
	p.always(sentence, errors.Is(err, want), err)
}

// said panics if there is nothing by which a report could name what holds.
func said(method, sentence string) {
	if sentence == "" {
		panic("Process." + method + " of nothing, expected a sentence that says what must hold")
	}
}

func (p *Process) always(sentence string, holds bool, err error) {
	if !holds {
		p.host.Record(history.Event{Kind: history.Told, Client: int32(p.ID), Op: checkers.ToldBroken, Path: sentence,
			Err: err})
	}
}

// Sometimes records whether something holds that must hold here in at least one run. The sentence is the name of this
// goal. If no run reaches the call, nobody knows of the goal.
func (p *Process) Sometimes(sentence string, holds bool) {
	said("Sometimes", sentence)
	p.host.Record(history.Event{Kind: history.Told, Client: int32(p.ID), Op: checkers.ToldSometimes,
		Path: sentence, OK: holds})
}

// Dial gives the same client another connection with its own session, beside its present one or after closing that. The
// returned process differs from p only in Conn and Env. Each client can call it as often as Scenario.Dials says, on a
// real ensemble without limit; only there can it fail. An Env receives the session events of the connection that it
// came with.
func (p *Process) Dial() (*Process, error) { return p.host.Dial(p) }

// AtRest waits until the faults are over and nothing else can happen, timers included, so that what the program reads
// next is final. If several clients wait like this, one goes on after the other. When a client goes on, that is
// recorded for the judges ([checkers.ToldRest]). On a real ensemble AtRest waits a few seconds at most, and records
// nothing if something still goes on by then.
func (p *Process) AtRest() { p.host.AtRest(p) }

// Choose returns a number from 0 to n-1, 1 <= n <= 65,536, and leaves open which one. In the simulator that is decided
// like the order of events: a seed draws it, a schedule says it, as in "choose c1 2", and exhaustive search tries every
// number. Choose(2) is the "either ... or" of a model. With unmodified code, and on a real ensemble, a seed draws it.
//
//	if p.Choose(2) == 0 {
//		err = l.Unlock(ctx)
//	} else {
//		p.Conn.Close()
//	}
func (p *Process) Choose(n int) int {
	if n < 1 || n > math.MaxUint16+1 {
		panic(fmt.Sprintf("Process.Choose(%d), expected a number from 1 to %d", n, math.MaxUint16+1))
	}
	return p.host.Choose(p, n)
}

// Clock returns the time by a clock that all clients share, whatever the fault skew does to that of [recipes.Env]. It
// is for what a program records for a judge, such as the Value of an event. Code under test has no such clock.
func (p *Process) Clock() time.Time { return p.host.Clock(p) }

// Resource returns the resource that the scenario's locks guard. It is outside of ZooKeeper, and all clients share it.
func (p *Process) Resource() *Resource { return p.resource }

// Record adds an event of the object to the history: its Kind, and those of Op, Path, Value, Zxid, OK and Err that the
// kind has. It panics if the kind is none of those that a recipe or its holder makes, the first of them Invoke and the
// last Write: what servers and connections do is recorded anyway.
func (o Object) Record(e history.Event) {
	if e.Kind > history.Write {
		panic(fmt.Sprintf("Record of kind %d, expected one of history.Invoke to history.Write", e.Kind))
	}
	e.Client, e.Object = int32(o.p.ID), o.id
	o.p.host.Record(e)
}

// Invoke records that an operation begins. Its name must be a word that a checker of the scenario knows, or one of
// Scenario.Words; docs/checkers.md lists them.
func (o Object) Invoke(op string) { o.Record(history.Event{Kind: history.Invoke, Op: op}) }

// Return records that it ended. An error that is one of refusals is a legal answer, not a failure.
func (o Object) Return(op string, err error, refusals ...error) {
	o.Record(history.Event{Kind: history.Return, Op: op, Err: err, OK: isOne(err, refusals)})
}

func isOne(err error, list []error) bool {
	return slices.ContainsFunc(list, func(x error) bool { return errors.Is(err, x) })
}

// Acquired records that the holder may now believe that it holds the lock.
func (o Object) Acquired(path string, token int64) {
	o.Record(history.Event{Kind: history.Acquired, Path: path, Value: token})
}

// Lost records that the recipe took this belief away.
func (o Object) Lost() { o.Record(history.Event{Kind: history.Lost}) }

// Released records that the holder gives the lock up.
func (o Object) Released() { o.Record(history.Event{Kind: history.Released}) }

// Write writes to the guarded resource with a token, and reports whether the resource accepted; token 0: the writer has
// none.
func (o Object) Write(token int64) bool { return o.access("", token) }

// Read is Write for a reader, which shares the lock with others.
func (o Object) Read(token int64) bool { return o.access("read", token) }

func (o Object) access(op string, token int64) bool {
	o.p.resource.mu.Lock() //zksim:ignore in the simulator nobody else has it: its holder does not wait
	defer o.p.resource.mu.Unlock()
	read := op == "read"
	ok := o.p.resource.accepts(token, read)
	o.Record(history.Event{Kind: history.Write, Op: op, Value: token, OK: ok}) // a process that has ended gets no further
	if ok && token != 0 {
		o.p.resource.note(token, read)
	}
	return ok
}

// Resource is something outside of ZooKeeper that a lock guards. It refuses a write with a token lower than one it has
// seen, and a read with a token lower than that of a write. It cannot refuse an access without a token.
type Resource struct {
	mu            sync.Mutex // for real clients
	written, seen int64      // the highest tokens of writes and of all
}

func (r *Resource) accepts(token int64, read bool) bool {
	return token == 0 || token >= r.written && (read || token >= r.seen)
}

// note remembers a token that was accepted.
func (r *Resource) note(token int64, read bool) {
	r.seen = max(r.seen, token)
	if !read {
		r.written = token
	}
}

// Lock records lock as the operation "lock". The fault "cancel" may cancel its context. That is no error: held is then
// false and err is nil. The holder records Acquired next.
func (o Object) Lock(lock func(ctx context.Context) error) (held bool, err error) {
	return o.Attempt("lock", lock)
}

// TryLock records tryLock as the operation "trylock". It is no error if the lock is taken, which tryLock reports by
// recipes.ErrLocked or an error in taken, or if its context is cancelled, as in Lock.
func (o Object) TryLock(tryLock func(ctx context.Context) error, taken ...error) (held bool, err error) {
	return o.Attempt("trylock", tryLock, taken...)
}

// Unlock records unlock as the operation "unlock", which is not cancelled. The holder must have recorded Released
// before.
func (o Object) Unlock(unlock func(ctx context.Context) error) error { return o.Must("unlock", unlock) }

// Attempt records an operation that may be cancelled or refused. That is no failure: ok is then false and err is nil.
func (o Object) Attempt(op string, f func(ctx context.Context) error, refusals ...error) (ok bool, err error) {
	ctx, end := o.p.Interruptible()
	defer end()
	o.Invoke(op)
	err = f(ctx)
	refusals = append([]error{recipes.ErrLocked}, refusals...)
	o.Return(op, err, refusals...)
	if isOne(err, refusals) || errors.Is(err, context.Canceled) {
		return false, nil
	}
	return err == nil, err
}

// Must records an operation that is not cancelled.
func (o Object) Must(op string, f func(ctx context.Context) error) error {
	o.Invoke(op)
	err := f(context.Background())
	o.Return(op, err)
	return err
}
