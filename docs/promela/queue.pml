/* The queue of recipes/queue.go: each of N clients puts an item, another one if the
 * outcome of that is unknown, and then takes one. See README.md for how to run it.
 *
 * Flaws, with their numbers in docs/museum.md:
 *   DELETE_LOST  23  that an item is gone at the second delete is taken for
 *                    somebody else's doing
 *   PUT_TWICE    24  a put is tried again when its answer was lost
 *   BLIND_WAIT  140  a consumer waits although the listing that left the watch
 *                    shows an item
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
#define CORO   (1 + LOSSES + EXPIRIES + LATE)
#define PUTS   (1 + LOSSES + LATE)    /* of a client: one more for each that is in doubt */
#define SEQS   (N + LOSSES + LATE)    /* items that are ever made; sets of them are bit masks */
#define ITEMS  0                      /* the watches on the children of dir/items */
#define CLAIMS 1                      /* and of dir/claims */
#define KEYS   2
#define DATA   3
#define GONE(k) false

#define PUT        1  /* the multi of an item and a receipt */
#define RECEIPT    2  /* look for the receipt */
#define MADE       3  /* look for the item of a put */
#define UNRECEIPT  4  /* delete the receipt */
#define SYNC       5
#define LISTITEMS  6  /* with 1: leaving a watch */
#define LISTCLAIMS 7
#define GET        8
#define CLAIM      9  /* the multi that claims an item */
#define PROOF     10  /* look for the proof of a claim */
#define ACK       11  /* the multi that deletes proof, claim and item */
#define RELEASE   12  /* the multi that deletes proof and claim */
#define UNPROVE   13  /* delete the proof, which then is gone */
#define DELETE    14  /* the item alone, as DELETE_LOST does */
#define EXISTS    15
#define WRITE(o) (o == PUT || o == UNRECEIPT || o == CLAIM || o == ACK || o == RELEASE || o == UNPROVE || o == DELETE)

#define CLAIMED(seq, attempt) ((seq) | (attempt) << 8) /* names a claim and its proof */
#define SEQ(x)     ((x) & 255)
#define ATTEMPT(x) ((x) >> 8)
#define ID(c, p)   ((c) * PUTS + (p)) /* of a put */

byte item[SEQS];    /* ID of the put + 1; 0: not there. The index is the sequence number. */
byte made;          /* so far */
byte claimant[SEQS]; /* client + 1; 0: no claim. A claim and its proof come and go together. */
byte proof[SEQS];   /* which of the client's attempts it is */
byte receipts[N];   /* of the client's puts, a bit mask */

#include "messages.pml"

#define OWNS(c, a) (item[SEQ(a)] != 0 && claimant[SEQ(a)] == c + 1 && proof[SEQ(a)] == ATTEMPT(a))

inline unclaim(q) {
	claimant[q] = 0;
	proof[q] = 0;
	fire(CLAIMS)
}

inline unqueue(q) {
	item[q] = 0;
	fire(ITEMS)
}

/* listed leaves a watch if asked to. */
inline listed(c, a, k) {
	if
	:: a -> watching[c] = watching[c] | BIT(k)
	:: else
	fi
}

/* search sets rs_ if there is a q for which what holds. */
inline search(what) {
	j_ = 0;
	do
	:: j_ < SEQS -> rs_ = rs_ || (what); j_++
	:: else -> break
	od
}

/* set sets vl_ to all q for which what holds. */
inline set(what) {
	j_ = 0;
	do
	:: j_ < SEQS ->
		if
		:: what -> vl_ = vl_ | BIT(j_)
		:: else
		fi;
		j_++
	:: else -> break
	od
}

inline execute(c, o, a) {
	if
	:: o == PUT ->
		assert(made < SEQS);
		item[made] = ID(c, a) + 1;
		made++;
		receipts[c] = receipts[c] | BIT(a);
		fire(ITEMS)
	:: o == RECEIPT -> rs_ = (receipts[c] & BIT(a)) != 0
	:: o == MADE -> search(item[j_] == ID(c, a) + 1)
	:: o == UNRECEIPT -> receipts[c] = receipts[c] & ~BIT(a)
	:: o == SYNC || o == UNPROVE
	:: o == LISTITEMS -> set(item[j_] != 0); listed(c, a, ITEMS)
	:: o == LISTCLAIMS -> set(claimant[j_] != 0); listed(c, a, CLAIMS)
	:: o == GET -> rs_ = item[a] != 0; vl_ = item[a]
	:: o == EXISTS -> rs_ = item[a] != 0
	:: o == CLAIM ->
		rs_ = item[SEQ(a)] != 0 && claimant[SEQ(a)] == 0;
		if
		:: rs_ -> claimant[SEQ(a)] = c + 1; proof[SEQ(a)] = ATTEMPT(a); fire(CLAIMS)
		:: else
		fi
	:: o == PROOF -> rs_ = claimant[SEQ(a)] == c + 1 && proof[SEQ(a)] == ATTEMPT(a)
	:: o == ACK ->
		rs_ = OWNS(c, a);
		if
		:: rs_ -> unclaim(SEQ(a)); unqueue(SEQ(a))
		:: else
		fi
	:: o == RELEASE ->
		rs_ = claimant[SEQ(a)] == c + 1 && proof[SEQ(a)] == ATTEMPT(a);
		if
		:: rs_ -> unclaim(SEQ(a))
		:: else
		fi
	:: o == DELETE ->
		rs_ = item[a] != 0;
		if
		:: rs_ -> unqueue(a)
		:: else
		fi
	fi
}

inline sessionEnds(c) {
	receipts[c] = 0;
	j_ = 0;
	do
	:: j_ < SEQS ->
		if
		:: claimant[j_] == c + 1 -> unclaim(j_)
		:: else
		fi;
		j_++
	:: else -> break
	od
}

#include "zookeeper.pml"

byte tries[N];           /* claims that were attempted */
bool put[N * PUTS];      /* the producer was told that it is put */
byte taken[N * PUTS];    /* how often it was delivered */
byte doubts;             /* takes of unknown outcome */
byte done;
byte job[N * CORO];      /* what a background coroutine has to do: UNRECEIPT or RELEASE */
short about[N * CORO];   /* and with what */

hidden byte lost_item_holds, doubled_item_holds, quiescence_holds, tree_holds;

/* later starts a job in the background. */
inline later(o, a) {
	d_step {
		i_ = 1;
		do
		:: i_ < CORO && st[me * CORO + i_] != idle -> i_++
		:: else -> break
		od;
		assert(i_ < CORO);
		job[me * CORO + i_] = o;
		about[me * CORO + i_] = a;
		st[me * CORO + i_] = ready
	}
}

/* fresh asks after a sync, in the session of that sync. */
inline fresh(o, a) {
	do
	:: was = session[me];
		ask(SYNC, 0);
		if
		:: how == sent -> ask(o, a)
		:: else
		fi;
		if
		:: how != sent -> settle()
		:: how == sent && was != 0 && session[me] == was -> break
		:: else
		fi
	od;
	was = 0
}

/* surely asks until there is an answer. */
inline surely(o, a) {
	do
	:: ask(o, a);
		if
		:: how == sent -> break
		:: else -> settle()
		fi
	od
}

/* doPut puts item p: steps 1 to 3. It ends with ok or not. */
inline doPut() {
	ok = true;
	do
	:: before = session[me];
		ask(PUT, p);
		if
		:: how == sent -> break
		:: how == noserver -> settle()
#ifdef PUT_TWICE
		:: how == lost -> settle()
#else
		:: how == lost ->
			fresh(RECEIPT, p);
			if
			:: rs -> break
			:: !rs && before != 0 && session[me] == before
			:: !rs && (before == 0 || session[me] != before) ->
				fresh(MADE, p);
				if
				:: rs -> break
				:: else -> ok = false; later(UNRECEIPT, p); break
				fi
			fi
#endif
		fi
	od;
	before = 0;
	if
	:: ok ->
		put[ID(me, p)] = true;
		ask(UNRECEIPT, p);
		if
		:: how == sent
		:: else -> later(UNRECEIPT, p)
		fi
	:: else
	fi
}

/* first sets seq to the first item of a set, NONE if it is empty. */
#define NONE 255
inline first(items) {
	d_step {
		seq = 0;
		do
		:: seq < SEQS && !((items) & BIT(seq)) -> seq++
		:: else -> break
		od;
		if
		:: seq == SEQS -> seq = NONE
		:: else
		fi
	}
}

/* free looks for the first item without a claim, after a sync: step 4. */
inline free() {
	do
	:: was = session[me];
		seq = NONE;
		ask(SYNC, 0);
		if
		:: how == sent -> ask(LISTITEMS, 0)
		:: else
		fi;
		if
		:: how == sent && vl ->
			items = vl;
			ask(LISTCLAIMS, 0);
			first(items & ~vl);
			items = 0
		:: else
		fi;
		if
		:: how != sent -> settle()
		:: how == sent && was != 0 && session[me] == was -> break
		:: else
		fi
	od;
	was = 0
}

/* listen lists items or claims and sees to it that the next change is heard. */
inline listen(o, k) {
	if
	:: (armedFor & BIT(k)) && !(heard[me] & BIT(k)) -> ask(o, 0)
	:: else ->
		ask(o, 1);
		if
		:: how == sent -> armedBy(k); armedFor = armedFor | BIT(k)
		:: else
		fi
	fi
}

/* awaitFree waits until there is a free item, or perhaps is: step 6. */
inline awaitFree() {
	do
	:: if
		:: !listening || rang[me] -> listening = true; rang[me] = false; armedFor = 0
		:: else
		fi;
		seq = NONE;
		listen(LISTITEMS, ITEMS);
		if
		:: how == sent && vl ->
			items = vl;
			listen(LISTCLAIMS, CLAIMS);
			first(items & ~vl);
			items = 0
		:: else
		fi;
		if
		:: how != sent -> settle()
#ifdef BLIND_WAIT
		:: else -> seq = NONE; await(armedFor); break
#else
		:: how == sent && seq == NONE -> await(armedFor); break
		:: how == sent && seq != NONE -> seq = NONE; break
#endif
		fi
	od
}

/* claim claims item seq: step 5. It ends with ok or not. */
inline claim() {
	tries[me]++;
	assert(tries[me] < 100);
	surely(GET, seq);
	ok = rs;
	what = vl; /* ID + 1 */
	do
	:: !ok -> break
	:: else ->
		before = session[me];
		ask(CLAIM, CLAIMED(seq, tries[me]));
		if
		:: how == sent -> ok = rs; break
		:: how == noserver -> settle()
		:: how == lost ->
			fresh(PROOF, CLAIMED(seq, tries[me]));
			if
			:: rs -> break
			:: else
			fi
		fi
	od
}

/* acknowledge removes the item that was claimed: step 7. It ends with verdict
 * idle: delivered, lost: the claim is lost, unsent: nobody knows. */
inline acknowledge() {
	verdict = idle;
	unheard = false;
	do
	:: ask(ACK, CLAIMED(seq, tries[me]));
		if
		:: how == sent -> break
		:: else -> unheard = unheard || how == lost; settle()
		fi
	od;
	if
	:: rs || unheard && before != 0 && session[me] == before
	:: else ->
		verdict = lost;
		if
		:: unheard ->
			fresh(EXISTS, seq);
			if
			:: rs
			:: else -> verdict = unsent
			fi
		:: else
		fi;
		later(RELEASE, CLAIMED(seq, tries[me]))
	fi;
	unheard = false
}

/* remove is claim and acknowledge with the flaw: the item is just deleted. */
inline remove() {
	surely(GET, seq);
	what = vl;
	surely(DELETE, seq);
	if
	:: rs -> verdict = idle
	:: else -> verdict = lost
	fi
}

inline deliver() {
	d_step {
		taken[what - 1]++;
		doubled_item_holds = taken[what - 1] == 1;
		assert(doubled_item_holds)
	}
}

inline take() {
	do
	:: free();
		if
		:: seq == NONE -> awaitFree()
		:: else ->
#ifdef DELETE_LOST
			remove();
			ok = true;
#else
			claim();
			if
			:: ok -> acknowledge()
			:: else
			fi;
#endif
			before = 0;
			seq = NONE;
			if
			:: ok && verdict == idle -> deliver(); break
			:: ok && verdict == unsent -> doubts++; break
			:: else -> what = 0
			fi
		fi
	od
}

proctype Client(byte me) {
	byte co = 0, was, before, p, seq = NONE, what;
	short items, armedFor;
	bool ok, listening, unheard;
	mtype verdict = idle;
	COROUTINE;

	atomic {
		st[ME] = idle;
		do
		:: doPut();
			if
			:: ok -> break
			:: else -> p++; assert(p < PUTS)
			fi
		od;
		take();
		done++
	};
end:	false
}

proctype Cleaner(byte me; byte co) {
	COROUTINE;
end:	do
	:: atomic { st[ME] == ready ->
		surely(job[ME], about[ME]);
		if
		:: job[ME] == RELEASE && !rs -> surely(UNPROVE, 0)
		:: else
		fi;
		job[ME] = 0;
		about[ME] = 0;
		rs = 0;
		how = idle
	}
	od
}

/* Judge looks at what is left when nothing can happen any more. */
proctype Judge() {
	timeout;
	d_step {
		quiescence_holds = done == N;
		assert(quiescence_holds);
		m_ = 0; /* items that are missing */
		i_ = 0;
		do
		:: i_ < N * PUTS ->
			s_ = 0; /* how often it is in the queue */
			j_ = 0;
			do
			:: j_ < SEQS -> s_ = s_ + (item[j_] == i_ + 1); j_++
			:: else -> break
			od;
			doubled_item_holds = s_ + taken[i_] <= 1;
			assert(doubled_item_holds);
			m_ = m_ + (put[i_] && s_ + taken[i_] == 0);
			i_++
		:: else -> break
		od;
		lost_item_holds = m_ <= doubts;
		assert(lost_item_holds);
		j_ = 0;
		do
		:: j_ < SEQS -> tree_holds = claimant[j_] == 0; assert(tree_holds); j_++
		:: else -> break
		od;
		j_ = 0;
		do
		:: j_ < N -> tree_holds = receipts[j_] == 0; assert(tree_holds); j_++
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
			st[c * CORO] = ready;
			run Client(c);
			run Link(c);
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
