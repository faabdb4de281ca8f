/* The connections, the client libraries and the faults; messages.pml says what a
 * protocol has to define before it includes this.
 */

/* cut ends a connection. With drop, what the server has not taken is lost;
 * without, the writes among it may still be executed. */
inline cut(c, drop) {
	do
	:: nempty(down[c]) ->
		down[c]?k_, s_, r_, v_, m_;
		since[c] = since[c] | m_ /* an answer that has not come did not tell */
	:: empty(down[c]) -> break
	od;
	do
	:: nempty(late[c]) -> late[c]?o_, a_
	:: empty(late[c]) -> break
	od;
	do
	:: nempty(wire[c]) ->
		wire[c]?o_, s_, a_;
		if
		:: !(drop) && !hungup[c] && WRITE(o_) -> late[c]!o_, a_
		:: else
		fi
	:: empty(wire[c]) -> break
	od;
	connected[c] = false;
	hungup[c] = false;
	watching[c] = 0;
	relist[c] = 0;
	i_ = 0;
	do
	:: i_ < CORO ->
		if
		:: st[(c) * CORO + i_] == sent -> st[(c) * CORO + i_] = lost
		:: else
		fi;
		i_++
	:: else -> break
	od;
	change(c)
}

inline connect(c) {
	do
	:: nempty(late[c]) -> late[c]?o_, a_
	:: empty(late[c]) -> break
	od;
	rounded[c] = false;
	if
	:: session[c] != 0 && !alive[c] -> /* only to learn that it has ended */
		session[c] = 0;
		heard[c] = heard[c] | armed[c]; /* every watch channel gets its last event */
		armed[c] = 0;
		since[c] = 0
	:: else ->
		if
		:: session[c] == 0 ->
			sessions[c]++;
			session[c] = sessions[c];
			alive[c] = true
		:: else
		fi;
		connected[c] = true;
		begun[c] = true;
		i_ = 0;
		do
		:: i_ < CORO ->
			if
			:: st[(c) * CORO + i_] == unsent -> st[(c) * CORO + i_] = sent
			:: else
			fi;
			i_++
		:: else -> break
		od;
		if
		:: armed[c] != 0 -> relist[c] = armed[c]; wire[c]!SETWATCHES, 0, 0
		:: else
		fi
	fi;
	change(c)
}

/* round ends a pass over all servers: what waits to be sent fails. */
inline round(c) {
	rounded[c] = true;
	do
	:: nempty(wire[c]) -> wire[c]?o_, s_, a_
	:: empty(wire[c]) -> break
	od;
	i_ = 0;
	do
	:: i_ < CORO ->
		if
		:: st[(c) * CORO + i_] == unsent -> st[(c) * CORO + i_] = noserver
		:: else
		fi;
		i_++
	:: else -> break
	od
}

/* setWatches tells what the watches of c have missed, and leaves the others. */
inline setWatches(c) {
	j_ = 0;
	do
	:: j_ < KEYS ->
		if
		:: !(relist[c] & BIT(j_))
		:: (relist[c] & BIT(j_)) && ((BIT(j_) & DATA) && (since[c] & BIT(j_)) || !(BIT(j_) & DATA) && GONE(j_)) ->
			push(c, event, 0, j_, 0, 0)
		:: else -> watching[c] = watching[c] | BIT(j_)
		fi;
		j_++
	:: else -> break
	od;
	relist[c] = 0
}

inline serve(c) {
	wire[c]?o_, s_, a_;
	rs_ = 0;
	vl_ = 0;
	if
	:: o_ == SETWATCHES ->
		setWatches(c);
		push(c, rewatched, 0, 0, 0, since[c])
	:: else ->
		execute(c, o_, a_);
		push(c, reply, s_, rs_, vl_, since[c])
	fi;
	since[c] = 0
}

inline notify(c) {
	down[c]?event, _, r_, _, _;
	if
	:: armed[c] & BIT(r_) ->
		armed[c] = armed[c] & ~BIT(r_);
		heard[c] = heard[c] | BIT(r_);
		if
		:: MAIN(c) == waits && (hears[c] & BIT(r_)) -> MAIN(c) = woken
		:: else
		fi;
		if
		:: guard[c] == waits && guarded[c] == r_ -> guard[c] = woken
		:: else
		fi
	:: else
	fi
}

inline expire(c) {
	alive[c] = false;
	sessionEnds(c);
	if
	:: connected[c] ->
		hungup[c] = true;
		watching[c] = 0;
		do
		:: nempty(wire[c]) -> wire[c]?o_, s_, a_
		:: empty(wire[c]) -> break
		od;
		push(c, eof, 0, 0, 0, 0)
	:: else
	fi
}

#define RUNNABLE(s) (s == lost || s == noserver || s == woken || s == ready)
#define OTHER(c, k) (CORO > k && RUNNABLE(st[(c) * CORO + k % CORO]))
#if CORO > 5
#error "more coroutines than BUSY asks for"
#endif
/* BUSY is whether some code of c can go on: it has not yet acted on what it knows. */
#define BUSY(c) (RUNNABLE(MAIN(c)) || RUNNABLE(guard[c]) || OTHER(c, 1) || OTHER(c, 2) || OTHER(c, 3) || OTHER(c, 4))

#define TAKEABLE(c)   (connected[c] && nempty(wire[c]) && !hungup[c])
#define UNANSWERED(c) (connected[c] && !hungup[c] && down[c]??[reply, s_, r_, v_, m_])

proctype Link(byte c) {
end:	do
	:: d_step { !connected[c] && (rounded[c] || !begun[c]) -> connect(c) }
	:: d_step { !connected[c] && begun[c] && !rounded[c] -> round(c); skip }
	:: d_step { TAKEABLE(c) -> serve(c) }
	:: d_step { !connected[c] && nempty(late[c]) ->
		late[c]?o_, a_;
		if
		:: alive[c] -> execute(c, o_, a_)
		:: else
		fi
	}
	:: d_step { down[c]?[event, s_, r_, v_, m_] -> notify(c) }
	:: d_step { down[c]?[rewatched, s_, r_, v_, m_] -> down[c]?rewatched, _, _, _, _ }
	:: d_step { down[c]?[eof, s_, r_, v_, m_] -> down[c]?eof, _, _, _, _; cut(c, true) }

	:: d_step { losses < LOSSES && TAKEABLE(c) -> losses++; cut(c, true) } /* lose-request */
	:: d_step { losses < LOSSES && UNANSWERED(c) -> losses++; cut(c, false) } /* lose-reply */
	:: d_step { losses < LOSSES && !UNANSWERED(c) && TAKEABLE(c) -> losses++; serve(c); cut(c, false) }
	:: d_step { expiries < EXPIRIES && alive[c] && !connected[c] && !BUSY(c) -> expiries++; expire(c) }
	:: d_step { lates < LATE && alive[c] && connected[c] -> lates++; expire(c) } /* learn-late */
	od
}

/* Guard tells the holder when the session changes state or the own znode goes. */
proctype Guard(byte c) {
end:	do
	:: d_step { guard[c] == ready ->
		if
		:: rang[c] || (heard[c] & BIT(guarded[c])) || ended[c] -> guard[c] = woken
		:: else -> guard[c] = waits
		fi
	}
	:: d_step { guard[c] == woken -> guard[c] = idle; lostIt[c] = true }
	od
}

inline hold(key) {
	d_step {
		guarded[me] = key;
		guard[me] = ready
	}
}

inline release() {
	d_step {
		ended[me] = true;
		if
		:: guard[me] == waits -> guard[me] = woken
		:: else
		fi
	}
}

/* What a coroutine's process has to know: who it is, and what came of its last
 * request. While it waits this is cleared, lest it tell states apart. */
#define COROUTINE mtype how; byte rs; short vl

/* ask sends a request and waits for its end: how is then sent, with the answer
 * in rs and vl, or lost or noserver. */
inline ask(o, a) {
	assert(nfull(wire[me]));
	d_step {
		wire[me]!o, co, a;
		if
		:: connected[me] -> st[ME] = sent
		:: else -> st[ME] = unsent
		fi;
		how = idle;
		rs = 0;
		vl = 0
	}
	if
	:: down[me]?reply, eval(co), rs, vl, _ -> how = sent
	:: st[ME] == lost -> how = lost
	:: st[ME] == noserver -> how = noserver
	fi;
	st[ME] = idle
}

/* armedBy notes the watch that the answer just received has left. */
inline armedBy(k) {
	d_step {
		armed[me] = armed[me] | BIT(k);
		heard[me] = heard[me] & ~BIT(k)
	}
}

/* settle waits for a session; see session.await of recipes/session.go. */
inline settle() {
	do
	:: connected[me] -> break
	:: else ->
		d_step {
			if
			:: co == 0 -> hears[me] = 0
			:: else
			fi;
			st[ME] = waits
		}
		st[ME] == woken -> st[ME] = idle
	od
}

/* await waits for the watches of keys or for a change of the session's state
 * since the alarm was set. */
inline await(keys) {
	d_step {
		hears[me] = keys;
		if
		:: rang[me] || (heard[me] & (keys)) -> st[ME] = woken
		:: else -> st[ME] = waits
		fi;
		rs = 0;
		vl = 0
	}
	st[ME] == woken -> st[ME] = idle
}
