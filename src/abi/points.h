/* SPDX-License-Identifier: Apache-2.0 */
/* Ids and descriptors of the tracepoints; expanded from tracepoints.def. */
#ifndef KYMO_ABI_POINTS_H
#define KYMO_ABI_POINTS_H

#include <stdint.h>

#include "abi/kinds.h"

/* A tracetools version, comparable: 8.2 is KYMO_V(8, 2). */
#define KYMO_V(major, minor) ((major) << 8 | (minor))
#define KYMO_V_LAST 0xffff

/*
 * Event ids, both in ring records and in CTF event headers. Ids from KYMO_POINTS_TABLE on are
 * free for tracepoints that a process declares itself.
 */
enum kymo_point_id {
#define POINT(provider, id, ...) KYMO_POINT_##id,
#include "abi/tracepoints.def"
#undef POINT
	KYMO_POINTS_TABLE
};

/* Most ids a process can have: one enable byte each, one page of them. */
#define KYMO_POINTS_MAX 4096
/*
 * Ids without events. A place in the code (struct kymo_site) uses one of them instead of an id of
 * its own, in these cases. The recorder never writes the enable bytes of these ids.
 *   UNDECLARED   the place has no id yet: always on, so that its first event gets an id
 *   MUTED        the program has switched the place off: always off
 *   ENDS         the program has switched off a place that ends a span: always on, so that open spans still end
 *   NO_ID        all ids are used up: always on, so that the events of the place are counted as dropped
 */
#define KYMO_POINT_UNDECLARED (KYMO_POINTS_MAX - 1)
#define KYMO_POINT_MUTED (KYMO_POINTS_MAX - 2)
#define KYMO_POINT_ENDS (KYMO_POINTS_MAX - 3)
#define KYMO_POINT_NO_ID (KYMO_POINTS_MAX - 4)

/* As what an event is counted (enum kymo_count_kind of region.h); all others are not. */
#define KYMO_COUNTED_AS(id)                                                         \
	((id) == KYMO_POINT_callback_start         ? KYMO_COUNT_CALLBACK            \
	 : (id) == KYMO_POINT_rcl_publish          ? KYMO_COUNT_PUBLISH             \
	 : (id) == KYMO_POINT_rclcpp_intra_publish ? KYMO_COUNT_PUBLISH_INTRA       \
						   : KYMO_COUNT_NOT)

enum kymo_phase { KYMO_PHASE_RUN, KYMO_PHASE_INIT };

#define KYMO_FIELDS_MAX 16		/* the table needs 8; a process may declare more */

struct kymo_field {
	enum kymo_kind kind;
	const char *name;		/* as recorded */
};

struct kymo_point {
	const char *provider;
	const char *name;		/* event name without provider */
	const char *text;
	enum kymo_phase phase;
	uint16_t from, to; /* KYMO_V() range of tracetools versions whose traces have it */
	uint8_t field_count;		/* recorded fields only */
	struct kymo_field field[KYMO_FIELDS_MAX];
	const char *uri;		/* meaning of a declared event, e.g. "kymo:begin"; NULL in the table */
};

/* Indexed by kymo_point_id; defined in src/base/points.c. The traced process does not link it. */
extern const struct kymo_point kymo_points[KYMO_POINTS_TABLE];

#endif
