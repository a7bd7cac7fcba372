/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/diff/diff_answer.h"

#include <stdio.h>
#include <string.h>

#include "cli/common/common.h"
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
	if (diff_runs_read(&d->base, d->verb, d->options.with_losses, err) ||
	    diff_runs_read(&d->new, d->verb, d->options.with_losses, err) || check_machines(d, err))
		return -1;
	d->compare = (struct compare_options){
		.design = { d->base.count - d->base.left_out, d->new.count - d->new.left_out,
			    d->options.paired },
		.limit = (double)d->options.limit / 100,
		.only = d->options.only,
	};
	if (d->options.paired && (d->base.left_out || d->new.left_out))
		return err_set(
			err, KYMO_EXIT_INPUT,
			"--paired: events were lost in %u runs, so pairs are missing; compare "
			"without --paired, or add --with-losses",
			d->base.left_out + d->new.left_out);
	return 0;
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
		return cli_close(d->verb, table, KYMO_EXIT_OK);
	}
	if (d->options.format == DIFF_JUNIT)
		ci_put_junit(suite, stdout);
	else
		compare_print_text(stdout, comparison, how);
	return fflush(stdout) ? KYMO_EXIT_FAILED : KYMO_EXIT_OK;
}

static int print(const struct diff *d, const struct comparison *comparison, struct kymo_err *err)
{
	const struct compare_print how = {
		.options = &d->compare,
		.base = d->base_name,
		.new = d->new_name,
		.most = d->options.all ? 0 : 5,
		.left_out_base = d->base.left_out,
		.left_out_new = d->new.left_out,
	};
	char name[32];
	struct ci_suite suite = { .name = name, .file = d->new_name };
	int status;

	(void)snprintf(name, sizeof(name), "kymo %s", d->verb);
	compare_cases(&suite, comparison, &how);
	status = print_as(d, comparison, &how, &suite);
	if (ci_write(&suite, d->options.junit, (enum ci_service)d->options.annotate, err))
		status = -1;
	ci_free(&suite);
	return status;
}

int diff_answer(struct diff *d, struct kymo_err *err)
{
	struct comparison comparison;
	int status;

	if (d->options.annotate == CI_GITHUB && d->options.format != DIFF_TEXT)
		return err_set(
			err, KYMO_EXIT_USAGE,
			"--annotate github prints lines between those of --format: leave one out");
	if (read_sides(d, err) ||
	    compare(&comparison, (const struct summary *const *)d->base.summary,
		    (const struct summary *const *)d->new.summary, &d->compare, err))
		return -1;
	status = print(d, &comparison, err);
	if (status == KYMO_EXIT_OK && comparison.count[VERDICT_WORSE])
		status = KYMO_EXIT_BUDGET;
	else if (status == KYMO_EXIT_OK &&
		 (!comparison.rows || (d->options.require && comparison.count[VERDICT_UNKNOWN])))
		status = KYMO_EXIT_EMPTY;
	compare_free(&comparison);
	return status;
}
