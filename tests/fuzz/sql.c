/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as SQL over a real trace; what takes long is interrupted by a signal, as by Ctrl-C. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "query/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct tables *tables;
static struct query *query;

static void on_timer(int signal)
{
	(void)signal;
	query_interrupt(query);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct sigaction action = { .sa_handler = on_timer };
	struct kymo_err err = { 0 };

	(void)argc, (void)argv;
	sigaction(SIGVTALRM, &action, NULL);
	return tables_open(&tables, (const char *const[]){ KYMO_FIXTURES "/lifecycle" }, 1, &err) || query_open(&query, tables, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Again and again: an interrupt ends one statement, and there may be many. */
	struct itimerval time = { .it_value = { .tv_usec = 200000 },
				  .it_interval = { .tv_usec = 20000 } };
	static const struct itimerval never;
	char *copy = malloc(size + 1);
	struct query_statement *statement;
	struct tables_value value;
	const char *sql = copy;
	struct kymo_err err = { 0 };
	unsigned rows = 0;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	copy[size] = 0;
	setitimer(ITIMER_VIRTUAL, &time, NULL);
	while (rows < 1000 && query_begin(query, sql, &sql, &statement, &err) > 0) {
		while (rows++ < 1000 && query_step(statement, &err) > 0)
			for (unsigned i = 0; i < query_columns(statement); i++) {
				(void)query_type(statement, i);
				query_value(statement, i, &value);
			}
		query_end(statement);
	}
	setitimer(ITIMER_VIRTUAL, &never, NULL);
	free(copy);
	return 0;
}
