/* SPDX-License-Identifier: Apache-2.0 */
/* kymo query: SQL over a trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/behaviour/behaviour.h"
#include "analysis/capture/capture.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"
#include "cli/verbs/query/query_print.h"
#include "cli/input/answer.h"
#include "cli/input/input_captures.h"
#include "cli/input/kept_copy.h"
#include "cli/input/trace_time.h"
#include "cli/input/input_runs.h"
#include "cli/input/input_traces.h"
#include "query/query.h"

struct options {
	int format;
	struct selection selection;
	struct cli_times times;
	int64_t window_ns;
	const char *model;
	struct opt_list capture;
	bool schema, quiet, strict;
};

static const struct opt opts[] = { CLI_OPT_FORMAT(struct options),
				   CLI_OPT_SCREEN('w'),
				   { "schema", 0, OPT_FLAG, offsetof(struct options, schema), NULL,
				     "print all tables with their columns and documentation",
				     NULL },
				   CLI_OPT_SELECTION(struct options, 'n'),
				   CLI_OPT_WINDOW(struct options, "what begins"),
				   CLI_OPT_OVER_TIME(struct options, "table"),
				   CLI_OPT_MODEL(struct options, "table behaviours"),
				   CLI_OPT_CAPTURE(struct options, "table packets"),
				   CLI_OPT_CLOCK(struct options),
				   CLI_OPT_MERGE(struct options),
				   CLI_OPT_QUIET(struct options),
				   CLI_OPT_STRICT(struct options),
				   CLI_OPT_END };

/* SQL, or a command of the prompt. A path that exists is a trace, and so is what looks like a path.
 */
static bool is_sql(const char *operand)
{
	const bool command =
		query_is_command(operand) && !strchr(operand, '/') && operand[1] != '.';

	return access(operand, F_OK) && (command || strpbrk(operand, " \t\n;("));
}

/* Before or behind the traces, as with the other verbs. */
static int take_sql(int *argc, char **argv, const char **sql, struct kymo_err *err)
{
	int at = -1;

	for (int i = 0; i < *argc; i++) {
		if (!is_sql(argv[i]))
			continue;
		if (at >= 0)
			return err_set(err, KYMO_EXIT_USAGE,
				       "'%.60s' is not a trace; put all SQL into one operand",
				       argv[i]);
		at = i;
	}
	if (at < 0 && *argc > 1 && access(argv[*argc - 1], F_OK))
		at = *argc - 1; /* SQL of one word */
	if (at < 0)
		return 0;
	*sql = argv[at];
	for (int i = at; i + 1 < *argc; i++)
		argv[i] = argv[i + 1];
	--*argc;
	return 0;
}

/* All of standard input. Return: NULL with @err. */
static char *read_input(struct kymo_err *err)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t length = getdelim(&text, &size, 0, stdin);

	if (length < 0 && ferror(stdin)) {
		free(text);
		err_set(err, KYMO_EXIT_INPUT, "cannot read standard input: %s", strerror(errno));
		return NULL;
	}
	if (length >= 0)
		return text;
	free(text);
	return strdup("");
}

static int fail(const struct kymo_err *err)
{
	query_print_error("kymo query: ", err);
	return err->status ? (int)err->status : KYMO_EXIT_FAILED;
}

/* @copy: of what is printed; NULL: none. */
static int ask(struct query *query, const char *path, const char *sql,
	       const struct options *options, struct kept_copy *copy)
{
	FILE *out;
	struct progress progress;
	struct kymo_err err = { 0 };
	char *input;
	int status;

	if (!sql && isatty(STDIN_FILENO))
		return query_prompt(query, path, options->format);
	input = sql ? strdup(sql) : read_input(&err);
	if (!input && sql)
		(void)err_no_memory(&err);
	if (!input)
		return fail(&err);
	if (!input[strspn(input, " \t\n;")]) {
		free(input);
		err_set(&err, KYMO_EXIT_USAGE, "no SQL given; write a statement such as \"SELECT * FROM nodes\"; "
			"`kymo query --schema` lists the tables");
		return cli_fail("query", &err);
	}
	screen_page(); /* which changes stdout */
	out = copy ? kept_copy_open(copy) : stdout;
	progress_begin(&progress, options->quiet);
	status = query_script(query, input, options->format, out, &progress, &err);
	free(input);
	return status ? fail(&err) : KYMO_EXIT_OK;
}

/* Whether nothing was printed that an answer which is kept would lack. */
static bool is_clean(const struct tables *tables, const struct cli_traces *traces, uint64_t lost)
{
	return !lost && !tables_warnings(tables) && !tables_lost(tables) &&
	       !tables_align(tables) && answer_is_clean(traces);
}

/* Asks, and keeps the answer if it will be the same. Return: the exit status. */
static int ask_and_keep(struct query *query, struct tables *tables, const struct cli_traces *traces,
			const char *sql, const struct options *options, struct answer_kept *kept)
{
	const bool keeps = *kept->kept.path != '\0';
	struct kept_copy copy = { 0 };
	uint64_t lost = 0;
	bool whole = false;
	int status;

	status = ask(query, traces->name, sql, options, keeps ? &copy : NULL);
	if (keeps)
		whole = kept_copy_close(&copy);
	if (!options->quiet) {
		cli_tables_warn("query", tables);
		lost = cli_traces_lost(traces, "query");
	}
	tables_files(tables, kept_needs, &kept->kept);
	if (status == KYMO_EXIT_OK && whole && is_clean(tables, traces, lost))
		kept_put(&kept->kept, copy.text, copy.size);
	if (keeps)
		free(copy.text);
	return status;
}

static int ask_traces(int argc, char **argv, const char *sql, const struct options *options,
		      struct answer_kept *kept, struct kymo_err *err)
{
	struct cli_traces traces;
	struct simclock *clock = NULL;
	struct behaviours *behaviours = NULL;
	struct captures *captures = NULL;
	struct tables *tables;
	struct query *query;
	int status;

	if (cli_traces(&traces, argc, argv, err) || cli_traces_distinct(&traces, err) ||
	    (!options->times.merge && cli_one_run_below("query", &traces, err)) ||
	    (options->model && behaviours_read(&behaviours, options->model, err)))
		return -1;
	if (cli_captures("query", &options->capture, &captures, err) ||
	    tables_open(&tables, traces.path, traces.count, err)) {
		captures_free(captures);
		behaviours_free(behaviours);
		return -1;
	}
	tables_set_behaviours(tables, behaviours);
	tables_set_captures(tables, captures);
	if (cli_select_tables(tables, traces.name, &options->selection, &options->times, &clock,
			      err) ||
	    tables_set_window(tables, options->window_ns, err) || query_open(&query, tables, err)) {
		tables_close(tables);
		simclock_free(clock);
		captures_free(captures);
		behaviours_free(behaviours);
		return -1;
	}
	if (!options->quiet)
		cli_print_hosts("query", tables_align(tables));
	status = ask_and_keep(query, tables, &traces, sql, options, kept);
	query_close(query);
	if (status == KYMO_EXIT_OK && options->strict && tables_lost(tables))
		status = KYMO_EXIT_LOSS;
	tables_close(tables);
	simclock_free(clock);
	captures_free(captures);
	behaviours_free(behaviours);
	return status;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };
	struct answer_kept kept;
	const char *sql = NULL;
	int status;

	answer_command(&kept, "query", argc, argv);
	if (opt_parse(opts, &options, &argc, &argv, NULL, err))
		return -1;
	if (options.schema) {
		screen_page();
		status = query_print_schema(-1, options.format, stdout);
		return status && status != -EPIPE ? KYMO_EXIT_FAILED : KYMO_EXIT_OK;
	}
	if (take_sql(&argc, argv, &sql, err))
		return -1;
	if (!sql || !query_is_same(sql) || options.model || options.capture.count)
		*kept.command = '\0'; /* an answer is kept for traces alone */
	status = answer_recall(&kept, argc, argv)
			 ? KYMO_EXIT_OK
			 : ask_traces(argc, argv, sql, &options, &kept, err);
	kept_close(&kept.kept);
	return status;
}

const struct verb verb_query = {
	.name = "query",
	.synopsis = "[TRACE...] ['SQL']",
	.summary = "ask a trace in SQL",
	.description =
		"Runs SQL on TRACE, or without it on the newest trace, and prints the result. "
		"Without SQL it shows a prompt, or reads SQL from standard input if that is not a "
		"terminal. You separate several statements by semicolons; each prints a table. The "
		"prompt's commands (.tables, .schema TABLE, .help) also work there and as an "
		"operand. SQL may come before or behind the traces.\n\n"
		"The tables contain objects (nodes, topics, publishers, subscriptions, timers, "
		"services, clients, callbacks, threads, processes) and what happened "
		"(callback_instances, messages, publications, lifecycle_states, spans, "
		"lost_events, every single one of events, ...). --schema prints them all; "
		"docs/answers/query.md has examples. Rows are read from the trace when they are "
		"needed; nothing is copied first, and memory does not grow with the trace.\n\n"
		"The SQL is that of SQLite, read-only. These functions are added: percentile(x, "
		"p), median(x), stddev(x), ns_to_text(ns) and time_to_text(ns). Times are "
		"nanoseconds since 1970 and durations nanoseconds; tables for people show them "
		"with units, JSON and CSV as they are.\n\n"
		"Traces of several hosts are read as one, after their clocks were compared by the "
		"messages between them. messages.clock_error_ns shows how well that works; a "
		"latency that is not longer than the error is NULL.\n\n"
		"--begin and --end choose what happened; objects always exist. --node, --topic and "
		"--process leave out rows that name others; tables that name none stay "
		"whole.\n\n" CLI_CLOCK_HELP "\n\n"
		"Exit status: 0; 1 when a statement failed while it ran; 2 when it is not valid "
		"SQL; 3 when TRACE "
		"is not a trace; 4 when events were lost in what was read, with --strict.",
	.examples = "kymo query 'SELECT node, source FROM callbacks'\n"
		    "kymo query TRACE 'SELECT callback, max(duration_ns) FROM callback_instances\n"
		    "    GROUP BY callback_id ORDER BY 2 DESC LIMIT 10'\n"
		    "kymo query TRACE --format csv 'SELECT * FROM messages' > messages.csv\n"
		    "kymo query TRACE .tables\n"
		    "kymo query --schema\n"
		    "kymo query TRACE",
	.common = "schema format wide node topic begin end",
	.opts = opts,
	.run = run,
};
