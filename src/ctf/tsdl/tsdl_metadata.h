/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of a trace's metadata: types, clocks, environment, stream and event classes. The
 * parser of TSDL (CTF 1.8) or that of JSON (CTF 2) fills it; the reader (ctf/read/reader_class.c,
 * layout.c) makes decoders from it. Names are as declared, with LTTng's leading underscores.
 */
#ifndef KYMO_CTF_TSDL_METADATA_H
#define KYMO_CTF_TSDL_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ctf/format/arena.h"

enum ctf_kind {
	CTF_KIND_INTEGER, CTF_KIND_ENUM, CTF_KIND_FLOAT, CTF_KIND_STRING,
	CTF_KIND_STRUCT, CTF_KIND_ARRAY, CTF_KIND_SEQUENCE, CTF_KIND_VARIANT,
};

enum ctf_order { CTF_ORDER_NATIVE, CTF_ORDER_LE, CTF_ORDER_BE };

/* What a field of a header or context means to the reader; or'ed. */
enum ctf_role {
	ROLE_MAGIC = 1 << 0,
	ROLE_UUID = 1 << 1,
	ROLE_STREAM_CLASS = 1 << 2,
	ROLE_STREAM = 1 << 3,
	ROLE_TIME = 1 << 4,		/* of an event; of a packet, its begin */
	ROLE_END_TIME = 1 << 5,
	ROLE_CONTENT_SIZE = 1 << 6,
	ROLE_PACKET_SIZE = 1 << 7,
	ROLE_SEQUENCE = 1 << 8,
	ROLE_DISCARDED = 1 << 9,
	ROLE_EVENT_CLASS = 1 << 10,
};

/* One range of an enumeration; both ends belong to it. Compared as the container's signedness
 * says. */
struct ctf_range {
	const char *label;
	uint64_t begin, end;
};

struct ctf_member {
	const char *name;
	const struct ctf_type *type;
};

struct ctf_type {
	enum ctf_kind kind;
	uint32_t align;			/* bits, a power of two */
	/* integer, enum (its container), float */
	uint32_t size;			/* bits */
	uint8_t is_signed, base;
	uint8_t is_text;		/* integer: has an encoding */
	uint8_t order;			/* enum ctf_order */
	const char *clock;		/* name of the clock it is mapped to, or NULL */
	/* CTF 2 */
	uint16_t roles;   /* enum ctf_role */
	bool is_leb128;   /* integer, enum: of as many bytes as its value needs */
	bool is_reversed; /* its bits stand in the order that its byte order does not suggest */
	bool is_bool;
	bool is_flags; /* integer: its ranges name bits, of which 0 is the lowest, and not values */
	uint8_t unit;  /* string, array or sequence of text: bytes of a code unit, if 2 or 4 */
	/* enum */
	struct ctf_range *range;
	uint32_t range_count;
	/* struct, variant */
	struct ctf_member *member;
	uint32_t member_count;
	/* array, sequence */
	const struct ctf_type *element;
	uint64_t length;
	/* sequence: its length; variant: its tag, NULL when none was given */
	const char *path;
	/* CTF 2: the same as names, one a step, and a variant's options by the value that chooses
	 * them */
	const struct ctf_location *location;
	const struct ctf_type *tag;
	bool is_optional;		/* variant of one option, which may be absent */
};

/* CTF 2: where another field is: from a scope, or from the structure around, @up structures further
 * out. */
struct ctf_location {
	int8_t scope;			/* enum ctf_scope of layout.h; -1: the structure around */
	uint32_t up;
	uint32_t count;
	const char **name;
};

struct ctf_clock {
	const char *name; /* CTF 2: its id, which the streams name */
	const char *uuid; /* as written: equal UUIDs are the same clock; NULL: not given */
	uint64_t freq;    /* Hz, not 0 */
	int64_t offset_s;
	uint64_t offset;		/* cycles */
};

struct ctf_env {
	const char *name;
	const char *text;		/* NULL: it is a number */
	int64_t number;
};

struct ctf_stream_decl {
	uint64_t id;
	const char *clock;		/* CTF 2: of all its times; NULL: it has none */
	const struct ctf_type *event_header, *event_context, *packet_context;
};

struct ctf_event_decl {
	const char *name;
	uint64_t id, stream_id;
	int32_t loglevel;		/* -1: none */
	const char *uri;		/* model.emf.uri; NULL: none */
	const struct ctf_type *context, *fields;
};

struct ctf_metadata {
	struct arena arena;
	unsigned version;     /* of CTF: 1 or 2 */
	enum ctf_order order; /* LE or BE */
	const char *torn; /* the end of the file is cut off and left out: the error there; NULL: it
			     is whole */
	uint64_t bytes;   /* size of the file */
	struct ctf_metadata *before; /* of a growing file: what was read earlier; freed together */
	bool has_uuid;
	uint8_t uuid[16];
	const struct ctf_type *packet_header;
	struct ctf_clock *clock;
	uint32_t clock_count;
	struct ctf_env *env;
	uint32_t env_count;
	struct ctf_stream_decl *stream;
	uint32_t stream_count;
	struct ctf_event_decl *event;
	uint32_t event_count;
};

/* Metadata larger than this is refused. */
#define CTF_METADATA_MAX ((size_t)64 << 20)
/* Depth of structures, variants and arrays in each other. */
#define CTF_DEPTH_MAX 48

/**
 * tsdl_load() - read and parse the metadata file @path, plain or packetized
 *
 * Return: 0 with *@metadata to be freed by tsdl_free(); -1 with @err (file:line:column).
 * Context: allocates, blocks.
 */
int tsdl_load(const char *path, struct ctf_metadata **metadata, struct kymo_err *err);
/** tsdl_load_until() - the same, of the first @end bytes: the rest is being written. */
int tsdl_load_until(const char *path, uint64_t end, struct ctf_metadata **metadata,
		    struct kymo_err *err);

/** tsdl_parse() - the same from memory; errors begin with @name. @text is changed. */
int tsdl_parse(char *text, size_t size, const char *name, struct ctf_metadata **metadata,
		   struct kymo_err *err);

void tsdl_free(struct ctf_metadata *metadata);

/** tsdl_env() - the entry of the environment called @name, or NULL. */
const struct ctf_env *tsdl_env(const struct ctf_metadata *metadata, const char *name);

#endif
