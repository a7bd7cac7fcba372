/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spare blocks (src/inside/tracer/tracer_spare.c) for Spin: two threads, each with a ring that has nothing but spare blocks, and a
 * consumer that reads one block at a time. A thread may be stopped anywhere, so also between its search and its exchange.
 *
 * A spare block has a word, `use`: which block of which ring it contains. A block's content is written in two steps.
 *
 * Checked: nobody writes to a block that the consumer has not read; the consumer finds in each block what its thread wrote.
 *
 *   spin -a spare.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan -m100000
 *
 * Seen failing with -DNO_EXCHANGE (a store instead of the exchange) and -DNO_LOOK (without the look at rpos).
 */
#define THREADS 2
#define SPARES 2
#define BLOCKS 3		/* of each ring */

typedef Ring {
	byte wpos, rpos;	/* in blocks */
	byte place[BLOCKS];
}

Ring ring[THREADS];
byte use[SPARES];		/* 0, or 1 + ring * BLOCKS + block */
byte content[SPARES];		/* as use, stored by whoever has the block; 255 while it changes */
bool reading[SPARES];

#define USE(r, n) (1 + (r) * BLOCKS + (n))
#ifdef NO_LOOK
#define WAS_READ(u) true
#else
#define WAS_READ(u) (u == 0 || ring[(u - 1) / BLOCKS].rpos > (u - 1) % BLOCKS)
#endif

proctype thread(byte me) {
	byte at, old, n, tries;
	bool mine;

	do
	:: n == BLOCKS -> break
	:: else ->
		mine = false;
		tries = 0;
		do
		:: mine || tries == SPARES -> break
		:: else ->
			old = use[at];
			if
			:: WAS_READ(old) ->
#ifdef NO_EXCHANGE
				use[at] = USE(me, n);
				mine = true
#else
				atomic {
					if
					:: use[at] == old -> use[at] = USE(me, n); mine = true
					:: else
					fi
				}
#endif
			:: else
			fi;
			tries++;
			if
			:: mine
			:: else -> at = (at + 1) % SPARES
			fi
		od;
		if
		:: !mine		/* an event is dropped; the next one searches again */
		:: mine ->
			ring[me].place[n] = at;
			assert(!reading[at]);
			content[at] = 255;
			assert(!reading[at]);
			content[at] = USE(me, n);
			ring[me].wpos = n + 1;
			n++
		fi
	od
}

proctype consumer() {
	byte r, at;

	do
	:: ring[0].rpos == BLOCKS && ring[1].rpos == BLOCKS -> break
	:: ring[0].rpos < ring[0].wpos -> r = 0; goto read
	:: ring[1].rpos < ring[1].wpos -> r = 1;
read:		at = ring[r].place[ring[r].rpos];
		reading[at] = true;
		assert(content[at] == USE(r, ring[r].rpos));
		reading[at] = false;
		ring[r].rpos++
	od
}

init {
	atomic { run thread(0); run thread(1); run consumer() }
}
