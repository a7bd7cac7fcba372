/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CTF 2 as CTF 1.8, see tsdl_write.h: the blocks. Types are in tsdl_write_type.c.
 *
 * What CTF 1.8 has no words for is refused: LEB128, optional fields, wide characters, bits in
 * unusual order, names that are no identifiers, and lengths or choices in another place than CTF
 * 1.8 looks for them. What LTTng writes has none of these.
 */
#include "ctf/tsdl/tsdl_write.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "ctf/tsdl/tsdl_write_internal.h"

static int put_scope(struct tsdl_out *o, const char *key, unsigned scope,
		     const struct ctf_type *type)
{
	int result;

	o->scope = scope;
	for (unsigned i = scope; i < COUNT_OF(o->root); i++)
		o->root[i] = NULL;
	o->root[scope] = type;
	if (!type)
		return 0;
	fprintf(o->to, "\t%s := ", key);
	result = tsdl_put_type(o, key, type);
	fputs(";\n", o->to);
	return result;
}

static int put_trace(struct tsdl_out *o)
{
	fputs("/* CTF 1.8 */\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n", o->to);
	if (o->m->has_uuid) {
		fputs("\tuuid = \"", o->to);
		for (size_t i = 0; i < sizeof o->m->uuid; i++)
			fprintf(o->to, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", o->m->uuid[i]);
		fputs("\";\n", o->to);
	}
	if (put_scope(o, "packet.header", 0, o->m->packet_header))
		return -1;
	fputs("};\nenv {\n", o->to);
	for (uint32_t i = 0; i < o->m->env_count; i++) {
		const struct ctf_env *env = &o->m->env[i];

		fprintf(o->to, "\t%s = ", env->name);
		if (env->text)
			tsdl_put_quoted(o->to, env->text);
		else
			fprintf(o->to, "%" PRId64, env->number);
		fputs(";\n", o->to);
	}
	fputs("};\n", o->to);
	return 0;
}

static int put_clock(struct tsdl_out *o, const struct ctf_clock *clock)
{
	if (!tsdl_is_identifier(clock->name))
		return err_set(o->err, KYMO_EXIT_INPUT, "the id \"%s\" of a clock is no identifier", clock->name);
	fprintf(o->to, "clock {\n\tname = \"%s\";\n", clock->name);
	if (clock->uuid) {
		fputs("\tuuid = ", o->to);
		tsdl_put_quoted(o->to, clock->uuid);
		fputs(";\n", o->to);
	}
	fprintf(o->to, "\tfreq = %" PRIu64 ";\n\toffset_s = %" PRId64 ";\n\toffset = %" PRIu64 ";\n};\n", clock->freq,
		clock->offset_s, clock->offset);
	return 0;
}

static int put_stream(struct tsdl_out *o, const struct ctf_stream_decl *stream)
{
	if (stream->clock && strcmp(stream->clock, o->m->clock_count ? o->m->clock[0].name : ""))
		return err_set(o->err, KYMO_EXIT_INPUT, "its streams have several clocks");
	fprintf(o->to, "stream {\n\tid = %" PRIu64 ";\n", stream->id);
	if (put_scope(o, "packet.context", 1, stream->packet_context) ||
	    put_scope(o, "event.header", 2, stream->event_header) ||
	    put_scope(o, "event.context", 3, stream->event_context))
		return -1;
	fputs("};\n", o->to);
	return 0;
}

static int put_event(struct tsdl_out *o, const struct ctf_event_decl *event)
{
	for (uint32_t i = 0; i < o->m->stream_count; i++) {
		if (o->m->stream[i].id != event->stream_id)
			continue;
		o->root[1] = o->m->stream[i].packet_context;
		o->root[2] = o->m->stream[i].event_header;
		o->root[3] = o->m->stream[i].event_context;
	}
	fputs("event {\n\tname = ", o->to);
	tsdl_put_quoted(o->to, event->name);
	fprintf(o->to, ";\n\tid = %" PRIu64 ";\n\tstream_id = %" PRIu64 ";\n", event->id, event->stream_id);
	if (event->loglevel >= 0)
		fprintf(o->to, "\tloglevel = %d;\n", event->loglevel);
	if (event->uri) {
		fputs("\tmodel.emf.uri = ", o->to);
		tsdl_put_quoted(o->to, event->uri);
		fputs(";\n", o->to);
	}
	if (put_scope(o, "context", 4, event->context) || put_scope(o, "fields", 5, event->fields))
		return -1;
	fputs("};\n", o->to);
	return 0;
}

int tsdl_write(const struct ctf_metadata *metadata, FILE *out, struct kymo_err *err)
{
	struct tsdl_out o = { .m = metadata, .to = out, .err = err };
	int result = put_trace(&o);

	for (uint32_t i = 0; i < metadata->clock_count && !result; i++)
		result = put_clock(&o, &metadata->clock[i]);
	for (uint32_t i = 0; i < metadata->stream_count && !result; i++)
		result = put_stream(&o, &metadata->stream[i]);
	for (uint32_t i = 0; i < metadata->event_count && !result; i++)
		result = put_event(&o, &metadata->event[i]);
	return result;
}
