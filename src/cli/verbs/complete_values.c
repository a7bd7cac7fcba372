/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo --complete KIND [WORD...]`: what a shell offers for a value, one per line. Names come from
 * the trace that was typed, else from the newest. A shell waits for this while the user types, so
 * it prints nothing if something fails, and gives up after a second.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/common/common.h"
#include "cli/input/input_traces.h"
#include "cli/verbs/incidents/incidents_finish.h"
#include "cli/verbs/ls/recordings.h"
#include "incident/incident.h"
#include "query/query.h"
#include "recorder/trigger/trigger.h"

#define PATIENCE_S 1

static const struct {
	const char *kind, *sql;
} values[] = {
	{ "node", "SELECT DISTINCT full_name FROM nodes ORDER BY 1" },
	{ "topic", "SELECT DISTINCT name FROM topics ORDER BY 1" },
	{ "process", "SELECT DISTINCT name FROM processes ORDER BY 1" },
	{ "trigger", "SELECT word || '(' || name || ')' FROM (SELECT 'latency' AS word UNION SELECT 'lost' UNION SELECT "
		     "'rate' UNION SELECT 'silent'), (SELECT DISTINCT name FROM topics) UNION SELECT word || '(' || "
		     "full_name || ')' FROM (SELECT 'callback' AS word UNION SELECT 'cpu' UNION SELECT 'late'), "
		     "(SELECT DISTINCT full_name FROM nodes) ORDER BY 1" },
	{ "callback", "SELECT DISTINCT label FROM callbacks ORDER BY 1" },
	{ "action", "SELECT DISTINCT action FROM action_goals WHERE action IS NOT NULL ORDER BY 1" },
};

/* A name with an end of line or an escape sequence would be offered as something else. */
static void print_name(const char *name)
{
	char clean[1024];

	text_clean(clean, sizeof clean, name);
	if (*name && !strcmp(clean, name))
		puts(name);
}

static void print_rows(struct query *query, const char *sql)
{
	struct query_statement *statement;
	struct tables_value value;
	struct kymo_err err;
	const char *rest;

	if (query_begin(query, sql, &rest, &statement, &err) <= 0)
		return;
	while (query_step(statement, &err) > 0) {
		query_value(statement, 0, &value);
		if (value.is == TABLES_VALUE_TEXT)
			print_name(value.text);
	}
	query_end(statement);
}

/* The first word that is a recording; NULL: none is. */
static char **typed_trace(int count, char **words)
{
	for (int i = 0; i < count; i++)
		if (recording_is(words[i]))
			return &words[i];
	return NULL;
}

static void from_trace(const char *sql, char **trace)
{
	struct cli_traces traces;
	struct tables *tables;
	struct query *query;
	struct kymo_err err;

	if (cli_traces(&traces, trace ? 1 : 0, trace, &err) ||
	    tables_open(&tables, traces.path, traces.count, &err))
		return;
	if (!query_open(&query, tables, &err)) {
		print_rows(query, sql);
		query_close(query);
	}
	tables_close(tables);
}

static void sessions(void)
{
	char directory[CLI_PATH_MAX];
	struct recordings recordings;
	struct kymo_err err;

	if (cli_trace_dir(directory, &err) || recordings_find(&recordings, directory, &err))
		return;
	for (unsigned i = 0; i < recordings.count; i++)
		print_name(recordings.item[i].path);
	recordings_free(&recordings);
}

/* "chain(", "late", "late(" */
static void trigger_words(void)
{
	const struct trigger_word *word;

	for (unsigned i = 0; (word = trigger_word_at(i)); i++) {
		const size_t length = strcspn(word->text, "( ");

		printf("%.*s%s\n", (int)length, word->text, word->text[length] == '(' ? "(" : "");
	}
}

static void incident_words(void)
{
	char directory[CLI_PATH_MAX];
	struct incidents incidents;
	struct kymo_err err;

	puts("ls\nshow\nexport\nrm\nfinish");
	if (incidents_directory(directory, &err) < 0)
		return;
	if (incidents_read(directory, &incidents, &err) == 0)
		for (unsigned i = incidents.count; i-- > 0;)
			print_name(incidents.item[i].name);
	incidents_free(&incidents);
}

void complete_values(const char *kind, int count, char **words)
{
	(void)alarm(PATIENCE_S);
	(void)freopen("/dev/null", "w", stderr);
	if (!strcmp(kind, "session"))
		sessions();
	if (!strcmp(kind, "trigger"))
		trigger_words();
	if (!strcmp(kind, "incident"))
		incident_words();
	for (size_t i = 0; i < COUNT_OF(values); i++)
		if (!strcmp(kind, values[i].kind))
			from_trace(values[i].sql, typed_trace(count, words));
}
