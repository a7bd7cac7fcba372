/* SPDX-License-Identifier: Apache-2.0 */
/* kymo why: the worst instance of a chain or a callback, taken apart. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common.h"
#include "cli/info_accounts.h"
#include "cli/progress.h"
#include "cli/trace_time.h"
#include "ctf/reader.h"
#include "report/why.h"

struct options {
	int format;
	uint64_t worst;
	bool all, latest;
	const char *begin, *end;
	int clock;
	bool strict;
};

static const struct opt opts[] = {
	CLI_OPT_FORMAT(struct options),
	{ "worst", 'w', OPT_U64, offsetof(struct options, worst), "N",
	  "take the N longest instances apart (default: 1, at most 100)", NULL },
	{ "latest", 'l', OPT_FLAG, offsetof(struct options, latest), NULL,
	  "take a timer that publishes to use what its node received last", NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "chains over /rosout and /parameter_events, too", NULL },
	CLI_OPT_WINDOW(struct options, "instances that begin"),
	CLI_OPT_CLOCK(struct options),
	CLI_OPT_STRICT(struct options),
	CLI_OPT_END
};

/* ---- operands: a trace is there, a chain has an arrow, a message is a number, the rest is a callback ---- */

static int take(struct why_options *why, const char *operand, struct err *err)
{
	if (strstr(operand, "->"))
		why->pattern = operand;
	else if (!text_read_u64(operand, &why->message))
		why->callback = operand;
	else if (!why->message)
		return err_set(err, EXIT_USAGE, "Messages are numbered from 1: 0 is none.");
	return 0;
}

/* Of two operands one is the trace: the first, unless that is a chain. */
static bool is_trace(int argc, char **argv, int i)
{
	if (argc > 1)
		return i == (strstr(argv[0], "->") ? 1 : 0);
	return access(argv[i], F_OK) == 0;
}

static int take_operands(int *argc, char **argv, struct why_options *why, struct err *err)
{
	int count = *argc, kept = 0;
	char *operand[2];

	if (count > 2)
		return err_set(err, EXIT_USAGE, "A trace and one chain, callback or message; '%s' is one too many.",
			       argv[2]);
	for (int i = 0; i < count; i++)
		operand[i] = argv[i];
	for (int i = 0; i < count; i++)
		if (is_trace(count, operand, i))
			argv[kept++] = operand[i];
		else if (take(why, operand[i], err))
			return -1;
	*argc = kept;
	return 0;
}

static uint64_t told_lost(const char *path)
{
	struct accounts accounts = { 0 };
	char problem[512];
	uint64_t lost;

	accounts_read(&accounts, path, problem);
	if (*problem)
		fprintf(stderr, "kymo why: warning: %s\n", problem);
	lost = accounts.dropped + accounts.unwritten;
	accounts_free(&accounts);
	return lost;
}

static int print_why(struct ctf_reader *reader, const char *path, struct why_options *options, bool strict,
		     struct err *err)
{
	struct progress progress;
	struct table *table;
	bool lost = false;
	int status;

	if (table_open(&table, stdout, options->format)) {
		err_set(err, EXIT_FAILED, "There is no memory left.");
		return EXIT_FAILED;
	}
	progress_begin(&progress, false);
	progress_extent(&progress, reader);
	table_clock(table, options->clock ? cli_stamp : NULL, options->clock);
	options->progress = progress_trace;
	options->context = &progress;
	status = why_run(reader, path, options, table, &lost, err);
	progress_clear(&progress);
	if (status < 0)
		status = err->status ? (int)err->status : EXIT_FAILED;
	else if (lost && strict)
		status = EXIT_LOSS;
	return cli_close("why", table, status);
}

static int run(int argc, char **argv)
{
	struct options o = { .worst = 1 };
	struct why_options why = { .begin_ns = INT64_MIN, .end_ns = INT64_MAX };
	struct simclock *clock = NULL;
	struct ctf_reader *reader;
	char path[CLI_PATH_MAX];
	struct err err = { 0 };
	int status;

	if (opt_parse(opts, &o, &argc, &argv, NULL, &err) || take_operands(&argc, argv, &why, &err) ||
	    cli_trace(argc, argv, path, &err) || ctf_open(path, &reader, &err))
		return cli_fail("why", &err);
	why.format = o.format;
	why.worst = !o.worst ? 1 : o.worst < WHY_WORST_MAX ? (unsigned)o.worst : WHY_WORST_MAX;
	why.all_topics = o.all;
	why.latest = o.latest;
	ctf_threads(reader, 0);
	why.told_lost = told_lost(path);
	status = cli_clock(o.clock, reader, path, &clock, &err);
	why.clock = clock;
	status = status || cli_read_window(reader, clock, o.begin, o.end, &why.begin_ns, &why.end_ns, &err) ?
		 (int)err.status : print_why(reader, path, &why, o.strict, &err);
	ctf_close(reader);
	simclock_free(clock);
	if (*err.text)
		return cli_fail("why", &err);
	if (status == EXIT_LOSS)
		fprintf(stderr, "kymo why: events were lost, and --strict makes that an error\n");
	return status;
}

const struct verb verb_why = {
	.name = "why",
	.synopsis = "[TRACE] ['FROM -> TO' | CALLBACK | MESSAGE]",
	.summary = "why was it late: the worst instance taken apart, and who held it up",
	.description =
		"Says in one sentence why the worst instance of a chain or callback took longer than a usual one, and "
		"then where all of its time went: parts that add up to its latency to the nanosecond, next to those of the "
		"instance nearest to the median. Without an operand it takes the chain, or callback, whose worst "
		"instance is the farthest above its median; without TRACE the newest trace.\n"
		"\n"
		"A chain is named as for `kymo flow`. CALLBACK is a glob for a node (all its callbacks; the worst is taken), or for a "
		"callback as `kymo report` names it: '/planner /scan', '/costmap timer 96 ms'. Its latency is from the "
		"publish call, or from when its timer was due, until it returns. MESSAGE is a number as in `kymo flow --worst`: the "
		"longest chain that it is in.\n"
		"\n"
		"Parts: executing (a callback, until it publishes or returns), publish (the publish call), transport, "
		"queued (behind another callback, on the thread that then took the message, or in its callback group), take (until "
		"the callback starts), late (a timer was due and nothing held it up), cached (until a later publication "
		"used it); and, where the trace has the kernel's events (`kymo record --kernel`), preempted (another thread "
		"had the CPU) and blocked (it slept while it executed).\n"
		"\n"
		CLI_CLOCK_HELP "\n"
		"\n"
		"Exit status: 0; 3 when TRACE is not a trace; 4 when events were lost, with "
		"--strict; 6 when there was nothing to show (the output says why).",
	.examples =
		"kymo why\n"
		"kymo why TRACE '/scan -> /cmd_vel'\n"
		"kymo why TRACE /perception/obstacle_detector --worst 5\n"
		"kymo why TRACE '/costmap timer*' --begin +10s\n"
		"kymo why TRACE 1234 --format json",
	.opts = opts,
	.run = run,
};
