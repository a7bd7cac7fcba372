/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring's publication protocol (src/inside/tracer/tracer_ring.h, ring.c) for Spin: one thread, signal handlers
 * nested two deep that land anywhere, one consumer that looks anywhere, and a crash anywhere.
 *
 * Positions count records; blocks and payloads are left out. The clock may stand still between
 * two readings. A crash is the thread stopping for good: everything asserted of the consumer's
 * view holds at every moment, so also for what a dead process leaves behind.
 *
 * Checked of every snapshot that the consumer accepts:
 *   - each record below wpos is written;
 *   - no record below wpos is later than lastts (the packet's end);
 *   - no record at or above wpos, now or later, is earlier than lastts (the next packet's begin).
 * Checked at the end: everything reserved is published, nest is 0, nseq is even.
 *
 *   spin -a ring.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m100000
 *
 * -DSHORT, one handler less, is what the suite runs. Seen failing with -DNO_NEST, -DNO_LAST_LOOK,
 * -DNO_NSEQ, -DNO_CATCH_UP, -DTIME_BEFORE_WORD, and without SHORT also -DNO_LOOK_BEHIND_CLOCK.
 */
#ifdef SHORT
#define HANDLERS 1
#else
#define HANDLERS 2		/* arrivals of the outer handler */
#endif
/* The first record of a block, kymo__publish_behind(): any may be one. */
#ifdef SHORT
#define FIRST(record) (record == 0)
#define NOT_FIRST(record) (!FIRST(record))
#else
#define FIRST(record) true
#define NOT_FIRST(record) true
#endif
#define RECORDS (1 + HANDLERS + 1)	/* of the thread, the handler, the handler in it */

byte word, wpos, lastts, nest, nseq;
byte clock = 1;
byte ts[RECORDS];
bool written[RECORDS];
byte depth;			/* who runs: 0 the thread, 1 a handler in it, 2 a handler in that */
byte finished;
byte ends;			/* largest packet end that the consumer has accepted */
byte taken;			/* records in accepted packets */

/* One step of whoever runs at depth @me: nobody else of this thread can run in between. */
#define STEP(statement) atomic { (depth == me) -> statement }

inline read_clock(to) { atomic { if :: clock++ :: skip fi; to = clock } }

/* Publish what handlers left; kymo__publish_nested(). */
inline publish_nested(me) {
	do
	:: STEP(nest = 1);
#ifndef NO_NSEQ
	   STEP(nseq++);
#endif
	   do			/* no handler's record between the position and the time */
	   :: STEP(q = word);
	      atomic { (depth == me) -> read_clock(t) }
#ifdef NO_LOOK_BEHIND_CLOCK
	      break
#endif
	      if
	      :: atomic { (depth == me) && word == q -> break }
	      :: atomic { (depth == me) && word != q -> skip }
	      fi
	   od;
	   STEP(lastts = t);
	   STEP(wpos = q);
#ifndef NO_NSEQ
	   STEP(nseq++);
#endif
	   STEP(nest = 0);
	   if
	   :: atomic { (depth == me) && word == q -> break }
	   :: atomic { (depth == me) && word != q -> skip }
	   fi
	od
}

inline catch_up(me) {
#ifndef NO_CATCH_UP
	if
	:: atomic { (depth == me) && nest == 0 && word != wpos -> skip }
	   publish_nested(me)
	:: atomic { (depth == me) && !(nest == 0 && word != wpos) -> skip }
	fi
#else
	skip
#endif
}

inline last_look(me) {
#ifndef NO_LAST_LOOK
	if
	:: atomic { (depth == me) && word != before + 1 -> skip }
	   publish_nested(me)
	:: atomic { (depth == me) && word == before + 1 -> skip }
	fi
#else
	skip
#endif
}

/* One event at nesting depth @me. A failed attempt may end in a drop. */
inline event(me) {
	dropped = false;
	do
	::
#ifdef TIME_BEFORE_WORD
	   atomic { (depth == me) -> read_clock(t) }
#endif
	   STEP(before = word);
	   STEP(below = nest);
#ifndef NO_NEST
	   STEP(nest = below + 1);
#endif
#ifndef TIME_BEFORE_WORD
	   atomic { (depth == me) -> read_clock(t) }
#endif
	   if
	   :: atomic { (depth == me) && word == before -> word = before + 1; break }
	   :: atomic { (depth == me) && word != before -> skip }
	   fi;
	   STEP(nest = below);
	   catch_up(me);
	   if
	   :: STEP(skip)
	   :: STEP(dropped = true); break
	   fi
	od;
	if
	:: atomic { (depth == me) && dropped -> skip }
	:: atomic { (depth == me) && !dropped -> ts[before] = t; assert(t >= ends || before < taken) }
	   STEP(written[before] = true);
	   if
	   :: atomic { (depth == me) && below != 0 -> nest = below }
	   :: atomic { (depth == me) && below == 0 && wpos != before -> skip }
	      publish_nested(me)
	   :: atomic { (depth == me) && below == 0 && wpos == before && FIRST(before) -> nseq++ }
	      STEP(lastts = t);
	      STEP(wpos = before + 1);
	      STEP(nseq++);
	      STEP(nest = 0);
	      last_look(me)
	   :: atomic { (depth == me) && below == 0 && wpos == before && NOT_FIRST(before) -> lastts = t }
	      STEP(wpos = before + 1);
	      STEP(nest = 0);
	      last_look(me)
	   fi
	fi;
	STEP(before = 0; below = 0; t = 0; q = 0; dropped = false)	/* fewer states */
}

active proctype thread() {
	byte before, below, t, q;
	bool dropped;

	event(0);
	atomic { (depth == 0) -> finished++ }
}

/* A handler runs to its end before whom it interrupted goes on. It may also never come. */
active proctype handler() {
	byte before, below, t, q;
	bool dropped;
	byte comes;

	do
	:: comes < HANDLERS ->
	   atomic { depth == 0 -> depth = 1 }
	   event(1);
	   atomic { (depth == 1) -> depth = 0 }
	   comes++
	:: break
	od;
	finished++
}

active proctype handler_in_handler() {
	byte before, below, t, q;
	bool dropped;

	if
	:: atomic { depth == 1 -> depth = 2 }
	   event(2);
	   atomic { (depth == 2) -> depth = 1 }
	:: skip
	fi;
	finished++
}

active proctype consumer() {
	byte seq, w, lt, i;

	do
	:: seq = nseq;
	   w = wpos;
	   lt = lastts;
	   atomic {
		if
		:: w == wpos && w > taken -> skip
		:: else -> goto again
		fi
	   }
	   atomic {
		if
		:: seq == nseq && seq % 2 == 0 -> skip
		:: else -> goto again
		fi;
		i = 0;
		do
		:: i < w -> assert(written[i] && ts[i] <= lt && (i < taken || ts[i] >= ends)); i++
		:: i >= w && i < RECORDS -> assert(!written[i] || ts[i] >= lt); i++
		:: i >= RECORDS -> break
		od;
		taken = w;
		ends = lt
	   }
again:	   atomic { seq = 0; w = 0; lt = 0; i = 0 }	/* fewer states */
	:: atomic {
		finished == 3 ->
		assert(wpos == word && nest == 0 && nseq % 2 == 0);
		break
	   }
	od
}
