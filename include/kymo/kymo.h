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

/* Kinds, with the numbers of the region layout (src/abi/region.h), which is not installed. */
enum {
	KYMO__PTR = 0, KYMO__U64 = 1, KYMO__I64 = 2, KYMO__BOOL = 3, KYMO__TEXT = 4,
	KYMO__U8 = 10, KYMO__U16, KYMO__U32, KYMO__I8, KYMO__I16, KYMO__I32, KYMO__F64,
};

static inline uint8_t *kymo__put(uint8_t *at, const void *value, size_t size)
{
	memcpy(at, value, size);
	return at + size;
}

static inline uint8_t *kymo__put_text(uint8_t *at, const char *text)
{
	const char *from = text ? text : "(null)";
	/* The compiler may know the array, and warns of reads behind its end. SIZE_MAX: it does
	 * not. */
	const size_t size = __builtin_object_size(from, 0);
	const size_t most = size < KYMO_TEXT_MAX ? size : KYMO_TEXT_MAX;
	const void *nul = memchr(from, 0, most);
	size_t length = nul ? (size_t)((const char *)nul - from) : most;

	if (__builtin_expect(!nul && size > KYMO_TEXT_MAX && from[KYMO_TEXT_MAX], 0))
		kymo__text_cut();
	memcpy(at, from, length);
	at[length] = 0;
	return at + length + 1;
}

#define KYMO__CAT_(a, b) a##b
#define KYMO__CAT(a, b) KYMO__CAT_(a, b)

/*
 * Mistakes. Each has one assertion, and what it concerns is left out, so that the compiler reports
 * no error but that one.
 *
 * f("a", 1) for the pair ("a", 1), and nothing for what is not a pair: KYMO__IS_PAIR() is 1 for two
 * values in parentheses, because KYMO__PROBE then expands, and else 0.
 */
#define KYMO__IS_TWO_(a, b, c, d, e, f, g, h, n, ...) n
#define KYMO__IS_TWO(...) KYMO__IS_TWO_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 1, 0, ~)
#define KYMO__PROBE(...) ~, KYMO__IS_TWO(__VA_ARGS__)
#define KYMO__SECOND_(a, b, ...) b
#define KYMO__SECOND(...) KYMO__SECOND_(__VA_ARGS__)
#define KYMO__IS_PAIR(t) KYMO__SECOND(KYMO__PROBE t, 0, ~)
#define KYMO__PAIR_0(f, t)
#define KYMO__PAIR_1(f, t) f t
#define KYMO__PAIR(f, t) KYMO__CAT(KYMO__PAIR_, KYMO__IS_PAIR(t))(f, t)
#define KYMO__NO_PAIR "a field is a pair in parentheses: KYMO_SPAN(\"control\", \"plan\", (\"step\", 3))"
#define KYMO__NO_LITERAL                                                               \
	"category and name are string literals; for names known only at run time use " \
	"kymo_begin_named() and the like"
#define KYMO__NO_FIELD_NAME \
	"the name of a field is a string literal: KYMO_SPAN(\"control\", \"plan\", (\"step\", 3))"
#define KYMO__NO_VALUE \
	"the value of a field is a number, an enumeration, a bool, a pointer or a char *"
#define KYMO__TOO_FEW \
	"an event has a category and a name: KYMO_SPAN(\"control\", \"plan\", (\"step\", 3))"
#define KYMO__NO_COUNT \
	"a counter has a category, a name and a value: KYMO_COUNTER(\"control\", \"queue\", 3)"
#define KYMO__NO_ROOM "category and name have at most KYMO_TEXT_MAX (255) bytes"
#define KYMO__TOO_MANY                                                                             \
	"an event has at most KYMO_EVENT_FIELDS_MAX (8) fields; the value of a counter is one of " \
	"them"
#define KYMO__NO_NUMBER \
	"the value of a counter is a number; for text use KYMO_INSTANT() with a field"

/* 1 for at least two, or three, of up to 23 arguments, and else 0. */
#define KYMO__24TH(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q, r, s, t, u, v, w, x, n, ...) n
#define KYMO__HAS_TWO(...)                                                                        \
	KYMO__24TH(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
		   0, ~)
#define KYMO__HAS_THREE(...)                                                                      \
	KYMO__24TH(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, \
		   0, ~)

/* f((a, b)) f((c, d)) ... with a count; up to KYMO_EVENT_FIELDS_MAX, and nothing for KYMO__MANY. */
enum { KYMO__MANY = KYMO_EVENT_FIELDS_MAX + 1 };
#define KYMO__NTH(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q, n, ...) n
#define KYMO__COUNT(...)                                                                     \
	KYMO__NTH(__VA_ARGS__ __VA_OPT__(, ) KYMO__MANY, KYMO__MANY, KYMO__MANY, KYMO__MANY, \
		  KYMO__MANY, KYMO__MANY, KYMO__MANY, KYMO__MANY, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define KYMO__EACH_KYMO__MANY(...)
#define KYMO__EACH_0(f)
#define KYMO__EACH_1(f, t) KYMO__PAIR(f, t)
#define KYMO__EACH_2(f, t, ...) KYMO__PAIR(f, t) KYMO__EACH_1(f, __VA_ARGS__)
#define KYMO__EACH_3(f, t, ...) KYMO__PAIR(f, t) KYMO__EACH_2(f, __VA_ARGS__)
#define KYMO__EACH_4(f, t, ...) KYMO__PAIR(f, t) KYMO__EACH_3(f, __VA_ARGS__)
#define KYMO__EACH_5(f, t, ...) KYMO__PAIR(f, t) KYMO__EACH_4(f, __VA_ARGS__)
#define KYMO__EACH_6(f, t, ...) KYMO__PAIR(f, t) KYMO__EACH_5(f, __VA_ARGS__)
#define KYMO__EACH_7(f, t, ...) KYMO__PAIR(f, t) KYMO__EACH_6(f, __VA_ARGS__)
#define KYMO__EACH_8(f, t, ...) KYMO__PAIR(f, t) KYMO__EACH_7(f, __VA_ARGS__)
#define KYMO__EACH(f, ...)									\
	KYMO__CAT(KYMO__EACH_, KYMO__COUNT(__VA_ARGS__))(f __VA_OPT__(,) __VA_ARGS__)

#define KYMO__AND_KYMO__MANY(...)
#define KYMO__AND_0(...)
#define KYMO__AND_1(t) && KYMO__IS_PAIR(t)
#define KYMO__AND_2(t, ...) && KYMO__IS_PAIR(t) KYMO__AND_1(__VA_ARGS__)
#define KYMO__AND_3(t, ...) && KYMO__IS_PAIR(t) KYMO__AND_2(__VA_ARGS__)
#define KYMO__AND_4(t, ...) && KYMO__IS_PAIR(t) KYMO__AND_3(__VA_ARGS__)
#define KYMO__AND_5(t, ...) && KYMO__IS_PAIR(t) KYMO__AND_4(__VA_ARGS__)
#define KYMO__AND_6(t, ...) && KYMO__IS_PAIR(t) KYMO__AND_5(__VA_ARGS__)
#define KYMO__AND_7(t, ...) && KYMO__IS_PAIR(t) KYMO__AND_6(__VA_ARGS__)
#define KYMO__AND_8(t, ...) && KYMO__IS_PAIR(t) KYMO__AND_7(__VA_ARGS__)

#ifndef __cplusplus

#define KYMO__PUT(type) static inline uint8_t *kymo__put_##type(uint8_t *at, type value)
KYMO__PUT(uint8_t) { return kymo__put(at, &value, sizeof value); }
KYMO__PUT(uint16_t) { return kymo__put(at, &value, sizeof value); }
KYMO__PUT(uint32_t) { return kymo__put(at, &value, sizeof value); }
KYMO__PUT(uint64_t) { return kymo__put(at, &value, sizeof value); }
KYMO__PUT(int8_t) { return kymo__put(at, &value, sizeof value); }
KYMO__PUT(int16_t) { return kymo__put(at, &value, sizeof value); }
KYMO__PUT(int32_t) { return kymo__put(at, &value, sizeof value); }
KYMO__PUT(int64_t) { return kymo__put(at, &value, sizeof value); }
KYMO__PUT(double) { return kymo__put(at, &value, sizeof value); }
static inline uint8_t *kymo__put_bool(uint8_t *at, bool value)
{
	return kymo__put_int32_t(at, value);
}
static inline uint8_t *kymo__put_pointer(uint8_t *at, const volatile void *value)
{
	return kymo__put_uint64_t(at, (uint64_t)(uintptr_t)value);
}

/* `long long` and `long` are different types of the same width: both are listed. */
#define KYMO__BY_TYPE(value, u8, u16, u32, u64, i8, i16, i32, i64, boolean, f64, text, pointer)	\
	_Generic((value), bool: boolean, char: i8, signed char: i8, unsigned char: u8,		\
		 short: i16, unsigned short: u16, int: i32, unsigned: u32, long: i64,		\
		 unsigned long: u64, long long: i64, unsigned long long: u64, float: f64,	\
		 double: f64, char *: text, const char *: text, default: pointer)

/* Whether the compiler knows the bytes: a literal, __func__, or a constant array of char. */
#define KYMO__IS_LITERAL(text)                                                        \
	((__builtin_types_compatible_p(__typeof__(text), char[sizeof(text)]) &&       \
	  __builtin_constant_p(text)) ||                                              \
	 (__builtin_types_compatible_p(__typeof__(text), const char[sizeof(text)]) && \
	  _Generic((text), const char * : 1, default : 0)))
#define KYMO__LITERAL(text) __builtin_choose_expr(KYMO__IS_LITERAL(text), text, "")

/* The compiler's classes 1, 3, 4 and 5 are integers, enumerations, bools and pointers. */
#define KYMO__IS_VALUE(value)                              \
	((0x3a >> __builtin_classify_type((value)) & 1) || \
	 _Generic((value), float : 1, double : 1, default : 0))
#define KYMO__FIELD(value) __builtin_choose_expr(KYMO__IS_VALUE(value), value, 0)

#define KYMO__KIND(name, value)                                                                \
	{ KYMO__BY_TYPE(value, KYMO__U8, KYMO__U16, KYMO__U32, KYMO__U64, KYMO__I8, KYMO__I16, \
			KYMO__I32, KYMO__I64, KYMO__BOOL, KYMO__F64, KYMO__TEXT, KYMO__PTR),   \
	  KYMO__LITERAL(name) },
#define KYMO__STORE(name, value)                                                                   \
	kymo__at = KYMO__BY_TYPE(value, kymo__put_uint8_t, kymo__put_uint16_t, kymo__put_uint32_t, \
				 kymo__put_uint64_t, kymo__put_int8_t, kymo__put_int16_t,          \
				 kymo__put_int32_t, kymo__put_int64_t, kymo__put_bool,             \
				 kymo__put_double, kymo__put_text,                                 \
				 kymo__put_pointer)(kymo__at, KYMO__FIELD(value));
#define KYMO__ROOM(name, value) \
	+KYMO__BY_TYPE(value, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, KYMO_TEXT_MAX + 1, 8)
#define KYMO__AND_NAME(name, value) &&KYMO__IS_LITERAL(name)
#define KYMO__AND_VALUE(name, value) &&KYMO__IS_VALUE(value)

/* What the assertions of one place check; a span has two sites, and one such place. */
#define KYMO__CHECK(category, name, ...)                                                           \
	_Static_assert(KYMO__IS_LITERAL(category) && KYMO__IS_LITERAL(name), KYMO__NO_LITERAL);    \
	_Static_assert(sizeof(category) <= KYMO_TEXT_MAX + 1 && sizeof(name) <= KYMO_TEXT_MAX + 1, \
		       KYMO__NO_ROOM);                                                             \
	_Static_assert(KYMO__COUNT(__VA_ARGS__) <= KYMO_EVENT_FIELDS_MAX, KYMO__TOO_MANY);         \
	_Static_assert(1 KYMO__CAT(KYMO__AND_, KYMO__COUNT(__VA_ARGS__))(__VA_ARGS__),             \
		       KYMO__NO_PAIR);                                                             \
	_Static_assert(1 KYMO__EACH(KYMO__AND_NAME, __VA_ARGS__), KYMO__NO_FIELD_NAME);            \
	_Static_assert(1 KYMO__EACH(KYMO__AND_VALUE, __VA_ARGS__), KYMO__NO_VALUE)

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
