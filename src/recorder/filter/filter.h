/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session records: rules (filter_rules.h), and for each process those of its own environment.
 *
 *   init log ──▶ objects: whose they are ──▶ wanted or not ──▶ enable bytes, objects left out (region.h)
 *   rings ─────────────────────────────────▶ what came before that is left out here
 *
 * Decided once per event class and once per object, when its init event is met. What the process still
 * wrote is left out when the ring is emptied, so that the trace holds exactly what the rules want. Init
 * events are always kept, but for those of processes that are not wanted.
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
struct process;
struct drain;
struct ring;

/**
 * filter_create() - a filter for a session, with no rules
 * @regex: for CARET's variables; NULL: they do not count
 *
 * Return: NULL without memory.
 */
struct filter *filter_create(const struct filter_regex *regex);

/** filter_free() - behind its session. NULL is fine. */
void filter_free(struct filter *filter);

/** filter_set() - other rules; a copy. In a session by session_set_rules(). Return: false without memory. */
bool filter_set(struct filter *filter, const struct filter_rules *rules);

/**
 * filter_set_caret() - CARET's lists for all processes, besides those of their own environments
 * @value: of each list; NULL: it says nothing. They replace those of before.
 * @say: is told what is no regular expression; may be NULL
 *
 * In a session by session_set_caret(). Return: false: the filter was made without regular expressions.
 */
bool filter_set_caret(struct filter *filter, const char *const value[CARET_LISTS],
		      void (*say)(void *context, const char *text), void *context);

/** filter_caret_of() - the text of a list that holds for all; NULL: it says nothing. */
const char *filter_caret_of(const struct filter *filter, enum filter_caret_list list);

/** filter_rules_of() - the rules, valid until they change. */
const struct filter_rules *filter_rules_of(const struct filter *filter);

/** filter_changes() - how often they were set after the first time. */
unsigned filter_changes(const struct filter *filter);

/* ---- of one process; process->filter is NULL where the session has no filter ---- */

struct filter_process;

/** filter_join() - @process is the session's. Nothing happens without memory: then all is recorded. */
void filter_join(struct filter *filter, struct process *process, struct drain *drain);
void filter_forget(struct process *process);

/** filter_rest() - @process is finished: only whether it was wanted, and its own rules, are still asked for. */
void filter_rest(struct process *process);

/** filter_has_own() - the rules of the program's environment. Return: malloc'ed text; NULL: none. */
char *filter_has_own(const struct process *process);

/** filter_wants_process() - whether anything of it is recorded. */
bool filter_wants_process(const struct process *process);

/** filter_enable() - say in the region which events are wanted. */
void filter_enable(struct process *process);

/** filter_look() - take what is new in the init log, if objects are told apart. Return: 0; -errno. */
int filter_look(struct process *process, struct drain *drain);

/** filter_taken() - up to which position of the init log it has done so; UINT64_MAX when it does not. */
uint64_t filter_taken(const struct process *process);

/** filter_settle() - say in the region which objects are left out. */
void filter_settle(struct process *process, struct drain *drain);

/** filter_changed() - the rules are others now: decide again. */
void filter_changed(struct process *process, struct drain *drain);

/** filter_left_out() - how many of its objects are known not to be wanted. */
unsigned filter_left_out(const struct process *process);

/** filter_leaves_out() - whether records may have to be left out of its rings. */
bool filter_leaves_out(const struct process *process);

/** filter_begin() - before its records are judged. Return: false: all of them are wanted, for now. */
bool filter_begin(struct process *process);

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
 *
 * Records of a ring are judged in their order; to judge one twice, or to begin again where ring->left_out_message
 * was as it is now, changes nothing.
 */
bool filter_record(struct process *process, struct ring *ring, const struct filter_one *one);

/* Records of a ring. */
struct filter_span {
	const uint8_t *bytes;
	size_t size;
	uint32_t records;
};

/**
 * filter_span() - leave out of @span what is not wanted
 * @scratch: room for it; where what is left stands afterwards, unless that is all of it
 *
 * Return: how many records are left out.
 */
uint32_t filter_span(struct process *process, struct ring *ring, uint8_t *scratch, struct filter_span *span);

#endif
