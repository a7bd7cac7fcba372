/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CARET's architecture file: nodes, callbacks, groups, executors and named paths, and how the
 * output of a node depends on its inputs (message contexts). It is read from a file, or computed
 * from a trace, and written as YAML with the names that CARET's create_architecture_file gives:
 *     /node/callback_0            timers first, then subscriptions, each in the order of their creation;
 *                                 as many digits as the number of callbacks has
 *     /node/callback_group_0      executor_0
 * Services and the topics /rosout and /parameter_events are left out, as by CARET.
 *
 * "" is CARET's UNDEFINED. Files are untrusted: sizes, types and missing keys are checked.
 *
 * Context: not thread-safe. architecture_read() and architecture_write() allocate, and block as the
 * file does; architecture_of(), architecture_path() and architecture_new() allocate; the others
 * only look up: NULL: there is none.
 */
#ifndef KYMO_ANALYSIS_ARCHITECTURE_H
#define KYMO_ANALYSIS_ARCHITECTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/model/model.h"
#include "base/err.h"
#include "base/pool.h"

/* A node on a path, with its input and its output. */
struct arch_hop {
	const char *node;
	const char *subscribe_topic, *publish_topic;	/* "" for the first; "" for the last */
	unsigned subscription_order, publisher_order;	/* number among several of one topic */
};

struct arch_path {
	const char *name;
	struct arch_hop *hop;
	unsigned hops;
};

struct arch_callback {
	const char *name;
	bool is_timer;
	int64_t period_ns;		/* a timer's */
	const char *topic;		/* a subscription's */
	const char *symbol;
	unsigned order;
	const struct model_callback *callback;	/* if it comes from a trace; else NULL */
};

struct arch_group {
	const char *name, *type;
	const char **callback;
	unsigned callbacks;
};

struct arch_passing {
	const char *write, *read;	/* names of callbacks */
};

struct arch_publish {
	const char *topic;
	unsigned order;
	const char **callback;
	unsigned callbacks;
};

struct arch_subscribe {
	const char *topic;
	unsigned order;
	const char *callback;
};

struct arch_context {
	const char *type;		/* "callback_chain", "use_latest_message", ..., "" */
	const char *subscription_topic, *publisher_topic;
	unsigned subscription_order, publisher_order;
	const char **callback;		/* of a callback_chain, with CARET's names; may be empty */
	unsigned callbacks;
};

struct arch_node {
	const char *name;
	struct arch_group *group;
	struct arch_callback *callback;
	struct arch_passing *passing;
	struct arch_publish *publish;
	struct arch_subscribe *subscribe;
	struct arch_context *context;
	unsigned groups, callbacks, passings, publishes, subscribes, contexts;
};

struct arch_executor {
	const char *name, *type;
	const char **group;
	unsigned groups;
};

struct architecture {
	struct pool pool;
	struct arch_path *path;
	struct arch_executor *executor;
	struct arch_node *node;
	unsigned paths, executors, nodes;
};

/**
 * architecture_read() - read an architecture file
 * Return: 0; -1 with @err (KYMO_EXIT_INPUT), which has file, line and reason.
 */
int architecture_read(struct architecture **architecture, const char *path, struct kymo_err *err);

/** architecture_of() - what @model has, with CARET's names. Return: 0; -1 with @err: no memory. */
int architecture_of(struct architecture **architecture, const struct model *model,
		    struct kymo_err *err);

/** architecture_write() - as YAML for CARET; @out is flushed. Return: 0; -1 with @err: @out does
 * not take it, or no memory. */
int architecture_write(const struct architecture *architecture, FILE *out, struct kymo_err *err);

/**
 * architecture_path() - add a path "NODE -> TOPIC -> NODE [-> TOPIC -> NODE ...]" named @text
 * Return: 0; -1 with @err (KYMO_EXIT_USAGE).
 */
int architecture_path(struct architecture *architecture, const char *text, struct kymo_err *err);

/** architecture_new() - an empty one. Return: NULL: out of memory. */
struct architecture *architecture_new(void);
void architecture_free(struct architecture *architecture);

const struct arch_path *architecture_find_path(const struct architecture *architecture,
					       const char *name);
const struct arch_node *architecture_find_node(const struct architecture *architecture,
					       const char *name);
const struct arch_callback *architecture_find_callback(const struct arch_node *node,
						       const char *name);
const struct arch_context *architecture_find_context(const struct arch_node *node,
						     const struct arch_hop *hop);

#endif
