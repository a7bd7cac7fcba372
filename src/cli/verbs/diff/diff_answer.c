/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/diff/diff_answer.h"

#include <stdio.h>
#include <string.h>

#include "cli/common/common.h"
#include "cli/verbs/diff/diff_blocks.h"
#include "compare/compare_page.h"
#include "compare/compare_print.h"

/* Within a side, too: its runs stand for the same thing. */
static int check_machines(const struct diff *d, struct kymo_err *err)
{
	if (d->options.anyway)
		return 0;
	return diff_runs_alike(&d->base, &d->base, err) || diff_runs_alike(&d->base, &d->new, err)
		       ? -1
		       : 0;
}

static int read_sides(struct diff *d, struct kymo_err *err)
{
	if (d->options.paired
		    ? diff_pairs_read(&d->base, &d->new, d->verb, d->options.with_losses, err)
		    : diff_runs_read(&d->base, d->verb, d->options.with_losses, err) ||
			      diff_runs_read(&d->new, d->verb, d->options.with_losses, err))
		return -1;
	if (diff_runs_fold(&d->base, err) || diff_runs_fold(&d->new, err))
		return -1;
	return check_machines(d, err);
}

static int rename_base(struct diff *d, struct kymo_err *err)
{
	const unsigned bases = diff_runs_judged(&d->base), news = diff_runs_judged(&d->new);

	for (unsigned i = d->renames.count; i < d->options.rename.count; i++)
		if (compare_renames_add(&d->renames, d->options.rename.item[i], err))
			return -1;
	/* A look at more pairs: the names of the first ones have changed already. */
	if (!d->renamed &&
	    compare_renames_check(&d->renames, (const struct summary *const *)d->base.summary,
				  bases, (const struct summary *const *)d->new.summary, news, err))
		return -1;
	for (; d->renamed < bases; d->renamed++)
		if (compare_rename(d->base.summary[d->renamed], &d->renames, err))
			return -1;
	return 0;
}

static int compare_blocks(const struct diff *d, struct comparison *comparison,
			  struct kymo_err *err)
{
	const struct diff_runs *side[2] = { &d->base, &d->new };
	struct blocks blocks[2] = { { .count = 0 } };
	int status = 0;

	for (unsigned s = 0; s < 2 && !status; s++)
		status = diff_blocks_read(&blocks[s], side[s]->summary[0], d->verb,
					  side[s]->path[side[s]->of[0]], err);
	for (unsigned i = 0; i < blocks[0].count && !status; i++)
		status = compare_rename((struct summary *)blocks[0].block[i], &d->renames, err);
	if (!status)
		status = blocks_judge(comparison, &d->compare, &blocks[0], &blocks[1], err);
	diff_blocks_free(&blocks[0]);
	diff_blocks_free(&blocks[1]);
	return status;
}

int diff_compare(struct diff *d, struct comparison *comparison, struct kymo_err *err)
{
	if (read_sides(d, err) || rename_base(d, err))
		return -1;
	d->compare = (struct compare_options){
		.design = { diff_runs_judged(&d->base), diff_runs_judged(&d->new),
			    d->options.paired, d->alarm, d->error },
		.limit = (double)d->options.limit / 100,
		.only = d->options.only,
	};
	if (compare(comparison, (const struct summary *const *)d->base.summary,
		    (const struct summary *const *)d->new.summary, &d->compare, err))
		return -1;
	return d->compare.design.bases == 1 && d->compare.design.news == 1
		       ? compare_blocks(d, comparison, err)
		       : 0;
}

static int print_as(const struct diff *d, const struct comparison *comparison,
		    const struct compare_print *how, const struct ci_suite *suite)
{
	struct table *table;

	if (d->options.format == DIFF_JSON || d->options.format == DIFF_CSV) {
		if (cli_table(d->verb, d->options.format == DIFF_JSON ? TABLE_JSON : TABLE_CSV,
			      &table))
			return KYMO_EXIT_FAILED;
		compare_print_table(table, comparison, how);
		if (d->options.values)
			compare_print_plot(table, comparison, how,
					   (const struct summary *const *)d->base.summary,
					   (const struct summary *const *)d->new.summary);
		return cli_close(d->verb, table, KYMO_EXIT_OK);
	}
	if (d->options.format == DIFF_JUNIT)
		ci_put_junit(suite, stdout);
	else
		compare_print_text(stdout, comparison, how);
	return fflush(stdout) ? KYMO_EXIT_FAILED : KYMO_EXIT_OK;
}

/* Of runs that nobody compared nevertheless, and whose machine is known. */
static const char *machine_note(const struct diff *d)
{
	const char *const *machine = d->base.summary[0]->machine;
	struct kymo_err ignored;

	for (unsigned part = 0; part < MACHINE_PARTS; part++)
		if (machine[part] && *machine[part])
			return !d->options.anyway ||
					       !(diff_runs_alike(&d->base, &d->base, &ignored) ||
						 diff_runs_alike(&d->base, &d->new, &ignored))
				       ? "same machine"
				       : "unlike machines";
	return NULL;
}

static int write_page(const struct diff *d, const struct comparison *comparison,
		      const struct compare_print *how, struct kymo_err *err)
{
	struct compare_print all = *how;
	const struct compare_page page = {
		.print = &all,
		.base = { (const struct summary *const *)d->base.summary, d->base.path,
			  d->base.count },
		.new = { (const struct summary *const *)d->new.summary, d->new.path, d->new.count },
		.version = "kymo " KYMO_VERSION,
		.command = d->command,
	};

	all.most = 0;
	if (compare_page_write(&page, comparison, d->page, stdout, err))
		return -1;
	if (strcmp(d->page, "-") != 0)
		fprintf(stderr, "page: %s\n", d->page);
	return 0;
}

static int print(const struct diff *d, const struct comparison *comparison, struct kymo_err *err)
{
	const struct compare_print how = {
		.options = &d->compare,
		.base = d->base_name,
		.new = d->new_name,
		.renames = &d->renames,
		.machine = machine_note(d),
		.most = d->options.all ? 0 : 5,
		.left_out_base = d->base.left_out,
		.left_out_new = d->new.left_out,
		.left_out = d->left_out,
	};
	char name[32];
	struct ci_suite suite = { .name = name, .file = d->new_name };
	int status;

	(void)snprintf(name, sizeof(name), "kymo %s", d->verb);
	compare_cases(&suite, comparison, &how);
	/* A page on standard output is alone there. */
	status = d->page && strcmp(d->page, "-") == 0 ? KYMO_EXIT_OK
						      : print_as(d, comparison, &how, &suite);
	if (d->page && write_page(d, comparison, &how, err))
		status = -1;
	if (ci_write(&suite, d->options.junit, (enum ci_service)d->options.annotate, err))
		status = -1;
	ci_free(&suite);
	return status;
}

/* Before anything is recorded: are they OLD=NEW? */
static int check_renames(const struct opt_list *list, struct kymo_err *err)
{
	struct compare_renames renames = { .count = 0 };
	int status = 0;

	for (unsigned i = 0; i < list->count && !status; i++)
		status = compare_renames_add(&renames, list->item[i], err);
	compare_renames_free(&renames);
	return status;
}

int diff_check_options(const struct diff_options *options, struct kymo_err *err)
{
	if (options->annotate == CI_GITHUB && options->format != DIFF_TEXT)
		return err_set(
			err, KYMO_EXIT_USAGE,
			"--annotate github prints lines between those of --format: leave one out");
	if (options->values && options->format != DIFF_JSON)
		return err_set(err, KYMO_EXIT_USAGE, "--values requires --format json");
	return check_renames(&options->rename, err);
}

int diff_print(struct diff *d, const struct comparison *comparison, struct kymo_err *err)
{
	const unsigned bases = diff_runs_left_out(&d->base, false, d->left_out);
	int status;

	(void)diff_runs_left_out(&d->new, true, d->left_out + bases);
	status = print(d, comparison, err);
	if (status != KYMO_EXIT_OK)
		return status;
	if (comparison->count[VERDICT_WORSE])
		return KYMO_EXIT_BUDGET;
	if (!comparison->rows || (d->options.require && comparison->count[VERDICT_UNKNOWN]))
		return KYMO_EXIT_EMPTY;
	return KYMO_EXIT_OK;
}
