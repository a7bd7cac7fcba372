/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the sections that read the trace once more: section_system.c, section_profile.c. */
#ifndef KYMO_REPORT_SECTION_SYSTEM_H
#define KYMO_REPORT_SECTION_SYSTEM_H

#include "analysis/system/system_profile.h"
#include "report/report_internal.h"

/* A pass of its own; @analysis stays with the caller. Return: 0, or -1 with report->err. */
int section_read_again(struct report *report, const struct pass_ops *ops, void *analysis);

/* Does the user want @thread? A process has the name of its main thread, here as well. */
bool section_wants_thread(const struct report *report, const struct os_threads *threads,
			  const struct os_thread *thread);

/* The section has no rows, because of @text. */
void section_tell_missing(struct report *report, const char *text);

/* Three cells: thread, name, process. */
void section_cells_thread(struct table *table, const struct os_thread *thread);

/*
 * A pass over the functions of the trace: entries and exits, or samples if there are none;
 * @samples_first: the other way round. Return: 0, or -1 with report->err; profile_free() @profile
 * in each case.
 */
int section_read_profile(struct report *report, struct profile *profile, bool samples_first);

/* table_section() whose columns @empty, up to a NULL, have no values in this trace: text does not
 * show them. */
void section_begin_without(struct report *report, const char *key, const char *title,
			   const struct table_column *columns, unsigned count,
			   const char *const empty[]);

/* What a reader of these functions should know. */
void section_profile_notes(struct report *report, const struct profile *profile);

#endif
