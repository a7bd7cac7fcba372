/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings that overwrite (src/inside/tracer/tracer_ring.c, KYMO_MODE_OVERWRITE) for Spin: one thread, a signal handler
 * that lands anywhere and may come all the way round the ring, one reader that copies any block at any
 * moment by seq, bytes, seq, and a crash anywhere. What is published with several records at once,
 * and the time of it, is in ring.pml; here it is about blocks.
 *
 * Spin's memory is strict, that of an aarch64 is not. So what the thread stores goes through a buffer
 * from which it reaches memory in any order, but for:
 *   - two stores to one word stay in order;
 *   - a store with release comes after all stores before it (later ones may overtake it);
 *   - what is before a fence comes before what is after it.
 * The thread itself sees its own stores at once. The reader's loads between its two looks at seq
 * come in either order; none leaves that interval, which is what its acquires are for.
 *
 * A block holds R records, the ring B blocks; positions count records. A crash is the thread stopping
 * for good: what is asserted of every copy that the reader accepts holds at every moment.
 *
 *   - Each record below wpos in an accepted block is the one of that position, and so is the header.
 * At the end: everything reserved is published, in_slow and nest are 0, produced = recorded + dropped.
 *
 *   spin -a overwrite.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m100000
 *
 * -DSHORT, one event less and fewer stores on their way, is what the suite runs. -DR=2 has longer blocks.
 * Seen failing, also with SHORT, with -DNO_FENCE, -DSEQ_LAST, -DNO_RELEASE, -DNO_LIMIT, -DNO_SECOND_LOOK, -DNO_ACQUIRE_FENCE.
 */
#ifndef R
#define R 1
#endif
#define B 2
#ifdef SHORT
#define EVENTS 1		/* of the thread */
#define PENDING 2		/* stores under way: the thread waits when there are more */
#else
#define EVENTS 2
#define PENDING 5
#endif
#define COMES (B * R + 1)	/* events of the handler, all together: once round the ring */

/* Words of the shared memory. */
#define SEQ(block) ((block) % B)
#define HEADER(block) (B + (block) % B)
#define RECORD(pos) (2 * B + (pos) % (B * R))
#define WPOS (2 * B + B * R)
byte memory[2 * B + B * R + 1];

/* Stores on their way. */
byte pending, epoch;
byte where[PENDING], what[PENDING], since[PENDING];
bool releases[PENDING];

/* Private to the thread and its handler. */
byte word, own_wpos, nest, in_slow, begun;
byte recorded;			/* events so far, less those that were dropped */
byte depth;			/* who runs: 0 the thread, 1 the handler */
byte finished;

/* One step of whoever runs at depth @me: nobody else of this thread can run in between. */
#define STEP(statement) atomic { (depth == me) -> statement }

inline store(me, at, value, release) {
	atomic {
		(depth == me && pending < PENDING) ->
		where[pending] = at;
		what[pending] = value;
		since[pending] = epoch;
		releases[pending] = release;
		pending++
	}
}

inline fence(me) {
	STEP(epoch = (pending == 0 -> 0 : epoch + 1))	/* only the order counts */
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

/* Everything reserved up to now; with nest at 1 until it is out. */
inline publish(me) {
	do
	:: STEP(nest = 1);
	   STEP(q = word);
#ifdef NO_RELEASE
	   store(me, WPOS, q, false);
#else
	   store(me, WPOS, q, true);
#endif
	   STEP(own_wpos = q);
	   STEP(nest = 0);
	   if
	   :: atomic { (depth == me) && word == q -> break }
	   :: atomic { (depth == me) && word != q -> skip }
	   fi
	od
}

inline catch_up(me) {
	if
	:: atomic { (depth == me) && nest == 0 && word != own_wpos -> skip }
	   publish(me)
	:: atomic { (depth == me) && !(nest == 0 && word != own_wpos) -> skip }
	fi
}

#define NO_ROOM (word == begun * R)

/* What lies where the next block would go: nothing yet, or a block before that of wpos. */
#ifdef NO_LIMIT
#define MAY_BEGIN true
#else
#define MAY_BEGIN (begun < B || (own_wpos > 0 && begun - B < (own_wpos - 1) / R))
#endif

/* make_room(), next_block(). Leaves @gone set when there is no room to be had. */
inline make_room(me) {
	if
	:: atomic { (depth == me) && in_slow -> gone = true }
	:: atomic { (depth == me) && !in_slow -> in_slow = 1 }
	   if
	   :: atomic { (depth == me) && !NO_ROOM -> skip }	/* a handler has made it meanwhile */
	   :: atomic { (depth == me) && NO_ROOM && !(MAY_BEGIN) -> gone = true }
	   :: atomic { (depth == me) && NO_ROOM && MAY_BEGIN -> skip }
#ifndef SEQ_LAST
	      store(me, SEQ(begun), begun + 1, false);
#ifndef NO_FENCE
	      fence(me);
#endif
#endif
	      store(me, HEADER(begun), begun + 1, false);
#ifdef SEQ_LAST
	      fence(me);
	      store(me, SEQ(begun), begun + 1, false);
#endif
	      STEP(begun++)
	   fi;
	   STEP(in_slow = 0)
	fi
}

inline event(me) {
	STEP(recorded++);
	gone = false;
	do
	:: STEP(before = word);
	   if
	   :: atomic { (depth == me) && NO_ROOM -> skip }
	      make_room(me)
	   :: atomic { (depth == me) && !NO_ROOM -> below = nest }
	      STEP(nest = below + 1);
	      if
	      :: atomic { (depth == me) && word == before && !NO_ROOM -> word = before + 1; break }
	      :: atomic { (depth == me) && (word != before || NO_ROOM) -> nest = below }
	      fi
	   fi;
	   catch_up(me);
	   if
	   :: atomic { (depth == me) && gone -> recorded--; break }
	   :: atomic { (depth == me) && !gone -> skip }
	   fi
	od;
	if
	:: atomic { (depth == me) && gone -> skip }
	:: atomic { (depth == me) && !gone -> skip }
	   store(me, RECORD(before), before + 1, false);
	   if
	   :: atomic { (depth == me) && below != 0 -> nest = below }
	   :: atomic { (depth == me) && below == 0 -> skip }
	      publish(me)
	   fi
	fi;
	STEP(before = 0; below = 0; q = 0; gone = false)	/* fewer states */
}

active proctype thread() {
	byte before, below, q, i;
	bool gone;

	do
	:: i < EVENTS -> event(0); i++
	:: else -> break
	od;
	atomic { (depth == 0) -> finished++ }
}

/* Runs some of its events at a time, and to the end of each run. It may also never come. */
active proctype handler() {
	byte before, below, q, i;
	bool gone;

	do
	:: i < COMES ->
	   atomic { depth == 0 -> depth = 1 }
	   do
	   :: i < COMES -> event(1); i++
	   :: break
	   od;
	   atomic { (depth == 1) -> depth = 0 }
	:: break
	od;
	finished++
}

/* A copy of block @n. */
active proctype reader() {
	byte w, n, seq, header, first, last;

	do
	:: atomic {
		w = memory[WPOS];
		if
		:: w == 0 -> goto again
		:: else -> n = (w - 1) / R
		fi;
		if
		:: n > 0 -> n--			/* the one that goes next */
		:: skip
		fi
	   }
	   atomic {
		seq = memory[SEQ(n)];
		if
		:: seq == n + 1 -> skip
		:: else -> goto again
		fi
	   }
#ifdef NO_ACQUIRE_FENCE
	   if
	   :: memory[SEQ(n)] == n + 1 -> skip
	   :: else -> goto again
	   fi;
#endif
	   if
	   :: header = memory[HEADER(n)];
	      first = memory[RECORD(n * R)];
#if R > 1
	      last = memory[RECORD(n * R + R - 1)]
	   :: last = memory[RECORD(n * R + R - 1)];
	      first = memory[RECORD(n * R)];
#else
	   :: first = memory[RECORD(n * R)];
#endif
	      header = memory[HEADER(n)]
	   fi;
	   atomic {
#if !defined(NO_SECOND_LOOK) && !defined(NO_ACQUIRE_FENCE)
		if
		:: memory[SEQ(n)] == n + 1 -> skip
		:: else -> goto again
		fi;
#endif
		assert(header == n + 1);
		assert(n * R >= w || first == n * R + 1);
		assert(R == 1 || n * R + R - 1 >= w || last == n * R + R);
again:		w = 0; n = 0; seq = 0; header = 0; first = 0; last = 0
	   }
	:: atomic {
		finished == 2 && pending == 0 ->
		assert(memory[WPOS] == word && nest == 0 && in_slow == 0 && recorded == word);
		break
	   }
	od
}
