/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows below a node for slices that may overlap: runs of timers and services, calls, and goals.
 */
#ifndef KYMO_EXPORT_PERFETTO_LANES_H
#define KYMO_EXPORT_PERFETTO_LANES_H

#include "export/perfetto/perfetto_internal.h"

/* The object that a track belongs to. */
struct perfetto_owner {
	enum entity entity;
	enum by by;
	uint32_t index;
	const struct model_node *node;
	const char *kind, *name;
	int64_t period_ns;		/* of a timer, which has no other name */
};

/**
 * export_lane_begin() - begin a slice on a row of @owner that is free until its end
 * @end_ns: before @begin_ns: not known; INT64_MAX: it stays open
 *
 * Without an end, or without a free row, it is an instant on the first row.
 * Return: the track, for what is within the slice and for its end; NULL: no slice began.
 */
struct pft_track *export_lane_begin(struct exporter *exporter, const struct perfetto_owner *owner,
				    int64_t begin_ns, int64_t end_ns,
				    const struct pft_event *event);

#endif
