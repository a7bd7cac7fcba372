/* SPDX-License-Identifier: Apache-2.0 */
/* --model of verbs that follow a chain. */
#include "cli/input/input_model.h"

#include <string.h>
#include <unistd.h>

#include "cli/common/common.h"

static bool exists(const char *operand)
{
	return access(operand, F_OK) == 0;
}

/*
 * Which operand is the name: one of @model's names. If several are, those that exist as files are
 * the traces. Return: its index; -1: none; -2 with @err.
 */
static int find_name(const struct behaviours *model, int argc, char **argv, struct kymo_err *err)
{
	int found = -1, other = -1;

	for (int i = 0; i < argc; i++) {
		if (!behaviours_has(model, argv[i]))
			continue;
		if (found < 0 || (exists(argv[found]) && !exists(argv[i])))
			found = i, other = -1;
		else if (exists(argv[found]) == exists(argv[i]))
			other = i;
	}
	if (other < 0)
		return found;
	if (exists(argv[other]))
		err_set(err, KYMO_EXIT_USAGE,
			"'%s' and '%s' are both names of the model and files; write ./%s for a trace",
			argv[found], argv[other], argv[found]);
	else
		err_set(err, KYMO_EXIT_USAGE, "'%s' and '%s': only one activity or region at a time",
			argv[found], argv[other]);
	return -2;
}

/* No operand is a name: the last one that is no trace is meant as one. Return: as find_name(). */
static int find_mistyped(int argc, char **argv)
{
	int found = -1;

	for (int i = 0; i < argc; i++)
		if (!exists(argv[i]) &&
		    (found < 0 || cli_means_path(argv[found]) || !cli_means_path(argv[i])))
			found = i;
	return found;
}

static int take_name(struct behaviours *model, int *argc, char **argv, const char **name,
		     const char **operand, struct kymo_err *err)
{
	int i = find_name(model, *argc, argv, err);

	if (i == -2)
		return -1;
	if (i < 0)
		i = find_mistyped(*argc, argv);
	*name = i < 0 ? NULL : argv[i];
	for (; i >= 0 && i < *argc; i++)
		argv[i] = argv[i + 1];
	if (*name)
		(*argc)--;
	return behaviours_operand(model, *name, operand, err);
}

int cli_model_operand(const char *file, struct behaviours **model, int *argc, char **argv,
		      const char **name, const char **operand, struct kymo_err *err)
{
	int kind;

	if (behaviours_read(model, file, err))
		return err_wrap(err, "--model");
	kind = take_name(*model, argc, argv, name, operand, err);
	return kind < 0 ? err_wrap(err, "--model %s", file) : kind;
}
