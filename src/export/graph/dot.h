/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dependency graph of a trace in graphviz's language: a cluster for each node with its
 * callbacks (boxes), topics (ellipses) between them, edges with counts and latencies. Unexpected
 * things are red, with the reason.
 */
#ifndef KYMO_EXPORT_DOT_H
#define KYMO_EXPORT_DOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/selection.h"
#include "ctf/read/reader.h"

struct dot_options {
	const char *title;
	const struct selection *selection; /* NULL: all */
	bool all_topics;          /* /rosout, /parameter_events and services of parameters, too */
	int64_t begin_ns, end_ns; /* INT64_MIN, INT64_MAX: the whole trace */
	uint64_t told_lost;       /* events lost as the recorder counted them */
	/* Called now and then with the progress, clock_ns on the trace clock; may be NULL. */
	void (*progress)(void *context, uint64_t events, uint64_t clock_ns);
	void *context;
};

struct dot_result {
	uint64_t events, lost_events, lost_packets;
	unsigned callbacks, topics;	/* written */
	unsigned unexpected;		/* of them marked */
};

/**
 * dot_export() - read the trace and write its graph
 *
 * Context: allocates and blocks. Return: 0, or -1 with @err filled.
 */
int dot_export(struct kymo_ctf_reader *reader, FILE *out, const struct dot_options *options,
	       struct dot_result *result, struct kymo_err *err);

/**
 * svg_open() - a stream whose text graphviz's `dot` turns into SVG on @fd
 * svg_close() - wait for it. Return: 0, or -1 with @err filled
 *
 * Context: starts a process. Return of svg_open(): the stream, or NULL with @err filled, which
 * says what to install.
 */
struct svg;
FILE *svg_open(struct svg **svg, int fd, struct kymo_err *err);
int svg_close(struct svg *svg, struct kymo_err *err);

#endif
