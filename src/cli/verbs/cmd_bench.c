/* SPDX-License-Identifier: Apache-2.0 */
/* kymo bench: records two commands in turn, and says whether the new one is worse. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/common/common.h"
#include "cli/input/report_page.h"
#include "cli/verbs/bench/bench_pairs.h"
#include "cli/verbs/diff/diff_answer.h"
#include "compare/looks.h"

#define DIFF_HTML_HELP "also write a page for browsers beside the recordings: DIR/diff.html"
#define PAIRS 6u
#define REJECT 25u /* percent of the CPUs */
/* What a quiet machine has none of. */
#define STOLEN_MOST 0.05
#define HELD_MOST 0.02

struct options {
	struct diff_options diff;
	const char *base, *new, *output;
	uint64_t pairs, reject;
	int64_t duration;
	bool kernel, quiet;
};

static const struct opt opts[] = {
	{ "base", 'b', OPT_TEXT, offsetof(struct options, base), "CMD",
	  "the base command, for sh -c", NULL },
	{ "new", 'n', OPT_TEXT, offsetof(struct options, new), "CMD", "the new command", NULL },
	{ "pairs", 'p', OPT_U64, offsetof(struct options, pairs), "N",
	  "record at most N pairs (default 6, which is the least); with 10 or more, stop as soon "
	  "as "
	  "the verdict is known",
	  NULL },
	{ "duration", 'd', OPT_TIME, offsetof(struct options, duration), "TIME",
	  "end each command after TIME (default: it ends by itself)", NULL },
	CLI_OPT_OUTPUT(struct options, "DIR", "keep the recordings in DIR, with base/ and new/"),
	{ "kernel", 'k', OPT_FLAG, offsetof(struct options, kernel), NULL,
	  "also record the kernel's events, if possible", NULL },
	{ "reject", 0, OPT_U64, offsetof(struct options, reject), "PERCENT",
	  "record a pair again if other programs took more of the CPUs (default 25; 100: never); "
	  "at "
	  "most half as many as there are pairs",
	  NULL },
	DIFF_OPTS(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

struct bench {
	struct options o;
	struct bench_pairs pairs;
	struct looks looks;
	struct diff diff;
	struct comparison comparison;
	char page[CLI_PATH_MAX + 16];
};

/* ---- looks ---- */

static int add_pair(struct bench *b, unsigned pair, struct kymo_err *err)
{
	char path[CLI_PATH_MAX + 32];

	return diff_runs_find(&b->diff.base, bench_pairs_path(&b->pairs, false, pair, path), err) ||
			       diff_runs_find(&b->diff.new,
					      bench_pairs_path(&b->pairs, true, pair, path), err)
		       ? -1
		       : 0;
}

/* Those that were recorded since the last look. */
static int add_pairs(struct bench *b, struct kymo_err *err)
{
	unsigned pair = b->pairs.settled;

	if (bench_pairs_settle(&b->pairs, err))
		return -1;
	while (pair < b->pairs.recorded)
		if (add_pair(b, ++pair, err))
			return -1;
	return 0;
}

/* Each look has a share of the alarms that all of them together may give. */
static int compare_now(struct bench *b, const struct look *look, struct kymo_err *err)
{
	compare_free(&b->comparison);
	b->diff.alarm = look->alarm;
	b->diff.error = look->error;
	return diff_compare(&b->diff, &b->comparison, err);
}

/* More pairs would not change it: something is worse, or everything is known. */
static bool is_known(const struct comparison *comparison)
{
	return comparison->rows &&
	       (comparison->count[VERDICT_WORSE] || !comparison->count[VERDICT_UNKNOWN]);
}

static int record_all(struct bench *b, struct kymo_err *err)
{
	const unsigned pairs = (unsigned)b->o.pairs;

	for (unsigned pair = 0; pair <= pairs; pair++) {
		const struct look *look = looks_at(&b->looks, pair);

		if (bench_pairs_record(&b->pairs, pair, err) ||
		    (look && (add_pairs(b, err) || compare_now(b, look, err))))
			return -1;
		if (!look || pair == pairs || !is_known(&b->comparison))
			continue;
		if (!b->o.quiet)
			fprintf(stderr, "The verdict is known after %u of %u pairs.\n", pair,
				pairs);
		break;
	}
	return 0;
}

static int prepare(struct bench *b, struct kymo_err *err)
{
	struct bench_pairs *pairs = &b->pairs;

	if (b->o.output)
		(void)snprintf(pairs->directory, sizeof(pairs->directory), "%s", b->o.output);
	else if (cli_new_session(pairs->directory, err))
		return -1;
	pairs->command[0] = b->o.base;
	pairs->command[1] = b->o.new;
	pairs->pairs = (unsigned)b->o.pairs;
	pairs->duration_ns = b->o.duration;
	pairs->kernel = b->o.kernel;
	pairs->quiet = b->o.quiet;
	pairs->rule = (struct disturbed_rule){ (double)b->o.reject / 100, STOLEN_MOST, HELD_MOST };
	pairs->again_most = pairs->pairs / 2;
	looks_plan(&b->looks, pairs->pairs);
	b->diff.verb = "bench";
	b->diff.options = b->o.diff;
	b->diff.options.paired = true;
	(void)snprintf(b->diff.base_name, sizeof(b->diff.base_name), "base");
	(void)snprintf(b->diff.new_name, sizeof(b->diff.new_name), "new");
	(void)snprintf(b->page, sizeof(b->page), "%s/diff.html", pairs->directory);
	b->diff.page = b->o.diff.html ? b->page : NULL;
	return bench_pairs_begin(pairs, err);
}

static int answer(struct bench *b, struct kymo_err *err)
{
	int status;

	if (prepare(b, err) || record_all(b, err))
		return -1;
	status = diff_print(&b->diff, &b->comparison, err);
	if (status < 0 || b->o.quiet)
		return status;
	bench_pairs_tell(&b->pairs);
	fprintf(stderr, "next:  kymo diff --paired %s/base %s/new\n", b->pairs.directory,
		b->pairs.directory);
	return status;
}

static int check_options(const struct options *o, struct kymo_err *err)
{
	if (!o->base || !o->new)
		return err_set(err, KYMO_EXIT_USAGE,
			       "which commands? kymo bench --base 'CMD' --new 'CMD'");
	if (o->pairs < LOOKS_PAIRS_LEAST || o->pairs > COMPARE_RUNS_MAX / 2)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--pairs: between %u and %u; fewer can prove nothing",
			       LOOKS_PAIRS_LEAST, COMPARE_RUNS_MAX / 2);
	if (o->reject < 1 || o->reject > 100)
		return err_set(err, KYMO_EXIT_USAGE, "--reject: between 1 and 100 percent");
	return diff_check_options(&o->diff, err);
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct bench *b = calloc(1, sizeof(*b));
	int status = -1;

	if (!b)
		return err_no_memory(err);
	report_page_command(b->diff.command, sizeof(b->diff.command), "bench", argc, argv);
	b->o.pairs = PAIRS;
	b->o.reject = REJECT;
	if (!opt_parse(opts, &b->o, &argc, &argv, NULL, err) && !cli_no_operands(argc, argv, err) &&
	    !check_options(&b->o, err))
		status = answer(b, err);
	compare_free(&b->comparison);
	diff_runs_free(&b->diff.base);
	diff_runs_free(&b->diff.new);
	free(b);
	return status;
}

const struct verb verb_bench = {
	.name = "bench",
	.synopsis = "--base 'CMD' --new 'CMD'",
	.summary = "record two commands in turn, and say whether the new one is worse",
	.description =
		"Records the base command and the new command in turn, 6 times each, and compares "
		"the two sides as kymo diff --paired does. Which of a pair comes first is chance. "
		"A "
		"pair that comes before all others warms up the machine and does not count. kymo "
		"says how long it will take, and how much of the CPUs other programs took "
		"meanwhile.\n\n"
		"A pair is disturbed if other programs took more than --reject percent of the CPUs "
		"during one of its runs, other machines of the host more than 5 percent, if a CPU "
		"became too hot, or if the container had used up its CPU time. It is recorded "
		"again before the runs are looked at, those that were disturbed most first, at most "
		"half as many as there are pairs.\n\n"
		"With --pairs 10 or more, kymo also looks after 8 pairs, 10, and so on, and stops "
		"when something is worse or everything is known. All these looks together find a "
		"change among equal programs in at most 2 of 100 times.\n\n"
		"The commands are run by sh -c, and end by themselves or after --duration. The "
		"recordings stay: in DIR/base and DIR/new, by default in a new directory beside "
		"your other recordings. What the commands print is in DIR/logs.\n\n"
		"Exits as kymo diff does: with 5 if a metric is worse, with 6 if nothing can be "
		"compared or, with --require, if a metric is not known. If a command fails, with "
		"1.",
	.examples = "kymo bench --base old/robot --new new/robot --duration 10s\n"
		    "kymo bench --pairs 10 --base 'ros2 launch old.py' --new 'ros2 launch new.py' "
		    "-d 30s\n"
		    "kymo bench --format junit --base ./old --new ./new >bench.xml",
	.opts = opts,
	.run = run,
};
