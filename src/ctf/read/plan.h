/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to get over one event of a class, and what to pick up on the way. The scopes behind the
 * event header are cut into steps: a run of bytes of fixed size with values at constant
 * offsets, then what has no fixed size (string, sequence, or anything else by walk()):
 *
 *   | vpid vtid procname[17] handle | topic... 0 | depth |
 *   '----------- run --------------'--- string --'- run -'
 *
 * A class of fixed size is one run: one comparison and one addition. A class whose parts do not
 * lie on bytes has no steps and is walked.
 */
#ifndef KYMO_CTF_PLAN_H
#define KYMO_CTF_PLAN_H

#include "ctf/read/reader.h"
#include "ctf/read/walk.h"

/* Destinations of values: 0..KYMO_CTF_BIND_FIELDS-1 are ctf_event.value[], then what every event has. */
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

/* A value at a constant offset behind the event header. */
enum plan_fetch_kind {
	FETCH_U8, FETCH_U16, FETCH_U32, FETCH_U64, FETCH_I8, FETCH_I16, FETCH_I32, FETCH_F32,
	FETCH_ARRAY,
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
	/* One run, aligned to a byte: nothing but @size, and the contexts every LTTng trace has
	 * at constant offsets (-1: not there). */
	bool fixed;
	bool walked;			/* no steps: walk all scopes */
	uint32_t size;
	int32_t vpid_at, vtid_at, procname_at;	/* of the first step, which then has no loads for them */
	uint32_t procname_size;
	bool contexts;			/* one of them is there */
	struct plan_step *step;
	struct plan_load *load;
	uint32_t step_count, load_count;
	/* All that is wanted, if anything is, lies at constant offsets: the event need not be
	 * decoded for it. */
	bool fetches, wanted;
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

/** plan_fetch() - pick up what is wanted of an event whose plan fetches; @at: behind its header */
void plan_fetch(const struct plan *plan, const uint8_t *at, struct plan_out *out);

/** plan_ends_on_byte() - whether what begins on a byte as @node always ends on one. */
bool plan_ends_on_byte(const struct ctf_node *node);

/** plan_role() - which enum plan_target a context field of this name is, or -1. */
int plan_role(const struct ctf_node *node);

/** plan_target() - where the value of @node goes: its binding, else its role when it is in a context; or -1. */
int plan_target(const struct ctf_node *node);

/** plan_number(), plan_text(), plan_bytes() - store one value. For stream.c's packet contexts, too. */
void plan_number(struct plan_out *out, int target, const struct ctf_node *node, uint64_t value);
void plan_text(struct plan_out *out, int target, const char *bytes, uint64_t size, bool terminated);
void plan_out_free(struct plan_out *out);

#endif
