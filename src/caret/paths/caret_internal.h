/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by caret_paths.c and caret_tilde.c (gather events), caret_tables.c (as tables),
 * caret_path.c (joined to the rows of a path) and caret_response.c (response times of the rows).
 */
#ifndef KYMO_ANALYSIS_CARET_INTERNAL_H
#define KYMO_ANALYSIS_CARET_INTERNAL_H

#include "base/array.h"
#include "caret/paths/caret_paths.h"

/* Rows of logs: a publication, a message that was received, a run of a callback. */
struct caret_publication {
	uint64_t id;			/* 0: begun, and not sent */
	int64_t ns;
	int64_t tid;
	int64_t stamp_ns; /* in the message's header; 0: not known */
	bool is_intra;    /* within the process; perhaps through the middleware, too */
};

struct arrival {
	uint64_t id;
	int64_t take_ns, callback_ns;	/* callback_ns 0: none */
	int64_t stamp_ns;
	bool is_intra;
};

struct run_row {
	uint64_t id;
	int64_t start_ns, end_ns;	/* end 0: not in the trace */
	int64_t tid;
};

/* A growing array of rows of one kind. */
struct caret_log {
	void *row;
	size_t rows, room;
	bool looked, wanted;		/* whether its owner is on a path; looked: that is known */
};

/* A publish call whose end was not seen yet. */
struct caret_pending {
	const struct model_publisher *publisher;
	uint64_t address;		/* 0: none */
	int64_t ns;
	int32_t tid;
};

/* What TILDE says of messages; caret_tilde.c. */
struct caret_tilde {
	unsigned first;                /* of the bound rows of its events */
	struct caret_tilde_name *name; /* its publishers and subscriptions */
	struct caret_tilde_row
		*row; /* messages that they received and sent, in the order of time */
	unsigned names, name_room, rows, row_room;
};

struct caret {
	struct model *model;
	struct caret_options options;
	struct array publishers, subscriptions,
		callbacks;    /* struct caret_log, by index of their owner */
	struct array pending; /* struct caret_pending, by thread index */
	struct caret_path *path;
	struct architecture *seen;	/* computed from the trace, for names */
	struct pool pool;
	struct caret_tilde tilde;
	bool failed;
};

/* caret_tables.c. Except the bool ones these return 0 or -ENOMEM; tables are in the order of
 * time. */

enum caret_table {
	CARET_PUBLICATIONS,         /* [publish, tid] of a hop's publisher */
	CARET_STAMPED_PUBLICATIONS, /* [publish, stamp] of those with a stamp */
	CARET_STAMPED_ARRIVALS, /* [arrival, stamp] of the callbacks of a hop's subscription; 0: not
				   known */
	CARET_TAKEN,            /* [time when a message was taken] at a hop's subscription */
	CARET_RUNS,             /* [start, end, tid] of the callbacks of a hop's subscription */
};
int caret_table(const struct caret *caret, enum caret_table which, const struct arch_hop *hop,
		struct records *out);
/* Of the publishers, subscriptions or callbacks, by their index, that @is_of chooses. */
typedef bool caret_choice(const struct caret *caret, unsigned index, const void *what);
int caret_table_of(const struct caret *caret, enum caret_table which, caret_choice *is_of,
		   const void *what, struct records *out);
/* The callbacks of a node by its name; those of the subscription of a struct arch_hop. */
caret_choice caret_of_node, caret_of_subscription;
/* [arrival] at a hop's subscription: its callbacks; if none ever ran, the times when messages were
 * taken. */
int caret_arrivals(const struct caret *caret, const struct arch_hop *hop, struct records *out);
/* [publish, arrival] between two hops; arrival 0: never received. */
int caret_communication(const struct caret *caret, const struct arch_hop *from,
			const struct arch_hop *to, struct records *out);
/* Whether the hop's publisher or subscription is in the trace. */
bool caret_has_end(const struct caret *caret, enum model_kind kind, const struct arch_hop *hop);
/* The process of the hop's publisher, else of its subscription. NULL: neither is in the trace. */
const struct model_process *caret_process(const struct caret *caret, const struct arch_hop *hop);

/* caret_tilde.c. caret_tilde_bind(): before the model is attached. Return: 0, or -1 with @err. */
int caret_tilde_bind(struct caret *caret, struct kymo_err *err);
void caret_tilde_event(struct caret *caret, const struct kymo_ctf_event *event);
/* Whether TILDE says of a publication of @hop which message it was made of. */
bool caret_tilde_has(const struct caret *caret, const struct arch_hop *hop);
/* [arrival, publish] of messages with the same id. Return: 0 or -ENOMEM. */
int caret_tilde_rows(const struct caret *caret, const struct arch_hop *hop, struct records *out);
void caret_tilde_free(struct caret *caret);

/* caret_path.c. Return: 0 or -ENOMEM. */
int caret_path_build(struct caret *caret, struct caret_path *path);

/* caret_response.c. Return: 0 or -ENOMEM. */
int caret_response_build(struct caret_path *path);

/* ---- caret_path_nodes.c ---- */

/* The rule by which a node's publications follow from its arrivals. */
struct context_rule {
	const struct arch_node *node;
	const struct arch_context *chain;	/* NULL: not a callback_chain */
	bool by_stamp;                          /* inherit_unique_stamp */
	bool by_tilde; /* tilde; if nothing of all this, the latest message counts */
};

/** caret_node_rows() - [arrival, ..., publish] of a node inside a path. Return: 0 or -ENOMEM. */
int caret_node_rows(const struct caret *caret, const struct arch_hop *hop,
		    const struct context_rule *rule, struct records *out);

/**
 * caret_first_rows() - [callback start, publish] of the first node: the callback on the publishing
 * thread. Callbacks that published nothing have no row. Return: 0 or -ENOMEM.
 */
int caret_first_rows(const struct caret *caret, const struct arch_hop *hop, struct records *out);

#endif
