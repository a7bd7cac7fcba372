/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the event classes of spans, instants and counters in a trace, with the meaning of their
 * fields, and their names.
 */
#include "analysis/spans/spans_internal.h"
#include "base/array.h"

#include <errno.h>
#include <string.h>

#define NAME_MAX_BYTES 512	/* of a category or name; a longer one is damage */

static uint64_t hash_bytes(uint64_t hash, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return (hash ^ 0xff) * 0x100000001b3ull;
}

#define HASH_BEGIN 0xcbf29ce484222325ull

/* ---- names ---- */

static const struct spans_name *other_names(struct spans *spans);

/* @bounded: the limit SPANS_NAMES_MAX applies to a new name. */
static const struct spans_name *name_sized(struct spans *spans, bool bounded, const char *category,
					   size_t category_size, const char *name, size_t name_size)
{
	uint64_t hash =
		hash_bytes(hash_bytes(HASH_BEGIN, category, category_size), name, name_size);
	struct spans_name *known;
	uint64_t probe = 0;

	while ((known = map_get(&spans->names, hash, probe)) &&
	       (strlen(known->category) != category_size || strlen(known->name) != name_size ||
		memcmp(known->category, category, category_size) != 0 ||
		memcmp(known->name, name, name_size) != 0))
		probe++;
	if (known)
		return known;
	if (bounded && spans->name_count >= SPANS_NAMES_MAX)
		return other_names(spans);
	known = pool_new(&spans->pool, sizeof(*known));
	if (!known)
		goto failed;
	known->category = pool_text(&spans->pool, category, category_size);
	known->name = pool_text(&spans->pool, name, name_size);
	known->index = spans->name_count;
	if (!known->category || !known->name || map_put(&spans->names, hash, probe, known))
		goto failed;
	spans->name_count++;
	return known;
failed:
	spans->out_of_memory = true;
	return NULL;
}

static const struct spans_name *other_names(struct spans *spans)
{
	return name_sized(spans, false, "kymo", strlen("kymo"), "(other names)", strlen("(other names)"));
}

const struct spans_name *spans_name_of(struct spans *spans, const char *category, const char *name)
{
	return name_sized(spans, true, category, strnlen(category, NAME_MAX_BYTES), name,
			  strnlen(name, NAME_MAX_BYTES));
}

/* "category:name_begin"; the recorder adds the suffix. */
static const struct spans_name *declared_name(struct spans *spans, const char *event,
					      enum shape shape)
{
	static const char *const suffix[] = {
		[SHAPE_BEGIN] = "_begin", [SHAPE_END] = "_end", [SHAPE_INSTANT] = "", [SHAPE_COUNTER] = "",
		[SHAPE_POINT] = "",
	};
	const char *colon = strchr(event, ':');
	const char *name = colon ? colon + 1 : event;
	size_t size = strlen(name), cut = strlen(suffix[shape]);

	if (size > cut && strcmp(name + size - cut, suffix[shape]) == 0)
		size -= cut;
	return name_sized(spans, false, event, colon ? (size_t)(colon - event) : 0, name, size);
}

/* ---- the bind table ---- */

static int add_row(struct spans *spans, const char *event)
{
	return ARRAY_ADD(spans->bind, spans->bind_count, spans->bind_room,
			 (struct kymo_ctf_bind){ .event = event })
		       ? 0
		       : -ENOMEM;
}

static int take_model_rows(struct spans *spans)
{
	unsigned count;
	const struct kymo_ctf_bind *rows = model_bind(spans->model, &count);

	if (spans->bind_count)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		if (add_row(spans, rows[i].event))
			return -ENOMEM;
		spans->bind[i] = rows[i];
	}
	spans->model_rows = count;
	return 0;
}

/*
 * The row of events with the name @event, which several traces may have. Return: -1: not an event
 * of programs, or out of memory.
 */
static int row_of(struct spans *spans, const char *event)
{
	uint64_t hash = hash_bytes(HASH_BEGIN, event, strlen(event)), probe = 0;
	uintptr_t row;

	for (unsigned i = 0; i < spans->model_rows; i++)
		if (strcmp(spans->bind[i].event, event) == 0)
			return -1;
	while ((row = (uintptr_t)map_get(&spans->rows, hash, probe)) &&
	       strcmp(spans->bind[row - 1].event, event) != 0)
		probe++;
	if (row)
		return (int)row - 1;
	if (add_row(spans, event) ||
	    map_put(&spans->rows, hash, probe, (void *)(uintptr_t)spans->bind_count)) {
		spans->out_of_memory = true;
		return -1;
	}
	return (int)spans->bind_count - 1;
}

/* The position of a field's value in events of @row; -1: too many fields, or new and @bound. */
static int value_of(struct kymo_ctf_bind *row, const char *field, bool bound)
{
	for (int i = 0; i < KYMO_CTF_BIND_FIELDS; i++) {
		if (!row->field[i] && bound)
			return -1;
		if (!row->field[i])
			row->field[i] = field;
		if (strcmp(row->field[i], field) == 0)
			return i;
	}
	return -1;
}

const struct kymo_ctf_bind *spans_bind(const struct spans *spans, unsigned *count)
{
	*count = spans->bind_count;
	return spans->bind;
}

/* ---- classes ---- */

static bool shape_of(const struct kymo_ctf_event_class *class, enum shape *shape)
{
	static const struct {
		const char *uri, *name;
		enum shape shape;
	} table[] = {
		{ NULL, "kymo:track", SHAPE_TRACK },	/* these three are also points */
		{ NULL, "kymo:thread_name", SHAPE_THREAD_NAME },
		{ NULL, "kymo:realtime", SHAPE_REALTIME },
		{ "kymo:begin", NULL, SHAPE_BEGIN },
		{ "kymo:end", NULL, SHAPE_END },
		{ "kymo:instant", NULL, SHAPE_INSTANT },
		{ "kymo:counter", NULL, SHAPE_COUNTER },
		{ "kymo:point", NULL, SHAPE_POINT },
	};

	for (unsigned i = 0; i < COUNT_OF(table); i++)
		if (table[i].uri ? class->uri && strcmp(class->uri, table[i].uri) == 0 :
				   strcmp(class->name, table[i].name) == 0) {
			*shape = table[i].shape;
			return true;
		}
	return false;
}

/*
 * Derives the kind from the printed type. A field that is neither a number nor a text is not an
 * argument.
 */
static bool kind_of(const char *type, enum spans_kind *kind)
{
	if (strcmp(type, "string") == 0)
		*kind = SPANS_TEXT;
	else if (strchr(type, '['))
		return false;
	else if (*type == 'f')
		*kind = SPANS_DOUBLE;
	else if (*type == 'i')
		*kind = SPANS_SIGNED;
	else if (*type == 'u')
		*kind = strstr(type, "hex") ? SPANS_POINTER : SPANS_UNSIGNED;
	else
		return false;
	return true;
}

/* Checks that @kind is the required type of the field with this special meaning. */
static int special_of(const char *name, enum spans_kind kind)
{
	static const struct {
		const char *name;
		bool is_text;
	} table[SPECIALS] = {
		[SPECIAL_FLOW] = { "flow", false }, [SPECIAL_TRACK] = { "track", false },
		[SPECIAL_AT] = { "at_ns", false }, [SPECIAL_VALUE] = { "value", false },
		[SPECIAL_CATEGORY] = { "category", true }, [SPECIAL_NAME] = { "name", true },
		[SPECIAL_PARENT] = { "parent", false },
	};

	for (int i = 0; i < SPECIALS; i++)
		if (strcmp(name, table[i].name) == 0 && (kind == SPANS_TEXT) == table[i].is_text &&
		    (kind != SPANS_DOUBLE || i == SPECIAL_VALUE))
			return i;
	return -1;
}

static void read_field(struct user_class *user, struct kymo_ctf_bind *row,
		       const struct kymo_ctf_field *field, bool bound)
{
	enum spans_kind kind;
	int special, value;

	if (!kind_of(field->type, &kind))
		return;
	value = value_of(row, field->name, bound);
	if (value < 0)
		return;
	special = special_of(field->name, kind);
	if (special >= 0)
		user->special[special] = (int8_t)value;
	if (special == SPECIAL_VALUE)
		user->value_kind = kind;
	if (special == SPECIAL_TRACK || special == SPECIAL_AT || user->args == SPANS_ARGS_MAX ||
	    (special == SPECIAL_VALUE && user->shape == SHAPE_COUNTER))
		return;
	user->arg[user->args].name = field->name;
	user->arg[user->args].kind = kind;
	user->arg[user->args++].value = (uint8_t)value;
}

/* For kymo_begin_named() and similar: the name is a field of the event. */
static void find_dynamic(struct user_class *user, const char *event)
{
	bool has_name = user->special[SPECIAL_CATEGORY] >= 0 && user->special[SPECIAL_NAME] >= 0;

	switch (user->shape) {
	case SHAPE_BEGIN:
		user->dynamic = has_name && strcmp(event, "kymo:begin_begin") == 0;
		break;
	case SHAPE_END:
		user->dynamic = strcmp(event, "kymo:begin_end") == 0;
		break;
	case SHAPE_INSTANT:
		user->dynamic = has_name && strcmp(event, "kymo:instant") == 0;
		break;
	case SHAPE_COUNTER:
		user->dynamic = has_name && strcmp(event, "kymo:counter") == 0;
		break;
	default:
		break;
	}
	if (!user->dynamic)
		return;
	for (unsigned i = 0; i < user->args; i++)
		if (user->arg[i].value == user->special[SPECIAL_CATEGORY] ||
		    user->arg[i].value == user->special[SPECIAL_NAME])
			user->arg[i--] = user->arg[--user->args];
}

static int keep_class(struct spans *spans, uint32_t index, struct user_class *user)
{
	struct user_class **slot = ARRAY_AT(spans->class, spans->class_count, index);

	if (!slot)
		return -ENOMEM;
	*slot = user;
	return 0;
}

/* @bound: the reader is bound, so that a row has no more fields. */
static int add_class(struct spans *spans, const struct kymo_ctf_event_class *class, bool bound)
{
	struct user_class *user;
	enum shape shape;
	int row;

	if (!shape_of(class, &shape))
		return 0;
	row = row_of(spans, class->name);
	if (row < 0)
		return spans->out_of_memory ? -ENOMEM : 0;
	user = pool_new(&spans->pool, sizeof(*user));
	if (!user)
		return -ENOMEM;
	user->shape = shape;
	user->row = (unsigned)row;
	memset(user->special, -1, sizeof(user->special));
	for (uint32_t i = 0; i < class->field_count; i++)
		read_field(user, &spans->bind[row], &class->field[i], bound);
	find_dynamic(user, class->name);
	if (!user->dynamic && shape <= SHAPE_POINT) {
		user->name = declared_name(spans, class->name, shape);
		if (!user->name)
			return -ENOMEM;
	}
	if (shape == SHAPE_COUNTER && user->special[SPECIAL_VALUE] < 0)
		user->row = SPANS_NO_ROW; /* a counter without a value */
	return keep_class(spans, class->index, user);
}

int spans_class(struct spans *spans, const struct kymo_ctf_event_class *class)
{
	if (take_model_rows(spans))
		return -ENOMEM;
	if (class->index < spans->class_count && spans->class[class->index])
		return 0;	/* already known: a growing trace is attached repeatedly */
	return add_class(spans, class, false);
}

const struct user_class *spans_class_of(struct spans *spans, const struct kymo_ctf_event *event)
{
	const uint32_t index = event->class->index;

	if (index < spans->class_count && spans->class[index])
		return spans->class[index];
	/* Of a later chunk, or another process: a class of this name is bound. */
	if (event->bound < (int)spans->model_rows || event->bound >= (int)spans->bind_count)
		return NULL;
	if (add_class(spans, event->class, true))
		spans->out_of_memory = true;
	return index < spans->class_count ? spans->class[index] : NULL;
}
