/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a trace for CARET. See caret_export.h. What is read, and what is written for it:
 *
 *   ros2:X, ros2_caret:X   an init event   ros2_caret:X, its fields, init_timestamp
 *   ros2:rcl_init          its version     left out; and caret_init, once for each process
 *   ros2:rmw_publish                       ros2_caret:dds_write, ros2_caret:dds_bind_addr_to_stamp
 *   others of the table                    unchanged
 */
#include "caret/export/caret_export_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- writing ---- */

static int failed(int rc, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "cannot write the trace: %s; its files are incomplete", strerror(-rc));
}

static int flush(struct caret_export *export, struct kymo_err *err)
{
	struct ctf_packet packet = {
		.begin = export->begin, .end = export->end, .discarded = export->done->lost,
		.events = export->bytes, .size = export->used,
	};
	int rc = export->used ? ctf_out_packet(export->out, &packet) : 0;

	export->done->bytes += export->used;
	export->used = 0;
	return rc ? failed(rc, err) : 0;
}

static void put(struct caret_export *export, const void *bytes, size_t size)
{
	memcpy(export->bytes + export->used, bytes, size);
	export->used += size;
}

static void put_number(struct caret_export *export, uint64_t value, size_t size)
{
	put(export, &value, size);
}

static void put_text(struct caret_export *export, const struct kymo_ctf_value *value)
{
	const char *text = value->present ? value->bytes : "";
	size_t size = strnlen(text, TEXT_MAX);

	put(export, text, size);
	put_number(export, 0, 1);
}

static void put_gid(struct caret_export *export, const struct kymo_ctf_value *value, size_t width)
{
	size_t size = !value->present ? 0 : value->size < width ? value->size : width;

	put(export, value->bytes, size);
	memset(export->bytes + export->used, 0, width - size);
	export->used += width - size;
}

static void put_value(struct caret_export *export, enum kymo_kind kind,
		      const struct kymo_ctf_value *value)
{
	int32_t truth = value->u != 0;

	switch (kind) {
	case KYMO_KIND_STR:
		put_text(export, value);
		break;
	case KYMO_KIND_GID16:
		put_gid(export, value, 16);
		break;
	case KYMO_KIND_GID24:
		put_gid(export, value, 24);
		break;
	case KYMO_KIND_BOOL:
		put(export, &truth, sizeof truth);
		break;
	default:
		put_number(export, value->u, 8);
	}
}

/* Writes an event of @row at the time and place of @event, with @value. */
static int put_event(struct caret_export *export, unsigned row, const struct kymo_ctf_event *event,
		     const struct kymo_ctf_value *value, struct kymo_err *err)
{
	const struct kymo_point *point = &export->row[row].point;
	const uint64_t ns = (uint64_t)event->ns - (uint64_t) export->offset;
	const uint16_t id = (uint16_t)ID_OF(row);
	char procname[CTF_PROCNAME_SIZE] = "";
	int rc = ctf_writer_declare_own(export->writer, CTF_CLASS_INIT, id, point);

	if (rc)
		return failed(rc, err);
	if (!export->used)
		export->begin = ns;
	export->end = ns;
	(void)snprintf(procname, sizeof procname, "%.*s", (int)sizeof procname - 1, event->procname);
	put(export, &id, sizeof id);
	put(export, &ns, sizeof ns);
	put(export, &event->init_ns, sizeof event->init_ns);
	put(export, &event->vpid, sizeof event->vpid);
	put(export, &event->vtid, sizeof event->vtid);
	put(export, procname, sizeof procname);
	for (unsigned i = 0; i < point->field_count; i++)
		put_value(export, point->field[i].kind, &value[i]);
	export->done->events++;
	return export->used >= PACKET_BYTES ? flush(export, err) : 0;
}

static struct kymo_ctf_value number(uint64_t u)
{
	return (struct kymo_ctf_value){ .u = u, .present = 1 };
}

static int put_caret_init(struct caret_export *export, const struct kymo_ctf_event *event,
			  struct kymo_err *err)
{
	struct caret_process *process = caret_process_of(export, event);
	struct kymo_ctf_value value[2];

	if (!process)
		return err_no_memory(err);
	if (process->told)
		return 0;
	process->told = true;
	export->done->processes++;
	value[0] = number((uint64_t)event->ns - (uint64_t) export->offset);
	value[1] = (struct kymo_ctf_value){ .bytes = process->distribution, .present = 1 };
	return put_event(export, export->init_row, event, value, err);
}

/* The value of the field @name. */
static struct kymo_ctf_value named(const struct caret_row *row, const struct kymo_ctf_event *event,
				   const char *name)
{
	for (unsigned i = 0; i < row->point.field_count; i++)
		if (!strcmp(row->point.field[i].name, name))
			return event->value[row->from[i]];
	return (struct kymo_ctf_value){ .present = 0 };
}

/* rmw_publish(rmw_publisher_handle, message, timestamp); before Iron only message. */
static int put_write(struct caret_export *export, const struct caret_row *row,
		     const struct kymo_ctf_event *event, struct kymo_err *err)
{
	const struct caret_row *write = &export->row[export->write_row];
	const struct kymo_ctf_value stamp[2] = { named(row, event, "message"), named(row, event, "timestamp") };
	struct kymo_ctf_value value[KYMO_FIELDS_MAX];

	for (unsigned i = 0; i < write->point.field_count; i++)
		value[i] = named(row, event, write->point.field[i].name);
	if (put_event(export, export->write_row, event, value, err))
		return -1;
	if (!stamp[1].u)
		return 0;
	export->done->stamps++;
	return put_event(export, export->stamp_row, event, stamp, err);
}

static int take(struct caret_export *export, const struct kymo_ctf_event *event,
		struct kymo_err *err)
{
	const struct caret_row *row = &export->row[event->bound];
	struct kymo_ctf_value value[KYMO_FIELDS_MAX];
	unsigned i = 0;

	if (put_caret_init(export, event, err))
		return -1;
	if (kymo_points[row->id].phase == KYMO_PHASE_RUN && !strcmp(row->point.name, "rmw_publish"))
		return put_write(export, row, event, err);
	for (; i < row->point.field_count; i++)
		value[i] = event->value[row->from[i]];
	if (row->point.phase == KYMO_PHASE_INIT && row->id != KYMO_POINT_caret_init)
		value[i - 1] = row->true_time >= 0 && event->value[row->true_time].present
				       ? event->value[row->true_time]
				       : number(event->init_ns ? event->init_ns
							       : (uint64_t)event->ns -
									 (uint64_t) export->offset);
	export->done->stamps += row->id == KYMO_POINT_dds_bind_addr_to_stamp;
	export->done->groups += row->id == KYMO_POINT_add_callback_group ||
				row->id == KYMO_POINT_add_callback_group_static_executor ||
				row->id == KYMO_POINT_callback_group_to_executor_entity_collector;
	return put_event(export, (unsigned)event->bound, event, value, err);
}

/* ---- the whole ---- */

static int begin(struct caret_export *export, const char *to, struct kymo_err *err)
{
	const struct kymo_ctf_trace_info *first = kymo_ctf_trace(export->reader, 0);
	struct ctf_trace_desc desc = {
		.name = "caret",
		.hostname = first->hostname,
		.boot_id = "",
		.clock_offset_ns = first->clock_offset_ns,
		.created_s = first->clock_offset_ns / 1000000000,
		.uid = geteuid(),
		.version_minor = 1,
	};

	for (unsigned i = 1; i < kymo_ctf_trace_count(export->reader); i++)
		if (strcmp(kymo_ctf_trace(export->reader, i)->hostname, first->hostname))
			return err_set(err, KYMO_EXIT_INPUT, "the traces are from several hosts (%s, %s), and CARET needs a directory "
				       "for each; pass the directory of one of them", first->hostname,
				       kymo_ctf_trace(export->reader, i)->hostname);
	export->offset = first->clock_offset_ns;
	if (kymo_ctf_stream_count(export->reader))
		desc.created_s +=
			(int64_t)(kymo_ctf_stream(export->reader, 0)->begin_ns / 1000000000);
	if (caret_find_processes(export, err))
		return -1;
	caret_add_rows(export);
	if (kymo_ctf_bind(export->reader, export->bind, export->rows, err) ||
	    ctf_writer_create(to, &desc, &export->writer, err))
		return -1;
	export->out = ctf_out_create(export->writer, CTF_CLASS_INIT, "caret_0");
	return export->out ? 0 : err_no_memory(err);
}

static int write_all(struct caret_export *export, struct kymo_err *err)
{
	struct kymo_ctf_event event;
	int more;

	while ((more = kymo_ctf_next(export->reader, &event, err)) > 0) {
		if (event.bound == KYMO_CTF_LOSS)
			export->done->lost += event.lost;
		else if (event.bound >= 0 && take(export, &event, err))
			return -1;
	}
	return more ? more : flush(export, err);
}

int caret_export(struct kymo_ctf_reader *reader, const char *to, struct caret_exported *done,
		 struct kymo_err *err)
{
	struct caret_export *export = calloc(1, sizeof *export);
	const struct map_slot *slot;
	size_t at = 0;
	int rc;

	*done = (struct caret_exported){ 0 };
	if (!export)
		return err_no_memory(err);
	export->reader = reader;
	export->done = done;
	rc = begin(export, to, err);
	if (rc == 0)
		rc = write_all(export, err);
	if (rc == 0 && !done->events)
		rc = err_set(err, KYMO_EXIT_INPUT, "the trace has no events of ROS 2");
	ctf_writer_close(export->writer);
	while ((slot = map_next(&export->process, &at)))
		free(slot->value);
	map_free(&export->process);
	free(export);
	return rc;
}
