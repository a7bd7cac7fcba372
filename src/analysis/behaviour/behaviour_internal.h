/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by behaviour_file.c (the file), behaviour_match.c and behaviour.c (the trace). */
#ifndef KYMO_ANALYSIS_BEHAVIOUR_INTERNAL_H
#define KYMO_ANALYSIS_BEHAVIOUR_INTERNAL_H

#include "analysis/behaviour/behaviour.h"
#include "base/array.h"
#include "base/map.h"
#include "base/pool.h"

#define CONDITIONS_MAX 64u /* they are bits of a number */
#define ROLE_BEGIN 0u
#define ROLE_END 1u

/* What happens; the value of the key is a glob. */
enum condition_kind {
	ON_PUBLISH, /* a topic */
	ON_RECEIVE, /* a topic: the callback starts */
	ON_START,
	ON_END, /* a callback, by node and source */
	ON_SPAN_BEGIN,
	ON_SPAN_END,
	ON_INSTANT,   /* category:name */
	ON_LIFECYCLE, /* a state that a lifecycle node enters */
	ON_EVENT,     /* the full name of an event */
	CONDITION_KINDS
};

struct condition {
	enum condition_kind kind;
	const char *glob, *node, *process; /* node, process: NULL: any */
	unsigned rule;
	unsigned role; /* of a group: the number of the state; else ROLE_... */
};

enum each { EACH_NONE, EACH_THREAD, EACH_NODE, EACH_PROCESS };

/* An activity, a region, or a group of states. */
struct behaviour_rule {
	enum behaviour_kind kind;
	enum each each;
	unsigned first, count; /* of what */
};

struct behaviours {
	struct behaviour_what *what;
	unsigned whats, what_room;
	struct behaviour_rule *rule;
	unsigned rules, rule_room;
	struct condition condition[CONDITIONS_MAX];
	unsigned conditions;
	struct pool pool; /* texts */
};

/* The conditions that an object fulfils. */
struct bits {
	bool known;
	uint64_t set;
};

/* A behaviour that has begun, for one key of its rule. */
struct behaviour_open {
	bool is;
	bool has_loss;
	unsigned state;
	int64_t begin_ns;
	const struct model_thread *thread;
	const struct model_node *node;
};

struct behaviour {
	const struct behaviours *file;
	struct model *model;
	behaviour_report *report;
	void *context;
	int64_t begin_ns, end_ns;
	struct map *open; /* of each rule: key -> struct behaviour_open */
	struct behaviour_sums *sums;                        /* of each what */
	uint64_t kind[CONDITION_KINDS];                     /* the conditions of each kind */
	struct array publishers, callbacks, names, classes; /* of struct bits, by index */
	struct array last_ids;                              /* of uint64_t, by publisher */
	bool failed;
};

/* Those conditions of @kinds whose glob matches @text, and whose node matches @node. */
uint64_t behaviour_find(const struct behaviour *b, uint64_t kinds, const char *text,
			const struct model_node *node);

/* All conditions that an object fulfils, whatever their kind. */
uint64_t behaviour_of_publisher(struct behaviour *b, const struct model_publisher *publisher);
uint64_t behaviour_of_callback(struct behaviour *b, const struct model_callback *callback);
uint64_t behaviour_of_name(struct behaviour *b, const struct spans_name *name);
uint64_t behaviour_of_class(struct behaviour *b, const struct kymo_ctf_event_class *class);

#endif
