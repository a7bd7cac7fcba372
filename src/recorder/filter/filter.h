/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session records: its rules (filter_rules.h), and for each process those of its own
 * environment.
 *
 *   init log ──▶ objects: node and topic ──▶ wanted or not ──▶ enable bytes, objects left out (region.h)
 *   rings ─────────────────────────────────▶ records written before that are left out here
 *
 * The filter decides once per event class, and once per object when its init event is read. It
 * publishes the decision in the region, so that the process does not write what nobody wants.
 * Records that the process wrote all the same are left out when the ring is drained: the trace
 * contains exactly what the rules want. Init events are always kept, except those of processes that
 * are not wanted.
 *
 * Context of all functions: on the session's thread; allocate.
 */
#ifndef KYMO_RECORDER_FILTER_H
#define KYMO_RECORDER_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "caret/filter/caret_filter.h"
#include "recorder/filter/filter_rules.h"

struct filter;
struct region;
struct classes;
struct sayer;

/**
 * filter_create() - a filter for a session, with no rules
 * @regex: for CARET's variables; NULL: they are ignored
 *
 * Return: NULL without memory.
 */
struct filter *filter_create(const struct filter_regex *regex);

/** filter_free() - after its session was freed. NULL is fine. */
void filter_free(struct filter *filter);

/** filter_set() - copy other rules. For a filter that a session uses: session_set_rules(). Return:
 * false without memory. */
bool filter_set(struct filter *filter, const struct filter_rules *rules);

/**
 * filter_set_caret() - CARET's lists for all processes, in addition to those of their own
 * environments
 * @value: of each list; NULL: it is not set. They replace the lists of the last call.
 * @say: called for each item that is not a regular expression; may be NULL
 *
 * For a filter that a session uses: session_set_caret(). Return: false: the filter has no regular
 * expressions.
 */
bool filter_set_caret(struct filter *filter, const char *const value[CARET_LISTS],
		      void (*say)(void *context, const char *text), void *context);

/** filter_caret_of() - the text of a list for all processes; NULL: it is not set. */
const char *filter_caret_of(const struct filter *filter, enum filter_caret_list list);

/** filter_rules_of() - the rules, valid until they change. */
const struct filter_rules *filter_rules_of(const struct filter *filter);

/** filter_changes() - how often they were set after the first time. */
unsigned filter_changes(const struct filter *filter);

/* ---- of one process. Functions that say nothing about NULL must not be given it ---- */

struct filter_process;

/* What the filter reads of a traced process. The pointers stay valid until filter_retire(). */
struct filter_subject {
	const struct region *region;
	const struct classes *classes;
	int host_pid;			/* 0: not found */
	bool dead;
};

/**
 * filter_join() - a process comes into the session
 *
 * Reads the rules of its own environment; what is wrong in them goes to @sayer.
 * Return: NULL without memory: then all of it is recorded.
 */
struct filter_process *filter_join(struct filter *filter, const struct filter_subject *subject,
				   const struct sayer *sayer);

/** filter_retire() - the process is finished: only filter_wants_process() and filter_own_rules()
 * are called from now on. */
void filter_retire(struct filter_process *mine);

/** filter_forget() - free @mine. NULL is fine. */
void filter_forget(struct filter_process *mine);

/** filter_own_rules() - the rules of the program's environment. Return: malloc'ed text; NULL: none.
 * @mine may be NULL. */
char *filter_own_rules(const struct filter_process *mine);

/** filter_wants_process() - whether anything of it is recorded. NULL: all of it. */
bool filter_wants_process(const struct filter_process *mine);

/** filter_enable() - publish in the region which events are wanted. */
void filter_enable(struct filter_process *mine);

/** filter_needs_facts() - whether some rule is about objects, so that filter_fact() needs the init
 * log. NULL: no. */
bool filter_needs_facts(const struct filter_process *mine);

/**
 * filter_fact() - one event of the init log, in the order of the log
 * @id: below KYMO_POINTS_TABLE
 * @payload: [@size] checked: it was walked
 */
void filter_fact(struct filter_process *mine, unsigned id, uint64_t ns, const uint8_t *payload,
		 size_t size);

/**
 * filter_propose() - propose in the region those objects that are not wanted, and withdraw those
 * that are
 *
 * As region.h has it: propose, read the log to its end, and only then confirm.
 * Return: whether there are proposals: then give what is new in the log to filter_fact(), and call
 * filter_confirm().
 */
bool filter_propose(struct filter_process *mine);

/** filter_confirm() - what was proposed is left out from now on, unless the log had news of it.
 * @complete: it was read to its end. */
void filter_confirm(struct filter_process *mine, bool complete);

/** filter_update_rules() - decide about the process and its events again. Return: false: the rules
 * are the same. */
bool filter_update_rules(struct filter_process *mine);

/** filter_decide_objects() - decide about all objects again. */
void filter_decide_objects(struct filter_process *mine);

/** filter_left_out() - how many of its objects are known not to be wanted. NULL: none. */
unsigned filter_left_out(const struct filter_process *mine);

/** filter_leaves_out() - whether records may have to be left out of its rings. NULL: no. */
bool filter_leaves_out(const struct filter_process *mine);

/** filter_begin() - before its records are judged. Return: false: all of them are wanted, for now.
 * NULL: false. */
bool filter_begin(struct filter_process *mine);

/* A record of a ring, and what is behind it: it may change meanwhile, but is sound. */
struct filter_one {
	const uint8_t *at;
	size_t left;			/* bytes from `at` on, with those behind it */
	size_t size;			/* of the record */
	uint64_t ns;
	uint16_t id;
};

/**
 * filter_record() - whether a record is wanted; after filter_begin()
 * @left_out_message: of the record's ring: the last message whose object is not wanted; 0 at first
 *
 * Records of a ring are judged in their order; to judge one twice, or to begin again where
 * @left_out_message was as it is now, changes nothing.
 */
bool filter_record(struct filter_process *mine, uint64_t *left_out_message,
		   const struct filter_one *one);

/* Records of a ring. */
struct filter_span {
	const uint8_t *bytes;
	size_t size;
	uint32_t records;
};

/**
 * filter_span() - leave out of @span what is not wanted
 * @mine: NULL: nothing is left out
 * @scratch: room for it; holds what is left afterwards, unless that is all of it
 *
 * Return: how many records are left out.
 */
uint32_t filter_span(struct filter_process *mine, uint64_t *left_out_message, uint8_t *scratch,
		     struct filter_span *span);

#endif
