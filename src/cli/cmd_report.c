/* SPDX-License-Identifier: Apache-2.0 */
/* kymo report: which callback was slow, which message late, and behind whom it waited. */
#include <stdio.h>

#include "cli/common.h"
#include "ctf/reader.h"
#include "report/report.h"

#define WARNINGS_SHOWN 5u

struct options {
	int format;
	struct opt_list section;
	const char *node, *topic;
	int sort;
	uint64_t limit;
	bool all;
	int64_t begin_ns, end_ns;
	bool strict;
};

static const struct opt opts[] = {
	CLI_OPT_FORMAT(struct options),
	{ "section", 's', OPT_LIST, offsetof(struct options, section), "NAME",
	  "show this section; may be given several times", NULL },
	{ "node", 'n', OPT_TEXT, offsetof(struct options, node), "GLOB",
	  "only nodes whose full name matches, e.g. '/perception/*'", NULL },
	{ "topic", 't', OPT_TEXT, offsetof(struct options, topic), "GLOB",
	  "only topics that match", NULL },
	{ "sort", 0, OPT_CHOICE, offsetof(struct options, sort), NULL,
	  "order of callbacks and topics; all but node: largest first", REPORT_SORT_CHOICES },
	{ "limit", 0, OPT_U64, offsetof(struct options, limit), "N",
	  "at most N rows a section (default: 20 as table, else all)", NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "all rows of each section, as table too", NULL },
	{ "begin", 0, OPT_TIME, offsetof(struct options, begin_ns), "TIME",
	  "only what begins this long after the first event, or later", NULL },
	{ "end", 0, OPT_TIME, offsetof(struct options, end_ns), "TIME",
	  "only what begins this long after the first event, or earlier", NULL },
	CLI_OPT_STRICT(struct options),
	CLI_OPT_END
};

static void print_warnings(const struct ctf_reader *reader)
{
	unsigned count = ctf_warning_count(reader), i;

	for (i = 0; i < count && i < WARNINGS_SHOWN; i++)
		fprintf(stderr, "kymo report: warning: %s\n", ctf_warning(reader, i));
	if (count > WARNINGS_SHOWN)
		fprintf(stderr, "kymo report: %u more warnings: `kymo info` shows them.\n",
			count - WARNINGS_SHOWN);
}

static int report_trace(const char *path, const struct report_options *options, bool strict)
{
	struct ctf_reader *reader;
	struct table *table;
	struct err err = { 0 };
	bool lost = false;
	int status;

	if (ctf_open(path, &reader, &err))
		return cli_fail("report", &err);
	if (table_open(&table, stdout, options->format)) {
		ctf_close(reader);
		err_set(&err, EXIT_FAILED, "There is no memory left.");
		return cli_fail("report", &err);
	}
	status = report_run(reader, path, options, table, &lost, &err);
	if (lost && strict && status >= 0)
		status = EXIT_LOSS;
	if (status < 0)
		status = err.status ? (int)err.status : EXIT_FAILED;
	status = cli_close("report", table, status);
	print_warnings(reader);
	ctf_close(reader);
	if (*err.text)
		return cli_fail("report", &err);
	if (status == EXIT_LOSS)
		fprintf(stderr, "kymo report: events were lost, and --strict makes that an error.\n");
	return status;
}

static int run(int argc, char **argv)
{
	struct options o = { .begin_ns = INT64_MIN, .end_ns = INT64_MAX };
	struct report_options report;
	char path[CLI_PATH_MAX];
	struct err err = { 0 };

	if (opt_parse(opts, &o, &argc, &argv, NULL, &err))
		return cli_fail("report", &err);
	report = (struct report_options){
		.format = o.format,
		.section = o.section.item,
		.sections = o.section.count,
		.node = o.node,
		.topic = o.topic,
		.sort = o.sort,
		.limit = o.limit,
		.unlimited = o.all,
		.begin_ns = o.begin_ns,
		.end_ns = o.end_ns,
	};
	if (report_check(&report, &err) || cli_trace(argc, argv, path, &err))
		return cli_fail("report", &err);
	return report_trace(path, &report, o.strict);
}

const struct verb verb_report = {
	.name = "report",
	.synopsis = "[TRACE]",
	.summary = "say which callbacks were slow, which messages late, and why",
	.description =
		"Reads a ROS 2 trace (of kymo, LTTng, ros2_tracing or CARET) and prints, slowest\n"
		"first, each callback with its durations, each topic with its latency from publish\n"
		"to the start of the callback, who had to wait behind whom, and what was lost.\n"
		"Without TRACE it takes the newest one.\n"
		"\n"
		"Sections: callbacks, topics, waits and loss are shown when none is named. Others:\n"
		"processes, nodes, publishers, subscriptions, timers, services, clients; instances\n"
		"(every run of every callback) and messages (every delivery).\n"
		"\n"
		"Untaken messages were published while a subscription was there, yet never taken;\n"
		"unpublished ones were taken, but their publication is not in the trace.\n"
		"Quantiles are within 0.1 %, everything else is exact.\n"
		"\n"
		"Exit status: 0; 3 when TRACE is not a trace; 4 when events were lost, with\n"
		"--strict; 6 when there was nothing to show (the output says why).",
	.examples =
		"kymo report\n"
		"kymo report TRACE --node '/perception/*' --sort p99\n"
		"kymo report TRACE --section waits --begin 10s --end 20s\n"
		"kymo report TRACE --section instances --format csv > instances.csv",
	.opts = opts,
	.run = run,
};
