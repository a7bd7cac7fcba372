/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans, instants, counters and tracepoints for C programs, in any thread, hard real-time threads
 * included. C++ programs include kymo.hpp.
 *
 *     #include <kymo/kymo.h>
 *
 *     void plan(int step)
 *     {
 *             KYMO_SPAN("control", "plan", ("step", step));     // begins here, ends with the scope
 *             ...
 *             KYMO_INSTANT("control", "replanned", ("why", "obstacle"), ("cost", 1.5));
 *             KYMO_COUNTER("control", "queue", depth);
 *     }
 *
 * Link with -lkymo (pkg-config kymo). Start `kymo record` at any time; without a recorder the
 * events are skipped.
 *
 * The macros, and the events that they write to the trace:
 *     KYMO_SPAN(category, name, fields...)            category:name_begin with the fields; category:name_end when the scope ends
 *     KYMO_FUNCTION(category, fields...)              KYMO_SPAN with the name of the function; KYMO_FUNCTION() is of the category "function"
 *     KYMO_BEGIN(category, name, fields...)           the same by hand; end it in the same thread
 *     KYMO_END(category, name, fields...)
 *     KYMO_INSTANT(category, name, fields...)         category:name
 *     KYMO_COUNTER(category, name, value, fields...)  category:name with value, an integer or a double
 *     KYMO_TRACEPOINT(provider, name, fields...)      provider:name, an event of your own
 *
 * Category and name are string literals; a name may also be __func__ or __PRETTY_FUNCTION__. The
 * compiler puts a static description of each such place into the section kymo_sites, and libkymo
 * registers it when the program or library is loaded. This costs nothing at run time.
 *
 * Fields are up to KYMO_EVENT_FIELDS_MAX pairs ("name", value). The type follows from the value: integers of
 * any width, bool, float, double, pointers, and strings (char *, cut after KYMO_TEXT_MAX bytes).
 * Values are evaluated only if the event is recorded.
 *
 * These fields have a special meaning:
 *     ("flow", id)       an arrow connects all events of the same u64 id, across threads and processes
 *     ("track", id)      the event belongs to the custom track of kymo_track(), not to the thread
 *     ("at_ns", ns)      the time of the event, CLOCK_MONOTONIC, instead of now
 *
 * Context of all macros: wait-free, async-signal-safe, no allocation, no lock, no system call,
 * after the first event of the thread (or after kymo_thread_ready()). A full ring drops the event
 * and counts it. If the begin of a span was dropped or disabled, the span has no end either.
 *
 * -DKYMO_COMPILE_OUT: the macros are empty, the functions do nothing (kymo_now() still returns the
 * time), and the program does not need libkymo.
 */

/*
 * Do not leave a signal handler by siglongjmp() if the signal may interrupt a macro: the event that
 * it interrupted never ends, and the thread records nothing any more.
 */
#ifndef KYMO_KYMO_H
#define KYMO_KYMO_H

#pragma GCC system_header	/* statement expressions, also under -pedantic */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define KYMO_EVENT_FIELDS_MAX	8
#define KYMO_TEXT_MAX	255		/* bytes of a string field, without its NUL */

/* One place in the code that emits an event; static, filled at compile time. */
struct kymo_site {
	uint16_t id;			/* event id; assigned once */
	uint16_t own_id;		/* the assigned id, while its category is switched off */
	uint8_t shape;			/* enum kymo_shape of the region layout */
	uint8_t field_count;
	uint32_t line;
	const char *category, *name, *file, *function;
	const struct kymo_site_field *field;
};

struct kymo_site_field {
	uint8_t kind;			/* enum kymo_kind of the region layout */
	const char *name;
};

#define KYMO_SITE_NEW	4095		/* id of a site that its first event will register */

/* ---- functions ---- */

/**
 * kymo_thread_ready() - prepare the calling thread, so that its first event is as cheap as the
 * others
 *
 * Registers the thread and gives it a prefaulted ring. Without this call the first event does both.
 * Context: allocates, makes system calls. Return: false: this process can't be traced.
 */
bool kymo_thread_ready(void);

/**
 * kymo_thread_name() - name the calling thread, for Linux and for the trace
 * @name: the first 15 bytes count
 * Context: makes a system call; emits an init event.
 */
void kymo_thread_name(const char *name);

/**
 * kymo_track() - create a custom track, whose id you pass as ("track", id)
 * @name: what viewers show; copied
 * @parent: another track; 0: the process
 * Context: emits an init event; not for a real-time path.
 * Return: the id, unique on this host until it reboots; 0 if the process can't be traced.
 */
uint64_t kymo_track(const char *name, uint64_t parent);

/**
 * kymo_realtime() - declare a part of this program real-time, so that `kymo report` checks it
 * @name: a span of this process as "category:name", a node ("/imu_driver"), or a callback as
 *        `kymo report` prints it. * and ? are wildcards; a leading ! excludes a name. Copied, cut
 *        after KYMO_TEXT_MAX bytes
 *
 * Call it once, at any time: before the span exists, and also without a recorder. A child of fork()
 * calls it again. Context: emits an init event; not for a real-time path.
 */
void kymo_realtime(const char *name);

/**
 * kymo_now() - the present time as events record it: CLOCK_MONOTONIC in ns
 * Context: wait-free, like an event.
 */
uint64_t kymo_now(void);

/**
 * kymo_set_enabled() - switch all events of this process off or on, those of ROS 2 included
 *
 * Open spans still end. An event that is off costs as much as without a recorder. One-time facts
 * (nodes, tracks, declarations) are kept in any case. This switch is independent of
 * kymo_set_category() and of the recorder. After fork() a child has the switch of its parent.
 *
 * Context: wait-free, async-signal-safe.
 */
void kymo_set_enabled(bool on);

/**
 * kymo_set_category() - switch a category off or on in this process; NULL: all of them
 *
 * Applies to libraries that are loaded later, and to kymo_begin_named() and the like. Open spans
 * still end. An event that is off costs as much as without a recorder.
 *
 * Context: takes a lock; any thread, but not a signal handler.
 * Return: false: 64 categories have a switch of their own already; nothing changed.
 */
bool kymo_set_category(const char *category, bool on);

/**
 * kymo_snapshot() - ask a recorder in flight mode for a snapshot of the latest events
 *
 * The call increments a number in shared memory. `kymo record --flight` reads the number some
 * milliseconds later and writes the snapshot. Without such a recorder nothing happens.
 * Context: wait-free, async-signal-safe, no system call; also before the first event.
 */
void kymo_snapshot(void);

/*
 * The same with names that are known only at run time. Names are copied, and cut after
 * KYMO_TEXT_MAX bytes. kymo_begin_named() returns whether the begin was recorded: call
 * kymo_end_named() only if it was.
 * Context: as the macros.
 */
bool kymo_begin_named(const char *category, const char *name);
void kymo_end_named(void);
void kymo_instant_named(const char *category, const char *name);
void kymo_counter_named(const char *category, const char *name, double value);

/* ---- below here: what the macros need ---- */

/*
 * One byte per event id, written by the recorder. kymo_set_enabled() points it to these bytes, or
 * to zeroes.
 */
extern const uint8_t *kymo__enable;

/*
 * Emit one event of @site with a payload packed as its fields say. Return: whether it was recorded.
 */
bool kymo__event(struct kymo_site *site, const void *payload, size_t size);
/* Count a string that was cut because it did not fit. */
void kymo__text_cut(void);
/* Register the sites of one program or library, when it is loaded. A second call is harmless. */
void kymo__register(struct kymo_site *begin, struct kymo_site *end);
/*
 * Say, before the first event, that this process belongs to every ROS domain (kymo agent itself
 * does).
 */
void kymo__of_every_ros_domain(void);
/* Forget the sites of a library that is unloaded. */
void kymo__unregister(struct kymo_site *begin);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

static inline bool kymo__wanted(const struct kymo_site *site)
{
	const uint8_t *enable = __atomic_load_n(&kymo__enable, __ATOMIC_RELAXED);
	const uint16_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

	return __builtin_expect(__atomic_load_n(&enable[id], __ATOMIC_RELAXED), 0);
}

#ifdef KYMO_COMPILE_OUT
/* These stand in for the functions of libkymo, which the program then does not need. */
#include <time.h>

static inline uint64_t kymo__now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define kymo_thread_ready() false
#define kymo_thread_name(name) ((void)(name))
#define kymo_track(name, parent) ((void)(name), (void)(parent), (uint64_t)0)
#define kymo_realtime(name) ((void)(name))
#define kymo_now() kymo__now()
#define kymo_set_enabled(on) ((void)(on))
#define kymo_set_category(category, on) ((void)(category), (void)(on), true)
#define kymo_snapshot() ((void)0)
#define kymo_begin_named(category, name) ((void)(category), (void)(name), false)
#define kymo_end_named() ((void)0)
#define kymo_instant_named(category, name) ((void)(category), (void)(name))
#define kymo_counter_named(category, name, value) ((void)(category), (void)(name), (void)(value))
#endif

#include "fields.h"

#ifndef __cplusplus

#define KYMO__SITE(site, site_shape, site_category, site_name, ...)                          \
	static const struct kymo_site_field site##_fields[] = { KYMO__EACH(                  \
		KYMO__KIND, __VA_ARGS__){ 0, NULL } };                                       \
	static struct kymo_site site __attribute__((section("kymo_sites"), aligned(8),       \
						    used)) = { KYMO_SITE_NEW,                \
							       KYMO_SITE_NEW,                \
							       site_shape,                   \
							       KYMO__COUNT(__VA_ARGS__),     \
							       __LINE__,                     \
							       KYMO__LITERAL(site_category), \
							       KYMO__LITERAL(site_name),     \
							       __FILE__,                     \
							       __func__,                     \
							       site##_fields }

/*
 * Declare the site, and emit its event if it is enabled. The value of the expression: whether it
 * was recorded.
 */
#define KYMO__EMIT(shape, category, name, ...)                                            \
	({                                                                                \
		KYMO__CHECK(category, name __VA_OPT__(, ) __VA_ARGS__);                   \
		KYMO__SITE(kymo__site, shape, category, name __VA_OPT__(, ) __VA_ARGS__); \
		bool kymo__done = false;                                                  \
		if (kymo__wanted(&kymo__site)) {                                          \
			uint8_t kymo__buffer[1 KYMO__EACH(KYMO__ROOM, __VA_ARGS__)];      \
			uint8_t *kymo__at = kymo__buffer;                                 \
                                                                                          \
			KYMO__EACH(KYMO__STORE, __VA_ARGS__)                              \
			kymo__done = kymo__event(&kymo__site, kymo__buffer,               \
						 (size_t)(kymo__at - kymo__buffer));      \
		}                                                                         \
		kymo__done;                                                               \
	})

/* An open span. Its end is emitted only if its begin was recorded. */
struct kymo_span {
	struct kymo_site *end;		/* NULL: nothing to end */
};

static inline void kymo_span_end(struct kymo_span *span)
{
	if (span->end) {
		(void)kymo__event(span->end, "", 0);
		span->end = NULL;
	}
}

enum { KYMO__POINT, KYMO__BEGIN, KYMO__END, KYMO__INSTANT, KYMO__COUNTER };

#ifndef KYMO_COMPILE_OUT

#define KYMO__FEW(message) ({ _Static_assert(0, message); })
#define KYMO__EMIT_0(...) KYMO__FEW(KYMO__TOO_FEW)
#define KYMO__EMIT_1(shape, ...) KYMO__EMIT(shape, __VA_ARGS__)
#define KYMO__EVENT(shape, ...) \
	((void)KYMO__CAT(KYMO__EMIT_, KYMO__HAS_TWO(__VA_ARGS__))(shape, __VA_ARGS__))
#define KYMO_BEGIN(...) KYMO__EVENT(KYMO__BEGIN, __VA_ARGS__)
#define KYMO_END(...) KYMO__EVENT(KYMO__END, __VA_ARGS__)
#define KYMO_INSTANT(...) KYMO__EVENT(KYMO__INSTANT, __VA_ARGS__)
#define KYMO_TRACEPOINT(...) KYMO__EVENT(KYMO__POINT, __VA_ARGS__)

#define KYMO__COUNT_0(...) KYMO__FEW(KYMO__NO_COUNT)
#define KYMO__COUNT_1(category, name, value, ...)                                        \
	({                                                                               \
		_Static_assert(KYMO__BY_TYPE(value, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0), \
			       KYMO__NO_NUMBER);                                         \
		(void)KYMO__EMIT(KYMO__COUNTER, category, name,                          \
				 ("value", value)__VA_OPT__(, ) __VA_ARGS__);            \
	})
#define KYMO_COUNTER(...) KYMO__CAT(KYMO__COUNT_, KYMO__HAS_THREE(__VA_ARGS__))(__VA_ARGS__)

#define KYMO__SPAN(guard, site, category, name, ...)						\
	KYMO__SITE(site, KYMO__END, category, name);						\
	struct kymo_span guard __attribute__((cleanup(kymo_span_end), unused)) = {		\
		KYMO__EMIT(KYMO__BEGIN, category, name __VA_OPT__(,) __VA_ARGS__) ? &site : NULL \
	}
#define KYMO__SPAN_AT(at, ...)									\
	KYMO__SPAN(KYMO__CAT(kymo__span_, at), KYMO__CAT(kymo__end_, at), __VA_ARGS__)
#define KYMO__SPAN_0(...) _Static_assert(0, KYMO__TOO_FEW)
#define KYMO__SPAN_1(...) KYMO__SPAN_AT(__COUNTER__, __VA_ARGS__)
/* The counter, not the line: a macro of yours may have two spans. */
#define KYMO_SPAN(...) KYMO__CAT(KYMO__SPAN_, KYMO__HAS_TWO(__VA_ARGS__))(__VA_ARGS__)
#define KYMO__IS_ANY(...) KYMO__SECOND(__VA_OPT__(~, 1, ) ~, 0, ~)
#define KYMO__CATEGORY_0() "function"
#define KYMO__CATEGORY_1(category) category
#define KYMO__CATEGORY(...) KYMO__CAT(KYMO__CATEGORY_, KYMO__IS_ANY(__VA_ARGS__))(__VA_ARGS__)
#define KYMO_FUNCTION(category, ...) \
	KYMO__SPAN_1(KYMO__CATEGORY(category), __func__ __VA_OPT__(, ) __VA_ARGS__)

#ifndef KYMO_REGISTER_LATE	/* for libkymo itself: its own sites wait for their first event */
/* Registers the sites of the program or library that this file is part of. */
extern struct kymo_site __start_kymo_sites[] __attribute__((weak, visibility("hidden")));
extern struct kymo_site __stop_kymo_sites[] __attribute__((weak, visibility("hidden")));

__attribute__((constructor, used)) static void kymo__load(void)
{
	if (__start_kymo_sites)
		kymo__register(__start_kymo_sites, __stop_kymo_sites);
}

__attribute__((destructor, used)) static void kymo__unload(void)
{
	if (__start_kymo_sites)
		kymo__unregister(__start_kymo_sites);
}
#endif

#else /* KYMO_COMPILE_OUT */
#define KYMO_BEGIN(...) ((void)0)
#define KYMO_END(...) ((void)0)
#define KYMO_INSTANT(...) ((void)0)
#define KYMO_COUNTER(...) ((void)0)
#define KYMO_TRACEPOINT(...) ((void)0)
#define KYMO_SPAN(...) ((void)0)
#define KYMO_FUNCTION(...) ((void)0)
#endif

#endif /* __cplusplus */

#endif
