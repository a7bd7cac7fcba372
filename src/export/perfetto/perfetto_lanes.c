/* SPDX-License-Identifier: Apache-2.0 */
/* Rows below a node; see perfetto_lanes.h. */
#include "export/perfetto/perfetto_lanes.h"

#include <stdio.h>

#define LABEL_MAX 512

static struct pft_track *lane_make(struct exporter *exporter, const struct perfetto_owner *owner,
				   struct pft_track *first)
{
	char name[LABEL_MAX], period[32];
	struct pft_look look = { .name = name, .has_lanes = !first, .lane_of = first };

	snprintf(period, sizeof(period), "%g ms", (double)owner->period_ns / 1e6);
	snprintf(name, sizeof(name), "%s %s %s", export_node_name(owner->node), owner->kind,
		 owner->name ? owner->name : period);
	return export_entity(exporter, owner->node, owner->entity, owner->index, &look);
}

/* A row of @owner that is free from @begin_ns to @end_ns. Return: NULL: all are in use, or out of
 * memory. */
static struct pft_track *lane(struct exporter *exporter, const struct perfetto_owner *owner,
			      int64_t begin_ns, int64_t end_ns)
{
	struct lanes *lanes = BY_INDEX(exporter, owner->by, owner->index, struct lanes);
	unsigned i = 0;

	while (lanes && i < LANES_MAX && lanes->track[i] && lanes->end_ns[i] > begin_ns)
		i++;
	if (!lanes || i == LANES_MAX)
		return NULL;
	if (!lanes->track[i])
		lanes->track[i] = lane_make(exporter, owner, lanes->track[0]);
	lanes->end_ns[i] = end_ns;
	return lanes->track[i];
}

struct pft_track *export_lane_begin(struct exporter *exporter, const struct perfetto_owner *owner,
				    int64_t begin_ns, int64_t end_ns, const struct pft_event *event)
{
	struct pft_track *track =
		end_ns >= begin_ns ? lane(exporter, owner, begin_ns, end_ns) : NULL;
	struct lanes *lanes;

	if (track) {
		pft_begin(track, export_time(exporter, begin_ns), event);
		return track;
	}
	lanes = BY_INDEX(exporter, owner->by, owner->index, struct lanes);
	if (!lanes)
		return NULL;
	if (!lanes->track[0])
		lanes->track[0] = lane_make(exporter, owner, NULL);
	pft_instant(lanes->track[0], export_time(exporter, begin_ns), event);
	return NULL;
}
