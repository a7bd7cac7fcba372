/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as columns; see dump_columns.h.
 *
 * Only events of the wanted names are bound, so the reader decodes nothing else. Values go into the
 * columns of their row until the batch is full; then the columns are written one after the other.
 * Strings are mostly the same few: each is in a batch once, and columns have its number.
 */
#include "cli/verbs/dump/dump_columns.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_text.h"

#define BATCH_EVENTS 32768u
#define ROW_EVENTS (BATCH_EVENTS / 8)
#define BATCH_STRINGS 4096u /* half of the hash table */
#define BATCH_TEXT (1u << 20)
#define HASH_SIZE (2 * BATCH_STRINGS)
#define ROWS_MAX UINT16_MAX
#define FIELDS KYMO_CTF_BIND_FIELDS
#define BYTES_MAX 4096u /* of an array that is not text */

struct dump_row {
	const struct kymo_ctf_event_class *class; /* the first one of this name */
	unsigned fields;
	char kind[FIELDS];
	uint32_t count;
	int64_t ns[ROW_EVENTS];
	int32_t vpid[ROW_EVENTS], vtid[ROW_EVENTS], cpu[ROW_EVENTS];
	uint32_t procname[ROW_EVENTS];
	uint64_t value[FIELDS][ROW_EVENTS]; /* of all kinds; strings as numbers */
};

struct columns {
	struct events *events;
	struct dump_columns *done;
	struct dump_row **row;
	struct kymo_ctf_bind *bind;
	unsigned rows, room;
	uint8_t *same; /* by class: bits of fields that have the kind of its row */

	uint16_t order[BATCH_EVENTS];
	uint32_t count;
	char *text; /* strings, one after the other */
	size_t text_size, text_room;
	uint32_t strings, at[BATCH_STRINGS + 16];
	uint32_t hash[HASH_SIZE]; /* number of a string, from 1; 0: free */
	bool failed;
};

/* ---- which events ---- */

/* The letter of a field's type; 0: structures, variants and most arrays, which are left out. */
static char kind_of(const char *type)
{
	if (strncmp(type, "enum ", 5) == 0)
		type += 5;
	if (strcmp(type, "string") == 0)
		return 's';
	if (strchr(type, '['))
		return strncmp(type, "char[", 5) == 0 ? 's'
		       : strncmp(type, "u8[", 3) == 0 ? 'x'
						      : 0;
	if (*type == 'f')
		return 'f';
	return *type == 'i' ? 'i' : *type == 'u' ? 'u' : 0;
}

static bool is_wanted(const struct opt_list *names, const char *name)
{
	for (unsigned i = 0; i < names->count; i++)
		if (!fnmatch(names->item[i], name, 0))
			return true;
	return !names->count;
}

static struct dump_row *row_named(const struct columns *c, const char *name)
{
	for (unsigned i = 0; i < c->rows; i++)
		if (strcmp(c->row[i]->class->name, name) == 0)
			return c->row[i];
	return NULL;
}

static struct dump_row *add_row(struct columns *c, const struct kymo_ctf_event_class *class)
{
	unsigned binds = c->room;
	struct dump_row *row = c->rows < ROWS_MAX && ARRAY_ROOM(c->bind, c->rows, binds) &&
					  ARRAY_ROOM(c->row, c->rows, c->room)
				  ? calloc(1, sizeof(*row))
				  : NULL;
	struct kymo_ctf_bind *bind;

	if (!row)
		return NULL;
	bind = &c->bind[c->rows];
	*bind = (struct kymo_ctf_bind){ .event = class->name };
	row->class = class;
	for (unsigned i = 0; i < class->field_count && row->fields < FIELDS; i++) {
		const char kind = kind_of(class->field[i].type);

		if (!kind)
			continue;
		row->kind[row->fields] = kind;
		bind->field[row->fields++] = class->field[i].name;
	}
	return c->row[c->rows++] = row;
}

/* Classes of one name may differ from trace to trace: a field of another kind is left out there. */
static uint8_t fields_alike(const struct dump_row *row, const struct kymo_ctf_bind *bind,
			    const struct kymo_ctf_event_class *class)
{
	uint8_t same = 0;

	for (unsigned f = 0; f < row->fields; f++)
		for (unsigned i = 0; i < class->field_count; i++)
			if (strcmp(class->field[i].name, bind->field[f]) == 0 &&
			    kind_of(class->field[i].type) == row->kind[f])
				same |= (uint8_t)(1u << f);
	return same;
}

static int choose(struct columns *c, const struct opt_list *names, struct kymo_err *err)
{
	struct kymo_ctf_reader *reader = c->events->reader;
	const unsigned classes = kymo_ctf_class_count(reader);

	c->same = calloc(classes ? classes : 1, 1);
	if (!c->same)
		return err_no_memory(err);
	for (unsigned i = 0; i < classes; i++) {
		const struct kymo_ctf_event_class *class = kymo_ctf_class(reader, i);

		if (is_wanted(names, class->name) && !row_named(c, class->name) &&
		    !add_row(c, class))
			return err_no_memory(err);
	}
	for (unsigned i = 0; i < classes; i++) {
		const struct kymo_ctf_event_class *class = kymo_ctf_class(reader, i);

		for (unsigned r = 0; r < c->rows; r++)
			if (strcmp(c->row[r]->class->name, class->name) == 0)
				c->same[i] = fields_alike(c->row[r], &c->bind[r], class);
	}
	kymo_ctf_only_bound(reader, true);
	return kymo_ctf_bind(reader, c->bind, c->rows, err);
}

static void print_json(struct json_text *json)
{
	(void)fwrite(json->text, 1, json->size, stdout);
	(void)putchar('\n');
	free(json->text);
}

static void print_rows(const struct columns *c)
{
	for (unsigned r = 0; r < c->rows; r++) {
		struct json_text json = { .one_line = true };

		json_text_open(&json, NULL, '{');
		json_text_u64(&json, "row", r);
		json_text_string(&json, "event", c->row[r]->class->name);
		json_text_open(&json, "fields", '{');
		for (unsigned f = 0; f < c->row[r]->fields; f++)
			json_text_string(&json, c->bind[r].field[f],
					 (char[]){ c->row[r]->kind[f], 0 });
		json_text_close(&json, '}');
		json_text_close(&json, '}');
		print_json(&json);
	}
}

/* ---- strings ---- */

static uint32_t string_new(struct columns *c, const char *text, size_t size)
{
	const size_t need = c->text_size + size + 1;

	if (!ARRAY_FIT(c->text, need, c->text_room)) {
		c->failed = true;
		return 0;
	}
	memcpy(c->text + c->text_size, text, size);
	c->text[need - 1] = 0;
	c->at[c->strings] = (uint32_t)c->text_size;
	c->text_size = need;
	return c->strings++;
}

/* The number of a string in this batch. A full batch is printed before the next event. */
static uint32_t string_of(struct columns *c, const char *text, size_t size)
{
	uint32_t hash = 2166136261u, number;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	for (hash %= HASH_SIZE; c->hash[hash]; hash = (hash + 1) % HASH_SIZE) {
		const char *known = c->text + c->at[c->hash[hash] - 1];

		if (strncmp(known, text, size) == 0 && !known[size])
			return c->hash[hash] - 1;
	}
	number = string_new(c, text, size);
	c->hash[hash] = number + 1;
	return number;
}

static uint32_t hex_of(struct columns *c, const uint8_t *byte, size_t size)
{
	static const char digit[] = "0123456789abcdef";
	char text[2 * BYTES_MAX];

	size = size < BYTES_MAX ? size : BYTES_MAX;
	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digit[byte[i] >> 4];
		text[2 * i + 1] = digit[byte[i] & 15];
	}
	return string_of(c, text, 2 * size);
}

/* ---- batches ---- */

static void print_u32(const uint64_t *value, uint32_t count)
{
	uint32_t number[ROW_EVENTS];

	for (uint32_t i = 0; i < count; i++)
		number[i] = (uint32_t)value[i];
	(void)fwrite(number, sizeof(*number), count, stdout);
}

static void print_row(struct dump_row *row)
{
	(void)fwrite(row->ns, sizeof(*row->ns), row->count, stdout);
	(void)fwrite(row->vpid, sizeof(*row->vpid), row->count, stdout);
	(void)fwrite(row->vtid, sizeof(*row->vtid), row->count, stdout);
	(void)fwrite(row->cpu, sizeof(*row->cpu), row->count, stdout);
	(void)fwrite(row->procname, sizeof(*row->procname), row->count, stdout);
	for (unsigned f = 0; f < row->fields; f++) {
		if (row->kind[f] == 's' || row->kind[f] == 'x')
			print_u32(row->value[f], row->count);
		else
			(void)fwrite(row->value[f], sizeof(**row->value), row->count, stdout);
	}
	row->count = 0;
}

static uint64_t row_bytes(const struct dump_row *row)
{
	uint64_t bytes = sizeof(int64_t) + 4 * sizeof(int32_t);

	for (unsigned f = 0; f < row->fields; f++)
		bytes += row->kind[f] == 's' || row->kind[f] == 'x' ? sizeof(uint32_t)
								    : sizeof(uint64_t);
	return bytes * row->count;
}

static void print_head(const struct columns *c)
{
	struct json_text json = { .one_line = true };
	uint64_t bytes = c->count * sizeof(*c->order) + c->text_size;

	json_text_open(&json, NULL, '{');
	json_text_u64(&json, "batch", c->count);
	json_text_open(&json, "rows", '{');
	for (unsigned r = 0; r < c->rows; r++) {
		char number[16];

		if (!c->row[r]->count)
			continue;
		(void)snprintf(number, sizeof(number), "%u", r);
		json_text_u64(&json, number, c->row[r]->count);
		bytes += row_bytes(c->row[r]);
	}
	json_text_close(&json, '}');
	json_text_u64(&json, "strings", c->strings);
	json_text_u64(&json, "string_bytes", c->text_size);
	json_text_u64(&json, "bytes", bytes);
	json_text_close(&json, '}');
	print_json(&json);
}

static void print_batch(struct columns *c)
{
	if (!c->count)
		return;
	print_head(c);
	(void)fwrite(c->order, sizeof(*c->order), c->count, stdout);
	for (unsigned r = 0; r < c->rows; r++)
		if (c->row[r]->count)
			print_row(c->row[r]);
	(void)fwrite(c->text, 1, c->text_size, stdout);
	c->count = c->strings = 0;
	c->text_size = 0;
	memset(c->hash, 0, sizeof(c->hash));
}

static uint64_t value_of(struct columns *c, char kind, const struct kymo_ctf_value *value)
{
	const bool known = value->present;

	if (kind == 's')
		return string_of(c, known && value->bytes ? value->bytes : "",
				 known && value->bytes ? strnlen(value->bytes, value->size) : 0);
	if (kind == 'x')
		return hex_of(c, (const uint8_t *)value->bytes,
			      known && value->bytes ? value->size : 0);
	return known ? value->u : 0;
}

static void add_event(struct columns *c, const struct kymo_ctf_event *event)
{
	struct dump_row *row = c->row[event->bound];
	const uint8_t same = c->same[event->class->index];
	const uint32_t at = row->count++;

	c->order[c->count++] = (uint16_t)event->bound;
	row->ns[at] = event->ns;
	row->vpid[at] = event->vpid;
	row->vtid[at] = event->vtid;
	row->cpu[at] = event->cpu;
	row->procname[at] = string_of(c, event->procname, strlen(event->procname));
	for (unsigned f = 0; f < row->fields; f++)
		row->value[f][at] =
			value_of(c, row->kind[f],
				 same >> f & 1 ? &event->value[f]
					       : &(struct kymo_ctf_value){ .present = 0 });
	if (row->count == ROW_EVENTS || c->count == BATCH_EVENTS || c->strings >= BATCH_STRINGS ||
	    c->text_size >= BATCH_TEXT)
		print_batch(c);
}

static void print_loss(struct columns *c, const struct kymo_ctf_event *event)
{
	const struct events_loss loss = events_loss(c->events, event);

	print_batch(c);
	printf("{\"lost\":%" PRIu64 ",\"packets\":%" PRIu64 ",\"begin_ns\":%" PRId64
	       ",\"end_ns\":%" PRId64 "}\n",
	       event->lost, event->lost_packets, loss.begin_ns, loss.end_ns);
	c->done->lost += event->lost + event->lost_packets;
}

static int print_all(struct columns *c, struct kymo_err *err)
{
	struct kymo_ctf_event event;
	int more;

	print_rows(c);
	while ((more = events_next(c->events, &event, err)) > 0 && !ferror(stdout)) {
		if (event.bound == KYMO_CTF_LOSS) {
			print_loss(c, &event);
		} else if (event.bound >= 0) {
			add_event(c, &event);
			c->done->printed++;
		}
		if (c->failed)
			return err_no_memory(err);
	}
	print_batch(c);
	return more < 0 ? -1 : 0;
}

int dump_columns(struct events *events, const struct opt_list *names, struct dump_columns *done,
		 struct kymo_err *err)
{
	struct columns *c = calloc(1, sizeof(*c));
	int status;

	if (!c)
		return err_no_memory(err);
	c->events = events;
	c->done = done;
	status = choose(c, names, err) ? -1 : print_all(c, err);
	for (unsigned r = 0; r < c->rows; r++)
		free(c->row[r]);
	free(c->row);
	free(c->bind);
	free(c->same);
	free(c->text);
	free(c);
	return status;
}
