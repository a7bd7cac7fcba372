/* SPDX-License-Identifier: Apache-2.0 */
/* kymo info: what a trace is made of, and whether anything is missing. */
#include "cli/common/common.h"
#include "cli/input/input_events.h"
#include "cli/verbs/info/info_show.h"
#include "report/report.h"

static const struct opt opts[] = {
	CLI_OPT_FORMAT(struct info_options),
	CLI_OPT_SCREEN(0),
	{ "all", 'a', OPT_FLAG, offsetof(struct info_options, all), NULL,
	  "show every thread, stream and loss; without it, tables for people stop after 20 rows",
	  NULL },
	CLI_OPT_SELECTION(struct info_options, 'n'),
	CLI_OPT_WINDOW(struct info_options, "what is"),
	CLI_OPT_MERGE(struct info_options),
	CLI_OPT_STRICT(struct info_options),
	CLI_OPT_END
};

static void show_all(const struct info_show *s, const char *problem)
{
	info_show_facts(s);
	report_print_hosts(s->table, s->align);
	recorders_show(s->recorders, s->table);
	info_show_traces(s);
	info_show_chunks(s);
	info_show_processes(s);
	info_show_threads(s);
	if (!s->limited)
		info_show_streams(s);
	info_show_losses(s);
	info_show_warnings(s, problem);
}

static int info_run(int argc, char **argv, struct kymo_err *err)
{
	struct info_options options = { 0 };
	struct recorders recorders = { 0 };
	struct info info = { 0 };
	struct info_show show = { .options = &options,
			     .info = &info,
			     .recorders = &recorders,
			     .accounts = &recorders.all };
	struct events events = { .selection = &options.selection };
	struct answer answer;
	char problem[512];
	int status = -1;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) ||
	    answer_open(&answer, "info", argc, argv, &options.times, err))
		return -1;
	answer.warnings = 0; /* a section shows them */
	show.path = answer.traces.name;
	show.align = answer.align;
	show.reader = events.reader = answer.reader;
	events.begin_ns = answer.begin_ns;
	events.end_ns = answer.end_ns;
	show.limited = events_limited(&events);
	if (!recorders_read(&recorders, &answer.traces, show.reader, problem, err) &&
	    !events_open(&events, err) && info_collect(&info, &events, err) >= 0 &&
	    !answer_begin(&answer, options.format, err)) {
		show.table = answer.table;
		show_all(&show, problem);
		answer.lost = info_total_lost(&show) || info.lost_packets;
		status = KYMO_EXIT_OK;
	}
	events_close(&events);
	recorders_free(&recorders);
	info_free(&info);
	return answer_close(&answer, status, options.strict);
}

const struct verb verb_info = {
	.name = "info",
	.synopsis = "[TRACE...]",
	.summary = "show what a trace contains, and what is missing in it",
	.description = "Shows time span, hosts, processes and threads, streams, events, bytes and "
		       "packets of all CTF traces below TRACE, and every loss with its place in "
		       "time: events that the tracer discarded, and packets that are missing. "
		       "Without TRACE: the newest trace.\n\n"
		       "If kymo recorded the trace, info also shows the recorder's own accounts "
		       "(kymo.json).\n\n"
		       "Traces of several hosts are read as one, by the first host's clock. The "
		       "section hosts shows how well the other clocks compare to it, the section "
		       "recorders what became of each trace.\n\n"
		       "A loss before a stream's first packet counts if that packet is the first "
		       "of the stream (its sequence number is 0 or missing).\n\n"
		       "With --begin, --end, --node, --topic or --process, everything is about "
		       "these events; what only whole files have (bytes, packets, streams, the "
		       "recorder's accounts) is left out. `kymo dump --help` explains which "
		       "process, node and topic an event belongs to.\n\n" CLI_TIME_HELP,
	.examples = "kymo info\n"
		    "kymo info my_session --strict\n"
		    "kymo info my_session --begin +10s --end +20s --process planner\n"
		    "kymo info left-robot right-robot\n"
		    "kymo info my_session --format json",
	.common = "begin end process strict format",
	.opts = opts,
	.run = info_run,
};
