/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/check/check_base.h"

int check_base_read(struct diff_runs *base, const struct budgets *budgets, const char *given,
		    bool with_losses, struct kymo_err *err)
{
	const int need = budgets_need_base(budgets, given, err);

	if (need <= 0)
		return need;
	if (given && diff_runs_find(base, given, err))
		return err_wrap(err, "--base");
	for (unsigned i = 0; !given && i < budgets->bases; i++)
		if (diff_runs_find(base, budgets->base[i], err))
			return err_wrap(err, "the base line");
	return diff_runs_read(base, "check", with_losses, err) ? err_wrap(err, "the base line") : 1;
}
