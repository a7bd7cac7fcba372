/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a callback or a chain, if several processes of one name have callbacks of these
 * names: "driver 4711", of several hosts "driver 4711 @left". And the other way round: operands
 * that name them, "/scan -> /cmd_vel (driver 4710, filter 4711 @left)".
 *
 * Context: not thread-safe, nothing allocates or blocks.
 */
#ifndef KYMO_REPORT_WAYS_H
#define KYMO_REPORT_WAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/chains/chains.h"
#include "analysis/model/model.h"

/**
 * report_ways_callback() - the process of @callback; "": there is one with a callback of this name
 * @typed: as `kymo why` takes it, "driver 4711"; else "driver (4711)"
 *
 * Return: @buffer.
 */
char *report_ways_callback(const struct model *model, const struct model_callback *callback,
			   bool typed, char *buffer, size_t size);

/** report_ways_chain() - those on the way of a chain, in its order: "driver 4711, filter 4712". As
 * above; not @typed: each once. */
char *report_ways_chain(const struct model *model, const struct chains_path *path, bool typed,
			char *buffer, size_t size);

/** report_ways_in() - where @text names its processes, at " ("; NULL: it names none. */
const char *report_ways_in(const char *text);

/**
 * report_ways_split() - an operand in two: its name in @name, its processes in @ways
 * @ways: set to "driver 4710, filter 4711)"; "": it names none
 *
 * Return: false: it names none, or @name is too small; @name is not set then.
 */
bool report_ways_split(const char *text, char *name, size_t size, char *ways, size_t ways_size);

/** report_ways_is() - is @process the first of @ways? "": yes. */
bool report_ways_is(const char *ways, const struct model_process *process);

/** report_ways_leads() - does the chain lead through @ways, in this order? 0: no; 1: through others
 * of these names, too; 2: yes. */
unsigned report_ways_leads(const char *ways, const struct chains_path *path);

/* Operands in the quotes of a shell: "'/scan -> /cmd_vel (filter 4711)', '/scan ...'". */
#define REPORT_TYPED_MAX 1024
#define REPORT_TYPED_SHOWN 4u
struct report_typed {
	char text[REPORT_TYPED_MAX];
	unsigned count; /* also of those that had no room */
};

/** report_typed_add() - @name of the processes @ways, "filter 4711", unless it is there already. */
void report_typed_add(struct report_typed *typed, const char *name, const char *ways);

/** report_typed_chains() - @pattern of each chain that arrived. */
void report_typed_chains(const struct model *model, const struct chains *chains,
			 const char *pattern, struct report_typed *typed);

/** report_typed_text() - nothing ran in @ways; what did instead. Return: @buffer. */
const char *report_typed_text(const struct report_typed *typed, const char *name, const char *ways,
			      char *buffer, size_t size);

#endif
