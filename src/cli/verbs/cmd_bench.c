/* SPDX-License-Identifier: Apache-2.0 */
/* kymo bench: records two commands in turn, and says whether the new one is worse. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/common/common.h"
#include "cli/input/report_page.h"
#include "cli/verbs/bench/bench_pairs.h"
#include "cli/verbs/bench/bench_plan.h"
#include "cli/verbs/diff/diff_answer.h"
#include "compare/looks.h"

#define DIFF_HTML_HELP "also write a page for browsers beside the recordings: DIR/diff.html"
#define PAIRS 6u
#define QUICK_PAIRS_LEAST 2u
#define REJECT 25u /* percent of the CPUs */
/* What a quiet machine has none of. */
#define STOLEN_MOST 0.05
#define HELD_MOST 0.02

struct options {
	struct diff_options diff;
	const char *base, *new, *output;
	uint64_t pairs, reject;
	int64_t duration;
	bool kernel, quick, quiet;
};

static const struct opt opts[] = {
	{ "base", 'b', OPT_TEXT, offsetof(struct options, base), "CMD",
	  "the base command, for sh -c", NULL },
	{ "new", 'n', OPT_TEXT, offsetof(struct options, new), "CMD", "the new command", NULL },
	{ "pairs", 'p', OPT_U64, offsetof(struct options, pairs), "N",
	  "record at most N pairs (default 6, which is the least); with 10 or more, stop as soon "
	  "as the verdict is known",
	  NULL },
	{ "quick", 0, OPT_FLAG, offsetof(struct options, quick), NULL,
	  "stop as soon as no metric can become worse; how much they changed is not proven then",
	  NULL },
	{ "duration", 'd', OPT_TIME, offsetof(struct options, duration), "TIME",
	  "end each command after TIME (default: it ends by itself)", NULL },
	CLI_OPT_OUTPUT(struct options, "DIR", "keep the recordings in DIR, with base/ and new/"),
	{ "kernel", 'k', OPT_FLAG, offsetof(struct options, kernel), NULL,
	  "also record the kernel's events, if possible", NULL },
	{ "reject", 0, OPT_U64, offsetof(struct options, reject), "PERCENT",
	  "record a pair again if other programs took more of the CPUs (default 25; 100: never); "
	  "at most half as many as there are pairs",
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

/*
 * Between the looks nothing is found, so such a look costs nothing of what the others may spend.
 * Return: 1: no metric can become worse; -1 with @err.
 */
static int look_if_closed(struct bench *b, const struct look *look, struct kymo_err *err)
{
	static const struct look nothing = { .alarm = LOOKS_NOTHING, .error = LOOKS_NOTHING };

	if (!b->o.quick || bench_pairs_judged(&b->pairs) < QUICK_PAIRS_LEAST)
		return 0;
	if (!look && (add_pairs(b, err) || compare_now(b, &nothing, err)))
		return -1;
	return bench_plan_is_closed(&b->comparison, &b->diff.compare, &b->looks);
}

/* Return: 1: more pairs are not needed; -1 with @err. */
static int look(struct bench *b, unsigned pair, struct kymo_err *err)
{
	const struct look *look = looks_at(&b->looks, pair);
	const bool is_last = pair == b->o.pairs;
	int closed;

	if (look && (add_pairs(b, err) || compare_now(b, look, err)))
		return -1;
	if (is_last)
		return 1;
	if (look && bench_plan_is_known(&b->comparison)) {
		if (!b->o.quiet)
			fprintf(stderr, "The verdict is known after %u of %u pairs.\n", pair,
				(unsigned)b->o.pairs);
		return 1;
	}
	closed = look_if_closed(b, look, err);
	if (closed > 0 && !b->o.quiet)
		fprintf(stderr, "After %u of %u pairs, no metric can become worse any more.\n", pair,
			(unsigned)b->o.pairs);
	return closed;
}

static int record_all(struct bench *b, struct kymo_err *err)
{
	int ends = 0;

	for (unsigned pair = 0; !ends; pair++) {
		if (bench_pairs_record(&b->pairs, pair, err))
			return -1;
		ends = pair ? look(b, pair, err) : 0;
	}
	return ends < 0 ? -1 : 0;
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
	pairs->with_losses = b->o.diff.with_losses;
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
	if (bench_pairs_begin(pairs, err))
		return -1;
	if (!b->o.quiet)
		bench_plan_say(&b->looks, b->o.quick);
	return 0;
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
	if (o->quick && o->diff.require)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--quick leaves metrics not known, for which --require fails: leave "
			       "one out");
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
	compare_renames_free(&b->diff.renames);
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
		"A pair that comes before all others warms up the machine and does not count. kymo "
		"says how long it will take, and how much of the CPUs other programs took "
		"meanwhile.\n\n"
		"A pair is disturbed if other programs took more than --reject percent of the CPUs "
		"during one of its runs, other machines of the host more than 5 percent, if a CPU "
		"became too hot, or if the container had used up its CPU time. Disturbed pairs, "
		"and pairs in which events were lost, are recorded again before the runs are "
		"looked at, those with losses first, then those that were disturbed most; at most "
		"half as many as there are pairs.\n\n"
		"With --pairs 10 or more, kymo also looks after 8 pairs, 10, and so on, and stops "
		"when something is worse or everything is known. All these looks together find a "
		"change among equal programs in at most 2 of 100 times.\n\n"
		"Of 6 pairs, what is worse is known after the sixth, not earlier. But often no "
		"metric can become worse any more after 2 or 3 of them, whatever the others will "
		"be: with --quick, kymo stops then and exits as it would after all pairs. What is "
		"left out is the proof that metrics are not worse.\n\n"
		"The commands are run by sh -c, and end by themselves or after --duration. The "
		"recordings stay: in DIR/base and DIR/new, by default in a new directory beside "
		"your other recordings. What the commands print is in DIR/logs.\n\n"
		"Exits as kymo diff does: with 5 if a metric is worse, with 6 if nothing can be "
		"compared or, with --require, if a metric is not known. If a command fails, with "
		"1.",
	.examples = "kymo bench --base old/robot --new new/robot --duration 10s\n"
		    "kymo bench --pairs 10 -d 30s --base './old --loop' --new './new --loop'\n"
		    "kymo bench --format junit --base ./old --new ./new >bench.xml",
	.opts = opts,
	.run = run,
};
