/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's own model of behaviour: below the track "Behaviour" a track for each activity, each
 * region and each group of states, with a slice for each time that it was. What overlaps gets
 * further rows.
 */
#include "export/perfetto/perfetto_internal.h"

#include "analysis/behaviour/behaviour.h"

/* States of a group are neighbours, and have its name: they share the track of the first one. */
static uint32_t track_index(const struct exporter *exporter, const struct behaviour_what *what)
{
	uint32_t index = what->index;

	while (index && what->state &&
	       behaviours_what(exporter->options->behaviours, index - 1)->name == what->name)
		index--;
	return index;
}

static struct pft_track *row_make(struct exporter *exporter, const char *name,
				  struct pft_track *first)
{
	if (!exporter->behaviour_track)
		exporter->behaviour_track = export_top(exporter, "Behaviour");
	return pft_track_like(
		exporter->pft, exporter->behaviour_track,
		&(struct pft_look){ .name = name, .has_lanes = !first, .lane_of = first });
}

/* A row that is free since @begin_ns; NULL: all are in use. */
static struct pft_track *row_of(struct exporter *exporter,
				const struct behaviour_interval *interval)
{
	struct lanes *lanes = BY_INDEX(exporter, BY_BEHAVIOUR,
				       track_index(exporter, interval->what), struct lanes);
	unsigned i = 0;

	while (lanes && i < LANES_MAX && lanes->track[i] && lanes->end_ns[i] > interval->begin_ns)
		i++;
	if (!lanes || i == LANES_MAX)
		return NULL;
	if (!lanes->track[i])
		lanes->track[i] = row_make(exporter, interval->what->name, lanes->track[0]);
	lanes->end_ns[i] = interval->end_ns ? interval->end_ns : INT64_MAX;
	return lanes->track[i];
}

void export_behaviour(void *context, const struct behaviour_interval *interval)
{
	struct exporter *exporter = context;
	const struct behaviour_what *what = interval->what;
	const bool is_over =
		what->budget_ns && interval->end_ns - interval->begin_ns > what->budget_ns;
	struct pft_track *track = row_of(exporter, interval);
	const struct pft_arg over = { .name = pft_string(exporter->pft, "over_budget_ns"),
				      .kind = PFT_INT,
				      .i = interval->end_ns - interval->begin_ns -
					   what->budget_ns };
	const struct pft_event event = {
		.name = pft_string(exporter->pft, what->state ? what->state : what->name),
		.category = pft_string(exporter->pft, behaviour_kind_name(what->kind)),
		.arg = &over,
		.args = is_over && interval->end_ns,
	};

	if (!track)
		return;
	if (interval->end_ns)
		pft_slice(track, export_time(exporter, interval->begin_ns),
			  export_time(exporter, interval->end_ns), &event);
	else
		pft_begin(track, export_time(exporter, interval->begin_ns), &event);
}
