/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo ls`: what was recorded. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/table/table.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"
#include "cli/verbs/ls/recordings.h"

#define ROWS_MAX 20 /* in text without --all */
#define DAY_S 86400
#define WHEN_MAX 32
#define WIDE 160 /* columns from which a sentence fits beside the rest */

struct options {
	int format;
	bool all;
};

static const struct opt opts[] = {
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "list every recording; without it, the table for people stops after the newest 20",
	  NULL },
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_SCREEN(0),
	CLI_OPT_END
};

/* "today 23:35", "Tue 14:02" of the last six days, else the date. Midnights, not days of 24 hours.
 */
static void print_when(char out[WHEN_MAX], const struct recording *recording)
{
	const time_t now = time(NULL), then = (time_t)(recording->begin_ns / 1000000000);
	struct tm today, day;
	time_t midnight;

	if (recording->running) {
		(void)snprintf(out, WHEN_MAX, "running");
		return;
	}
	if (!recording->end_ns || !localtime_r(&now, &today) || !localtime_r(&then, &day)) {
		(void)snprintf(out, WHEN_MAX, "-");
		return;
	}
	today.tm_hour = today.tm_min = today.tm_sec = 0;
	midnight = mktime(&today);
	if (then >= midnight && then < midnight + DAY_S)
		(void)strftime(out, WHEN_MAX, "today %H:%M", &day);
	else if (then < midnight && then >= midnight - 6 * DAY_S)
		(void)strftime(out, WHEN_MAX, "%a %H:%M", &day);
	else
		(void)strftime(out, WHEN_MAX, "%Y-%m-%d %H:%M", &day);
}

/* The path below @directory; the last part of @directory's own path where it is the recording. */
static const char *name_in(const char *directory, const char *path)
{
	const size_t length = strlen(directory);

	if (!strncmp(path, directory, length) && path[length] == '/')
		return path + length + strspn(path + length, "/");
	return path;
}

static void show_people(struct table *table, const char *directory,
			const struct recordings *recordings, bool all)
{
	static const struct table_column columns[] = {
		{ "when", "WHEN" },     { "length", "LENGTH" },
		{ "events", "EVENTS" }, { "processes", "PROCESSES" },
		{ "size", "SIZE" },     { "findings", "FINDINGS" },
		{ "name", "NAME" },     { "note", "" },
		{ "finding", "FIRST FINDING" },
	};
	const bool wide = !screen_width() || screen_width() >= WIDE;
	const unsigned count = all || recordings->count < ROWS_MAX ? recordings->count : ROWS_MAX;
	char when[WHEN_MAX];

	table_section(table, "recordings", "Recordings", columns, COUNT_OF(columns) - !wide);
	table_rank(table, "name note length findings size events processes");
	for (unsigned i = 0; i < count; i++) {
		const struct recording *recording = &recordings->item[i];

		print_when(when, recording);
		table_text(table, when);
		if (recording->end_ns)
			table_ns(table, recording->end_ns - recording->begin_ns);
		else
			table_none(table);
		cli_cell(table, recording->counted, recording->events);
		cli_cell(table, recording->counted, recording->processes);
		table_bytes(table, recording->bytes);
		cli_cell(table, recording->finding, recording->findings);
		table_text(table, name_in(directory, recording->path));
		table_text(table, recording->note);
		if (wide)
			table_text(table, recording->finding ? recording->finding : "");
	}
	if (count < recordings->count)
		table_note(table, "... and %u more; --all shows them", recordings->count - count);
}

static void text_or_none(struct table *table, const char *text)
{
	if (text && *text)
		table_text(table, text);
	else
		table_none(table);
}

static void show_programs(struct table *table, const char *directory,
			  const struct recordings *recordings)
{
	static const struct table_column columns[] = {
		{ "name", NULL },    { "path", NULL },     { "begin_ns", NULL },
		{ "end_ns", NULL },  { "events", NULL },   { "processes", NULL },
		{ "bytes", NULL },   { "lost", NULL },     { "lost_packets", NULL },
		{ "running", NULL }, { "complete", NULL }, { "note", NULL },
		{ "findings", NULL }, { "finding", NULL }, { "ask", NULL },
	};

	table_section(table, "recordings", "Recordings", columns, COUNT_OF(columns));
	for (unsigned i = 0; i < recordings->count; i++) {
		const struct recording *recording = &recordings->item[i];

		table_text(table, name_in(directory, recording->path));
		table_text(table, recording->path);
		if (recording->end_ns) {
			table_time(table, recording->begin_ns);
			table_time(table, recording->end_ns);
		} else {
			table_none(table);
			table_none(table);
		}
		cli_cell(table, recording->counted, recording->events);
		cli_cell(table, recording->counted, recording->processes);
		table_bytes(table, recording->bytes);
		table_u64(table, recording->lost);
		table_u64(table, recording->lost_packets);
		table_u64(table, recording->running);
		table_u64(table, recording->complete);
		table_text(table, recording->note);
		cli_cell(table, recording->finding, recording->findings);
		text_or_none(table, recording->finding);
		text_or_none(table, recording->ask);
	}
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };
	char directory[CLI_PATH_MAX];
	struct recordings recordings;
	struct table *table;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) || cli_one_operand(argc, argv, err))
		return -1;
	if (argc)
		(void)snprintf(directory, sizeof(directory), "%s", argv[0]);
	else if (cli_trace_dir(directory, err))
		return -1;
	for (size_t end = strlen(directory); end > 1 && directory[end - 1] == '/'; end--)
		directory[end - 1] = 0;
	if (!argc && access(directory, F_OK)) {
		recordings = (struct recordings){ 0 };
	} else if (recordings_find(&recordings, directory, err)) {
		return -1;
	}
	screen_page();
	if (cli_table("ls", options.format, &table)) {
		recordings_free(&recordings);
		return KYMO_EXIT_FAILED;
	}
	if (options.format != TABLE_TEXT)
		show_programs(table, directory, &recordings);
	else if (recordings.count)
		show_people(table, directory, &recordings, options.all);
	else
		table_note(table, "No recordings in %s. Make one: kymo record", directory);
	recordings_free(&recordings);
	return cli_close("ls", table, KYMO_EXIT_OK);
}

const struct verb verb_ls = {
	.name = "ls",
	.synopsis = "[DIR]",
	.summary = "list what was recorded",
	.description = "Lists the recordings in DIR and in the directories below it, the newest "
		       "first: when each began, how long it is, how many events of how many "
		       "processes it has, and how large it is. The last column says what is wrong "
		       "with a recording: events that were lost, a recorder that did not end in "
		       "order, damage. It is empty where nothing is known to be missing. FINDINGS "
		       "is how many things `kymo report` found, with \"-\" where neither report, "
		       "why nor diff has read the whole recording yet; a wide terminal, --wide and "
		       "--format json also show the first finding.\n\n"
		       "Without DIR: $ROS_TRACE_DIR, else $ROS_HOME/tracing, else ~/.ros/tracing, "
		       "where `kymo record` writes without -o. Only the recorder knows how many "
		       "events there are; recordings of LTTng have \"-\" there.\n\n"
		       "`kymo rm` removes recordings.",
	.examples = "kymo ls\n"
		    "kymo ls traces --format json",
	.opts = opts,
	.run = run,
};
