/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor table behind everything that is derived from tracepoints.def at run time. */
#include "abi/each.h"
#include "abi/points.h"

/* Only recorded fields get a descriptor, so SKIP vanishes here. */
#define RECORDED(arg, name, ...) #name
#define DESCRIBE_PTR(...)	{ KYMO_KIND_PTR, __VA_ARGS__ },
#define DESCRIBE_U64(...)	{ KYMO_KIND_U64, __VA_ARGS__ },
#define DESCRIBE_I64(...)	{ KYMO_KIND_I64, __VA_ARGS__ },
#define DESCRIBE_BOOL(...)	{ KYMO_KIND_BOOL, __VA_ARGS__ },
#define DESCRIBE_STR(...)	{ KYMO_KIND_STR, __VA_ARGS__ },
#define DESCRIBE_GID16(...)	{ KYMO_KIND_GID16, __VA_ARGS__ },
#define DESCRIBE_GID24(...)	{ KYMO_KIND_GID24, __VA_ARGS__ },
#define DESCRIBE_PTRS(...)	{ KYMO_KIND_PTRS, __VA_ARGS__ },
#define DESCRIBE_SKIP(...)
#define DESCRIBE_VERSION(...)	{ KYMO_KIND_STR, __VA_ARGS__ },
#define DESCRIBE(kind, arg, ...) DESCRIBE_##kind(RECORDED(arg, ##__VA_ARGS__, arg))

#define ONE_PTR +1
#define ONE_U64 +1
#define ONE_I64 +1
#define ONE_BOOL +1
#define ONE_STR +1
#define ONE_GID16 +1
#define ONE_GID24 +1
#define ONE_PTRS +1
#define ONE_SKIP
#define ONE_VERSION +1
#define ONE(kind, ...) ONE_##kind

#define KYMO_PHASE(phase) KYMO_PHASE_##phase

const struct kymo_point kymo_points[KYMO_POINTS_TABLE] = {
/* A row ALSO is in traces of all versions. */
#define FROM_FN(from) from
#define FROM_OWN(from) from
#define FROM_NONE(from) from
#define FROM_ALSO(from) 0
#define POINT(provider, id, name, phase, hook, from, to, text, ...) \
	{ #provider,                                                \
	  #name,                                                    \
	  text,                                                     \
	  KYMO_PHASE(phase),                                        \
	  FROM_##hook(from),                                        \
	  to,                                                       \
	  0 EACH(ONE, __VA_ARGS__),                                 \
	  { EACH(DESCRIBE, __VA_ARGS__){ 0 } },                     \
	  NULL },
#include "abi/tracepoints.def"
#undef POINT
};
