/* SPDX-License-Identifier: Apache-2.0 */
/* The events, fields and processes of a trace, for CARET. */
#include "caret/export/caret_export_internal.h"
#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the rows ---- */

/* Whether any trace has the field: versions of tracetools differ, and so do CARET's. */
static bool has_field(const struct kymo_ctf_reader *reader, const char *event, const char *field)
{
	for (unsigned i = 0; i < kymo_ctf_class_count(reader); i++) {
		const struct kymo_ctf_event_class *class = kymo_ctf_class(reader, i);

		for (uint32_t k = 0; !strcmp(class->name, event) && k < class->field_count; k++)
			if (!strcmp(class->field[k].name, field))
				return true;
	}
	return false;
}

static bool is_written(const struct kymo_point *point)
{
	for (unsigned i = 0; i < point->field_count; i++)
		if (point->field[i].kind == KYMO_KIND_PTRS)
			return false;		/* CARET has none */
	return true;
}

/*
 * Adds a row: table row @id is written when @provider's event is read. @made_of: it is also written
 * for that event, with the fields that both have; "": it is also written for others, with all
 * fields.
 */
static void add_row(struct caret_export *export, unsigned id, const char *provider,
		    const char *made_of)
{
	const struct kymo_point *point = &kymo_points[id];
	struct caret_row *row = &export->row[export->rows];
	struct kymo_ctf_bind *bind = &export->bind[export->rows];
	unsigned values = 0;

	*row = (struct caret_row){ .id = id, .true_time = -1, .point = *point };
	(void)snprintf(row->name, sizeof row->name, "%s:%s", provider, point->name);
	for (unsigned i = 0; i < export->rows; i++)
		if (!strcmp(export->row[i].name, row->name))
			return; /* another class of the same event, which has all fields */
	*bind = (struct kymo_ctf_bind){ .event = row->name };
	row->point.field_count = 0;
	for (unsigned i = 0; i < point->field_count && values < KYMO_CTF_BIND_FIELDS; i++) {
		if (!(made_of &&
		      (!*made_of || has_field(export->reader, made_of, point->field[i].name))) &&
		    !has_field(export->reader, row->name, point->field[i].name))
			continue;
		bind->field[values] = point->field[i].name;
		if (point->field[i].kind != KYMO_KIND_VERSION) {
			row->from[row->point.field_count] = (uint8_t)values;
			row->point.field[row->point.field_count++] = point->field[i];
		}
		values++;
	}
	if (point->phase == KYMO_PHASE_INIT) {
		row->point.provider = "ros2_caret";
		if (has_field(export->reader, row->name, "init_timestamp") && values < KYMO_CTF_BIND_FIELDS) {
			row->true_time = (int)values;
			bind->field[values] = "init_timestamp";
		}
		if (id != KYMO_POINT_caret_init)
			row->point.field[row->point.field_count++] =
				(struct kymo_field){ KYMO_KIND_I64, "init_timestamp" };
	}
	export->rows++;
}

void caret_add_rows(struct caret_export *export)
{
	export->init_row = export->rows;
	add_row(export, KYMO_POINT_caret_init, "ros2_caret", "");
	export->stamp_row = export->rows;
	add_row(export, KYMO_POINT_dds_bind_addr_to_stamp, "ros2_caret", "");
	export->write_row = export->rows;
	add_row(export, KYMO_POINT_dds_write, "ros2_caret", "ros2:rmw_publish");
	for (unsigned id = 0; id < KYMO_POINTS_TABLE; id++) {
		if (!is_written(&kymo_points[id]))
			continue;
		add_row(export, id, kymo_points[id].provider, NULL);
		if (kymo_points[id].phase == KYMO_PHASE_INIT)
			add_row(export, id, "ros2_caret", NULL);
	}
}

/* ---- processes ---- */

/* The distribution of a trace without a version, as CARET's own traces: guessed from its event
 * classes. */
static const char *distribution_by_events(const struct kymo_ctf_reader *reader)
{
	static const char *const jazzy[][2] = {
		{ "ros2:rmw_publish", "timestamp" }, { "ros2_caret:dds_write", "timestamp" },
		{ "ros2_caret:executor_entity_collector_to_executor", "executor_addr" },
	};

	for (unsigned i = 0; i < COUNT_OF(jazzy); i++)
		if (has_field(reader, jazzy[i][0], jazzy[i][1]))
			return "jazzy";
	return has_field(reader, "ros2:rclcpp_ring_buffer_enqueue", "buffer") ||
	       has_field(reader, "ros2_caret:rclcpp_construct_ring_buffer", "buffer") ? "iron" : "humble";
}

static const char *distribution_of(const struct caret_export *export,
				   const struct kymo_ctf_value *version)
{
	unsigned major = 0, minor = 0;

	if (!version->present || sscanf(version->bytes, "%3u.%3u", &major, &minor) < 1)
		return distribution_by_events(export->reader);
	if (major * 100 + minor < 501)
		return "humble";
	if (major < 8)
		return "iron";
	return minor < 5 && major == 8 ? "jazzy" : minor < 7 && major == 8 ? "kilted" : "rolling";
}

struct caret_process *caret_process_of(struct caret_export *export,
				       const struct kymo_ctf_event *event)
{
	struct caret_process *process = map_get(&export->process, (uint32_t)event->vpid, 0);

	if (process)
		return process;
	process = calloc(1, sizeof *process);
	if (!process || map_put(&export->process, (uint32_t)event->vpid, 0, process)) {
		free(process);
		return NULL;
	}
	process->distribution = distribution_by_events(export->reader);
	return process;
}

/* caret_init may come before the event that has the distribution: so this pass comes first. */
int caret_find_processes(struct caret_export *export, struct kymo_err *err)
{
	const struct kymo_ctf_bind bind[] = { { "ros2:rcl_init", { "version" } }, { "ros2_caret:caret_init", { "distribution" } } };
	struct caret_process *process;
	struct kymo_ctf_event event;
	int more;

	kymo_ctf_only_bound(export->reader, true);
	if (kymo_ctf_bind(export->reader, bind, 2, err))
		return -1;
	while ((more = kymo_ctf_next(export->reader, &event, err)) > 0) {
		if (event.bound < 0)
			continue;
		process = caret_process_of(export, &event);
		if (!process)
			return err_no_memory(err);
		if (event.bound)
			process->told = true;	/* by the trace itself */
		else
			process->distribution = distribution_of(export, &event.value[0]);
	}
	return more;
}
