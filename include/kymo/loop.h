/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A periodic loop that traces its own timing, for C and C++:
 *
 *     struct kymo_loop loop;
 *
 *     KYMO_LOOP_INIT(&loop, "control", "loop", 1000000, 0);      // 1 kHz; the deadline is the period
 *     while (running) {
 *             kymo_loop_wait(&loop);
 *             ...
 *     }
 *     kymo_loop_end(&loop);
 *
 * Cycle n is due at start + n * period, however long the cycles before it took:
 *
 *     due             woke                       ended        due
 *      |---latency---->|==========loop===========>|~~~~sleep~~~>|---latency---->|=====
 *      |------------------- deadline ------------------>|
 *
 * A loop named "loop" emits these events in its category:
 *     loop_begin          a cycle begins; with its number, from 1, and its wake-up latency in ns
 *     loop_end            the cycle ends
 *     loop_sleep_begin    the loop sleeps until the next cycle, unless that one is already due
 *     loop_sleep_end
 *     loop_latency_ns     counter: the wake-up latency again, for a curve
 *     loop_missed         instant: the cycle ended late_ns after its deadline
 *     loop_overrun        instant: the cycle ended late_ns after the next one was due; the loop then
 *                         leaves out `skipped` whole periods, so that it stays in step
 *
 * -DKYMO_COMPILE_OUT: the same loop without the events.
 */
#ifndef KYMO_LOOP_H
#define KYMO_LOOP_H

#pragma GCC system_header

#include <errno.h>
#include <time.h>

#ifdef __cplusplus
#include "kymo.hpp"
#else
#include "kymo.h"
#endif

/* The sites of a loop's events. NULL: no such event. */
struct kymo_loop_sites {
	struct kymo_site *begin, *end, *sleep_begin, *sleep_end, *latency, *missed, *overrun;
};

/*
 * You may read the members between two calls of kymo_loop_wait(). Times are CLOCK_MONOTONIC in ns.
 */
struct kymo_loop {
	/* the deadline is relative to the time when the cycle was due */
	uint64_t period_ns, deadline_ns;
	/* when this cycle was due; after its end, when the next one is */
	uint64_t due_ns;
	uint64_t woke_ns;		/* when this cycle began */
	uint64_t latency_ns;		/* woke - due */
	uint64_t busy_ns;		/* duration of the last cycle that ended, events included */
	uint64_t cycles;		/* number of cycles that began */
	uint64_t missed, overruns, skipped;	/* sums; see the events */
	bool running;			/* a cycle is open */
	/* the begin of the open cycle was recorded, so its end will be, too */
	bool recorded;
	struct kymo_loop_sites site;
};

static inline uint64_t kymo__loop_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#ifndef KYMO_COMPILE_OUT
/* Emit an event with the first @count of the two values. Return: whether it was recorded. */
static inline bool kymo__loop_emit(struct kymo_site *site, unsigned count, uint64_t first,
				   uint64_t second)
{
	const uint64_t payload[2] = { first, second };

	return site && kymo__wanted(site) && kymo__event(site, payload, count * sizeof payload[0]);
}

static inline void kymo__loop_finish(struct kymo_site *end)
{
	(void)kymo__event(end, "", 0);
}
#else
static inline bool kymo__loop_emit(struct kymo_site *site, unsigned count, uint64_t first,
				   uint64_t second)
{
	(void)site;
	(void)count;
	(void)first;
	(void)second;
	return false;
}

static inline void kymo__loop_finish(struct kymo_site *end)
{
	(void)end;
}
#endif

static inline void kymo__loop_init(struct kymo_loop *loop, uint64_t period_ns, uint64_t deadline_ns)
{
	memset(loop, 0, sizeof *loop);
	loop->period_ns = period_ns ? period_ns : 1;
	loop->deadline_ns = deadline_ns ? deadline_ns : loop->period_ns;
}

/**
 * kymo_loop_end() - end the last cycle; kymo_loop_wait() ends the others
 *
 * A second call is harmless. Context: wait-free, like an event.
 */
static inline void kymo_loop_end(struct kymo_loop *loop)
{
	uint64_t now, next = loop->due_ns + loop->period_ns;

	if (!loop->running)
		return;
	now = kymo__loop_now();
	loop->busy_ns = now - loop->woke_ns;
	if (now > loop->due_ns + loop->deadline_ns) {
		loop->missed++;
		(void)kymo__loop_emit(loop->site.missed, 1, now - loop->due_ns - loop->deadline_ns,
				      0);
	}
	if (now > next) {
		const uint64_t skipped = (now - next) / loop->period_ns;

		loop->overruns++;
		loop->skipped += skipped;
		(void)kymo__loop_emit(loop->site.overrun, 2, now - next, skipped);
		next += skipped * loop->period_ns;
	}
	if (loop->recorded)
		kymo__loop_finish(loop->site.end);
	loop->due_ns = next;
	loop->running = false;
}

/**
 * kymo_loop_wait() - end this cycle, sleep until the next one is due, and begin it
 *
 * The first cycle is due at once. A signal does not shorten the sleep.
 * Context: one clock_nanosleep() with an absolute time; otherwise wait-free, like an event.
 */
static inline void kymo_loop_wait(struct kymo_loop *loop)
{
	if (loop->cycles)
		kymo_loop_end(loop);
	else
		loop->due_ns = kymo__loop_now();
	if (kymo__loop_now() < loop->due_ns) {
		const bool recorded = kymo__loop_emit(loop->site.sleep_begin, 0, 0, 0);
		struct timespec until;

		until.tv_sec = (time_t)(loop->due_ns / 1000000000u);
		until.tv_nsec = (long)(loop->due_ns % 1000000000u);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
			;
		if (recorded)
			kymo__loop_finish(loop->site.sleep_end);
	}
	loop->woke_ns = kymo__loop_now();
	loop->latency_ns = loop->woke_ns - loop->due_ns;
	loop->cycles++;
	(void)kymo__loop_emit(loop->site.latency, 1, loop->latency_ns, 0);
	loop->recorded = kymo__loop_emit(loop->site.begin, 2, loop->cycles, loop->latency_ns);
	loop->running = true;
}

/**
 * KYMO_LOOP_INIT() - prepare a struct kymo_loop
 * @loop: a pointer to it
 * @category, @name: string literals
 * @period_ns: from one cycle to the next; at least 1
 * @deadline_ns: from when a cycle is due until it must end; 0: the period
 *
 * Context: wait-free; emits nothing.
 */
#define KYMO__NO_LOOP                                                               \
	"a loop has a pointer, a category, a name, a period and a deadline in ns: " \
	"KYMO_LOOP_INIT(&loop, \"control\", \"loop\", 1000000, 0)"
/* 1 for five of up to eight arguments, and else 0. */
#define KYMO__9TH(a, b, c, d, e, f, g, h, n, ...) n
#define KYMO__IS_FIVE(...) KYMO__9TH(__VA_ARGS__, 0, 0, 0, 1, 0, 0, 0, 0, ~)
#ifdef __cplusplus
#define KYMO__LOOP_0(...) static_assert(false, KYMO__NO_LOOP)
#else
#define KYMO__LOOP_0(...) _Static_assert(0, KYMO__NO_LOOP)
#endif
#define KYMO_LOOP_INIT(...) KYMO__CAT(KYMO__LOOP_, KYMO__IS_FIVE(__VA_ARGS__))(__VA_ARGS__)
#ifdef KYMO_COMPILE_OUT
#define KYMO__LOOP_1(loop, category, name, period_ns, deadline_ns) \
	kymo__loop_init(loop, period_ns, deadline_ns)
#elif defined(__cplusplus)
#define KYMO__LOOP_SITE(member, shape, category, name, after, ...)                             \
	do {                                                                                   \
		KYMO__JOIN(kymo__name, name, after);                                           \
		KYMO__PLACE(kymo__place, shape, category, kymo__name::made.text, __VA_ARGS__); \
		KYMO__SITE(kymo__site, kymo__place, __VA_ARGS__);                              \
		kymo__loop->site.member = kymo__site::get();                                   \
	} while (0)
#define KYMO__LOOP_1(loop, category, name, period_ns, deadline_ns)                       \
	do {                                                                             \
		KYMO__CHECK_NAMES(category, name, "_latency_ns");                        \
		::kymo_loop *const kymo__loop = (loop);                                  \
                                                                                         \
		kymo__loop_init(kymo__loop, period_ns, deadline_ns);                     \
		KYMO__LOOP_SITE(begin, begin, category, name, "", ("cycle", uint64_t()), \
				("latency_ns", uint64_t()), ~);                          \
		KYMO__LOOP_SITE(end, end, category, name, "", ~);                        \
		KYMO__LOOP_SITE(sleep_begin, begin, category, name, "_sleep", ~);        \
		KYMO__LOOP_SITE(sleep_end, end, category, name, "_sleep", ~);            \
		KYMO__LOOP_SITE(latency, counter, category, name, "_latency_ns",         \
				("value", uint64_t()), ~);                               \
		KYMO__LOOP_SITE(missed, instant, category, name, "_missed",              \
				("late_ns", uint64_t()), ~);                             \
		KYMO__LOOP_SITE(overrun, instant, category, name, "_overrun",            \
				("late_ns", uint64_t()), ("skipped", uint64_t()), ~);    \
	} while (0)
#else
/*
 * The name of an event, from the name of the loop and what follows it. The compiler does not join
 * the two: what is no literal would be an error of its own.
 */
#define KYMO__IS_TEXT(text)                                                    \
	(__builtin_types_compatible_p(__typeof__(text), char[sizeof(text)]) && \
	 __builtin_constant_p(text))
#define KYMO__TEXT_OF(text) __builtin_choose_expr(KYMO__IS_TEXT(text), text, "~")
#define KYMO__LOOP_SITE(member, shape, category, of, after, ...)                 \
	do {                                                                     \
		enum { kymo__length = sizeof(KYMO__TEXT_OF(of)) - 1 };           \
		static const union {                                             \
			struct {                                                 \
				char of_loop[kymo__length], rest[sizeof(after)]; \
			} part;                                                  \
			char text[kymo__length + sizeof(after)];                 \
		} kymo__name = { { KYMO__TEXT_OF(of), after } };                 \
		KYMO__SITE(kymo__site, shape, category,                          \
			   kymo__name.text __VA_OPT__(, ) __VA_ARGS__);          \
		kymo__loop->site.member = &kymo__site;                           \
	} while (0)
#define KYMO__LOOP_1(loop, category, name, period_ns, deadline_ns)                                \
	do {                                                                                      \
		_Static_assert(KYMO__IS_LITERAL(category) && KYMO__IS_TEXT(name),                 \
			       KYMO__NO_LITERAL);                                                 \
		_Static_assert(sizeof(category) <= KYMO_TEXT_MAX + 1 &&                           \
				       sizeof(name) + sizeof("_latency_ns") <= KYMO_TEXT_MAX + 2, \
			       KYMO__NO_ROOM);                                                    \
		struct kymo_loop *const kymo__loop = (loop);                                      \
                                                                                                  \
		kymo__loop_init(kymo__loop, period_ns, deadline_ns);                              \
		KYMO__LOOP_SITE(begin, KYMO__BEGIN, category, name, "", ("cycle", (uint64_t)0),   \
				("latency_ns", (uint64_t)0));                                     \
		KYMO__LOOP_SITE(end, KYMO__END, category, name, "");                              \
		KYMO__LOOP_SITE(sleep_begin, KYMO__BEGIN, category, name, "_sleep");              \
		KYMO__LOOP_SITE(sleep_end, KYMO__END, category, name, "_sleep");                  \
		KYMO__LOOP_SITE(latency, KYMO__COUNTER, category, name, "_latency_ns",            \
				("value", (uint64_t)0));                                          \
		KYMO__LOOP_SITE(missed, KYMO__INSTANT, category, name, "_missed",                 \
				("late_ns", (uint64_t)0));                                        \
		KYMO__LOOP_SITE(overrun, KYMO__INSTANT, category, name, "_overrun",               \
				("late_ns", (uint64_t)0), ("skipped", (uint64_t)0));              \
	} while (0)
#endif

#endif
