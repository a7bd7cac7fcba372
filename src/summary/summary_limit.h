/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A limit on the entities of summaries that follow each other, so that a flood of names cannot take
 * all memory. The first entities of each kind have room, and keep it in all later summaries; all
 * others of that kind count together, as one entity with the name "(other)".
 *
 *   limit = summary_limit_new(1000);
 *   summary->limit = limit;		before the first summary_entity()
 *   summary_limit_end(summary);	after the last one
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_SUMMARY_LIMIT_H
#define KYMO_SUMMARY_LIMIT_H

#include "summary/summary.h"

#define SUMMARY_OTHER "(other)"

struct summary_limit;

/** summary_limit_new() - @most: entities of each kind. Return: NULL without memory. */
struct summary_limit *summary_limit_new(unsigned most);
void summary_limit_free(struct summary_limit *limit);

/** summary_limit_has() - does the entity have room? A new one takes it. @limit: NULL: all have. */
bool summary_limit_has(struct summary_limit *limit, enum summary_kind kind, const char *name,
		       const char *of);

/** summary_is_other() - @entity is what has no room, together. */
bool summary_is_other(const struct summary_entity *entity);

/** summary_count_other() - count @count more of "(other)" of @kind. Without memory, summary->failed is
 * set. */
void summary_count_other(struct summary *summary, enum summary_kind kind,
			 enum summary_counter counter, uint64_t count);

/** summary_limit_end() - what only one entity can have is removed from "(other)": a period, a
 * question, ... */
void summary_limit_end(struct summary *summary);

#endif
