/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/bench/bench_pairs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/now.h"
#include "base/text.h"
#include "cli/verbs/bench/bench_run.h"

/* Starting a command, and what a recorder needs to find it and to end. */
#define AROUND_NS INT64_C(300000000)

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

static int make_directories(const struct bench_pairs *b, struct kymo_err *err)
{
	static const char *const below[] = { "base", "new", "warm-up", "logs" };
	char path[CLI_PATH_MAX + 16];

	if (make(b->directory, err))
		return -1;
	for (unsigned i = 0; i < COUNT_OF(below); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", b->directory, below[i]);
		if (make(path, err))
			return -1;
	}
	return 0;
}

char *bench_pairs_path(const struct bench_pairs *b, bool is_new, unsigned pair,
		       char path[CLI_PATH_MAX + 32])
{
	if (pair)
		(void)snprintf(path, CLI_PATH_MAX + 32, "%s/%s/%03u", b->directory,
			       side_name[is_new], pair);
	else
		(void)snprintf(path, CLI_PATH_MAX + 32, "%s/warm-up/%s", b->directory,
			       side_name[is_new]);
	return path;
}

/* A disturbed pair is kept, but not as one that counts. */
static int put_aside(const struct bench_pairs *b, unsigned pair, struct kymo_err *err)
{
	char from[CLI_PATH_MAX + 32], to[CLI_PATH_MAX + 64];

	(void)snprintf(to, sizeof(to), "%s/disturbed", b->directory);
	if (!b->again && make(to, err))
		return -1;
	for (unsigned side = 0; side < 2; side++) {
		(void)snprintf(to, sizeof(to), "%s/disturbed/%s-%03u-%u", b->directory,
			       side_name[side], pair, b->again + 1);
		if (rename(bench_pairs_path(b, side, pair, from), to) < 0)
			return err_set(err, KYMO_EXIT_FAILED, "cannot rename %s: %s", from,
				       strerror(errno));
	}
	return 0;
}

/* ---- what it will take ---- */

static void show(const struct bench_pairs *b, unsigned pair, bool is_new)
{
	const unsigned left = b->pairs + 1 - pair;
	char text[TEXT_QUANTITY_MAX];

	if (b->quiet || !isatty(STDERR_FILENO))
		return;
	if (pair)
		fprintf(stderr, "\r\033[Kpair %u of %u, %s", pair, b->pairs, side_name[is_new]);
	else
		fprintf(stderr, "\r\033[Kwarm-up, %s", side_name[is_new]);
	if (b->done)
		fprintf(stderr, ", at most %s left",
			text_ns(text, (now_ns() - b->begun_ns) / b->done *
					      (left + b->again_most - b->again)));
	fflush(stderr);
}

static void clear(const struct bench_pairs *b)
{
	if (!b->quiet && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

int bench_pairs_begin(struct bench_pairs *b, struct kymo_err *err)
{
	const int64_t pair_ns = 2 * (b->duration_ns + AROUND_NS);
	char text[TEXT_QUANTITY_MAX];

	if (make_directories(b, err))
		return -1;
	b->begun_ns = now_ns();
	if (!b->quiet && b->duration_ns)
		fprintf(stderr, "A warm-up and %u pairs: about %s.\n", b->pairs,
			text_ns(text, pair_ns * (b->pairs + 1)));
	return 0;
}

/* ---- runs ---- */

struct pair_load {
	struct meanwhile meanwhile[2];
	bool is_disturbed;
	char why[128];
};

static int record_side(struct bench_pairs *b, unsigned pair, bool is_new, struct pair_load *load,
		       struct kymo_err *err)
{
	char path[CLI_PATH_MAX + 32], log[CLI_PATH_MAX + 32];
	struct bench_run run = { .command = b->command[is_new],
				 .path = bench_pairs_path(b, is_new, pair, path),
				 .log = log,
				 .duration_ns = b->duration_ns,
				 .kernel = b->kernel };

	(void)snprintf(log, sizeof(log), "%s/logs/%s-%03u", b->directory, side_name[is_new], pair);
	show(b, pair, is_new);
	if (bench_run(&run, &load->meanwhile[is_new], err))
		return -1;
	load->is_disturbed |=
		disturbed(&b->rule, &load->meanwhile[is_new], load->why, sizeof(load->why));
	return 0;
}

static int record_once(struct bench_pairs *b, unsigned pair, struct pair_load *load,
		       struct kymo_err *err)
{
	unsigned char first = 0;

	*load = (struct pair_load){ 0 };
	(void)!getrandom(&first, 1, 0);
	for (unsigned i = 0; i < 2; i++)
		if (record_side(b, pair, (first & 1) != i, load, err))
			return -1;
	b->done++;
	return 0;
}

int bench_pairs_record(struct bench_pairs *b, unsigned pair, struct kymo_err *err)
{
	struct pair_load load;
	int status = record_once(b, pair, &load, err);

	while (!status && pair && load.is_disturbed && b->again < b->again_most) {
		status = put_aside(b, pair, err);
		b->again++;
		if (!status)
			status = record_once(b, pair, &load, err);
	}
	clear(b);
	if (status || !pair)
		return status;
	if (load.is_disturbed) {
		b->disturbed++;
		(void)snprintf(b->why, sizeof(b->why), "%s", load.why);
	}
	for (unsigned side = 0; side < 2; side++) {
		b->others += load.meanwhile[side].others;
		b->stolen += load.meanwhile[side].stolen;
		b->runs++;
	}
	return 0;
}

void bench_pairs_tell(const struct bench_pairs *b)
{
	if (b->quiet || !b->runs)
		return;
	fprintf(stderr, "Meanwhile other programs took %.0f %% of the CPUs",
		100 * b->others / b->runs);
	if (b->stolen / b->runs >= 0.005)
		fprintf(stderr, ", and other machines of the host %.0f %%",
			100 * b->stolen / b->runs);
	fprintf(stderr, ".\n");
	if (b->again)
		fprintf(stderr, "Disturbed, and recorded again: %u pairs.\n", b->again);
	if (b->disturbed)
		fprintf(stderr,
			"Disturbed, and judged nevertheless: %u pairs; in the last one %s.\n",
			b->disturbed, b->why);
}
