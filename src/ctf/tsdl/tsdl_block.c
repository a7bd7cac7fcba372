/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of TSDL: trace, env, clock, stream, event. */
#include "ctf/tsdl/tsdl.h"

#include <stdlib.h>
#include <string.h>

/* A block under construction; the parts that belong to its kind are used. */
struct block {
	struct tsdl_token at;
	struct ctf_stream_decl stream;
	struct ctf_event_decl event;
	struct ctf_clock clock;
	bool has_id, has_order;
};

typedef int (*block_value)(struct tsdl *p, struct block *b, const char *key,
			   const struct tsdl_value *v);
typedef int (*block_type)(struct tsdl *p, struct block *b, const char *key,
			  const struct tsdl_token *at, const struct ctf_type *type);

static int number(struct tsdl *p, const struct tsdl_value *v, uint64_t *out)
{
	if (v->kind != TSDL_INTEGER || v->negative)
		return tsdl_error(p, &v->token, "expected a number of 0 or more");
	*out = v->number;
	return 0;
}

static int must_be_struct(struct tsdl *p, const struct tsdl_token *at, const struct ctf_type *type)
{
	if (type->kind != CTF_KIND_STRUCT)
		return tsdl_error(p, at, "expected a struct");
	return 0;
}

/* ---- trace ---- */

static int parse_uuid(const char *text, uint8_t out[16])
{
	unsigned digits = 0;

	for (; *text; text++) {
		static const char all[] = "0123456789abcdef0123456789ABCDEF";
		const char *found = strchr(all, *text);

		if (*text == '-')
			continue;
		if (!found || digits == 32)
			return -1;
		out[digits / 2] = (uint8_t)(out[digits / 2] << 4 | ((found - all) & 15));
		digits++;
	}
	return digits == 32 ? 0 : -1;
}

static int trace_value(struct tsdl *p, struct block *b, const char *key, const struct tsdl_value *v)
{
	uint64_t version = 0;

	if (!strcmp(key, "major") || !strcmp(key, "minor")) {
		if (number(p, v, &version))
			return -1;
		if (!strcmp(key, "major") && version != 1)
			return tsdl_error(p, &v->token, "this is CTF %llu; kymo reads CTF 1.8",
					  (unsigned long long)version);
	} else if (!strcmp(key, "uuid")) {
		if (!v->text || parse_uuid(v->text, p->metadata->uuid))
			return tsdl_error(p, &v->token, "expected a UUID of 32 hexadecimal digits");
		p->metadata->has_uuid = true;
	} else if (!strcmp(key, "byte_order")) {
		if (v->text && !strcmp(v->text, "le"))
			p->metadata->order = CTF_ORDER_LE;
		else if (v->text && (!strcmp(v->text, "be") || !strcmp(v->text, "network")))
			p->metadata->order = CTF_ORDER_BE;
		else
			return tsdl_error(p, &v->token, "expected le or be as byte order of the trace");
		b->has_order = true;
	}
	return 0;
}

static int trace_type(struct tsdl *p, struct block *b, const char *key,
		      const struct tsdl_token *at, const struct ctf_type *type)
{
	(void)b;
	if (strcmp(key, "packet.header"))
		return 0;
	p->metadata->packet_header = type;
	return must_be_struct(p, at, type);
}

static int trace_end(struct tsdl *p, struct block *b)
{
	if (!b->has_order && p->metadata->order == CTF_ORDER_NATIVE)
		return tsdl_error(p, &b->at, "the trace block has no byte_order");
	return 0;
}

/* ---- env ---- */

static int env_value(struct tsdl *p, struct block *b, const char *key, const struct tsdl_value *v)
{
	struct ctf_metadata *m = p->metadata;

	(void)b;
	m->env = arena_grow(&m->arena, m->env, m->env_count, sizeof *m->env);
	if (!m->env)
		return tsdl_no_memory(p);
	m->env[m->env_count++] = (struct ctf_env) { key, v->text, (int64_t)v->number };
	return 0;
}

/* ---- clock ---- */

static int clock_value(struct tsdl *p, struct block *b, const char *key, const struct tsdl_value *v)
{
	if (!strcmp(key, "name")) {
		if (!v->text)
			return tsdl_error(p, &v->token, "expected the name of the clock");
		b->clock.name = v->text;
	} else if (!strcmp(key, "uuid")) {
		b->clock.uuid = v->text;
	} else if (!strcmp(key, "freq")) {
		if (number(p, v, &b->clock.freq))
			return -1;
		if (!b->clock.freq)
			return tsdl_error(p, &v->token, "a clock cannot have a frequency of 0");
	} else if (!strcmp(key, "offset_s")) {
		if (v->kind != TSDL_INTEGER)
			return tsdl_error(p, &v->token, "expected seconds");
		b->clock.offset_s = (int64_t)v->number;
	} else if (!strcmp(key, "offset")) {
		return number(p, v, &b->clock.offset);
	}
	return 0;
}

static int clock_end(struct tsdl *p, struct block *b)
{
	struct ctf_metadata *m = p->metadata;

	if (!b->clock.name)
		return tsdl_error(p, &b->at, "this clock has no name");
	for (uint32_t i = 0; i < m->clock_count; i++)
		if (!strcmp(m->clock[i].name, b->clock.name))
			return tsdl_error(p, &b->at, "two clocks are called \"%s\"", b->clock.name);
	m->clock = arena_grow(&m->arena, m->clock, m->clock_count, sizeof *m->clock);
	if (!m->clock)
		return tsdl_no_memory(p);
	m->clock[m->clock_count++] = b->clock;
	return 0;
}

/* ---- stream ---- */

static int stream_value(struct tsdl *p, struct block *b, const char *key, const struct tsdl_value *v)
{
	return strcmp(key, "id") ? 0 : number(p, v, &b->stream.id);
}

static int stream_type(struct tsdl *p, struct block *b, const char *key,
		       const struct tsdl_token *at, const struct ctf_type *type)
{
	if (!strcmp(key, "event.header"))
		b->stream.event_header = type;
	else if (!strcmp(key, "event.context"))
		b->stream.event_context = type;
	else if (!strcmp(key, "packet.context"))
		b->stream.packet_context = type;
	else
		return 0;
	return must_be_struct(p, at, type);
}

static int stream_end(struct tsdl *p, struct block *b)
{
	struct ctf_metadata *m = p->metadata;

	m->stream = arena_grow(&m->arena, m->stream, m->stream_count, sizeof *m->stream);
	if (!m->stream)
		return tsdl_no_memory(p);
	m->stream[m->stream_count++] = b->stream;
	return 0;
}

/* ---- event ---- */

static int event_value(struct tsdl *p, struct block *b, const char *key, const struct tsdl_value *v)
{
	if (!strcmp(key, "name")) {
		if (!v->text)
			return tsdl_error(p, &v->token, "expected the name of the event");
		b->event.name = v->text;
	} else if (!strcmp(key, "id")) {
		return number(p, v, &b->event.id);
	} else if (!strcmp(key, "stream_id")) {
		return number(p, v, &b->event.stream_id);
	} else if (!strcmp(key, "loglevel") && v->kind == TSDL_INTEGER) {
		b->event.loglevel = (int32_t)v->number;
	} else if (!strcmp(key, "model.emf.uri") && v->text) {
		b->event.uri = v->text;
	}
	return 0;
}

static int event_type(struct tsdl *p, struct block *b, const char *key,
		      const struct tsdl_token *at, const struct ctf_type *type)
{
	if (!strcmp(key, "fields"))
		b->event.fields = type;
	else if (!strcmp(key, "context"))
		b->event.context = type;
	else
		return 0;
	return must_be_struct(p, at, type);
}

static int event_end(struct tsdl *p, struct block *b)
{
	struct ctf_metadata *m = p->metadata;

	if (!b->event.name)
		return tsdl_error(p, &b->at, "this event has no name");
	m->event = arena_grow(&m->arena, m->event, m->event_count, sizeof *m->event);
	if (!m->event)
		return tsdl_no_memory(p);
	m->event[m->event_count++] = b->event;
	return 0;
}

static int ignored_value(struct tsdl *p, struct block *b, const char *key, const struct tsdl_value *v)
{
	(void)p, (void)b, (void)key, (void)v;
	return 0;
}

static int ignored_type(struct tsdl *p, struct block *b, const char *key,
			const struct tsdl_token *at, const struct ctf_type *type)
{
	(void)p, (void)b, (void)key, (void)at, (void)type;
	return 0;
}

static int ignored_end(struct tsdl *p, struct block *b)
{
	(void)p, (void)b;
	return 0;
}

static const struct block_kind {
	const char *name;
	block_value value;
	block_type type;
	int (*end)(struct tsdl *p, struct block *b);
} block_kinds[] = {
	{ "trace", trace_value, trace_type, trace_end },
	{ "env", env_value, ignored_type, ignored_end },
	{ "clock", clock_value, ignored_type, clock_end },
	{ "stream", stream_value, stream_type, stream_end },
	{ "event", event_value, event_type, event_end },
	{ "callsite", ignored_value, ignored_type, ignored_end },
};

static int block_item(struct tsdl *p, const struct block_kind *kind, struct block *b)
{
	const struct ctf_type *type;
	struct tsdl_value key, value;
	struct tsdl_token at;

	if (tsdl_is(p, "typealias") || tsdl_is(p, "typedef") || tsdl_type_starts(p))
		return tsdl_declaration(p);
	if (p->token.kind != TSDL_NAME)
		return tsdl_expected(p, "a name or }");
	if (tsdl_value(p, &key))
		return -1;
	if (tsdl_is_mark(p, TSDL_ASSIGN_TYPE)) {
		if (tsdl_next(p))
			return -1;
		at = p->token;
		if (tsdl_type(p, &type) || kind->type(p, b, key.text, &at, type))
			return -1;
	} else {
		if (tsdl_expect(p, '=', "= or :=") || tsdl_value(p, &value) ||
		    kind->value(p, b, key.text, &value))
			return -1;
	}
	return tsdl_expect(p, ';', ";");
}

static int block(struct tsdl *p, const struct block_kind *kind)
{
	struct block b = { .at = p->token, .event.loglevel = -1, .clock.freq = 1000000000 };
	struct tsdl_scope scope;

	if (tsdl_next(p) || tsdl_scope_open(p, &scope) || tsdl_expect(p, '{', "{"))
		return -1;
	while (!tsdl_is_mark(p, '}'))
		if (block_item(p, kind, &b))
			return -1;
	tsdl_scope_close(p);
	if (tsdl_next(p) || kind->end(p, &b))
		return -1;
	return tsdl_expect(p, ';', "; behind the block");
}

static int root_item(struct tsdl *p)
{
	for (unsigned i = 0; i < sizeof block_kinds / sizeof block_kinds[0]; i++)
		if (tsdl_is(p, block_kinds[i].name))
			return block(p, &block_kinds[i]);
	if (tsdl_is(p, "typealias") || tsdl_is(p, "typedef") || tsdl_type_starts(p))
		return tsdl_declaration(p);
	return tsdl_expected(p, "trace, env, clock, stream, event or a declaration");
}

int tsdl_blocks(struct tsdl *p)
{
	while (p->token.kind != TSDL_END) {
		if (tsdl_is_mark(p, ';')) {
			if (tsdl_next(p))
				return -1;
		} else if (root_item(p)) {
			return -1;
		}
	}
	return 0;
}
