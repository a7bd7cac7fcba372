/* SPDX-License-Identifier: Apache-2.0 */
/* kymo bench: records two commands in turn, and says whether the new one is worse. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/now.h"
#include "base/text.h"
#include "cli/common/common.h"
#include "cli/verbs/bench/bench_run.h"
#include "cli/verbs/diff/diff_answer.h"

#define PAIRS 6u
#define PAIRS_LEAST 6u /* fewer can prove nothing */
#define AGAIN 3u       /* a disturbed run is recorded again at most so many times */

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
	  "how many pairs to record (default 6, which is the least)", NULL },
	{ "duration", 'd', OPT_TIME, offsetof(struct options, duration), "TIME",
	  "end each command after TIME (default: it ends by itself)", NULL },
	CLI_OPT_OUTPUT(struct options, "DIR", "keep the recordings in DIR, with base/ and new/"),
	{ "kernel", 'k', OPT_FLAG, offsetof(struct options, kernel), NULL,
	  "also record the kernel's events, if possible", NULL },
	{ "reject", 0, OPT_U64, offsetof(struct options, reject), "PERCENT",
	  "record a run again if other programs, or other machines of the host, took more of the "
	  "CPUs (default: never)",
	  NULL },
	DIFF_OPTS(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

struct bench {
	struct options o;
	char directory[CLI_PATH_MAX];
	int64_t begun_ns;
	unsigned done, all;    /* runs */
	unsigned again;        /* disturbed runs that were recorded again */
	double others, stolen; /* sums of the runs that count */
};

static const char *const side_name[] = { "base", "new" };

/* ---- directories ---- */

static int make(const char *path, struct kymo_err *err)
{
	if (mkdir(path, 0777) == 0)
		return 0;
	return err_set(err, KYMO_EXIT_FAILED,
		       "cannot create the directory %s: %s; choose another one with -o", path,
		       strerror(errno));
}

static int make_directories(struct bench *b, struct kymo_err *err)
{
	static const char *const below[] = { "base", "new", "warm-up", "logs" };
	char path[CLI_PATH_MAX + 16];

	if (b->o.output)
		(void)snprintf(b->directory, sizeof(b->directory), "%s", b->o.output);
	else if (cli_new_session(b->directory, err))
		return -1;
	if (make(b->directory, err))
		return -1;
	for (unsigned i = 0; i < sizeof(below) / sizeof(*below); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", b->directory, below[i]);
		if (make(path, err))
			return -1;
	}
	return 0;
}

/* ---- progress ---- */

static void show(const struct bench *b, unsigned pair, bool is_new)
{
	const int64_t gone_ns = now_ns() - b->begun_ns;
	char left[TEXT_QUANTITY_MAX];

	if (b->o.quiet || !isatty(STDERR_FILENO))
		return;
	if (pair)
		fprintf(stderr, "\r\033[Kpair %u of %u, %s", pair, (unsigned)b->o.pairs,
			side_name[is_new]);
	else
		fprintf(stderr, "\r\033[Kwarm-up, %s", side_name[is_new]);
	if (b->done)
		fprintf(stderr, ", about %s left",
			text_ns(left, gone_ns / b->done * (b->all - b->done)));
	fflush(stderr);
}

static void clear(const struct bench *b)
{
	if (!b->o.quiet && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* ---- runs ---- */

static bool is_disturbed(const struct bench *b, const struct bench_load *load)
{
	const double most = (double)b->o.reject / 100;

	return b->o.reject && (load->others > most || load->stolen > most);
}

/* Records one side of pair @pair; 0: of the warm-up. */
static int record(struct bench *b, unsigned pair, bool is_new, struct kymo_err *err)
{
	char path[CLI_PATH_MAX + 32], log[CLI_PATH_MAX + 32];
	struct bench_run run = { .command = is_new ? b->o.new : b->o.base,
				 .path = path,
				 .log = log,
				 .duration_ns = b->o.duration,
				 .kernel = b->o.kernel };
	struct bench_load load = { 0 };

	for (unsigned attempt = 0;; attempt++) {
		if (pair)
			(void)snprintf(path, sizeof(path), "%s/%s/%03u", b->directory,
				       side_name[is_new], pair);
		else
			(void)snprintf(path, sizeof(path), "%s/warm-up/%s", b->directory,
				       side_name[is_new]);
		(void)snprintf(log, sizeof(log), "%s/logs/%s-%03u", b->directory, side_name[is_new],
			       pair);
		show(b, pair, is_new);
		if (bench_run(&run, &load, err))
			return -1;
		if (!pair || attempt == AGAIN || !is_disturbed(b, &load))
			break;
		/* It is kept, but not as a run of the side. */
		(void)snprintf(log, sizeof(log), "%s/warm-up/%s-%03u-%u", b->directory,
			       side_name[is_new], pair, attempt);
		if (rename(path, log) < 0)
			return err_set(err, KYMO_EXIT_FAILED, "cannot rename %s: %s", path,
				       strerror(errno));
		b->again++;
	}
	b->done++;
	b->others += pair ? load.others : 0;
	b->stolen += pair ? load.stolen : 0;
	return 0;
}

/* Which side comes first is chance: else what always comes second could be slower because it is
 * second. */
static int record_all(struct bench *b, struct kymo_err *err)
{
	b->begun_ns = now_ns();
	b->all = 2 * ((unsigned)b->o.pairs + 1);
	for (unsigned pair = 0; pair <= b->o.pairs; pair++) {
		unsigned char first = 0;

		(void)!getrandom(&first, 1, 0);
		for (unsigned i = 0; i < 2; i++)
			if (record(b, pair, (first & 1) != i, err))
				return -1;
	}
	clear(b);
	return 0;
}

static int compare_sides(const struct bench *b, struct kymo_err *err)
{
	struct diff *diff = calloc(1, sizeof(*diff));
	char path[CLI_PATH_MAX + 16];
	int status;

	if (!diff)
		return err_no_memory(err);
	diff->verb = "bench";
	diff->options = b->o.diff;
	diff->options.paired = true;
	(void)snprintf(diff->base_name, sizeof(diff->base_name), "base");
	(void)snprintf(diff->new_name, sizeof(diff->new_name), "new");
	(void)snprintf(path, sizeof(path), "%s/base", b->directory);
	status = diff_runs_find(&diff->base, path, err);
	(void)snprintf(path, sizeof(path), "%s/new", b->directory);
	if (!status)
		status = diff_runs_find(&diff->new, path, err);
	if (!status)
		status = diff_answer(diff, err);
	diff_runs_free(&diff->base);
	diff_runs_free(&diff->new);
	free(diff);
	return status;
}

static void tell(const struct bench *b)
{
	const double runs = 2 * (double)b->o.pairs;

	if (b->o.quiet)
		return;
	fprintf(stderr, "Meanwhile other programs took %.0f %% of the CPUs",
		100 * b->others / runs);
	if (b->stolen / runs >= 0.005)
		fprintf(stderr, ", and other machines of the host %.0f %%", 100 * b->stolen / runs);
	fprintf(stderr, ".\n");
	if (b->again)
		fprintf(stderr, "Recorded again because of that: %u runs.\n", b->again);
	fprintf(stderr, "next:  kymo diff --paired %s/base %s/new\n", b->directory, b->directory);
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct bench b = { .o = { .pairs = PAIRS } };
	int status;

	if (opt_parse(opts, &b.o, &argc, &argv, NULL, err) || cli_no_operands(argc, argv, err))
		return -1;
	if (!b.o.base || !b.o.new)
		return err_set(err, KYMO_EXIT_USAGE,
			       "which commands? kymo bench --base 'CMD' --new 'CMD'");
	if (b.o.pairs < PAIRS_LEAST || b.o.pairs > COMPARE_RUNS_MAX / 2)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--pairs: between %u and %u; fewer can prove nothing", PAIRS_LEAST,
			       COMPARE_RUNS_MAX / 2);
	if (make_directories(&b, err))
		return -1;
	status = record_all(&b, err);
	if (status) {
		clear(&b);
		return status;
	}
	status = compare_sides(&b, err);
	if (status >= 0)
		tell(&b);
	return status;
}

const struct verb verb_bench = {
	.name = "bench",
	.synopsis = "--base 'CMD' --new 'CMD'",
	.summary = "record two commands in turn, and say whether the new one is worse",
	.description = "Records the base command and the new command in turn, 6 times each, and "
		       "compares the two sides as kymo diff "
		       "--paired does. Which of a pair comes first is chance. A pair that comes "
		       "before all others warms up the "
		       "machine and does not count. kymo says how long it will take, and how much "
		       "of the CPUs other programs took "
		       "meanwhile.\n\n"
		       "The commands are run by sh -c, and end by themselves or after --duration. "
		       "The recordings stay: in DIR/base and "
		       "DIR/new, by default in a new directory beside your other recordings. What "
		       "the commands print is in "
		       "DIR/logs.\n\n"
		       "Exits as kymo diff does: with 5 if a metric is worse, with 6 if nothing "
		       "can be compared or, with --require, if a metric is not "
		       "known. If a command fails, with 1.",
	.examples = "kymo bench --base old/robot --new new/robot --duration 10s\n"
		    "kymo bench --pairs 10 --base 'ros2 launch old.py' --new 'ros2 launch new.py' "
		    "-d 30s\n"
		    "kymo bench --format junit --base ./old --new ./new >bench.xml",
	.opts = opts,
	.run = run,
};
