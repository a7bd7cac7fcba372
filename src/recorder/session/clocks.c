/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks cannot be read at one moment. So CLOCK_MONOTONIC is read before and after all others, and
 * of some tries the one with the least time between counts: that time is how wrong it may be.
 *
 * CLOCK_BOOTTIME less CLOCK_MONOTONIC grows only while the machine sleeps. CLOCK_REALTIME less
 * CLOCK_BOOTTIME changes only when somebody sets the wall clock.
 *
 * When the list is full, every second snapshot goes and the period doubles: a list of a fixed size
 * spans a recording of any length.
 */
#include "recorder/session/clocks.h"

#include "base/now.h"
#include "recorder/session/session_internal.h"

struct clock_change clocks_compare(const struct clock_snapshot *before,
				   const struct clock_snapshot *now, struct clock_changes *changes)
{
	const int64_t noise = CLOCKS_NOISE_NS + (int64_t)before->width + (int64_t)now->width;
	/* CLOCK_BOOTTIME goes on while the machine sleeps, CLOCK_MONOTONIC does not. */
	const int64_t slept = (int64_t)((now->boottime - now->monotonic) -
					(before->boottime - before->monotonic));
	const int64_t set =
		(int64_t)((now->realtime - now->boottime) - (before->realtime - before->boottime));
	struct clock_change change = { 0 };

	if (slept > noise) {
		change.slept_ns = (uint64_t)slept;
		changes->slept_ns += change.slept_ns;
		changes->slept++;
	}
	if (set > noise || set < -noise) {
		change.set_ns = set;
		changes->set_ns += set;
		changes->set++;
	}
	return change;
}

static uint64_t cpu_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#else
	return 0;
#endif
}

/* MONOTONIC is read before and after; the tightest of a few tries counts. */
static struct clock_snapshot read_all(void)
{
	struct clock_snapshot best = { 0 };
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		struct clock_snapshot now;
		uint64_t after;

		now.monotonic = (uint64_t)clock_now_ns(CLOCK_MONOTONIC);
		now.realtime = (uint64_t)clock_now_ns(CLOCK_REALTIME);
		now.boottime = (uint64_t)clock_now_ns(CLOCK_BOOTTIME);
		now.tai = (uint64_t)clock_now_ns(CLOCK_TAI);
		now.counter = cpu_counter();
		after = (uint64_t)clock_now_ns(CLOCK_MONOTONIC);
		if (after - now.monotonic < best_width) {
			best_width = after - now.monotonic;
			now.monotonic += best_width / 2;
			now.width = best_width;
			best = now;
		}
	}
	return best;
}

static void compare_with_last(struct session *session, const struct clock_snapshot *now)
{
	const struct clock_snapshot *before = &session->clock[session->clock_count - 1];
	const struct clock_change change = clocks_compare(before, now, &session->clock_changes);

	if (change.slept_ns)
		say_text(&session->drain.sayer, "the machine slept for %.1f s; the clock of the events stood still meanwhile, so "
			 "times of day in this trace are too early by that from here on",
			  (double)change.slept_ns / 1e9);
	if (change.set_ns)
		say_text(&session->drain.sayer, "the wall clock was set by %+.3f s; times of day in this trace continue as "
			 "before", (double)change.set_ns / 1e9);
}

const struct clock_snapshot *clocks_snapshot(struct session *session)
{
	const struct clock_snapshot now = read_all();

	if (session->clock_count)
		compare_with_last(session, &now);
	if (session->clock_count ==
	    CLOCKS_MAX) { /* keep every second one, half as often from now on */
		for (unsigned i = 0; i < CLOCKS_MAX / 2; i++)
			session->clock[i] = session->clock[2 * i];
		session->clock_count = CLOCKS_MAX / 2;
		session->clock_period_ns *= 2;
	}
	session->clock[session->clock_count] = now;
	return &session->clock[session->clock_count++];
}
