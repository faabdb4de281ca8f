// Package scenarios is what a test imports. A [Scenario] is a workload on a recipe together with what may go wrong,
// what must hold and what must have happened. [Check] runs it over many seeds, [Fuzz] under Go's fuzzer.
package scenarios

import "zksim/scenarios/engine"

type (
	// Scenario is one experiment: what clients do, what may go wrong, and what must hold. "go doc zksim/scenarios/engine
	// Scenario" says more of each field and method.
	//
	//	Name         recipe/variant
	//	Doc          one sentence
	//	Clients      how many there are
	//	Dials        how many more connections each client may make by Process.Dial, in all rounds together
	//	Rounds       how often each client repeats what it does; 0: the program has no rounds
	//	Servers      []int: sizes of the ensemble, 1 or 3; each seed draws one; empty: 1
	//	Like         model.Like: whose semantics the servers have; the zero value is ZooKeeper
	//	Setup        []Request: executed before the clients start, such as Mkdir(path)
	//	Faults       faults.Plan: what may go wrong; each seed draws a part of it
	//	Program      func(p *Process): what each client does
	//	Checkers     []checkers.Checker: judge each run; without any, Liveness, Quiescence and Steps do
	//	Goals        []Goal: what must have happened in some run
	//	Finally      func(h *history.History) error: looks at a run that has come to rest, and returns what is wrong
	//	Heeds        []string: operations and kinds of events that Finally looks at; a proof has far fewer states then
	//	Words        []string: operations that the program records and that no checker is to judge
	//	Caught       []string: checkers, one of which must find the flaw of a mutant; empty: everything must hold
	//	SafetySteps  the step after which no more faults strike; 0: the usual one, or half of MaxSteps if that is less
	//	MaxSteps     the step at which a run is given up; 0: the usual one
	//
	// These methods return another scenario, or look at this one:
	//
	//	Without         leaves out checkers, by name, that have nothing to judge in it
	//	WithPlan        has another fault plan; what its goals need is then only noted
	//	FaultsOptional  only notes a rule of the plan that can never strike
	//	Sized           has other numbers of clients and rounds
	//	Symmetric       says which clients are the same except for their names, for proofs
	//	Valid           reports what is wrong with its fields
	//	Broken          reports whether it is a mutant's
	Scenario = engine.Scenario

	// Process is what a client's program sees.
	//
	//	Conn           the connection, with the methods of *zk.Conn
	//	Env            time, waits, goroutines, random names
	//	ID             1 for c1
	//	Clients        how many there are
	//	Rounds         how often each repeats what it does
	//	Path           where a znode is on any backend; all paths of a program come from it
	//	Register       makes the Object that records what one recipe object does
	//	Fail           gives up, which liveness reports
	//	Always         must hold each time that the line is executed
	//	Ends           a call must end with that error, or with none
	//	Sometimes      must hold in at least one run
	//	AtRest         waits until faults are over and nothing else can happen
	//	Choose         leaves open which of some numbers it returns; a proof tries each
	//	Clock          tells the time for a judge: no fault puts it ahead
	//	Step           lets everybody else move
	//	Interruptible  makes a context that the fault cancel may cancel
	//	Dial           makes another connection of the same client, with a session of its own
	//	Resource       the resource that locks guard, which all clients share
	Process = engine.Process

	// Object is a recipe object under observation. Names of operations must be words that a checker knows, see
	// docs/checkers.md, or be in Scenario.Words.
	//
	//	Lock      calls the lock of a recipe, with a context that may be cancelled, and records it
	//	TryLock   the same; a lock that is taken is no failure
	//	Unlock    calls the unlock of a recipe and records it
	//	Must      calls and records an operation that is not cancelled
	//	Attempt   calls and records an operation that may be cancelled or refused, which is no failure
	//	Invoke    records that an operation begins
	//	Return    records that it ended, and how
	//	Acquired  records that the client may believe that it holds the lock, by which znode and token
	//	Lost      records that the recipe took that belief away
	//	Released  records that the client gives the lock up
	//	Write     writes to the guarded resource with a token, and reports whether it was accepted
	//	Read      the same for a reader, which shares the lock with others
	//	Record    adds any event to the history
	//	Process   the process that has registered it
	Object = engine.Object

	// Goal is something that must happen in at least one run.
	//
	//	Name     what it is, in a phrase
	//	Reached  reports whether it has happened in a history
	Goal = engine.Goal

	// Resource is something outside of ZooKeeper that a lock guards; see Object.Write.
	Resource = engine.Resource

	// T is what Check needs of a *testing.T.
	T = engine.T
)
