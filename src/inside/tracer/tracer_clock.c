/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CLOCK_MONOTONIC computed from the CPU's counter. abi/clock.h has the formula.
 *
 * A clock pair is the counter and the vDSO clock, read at one moment. A thread's newest pair
 * becomes its anchor. Two pairs yield the rate, in nanoseconds per tick; the time between the two
 * is the baseline. A thread renews its anchor when an event finds the anchor older than its span.
 *
 * The baseline is 10 to 20 s long, so the rate follows NTP's slewing. Right after the start, the
 * baseline is short and the rate is less exact, so the span is short, too: a pair is exact to about
 * 30 ns, so over a span of twice the baseline the error is about 60 ns.
 *
 * While a machine is suspended, CLOCK_MONOTONIC stops, but the counter may continue or restart. So
 * an anchor is never used beyond its span, and if a baseline's rate differs from the last rate, a
 * new baseline begins.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "inside/tracer/tracer_process.h"

#define BASELINE_NS	10000000000ull	/* a new pair for the rate every 10 s */
#define SPAN_NS_MIN	20000ull
#define RATE_KNOWN_NS	10000000ull	/* a baseline of this length gives a rate good to 10 ppm */
/* rates fit if they differ by less than a part in 2^9: NTP slews by 1 in 2000 */
#define RATE_SHIFT	9
#define PAIR_TRIES	8		/* of about 40 ns each; usually one is enough */

uint64_t kymo_clock_ns(void)
{
	struct timespec now;

	(void)kymo_gettime(CLOCK_MONOTONIC, &now);	/* cannot fail with a valid clock */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool kernel_uses_counter(const char *name)
{
	char text[32] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		      O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, text, sizeof text - 1);
	(void)close(fd);
	return got > 0 && !strncmp(text, name, strlen(name));
}

/*
 * The counter is usable if the kernel uses the counter as its clock source, and user space may read
 * it.
 */
bool kymo_clock_counter_usable(void)
{
	if (kymo_settings.clock)
		return kymo_settings.clock == 1 && kymo_counter() != 0;
#if defined(__x86_64__)
	unsigned a, b, c, d = 0;
	int allowed = PR_TSC_ENABLE;

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
		return false;	/* not invariant */
	if (prctl(PR_GET_TSC, &allowed) == 0 && allowed != PR_TSC_ENABLE)
		return false;	/* reading the counter would raise SIGSEGV */
	return kernel_uses_counter("tsc");
#elif defined(__aarch64__)
	return kernel_uses_counter("arch_sys_counter");
#else
	return false;
#endif
}

/*
 * Read a clock pair. The counter is read before and after the clock; the ticks in between are the
 * pair's width. An interruption makes a pair wide and inexact, so the narrowest of a few tries is
 * returned. Return: width in ticks.
 */
static uint64_t read_pair(uint64_t good_width, uint64_t *counter, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int try = 0; try < PAIR_TRIES && best > good_width; try++) {
		uint64_t before = kymo_counter();
		uint64_t now = kymo_clock_ns();
		uint64_t width = kymo_counter() - before;

		if (width >= best)
			continue;
		best = width;
		*counter = before + width / 2;
		*ns = now;
	}
	return best;
}

void kymo_clock_first_pair(struct kymo_process *process)
{
	process->use_counter = kymo_clock_counter_usable();
	if (process->use_counter)
		process->pair_width = read_pair(0, &process->first_counter, &process->first_ns);
}

/* Nanoseconds per tick between two pairs, 32.32; 0: counter or clock did not advance. */
static uint64_t rate(uint64_t counter0, uint64_t ns0, uint64_t counter1, uint64_t ns1)
{
	if (counter1 <= counter0 || ns1 <= ns0)
		return 0;
	return (uint64_t)(((unsigned __int128)(ns1 - ns0) << 32) / (counter1 - counter0));
}

static uint64_t ticks_of(uint64_t ns, uint64_t mult)
{
	return (uint64_t)(((unsigned __int128)ns << 32) / mult);
}

/*
 * The latest time that @anchor can have produced until now. No time beyond its span was computed.
 */
static uint64_t latest(const struct kymo_anchor *anchor, uint64_t counter)
{
	uint64_t ticks = counter - anchor->counter;

	if (anchor->counter - counter < anchor->span)
		/* the counter of this core is a little behind that of another core */
		ticks = 0;
	return kymo_anchor_ns(anchor, ticks < anchor->span ? ticks : anchor->span);
}

static void set_anchor(struct kymo_thread *thread, const struct kymo_anchor *anchor)
{
	struct kymo_anchor *spare = &thread->anchors[thread->anchor == &thread->anchors[0]];

	*spare = *anchor;
	kymo_signal_fence();	/* a handler sees the old anchor or the whole new one */
	__atomic_store_n(&thread->anchor, spare, __ATOMIC_RELAXED);
}

static void restart_baseline(struct kymo_thread *thread, uint64_t counter, uint64_t ns)
{
	thread->old_counter = thread->new_counter = counter;
	thread->old_ns = thread->new_ns = ns;
}

void kymo_clock_start_thread(struct kymo_thread *thread)
{
	const struct kymo_process *process = kymo_process;

	thread->vdso_clock = !process->use_counter;
	restart_baseline(thread, process->first_counter, process->first_ns);
	thread->pair_width = process->pair_width;
	/*
	 * Span 0: the first event renews the anchor. Without a usable counter, the anchor is never
	 * used.
	 */
	set_anchor(thread, &(struct kymo_anchor){ .ns = 0 });
}

/*
 * Whether the baseline that ends with this pair has the same rate as the last baseline of any
 * thread. If not, or if no rate is known yet, the process remembers the new rate and the caller
 * begins a new baseline. So a wrong rate, the old or the new one, is replaced by a later
 * measurement.
 */
static bool baseline_holds(const struct kymo_thread *thread, uint64_t counter, uint64_t ns)
{
	const uint64_t baseline = ns - thread->old_ns;
	uint64_t known, found, apart;

	if (counter <= thread->old_counter)
		return baseline < SPAN_NS_MIN;
	if (baseline < RATE_KNOWN_NS)
		return true;
	found = rate(thread->old_counter, thread->old_ns, counter, ns);
	known = __atomic_load_n(&kymo_process->rate, __ATOMIC_RELAXED);
	apart = found > known ? found - known : known - found;
	if (known && apart <= known >> RATE_SHIFT)
		return true;
	__atomic_store_n(&kymo_process->rate, found, __ATOMIC_RELAXED);
	return false;
}

static void keep_baseline(struct kymo_thread *thread, uint64_t counter, uint64_t ns)
{
	if (ns - thread->new_ns < BASELINE_NS)
		return;
	thread->old_counter = thread->new_counter;
	thread->old_ns = thread->new_ns;
	thread->new_counter = counter;
	thread->new_ns = ns;
}

/*
 * The new anchor for a pair. If the old anchor's time is ahead of the clock, the new anchor
 * continues from that time, and runs slower for one span, until the clock has caught up. So time
 * never steps back.
 */
static struct kymo_anchor next_anchor(const struct kymo_thread *thread, uint64_t counter,
				      uint64_t ns)
{
	struct kymo_anchor next = { .counter = counter, .ns = ns };
	uint64_t baseline = ns - thread->old_ns;
	uint64_t span_ns = baseline * 2, ahead;

	if (span_ns < SPAN_NS_MIN)
		span_ns = SPAN_NS_MIN;
	if (span_ns > KYMO_ANCHOR_SPAN_NS)
		span_ns = KYMO_ANCHOR_SPAN_NS;
	next.mult = rate(thread->old_counter, thread->old_ns, counter, ns);
	if (!next.mult)
		return next;	/* span 0: no baseline yet */
	next.span = ticks_of(span_ns, next.mult);

	if (!thread->anchor->ns)
		return next;
	ahead = latest(thread->anchor, counter);
	if (ahead <= ns)
		return next;
	ahead -= ns;
	next.ns += ahead;
	if (ahead < span_ns / 2)
		next.mult -= (uint64_t)((unsigned __int128)next.mult * ahead / span_ns);
	else
		next.mult /= 16;
	return next;
}

bool kymo_clock_renew(struct kymo_thread *thread)
{
	uint64_t counter = 0, ns = 0, width;
	struct kymo_anchor next;

	if (thread->in_slow)
		/* a signal handler that interrupted this function or another slow path */
		return false;
	/*
	 * The caller's reservation may have failed for another reason: a handler reserved a record.
	 * Then the anchor is still valid and stays. Handlers go on using it while this function
	 * works, and a new anchor could begin before their times.
	 */
	if (kymo_counter() - thread->anchor->counter < thread->anchor->span)
		return true;
	thread->in_slow = 1;
	kymo_signal_fence();
	do {
		width = read_pair(thread->pair_width + thread->pair_width / 2, &counter, &ns);
		if (width < thread->pair_width)
			thread->pair_width = width;
		if (!baseline_holds(thread, counter, ns))
			restart_baseline(thread, counter, ns);
		next = next_anchor(thread, counter, ns);
		/* right after the start: wait for a baseline of a few hundred nanoseconds */
	} while (!next.span);
	keep_baseline(thread, counter, ns);
	set_anchor(thread, &next);
	kymo_signal_fence();
	thread->in_slow = 0;
	return true;
}

uint64_t kymo_clock_read(struct kymo_thread *thread)
{
	const struct kymo_anchor *anchor;
	uint64_t ticks;

	if (thread->vdso_clock)
		return kymo_clock_ns();
	for (;;) {
		anchor = __atomic_load_n(&thread->anchor, __ATOMIC_RELAXED);
		ticks = kymo_counter() - anchor->counter;
		if (ticks < anchor->span)
			return kymo_anchor_ns(anchor, ticks);
		/* in another slow path: use the end of the old anchor's span */
		if (!kymo_clock_renew(thread))
			return anchor->mult ? kymo_anchor_ns(anchor, anchor->span)
					    : kymo_clock_ns();
	}
}
