/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo why` for programs of kymo.h: the worst cycles of a loop, or the longest of a span, taken
 * apart. Shared by report_why_spans.c (passes), report_why_spans_cut.c (parts),
 * report_why_spans_print.c.
 *
 * Context: not thread-safe. why_spans_answer() and why_spans_find() read the trace: they allocate
 * and block.
 */
#ifndef KYMO_REPORT_WHY_SPANS_H
#define KYMO_REPORT_WHY_SPANS_H

#include "analysis/spans/loops.h"
#include "analysis/spans/spans.h"
#include "analysis/spans/spans_stats.h"
#include "report/why/report_why_internal.h"

enum span_part_kind {
	SPAN_LATE,      /* from due to woken, and no other thread had the CPU */
	SPAN_PREEMPTED, /* another thread had the CPU */
	SPAN_BLOCKED,   /* the thread slept */
	SPAN_RUNNING,   /* in the span itself */
};

struct span_part {
	enum span_part_kind kind;
	const struct spans_name *of; /* the innermost span; of SPAN_LATE: the loop */
	int32_t by_tid;              /* PREEMPTED, BLOCKED: as in struct why_spell */
	char by[WHY_COMM_SIZE];
	const char *call; /* BLOCKED: the system call that it slept in; NULL: not known */
	int64_t ns, begin_ns;
	unsigned pieces;
};

struct span_parts {
	struct span_part *part;
	unsigned count, room;
};

/* A span directly or further inside an instance. */
struct span_inner {
	const struct spans_name *name;
	int64_t begin_ns, end_ns;
};

/* A cycle, or a span. */
struct span_instance {
	int64_t begin_ns; /* a cycle: when it was due */
	int64_t woke_ns;  /* a span: begin_ns */
	int64_t end_ns;
	uint64_t cycle; /* its number; 0: a span */
	int64_t missed_ns;
	uint32_t thread, track; /* indexes; track UINT32_MAX: none */
	struct span_inner *inner;
	unsigned inners, inner_room;
	struct span_parts parts;
};

struct span_answer {
	const struct why_options *options;
	const char *ways; /* only of this process, "arm 4711)"; "": of all */
	struct kymo_ctf_reader *reader;
	const char *path;
	struct passes passes; /* of the latest pass: */
	struct model *model;
	struct spans *spans;
	struct spans_stats *stats;
	struct loops *loops;
	struct passes cpu_passes;
	struct why_cpu *cpu; /* NULL: the trace has no events of the kernel */

	bool is_found, is_loop;
	uint32_t index;      /* of the loop, or of the row in stats */
	uint32_t name_index; /* of the name, in each pass */
	uint32_t process;    /* of a span: the index of its process */
	uint64_t count;      /* cycles, or spans with an end */
	int64_t usual_ns;    /* their p50; 0: there is only one */
	int64_t first_ns;    /* of the trace */
	struct why_alike alike; /* others of its name, in other processes */
	struct span_instance worst[WHY_WORST_MAX + 1], usual;
	unsigned instances;
	bool has_usual, failed;
};

/**
 * why_spans_answer() - the answer about a loop or a span: of a trace without callbacks, or if the
 * name that was asked for is none of a callback
 * @said: where the sentence goes; NULL: print the answer to the table of @answer
 *
 * Return: 1; 0: there is no such loop or span; -1 with @err.
 */
int why_spans_answer(struct why_answer *answer, struct why_said *said, struct kymo_err *err);

/**
 * why_spans_find() - choose the loop or span and take its worst instances apart
 * @answer: with options, reader and path; free it with why_spans_free() in each case
 *
 * Return: 0 (is_found says whether there is one), or -1 with @err.
 */
int why_spans_find(struct span_answer *answer, struct kymo_err *err);
void why_spans_free(struct span_answer *answer);
bool why_spans_is_asked(const struct span_answer *answer, const struct spans_name *name);

/* report_why_ways_list.c: in which processes the name that was asked for ran */
void why_ways_list_spans(const struct span_answer *spans, struct report_typed *typed);
/* Of one of several processes that have the loop or span, "arm 4711"; else "". Return: @buffer. */
char *why_spans_ways(const struct span_answer *spans, const struct spans_name *name,
		     const struct model_process *process, char *buffer, size_t size);

/* report_why_alike.c: of the loop or span that is chosen, others of its name */
void why_alike_find_spans(struct span_answer *spans);

/* report_why_spans_cut.c: Return: 0, or -1: no memory. */
int why_spans_cut(const struct span_answer *answer, struct span_instance *instance);
/* The part of @parts that is the same thing as @part, or NULL. */
const struct span_part *why_spans_same(const struct span_parts *parts,
				       const struct span_part *part);

/* report_why_spans_print.c */
void why_spans_print(const struct span_answer *answer, struct table *table);
/* "loop control:step of arm (1234)". Return: @buffer. */
char *why_spans_label(const struct span_answer *answer, char *buffer, size_t size);
/* "332 us, usually 39 us: ..." Return: @buffer. */
char *why_spans_sentence(const struct span_answer *answer, unsigned rank, char *buffer,
			 size_t size);

#endif
