/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The field kinds of tracepoints.def: the recorded bytes, and the parameters and arguments in C.
 * The bytes are those of the CTF payload: packed, host byte order.
 */
#ifndef KYMO_ABI_KINDS_H
#define KYMO_ABI_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kymo_kind {
	KYMO_KIND_PTR,		/* u64, base 16 */
	KYMO_KIND_U64,		/* u64, base 10 */
	KYMO_KIND_I64,		/* i64, base 10 */
	KYMO_KIND_BOOL,		/* i32, 0 or 1 */
	KYMO_KIND_STR,		/* NUL-terminated; NULL is recorded as "(null)" */
	KYMO_KIND_GID16,	/* 16 x u8 */
	KYMO_KIND_GID24,	/* 24 x u8 */
	KYMO_KIND_PTRS,		/* u64 count, then count x u64, base 16; two C arguments */
	KYMO_KIND_SKIP,		/* an argument that is not recorded */
	KYMO_KIND_VERSION,	/* recorded like STR, but not an argument: the tracetools version */
	/* Only in tracepoints that a program declares itself. */
	KYMO_KIND_U8,
	KYMO_KIND_U16,
	KYMO_KIND_U32,
	KYMO_KIND_I8,
	KYMO_KIND_I16,
	KYMO_KIND_I32,
	KYMO_KIND_F64,		/* IEEE 754, 8 bytes */
	KYMO_KINDS
};

/* C parameters of one field, each with a leading comma. */
#define KYMO_PARAM_PTR(arg)	, const void *arg
#define KYMO_PARAM_U64(arg)	, uint64_t arg
#define KYMO_PARAM_I64(arg)	, int64_t arg
#define KYMO_PARAM_BOOL(arg)	, bool arg
#define KYMO_PARAM_STR(arg)	, const char *arg
#define KYMO_PARAM_GID16(arg)	, const uint8_t *arg
#define KYMO_PARAM_GID24(arg)	, const uint8_t *arg
#define KYMO_PARAM_PTRS(arg)	, const void **arg, size_t num_##arg
#define KYMO_PARAM_SKIP(arg)	, const void *arg
#define KYMO_PARAM_VERSION(arg)

/* The same names as arguments of a call, each with a leading comma. */
#define KYMO_ARG_PTR(arg)	, arg
#define KYMO_ARG_U64(arg)	, arg
#define KYMO_ARG_I64(arg)	, arg
#define KYMO_ARG_BOOL(arg)	, arg
#define KYMO_ARG_STR(arg)	, arg
#define KYMO_ARG_GID16(arg)	, arg
#define KYMO_ARG_GID24(arg)	, arg
#define KYMO_ARG_PTRS(arg)	, arg, num_##arg
#define KYMO_ARG_SKIP(arg)	, arg
#define KYMO_ARG_VERSION(arg)

#endif
