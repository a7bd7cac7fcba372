/* SPDX-License-Identifier: Apache-2.0 */
/* The accounts of the recorders of one or several traces. */
#ifndef KYMO_CLI_INFO_RECORDERS_H
#define KYMO_CLI_INFO_RECORDERS_H

#include "base/table/table.h"
#include "accounts/accounts.h"
#include "cli/input/input_traces.h"

struct recorders {
	const struct cli_traces *traces;
	struct accounts *of;		/* of each of the traces */
	enum accounts_end *end;         /* how each of them ended */
	enum accounts_end end_of_all;
	unsigned *of_trace;		/* which of them each of the reader's traces is in */
	/*
	 * Sums. Of several traces: only counts; present if one has accounts, ended if all recorders
	 * ended in order.
	 */
	struct accounts all;
};

/**
 * recorders_read() - the accounts of all @traces, which @reader has open
 * @problem: why accounts cannot be used, in a sentence; else ""
 *
 * Context: allocates and blocks. Return: 0, or -1 with @err: no memory.
 */
int recorders_read(struct recorders *recorders, const struct cli_traces *traces,
		   const struct kymo_ctf_reader *reader, char problem[512], struct kymo_err *err);
void recorders_free(struct recorders *recorders);

/** recorders_process() - the account of a process in the reader's trace @trace; NULL: none. */
const struct account_process *recorders_process(const struct recorders *recorders, unsigned trace,
						int32_t vpid);
const struct accounts_thread *recorders_thread(const struct recorders *recorders, unsigned trace,
					       int32_t vpid, int32_t vtid);

/**
 * recorders_ended() - did the recorder of the reader's trace @trace end in order? Otherwise its
 * losses are not known.
 */
bool recorders_ended(const struct recorders *recorders, unsigned trace);

/** recorders_show() - print a row for each of several traces; nothing for one trace. */
void recorders_show(const struct recorders *recorders, struct table *table);

#endif
