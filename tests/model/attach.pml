/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The horizon of a recorder that comes late (src/recorder/session/session_live.c, process_first_ns() in
 * src/recorder/drain/drained_process.c) for Spin: a thread that gets a ring and writes events all the time, a recorder
 * that attaches anywhere and gives its sink horizons, and a sink that is added anywhere.
 *
 * Positions count records. A block is S positions, of which the last never holds a record; a larger record may not fit
 * before that, and then the next block begins. Bytes that were never written are either 0 or later than any time. The
 * clock may stand still between two readings. Memory is strict: what ORDER_NS is for is left out, and so is HOLD_NS, after
 * which nobody waits for a thread inside an event.
 *
 *   - No horizon comes from bytes that are not a committed record.
 *   - Of what the sink gets after a horizon, nothing is earlier than the horizon.
 *
 *   spin -a attach.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m100000
 *
 * Seen failing with -DNO_USED, -DREST_HIDES, -DNO_NEST, -DNEST_LAST, -DCLOCK_LATE, -DOLD_RINGS, -DWRAPS.
 */
#ifndef EVENTS
#define EVENTS 3
#endif
#define ROUNDS 2		/* horizons */
#define S 3
#define SIZE (EVENTS * S)
#define MARGIN 2		/* POINT_MARGIN_NS */
#define NEVER 200		/* as a time: later than any */
#define START 1			/* of the clock */

byte clock = START;
bool ring;			/* it is in the directory of rings */
byte wpos, lastts, nest;
byte at[SIZE];			/* time of the record at a position */
bool written[SIZE];
byte used[EVENTS];		/* records of a block that is complete */

inline read_clock(to) { atomic { if :: clock++ :: skip fi; to = clock } }

active proctype thread() {
	byte word, t, n;

	if			/* what is in memory that was not used yet */
	:: skip
	:: d_step { do :: n < SIZE -> at[n] = NEVER; n++ :: else -> break od; n = 0 }
	fi;
	ring = true;
	do
	:: n < EVENTS ->
	   if			/* the next block, where there is no room */
	   :: word % S != 0 -> d_step { used[word / S] = word % S; word = (word / S + 1) * S }
	   :: word % S != S - 1 -> skip
	   fi;
	   nest = 1;
	   read_clock(t);
	   d_step { at[word] = t; written[word] = true }
	   if
	   :: wpos == word -> lastts = t; wpos = word + 1
	   :: else -> atomic { lastts = t; wpos = word + 1 }	/* nseq: kymo__publish_behind() */
	   fi;
	   nest = 0;
	   d_step { word++; n++; t = 0 }
	:: else -> break
	od
}

/* Where the records of the block of @p end, as far as they are below @w. */
#define NEXT(p) ((p / S + 1) * S)
#define STOP(p, w) ((w) > NEXT(p) -> NEXT(p) - S + used[p / S] : (w))

/* The first record from @p on and below @w: its position; @w: none. */
inline first(p, w) {
	do
	:: p >= w -> break
	:: p < w ->
#ifdef NO_USED
	   break
#else
	   if
	   :: p < STOP(p, w) -> break
	   :: else ->
#ifdef REST_HIDES
	      p = w
#else
	      p = NEXT(p)
#endif
	   fi
#endif
	od
}

/* All that is committed goes to the sink. */
inline drain() {
	d_step {
		w = wpos;
		do
		:: taken >= w -> break
		:: taken < w && taken < STOP(taken, w) ->
		   assert(written[taken] && at[taken] >= given);
		   taken++
		:: taken < w && taken >= STOP(taken, w) -> taken = NEXT(taken)
		od;
		w = 0
	}
}

#ifdef NO_NEST
#define NEST 0
#else
#define NEST nest
#endif
inline being_written() {
	if
	:: NEST -> t = lastts; h = (t < h -> t : h); t = 0
	:: else -> skip
	fi
}

inline first_unread() {
	d_step {
		w = wpos;
		p = taken;
		first(p, w);
		if
		:: p < w ->
		   assert(written[p]);
		   h = (at[p] < h -> at[p] : h)
		:: else -> skip
		fi;
		p = 0; w = 0
	}
}

inline find_ring() {
	if
	:: ring && !known -> known = true
	:: else -> skip
	fi
}

active proctype recorder() {
	byte now, taken, given, h, t, p, w, round;
	bool known;

	/* It attaches: what is in the ring is not of this session. */
	d_step {
		known = ring;
		if
		:: known -> taken = wpos
		:: else -> skip
		fi
	}
	do
	:: round < ROUNDS ->
#ifndef CLOCK_LATE
	   read_clock(now);
#endif
	   if
	   :: skip; find_ring(); drain()
	   :: skip; find_ring()		/* too little to take */
	   :: skip			/* one of very many rings: not looked at in this round */
	   fi;
#ifdef CLOCK_LATE
	   h = NEVER;
#else
	   h = now;
#endif
#ifndef OLD_RINGS
	   find_ring();
#endif
	   if
	   :: known ->
#ifdef NEST_LAST
	      first_unread();
	      being_written()
#else
	      being_written();
	      first_unread()
#endif
	   :: else -> skip
	   fi;
#ifdef CLOCK_LATE
	   read_clock(now);
	   h = (now < h -> now : h);
#endif
	   d_step {
		given = (h > given -> h : given);
#ifdef WRAPS
		t = h - MARGIN;
#else
		t = (h > MARGIN -> h - MARGIN : 0);
#endif
		assert(t <= given);	/* the point of a trace directory */
		h = 0; t = 0; now = 0
	   }
	   if
	   :: given = 0			/* another sink, which has no horizon yet */
	   :: skip
	   fi;
	   round++
	:: else -> break
	od;
	find_ring();
	drain()
}
