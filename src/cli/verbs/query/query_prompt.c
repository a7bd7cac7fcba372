/* SPDX-License-Identifier: Apache-2.0 */
/* See query_print.h. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/opt.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"
#include "cli/verbs/query/query_lines.h"
#include "cli/verbs/query/query_print.h"

struct prompt {
	struct query *query;
	enum table_format format;
	char *statement;		/* written so far; NULL: none */
};

/* ---- dot commands ---- */

static int show_tables(struct prompt *prompt, const char *argument)
{
	(void)prompt, (void)argument;
	for (unsigned i = 0; i < TABLES; i++)
		screen_say(stdout, (unsigned)printf("%-25s ", tables_table[i].name), 26, tables_table[i].text);
	return 0;
}

static int show_schema(struct prompt *prompt, const char *argument)
{
	int table = *argument ? tables_find(argument) : -1;
	char clean[256];

	(void)prompt;
	if (*argument && table < 0) {
		text_clean(clean, sizeof(clean), argument);
		printf("Unknown table %s; .tables lists all.\n", clean);
		return 0;
	}
	return query_print_schema(table, TABLE_TEXT, stdout);
}

static int set_format(struct prompt *prompt, const char *argument)
{
	static const char *const names[] = { "table", "json", "csv" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(argument, names[i])) {
			prompt->format = (enum table_format)i;
			return 0;
		}
	puts("Formats are: table, json, csv.");
	return 0;
}

static int set_wide(struct prompt *prompt, const char *argument)
{
	(void)prompt;
	if (strcmp(argument, "on") && strcmp(argument, "off") && *argument)
		puts("Write .wide on, or .wide off.");
	else
		opt_screen.wide = !*argument ? !opt_screen.wide : !strcmp(argument, "on");
	printf("Long texts are %s.\n", opt_screen.wide ? "whole" : "cut to the terminal");
	return 0;
}

static int quit(struct prompt *prompt, const char *argument)
{
	(void)prompt, (void)argument;
	return 1;
}

static int show_help(struct prompt *prompt, const char *argument);

static const struct {
	const char *name;
	int (*run)(struct prompt *prompt, const char *argument);
	const char *text;
} commands[] = {
	{ ".tables", show_tables, "list all tables" },
	{ ".schema", show_schema, "[TABLE]: columns and their documentation" },
	{ ".format", set_format, "table|json|csv: how results are printed" },
	{ ".wide", set_wide, "on|off: whole texts, or cut to the terminal" },
	{ ".help", show_help, "show this help" },
	{ ".quit", quit, "leave; Ctrl-D does the same" },
	{ ".exit", quit, NULL },
};
#define COMMANDS (COUNT_OF(commands))

static int show_help(struct prompt *prompt, const char *argument)
{
	(void)prompt, (void)argument;
	for (size_t i = 0; i < COMMANDS; i++)
		if (commands[i].text)
			printf("%-10s %s\n", commands[i].name, commands[i].text);
	puts("A statement ends with a semicolon. Ctrl-C ends a running one.\n"
	     "Added to SQLite's functions: percentile(x, p), median(x), stddev(x), ns_to_text(ns), "
	     "time_to_text(ns).");
	return 0;
}

/* Return: 1: leave; -1: there is no such command; what it returned. */
static int run_command(struct prompt *prompt, char *line)
{
	char *argument = line + strcspn(line, " \t"), *end;

	if (*argument)
		*argument++ = 0;
	argument += strspn(argument, " \t");
	end = argument + strlen(argument);
	while (end > argument && isspace((unsigned char)end[-1]))
		*--end = 0;
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, line))
			return commands[i].run(prompt, argument) > 0;
	return -1;
}

/* ---- statements ---- */

static void run_statement(struct prompt *prompt)
{
	struct progress progress;
	struct kymo_err err = { 0 };
	int status;

	progress_begin(&progress, false);
	query_lines_run(prompt->query);
	status = query_print(prompt->query, prompt->statement, prompt->format, stdout, &progress,
			     &err);
	query_lines_run(NULL);
	if (status)
		query_print_error("", &err);
}

static int enter_line(struct prompt *prompt, char *line)
{
	char *joined;

	if (!prompt->statement && line[strspn(line, " \t")] == '.') {
		int status;

		query_lines_keep(line);
		status = run_command(prompt, line + strspn(line, " \t"));
		if (status < 0)
			puts("Unknown command; .help lists all.");
		return status > 0;
	}
	if (asprintf(&joined, "%s%s%s", prompt->statement ? prompt->statement : "",
		     prompt->statement ? "\n" : "", line) < 0)
		return -1;
	free(prompt->statement);
	prompt->statement = joined;
	if (!joined[strspn(joined, " \t\n")]) {
		free(joined);
		prompt->statement = NULL;
		return 0;
	}
	query_lines_keep(line);
	if (!query_complete(joined))
		return 0;
	run_statement(prompt);
	free(prompt->statement);
	prompt->statement = NULL;
	return 0;
}

static void loop(struct prompt *prompt)
{
	bool interrupted;
	char *line;
	int status = 0;

	do {
		line = query_lines_next(prompt->statement ? "  ...> " : "kymo> ", &interrupted);
		if (interrupted) {
			free(prompt->statement);
			prompt->statement = NULL;
			puts("");
		} else if (line) {
			status = enter_line(prompt, line);
		}
		free(line);
	} while ((line || interrupted) && !status);
	if (!line)
		puts("");
}

int query_prompt(struct query *query, const char *path, enum table_format format)
{
	struct prompt prompt = { .query = query, .format = format };
	struct query_lines lines = { 0 };
	char clean[CLI_PATH_MAX];

	text_clean(clean, sizeof(clean), path);
	printf("%s\n.help lists the commands.\n", clean);
	query_lines_open(&lines);
	loop(&prompt);
	query_lines_close(&lines);
	free(prompt.statement);
	return KYMO_EXIT_OK;
}

/* ---- the same without a terminal ---- */

bool query_is_command(const char *text)
{
	return text[strspn(text, " \t\n")] == '.';
}

/* Where the statements at @sql end: at a line that is a dot command, with all before it complete.
 */
static char *statements_end(char *sql)
{
	for (char *line = strchr(sql, '\n'); line; line = strchr(line + 1, '\n')) {
		bool ends = false;

		if (line[1 + strspn(line + 1, " \t")] == '.') {
			*line = 0;
			ends = query_complete(sql);
			*line = '\n';
		}
		if (ends)
			return line;
	}
	return sql + strlen(sql);
}

static int script_command(struct prompt *prompt, char *line, struct kymo_err *err)
{
	int status;

	line += strspn(line, " \t");
	status = run_command(prompt, line);
	return status < 0 ? err_set(err, KYMO_EXIT_USAGE,
				    "unknown command '%.100s'; .help lists all commands", line)
			  : status;
}

/* A call of a function whose name ends with @name, which may be in quotes; it may have a comment
 * behind it. */
static bool calls(const char *sql, const char *name)
{
	while ((sql = strcasestr(sql, name))) {
		sql += strlen(name);
		sql += strspn(sql, "\"`] \t\r\n\f");
		if (*sql && strchr("(/-", *sql))
			return true;
	}
	return false;
}

bool query_is_same(const char *sql)
{
	static const char *const words[] = { "random", "now", "current_", "unixepoch" };
	/* Those of date and time give the present time if nothing else is asked for. */
	static const char *const functions[] = { "date", "time", "day", "changes" };

	for (const char *line = sql; line; line = strchr(line, '\n')) {
		line += strspn(line, " \t\n");
		if (query_is_command(line))
			return false;
	}
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strcasestr(sql, words[i]))
			return false;
	for (size_t i = 0; i < COUNT_OF(functions); i++)
		if (calls(sql, functions[i]))
			return false;
	return true;
}

int query_script(struct query *query, char *text, enum table_format format, FILE *out,
		 struct progress *progress, struct kymo_err *err)
{
	struct prompt prompt = { .query = query, .format = format };
	int status = 0;

	while (!status && text[strspn(text, " \t\n;")]) {
		const bool command = query_is_command(text);
		char *next, *end;

		if (command)
			text += strspn(text, " \t\n");
		end = command ? text + strcspn(text, "\n") : statements_end(text);
		next = *end ? end + 1 : end;
		*end = 0;
		status = command ? script_command(&prompt, text, err)
				 : query_print(query, text, prompt.format, out, progress, err);
		text = next;
	}
	return status < 0 ? -1 : 0;
}
