/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The init log that is cleaned (src/abi/region.h, src/inside/tracer/tracer_initlog*.c, src/recorder/runtime/initlog_cursor.c) for Spin:
 * a thread that writes facts and cleans, another one that writes, a reader that goes on from where it was
 * and collects when it is overtaken, and a crash anywhere.
 *
 * As in overwrite.pml, what the cleaning thread stores goes through a buffer from which it reaches memory in
 * any order, but for:
 *   - two stores to one word stay in order;
 *   - a store with release comes after all stores before it (later ones may overtake it);
 *   - what is before a fence comes before what is after it.
 * The thread itself sees its own stores at once. Positions are given out by a compare-exchange: that is atomic,
 * and others see the tail when all that the thread stored before is out. The other writer's memory is strict.
 *
 * A chunk holds one record, and there is memory for M of them, which is used again and again. A record is
 * its stamp (1 + position) and its body (1 + origin). The second fact does not hold any more when the log
 * is cleaned, all others do.
 *
 *   - What the reader accepts at a position is what was written there, and no fact twice.
 * At the end, also behind a crash: each fact that was committed and holds was taken. With -DSLOW there is room for all facts
 * that hold: then none is dropped, though the other writer may stop anywhere.
 *
 *   spin -a initlog.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m1000000
 *
 * -DSHORT, without crash and with fewer stores on their way, is what the suite runs. Seen failing with SHORT and
 * -DNO_RELEASE, -DNO_CLAIM, -DCLAIM_LATE, -DNO_SECOND_LOOK_AT_STAMP, -DHEAD_FIRST, -DFREE_FIRST,
 * -DNO_LOOK_AT_HEAD, -DNO_ACQUIRE_FENCE, -DNO_ORIGIN, with -DPENDING=5, too, -DNO_FENCE, and with -DSLOW -DNO_WAIT.
 */
#ifdef SHORT
#define NO_DEATH
#endif
#ifndef PENDING
#ifdef SHORT
#define PENDING 2		/* stores on their way: the thread waits when there are more */
#else
#define PENDING 5
#endif
#endif
#ifndef AFTER
#define AFTER 1			/* cleanings, each with a fact behind it */
#endif
#ifdef SLOW
#define FIRST_HOLDS false
#define TRIES 2
#else
#define FIRST_HOLDS true
#define TRIES 0			/* fewer interleavings: without room, a fact is dropped */
#endif
#define M 3			/* chunks that there is memory for */
#define P 8			/* positions at most */
#define SPARE 1			/* chunks that facts leave for cleaning */

/* Words of the shared memory. */
#define HEAD 0
#define TAIL 1
#define COUNT 2			/* chunks so far */
#define CLAIM 3			/* 1 + position from which on the other thread is writing */
#define PAGE(n) (4 + (n) % M)	/* where chunk n is: 0 to M - 1 */
#define STAMP(chunk) (4 + M + (chunk))
#define BODY(chunk) (4 + 2 * M + (chunk))
byte memory[4 + 3 * M];

/* Stores of the cleaner on their way. */
byte pending, epoch;
byte where[PENDING], what[PENDING], since[PENDING];
bool releases[PENDING];

byte tail;			/* positions given out */
bool used[M];			/* memory that is a chunk; the cleaner's */
bool crashed;
byte finished;

/* What is so: of each position the origin of what was written there, of each origin its fact. */
byte truth[P];
bool committed[P], holds[P], taken[P];

inline store(at_word, value, release) {
	atomic {
		(pending < PENDING) ->
		where[pending] = at_word;
		what[pending] = value;
		since[pending] = epoch;
		releases[pending] = release;
		pending++
	}
}

inline fence() { epoch = (pending == 0 -> 0 : epoch + 1) }

/* The cleaner's own view. */
inline load(at_word, to) {
	d_step {
		to = memory[at_word];
		j = 0;
		do
		:: j < pending ->
		   if
		   :: where[j] == at_word -> to = what[j]
		   :: else -> skip
		   fi;
		   j++
		:: else -> break
		od;
		j = 0
	}
}

active proctype buffer() {
	byte i, j;
	bool may;

end:	do
	:: atomic {
		pending > 0 ->
		i = 0;
		do
		:: i + 1 < pending -> i++
		:: break
		od;
		may = true;
		j = 0;
		do
		:: j < i ->
		   may = may && where[j] != where[i] && since[j] == since[i] && !releases[i];
		   j++
		:: else -> break
		od;
		/* One word for both threads: it comes out as it was given out. */
		may = may && (where[i] != TAIL || what[i] == memory[TAIL] + 1);
		if
		:: may ->
		   memory[where[i]] = what[i];
		   do
		   :: i + 1 < pending ->
		      where[i] = where[i + 1];
		      what[i] = what[i + 1];
		      since[i] = since[i + 1];
		      releases[i] = releases[i + 1];
		      i++
		   :: else -> break
		   od;
		   pending--;
		   where[pending] = 0;
		   what[pending] = 0;
		   since[pending] = 0;
		   releases[pending] = false;
		   if
		   :: pending == 0 -> epoch = 0
		   :: else -> skip
		   fi
		:: else -> skip
		fi;
		i = 0; j = 0; may = false
	   }
	od
}

/* ---- writing ---- */

/* kymo_region_add_log_chunk(). Sets @none when there is no memory but what facts leave. */
inline grow(leave) {
	d_step {
		k = 0; j = 0; free = M;
		do
		:: j < M ->
		   if
		   :: !used[j] -> k++; free = j
		   :: else -> skip
		   fi;
		   j++
		:: else -> break
		od;
		j = 0;
		none = (k <= leave);
		k = 0
	}
	if
	:: none -> skip
	:: else ->
	   used[free] = true;
	   store(PAGE(at), free, false);
	   store(COUNT, at + 1, true)
	fi;
	free = 0
}

/*
 * kymo_log_take(). Sets @at, or @none. The cleaner's stores follow each other in one step: the order in which
 * they come out is the buffer's.
 */
inline take(leave) {
	do
	:: atomic {
		at = tail;
		load(COUNT, k);
		none = false;
		if
		:: k > at -> skip
		:: else -> grow(leave)
		fi;
		k = 0;
		if
		:: none -> break
		:: else -> skip
		fi
	   }
	   if
	   :: atomic { (tail == at && pending < PENDING) -> store(TAIL, at + 1, true); tail++; assert(tail <= P); break }
	   :: atomic { (tail != at) -> skip }
	   fi
	od
}

#ifdef NO_RELEASE
#define STAMPED false
#else
#define STAMPED true
#endif

inline write(origin) {
#ifndef NO_FENCE
	fence();
#endif
	load(PAGE(at), chunk);
	truth[at] = origin;
	store(BODY(chunk), origin + 1, false);
	(pending < PENDING) -> committed[origin] = true;
	store(STAMP(chunk), at + 1, STAMPED);
	chunk = 0
}

/* ---- cleaning ---- */

inline forget(position) {
#ifndef FREE_FIRST
	store(HEAD, position + 1, true);
#endif
	load(PAGE(position), chunk);
	used[chunk] = false;
	chunk = 0
}

/* What is at @from: its body; 0: nothing whole. Sets @stop where somebody is writing. */
inline look() {
	atomic { load(PAGE(from), chunk); load(STAMP(chunk), k) }
	if
	:: k == from + 1 -> skip
	:: else ->
#ifndef NO_CLAIM
	   stop = (memory[CLAIM] && memory[CLAIM] - 1 <= from);
#endif
#ifndef NO_SECOND_LOOK_AT_STAMP
	   load(STAMP(chunk), k)
#endif
	fi;
	atomic {
		if
		:: k == from + 1 -> load(BODY(chunk), body); stop = false
		:: else -> body = 0
		fi;
		k = 0; chunk = 0
	}
}

#define COPIED (body && holds[body - 1])

/* A chunk at a time: what holds is copied, the head moves, the memory is free. */
inline clean() {
	load(TAIL, limit);
	do
	:: from >= limit || none || stop -> break
	:: else ->
	   look();
#ifdef HEAD_FIRST
	   if
	   :: stop -> skip
	   :: else -> store(HEAD, from + 1, true)
	   fi;
#endif
#ifdef FREE_FIRST
	   if
	   :: stop -> skip
	   :: else -> atomic { load(PAGE(from), chunk); used[chunk] = false; chunk = 0 }
	   fi;
#endif
	   if
	   :: !stop && COPIED ->
	      take(0);
	      atomic {
		if
		:: none -> skip
		:: else -> write(body - 1)
		fi
	      }
	   :: else -> skip
	   fi;
	   atomic {
		if
		:: stop || none -> skip
		:: else -> forget(from); from++
		fi;
		body = 0; at = 0
	   }
	od;
	atomic { limit = 0; stop = false; none = false }
}

#ifdef NO_WAIT
#define WAIT skip
#else
#define WAIT (memory[CLAIM] == 0)	/* asleep: the other thread goes on */
#endif

/* d_step: how many facts hold, those that are being written included. */
inline count_live() {
	d_step {
		k = 0; j = 0;
		do
		:: j < P -> k = k + holds[j]; j++
		:: else -> break
		od;
		j = 0;
		crowded = (k >= M - SPARE);
		k = 0
	}
}

/*
 * One init event, take_room(): if there is no room, wait for the thread that writes, and clean again. With room for all that
 * holds, no fact is dropped, however long the other thread stops while it writes.
 */
inline fact(lasting) {
	tries = 0;
	take(SPARE);
	do
	:: none && tries < TRIES ->
	   tries++;
	   atomic { none = false; at = 0 }
	   WAIT;
	   clean();
	   take(SPARE)
	:: else -> break
	od;
	atomic {
		count_live();
		assert(!none || crowded || !TRIES);
		if
		:: none -> skip
		:: else ->
		   holds[at] = lasting;
		   write(at)
		fi;
		at = 0; none = false; crowded = false; tries = 0
	}
}

active proctype cleaner() {
	byte at, chunk, k, j, free, from, limit, body, n, tries;
	bool none, stop, crowded;

	{
		fact(FIRST_HOLDS);
		fact(false);
		do
		:: n < AFTER -> clean(); fact(true); n++
		:: else -> break
		od;
		finished++
	} unless { crashed }
}

/* Its stores come out in order: those that may not overtake each other are the cleaner's, too. */
active proctype writer() {
	byte at, chunk;

	{
	   skip;
again:	   at = tail;
	   if
	   :: memory[COUNT] <= at -> goto done		/* no room: dropped */
	   :: else -> skip
	   fi;
#ifndef CLAIM_LATE
	   memory[CLAIM] = at + 1;
#endif
	   if
	   :: atomic { tail == at && memory[TAIL] == at -> tail++; memory[TAIL] = at + 1; holds[at] = true; truth[at] = at }
	   :: tail != at -> goto again
	   fi;
#ifdef CLAIM_LATE
	   memory[CLAIM] = at + 1;
#endif
	   chunk = memory[PAGE(at)];
	   memory[BODY(chunk)] = at + 1;
	   atomic { memory[STAMP(chunk)] = at + 1; committed[at] = true }
done:	   memory[CLAIM] = 0;
	   finished++
	} unless { crashed }
}

/* The process is killed, or not. What is on its way arrives. */
active proctype death() {
	if
#ifndef NO_DEATH
	:: crashed = true
#endif
	:: skip
	fi
}

/* ---- reading ---- */

#define OVER ((crashed || finished == 2) && pending == 0)

/* The record at @p: stamp and body, and only then the head, as log_look() and log_holds(). */
#ifdef NO_ACQUIRE_FENCE
#define FIRST_OF(p) head = memory[HEAD]
#define LAST_OF(p) body = memory[BODY(chunk)]
#else
#define FIRST_OF(p) body = memory[BODY(chunk)]
#ifdef NO_LOOK_AT_HEAD
#define LAST_OF(p) head = 0
#else
#define LAST_OF(p) head = memory[HEAD]
#endif
#endif
inline read(p) {
	atomic { chunk = memory[PAGE(p)]; stamp = memory[STAMP(chunk)] }
	FIRST_OF(p)
}

inline accept(p) {
	assert(body == truth[p] + 1 && committed[truth[p]]);
	assert(!taken[body - 1]);
	taken[body - 1] = true
}

active proctype reader() {
	byte at, from, until, limit, chunk, stamp, body, head, o;
	byte found[P];
	bool over, behind;

	do
	/* take_onward() */
	:: !behind && at < memory[TAIL] && memory[COUNT] <= at && memory[HEAD] > at -> behind = true
	:: atomic { !behind && at < memory[TAIL] && memory[COUNT] > at -> over = OVER }
	      read(at);
	      atomic {
		LAST_OF(at);
		if
		:: head > at -> behind = true
		:: head <= at && stamp == at + 1 ->
		   assert(body == truth[at] + 1);
#ifndef NO_ORIGIN
		   if
		   :: body == at + 1 -> accept(at)
		   :: else -> skip
		   fi;
#else
		   accept(at);
#endif
		   at++
		:: head <= at && stamp != at + 1 && over -> at++
		:: else -> skip
		fi;
		chunk = 0; stamp = 0; body = 0; head = 0; over = false
	      }
	:: behind ->				/* take_collected() */
	   atomic { over = OVER; from = memory[HEAD]; limit = memory[TAIL]; until = limit }
	   do
	   :: from >= limit -> break
	   :: from < limit && memory[COUNT] <= from -> until = (from < until -> from : until); break
	   :: from < limit && memory[COUNT] > from ->
	      read(from);
	      atomic {
		LAST_OF(from);
		if
		:: head > from -> goto again
		:: head <= from && stamp == from + 1 ->
		   assert(body == truth[from] + 1);
		   if
		   :: body - 1 >= at -> found[body - 1] = from + 1
		   :: else -> skip
		   fi
		:: head <= from && stamp != from + 1 ->
		   until = (!over && from < until -> from : until)
		fi;
		from++; chunk = 0; stamp = 0; body = 0; head = 0
	      }
	   od;
	   o = at;
	   do
	   :: o >= until -> break
	   :: o < until && found[o] == 0 -> o++
	   :: o < until && found[o] != 0 ->
	      read(found[o] - 1);
	      atomic {
		LAST_OF(found[o] - 1);
		if
		:: head >= found[o] || stamp != found[o] -> goto again
		:: else -> assert(body == o + 1); accept(found[o] - 1); at = o + 1
		fi;
		o++; chunk = 0; stamp = 0; body = 0; head = 0
	      }
	   od;
	   atomic { at = (until > at -> until : at); behind = false }
again:	   atomic {
		o = 0;
		do
		:: o < P -> found[o] = 0; o++
		:: else -> break
		od;
		o = 0; from = 0; until = 0; limit = 0; chunk = 0; stamp = 0; body = 0; head = 0; over = false
	   }
	:: atomic {
		OVER && !behind && at >= memory[TAIL] ->
		o = 0;
		do
		:: o < P -> assert(!(committed[o] && holds[o]) || taken[o]); o++
		:: else -> break
		od;
		break
	   }
	od
}
