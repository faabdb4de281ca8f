/* The double barrier of recipes/double_barrier.go, with LeaveLowest: each of N
 * clients enters, as one of N, stays for a step and leaves. See README.md for how to
 * run it.
 *
 * Flaws, with their numbers in docs/museum.md:
 *   COUNT_READY  18  the znode "ready" is counted as a member
 *   COUNT_ONLY   20  members are counted, and there is no mark that they were enough
 *   LEAVE_ONCE  132  who leaves does not look again after what it waited for is gone
 *   WAIT_GONE   134  who waits does not notice that its session and its znode have ended
 */

#ifndef N
#define N 2
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef EXPIRIES
#define EXPIRIES 0
#endif
#ifndef LATE
#define LATE 0
#endif
#define CORO  (1 + LOSSES)
#define TRIES (1 + LOSSES + EXPIRIES + LATE) /* each has a name of its own */
#define NAMES (N * TRIES)                    /* of members; sets of them are bit masks */
#define READY 0                              /* the watch on the data of dir/ready */
#define ALL   1                              /* the watch on the children of dir */
#define KEY(x) (2 + (x))                     /* the watch on a member */
#define KEYS  (2 + NAMES)
#define DATA  3
#define GONE(k) !(there & BIT((k) - 2))

#define CREATE 1
#define DELETE 2
#define SYNC   3
#define EXISTS 4 /* leaving a watch */
#define LOOK   5 /* without */
#define GET    6 /* what dir/ready says, leaving a watch */
#define LIST   7 /* the members in dir */
#define LISTEN 8 /* the same, leaving a watch */
#define BEGIN  9 /* the multi: check that members exist, set dir/ready if it is as it was */
#define WRITE(o) (o == CREATE || o == DELETE || o == BEGIN)
#define ROUND(new, old) ((new) | (old) << NAMES) /* the argument of BEGIN */
#define OF(c)    (((1 << TRIES) - 1) << ((c) * TRIES)) /* all names of a client */

short there;   /* members in dir */
short members; /* of the latest round. No round has the members of another, so this is the version, too */

#include "messages.pml"

bool over[N]; /* the session of a member of the round has ended */

inline changed() {
#ifdef COUNT_ONLY
	fire(ALL)
#else
	skip
#endif
}

inline remove(x) {
	if
	:: there & BIT(x) ->
		there = there & ~BIT(x);
		fire(KEY(x));
		changed()
	:: else
	fi
}

inline execute(c, o, a) {
	if
	:: o == CREATE -> there = there | BIT(a); changed()
	:: o == DELETE -> remove(a)
	:: o == SYNC
	:: o == EXISTS ->
		rs_ = (there & BIT(a)) != 0;
		if
		:: rs_ -> watching[c] = watching[c] | BIT(KEY(a))
		:: else
		fi
	:: o == LOOK -> rs_ = (there & BIT(a)) != 0
	:: o == GET -> vl_ = members; watching[c] = watching[c] | BIT(READY)
	:: o == LIST -> vl_ = there
	:: o == LISTEN -> vl_ = there; watching[c] = watching[c] | BIT(ALL)
	:: o == BEGIN ->
		if
		:: (a & ((1 << NAMES) - 1) & ~there) == 0 && (a >> NAMES) == members ->
			members = a & ((1 << NAMES) - 1);
			fire(READY)
		:: else
		fi
	fi
}

inline sessionEnds(c) {
	if
	:: members & OF(c) -> over[c] = true
	:: else
	fi;
	j_ = 0;
	do
	:: j_ < TRIES -> remove((c) * TRIES + j_); j_++
	:: else -> break
	od
}

#include "zookeeper.pml"

#define BEFORE   0
#define ENTERING 1
#define INSIDE   2
#define LEAVING  3
#define AFTER    4

byte phase[N];
bool together; /* all were entering or inside at some moment */
byte tries[N];
byte trash[N * CORO];

hidden byte entry_holds, exit_holds, gather_holds, quiescence_holds, tree_holds;

#define OWN (me * TRIES + tries[me] - 1)

/* join creates the own znode: step 1 of the protocol. A name that was certainly not
 * used is used again. */
inline join() {
	do
	:: d_step { tries[me]++; assert(tries[me] <= TRIES) }
		ask(CREATE, OWN);
		if
		:: how == sent -> break
		:: how == noserver -> settle(); tries[me]--
		:: how == lost ->
			do
			:: was = session[me];
				ask(SYNC, 0);
				if
				:: how == sent -> ask(LOOK, OWN)
				:: else
				fi;
				if
				:: how != sent -> settle()
				:: how == sent && was != 0 && session[me] == was -> break
				:: else
				fi
			od;
			was = 0;
			if
			:: rs -> break
			:: else
			fi
		fi
	od
}

/* count sets number to how many are in a set, lo and hi to the first and the last. */
inline count(set) {
	d_step {
		number = 0;
		i_ = 0;
		do
		:: i_ < NAMES ->
			if
			:: (set) & BIT(i_) ->
				if
				:: number == 0 -> lo = i_
				:: else
				fi;
				hi = i_;
				number++
			:: else
			fi;
			i_++
		:: else -> break
		od;
		skip
	}
}

/* forget clears what means nothing any more. */
inline forget() {
	lo = 0;
	hi = 0;
	number = 0
}

/* change waits until something happens to a member, if it is there. */
inline awaitChange(x) {
	other = x;
	forget();
	rang[me] = false;
	ask(EXISTS, other);
	if
	:: how != sent -> settle()
	:: how == sent && rs -> armedBy(KEY(other)); await(BIT(KEY(other)))
	:: how == sent && !rs
	fi;
	other = 0
}

#ifdef COUNT_READY
#define OTHERS 1
#else
#define OTHERS 0
#endif

/* start begins a round with the own znode and others, N-1 of them or what the flaw
 * takes for that. */
inline start(others) {
	d_step {
		if
		:: number + OTHERS > N - 1 -> number = (others) & ~BIT(hi)
		:: else -> number = others
		fi;
		number = number | BIT(OWN)
	}
	ask(BEGIN, ROUND(number, mine));
	if
	:: how != sent -> settle()
	:: else
	fi
}

#ifdef WAIT_GONE
#define WAITS_GONE true
#else
#define WAITS_GONE false
#endif

/* look goes through steps 2 to 6 until the client is inside or its znode is gone. */
inline look() {
	in = false;
	do
	:: rang[me] = false;
		mine = 0;
		forget();
		ask(EXISTS, OWN);
		if
		:: how != sent -> settle()
		:: how == sent && !rs && !WAITS_GONE -> break
		:: how == sent && (rs || WAITS_GONE) ->
			if
			:: rs -> armedBy(KEY(OWN))
			:: else
			fi;
			ask(GET, 0);
			if
			:: how != sent -> settle()
			:: how == sent && (vl & BIT(OWN)) ->
				armedBy(READY);
				if
				:: rang[me]
				:: else -> mine = vl; in = true; break
				fi
			:: how == sent && !(vl & BIT(OWN)) ->
				armedBy(READY);
				mine = vl;
				ask(LIST, 0);
				if
				:: how != sent -> settle()
				:: how == sent && (vl & mine) -> count(vl & mine); mine = 0; awaitChange(lo)
				:: how == sent && !(vl & mine) ->
					count(vl & ~BIT(OWN));
					if
					:: number + OTHERS < N - 1 || WAITS_GONE && !(vl & BIT(OWN)) -> mine = 0; forget(); await(BIT(READY) | BIT(KEY(OWN)))
					:: else -> start(vl & ~BIT(OWN))
					fi
				fi
			fi
		fi
	od;
	forget()
}

/* countOnly is look without a mark. */
inline countOnly() {
	do
	:: rang[me] = false;
		forget();
		ask(LISTEN, 0);
		if
		:: how != sent -> settle()
		:: else ->
			armedBy(ALL);
			count(vl);
			if
			:: number < N -> forget(); await(BIT(ALL))
			:: else -> mine = vl; in = true; break
			fi
		fi
	od;
	forget()
}

/* abandon deletes a znode at once if possible, else in the background. */
inline abandon(x) {
	ask(DELETE, x);
	if
	:: how == sent
	:: else -> d_step {
		i_ = 1;
		do
		:: i_ < CORO && st[me * CORO + i_] != idle -> i_++
		:: else -> break
		od;
		assert(i_ < CORO);
		trash[me * CORO + i_] = x;
		st[me * CORO + i_] = ready
	}
	fi
}

inline enter() {
	d_step {
		phase[me] = ENTERING;
		i_ = 0;
		do
		:: i_ < N && (phase[i_] == ENTERING || phase[i_] == INSIDE) -> i_++
		:: else -> break
		od;
		together = together || i_ == N
	}
	do
	:: join();
#ifdef COUNT_ONLY
		countOnly();
#else
		look();
#endif
		if
		:: in -> break
		:: else -> abandon(OWN)
		fi
	od;
	entry_holds = together;
	assert(entry_holds);
	phase[me] = INSIDE;
	st[ME] = ready;
	hold(KEY(OWN))
}

inline removeOwn() {
	do
	:: ask(DELETE, OWN);
		if
		:: how == sent -> break
		:: else -> settle()
		fi
	od
}

/* listInside lists, after a sync, those of the round who are still there. */
inline listInside() {
	do
	:: was = session[me];
		ask(SYNC, 0);
		if
		:: how == sent -> ask(LIST, 0)
		:: else
		fi;
		if
		:: how != sent -> settle()
		:: how == sent && was != 0 && session[me] == was -> break
		:: else
		fi
	od;
	was = 0;
	count(vl & mine)
}

inline leave() {
	do
	:: listInside();
		if
		:: number == 0 -> break
		:: number == 1 && lo == OWN -> forget(); removeOwn(); break
		:: number > 1 && lo == OWN -> awaitChange(hi)
		:: number > 0 && lo != OWN ->
			other = lo;
			if
			:: vl & BIT(OWN) -> forget(); removeOwn()
			:: else
			fi;
			awaitChange(other)
		fi;
#ifdef LEAVE_ONCE
		if
		:: how == sent -> break
		:: else
		fi
#endif
	od;
	forget()
}

proctype Client(byte me) {
	byte co = 0, was, lo, hi, other;
	short number, mine; /* the members of the round that the client is in */
	bool in;
	COROUTINE;

	atomic {
		st[ME] = idle;
		enter()
	};
	atomic {
		st[ME] = idle;
		phase[me] = LEAVING;
		release();
		leave();
		d_step {
			i_ = 0;
			do
			:: i_ < N ->
				exit_holds = !(mine & OF(i_)) || phase[i_] >= LEAVING || over[i_];
				assert(exit_holds);
				i_++
			:: else -> break
			od;
			phase[me] = AFTER
		}
	}
end:	false
}

proctype Cleaner(byte me; byte co) {
	COROUTINE;
end:	do
	:: atomic { st[ME] == ready ->
		do
		:: ask(DELETE, trash[ME]);
			if
			:: how == sent -> break
			:: else -> settle()
			fi
		od;
		trash[ME] = 0
	}
	od
}

/* Judge looks at what is left when nothing can happen any more. Who enters may then
 * be short of one whose session ended inside. */
proctype Judge() {
	timeout;
	d_step {
		j_ = 0;
		i_ = 0;
		do
		:: j_ < N ->
			quiescence_holds = phase[j_] == AFTER || phase[j_] == ENTERING && expiries + lates > 0;
			assert(quiescence_holds);
			tree_holds = phase[j_] == ENTERING || !(there & OF(j_));
			assert(tree_holds);
			i_ = i_ + (phase[j_] == ENTERING);
			j_++
		:: else -> break
		od;
		gather_holds = i_ < N;
		assert(gather_holds)
	};
end:	false
}

init {
	byte c, b;
	atomic {
		do
		:: c < N ->
			st[c * CORO] = ready;
			run Client(c);
			run Link(c);
			run Guard(c);
			b = 1;
			do
			:: b < CORO -> run Cleaner(c, b); b++
			:: else -> break
			od;
			c++
		:: else -> break
		od;
		run Judge()
	}
}
