/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of TSDL: trace, env, clock, stream, event. A block such as
 *
 *   event { id = 3; name = "ros2:rcl_init"; fields := struct { ... }; };
 *
 * is collected in a struct block, by the table keys[]. At its end it is checked and added to the
 * metadata.
 */
#include "base/array.h"
#include "ctf/tsdl/tsdl.h"

#include <string.h>

/* A block under construction; only the parts that belong to its kind are used. */
struct block {
	const struct block_kind *kind;
	struct tsdl_token at;
	struct ctf_stream_decl stream;
	struct ctf_event_decl event;
	struct ctf_clock clock;
	const struct ctf_type *packet_header;
	bool has_order;
};

static int number(struct tsdl *p, const struct tsdl_value *v, uint64_t *out)
{
	if (v->kind != TSDL_INTEGER || v->negative)
		return tsdl_error(p, &v->token, "expected a number of 0 or more");
	*out = v->number;
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
			return tsdl_error(p, &v->token, "this is CTF %llu in TSDL; kymo reads CTF 1.8 and CTF 2",
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

static int trace_end(struct tsdl *p, struct block *b)
{
	if (!b->has_order && p->metadata->order == CTF_ORDER_NATIVE)
		return tsdl_error(p, &b->at, "the trace block has no byte_order");
	if (b->packet_header)
		p->metadata->packet_header = b->packet_header;
	return 0;
}

/* ---- env, clock, stream, event ---- */

static int env_value(struct tsdl *p, struct block *b, const char *key, const struct tsdl_value *v)
{
	struct ctf_metadata *m = p->metadata;

	(void)b;
	if (TSDL_ROOM(p, m->env, m->env_count))
		return -1;
	m->env[m->env_count++] = (struct ctf_env) { key, v->text, (int64_t)v->number };
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
	if (TSDL_ROOM(p, m->clock, m->clock_count))
		return -1;
	m->clock[m->clock_count++] = b->clock;
	return 0;
}

static int stream_end(struct tsdl *p, struct block *b)
{
	struct ctf_metadata *m = p->metadata;

	if (TSDL_ROOM(p, m->stream, m->stream_count))
		return -1;
	m->stream[m->stream_count++] = b->stream;
	return 0;
}

static int event_end(struct tsdl *p, struct block *b)
{
	struct ctf_metadata *m = p->metadata;

	if (!b->event.name)
		return tsdl_error(p, &b->at, "this event has no name");
	if (TSDL_ROOM(p, m->event, m->event_count))
		return -1;
	m->event[m->event_count++] = b->event;
	return 0;
}

static const struct block_kind {
	const char *name;
	/* Values with a rule of their own; 0 for those that mean nothing. NULL: keys[] has all. */
	int (*value)(struct tsdl *p, struct block *b, const char *key, const struct tsdl_value *v);
	int (*end)(struct tsdl *p,
		   struct block *b); /* check the block and keep it; NULL: it is ignored */
} block_kinds[] = {
	{ "trace", trace_value, trace_end },
	{ "env", env_value, NULL },
	{ "clock", NULL, clock_end },
	{ "stream", NULL, stream_end },
	{ "event", NULL, event_end },
	{ "callsite", NULL, NULL },
};

/* ---- "key = value;" and "key := type;" ---- */

enum key_kind {
	KEY_TEXT,
	KEY_NUMBER,
	KEY_STRUCT,
	KEY_NAME,
	KEY_FREQUENCY,
	KEY_SECONDS,
	KEY_LOGLEVEL
};

/* The keys that are stored as they are. All others are ignored: tracers add keys of their own. */
static const struct key {
	const char *block, *name;
	enum key_kind kind;
	size_t offset;			/* in struct block */
} keys[] = {
	{ "trace", "packet.header", KEY_STRUCT, offsetof(struct block, packet_header) },
	{ "clock", "name", KEY_NAME, offsetof(struct block, clock.name) },
	{ "clock", "uuid", KEY_TEXT, offsetof(struct block, clock.uuid) },
	{ "clock", "freq", KEY_FREQUENCY, offsetof(struct block, clock.freq) },
	{ "clock", "offset_s", KEY_SECONDS, offsetof(struct block, clock.offset_s) },
	{ "clock", "offset", KEY_NUMBER, offsetof(struct block, clock.offset) },
	{ "stream", "id", KEY_NUMBER, offsetof(struct block, stream.id) },
	{ "stream", "event.header", KEY_STRUCT, offsetof(struct block, stream.event_header) },
	{ "stream", "event.context", KEY_STRUCT, offsetof(struct block, stream.event_context) },
	{ "stream", "packet.context", KEY_STRUCT, offsetof(struct block, stream.packet_context) },
	{ "event", "name", KEY_NAME, offsetof(struct block, event.name) },
	{ "event", "id", KEY_NUMBER, offsetof(struct block, event.id) },
	{ "event", "stream_id", KEY_NUMBER, offsetof(struct block, event.stream_id) },
	{ "event", "loglevel", KEY_LOGLEVEL, offsetof(struct block, event.loglevel) },
	{ "event", "model.emf.uri", KEY_TEXT, offsetof(struct block, event.uri) },
	{ "event", "fields", KEY_STRUCT, offsetof(struct block, event.fields) },
	{ "event", "context", KEY_STRUCT, offsetof(struct block, event.context) },
};

static const struct key *find_key(const struct block *b, const char *name, bool is_type)
{
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		if (!strcmp(keys[i].name, name) && !strcmp(keys[i].block, b->kind->name) &&
		    (keys[i].kind == KEY_STRUCT) == is_type)
			return &keys[i];
	return NULL;
}

static int block_value(struct tsdl *p, struct block *b, const char *name,
		       const struct tsdl_value *v)
{
	const struct key *key = find_key(b, name, false);
	void *at = key ? (char *)b + key->offset : NULL;

	if (!key)
		return b->kind->value ? b->kind->value(p, b, name, v) : 0;
	switch (key->kind) {
	case KEY_NAME:
		if (!v->text)
			return tsdl_error(p, &v->token, "expected the name of the %s", key->block);
		*(const char **)at = v->text;
		return 0;
	case KEY_TEXT:
		*(const char **)at = v->text;
		return 0;
	case KEY_FREQUENCY:
		if (v->kind == TSDL_INTEGER && !v->number)
			return tsdl_error(p, &v->token, "a clock cannot have a frequency of 0");
		return number(p, v, at);
	case KEY_NUMBER:
		return number(p, v, at);
	case KEY_SECONDS:
		if (v->kind != TSDL_INTEGER)
			return tsdl_error(p, &v->token, "expected seconds");
		*(int64_t *)at = (int64_t)v->number;
		return 0;
	case KEY_LOGLEVEL:
		if (v->kind == TSDL_INTEGER)
			*(int32_t *)at = (int32_t)v->number;
		return 0;
	case KEY_STRUCT:
		break;
	}
	return 0;
}

/* @at: the type's first token, for errors. */
static int block_type(struct tsdl *p, struct block *b, const char *name,
		      const struct tsdl_token *at, const struct ctf_type *type)
{
	const struct key *key = find_key(b, name, true);

	if (!key)
		return 0;
	if (type->kind != CTF_KIND_STRUCT)
		return tsdl_error(p, at, "expected a struct");
	*(const struct ctf_type **)((char *)b + key->offset) = type;
	return 0;
}

static int block_item(struct tsdl *p, struct block *b)
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
		if (tsdl_type(p, &type) || block_type(p, b, key.text, &at, type))
			return -1;
	} else {
		if (tsdl_expect(p, '=', "= or :=") || tsdl_value(p, &value) ||
		    block_value(p, b, key.text, &value))
			return -1;
	}
	return tsdl_expect(p, ';', ";");
}

static int block(struct tsdl *p, const struct block_kind *kind)
{
	struct block b = {
		.kind = kind, .at = p->token, .event.loglevel = -1, .clock.freq = 1000000000
	};
	struct tsdl_scope scope;

	if (tsdl_next(p) || tsdl_scope_open(p, &scope) || tsdl_expect(p, '{', "{"))
		return -1;
	while (!tsdl_is_mark(p, '}'))
		if (block_item(p, &b))
			return -1;
	tsdl_scope_close(p);
	if (tsdl_next(p) || (kind->end && kind->end(p, &b)))
		return -1;
	return tsdl_expect(p, ';', "; behind the block");
}

static int root_item(struct tsdl *p)
{
	for (size_t i = 0; i < COUNT_OF(block_kinds); i++)
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
