/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of all clocks. Two of them show whether the machine slept in between, and whether
 * somebody set the wall clock. Slewing by NTP changes CLOCK_REALTIME and CLOCK_MONOTONIC alike, so
 * it is not a change here; it shows in the rate of the CPU's counter.
 */
#ifndef KYMO_RECORDER_CLOCKS_H
#define KYMO_RECORDER_CLOCKS_H

#include <stdint.h>

/* All clocks at one moment, ns; counter: the CPU's, ticks. */
struct clock_snapshot {
	uint64_t monotonic, realtime, boottime, tai, counter;
	uint64_t width;		/* how long it took to read them: they are that far apart at most */
};

/* In all, since it was zeroed. */
struct clock_changes {
	uint64_t slept_ns;
	unsigned slept;		/* how often */
	int64_t set_ns;		/* how far the wall clock was set, the sum */
	unsigned set;
};

#define CLOCKS_NOISE_NS 1000000	/* less than this is no change */

/* Between two snapshots. */
struct clock_change {
	uint64_t slept_ns;	/* 0: it did not sleep */
	int64_t set_ns;		/* 0: the wall clock was not set */
};

/**
 * clocks_compare() - what happened between @before and @now
 * @changes: grows by it
 *
 * Context: wait-free.
 */
struct clock_change clocks_compare(const struct clock_snapshot *before,
				   const struct clock_snapshot *now, struct clock_changes *changes);

struct session;

/** clocks_snapshot() - append a snapshot of all clocks to the session's, and report what happened
 * since the last. Return: it. */
const struct clock_snapshot *clocks_snapshot(struct session *session);

#endif
