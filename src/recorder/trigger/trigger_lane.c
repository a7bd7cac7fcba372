/* SPDX-License-Identifier: Apache-2.0 */
/* The callbacks and spans that are open on a thread or a custom track. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "recorder/trigger/trigger_internal.h"

void trigger_lane_cut(struct trigger_lane *lane, unsigned count)
{
	while (lane->count > count)
		free(lane->open[--lane->count].name);
}

void trigger_lane_reset(struct trigger_lane *lane)
{
	trigger_lane_cut(lane, 0);
}

void trigger_lane_free(struct trigger_lane *lane)
{
	trigger_lane_reset(lane);
	free(lane->open);
	*lane = (struct trigger_lane){ 0 };
}

void trigger_lane_push(struct trigger_lane *lane, const struct trigger_open *open)
{
	if (lane->count == DEPTH_MAX) {
		free(lane->open[0].name);
		memmove(lane->open, lane->open + 1, (DEPTH_MAX - 1) * sizeof *lane->open);
		lane->count--;
	}
	if (!ARRAY_ROOM(lane->open, lane->count, lane->room)) {
		free(open->name);
		return;
	}
	lane->open[lane->count++] = *open;
}

struct trigger_open *trigger_lane_find(struct trigger_lane *lane, uint64_t key)
{
	for (unsigned i = lane->count; i-- > 0;)
		if (lane->open[i].key == key) {
			trigger_lane_cut(lane, i + 1);
			return &lane->open[i];
		}
	return NULL;
}
