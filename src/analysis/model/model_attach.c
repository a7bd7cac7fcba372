/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects the model to a reader; without this file, the model accepts events from any source.
 *
 * A trace may declare any type under the names of ROS 2's events. A field that is read as text, gid
 * or list must have that type in the payload of each class with that name, because a number must
 * not be used as a pointer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model_internal.h"

static bool is_array(const char *type)
{
	return strchr(type, '[') != NULL;
}

/* Does the type @type of a field (see struct kymo_ctf_field) match tracepoints.def? */
static bool fits(enum kymo_kind kind, const char *type)
{
	switch (kind) {
	case KYMO_KIND_STR:
	case KYMO_KIND_VERSION:
		return strcmp(type, "string") == 0;
	case KYMO_KIND_GID16:
	case KYMO_KIND_GID24:
		return is_array(type) && (strncmp(type, "u8", 2) == 0 || strncmp(type, "i8", 2) == 0);
	case KYMO_KIND_PTRS:
		return is_array(type) && strchr(type, '[') == strrchr(type, '[') &&
		       (strncmp(type, "u64", 3) == 0 || strncmp(type, "i64", 3) == 0);
	default:
		return !is_array(type) && (strchr("ui", *type) != NULL || strncmp(type, "enum", 4) == 0);
	}
}

static bool is_pointer(enum kymo_kind kind)
{
	return kind == KYMO_KIND_STR || kind == KYMO_KIND_VERSION || kind == KYMO_KIND_GID16 ||
	       kind == KYMO_KIND_GID24 || kind == KYMO_KIND_PTRS;
}

static const struct kymo_ctf_field *field_named(const struct kymo_ctf_event_class *class,
						const char *name)
{
	for (uint32_t i = 0; i < class->field_count; i++)
		if (strcmp(class->field[i].name, name) == 0)
			return &class->field[i];
	return NULL;
}

/*
 * Checks row @at of the bind table against a class with its name. Return: whether its events can be
 * handled.
 */
static bool check_class(struct model *model, unsigned at, const struct kymo_ctf_event_class *class)
{
	const struct kymo_point *point = &kymo_points[model->bound[at].point];
	struct kymo_ctf_bind *row = &model->bind[at];

	for (unsigned i = 0; i < KYMO_CTF_BIND_FIELDS && row->field[i]; i++) {
		/* After the point's own fields comes init_timestamp. */
		enum kymo_kind kind = i < point->field_count ? point->field[i].kind : KYMO_KIND_U64;
		const struct kymo_ctf_field *field = field_named(class, row->field[i]);

		if (field && !fits(kind, field->type))
			return false;
		/* A context may have a field of that name with any type. */
		if (!field && is_pointer(kind))
			row->field[i] = "";
	}
	return true;
}

static void check_classes(struct model *model, const struct kymo_ctf_reader *reader)
{
	for (unsigned i = 0; i < model->bind_count; i++)
		for (unsigned k = 0; k < kymo_ctf_class_count(reader); k++) {
			const struct kymo_ctf_event_class *class = kymo_ctf_class(reader, k);

			if (strcmp(class->name, model->bind[i].event) != 0 ||
			    check_class(model, i, class))
				continue;
			memset(model->bind[i].field, 0, sizeof(model->bind[i].field));
			model->bound[i].handle = NULL;
			model->facts.odd_event = model->bind[i].event;
			break;
		}
}

/* Converts the shifts of a trace's clock to the scale of the reader's times. */
static int set_clock(struct model *model, uint32_t trace, const struct kymo_ctf_trace_info *info,
		     const struct kymo_ctf_reader *reader)
{
	struct kymo_ctf_shift *points = info->shifts ? calloc(info->shifts, sizeof(*points)) : NULL;
	int status = 0;

	if (info->shifts && !points)
		return -1;
	for (unsigned i = 0; i < info->shifts; i++) {
		int64_t at = info->shift[i].ns + info->shift[i].by_ns,
			error = info->shift[i].error_ns;
		int64_t ns = kymo_ctf_mapped(reader, at), before, after;

		if (error && error != KYMO_CTF_ERROR_UNKNOWN) {
			before = ns - kymo_ctf_mapped(reader, at - error);
			after = kymo_ctf_mapped(reader, at + error) - ns;
			error = before > after ? before : after;
			error = error > 0 ? error : 1;
		}
		points[i] = (struct kymo_ctf_shift){ .ns = ns, .error_ns = error };
	}
	status = model_set_clock(model, trace, points, info->shifts);
	free(points);
	return status;
}

int model_learn_trace(struct model *model, uint32_t trace)
{
	const struct kymo_ctf_trace_info *info;

	if (!model->reader || trace >= kymo_ctf_trace_count(model->reader))
		return model_set_host(model, trace, "", 0);
	info = kymo_ctf_trace(model->reader, trace);
	return model_set_host(model, trace, info->hostname, info->clock_offset_ns) ||
			       set_clock(model, trace, info, model->reader)
		       ? -ENOMEM
		       : 0;
}

int model_attach(struct model *model, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	const struct kymo_ctf_bind *bind;
	unsigned count, i;

	model->reader = reader;
	for (i = 0; i < kymo_ctf_trace_count(reader); i++)
		if (model_learn_trace(model, i))
			return err_no_memory(err);
	if (model_read_pauses(model, reader))
		return err_no_memory(err);
	check_classes(model, reader);
	bind = model_bind(model, &count);
	return kymo_ctf_bind(reader, bind, count, err);
}
