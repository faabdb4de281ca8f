/* The fair lock of recipes/lock.go: each of N clients locks once, works for STAY
 * steps, and unlocks. See README.md for how to run it.
 *
 * Flaws, with their numbers in docs/museum.md:
 *   PLAIN_CREATE   1  a create whose answer was lost is simply retried
 *   NO_OWN_CHECK   2  nobody looks whether the own znode is still there
 *   IGNORE_EXISTS  3  the answer of the exists that leaves the watch is ignored
 */

#ifndef LOSSES
#define LOSSES 0
#endif
#define CORO (1 + LOSSES) /* each lost message may leave one deletion to the background */
#define KEYS NODES        /* the deletion of each znode */
#define DATA 0
#define NODES 10          /* that are ever made */
#define STAY 2

#define CREATE 1
#define DELETE 2
#define SYNC   3
#define LIST   4 /* with the number of the own znode, or NONE: look for the GUID */
#define EXISTS 5 /* leaving a watch */
#define WRITE(o) (o == CREATE || o == DELETE)
#define GONE(k)  (owner[k] == 0)
#define NONE   99

byte owner[NODES]; /* client + 1; 0: not there. The index is the sequence number. */
byte guid[NODES];  /* which of its client's attempts made it */
byte made;         /* so far */
short led;         /* those that were first in the queue before they went */

#include "messages.pml"

byte attempt[N]; /* that is under way */
/* ahead is the highest number below x that is there, x if there is none. */
inline ahead(x) {
	vl_ = x;
	m_ = 0;
	do
	:: m_ < x ->
		if
		:: owner[m_] != 0 -> vl_ = m_
		:: else
		fi;
		m_++
	:: else -> break
	od
}

inline remove(k) {
	if
	:: owner[k] != 0 ->
		ahead(k);
		led = led | (vl_ == k) << k;
		vl_ = 0;
		owner[k] = 0;
		guid[k] = 0;
		fire(k)
	:: else
	fi
}

inline execute(c, o, a) {
	if
	:: o == CREATE ->
		assert(made < NODES);
		owner[made] = c + 1;
		guid[made] = a;
		vl_ = made;
		made++
	:: o == DELETE -> remove(a)
	:: o == SYNC
	:: o == LIST && a != NONE ->
		rs_ = owner[a] != 0;
		ahead(a)
	:: o == LIST && a == NONE ->
		rs_ = 0;
		j_ = 0;
		do
		:: j_ < NODES ->
			if
			:: owner[j_] == c + 1 && guid[j_] == attempt[c] -> rs_ = 1; vl_ = j_
			:: else
			fi;
			j_++
		:: else -> break
		od
	:: o == EXISTS ->
		rs_ = owner[a] != 0;
		if
		:: rs_ -> watching[c] = watching[c] | BIT(a)
		:: else
		fi
	fi
}

inline sessionEnds(c) {
	j_ = 0;
	do
	:: j_ < NODES ->
		if
		:: owner[j_] == c + 1 -> remove(j_)
		:: else
		fi;
		j_++
	:: else -> break
	od
}

#include "zookeeper.pml"

byte node[N]; /* that the client knows to be its own, or NONE */
bool believes[N];
byte done;
byte trash[N * CORO]; /* what a background coroutine has to delete */

hidden byte belief_holds, ownership_holds, quiescence_holds, tree_holds;

#ifdef NO_OWN_CHECK
#define OWN_UNCHECKED true
#else
#define OWN_UNCHECKED false
#endif

/* find settles what has become of a create whose answer was lost. */
inline find() {
	do
	:: was = session[me];
		ask(SYNC, 0);
		if
		:: how == sent -> ask(LIST, NONE)
		:: else
		fi;
		if
		:: how != sent -> settle()
		:: how == sent && was != 0 && session[me] == was -> break
		:: else
		fi
	od
}

/* create makes the own znode: step 1 of the protocol. */
inline create() {
	do
	:: attempt[me]++;
		ask(CREATE, attempt[me]);
		if
		:: how == sent -> node[me] = vl; break
		:: how == noserver -> settle() /* it was not sent */
#ifdef PLAIN_CREATE
		:: how == lost -> settle()
#else
		:: how == lost ->
			find();
			if
			:: rs -> node[me] = vl; break
			:: else
			fi
#endif
		fi
	od
}

/* queue waits until nobody is ahead: steps 2 to 4. It ends with held or not. */
inline queue() {
	held = false;
	do
	:: rang[me] = false;
		ask(LIST, node[me]);
		if
		:: how != sent -> settle()
#ifndef NO_OWN_CHECK
		:: how == sent && !rs -> break
#endif
		:: how == sent && (rs || OWN_UNCHECKED) && vl == node[me] ->
			ask(EXISTS, node[me]);
			if
			:: how != sent -> settle()
			:: how == sent && !rs && !OWN_UNCHECKED -> break
			:: how == sent && (rs || OWN_UNCHECKED) ->
				if
				:: rs -> armedBy(node[me])
				:: else
				fi;
				if
				:: rang[me]
				:: else -> held = true; break
				fi
			fi
		:: how == sent && (rs || OWN_UNCHECKED) && vl != node[me] ->
			first = vl;
			rang[me] = false;
			ask(EXISTS, first);
			if
			:: how != sent -> settle()
			:: how == sent && rs -> armedBy(first); await(BIT(first))
#ifdef IGNORE_EXISTS
			:: how == sent && !rs -> await(0)
#else
			:: how == sent && !rs
#endif
			fi
		fi
	od
}

/* abandon deletes a znode at once if possible, else in the background. */
inline abandon(k) {
	ask(DELETE, k);
	if
	:: how == sent
	:: else -> d_step {
		i_ = 1;
		do
		:: i_ < CORO && st[me * CORO + i_] != idle -> i_++
		:: else -> break
		od;
		assert(i_ < CORO);
		trash[me * CORO + i_] = k;
		st[me * CORO + i_] = ready
	}
	fi
}

/* acquired is what the caller may now rely on: nobody else believes that he holds
 * the lock; whatever became of sessions, no two claims have their znodes, and the
 * own one is, or was, the first of the queue. */
inline acquired() {
	d_step {
		i_ = 0;
		do
		:: i_ < N ->
			belief_holds = i_ == me || !believes[i_] || LATE > 0;
			assert(belief_holds);
			ownership_holds = i_ == me || !believes[i_] || owner[node[me]] == 0 || owner[node[i_]] == 0;
			assert(ownership_holds);
			i_++
		:: else -> break
		od;
		ahead(node[me]);
		ownership_holds = owner[node[me]] != 0 && vl_ == node[me] || led & BIT(node[me]);
		assert(ownership_holds);
		believes[me] = true;
		stay = STAY;
		st[ME] = ready
	}
	hold(node[me])
}

proctype Client(byte me) {
	byte co = 0, was, first, stay;
	bool held;
	COROUTINE;

	atomic {
		st[ME] = idle;
		do
		:: create();
			queue();
			if
			:: held -> break
			:: else -> first = node[me]; node[me] = NONE; abandon(first)
			fi
		od;
		acquired()
	};
	do
	:: d_step { stay > 1 && !lostIt[me] -> stay-- }
	:: atomic { stay <= 1 || lostIt[me] ->
		believes[me] = false;
		st[ME] = idle;
		release();
		first = node[me];
		node[me] = NONE;
		do
		:: ask(DELETE, first);
			if
			:: how == sent -> break
			:: else -> settle()
			fi
		od;
		done++;
		break
	}
	od;
end:	false
}

/* Cleaner is a coroutine of the background. */
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

/* Judge looks at what is left when nothing can happen any more. */
proctype Judge() {
	timeout;
	d_step {
		quiescence_holds = done == N;
		assert(quiescence_holds);
		j_ = 0;
		do
		:: j_ < NODES ->
			tree_holds = owner[j_] == 0;
			assert(tree_holds);
			j_++
		:: else -> break
		od;
		skip
	};
end:	false
}

init {
	byte c, b;
	atomic {
		do
		:: c < N ->
			node[c] = NONE;
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
