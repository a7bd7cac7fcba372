/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings: what is wrong in a summary, most harmful first. A finding is one sentence with a
 * number, a culprit and a time, and the command that explains more. The first finding is the same
 * wherever findings are shown.
 *
 * The harm of a finding is a time, so that different kinds compare:
 *   chain, callback   how far the worst instance is above the usual one; half of it if the
 *                     callback itself ran long
 *   holds             half of that, or of the longest time that another callback waited for it
 *   timer             four fifths of how late it began at worst
 *   loss              ten times the interval of the messages, times the share of those that were
 *                     lost
 *   loop              how late it woke at worst
 *   span              half of how far the longest one is above the usual one
 *   goal              how far the worst goal of an action is above the usual one; half of it if it
 *                     executed that long
 *   aborted           ten times the usual time of a goal, times the share that were aborted
 *   trust             0: the numbers above it hold only as far as it says
 *
 * Entities of one name in several processes of one name are one finding, about the worst of them.
 *
 * Not findings: what nodes do when they start, start-up instances (model_startup.c), timers of a
 * simulation's clock, what counts together as "(other)" (summary_limit.h), what happened fewer than
 * SUMMARY_FINDINGS_COUNT_MIN times, what is less than a millisecond or less than twice as long as
 * usually, and what is a small part of the first finding that is not about goals, which take longer
 * than all else.
 *
 * Context of all functions: not thread-safe; summary_findings() allocates while it runs; none
 * blocks.
 */
#ifndef KYMO_SUMMARY_FINDINGS_H
#define KYMO_SUMMARY_FINDINGS_H

#include <stddef.h>

#include "summary/summary.h"

#define SUMMARY_FINDINGS_COUNT_MIN 20u
#define SUMMARY_FINDINGS_EXCESS_MIN_NS 1000000
#define SUMMARY_FINDINGS_MAX 64u

enum summary_finding_kind {
	SUMMARY_FINDING_CHAIN,
	SUMMARY_FINDING_CALLBACK,
	SUMMARY_FINDING_HOLDS, /* a callback that kept others waiting */
	SUMMARY_FINDING_LOSS,
	SUMMARY_FINDING_TIMER,
	SUMMARY_FINDING_LOOP,
	SUMMARY_FINDING_SPAN,
	SUMMARY_FINDING_GOAL,
	SUMMARY_FINDING_ABORTED,
	SUMMARY_FINDING_TRUST,
	SUMMARY_FINDING_KINDS
};

struct summary_finding {
	enum summary_finding_kind kind;
	const struct summary_entity *entity;     /* TRUST: NULL */
	const struct summary_instance *instance; /* the worst one; NULL: there is none */
	int64_t harm_ns;
	int64_t at_ns;  /* epoch; 0: not at one time */
	uint64_t times; /* instances at least half as far above the usual; lost messages ... */
	int64_t worst_ns, usual_ns;
	/* How many entities of this name there are, in several processes of one name, and in how
	 * many of them something is wrong; @entity is the worst. 1 and 1: it is the only one. */
	unsigned alike, affected;
	/* What made it that long: the part that is farthest above its usual time; who NULL: nothing
	 * does. */
	struct summary_part cause;
};

/**
 * summary_findings() - the findings of @summary, most harmful first; equal ones in the order of
 * their kinds and names
 * @out: room for @max
 *
 * Return: their number. They are valid as long as @summary is not changed.
 */
unsigned summary_findings(const struct summary *summary, struct summary_finding *out, unsigned max);

/**
 * summary_slowest() - if there are no findings: the chain or callback whose worst instance is
 * farthest above its usual
 *
 * Return: false: nothing ran.
 */
bool summary_slowest(const struct summary *summary, struct summary_finding *out);

/**
 * summary_nothing_text() - if there are no findings: a sentence that says so, and names the slowest
 * reaction, or of a program without ROS 2 the latest wake-up of its loops
 *
 * Return: @buffer.
 */
char *summary_nothing_text(const struct summary *summary, char *buffer, size_t size);

/** summary_finding_text() - one sentence, with a full stop. Return: @buffer. */
char *summary_finding_text(const struct summary *summary, const struct summary_finding *finding,
			   char *buffer, size_t size);

/** summary_finding_alike() - how many like it there are, and are affected: a sentence with a space
 * before it; "": it is the only one. summary_finding_text() has it. Return: @buffer. */
char *summary_finding_alike(const struct summary_finding *finding, char *buffer, size_t size);

/**
 * summary_span_around() - the innermost span around the longest instance of @span, if that one is
 * why it took so long; NULL: there is none
 *
 * Of several spans inside each other, the innermost one that explains it is the finding.
 */
const struct summary_entity *summary_span_around(const struct summary *summary,
						 const struct summary_entity *span);

/** summary_finding_ask() - what `kymo why` takes to explain it; "": `kymo why` can't. */
const char *summary_finding_ask(const struct summary_finding *finding);

/** summary_finding_kind_name() - "chain", "callback", "holds", "loss", ... */
const char *summary_finding_kind_name(enum summary_finding_kind kind);

#endif
