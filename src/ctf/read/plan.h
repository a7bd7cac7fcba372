/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan says how to skip one event of a class and where its values are. It is compiled once per
 * class, and then runs for each event without looking at types.
 *
 * The bytes behind the event header are cut into steps. A step is a run of bytes of fixed size,
 * with values at constant offsets, and then one thing without a fixed size: a string, a sequence,
 * or anything else, which walk() decodes:
 *
 *   | vpid vtid procname[17] handle | topic... 0 | depth |
 *   '----------- run --------------'--- string --'- run -'
 *
 * A class of fixed size is one run: one comparison and one addition skip an event. A class with
 * parts that do not begin and end on bytes has no steps; walk() decodes all of it.
 */
#ifndef KYMO_CTF_PLAN_H
#define KYMO_CTF_PLAN_H

#include "ctf/format/bits.h"
#include "ctf/read/reader.h"
#include "ctf/read/walk.h"

/*
 * Where a value goes: 0..KYMO_CTF_BIND_FIELDS-1 are kymo_ctf_event.value[]; these are members that
 * every event has.
 */
enum plan_target {
	TARGET_VPID = KYMO_CTF_BIND_FIELDS, TARGET_VTID, TARGET_PROCNAME, TARGET_CPU, TARGET_INIT,
	TARGET_COUNT,
};

struct plan_load {
	const struct ctf_node *node;
	uint32_t bit;			/* from the beginning of the run */
	int8_t target;			/* enum plan_target, or -1: only a slot */
	bool simple;			/* little-endian whole bytes: size is 8, 16, 32 or 64 */
};

/* A value at a constant offset behind the event header. The first three are frequent. */
enum plan_fetch_kind {
	FETCH_U64, FETCH_U32, FETCH_I32,
	FETCH_U8, FETCH_U16, FETCH_I8, FETCH_I16, FETCH_F32, FETCH_ARRAY,
};

struct plan_fetch {
	uint32_t at;			/* bytes behind the header */
	uint8_t kind;			/* enum plan_fetch_kind */
	int8_t target;
	const struct ctf_node *node;	/* FETCH_ARRAY */
};

enum plan_end { PLAN_END, PLAN_STRING, PLAN_SEQUENCE, PLAN_WALK };

struct plan_step {
	uint32_t align;			/* bytes, a power of two: the run begins there */
	uint32_t size;			/* bytes of the run */
	uint16_t load, load_count;	/* in plan.load */
	uint8_t end;			/* enum plan_end: what follows the run */
	int8_t target;			/* of what follows, or -1 */
	uint16_t ref;			/* PLAN_SEQUENCE: slot of the length */
	uint32_t element_align, stride;	/* PLAN_SEQUENCE: bytes */
	const struct ctf_node *node;	/* PLAN_WALK, and for the values of the others */
};

struct plan {
	/* one run that begins on any byte: @size is all that is needed to skip it */
	bool fixed;
	bool walked;			/* no steps: walk() decodes all scopes */
	uint32_t size;
	/*
	 * Offsets of the contexts that most LTTng traces have, in the first run; -1: not there. No
	 * load has them, too.
	 */
	int32_t vpid_at, vtid_at, procname_at;
	uint32_t procname_size;
	bool contexts;			/* at least one of them exists */
	struct plan_step *step;
	struct plan_load *load;
	uint32_t step_count, load_count;
	/*
	 * fetches: all bound values are at constant offsets, so plan_fetch() is enough. wanted:
	 * there are such values.
	 */
	bool fetches, wanted;
	/* ... and all are bound fields of 32 or 64 bits, without contexts */
	bool simple;
	struct plan_fetch *fetch;
	uint32_t fetch_count;
};

/* Values of the event being decoded. */
struct plan_out {
	struct kymo_ctf_event *event;	/* NULL: only the size of the event is wanted */
	char *text[TARGET_COUNT];	/* copies of texts that have no NUL; owned */
};

/**
 * plan_make() - compile the scopes of an event class; nodes say what is bound
 * @scope: the class's SCOPE_STREAM_CONTEXT, SCOPE_EVENT_CONTEXT and SCOPE_FIELDS
 * @on_byte: they always begin on a byte
 *
 * Return: 0, or -ENOMEM. Context: allocates; free with plan_free().
 */
int plan_make(struct plan *plan, struct ctf_node *const scope[3], bool on_byte);
void plan_free(struct plan *plan);

/**
 * plan_run() - decode one event behind its header; @c moves behind it
 *
 * Context: wait-free, but for texts without NUL, which are copied.
 */
enum walk_result plan_run(const struct plan *plan, struct ctf_node *const scope[3],
			  struct cursor *c, struct plan_out *out);

/**
 * plan_fetch() - the bound values of an event whose plan has @fetches; @at: the byte behind its
 * header
 */
void plan_fetch(const struct plan *plan, const uint8_t *at, struct plan_out *out);

/** plan_fetch_simple() - the same for a plan that is `simple`; @values: of the event */
static inline void plan_fetch_simple(const struct plan *plan, const uint8_t *at,
				     struct kymo_ctf_value *values)
{
	const struct plan_fetch *fetch = plan->fetch, *end = fetch + plan->fetch_count;

	for (; fetch < end; fetch++) {
		struct kymo_ctf_value *value = &values[fetch->target];
		const bool is_long = fetch->kind == FETCH_U64;

		*value = (struct kymo_ctf_value){ .present = 1, .size = is_long ? 64 : 32 };
		if (is_long)
			value->u = bits_le64(at + fetch->at);
		else
			value->i = fetch->kind == FETCH_U32
					   ? (int64_t)bits_le32(at + fetch->at)
					   : (int64_t)(int32_t)bits_le32(at + fetch->at);
	}
}

/** plan_ends_on_byte() - whether what begins on a byte as @node always ends on one. */
bool plan_ends_on_byte(const struct ctf_node *node);

/** plan_role() - which enum plan_target a context field of this name is, or -1. */
int plan_role(const struct ctf_node *node);

/**
 * plan_target() - where the value of @node goes: its binding, else its role when it is in a
 * context; or -1.
 */
int plan_target(const struct ctf_node *node);

/** plan_number(), plan_text() - store one value. Also for the contexts of packets, see packet.c. */
void plan_number(struct plan_out *out, int target, const struct ctf_node *node, uint64_t value);
void plan_text(struct plan_out *out, int target, const char *bytes, uint64_t size, bool terminated);
void plan_out_free(struct plan_out *out);

#endif
