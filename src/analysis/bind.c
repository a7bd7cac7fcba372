/* SPDX-License-Identifier: Apache-2.0 */
/* The events and fields the model wants from a reader, and who handles them. */
#include "analysis/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * CARET records the init events and the write under its own provider, with the fields of the
 * original and their true time last.
 */
static const char *const providers[] = { "ros2", "ros2_caret" };
#define PROVIDERS (sizeof(providers) / sizeof(*providers))

static const handler *const tables[] = {
	model_object_handlers, model_flow_handlers, model_intra_handlers, model_run_handlers,
};

static handler handler_of(unsigned point)
{
	unsigned i;

	for (i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (tables[i][point])
			return tables[i][point];
	return NULL;
}

static bool has(const struct model *model, const char *event)
{
	unsigned i;

	for (i = 0; i < model->bind_count; i++)
		if (strcmp(model->bind[i].event, event) == 0)
			return true;
	return false;
}

static void add(struct model *model, const char *provider, const char *name, unsigned point)
{
	const struct kymo_point *p = &kymo_points[point];
	struct ctf_bind *row = &model->bind[model->bind_count];
	struct bound *bound = &model->bound[model->bind_count];
	char event[128];
	unsigned i;

	snprintf(event, sizeof(event), "%s:%s", provider, name);
	/* Of the shapes of one event the first in the table has all fields. */
	if (!handler_of(point) || has(model, event))
		return;
	row->event = model_keep(model, event, strlen(event));
	bound->handle = handler_of(point);
	bound->is_init = p->phase == KYMO_PHASE_INIT;
	for (i = 0; i < p->field_count && i < CTF_BIND_FIELDS; i++)
		row->field[i] = p->field[i].name;
	if (provider == providers[1] && bound->is_init && i < CTF_BIND_FIELDS) {
		row->field[i] = "init_timestamp";
		bound->true_time = i;
	}
	model->bind_count++;
}

int model_bind_build(struct model *model)
{
	size_t rows = KYMO_POINTS_TABLE * PROVIDERS + 1;
	unsigned point, provider;

	model->bind = calloc(rows, sizeof(*model->bind));
	model->bound = calloc(rows, sizeof(*model->bound));
	if (!model->bind || !model->bound)
		return -ENOMEM;
	for (provider = 0; provider < PROVIDERS; provider++)
		for (point = 0; point < KYMO_POINTS_TABLE; point++)
			add(model, providers[provider], kymo_points[point].name, point);
	add(model, providers[1], "dds_write", KYMO_POINT_rmw_publish);
	return model->out_of_memory ? -ENOMEM : 0;
}

const struct ctf_bind *model_bind(const struct model *model, unsigned *count)
{
	*count = model->bind_count;
	return model->bind;
}
