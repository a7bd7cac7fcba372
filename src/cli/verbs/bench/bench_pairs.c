/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pairs of runs of `kymo bench`; see bench_pairs.h.
 *
 * The idea: the two runs of a pair follow each other, in random order, so that both meet the same
 * state of the machine. A pair in which events were lost, or which something disturbed, is
 * recorded again as long as there are repeats left: first those with losses, then those that were
 * repeated least, then the most disturbed one. Of its two recordings the better one stays. Only
 * losses and what the machine did decide, never what was measured.
 */
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

/* Where the run is kept that does not count: the @number-th of all repeats. Return: @path. */
static char *aside(const struct bench_pairs *b, bool is_new, unsigned pair, unsigned number,
		   char path[CLI_PATH_MAX + 64])
{
	(void)snprintf(path, CLI_PATH_MAX + 64, "%s/disturbed/%s-%03u-%u", b->directory,
		       side_name[is_new], pair, number);
	return path;
}

static int move(const char *from, const char *to, struct kymo_err *err)
{
	if (rename(from, to) == 0)
		return 0;
	return err_set(err, KYMO_EXIT_FAILED, "cannot rename %s: %s", from, strerror(errno));
}

static int put_aside(const struct bench_pairs *b, unsigned pair, struct kymo_err *err)
{
	char from[CLI_PATH_MAX + 32], to[CLI_PATH_MAX + 64];

	(void)snprintf(to, sizeof(to), "%s/disturbed", b->directory);
	if (b->again == 1 && make(to, err))
		return -1;
	for (unsigned side = 0; side < 2; side++)
		if (move(bench_pairs_path(b, side, pair, from),
			 aside(b, side, pair, b->again, to), err))
			return -1;
	return 0;
}

/* The repeat was no better: what was put aside counts after all. */
static int exchange(const struct bench_pairs *b, unsigned pair, struct kymo_err *err)
{
	char path[CLI_PATH_MAX + 32], old[CLI_PATH_MAX + 64], between[CLI_PATH_MAX + 72];

	for (unsigned side = 0; side < 2; side++) {
		bench_pairs_path(b, side, pair, path);
		(void)snprintf(between, sizeof(between), "%s.new",
			       aside(b, side, pair, b->again, old));
		if (move(path, between, err) || move(old, path, err) || move(between, old, err))
			return -1;
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

static int record_side(struct bench_pairs *b, unsigned pair, bool is_new,
		       struct bench_load *load,
		       struct kymo_err *err)
{
	char path[CLI_PATH_MAX + 32], log[CLI_PATH_MAX + 32];
	uint64_t lost;
	struct bench_run run = { .command = b->command[is_new],
				 .path = bench_pairs_path(b, is_new, pair, path),
				 .log = log,
				 .duration_ns = b->duration_ns,
				 .kernel = b->kernel };

	(void)snprintf(log, sizeof(log), "%s/logs/%s-%03u", b->directory, side_name[is_new], pair);
	show(b, pair, is_new);
	if (bench_run(&run, &load->meanwhile[is_new], &lost, err))
		return -1;
	load->lost += b->with_losses ? 0 : lost;
	if (b->kernel && !pair && !is_new && !b->quiet && !bench_run_has_kernel(path))
		fprintf(stderr,
			"%sThe kernel's events cannot be recorded, so callbacks have no own time: %s "
			"says why.\n",
			isatty(STDERR_FILENO) ? "\r\033[K" : "", log);
	load->is_disturbed |=
		disturbed(&b->rule, &load->meanwhile[is_new], load->why, sizeof(load->why));
	return 0;
}

static int record_once(struct bench_pairs *b, unsigned pair, struct bench_load *load,
		       struct kymo_err *err)
{
	unsigned char first = 0;

	*load = (struct bench_load){ 0 };
	(void)!getrandom(&first, 1, 0);
	for (unsigned i = 0; i < 2; i++)
		if (record_side(b, pair, (first & 1) != i, load, err))
			return -1;
	b->done++;
	return 0;
}

int bench_pairs_record(struct bench_pairs *b, unsigned pair, struct kymo_err *err)
{
	const int status = record_once(b, pair, &b->load[pair], err);
	char text[TEXT_QUANTITY_MAX];

	clear(b);
	if (!status && !pair && !b->quiet && !b->duration_ns)
		fprintf(stderr, "The warm-up is over; %u pairs: about %s.\n", b->pairs,
			text_ns(text, (now_ns() - b->begun_ns) * b->pairs));
	if (!status)
		b->recorded = pair;
	return status;
}

/* ---- repeats ---- */

/* By what the machine did, of the run where it did more. */
static double harm(const struct bench_load *load)
{
	double most = 0;

	for (unsigned side = 0; side < 2; side++) {
		const struct meanwhile *m = &load->meanwhile[side];
		const double one = m->others + m->stolen + m->held + (double)m->throttles;

		most = one > most ? one : most;
	}
	return most;
}

/* Is @one recorded again before @other? */
static bool is_before(const struct bench_load *one, const struct bench_load *other)
{
	if (!one->lost != !other->lost)
		return one->lost;
	if (one->repeats != other->repeats)
		return one->repeats < other->repeats;
	return harm(one) > harm(other);
}

/* Return: 0: no pair needs it. */
static unsigned next_repeat(const struct bench_pairs *b)
{
	unsigned best = 0;

	for (unsigned pair = b->settled + 1; pair <= b->recorded; pair++) {
		const struct bench_load *load = &b->load[pair];

		if ((load->lost || load->is_disturbed) &&
		    (!best || is_before(load, &b->load[best])))
			best = pair;
	}
	return best;
}

static bool is_no_better(const struct bench_load *one, const struct bench_load *than)
{
	if (!one->lost != !than->lost)
		return one->lost;
	return (one->lost || one->is_disturbed) && harm(one) >= harm(than);
}

static int repeat(struct bench_pairs *b, unsigned pair, struct kymo_err *err)
{
	const struct bench_load old = b->load[pair];
	struct bench_load new;
	int status;

	b->again++;
	b->again_lost += old.lost != 0;
	status = put_aside(b, pair, err) || record_once(b, pair, &new, err) ? -1 : 0;
	if (!status && is_no_better(&new, &old)) {
		status = exchange(b, pair, err);
		new = old;
	}
	new.repeats = old.repeats + 1;
	if (!status)
		b->load[pair] = new;
	clear(b);
	return status;
}

int bench_pairs_settle(struct bench_pairs *b, struct kymo_err *err)
{
	const unsigned most = b->again_most * b->recorded / b->pairs;
	unsigned pair;

	while (b->again < most && (pair = next_repeat(b)))
		if (repeat(b, pair, err))
			return -1;
	b->settled = b->recorded;
	return 0;
}

unsigned bench_pairs_judged(const struct bench_pairs *b)
{
	unsigned judged = 0;

	for (unsigned pair = 1; pair <= b->recorded; pair++)
		judged += !b->load[pair].lost;
	return judged;
}

static void tell_repeats(const struct bench_pairs *b)
{
	const unsigned disturbed = b->again - b->again_lost;

	if (b->again_lost)
		fprintf(stderr, "Events were lost, so recorded again: %u pair%s.\n", b->again_lost,
			b->again_lost == 1 ? "" : "s");
	if (disturbed)
		fprintf(stderr, "Disturbed, and recorded again: %u pair%s.\n", disturbed,
			disturbed == 1 ? "" : "s");
}

void bench_pairs_tell(const struct bench_pairs *b)
{
	const struct bench_load *last = NULL;
	const double runs = 2.0 * b->recorded;
	double others = 0, stolen = 0;
	unsigned disturbed = 0;

	if (b->quiet || !b->recorded)
		return;
	for (unsigned pair = 1; pair <= b->recorded; pair++) {
		const struct bench_load *load = &b->load[pair];

		for (unsigned side = 0; side < 2; side++) {
			others += load->meanwhile[side].others;
			stolen += load->meanwhile[side].stolen;
		}
		disturbed += load->is_disturbed;
		last = load->is_disturbed ? load : last;
	}
	fprintf(stderr, "Meanwhile other programs took %.0f %% of the CPUs", 100 * others / runs);
	if (stolen / runs >= 0.005)
		fprintf(stderr, ", and other machines of the host %.0f %%", 100 * stolen / runs);
	fprintf(stderr, ".\n");
	tell_repeats(b);
	if (disturbed)
		fprintf(stderr,
			"Disturbed, and judged nevertheless: %u pairs; in the last one %s.\n",
			disturbed, last->why);
}
