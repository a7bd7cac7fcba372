/* SPDX-License-Identifier: Apache-2.0 */
/* kymo diff: is the new side worse than the base side? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/input/report_page.h"
#include "cli/verbs/diff/diff_answer.h"

#define DIFF_HTML_HELP                                                             \
	"also write a page for browsers, one file that needs no network: -o FILE " \
	"(default: diff.html)"

#define NAME_SHOWN 37u /* bytes of a side: two and an arrow fit into 80 columns */

struct options {
	struct diff_options diff;
	const char *store, *output;
	bool force;
};

static const struct opt opts[] = {
	{ "paired", 'p', OPT_FLAG, offsetof(struct options, diff.paired), NULL,
	  "the runs were recorded in turn: the n-th run of each side belong together", NULL },
	DIFF_OPTS(struct options),
	CLI_OPT_OUTPUT(struct options, "FILE", "where --html goes; -: standard output"),
	{ "force", 0, OPT_FLAG, offsetof(struct options, force), NULL,
	  "overwrite the file of --html", NULL },
	{ "store", 's', OPT_TEXT, offsetof(struct options, store), "DIR",
	  "BASE and NEW are commits of the store DIR (kymo store)", NULL },
	{ "anyway", 0, OPT_FLAG, offsetof(struct options, diff.anyway), NULL,
	  "also compare runs of machines that differ (CPU, governor, kernel, distribution, RMW, "
	  "kymo)",
	  NULL },
	CLI_OPT_END
};

/* "base/ (6 runs)" would be long: the operand, or the first of several. */
static void name_side(char name[64], char **operand, int count)
{
	const char *from = operand[0];
	int shown;

	/* The end of a path tells more than its beginning. */
	if (strlen(from) > NAME_SHOWN) {
		from += strlen(from) - NAME_SHOWN + 3;
		while ((*from & 0xc0) == 0x80) /* not in the middle of a character */
			from++;
	}
	shown = snprintf(name, 64, "%s%s", from == operand[0] ? "" : "...", from);
	if (count > 1 && shown > 0)
		(void)snprintf(name + shown, 64 - (size_t)shown, " and %d more", count - 1);
}

static int find_sides(struct diff *d, const char *store, int argc, char **argv, int dashdash,
		      struct kymo_err *err)
{
	const int bases = dashdash >= 0 ? dashdash : argc / 2;

	if (dashdash < 0 && argc != 2)
		return err_set(
			err, KYMO_EXIT_USAGE,
			"which runs are the new ones? kymo diff BASE NEW, or with several runs a "
			"side: kymo diff BASE... -- NEW...");
	if (!bases || bases == argc)
		return err_set(err, KYMO_EXIT_USAGE,
			       "one side has no runs: kymo diff BASE... -- NEW...");
	name_side(d->base_name, argv, bases);
	name_side(d->new_name, argv + bases, argc - bases);
	for (int i = 0; i < argc; i++) {
		struct diff_runs *side = i < bases ? &d->base : &d->new;

		if (store ? diff_runs_find_commit(side, store, argv[i], err)
			  : diff_runs_find(side, argv[i], err))
			return -1;
	}
	if (d->options.paired && d->base.count != d->new.count)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--paired: %u base runs and %u new ones cannot be pairs",
			       d->base.count, d->new.count);
	if (d->base.count + d->new.count > COMPARE_RUNS_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "%u runs; kymo diff compares at most %u",
			       d->base.count + d->new.count, COMPARE_RUNS_MAX);
	return 0;
}

static int set_page(struct diff *d, const struct options *options, struct kymo_err *err)
{
	if (options->output && !options->diff.html)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--output is for --html; write what is printed with > FILE");
	if (options->force && !options->diff.html)
		return err_set(err, KYMO_EXIT_USAGE, "--force only works with --html");
	if (options->diff.html)
		d->page = options->output ? options->output : "diff.html";
	if (d->page && !options->force && strcmp(d->page, "-") != 0 && !access(d->page, F_OK))
		return cli_exists(d->page, err);
	return diff_check_options(&d->options, err);
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };
	struct comparison comparison = { 0 };
	struct diff *d = calloc(1, sizeof(*d));
	int dashdash = -1, status;

	if (!d)
		return err_no_memory(err);
	d->verb = "diff";
	report_page_command(d->command, sizeof(d->command), "diff", argc, argv);
	status = opt_parse(opts, &options, &argc, &argv, &dashdash, err);
	d->options = options.diff;
	if (!status && !set_page(d, &options, err) &&
	    !find_sides(d, options.store, argc, argv, dashdash, err) &&
	    !diff_compare(d, &comparison, err))
		status = diff_print(d, &comparison, err);
	else
		status = -1;
	compare_free(&comparison);
	diff_runs_free(&d->base);
	diff_runs_free(&d->new);
	compare_renames_free(&d->renames);
	free(d);
	return status;
}

const struct verb verb_diff = {
	.name = "diff",
	.synopsis = "BASE NEW | BASE... -- NEW...",
	.summary = "say what became worse between two sides of several runs",
	.description =
		"Compares the runs of a base side with those of a new side. Each operand is a "
		"trace, a summary (kymo report --format summary), or a directory of summaries, or "
		"of recordings, which are taken oldest first. The run is the unit: one run shows "
		"what happened; only several runs of each side show what became slower. Record "
		"6 of each, in turn (base, new, base, new, ...), and add --paired.\n\n"
		"Callbacks, topics, chains, timers, services, actions, loops and spans are matched by name. "
		"Each of their metrics (p2, p50, p90 and p99 of times, rates, shares that were "
		"lost or missed) gets a verdict:\n\n"
		"  worse      it grew by more than the limit, and the runs prove it\n"
		"  better     it fell by more than the limit, and the runs prove it\n"
		"  not worse  it did not grow by more than the limit, and the runs prove it\n"
		"  not known  the runs prove neither; kymo says about how many would\n\n"
		"The change is printed with an interval: each of its ends is wrong in at most 5 of "
		"100 comparisons. If nothing changed, what stands out most is called worse in at "
		"most 2 of 100 comparisons, however many metrics there are. A time must also grow "
		"by 10 us to be worse.\n\n"
		"Exits with 5 if a metric is worse, with 6 if nothing can be compared or, with "
		"--require, if a metric is not known.",
	.examples = "kymo diff before.trace after.trace\n"
		    "kymo diff --paired runs/base runs/new\n"
		    "kymo diff base1 base2 base3 base4 -- new1 new2 new3 new4\n"
		    "kymo diff --paired --html -o diff.html runs/base runs/new\n"
		    "kymo diff --store perf 4f1c2aa 9b02e11\n"
		    "kymo diff --format junit --paired runs/base runs/new >diff.xml",
	.opts = opts,
	.run = run,
};
