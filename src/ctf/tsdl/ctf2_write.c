/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CTF 1.8 as CTF 2, see ctf2_write.h. All field types of CTF 1.8 exist in CTF 2 with the same
 * bytes, so packets stay as they are. Here are the fragments; ctf2_write_class.c has their fields.
 */
#include "ctf/tsdl/ctf2_write_internal.h"

/* Takes @fragment. @result: not 0: it is not to be written. */
static int put(FILE *out, json_object *fragment, int result)
{
	if (!result)
		fprintf(out, "\x1e%s\n", json_object_to_json_string_ext(fragment, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(fragment);
	return result;
}

static int put_preamble(const struct ctf2_out *o, FILE *out)
{
	json_object *fragment = ctf2_object_of("preamble"), *uuid;

	ctf2_add_number(fragment, "version", 2);
	if (o->m->has_uuid) {
		uuid = json_object_new_array();
		for (size_t i = 0; i < sizeof o->m->uuid; i++)
			json_object_array_add(uuid, json_object_new_int(o->m->uuid[i]));
		json_object_object_add(fragment, "uuid", uuid);
	}
	return put(out, fragment, 0);
}

static int put_trace(struct ctf2_out *o, FILE *out)
{
	json_object *fragment = ctf2_object_of("trace-class"), *environment = json_object_new_object();

	for (uint32_t i = 0; i < o->m->env_count; i++)
		json_object_object_add(environment, o->m->env[i].name,
				       o->m->env[i].text
					       ? json_object_new_string(o->m->env[i].text)
					       : json_object_new_int64(o->m->env[i].number));
	json_object_object_add(fragment, "environment", environment);
	return put(out, fragment, ctf2_add_scope(o, fragment, "packet-header-field-class", 0, o->m->packet_header));
}

static int put_clock(FILE *out, const struct ctf_clock *clock)
{
	json_object *fragment = ctf2_object_of("clock-class"), *offset = json_object_new_object();

	ctf2_add_text(fragment, "id", clock->name);
	ctf2_add_text(fragment, "name", clock->name);
	if (clock->uuid)
		ctf2_add_text(fragment, "uid", clock->uuid);
	ctf2_add_number(fragment, "frequency", clock->freq);
	ctf2_add_text(fragment, "origin", "unix-epoch");
	json_object_object_add(
		offset, "seconds",
		json_object_new_int64(clock->offset_s + (int64_t)(clock->offset / clock->freq)));
	ctf2_add_number(offset, "cycles", clock->offset % clock->freq);
	json_object_object_add(fragment, "offset-from-origin", offset);
	return put(out, fragment, 0);
}

/* A clock that a field in @type is mapped to, or NULL. */
static const char *mapped_clock(const struct ctf_type *type)
{
	const char *found = type ? type->clock : NULL;

	for (uint32_t i = 0; type && i < type->member_count && !found; i++)
		found = mapped_clock(type->member[i].type);
	return found;
}

static int put_stream(struct ctf2_out *o, FILE *out, const struct ctf_stream_decl *stream)
{
	json_object *fragment = ctf2_object_of("data-stream-class");
	const char *clock = mapped_clock(stream->event_header);
	int result;

	if (!clock)
		clock = mapped_clock(stream->packet_context);
	if (!clock && o->m->clock_count == 1)
		clock = o->m->clock[0].name;
	ctf2_add_number(fragment, "id", stream->id);
	if (clock)
		ctf2_add_text(fragment, "default-clock-class-id", clock);
	result = ctf2_add_scope(o, fragment, "packet-context-field-class", 1, stream->packet_context) ||
		 ctf2_add_scope(o, fragment, "event-record-header-field-class", 2, stream->event_header) ||
		 ctf2_add_scope(o, fragment, "event-record-common-context-field-class", 3, stream->event_context);
	return put(out, fragment, result ? -1 : 0);
}

static int put_event(struct ctf2_out *o, FILE *out, const struct ctf_event_decl *event)
{
	json_object *fragment = ctf2_object_of("event-record-class"), *own = json_object_new_object(), *all;
	int result;

	for (uint32_t i = 0; i < o->m->stream_count; i++) {
		if (o->m->stream[i].id != event->stream_id)
			continue;
		o->scope[1] = o->m->stream[i].packet_context;
		o->scope[2] = o->m->stream[i].event_header;
		o->scope[3] = o->m->stream[i].event_context;
	}
	ctf2_add_text(fragment, "name", event->name);
	ctf2_add_number(fragment, "id", event->id);
	ctf2_add_number(fragment, "data-stream-class-id", event->stream_id);
	if (event->loglevel >= 0)
		json_object_object_add(own, "log-level", json_object_new_int(event->loglevel));
	if (event->uri)
		ctf2_add_text(own, "emf-uri", event->uri);
	if (json_object_object_length(own)) {
		all = json_object_new_object();
		json_object_object_add(all, "kymo", own);
		json_object_object_add(fragment, "attributes", all);
	} else {
		json_object_put(own);
	}
	result = ctf2_add_scope(o, fragment, "specific-context-field-class", 4, event->context) ||
		 ctf2_add_scope(o, fragment, "payload-field-class", 5, event->fields);
	return put(out, fragment, result ? -1 : 0);
}

int ctf2_write(const struct ctf_metadata *metadata, FILE *out, struct kymo_err *err)
{
	static const struct ctf_stream_decl nothing;
	struct ctf2_out o = { .m = metadata, .err = err };
	int result = put_preamble(&o, out);

	if (!result)
		result = put_trace(&o, out);
	for (uint32_t i = 0; i < metadata->clock_count && !result; i++)
		result = put_clock(out, &metadata->clock[i]);
	if (!metadata->stream_count && !result)
		result = put_stream(&o, out, &nothing);
	for (uint32_t i = 0; i < metadata->stream_count && !result; i++)
		result = put_stream(&o, out, &metadata->stream[i]);
	return result ? result : ctf2_write_events(metadata, out, err);
}

int ctf2_write_events(const struct ctf_metadata *metadata, FILE *out, struct kymo_err *err)
{
	struct ctf2_out o = { .m = metadata, .scope = { metadata->packet_header }, .err = err };
	int result = 0;

	for (uint32_t i = 0; i < metadata->event_count && !result; i++)
		result = put_event(&o, out, &metadata->event[i]);
	return result;
}
