/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of `kymo why`: report_why.c (all of it), report_why_choose.c (whose
 * instances), report_why_apart.c (their parts), report_why_print.c, report_why_text.c.
 */
#ifndef KYMO_REPORT_WHY_INTERNAL_H
#define KYMO_REPORT_WHY_INTERNAL_H

#include "analysis/chains/chains.h"
#include "analysis/pass/pass.h"
#include "analysis/why/why_cpu.h"
#include "analysis/why/why_fate.h"
#include "analysis/why/why.h"
#include "report/report_cells.h"
#include "report/report_ways.h"
#include "report/why/report_why.h"
#include "report/why/report_why_alike.h"

/* Whose instances are taken apart, by numbers that are the same in each pass. */
struct why_target {
	bool is_found;
	bool is_chain;
	uint32_t index;			/* of the path, or of the callback */
	uint64_t count;			/* instances */
	int64_t usual_ns;		/* their p50; 0: there is only one */
	uint64_t hidden; /* start-up instances that took longer than the worst one shown */
};

struct why_answer {
	const struct why_options *options;
	struct why_options chosen; /* when nothing was named: what the first finding names, */
	char ask[4096];            /* as a pattern, */
	char name[4096];           /* or as the name of a chain or a callback; "": not so */
	char ways[1024];           /* of these processes only, "filter 4711)"; "": of all */
	bool is_of_programs;       /* it names a loop or a span, */
	bool is_of_goals;          /* or an action */
	char finding[2048];        /* the first finding; "": there is none */
	bool tells_finding;        /* the sentence about the instance does not say it */
	char nothing[1400];        /* nothing was named, and nothing stands out: says so; or "" */
	const char *path;
	struct kymo_ctf_reader *reader;
	struct table *table;
	struct passes passes;		/* of the latest pass: */
	bool is_summary_pass;           /* what was read is the pass of the summary */
	unsigned kept;			/* it kept so many of the longest instances of each */
	struct model *model;
	struct chains *chains;
	struct why_callbacks *callbacks;
	struct why_others *others;
	struct capture *capture;	/* NULL: no captures were given */
	struct fates *fates;		/* of ids; NULL: of none */
	/* of messages that were lost, and of the one asked for; NULL: not known yet */
	uint64_t *ids;
	unsigned id_count;
	struct passes cpu_passes;	/* of the last one: */
	struct why_cpu *cpu;		/* NULL: the trace has no events of the kernel */
	uint64_t lost_events, lost_packets;
	bool lost_here;			/* some of them of the programs, not of the kernel */

	struct why_target target;
	struct why_alike alike; /* others of its name */
	bool names_ways;        /* the user named the processes */
	struct why_instance instance[WHY_WORST_MAX];	/* longest first */
	struct why_parts parts[WHY_WORST_MAX], because[WHY_WORST_MAX];
	unsigned instances;
	struct why_instance usual;	/* total_ns < 0: none */
	struct why_parts usual_because;
	/* of the usual one, next to each instance */
	struct why_parts usual_parts[WHY_WORST_MAX];
	bool has_open_goals;    /* an action has it, but no goal that ended and was not refused */
	bool is_known;		/* something has the name that was asked for, ... */
	struct report_typed typed; /* in which processes loops and spans have it */
	char near[1024];	/* ... or, "": nothing has nearly that name */
	/* the way of a message is transport because only one of two is split */
	bool joined;
};

#define WHY_LABEL_MAX 512

/* report_why_pass.c */

/* Counts the losses of a pass, from 0. Return: 0, or -1 with @err. */
int why_listen_losses(struct why_answer *answer, struct model *model, struct kymo_err *err);
/* As why_others_follow() has it; @context: the answer. */
typedef bool why_latest(void *context, struct why_window *window);
/* Reads the trace with a new set of analyses. @window, @latest: of why_others; NULL: none. Return:
 * 0, or -1 with @err. */
int why_pass(struct why_answer *answer, struct chains_options *chains,
	     const struct why_window *window, unsigned windows, why_latest *latest,
	     struct kymo_err *err);

/* report_why_apart.c: the instances of the target, and their parts. Return: 0, or -1 with @err. */
int why_take_apart(struct why_answer *answer, struct chains_options *chains, struct kymo_err *err);
void why_drop_instances(struct why_answer *answer);

/*
 * report_why_finding.c: when nothing was named, choose what the first finding of the summary names.
 * Sets answer->options. Return: 0, or -1 with @err.
 */
int why_choose_finding(struct why_answer *answer, struct kymo_err *err);

/* report_why_ways.c: sets answer->ways to what @text names; and that of the options, whose name is
 * without it then. */
void why_ways_take(struct why_answer *answer, const char *text);
void why_ways_asked(struct why_answer *answer);
/* Is it of answer->ways? */
bool why_ways_callback(const struct why_answer *answer, const struct model_callback *callback);
/* Those of a chain or callback of which there are several; @typed: as it can be typed, "driver
 * 4711", else "driver (4711)". Return: @buffer. */
char *why_ways_of(const struct why_answer *answer, bool is_chain, uint32_t index, bool typed,
		  char *buffer, size_t size);
/* The processes of the target of which there are several: "driver (4711)". Return: @buffer. */
char *why_ways_text(const struct why_answer *answer, char *buffer, size_t size);

/* report_why_alike.c: of what is to be explained, others of its name; sets answer->alike. */
void why_alike_find(struct why_answer *answer);

/* report_why_ways_list.c: what can be typed; each once. */
void why_ways_list(const struct why_answer *answer, struct report_typed *typed);

/* report_why_choose.c: by what one pass has found. Sets answer->target. */
void why_choose(struct why_answer *answer);
/* How far the target's instance is from how long the trigger measured; 0: it measured none. */
int64_t why_from_fired(const struct why_answer *answer);
bool why_is_asked(const struct why_answer *answer, const struct model_callback *callback);

/* report_why_empty.c. Return: @buffer. */
const char *why_empty(const struct why_answer *answer, char *buffer, size_t size);

/* report_why_text.c */

/*
 * What took the most time above the usual: a part, or all parts of an instance that the same one is
 * to blame for.
 */
struct why_cause {
	const struct why_part *part;	/* the longest of them; NULL: there are none */
	int64_t ns, usual_ns;
	int64_t error_ns;		/* of two hosts' clocks, in one of them */
	unsigned parts, pieces;
	const struct why_answer *answer;
};

struct why_cause why_cause(const struct why_answer *answer, unsigned rank);
/* "143.2 ms, usually 38.1 ms: queued ..." Return: @buffer. */
char *why_sentence(const struct why_answer *answer, unsigned rank, char *buffer, size_t size);
/* Who did it, or what: a callback, "/scan to /planner", a topic. Return: @buffer. */
char *why_who(const struct why_instance *instance, const struct why_part *part, char *buffer,
	      size_t size);
/* PREEMPTED: who had the CPU; BLOCKED: who woke it. Return: @buffer. */
char *why_by(const struct why_part *part, char *buffer, size_t size);
/* "thread 123 of container", of several hosts " on robot", too. Return: @buffer. */
char *why_where(const struct why_answer *answer, const struct why_part *part, char *buffer,
		size_t size);
/* The chain's steps, or the callback. Return: @buffer. */
char *why_target_label(const struct why_answer *answer, char *buffer, unsigned size);

/* report_why_because.c: why the one took so long behind whom an instance was queued */

/* "; meanwhile it was preempted 30 ms by hog (77)", behind the sentence about @cause; or "". Return: @buffer. */
char *why_because_text(const struct why_answer *answer, unsigned rank,
		       const struct why_cause *cause, char *buffer, size_t size);
void why_print_because(struct why_answer *answer);

/* report_why_lost.c: messages of the chain that were published and never taken */

/* "5 of 79 messages of /scan never came to /perception/obstacle_detector", for each such link; or "". Return: @buffer. */
char *why_lost_text(const struct why_answer *answer, char *buffer, size_t size);
void why_print_links(struct why_answer *answer);
/* Whose fate is asked for: answer->ids. Return: 0, or -1: no memory. */
int why_lost_ids(struct why_answer *answer);
/* A step of the chain that a topic leads to, or NULL; behind step @from. */
const struct chains_path *why_next_link(const struct why_answer *answer, unsigned from);

/* report_why_fate.c: single messages, and what became of them */

/* Of those that did not come to @path, how many are lost. */
uint64_t why_fate_lost(const struct why_answer *answer, const struct chains_path *path);
/* " (3 before its first one, 2 underway)", of what did not come to @path; or "". Return: @buffer. */
char *why_fate_kinds(const struct why_answer *answer, const struct chains_path *path, char *buffer,
		     size_t size);
/* What was lost on the way of the chain, and where the message asked for did not come. */
void why_print_lost(struct why_answer *answer);
/* The whole answer about a message that came to nobody. */
void why_print_fate(struct why_answer *answer);
/* "+1.234567 s", or the simulation's time. Return: @buffer. */
char *why_offset(const struct why_answer *answer, int64_t ns, char *buffer, size_t size);

/* report_why_wire.c: captured packets */

/* ": a packet of it was lost, and sent again 38.2 ms after the first one", of a part before the message was in the reader's cache; or "". Return: @buffer. */
char *why_wire_text(const struct why_answer *answer, const struct why_instance *instance,
		    const struct why_part *part, char *buffer, size_t size);
/* "; the captures have no packet of it", of a message that was lost; or "". Return: @buffer. */
char *why_wire_lost(const struct why_answer *answer, const struct fate *fate, char *buffer,
		    size_t size);
void why_print_wire(struct why_answer *answer);

/* report_why_print.c */
void why_print(struct why_answer *answer);
/* What stands out in the trace, before what is explained. */
void why_print_finding(const struct why_answer *answer);
void why_print_parts(struct why_answer *answer);
/* Of the table of the parts of instance @rank; @at: the one at the time that was asked for. */
void why_parts_title(char *title, size_t size, unsigned rank, bool at, bool has_usual);

#define WHY_BAR_MIN 12
#define WHY_BAR_MAX 32

/**
 * why_bar() - marks where a part of an instance begins and how long it is, on the scale of the
 * instance
 * @begin_ns: since the begin of the instance
 *
 * Its width is what names and times leave of the terminal. Return: @buffer.
 */
const char *why_bar(const struct table *table, int64_t begin_ns, int64_t ns, int64_t total_ns,
		    char buffer[WHY_BAR_MAX + 1]);

#endif
