/* SPDX-License-Identifier: Apache-2.0 */
/* kymo events: the events of a trace with their fields, or the table of tracepoints. */
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "abi/points.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"
#include "cli/input/answer.h"
#include "cli/input/input_events.h"
#include "cli/input/trace_time.h"
#include "base/array.h"

struct list_options {
	int format;
	bool points;
	struct opt_list event;
	struct selection selection;
	struct cli_times times;
};

static const struct opt opts[] = {
	{ "points", 'P', OPT_FLAG, offsetof(struct list_options, points), NULL,
	  "list the tracepoints that kymo records or reads, instead of those of a trace", NULL },
	{ "event", 'e', OPT_LIST, offsetof(struct list_options, event), "GLOB",
	  "only events whose name matches, such as 'ros2:callback_*'; may be repeated", NULL },
	CLI_OPT_SELECTION(struct list_options, 'n'),
	CLI_OPT_WINDOW(struct list_options, "what is"),
	CLI_OPT_CLOCK(struct list_options),
	CLI_OPT_MERGE(struct list_options),
	CLI_OPT_FORMAT(struct list_options),
	CLI_OPT_SCREEN(0),
	CLI_OPT_END
};

#define FIELDS_MAX 1024 /* bytes of the text that lists a class's fields */

static bool wanted(const struct list_options *options, const char *name)
{
	bool found = !options->event.count;

	for (unsigned i = 0; i < options->event.count && !found; i++)
		found = !fnmatch(options->event.item[i], name, 0);
	return found;
}

/* ---- tracepoints ---- */

static void version_text(char *out, size_t size, const struct kymo_point *point)
{
	if (point->from > point->to)
		(void)snprintf(out, size, "read only");
	else if (!point->from && point->to == KYMO_V_LAST)
		(void)snprintf(out, size, "all");
	else if (point->to == KYMO_V_LAST)
		(void)snprintf(out, size, "%u.%u-", point->from >> 8, point->from & 255);
	else if (!point->from)
		(void)snprintf(out, size, "-%u.%u", point->to >> 8, point->to & 255);
	else
		(void)snprintf(out, size, "%u.%u-%u.%u", point->from >> 8, point->from & 255,
			       point->to >> 8, point->to & 255);
}

static void append(char *out, size_t size, const char *name, const char *type)
{
	size_t used = strlen(out);

	(void)snprintf(out + used, size - used, "%s%s: %s", used ? ", " : "", name, type);
}

static int list_points(const struct list_options *options)
{
	static const struct table_column columns[] = {
		{ "name", "NAME" },     { "phase", "PHASE" },  { "versions", "TRACETOOLS" },
		{ "fields", "FIELDS" }, { "text", "MEANING" },
	};
	static const char *const kinds[] = {
		[KYMO_KIND_PTR] = "u64 (hex)", [KYMO_KIND_U64] = "u64",
		[KYMO_KIND_I64] = "i64",       [KYMO_KIND_BOOL] = "i32",
		[KYMO_KIND_STR] = "string",    [KYMO_KIND_GID16] = "u8[16]",
		[KYMO_KIND_GID24] = "u8[24]",  [KYMO_KIND_PTRS] = "u64 (hex)[]",
	};
	struct table *table;

	screen_page();
	if (cli_table("events", options->format, &table))
		return KYMO_EXIT_FAILED;
	table_section(table, "points", "Tracepoints", columns, COUNT_OF(columns));
	for (unsigned i = 0; i < KYMO_POINTS_TABLE; i++) {
		const struct kymo_point *point = &kymo_points[i];
		char name[128], versions[32], fields[FIELDS_MAX] = "";

		(void)snprintf(name, sizeof name, "%s:%s", point->provider, point->name);
		if (!wanted(options, name))
			continue;
		version_text(versions, sizeof versions, point);
		for (unsigned k = 0; k < point->field_count; k++)
			append(fields, sizeof fields, point->field[k].name,
			       kinds[point->field[k].kind]);
		table_text(table, name);
		table_text(table, point->phase == KYMO_PHASE_INIT ? "init" : "run");
		table_text(table, versions);
		table_text(table, fields);
		table_text(table, point->text);
	}
	return cli_close("events", table, KYMO_EXIT_OK);
}

/* ---- events of a trace ---- */

struct event_row {
	const struct kymo_ctf_event_class *class;
	uint64_t count;
	int64_t first_ns, last_ns; /* epoch */
};

static void describe(const struct kymo_ctf_event_class *class, char fields[FIELDS_MAX])
{
	*fields = 0;
	for (uint32_t k = 0; k < class->field_count; k++)
		append(fields, FIELDS_MAX, class->field[k].name, class->field[k].type);
}

/* The same event of two traces or streams is one row. */
static int by_name(const void *a, const void *b)
{
	const struct kymo_ctf_event_class *x = ((const struct event_row *)a)->class,
					  *y = ((const struct event_row *)b)->class;
	int order = strcmp(x->name, y->name);

	for (uint32_t k = 0; !order && k < x->field_count && k < y->field_count; k++) {
		order = strcmp(x->field[k].name, y->field[k].name);
		if (!order)
			order = strcmp(x->field[k].type, y->field[k].type);
	}
	return order ? order
		     : (x->field_count > y->field_count) - (x->field_count < y->field_count);
}

static unsigned merge_rows(struct event_row *row, unsigned count)
{
	unsigned kept = 0;

	for (unsigned i = 1; i < count; i++) {
		struct event_row *to = &row[kept];

		if (by_name(to, &row[i])) {
			row[++kept] = row[i];
			continue;
		}
		if (row[i].count && (!to->count || row[i].first_ns < to->first_ns))
			to->first_ns = row[i].first_ns;
		if (row[i].count && (!to->count || row[i].last_ns > to->last_ns))
			to->last_ns = row[i].last_ns;
		to->count += row[i].count;
	}
	return count ? kept + 1 : 0;
}

static int count_events(struct events *events, struct event_row *row, int64_t *begin_ns,
			struct kymo_err *err)
{
	struct kymo_ctf_event event;
	bool any = false;
	int more;

	while ((more = events_next(events, &event, err)) > 0) {
		struct event_row *r;

		if (event.bound == KYMO_CTF_LOSS)
			continue;
		r = &row[event.class->index];
		if (!r->count++)
			r->first_ns = event.ns;
		r->last_ns = event.ns;
		if (!any)
			*begin_ns = event.ns;
		any = true;
	}
	return more;
}

/* Return: exit status. */
static int print_rows(struct table *table, const struct list_options *options, bool limited,
		      const struct event_row *row, unsigned count, int64_t begin_ns)
{
	static const struct table_column columns[] = {
		{ "name", "NAME" },    { "count", "COUNT" },   { "first_ns", "FIRST" },
		{ "last_ns", "LAST" }, { "fields", "FIELDS" },
	};
	char fields[FIELDS_MAX];
	bool any = false;

	table_section(table, "events", "Events; times since the trace's beginning", columns,
		      COUNT_OF(columns));
	for (unsigned i = 0; i < count; i++) {
		if (!wanted(options, row[i].class->name) || (limited && !row[i].count))
			continue;
		any = true;
		table_text(table, row[i].class->name);
		table_u64(table, row[i].count);
		if (row[i].count) {
			table_ns(table, row[i].first_ns - begin_ns);
			table_ns(table, row[i].last_ns - begin_ns);
		} else {
			table_none(table);
			table_none(table);
		}
		describe(row[i].class, fields);
		table_text(table, fields);
	}
	if (!any)
		table_value_text(table, "why_empty", "Nothing to show",
				 limited ? "no event matches the options; `kymo events` without "
					   "options shows all"
				 : options->event.count
					 ? "no event's name matches --event; `kymo events` without "
					   "it shows all"
					 : "the metadata of the trace declare no event");
	return any ? KYMO_EXIT_OK : KYMO_EXIT_EMPTY;
}

/* Return: exit status; -1 with @err. */
static int list_events(const struct list_options *options, struct answer *answer,
		       struct kymo_err *err)
{
	struct events events = {
		.reader = answer->reader,
		.selection = &options->selection,
		.clock = answer->clock,
		.begin_ns = answer->begin_ns,
		.end_ns = answer->end_ns,
	};
	unsigned count = kymo_ctf_class_count(answer->reader);
	struct event_row *row = calloc(count + 1, sizeof *row);
	int64_t begin_ns = 0;
	int status = -1;

	if (!row)
		return err_no_memory(err);
	for (unsigned i = 0; i < count; i++)
		row[i].class = kymo_ctf_class(answer->reader, i);
	if (!events_open(&events, err) && count_events(&events, row, &begin_ns, err) >= 0 &&
	    !answer_begin(answer, options->format, err)) {
		qsort(row, count, sizeof *row, by_name);
		status = print_rows(answer->table, options, events_limited(&events), row,
				    merge_rows(row, count), begin_ns);
	}
	events_close(&events);
	free(row);
	return status;
}

static int list_run(int argc, char **argv, struct kymo_err *err)
{
	struct list_options options = { 0 };
	const struct cli_times *times = &options.times;
	struct answer_kept kept;
	struct answer answer;
	int status = -1;

	answer_command(&kept, "events", argc, argv);
	if (opt_parse(opts, &options, &argc, &argv, NULL, err))
		return -1;
	if (options.points && argc)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--points lists kymo's own tracepoints; leave out the trace");
	if (options.points &&
	    (times->begin || times->end || times->clock || selection_any(&options.selection)))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--points only works with --event: it is not about a trace");
	if (options.points)
		return list_points(&options);
	if (cli_one_operand(argc, argv, err))
		return -1;
	if (answer_recall(&kept, argc, argv)) {
		kept_close(&kept.kept);
		return KYMO_EXIT_OK;
	}
	if (!answer_open(&answer, "events", argc, argv, times, err)) {
		answer.warnings = UINT_MAX;
		answer.kept = &kept;
		status = answer_close(&answer, list_events(&options, &answer, err), false);
	}
	kept_close(&kept.kept);
	return status;
}

const struct verb verb_events = {
	.name = "events",
	.synopsis = "[TRACE]",
	.summary = "list the events of a trace, or the tracepoints",
	.description = "Lists every event that the metadata of TRACE declares: how often it "
		       "occurs, when it occurs first and last (since the trace's beginning), and "
		       "its fields with their types. Without TRACE: the newest trace. With "
		       "--begin, --end, --node, --topic or --process: only events that occur "
		       "there, and how often. `kymo dump --help` explains which process, node and "
		       "topic an event belongs to.\n\n"
		       "With --points: the tracepoints that kymo can record, and the tracetools "
		       "versions that have them.\n\n" CLI_CLOCK_HELP,
	.examples = "kymo events\n"
		    "kymo events my_session --event 'ros2:rcl_*'\n"
		    "kymo events my_session --node /planner --begin +10s\n"
		    "kymo events --points --format csv",
	.common = "points event node begin end format",
	.opts = opts,
	.run = list_run,
};
