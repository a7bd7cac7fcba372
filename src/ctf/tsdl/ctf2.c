/* SPDX-License-Identifier: Apache-2.0 */
/* The fragments of CTF 2's metadata, see ctf2.h. Those of unknown type, and unknown properties, are
 * ignored. */
#include "ctf/tsdl/ctf2.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"

/* JSON in JSON. A structure in a structure is three levels: object, list of members, member. */
#define JSON_DEPTH (4 * CTF_DEPTH_MAX)

int ctf2_error(struct ctf2 *p, const char *format, ...)
{
	char why[400];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(why, sizeof why, format, args);
	va_end(args);
	return err_set(p->err, KYMO_EXIT_INPUT, "%s: fragment %u (%s): %s", p->file, p->fragment, p->kind, why);
}

int ctf2_no_memory(struct ctf2 *p)
{
	return ctf2_error(p, "the metadata needs too much memory");
}

/* ---- properties ---- */

static const char *json_kind(json_type type)
{
	return type == json_type_object ? "an object" : type == json_type_array ? "a list" :
	       type == json_type_string ? "a text" : "a whole number";
}

int ctf2_get(struct ctf2 *p, json_object *object, const char *key, json_type type,
	     json_object **value)
{
	if (!json_object_object_get_ex(object, key, value)) {
		*value = NULL;
		return 0;
	}
	if (!json_object_is_type(*value, type))
		return ctf2_error(p, "\"%s\" is not %s", key, json_kind(type));
	return 0;
}

int ctf2_text(struct ctf2 *p, json_object *object, const char *key, bool required, const char **out)
{
	json_object *value;

	if (ctf2_get(p, object, key, json_type_string, &value))
		return -1;
	if (!value)
		return required ? ctf2_error(p, "\"%s\" is missing", key) : 0;
	*out = arena_text(&p->metadata->arena, json_object_get_string(value),
			  (size_t)json_object_get_string_len(value));
	return *out ? 0 : ctf2_no_memory(p);
}

int ctf2_unsigned(struct ctf2 *p, json_object *object, const char *key, bool required,
		  uint64_t *out)
{
	json_object *value;

	if (ctf2_get(p, object, key, json_type_int, &value))
		return -1;
	if (!value)
		return required ? ctf2_error(p, "\"%s\" is missing", key) : 0;
	if (json_object_get_int64(value) < 0)
		return ctf2_error(p, "\"%s\" is negative", key);
	*out = json_object_get_uint64(value);
	return 0;
}

int ctf2_signed(struct ctf2 *p, json_object *object, const char *key, int64_t *out)
{
	json_object *value;

	if (ctf2_get(p, object, key, json_type_int, &value))
		return -1;
	if (value)
		*out = json_object_get_int64(value);
	return 0;
}

/* The structure of a scope. */
static int scope(struct ctf2 *p, json_object *object, const char *key, const struct ctf_type **type)
{
	if (ctf2_type(p, object, key, false, type))
		return -1;
	if (*type && (*type)->kind != CTF_KIND_STRUCT)
		return ctf2_error(p, "\"%s\" is not a structure", key);
	return 0;
}

/* ---- fragments ---- */

static int preamble(struct ctf2 *p, json_object *fragment)
{
	struct ctf_metadata *m = p->metadata;
	json_object *list;
	uint64_t version = 0;

	if (p->fragment != 1)
		return ctf2_error(p, "only the first fragment can be a preamble");
	if (ctf2_unsigned(p, fragment, "version", true, &version))
		return -1;
	if (version != 2)
		return ctf2_error(p, "this is CTF %llu; kymo reads CTF 1.8 and CTF 2", (unsigned long long)version);
	if (ctf2_get(p, fragment, "extensions", json_type_object, &list))
		return -1;
	if (list && json_object_object_length(list))
		return ctf2_error(p, "the trace uses an extension of CTF 2 (%.100s), and kymo knows none",
				  json_object_to_json_string(list));
	if (ctf2_get(p, fragment, "uuid", json_type_array, &list))
		return -1;
	if (list && json_object_array_length(list) != sizeof m->uuid)
		return ctf2_error(p, "\"uuid\" is not a list of 16 numbers");
	for (size_t i = 0; list && i < sizeof m->uuid; i++)
		m->uuid[i] = (uint8_t)json_object_get_int(json_object_array_get_idx(list, i));
	m->has_uuid = list != NULL;
	return 0;
}

static int alias(struct ctf2 *p, json_object *fragment)
{
	struct ctf2_alias new = { 0 };

	if (ctf2_text(p, fragment, "name", true, &new.name) ||
	    ctf2_type(p, fragment, "field-class", true, &new.type))
		return -1;
	for (uint32_t i = 0; i < p->alias_count; i++)
		if (!strcmp(p->alias[i].name, new.name))
			return ctf2_error(p, "two aliases are called \"%s\"", new.name);
	if (CTF2_ROOM(p, p->alias, p->alias_count))
		return -1;
	p->alias[p->alias_count++] = new;
	return 0;
}

static int trace_class(struct ctf2 *p, json_object *fragment)
{
	struct ctf_metadata *m = p->metadata;
	json_object *environment;

	if (scope(p, fragment, "packet-header-field-class", &m->packet_header) ||
	    ctf2_get(p, fragment, "environment", json_type_object, &environment))
		return -1;
	if (!environment)
		return 0;
	json_object_object_foreach(environment, key, value)
	{
		struct ctf_env new = { .name = arena_text(&m->arena, key, strlen(key)) };

		if (json_object_is_type(value, json_type_string))
			new.text = arena_text(&m->arena, json_object_get_string(value),
					      (size_t)json_object_get_string_len(value));
		else
			new.number = json_object_get_int64(value);
		if (!new.name || (json_object_is_type(value, json_type_string) && !new.text) ||
		    CTF2_ROOM(p, m->env, m->env_count))
			return ctf2_no_memory(p);
		m->env[m->env_count++] = new;
	}
	return 0;
}

static int clock_class(struct ctf2 *p, json_object *fragment)
{
	struct ctf_metadata *m = p->metadata;
	struct ctf_clock new = { .freq = 0 };
	json_object *offset;

	if (ctf2_text(p, fragment, "id", true, &new.name) || ctf2_text(p, fragment, "uid", false, &new.uuid) ||
	    ctf2_unsigned(p, fragment, "frequency", true, &new.freq) ||
	    ctf2_get(p, fragment, "offset-from-origin", json_type_object, &offset))
		return -1;
	if (!new.freq)
		return ctf2_error(p, "a clock cannot have a frequency of 0");
	if (offset && (ctf2_signed(p, offset, "seconds", &new.offset_s) ||
		       ctf2_unsigned(p, offset, "cycles", false, &new.offset)))
		return -1;
	for (uint32_t i = 0; i < m->clock_count; i++)
		if (!strcmp(m->clock[i].name, new.name))
			return ctf2_error(p, "two clocks have the id \"%s\"", new.name);
	if (CTF2_ROOM(p, m->clock, m->clock_count))
		return -1;
	m->clock[m->clock_count++] = new;
	return 0;
}

static int stream_class(struct ctf2 *p, json_object *fragment)
{
	struct ctf_metadata *m = p->metadata;
	struct ctf_stream_decl new = { 0 };

	if (ctf2_unsigned(p, fragment, "id", false, &new.id) ||
	    ctf2_text(p, fragment, "default-clock-class-id", false, &new.clock) ||
	    scope(p, fragment, "packet-context-field-class", &new.packet_context) ||
	    scope(p, fragment, "event-record-header-field-class", &new.event_header) ||
	    scope(p, fragment, "event-record-common-context-field-class", &new.event_context) ||
	    CTF2_ROOM(p, m->stream, m->stream_count))
		return -1;
	m->stream[m->stream_count++] = new;
	return 0;
}

/* What tracers say of an event beside its fields: each has a namespace of its own for it. */
static int attributes(struct ctf2 *p, json_object *fragment, struct ctf_event_decl *event)
{
	json_object *all;

	if (ctf2_get(p, fragment, "attributes", json_type_object, &all))
		return -1;
	if (!all)
		return 0;
	json_object_object_foreach(all, namespace, own)
	{
		json_object *level;

		(void)namespace;
		if (!json_object_is_type(own, json_type_object))
			continue;
		if (json_object_object_get_ex(own, "log-level", &level) && json_object_is_type(level, json_type_int))
			event->loglevel = json_object_get_int(level);
		if (json_object_object_get_ex(own, "emf-uri", &level) && json_object_is_type(level, json_type_string) &&
		    ctf2_text(p, own, "emf-uri", false, &event->uri))
			return -1;
	}
	return 0;
}

static int event_class(struct ctf2 *p, json_object *fragment)
{
	struct ctf_metadata *m = p->metadata;
	struct ctf_event_decl new = { .name = "(no name)", .loglevel = -1 };

	if (ctf2_text(p, fragment, "name", false, &new.name) || ctf2_unsigned(p, fragment, "id", false, &new.id) ||
	    ctf2_unsigned(p, fragment, "data-stream-class-id", false, &new.stream_id) ||
	    scope(p, fragment, "specific-context-field-class", &new.context) ||
	    scope(p, fragment, "payload-field-class", &new.fields) || attributes(p, fragment, &new) ||
	    CTF2_ROOM(p, m->event, m->event_count))
		return -1;
	m->event[m->event_count++] = new;
	return 0;
}

static const struct {
	const char *type;
	int (*read)(struct ctf2 *p, json_object *fragment);
} fragments[] = {
	{ "preamble", preamble },	    { "field-class-alias", alias },
	{ "trace-class", trace_class },	    { "clock-class", clock_class },
	{ "data-stream-class", stream_class }, { "event-record-class", event_class },
};

static int read_fragment(struct ctf2 *p, json_object *fragment)
{
	json_object *type;

	if (!json_object_is_type(fragment, json_type_object))
		return ctf2_error(p, "it is not an object");
	if (!json_object_object_get_ex(fragment, "type", &type) || !json_object_is_type(type, json_type_string))
		return ctf2_error(p, "\"type\" is missing");
	p->kind = json_object_get_string(type);
	if (p->fragment == 1 && strcmp(p->kind, "preamble"))
		return ctf2_error(p, "the first fragment is not a preamble");
	for (size_t i = 0; i < COUNT_OF(fragments); i++)
		if (!strcmp(p->kind, fragments[i].type))
			return fragments[i].read(p, fragment);
	return 0;
}

/* One fragment without its separator. Return: as ctf2_parse(). */
static int parse_fragment(struct ctf2 *p, json_tokener *tokener, const char *text, size_t size)
{
	enum json_tokener_error why;
	json_object *fragment;
	int result;

	json_tokener_reset(tokener);
	fragment = json_tokener_parse_ex(tokener, text, (int)size);
	why = json_tokener_get_error(tokener);
	if (why == json_tokener_continue) {
		(void)ctf2_error(p, "the file ends within it");
		return 1;
	}
	if (!fragment)
		return ctf2_error(p, "byte %zu: %s", json_tokener_get_parse_end(tokener), json_tokener_error_desc(why));
	result = read_fragment(p, fragment);
	p->kind = "JSON";
	json_object_put(fragment);
	return result;
}

int ctf2_parse(const char *text, size_t size, const char *file, struct ctf_metadata *metadata,
	       struct kymo_err *err)
{
	struct ctf2 p = { .metadata = metadata, .file = file, .kind = "JSON", .err = err };
	json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH);
	const char *end = text + size;
	int result = 0;

	if (!tokener)
		return err_no_memory(err);
	metadata->version = 2;
	metadata->order = CTF_ORDER_LE;
	while (text < end && !result) {
		const char *begin = ++text;
		const char *next = memchr(begin, CTF2_BEGIN, (size_t)(end - begin));

		text = next ? next : end;
		if ((size_t)(text - begin) == strspn(begin, " \t\r\n") && begin < text)
			continue;
		p.fragment++;
		result = parse_fragment(&p, tokener, begin, (size_t)(text - begin));
		if (result > 0 && text < end)
			result = -1;
		if (result > 0 && p.fragment == 1)
			metadata->order = CTF_ORDER_NATIVE; /* nothing can be read with it */
	}
	json_tokener_free(tokener);
	return result;
}
