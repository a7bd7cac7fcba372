/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by caret.c (what is gathered), tables.c (as tables), path.c (joined to the rows of
 * a path) and response.c (what the rows say).
 */
#ifndef KYMO_ANALYSIS_CARET_INTERNAL_H
#define KYMO_ANALYSIS_CARET_INTERNAL_H

#include "caret/paths/caret_paths.h"

/* What one publisher published, one subscription received, one callback ran. */
struct publication {
	uint64_t id;			/* 0: it was begun and not sent */
	int64_t ns;
	int32_t tid;
	int64_t stamp_ns;		/* in the message's header; 0: not told */
	bool is_intra;			/* within the process, perhaps also through the middleware */
};

struct arrival {
	uint64_t id;
	int64_t take_ns, callback_ns;	/* callback 0: none */
	int64_t stamp_ns;
	bool is_intra;
};

struct run_row {
	uint64_t id;
	int64_t start_ns, end_ns;	/* end 0: not seen */
	int32_t tid;
};

/* A growing array of one of these. */
struct log {
	void *row;
	size_t rows, room;
	bool looked, wanted;		/* is its owner on a path? */
};

/* Logs by the index of their owner. */
struct logs {
	struct log *log;
	unsigned count;
};

/* A publish call that has not been told of as sent. */
struct pending {
	const struct model_publisher *publisher;
	uint64_t address;		/* 0: none */
	int64_t ns;
	int32_t tid;
};

struct caret {
	struct model *model;
	struct caret_options options;
	struct logs publishers, subscriptions, callbacks;
	struct pending *pending;	/* by thread index */
	unsigned pendings;
	struct caret_path *path;
	struct architecture *seen;	/* made from the trace, for names */
	struct pool pool;
	bool failed;
};

/* tables.c. All but bool: return 0, or -ENOMEM; tables are in order of time. */

/* [publish, tid] of a hop's publisher. */
int caret_publications(const struct caret *caret, const struct arch_hop *hop, struct records *out);
/* [start, end, tid] of the callbacks that @is_it chooses. */
int caret_runs(const struct caret *caret,
	       bool (*is_it)(const struct model_callback *callback, const void *what),
	       const void *what, struct records *out);
/* [publish, stamp] of those whose message has a stamp. */
int caret_stamped_publications(const struct caret *caret, const struct arch_hop *hop,
			       struct records *out);
/* [arrival, stamp] of each callback at a hop's subscription; a stamp that is not told equals none. */
int caret_stamped_arrivals(const struct caret *caret, const struct arch_hop *hop, struct records *out);
/* [arrival] at a hop's subscription: its callbacks, or where none ever ran its takes. */
int caret_arrivals(const struct caret *caret, const struct arch_hop *hop, struct records *out);
/* [publish, arrival] between two hops; arrival 0: it never arrived. */
int caret_communication(const struct caret *caret, const struct arch_hop *from,
			const struct arch_hop *to, struct records *out);
/* Choosers of caret_runs(): of a node by name, of the subscription of a struct caret_of_hop. */
struct caret_of_hop {
	const struct model *model;
	const struct arch_hop *hop;
};
bool caret_of_node(const struct model_callback *callback, const void *name);
bool caret_of_subscription(const struct model_callback *callback, const void *of_hop);
bool caret_any_publisher(const struct caret *caret, const struct arch_hop *hop);
bool caret_any_subscription(const struct caret *caret, const struct arch_hop *hop);
/* Where the hop's node runs, by what it publishes, else by what it subscribes; NULL: neither is in the trace. */
const struct model_process *caret_process(const struct caret *caret, const struct arch_hop *hop);

/* path.c. Return: 0, or -ENOMEM. */
int caret_path_build(struct caret *caret, struct caret_path *path);

/* response.c. Return: 0, or -ENOMEM. */
int caret_response_build(struct caret_path *path);

#endif
