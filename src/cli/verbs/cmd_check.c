/* SPDX-License-Identifier: Apache-2.0 */
/* kymo check: does a robot keep its budgets? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "check/budget.h"
#include "check/check_print.h"
#include "cli/common/common.h"
#include "cli/input/input_traces.h"
#include "cli/verbs/check/check_base.h"
#include "cli/verbs/check/check_events.h"
#include "cli/verbs/diff/diff_runs.h"
#include "compare/ci.h"

#define BUDGETS_FILE "budgets.yaml"

struct options {
	const char *config, *base, *output, *junit, *architecture;
	struct opt_list path;
	int format, annotate;
	bool init, all, require, with_losses, anyway;
};

static const struct opt opts[] = {
	{ "config", 'c', OPT_TEXT, offsetof(struct options, config), "FILE",
	  "the budgets (default: " BUDGETS_FILE ")", NULL },
	{ "base", 'b', OPT_TEXT, offsetof(struct options, base), "RUNS",
	  "the base line, instead of the file's: summaries, traces, or a commit of a store, "
	  "DIR/COMMIT",
	  NULL },
	{ "init", 'i', OPT_FLAG, offsetof(struct options, init), NULL,
	  "write a file of budgets that these runs keep", NULL },
	CLI_OPT_OUTPUT(struct options, "FILE", "where --init writes (default: to the screen)"),
	CLI_OPT_FORMAT(struct options),
	{ "junit", 'j', OPT_TEXT, offsetof(struct options, junit), "FILE",
	  "also write the verdicts as JUnit XML", NULL },
	{ "annotate", 0, OPT_CHOICE, offsetof(struct options, annotate), NULL,
	  "also annotate what is violated: github prints annotations, gitlab writes the "
	  "report " CI_GITLAB_FILE,
	  CI_CHOICES },
	{ "require", 'r', OPT_FLAG, offsetof(struct options, require), NULL,
	  "exit with 6 if a budget is not known to be kept", NULL },
	{ "with-losses", 0, OPT_FLAG, offsetof(struct options, with_losses), NULL,
	  "also judge runs in which events were lost", NULL },
	{ "architecture", 0, OPT_TEXT, offsetof(struct options, architecture), "FILE",
	  "an architecture file of CARET, for response times in a list of expectations", NULL },
	{ "path", 0, OPT_LIST, offsetof(struct options, path), "PATH",
	  "a path of that file by name, or '/node -> /topic -> /node'; may be repeated", NULL },
	{ "anyway", 0, OPT_FLAG, offsetof(struct options, anyway), NULL,
	  "also judge against a base line of a machine that differs", NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "also show the budgets that are kept", NULL },
	CLI_OPT_END
};

struct checked {
	struct options o;
	struct diff_runs run, base;
	struct budgets budgets;
	struct check check;
	struct check_events events;
};

static int find_runs(struct checked *c, int argc, char **argv, struct kymo_err *err)
{
	char path[CLI_PATH_MAX];

	if (!argc)
		return cli_trace(0, argv, path, err) || diff_runs_find(&c->run, path, err) ? -1 : 0;
	for (int i = 0; i < argc; i++)
		if (diff_runs_find(&c->run, argv[i], err))
			return -1;
	return 0;
}

static const struct summary *const *summaries(const struct diff_runs *runs)
{
	return (const struct summary *const *)runs->summary;
}

/* ---- a first file ---- */

static int write_init(struct checked *c, struct kymo_err *err)
{
	FILE *out = c->o.output ? fopen(c->o.output, "wxe") : stdout;
	unsigned budgets;
	bool failed;

	if (!out)
		return err_set(err, KYMO_EXIT_FAILED,
			       "cannot write %s: %s; choose another file with -o", c->o.output,
			       strerror(errno));
	budgets =
		check_init(out, summaries(&c->run), c->run.count - c->run.left_out, c->run.path[0]);
	failed = ferror(out) || fflush(out);
	if (c->o.output)
		failed |= fclose(out) != 0;
	if (failed)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write %s",
			       c->o.output ? c->o.output : "the output");
	if (!c->o.output)
		return budgets ? KYMO_EXIT_OK : KYMO_EXIT_EMPTY;
	printf("%u budgets in %s\nnext:  kymo check -c %s TRACE\n", budgets, c->o.output,
	       c->o.output);
	return budgets ? KYMO_EXIT_OK : KYMO_EXIT_EMPTY;
}

static int init(struct checked *c, int argc, char **argv, struct kymo_err *err)
{
	if (find_runs(c, argc, argv, err) ||
	    diff_runs_read(&c->run, "check", c->o.with_losses, err))
		return -1;
	return write_init(c, err);
}

/* ---- verdicts ---- */

static int read_base(struct checked *c, struct kymo_err *err)
{
	const int read = check_base_read(&c->base, &c->budgets, c->o.base, c->o.with_losses, err);

	return read <= 0 || c->o.anyway ? (read < 0 ? -1 : 0)
					: diff_runs_alike(&c->base, &c->run, err);
}

static int print(const struct checked *c, struct kymo_err *err)
{
	struct ci_suite suite = { .name = "kymo check", .file = c->budgets.path };
	struct table *table;
	int status = KYMO_EXIT_OK;

	if (c->o.format == TABLE_TEXT) {
		check_print_text(stdout, &c->check, &c->budgets, c->o.all);
		status = fflush(stdout) ? KYMO_EXIT_FAILED : KYMO_EXIT_OK;
	} else if (cli_table("check", c->o.format, &table)) {
		return KYMO_EXIT_FAILED;
	} else {
		check_print_table(table, &c->check, &c->budgets);
		status = cli_close("check", table, KYMO_EXIT_OK);
	}
	check_cases(&suite, &c->check);
	if (ci_write(&suite, c->o.junit, (enum ci_service)c->o.annotate, err))
		status = -1;
	ci_free(&suite);
	return status;
}

/* A file of budgets, or a list as `kymo report --expect` reads it. */
static int read_budgets(struct checked *c, struct kymo_err *err)
{
	const char *path = c->o.config ? c->o.config : BUDGETS_FILE;

	if (check_events_is_list(path))
		return check_events_read_list(&c->events, &c->budgets, path, c->o.architecture,
					      &c->o.path, err);
	return budgets_read(&c->budgets, path, err);
}

static int judge(struct checked *c, struct kymo_err *err)
{
	struct check_options options = { .with_losses = c->o.with_losses };

	if (check_events_judge(&c->events, &c->budgets, &c->run, err))
		return -1;
	options.told = c->events.told;
	options.tolds = c->events.tolds;
	return check_judge(&c->check, &c->budgets, summaries(&c->run), c->run.count,
			   summaries(&c->base), c->base.count - c->base.left_out, &options, err);
}

static int no_budgets(const struct checked *c, int argc, char **argv, struct kymo_err *err)
{
	const char *path = c->o.config ? c->o.config : BUDGETS_FILE;
	char operand[1024], file[1024];

	cli_operand(operand, sizeof(operand), argc, argv);
	return err_set(err, KYMO_EXIT_INPUT,
		       "no budgets: %s: %s; name a file with -c, or write a first one: kymo check "
		       "--init -o %s%s%s",
		       path, strerror(errno), text_shell(file, sizeof(file), path),
		       *operand ? " " : "", operand);
}

static int answer(struct checked *c, int argc, char **argv, struct kymo_err *err)
{
	const unsigned *count = c->check.count;
	int status;

	if (access(c->o.config ? c->o.config : BUDGETS_FILE, F_OK) != 0)
		return no_budgets(c, argc, argv, err);
	if (read_budgets(c, err))
		return -1;
	/* Runs with losses stay: whether events were lost may be what a budget is about. */
	if (find_runs(c, argc, argv, err) || diff_runs_read(&c->run, "check", true, err) ||
	    read_base(c, err) || judge(c, err))
		return -1;
	status = print(c, err);
	if (status != KYMO_EXIT_OK)
		return status;
	if (count[CHECK_VIOLATED])
		return KYMO_EXIT_BUDGET;
	if (count[CHECK_NOT_JUDGED] == c->check.rows ||
	    (c->o.require && count[CHECK_KEPT] < c->check.rows))
		return KYMO_EXIT_EMPTY;
	return KYMO_EXIT_OK;
}

static int check_options(const struct options *o, struct kymo_err *err)
{
	if (o->output && !o->init)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--output is for --init; write the others with > FILE");
	if (o->annotate == CI_GITHUB && o->format != TABLE_TEXT)
		return err_set(
			err, KYMO_EXIT_USAGE,
			"--annotate github prints lines between those of --format: leave one out");
	if (o->init && (o->config || o->junit || o->annotate))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--init writes a file of budgets and judges nothing: leave out "
			       "--config, --junit and --annotate");
	return 0;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct checked *c = calloc(1, sizeof(*c));
	int status = -1;

	if (!c)
		return err_no_memory(err);
	if (!opt_parse(opts, &c->o, &argc, &argv, NULL, err) && !check_options(&c->o, err))
		status = c->o.init ? init(c, argc, argv, err) : answer(c, argc, argv, err);
	check_free(&c->check);
	check_events_free(&c->events);
	budgets_free(&c->budgets);
	diff_runs_free(&c->run);
	diff_runs_free(&c->base);
	free(c);
	return status;
}

const struct verb verb_check = {
	.name = "check",
	.synopsis = "[TRACE...]",
	.summary = "say whether runs keep their budgets: latencies, rates, losses",
	.description =
		"Reads a file of budgets and the runs of a robot, and says which budgets the runs "
		"violate. Each operand is a trace, a summary (kymo report --format summary), or a "
		"directory of recordings. Without TRACE: the newest trace.\n\n"
		"A file of budgets has names as kymo report prints them:\n\n"
		"  chains:\n"
		"    /scan -> /cmd_vel:\n"
		"      - latency p99 <= 20 ms\n"
		"  topics:\n"
		"    /scan:\n"
		"      - rate >= 9.5 Hz\n"
		"      - lost = 0\n\n"
		"kymo check --init writes the first one from a trace. docs/answers/check.md has all "
		"budgets.\n\n"
		"  violated    the value is beyond the limit\n"
		"  kept        it is not; of a quantile, its upper confidence bound is not either\n"
		"  not known   too few instances to be sure; against a base line, too few runs\n"
		"  not judged  events were lost, so the value may be wrong\n\n"
		"Exits with 5 if a budget is violated, with 6 if none can be judged or, with "
		"--require, if one is not known to be kept.",
	.examples = "kymo check --init -o budgets.yaml TRACE\n"
		    "kymo check TRACE\n"
		    "kymo check -c budgets.yaml --junit check.xml TRACE\n"
		    "kymo check -c budgets.yaml --annotate github runs/",
	.opts = opts,
	.run = run,
};
