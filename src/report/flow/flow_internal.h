/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of `kymo flow`: flow.c (passes), flow_overview.c, flow_chain.c,
 * flow_tree.c, flow_text.c. */
#ifndef KYMO_REPORT_FLOW_INTERNAL_H
#define KYMO_REPORT_FLOW_INTERNAL_H

#include "analysis/chains/chains.h"
#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "report/flow/flow.h"
#include "report/flow/flow_text.h"
#include "report/report.h"
#include "report/report_cells.h"

struct flow {
	const struct flow_options *options;
	const char *path;
	struct kymo_ctf_reader *reader;
	struct table *table;
	struct passes passes;		/* of the latest pass: */
	struct model *model;
	struct chains *chains;
	struct capture *capture;	/* NULL: no captures were given */
	const char *pattern; /* of the options, without the processes that it names, */
	char name[4096];
	char ways[1024]; /* "filter 4711)"; "": all */
	const struct chains_path **chain;	/* shown, in order; those of one name together */
	unsigned *alike; /* of each chain, how many have its name */
	unsigned chains_shown, chains_all;
	unsigned rows_shown, rows_all; /* a row may stand for several chains, the worst first */
	uint64_t lost_events, lost_packets;
	uint64_t lost_of_chains; /* of these, what could have been part of a chain */
};

/* "+1.234567 s" since the first event, or "1.234567 s" of the simulation's clock. @buffer: 32 bytes. Return: @buffer. */
char *flow_offset(const struct flow *flow, int64_t ns, char *buffer, unsigned size);

/* flow_text.c: which trace, and whose time. */
void flow_print_trace(struct flow *flow);

/* flow_fold.c: puts chains of one name together, the worst first. Return: 0; -1: no memory. */
int flow_put_together(struct flow *flow);
/* How many chains are one row with chain @at, the first of them. */
unsigned flow_folded(const struct flow *flow, unsigned at);
/* What @count chains from @at on have together. */
struct flow_sum {
	uint64_t begun, arrived, between_hosts;
	struct histogram total;
	int64_t error_ns;
};
/* Free its histogram in each case. Return: 0; -1: no memory. */
int flow_sum(const struct flow *flow, unsigned at, unsigned count, struct flow_sum *sum);

/* flow_overview.c */
void flow_print_chains(struct flow *flow);

/* flow_chain.c: of the chains in flow->chain, numbered from 1. */
void flow_print_segments(struct flow *flow);
/* Nothing if no message of these chains was followed inside the middleware. */
void flow_print_inside(struct flow *flow);
void flow_print_stops(struct flow *flow);
void flow_print_worst(struct flow *flow);

bool flow_is_detailed(const struct flow *flow, unsigned at);

/* flow_wire.c: of captured packets. Nothing without captures. Return: 0, or -1 with @err. */
int flow_print_wire(struct flow *flow, struct kymo_err *err);
void flow_print_wire_tree(struct flow *flow);

/* flow.c: counts lost events; its context is the flow. */
extern const struct model_listener flow_loss_listener;

/* flow_suggest.c: the whole answer of --suggest. Return: as flow_run(). */
int flow_suggest(struct flow *flow, bool *lost, struct kymo_err *err);

/* flow_tree.c */
void flow_print_tree(struct flow *flow);

#endif
