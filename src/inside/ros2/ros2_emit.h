/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kymo_emit_<id>(arguments) for every row of tracepoints.def. Each function has four steps: compute
 * the payload's size, reserve a record, store the fields, commit the record. The macros LOCAL_,
 * SIZE_ and STORE_ expand once for each field of the row. The length of a string is measured only
 * once, so it cannot change between reserving and storing.
 */
#ifndef KYMO_HOOKS_EMIT_H
#define KYMO_HOOKS_EMIT_H

#include <string.h>

#include "abi/each.h"
#include "abi/points.h"
#include "inside/ros2/ros2_attach.h"
#include "inside/ros2/ros2_tracetools.h"
#include "inside/tracer/tracer_count.h"
#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_left_out.h"
#include "inside/tracer/tracer_ring.h"

#define KYMO_FACT_STRING_MAX	8192u	/* bytes of a string in an init event, the rest is cut */
#define KYMO_PTRS_MAX		1024u	/* pointers in one message link; more are cut */

/* PARAMS() turns field tuples into "const void *a, bool b", no tuples into "void". ARGS() turns them into "a, b". */
#define DROP_FIRST_(first, ...) __VA_ARGS__
#define DROP_FIRST(...) DROP_FIRST_(__VA_ARGS__)
#define PARAM(kind, arg, ...) KYMO_PARAM_##kind(arg)
#define ARG(kind, arg, ...) KYMO_ARG_##kind(arg)
#define PARAMS_(...) void
#define PARAMS_SOME(...) DROP_FIRST(~ EACH(PARAM, __VA_ARGS__))
#define PARAMS(...) KYMO_CAT(PARAMS_, __VA_OPT__(SOME))(__VA_ARGS__)
#define ARGS_(...)
#define ARGS_SOME(...) DROP_FIRST(~ EACH(ARG, __VA_ARGS__))
#define ARGS(...) KYMO_CAT(ARGS_, __VA_OPT__(SOME))(__VA_ARGS__)

/* As strnlen(). In glibc, strnlen() is 10 ns slower than memchr() if a copy of that length
 * follows. */
static inline size_t kymo_length(const char *text, size_t max)
{
	const char *end = (const char *)memchr(text, 0, max);

	return end ? (size_t)(end - text) : max;
}

/* Local variables of a field: values from which the field's size is computed. */
#define LOCAL_PTR(arg)
#define LOCAL_U64(arg)
#define LOCAL_I64(arg)
#define LOCAL_BOOL(arg)
#define LOCAL_STR(arg)	const char *const arg##_text = (arg) ? (arg) : "(null)";	\
			const size_t arg##_length = kymo_length(arg##_text, string_max);
#define LOCAL_GID16(arg)
#define LOCAL_GID24(arg)
#define LOCAL_PTRS(arg)										\
	const uint64_t arg##_count = !(arg) ? 0 :						\
				     num_##arg < KYMO_PTRS_MAX ? num_##arg : KYMO_PTRS_MAX;
#define LOCAL_SKIP(arg)	(void)(arg);
#define LOCAL_VERSION(arg) const char *const arg##_text = kymo_tracetools.text;	\
			const size_t arg##_length = strlen(arg##_text);
#define LOCAL(kind, arg, ...) LOCAL_##kind(arg)

#define SIZE_PTR(arg)	+ 8
#define SIZE_U64(arg)	+ 8
#define SIZE_I64(arg)	+ 8
#define SIZE_BOOL(arg)	+ 4
#define SIZE_STR(arg)	+ arg##_length + 1
#define SIZE_GID16(arg)	+ 16
#define SIZE_GID24(arg)	+ 24
#define SIZE_PTRS(arg)	+ 8 + arg##_count * 8
#define SIZE_SKIP(arg)
#define SIZE_VERSION(arg) SIZE_STR(arg)
#define SIZE(kind, arg, ...) SIZE_##kind(arg)

static inline uint8_t *kymo_put(uint8_t *at, const void *from, size_t size)
{
	memcpy(at, from, size);
	return at + size;
}

static inline uint8_t *kymo_put_text(uint8_t *at, const char *text, size_t length)
{
	memcpy(at, text, length);
	at[length] = 0;
	return at + length + 1;
}

/* The argument points to gid_bytes bytes. The remaining bytes of a wider field are zero; a NULL gid
 * is all zero. */
static inline uint8_t *kymo_put_gid(uint8_t *at, const uint8_t *gid, size_t width)
{
	size_t real = kymo_tracetools.gid_bytes < width ? kymo_tracetools.gid_bytes : width;

	if (!gid)
		real = 0;
	else
		memcpy(at, gid, real);
	memset(at + real, 0, width - real);
	return at + width;
}

#define STORE_PTR(arg)	at = kymo_put(at, &(arg), 8);
#define STORE_U64(arg)	at = kymo_put(at, &(arg), 8);
#define STORE_I64(arg)	at = kymo_put(at, &(arg), 8);
#define STORE_BOOL(arg)	at = kymo_put(at, &(int32_t){ (arg) }, 4);
#define STORE_STR(arg)	at = kymo_put_text(at, arg##_text, arg##_length);
#define STORE_GID16(arg) at = kymo_put_gid(at, arg, 16);
#define STORE_GID24(arg) at = kymo_put_gid(at, arg, 24);
#define STORE_PTRS(arg)	at = kymo_put(at, &arg##_count, 8);	\
			at = kymo_put(at, arg, (size_t)arg##_count * 8);
#define STORE_SKIP(arg)
#define STORE_VERSION(arg) STORE_STR(arg)
#define STORE(kind, arg, ...) STORE_##kind(arg)

/* The objects of an init event are new: if an older object at such an address was left out, the new
 * object is not. */
#define ANEW_PTR(arg)	kymo__made_anew(arg);
#define ANEW_U64(arg)
#define ANEW_I64(arg)
#define ANEW_BOOL(arg)
#define ANEW_STR(arg)
#define ANEW_GID16(arg)
#define ANEW_GID24(arg)
#define ANEW_PTRS(arg)
#define ANEW_SKIP(arg)
#define ANEW_VERSION(arg)
#define ANEW(kind, arg, ...) ANEW_##kind(arg)

/*
 * A runtime event. The usual case is inline and calls no function. All other cases are in
 * kymo_emit_slow_<id>(), which is reached by a tail call, so that the fast path saves no registers.
 */
#define EMIT_RUN_BODY(id, reserve, otherwise, ...)				\
	const size_t string_max = KYMO_RING_STRING_MAX;				\
	EACH(LOCAL, __VA_ARGS__)						\
	struct kymo_record record;						\
	uint8_t *at;								\
										\
	(void)string_max;							\
	if (__builtin_expect(!reserve(&record, KYMO_POINT_##id,			\
				      (size_t)0 EACH(SIZE, __VA_ARGS__)), 0)) {	\
		otherwise;							\
		return;								\
	}									\
	at = record.at;								\
	EACH(STORE, __VA_ARGS__)						\
	(void)at;								\
	kymo_commit_sp(&record);

#define EMIT_RUN(provider, id, ...)							\
static __attribute__((noinline, cold, unused))					\
void kymo_emit_slow_##id(PARAMS(__VA_ARGS__))					\
{										\
	kymo_tracetools_known();						\
	EMIT_RUN_BODY(id, kymo__reserve, (void)0 __VA_OPT__(,) __VA_ARGS__)	\
}										\
static inline __attribute__((always_inline, unused))				\
void kymo_emit_##id(PARAMS(__VA_ARGS__))					\
{										\
	EMIT_RUN_BODY(id, kymo_try_reserve_sp, kymo_emit_slow_##id(ARGS(__VA_ARGS__))	\
		      __VA_OPT__(,) __VA_ARGS__)				\
}

/* Whether the facts of a provider report new objects. Facts of provider ros2 do; the others report
 * objects that already exist. */
#define MAKES_ros2	true
#define MAKES_ros2_caret false
#define MAKES_lttng_ust_statedump false
#define MAKES_ros2_kymo false

#define EMIT_INIT(provider, id, ...)						\
static __attribute__((noinline, unused))					\
void kymo_emit_##id(PARAMS(__VA_ARGS__))					\
{										\
	const size_t string_max = KYMO_FACT_STRING_MAX;				\
	struct kymo_fact fact;							\
	uint8_t *at;								\
										\
	kymo_tracetools_known();						\
	if (__builtin_expect(kymo_came_late(), 0))				\
		kymo_attach_look();						\
	(void)string_max;							\
	EACH(LOCAL, __VA_ARGS__)						\
	if (kymo__log_reserve(&fact, KYMO_POINT_##id, (size_t)0 EACH(SIZE, __VA_ARGS__))) {	\
		at = fact.payload;						\
		EACH(STORE, __VA_ARGS__)					\
		(void)at;							\
		kymo__log_commit(&fact);					\
	}									\
	if (MAKES_##provider) {							\
		EACH(ANEW, __VA_ARGS__)						\
	}									\
}

#define POINT(provider, id, name, phase, hook, from, to, text, ...)		\
	EMIT_##phase(provider, id __VA_OPT__(,) __VA_ARGS__)
#include "abi/tracepoints.def"
#undef POINT

/*
 * kymo_left_out_<id>(arguments) for runtime events: whether the event's object is left out. The
 * object is the first pointer that is not a message. An event with only a message belongs to the
 * object with which the thread published or received the message last.
 */
#define NOTE_PTR(arg)	if (!strcmp(#arg, "message"))				\
				kymo_its_message = (arg);			\
			else if (!kymo_its_object)				\
				kymo_its_object = (arg);
#define NOTE_U64(arg)	(void)(arg);
#define NOTE_I64(arg)	(void)(arg);
#define NOTE_BOOL(arg)	(void)(arg);
#define NOTE_STR(arg)	(void)(arg);
#define NOTE_GID16(arg)	(void)(arg);
#define NOTE_SKIP(arg)	(void)(arg);
#define NOTE(kind, arg, ...) NOTE_##kind(arg)

#define LEFT_OUT_INIT(id, ...)
#define LEFT_OUT_RUN(id, ...)							\
static inline __attribute__((unused)) bool kymo_left_out_##id(PARAMS(__VA_ARGS__))	\
{										\
	const void *kymo_its_object = NULL, *kymo_its_message = NULL;		\
										\
	EACH(NOTE, __VA_ARGS__)							\
	if (KYMO_POINT_##id == KYMO_POINT_rclcpp_publish)			\
		return kymo__hold_publish(kymo_its_message);			\
	return kymo__left_out(kymo_its_object, kymo_its_message);		\
}

/* kymo_count_<id>(arguments) counts the event by its object; false: such events are not counted. */
#define COUNT_INIT(id, ...)
#define COUNT_RUN(id, ...)							\
static inline __attribute__((always_inline, unused)) bool kymo_count_##id(PARAMS(__VA_ARGS__))	\
{										\
	const void *kymo_its_object = NULL, *kymo_its_message = NULL;		\
										\
	EACH(NOTE, __VA_ARGS__)							\
	(void)kymo_its_message;							\
	if (KYMO_COUNTED_AS(KYMO_POINT_##id) == KYMO_COUNT_NOT)			\
		return false;							\
	kymo_count(KYMO_COUNT_KEY((uintptr_t)kymo_its_object,			\
				  KYMO_COUNTED_AS(KYMO_POINT_##id)));		\
	return true;								\
}

#define POINT(provider, id, name, phase, hook, from, to, text, ...)		\
	LEFT_OUT_##phase(id __VA_OPT__(,) __VA_ARGS__)				\
	COUNT_##phase(id __VA_OPT__(,) __VA_ARGS__)
#include "abi/tracepoints.def"
#undef POINT

/* An init event is always wanted, a runtime event while its enable byte is not KYMO_ENABLE_NO. */
#define KYMO_WANTED_INIT(id)	KYMO_ENABLE_YES
#define KYMO_WANTED_RUN(id)	kymo_enable_byte(KYMO_POINT_##id)
#define KYMO_LEFT_OUT_INIT(id)	kymo_never_left_out
#define KYMO_LEFT_OUT_RUN(id)	kymo_left_out_##id
#define KYMO_COUNT_INIT(id)	kymo_never_counted
#define KYMO_COUNT_RUN(id)	kymo_count_##id
#define kymo_never_left_out(...) false
#define kymo_never_counted(...) false

/* Record, count or leave out a runtime event that a hook of another function reports. */
#define KYMO_RECORD(id, ...)                                                                   \
	do {                                                                                   \
		const uint8_t wanted = kymo_enable_byte(KYMO_POINT_##id);                      \
                                                                                               \
		if (wanted == KYMO_ENABLE_COUNT && kymo_count_##id(__VA_ARGS__))               \
			break;                                                                 \
		if (wanted && (wanted == KYMO_ENABLE_YES || !kymo_left_out_##id(__VA_ARGS__))) \
			kymo_emit_##id(__VA_ARGS__);                                           \
	} while (0)

#endif
