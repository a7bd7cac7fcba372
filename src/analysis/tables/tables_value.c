/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a column of a row, as defined in tables.def. */
#include "analysis/tables/tables_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- values that need more than a member ---- */

const char *tables_outcome(const struct message_row *row)
{
	static const char *const names[] = {
		[OUTCOME_OVERWRITTEN] = "overwritten", [OUTCOME_CLEARED] = "cleared",
		[OUTCOME_UNTAKEN] = "untaken", [OUTCOME_TAKEN] = "taken",
	};

	return row->message.callback ? "callback" : names[row->outcome];
}

static const char *hex(const void *bytes, uint32_t count, char *buffer, unsigned size)
{
	const unsigned char *byte = bytes;
	unsigned used = 0;

	for (uint32_t i = 0; bytes && i < count && used + 3 < size; i++, used += 2)
		snprintf(buffer + used, size - used, "%02x", byte[i]);
	buffer[used] = 0;
	return buffer;
}

const char *tables_hex(const struct point_row *row, char *buffer, unsigned size)
{
	return hex(row->text, row->text_size, buffer, size);
}

const char *tables_guid(const uint8_t guid[16], char *buffer, unsigned size)
{
	return hex(guid, 16, buffer, size);
}

const char *tables_gid(const struct model_gid *gid, char *buffer, unsigned size)
{
	return hex(gid->bytes, gid->size, buffer, size);
}

const char *tables_call_name(const struct model_call *call)
{
	return call->service ? call->service->name : call->client ? call->client->name : NULL;
}

const struct model_topic *tables_callback_topic(const struct model_callback *callback)
{
	return callback->subscription ? callback->subscription->topic : NULL;
}

const struct model_node *tables_message_from(const struct model_message *message)
{
	return message->publisher ? message->publisher->node : NULL;
}

const struct model_node *tables_message_to(const struct model_message *message)
{
	return message->subscription ? message->subscription->node : NULL;
}

int64_t tables_clock_error(const struct model_message *message)
{
	int64_t error = KYMO_CTF_ERROR_UNKNOWN;

	if (message->publish_thread && message->take_thread)
		error = model_clock_error(message->publish_thread->process,
					  message->take_thread->process, message->take_ns);
	return error == KYMO_CTF_ERROR_UNKNOWN ? NONE : error;
}

/* Between hosts, a difference that is not larger than the error of the clocks has no meaning. */
int64_t tables_apart(const struct model_message *message, int64_t from_ns, int64_t to_ns)
{
	int64_t error = tables_clock_error(message), ns = tables_between(from_ns, to_ns);

	return error == NONE || (error && ns != NONE && ns <= error) ? NONE : ns;
}

int64_t tables_between(int64_t from_ns, int64_t to_ns)
{
	return from_ns && to_ns ? to_ns - from_ns : NONE;
}

int64_t tables_way(const struct model_thread *from, const struct model_thread *to, int64_t from_ns,
		   int64_t to_ns)
{
	int64_t error = from && to ? model_clock_error(from->process, to->process, to_ns)
				   : KYMO_CTF_ERROR_UNKNOWN;
	int64_t ns = tables_between(from_ns, to_ns);

	if (error == KYMO_CTF_ERROR_UNKNOWN || ns == NONE || (error && ns <= error))
		return NONE;
	return ns > 0 ? ns : 0;
}

int64_t tables_latency(const struct model_message *message)
{
	return tables_apart(message, message->publish_ns, message->callback_ns);
}

int64_t tables_dds(const struct model_message *message, enum model_dds_part part)
{
	struct model_dds_cut cut;

	if (message->is_intra || !message->send_ns || !message->take_ns)
		return NONE;
	model_dds_cut(&cut, &message->dds, message->send_ns, message->take_ns);
	for (unsigned i = 0; i < cut.pieces; i++)
		if (cut.piece[i].part == part)
			return part == MODEL_DDS_NETWORK
				       ? tables_apart(message, cut.piece[i].from_ns,
						      cut.piece[i].to_ns)
				       : cut.piece[i].to_ns - cut.piece[i].from_ns;
	return NONE;
}

int64_t tables_age(const struct model_message *message)
{
	int64_t age_ns;

	return model_message_age(message, &age_ns) ? age_ns : NONE;
}

double tables_counter(const struct spans_arg *value)
{
	switch (value->kind) {
	case SPANS_DOUBLE:
		return value->f;
	case SPANS_SIGNED:
		return (double)value->i;
	case SPANS_TEXT:
		return 0;
	default:
		return (double)value->u;
	}
}

uint64_t tables_thread_process(const struct model_thread *thread)
{
	return thread ? thread->process->index + 1 : 0;
}

int64_t tables_pid(const struct model_thread *thread)
{
	return thread ? thread->process->pid : NONE;
}

int64_t tables_tid(const struct model_thread *thread)
{
	return thread ? thread->tid : NONE;
}

const struct model_thread *tables_any_thread(const struct any_row *row)
{
	const struct model *model = row->scan->tables->model;

	return model ? model_event_thread_known(model, row->event) : NULL;
}

const char *tables_any_json(const struct any_row *row)
{
	struct tables_scan *scan = row->scan;
	struct kymo_ctf_event event = *row->event;
	FILE *out;
	size_t length;

	if (scan->tables->clock)
		event.ns = simclock_stamp(scan->tables->clock, event.ns);
	free(scan->json);
	scan->json = NULL;
	out = open_memstream(&scan->json, &scan->json_size);
	if (!out)
		return NULL;
	kymo_ctf_print_event_json(scan->reader, &event, out);
	if (fclose(out) || !scan->json)
		return NULL;
	length = strlen(scan->json);
	if (length && scan->json[length - 1] == '\n')
		scan->json[length - 1] = 0;
	return scan->json;
}

/* ---- the value of a column ---- */

static void set_integer(struct tables_value *value, int64_t integer)
{
	value->is = integer == NONE ? TABLES_VALUE_NULL : TABLES_VALUE_INTEGER;
	value->integer = integer;
}

/* An id, an address or a point in time is never 0: 0 means NULL. */
static void set_nonzero(struct tables_value *value, int64_t integer)
{
	set_integer(value, integer ? integer : NONE);
}

static void set_real(struct tables_value *value, double real)
{
	value->is = TABLES_VALUE_REAL;
	value->real = real;
}

static void set_text(struct tables_value *value, const char *text)
{
	value->is = text && *text ? TABLES_VALUE_TEXT : TABLES_VALUE_NULL;
	value->text = text;
}

#define SET_ID(value) set_nonzero(v, (int64_t)(value))
#define SET_COUNT(value) set_integer(v, (int64_t)(value))
#define SET_NUMBER(value) set_integer(v, (int64_t)(value))
#define SET_BOOL(value) set_integer(v, (value) ? 1 : 0)
#define SET_TIME(value) set_nonzero(v, value)
#define SET_WALL(value) set_nonzero(v, value)
#define SET_DURATION(value) set_integer(v, value)
#define SET_ADDRESS(value) set_nonzero(v, (int64_t)(value))
#define SET_REAL(value) set_real(v, value)
#define SET_TEXT(value) set_text(v, value)

#define TO(object) ((object) ? (uint64_t)(object)->index + 1 : 0)
#define NODE_NAME(node) ((node) ? (node)->full_name : NULL)
#define TOPIC_NAME(topic) ((topic) ? (topic)->name : NULL)
#define SCRATCH v->scratch, sizeof(v->scratch)

#define OBJECTS(name, type, ...)							\
	enum { first_##name = __COUNTER__ + 1 };					\
	static void value_##name(const void *row, unsigned column, struct tables_value *v) \
	{										\
		const struct type *it = row;						\
		enum { first = first_##name };						\
		switch (column) {
#define ROWS(name, type, ...) OBJECTS(name, type)
#define COLUMN(name, type, value, text)							\
		case __COUNTER__ - first:						\
			SET_##type(value);						\
			break;
#define END										\
		default:								\
			v->is = TABLES_VALUE_NULL;					\
		}									\
	}
#include "analysis/tables/tables.def"
#undef OBJECTS
#undef ROWS
#undef COLUMN
#undef END

static void (*const values[TABLES])(const void *row, unsigned column, struct tables_value *v) = {
#define OBJECTS(name, ...) [TABLE_##name] = value_##name,
#define ROWS(name, ...) [TABLE_##name] = value_##name,
#define COLUMN(...)
#define END
#include "analysis/tables/tables.def"
};

void tables_elapsed(const struct tables_row *row, unsigned column, struct tables_value *value)
{
	values[row->table](row->it, column, value);
}

void tables_value(const struct tables_row *row, unsigned column, struct tables_value *value)
{
	enum tables_type type;

	values[row->table](row->it, column, value);
	if (!row->clock || value->is != TABLES_VALUE_INTEGER)
		return;
	type = tables_table[row->table].column[column].type;
	if (type == TABLES_TIME)
		value->integer = simclock_stamp(row->clock, value->integer);
	else if (type == TABLES_WALL)
		value->integer = simclock_at(row->clock, value->integer);
}

unsigned tables_row_table(const struct tables_row *row)
{
	return row->table;
}
