/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of an event, as the macros of kymo.h and kymo.hpp need them: how many a macro has,
 * what is wrong with them, and in C their types and bytes. Programs include kymo.h or kymo.hpp.
 */
#ifndef KYMO_FIELDS_H
#define KYMO_FIELDS_H

#pragma GCC system_header	/* statement expressions, also under -pedantic */

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

#endif /* __cplusplus */

#endif
