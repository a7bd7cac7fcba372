/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by summary.c, summary_merge.c, summary_startup.c, and the files that read and write. */
#ifndef KYMO_SUMMARY_INTERNAL_H
#define KYMO_SUMMARY_INTERNAL_H

#include "base/err.h"
#include "base/json_text.h"
#include "summary/summary.h"

/* The counts of struct summary_trust and of struct summary that add up, by their names in files.
 * The last ones are in no file for users: what limits left out (summary_limit.h). */
#define SUMMARY_TRUST_COUNTS(X)                                                     \
	X(lost_events) X(lost_packets) X(lost_kernel_events) X(lost_kernel_packets) \
	X(damaged) X(callbacks) X(unnamed) X(other_host) X(unended) X(growing)
#define SUMMARY_LEFT_COUNTS(X) X(over) X(left_objects) X(left_events)

/* Is one of its start-up values as long as usually or longer? Else it changes no finding. */
bool summary_startup_matters(const struct summary_entity *entity, enum summary_distribution which);

/* "latency_steady_ns": the key of the largest value that is not start-up. Return: @key. */
const char *summary_steady_key(char key[32], enum summary_distribution which);

void summary_startup_free(struct summary_entity *entity);
/* Before the histograms of @from are merged into those of @entity. */
void summary_startup_merge(struct summary *into, struct summary_entity *entity,
			   const struct summary_entity *from);

/* summary_file.c: the text of a file, to be freed; and a file of @json. Return: 0; -1 with @err. */
int summary_file_load(const char *path, char **text, struct kymo_err *err);
int summary_file_put(const char *path, const struct json_text *json, struct kymo_err *err);

#endif
