/* One ZooKeeper server, the client libraries, and what may go wrong between them,
 * for the protocols that include this file. What is one step here is one
 * transition in the simulator:
 *
 *   - the server takes a client's next request and executes it (serve),
 *   - the library gets the next message of its connection, which is FIFO: an
 *     answer, upon which the client's code goes on until its next request, a
 *     watch event, or the end of the connection (deliver),
 *   - code that has waited for something else goes on (run),
 *   - the library connects (connect), or gives up a pass over the servers, so
 *     that what waits to be sent fails (round),
 *   - a fault: a message is lost, and the connection with it, or a session ends.
 *
 * A protocol defines the macros
 *
 *   CORO       coroutines of a client that may have a request under way, the main
 *              one being 0
 *   KEYS       what can be watched
 *   DATA       those of the keys whose watch says "changed" rather than "deleted"
 *   WRITE(o)   whether the request o is a write
 *
 * and the inlines execute(c, o, a), which executes a request, with the answer in
 * rs_ and vl_; sessionEnds(c), which removes the ephemeral znodes of a client; and
 * the macro GONE(k), whether the znode with the deletion watch k is gone.
 *
 * There is one server and a client has one session at a time, so an ephemeral
 * znode belongs to its client's present session or does not exist: owners need
 * not be compared.
 */

#ifndef N
#define N 2        /* clients */
#endif
#ifndef LOSSES
#define LOSSES 0   /* messages, requests or replies, that are lost, in all */
#endif
#ifndef EXPIRIES
#define EXPIRIES 0 /* sessions that end while their clients know of their disconnection */
#endif
#ifndef LATE
#define LATE 0     /* sessions that end while their clients believe to be connected */
#endif

#define ME       (me * CORO + co)  /* of a coroutine */
#define MAIN(c)  st[(c) * CORO]
#define BIT(k)   (1 << (k))
#define SETWATCHES 0               /* the request that all protocols have */

mtype = { idle, unsent, sent, lost, noserver, waits, woken, ready }; /* a coroutine */
mtype = { reply, rewatched, event, eof };                            /* a message; rewatched answers SetWatches */

mtype st[N * CORO] = idle;
chan wire[N] = [CORO + 1] of { byte, byte, int };            /* request, coroutine, argument; not taken yet */
chan late[N] = [CORO + 1] of { byte, int };                  /* sent before the connection was cut */
chan down[N] = [CORO + KEYS + 3] of { mtype, byte, byte, short, byte };

bool connected[N], rounded[N], begun[N], hungup[N];
byte session[N];   /* its number, as far as the client knows; 0: none */
byte sessions[N];  /* so far */
bool alive[N];     /* the server holds it */

short armed[N];    /* keys that the library watches */
short watching[N]; /* keys that the server watches for it */
short relist[N];   /* keys in the SetWatches that is on its way */
byte  since[N];    /* DATA keys changed since the last answer that was sent */
short heard[N];    /* keys whose latest watch has fired */
short hears[N];    /* keys that the main coroutine waits for */
bool  rang[N];     /* the session's state has changed since the alarm was set */

mtype guard[N] = idle; /* of what is held; see recipes/hold.go */
bool  ended[N];        /* it was told to end */
byte  guarded[N];      /* the key of the own znode */
bool  lostIt[N];       /* it has told the holder */

byte losses, expiries, lates;

/* Scratch, not part of the state. It may only be used inside of one d_step: when
 * the search goes back to try another branch it does not restore hidden variables. */
hidden byte o_, s_, m_, r_, i_, j_;
hidden int a_, v_;
hidden mtype k_;
hidden int rs_, vl_;   /* the answer to a request */

/* change tells the code of client c that its session's state has changed. */
inline change(c) {
	rang[c] = true;
	i_ = 0;
	do
	:: i_ < CORO ->
		if
		:: st[(c) * CORO + i_] == waits -> st[(c) * CORO + i_] = woken
		:: else
		fi;
		i_++
	:: else -> break
	od;
	if
	:: guard[c] == waits -> guard[c] = woken
	:: else
	fi
}

inline push(c, kind, co, r, v, m) {
	assert(nfull(down[c]));
	down[c]!kind, co, r, v, m
}

/* fire is a change of what key k stands for. */
inline fire(k) {
	i_ = 0;
	do
	:: i_ < N ->
		since[i_] = since[i_] | (BIT(k) & DATA);
		if
		:: watching[i_] & BIT(k) ->
			watching[i_] = watching[i_] & ~BIT(k);
			push(i_, event, 0, k, 0, 0)
		:: else
		fi;
		i_++
	:: else -> break
	od
}

