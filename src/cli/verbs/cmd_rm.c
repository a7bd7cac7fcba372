/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo rm`: removes recordings. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/common/common.h"
#include "cli/verbs/ls/recordings.h"
#include "relay/store/store_tree.h"

struct options {
	bool yes, quiet;
};

static const struct opt opts[] = { { "yes", 'y', OPT_FLAG, offsetof(struct options, yes), NULL,
				     "do not ask; necessary where standard input is no terminal",
				     NULL },
				   CLI_OPT_QUIET(struct options),
				   CLI_OPT_END };

/* The path @operand, or the recording of that name where `kymo record` writes. */
static int find(char path[CLI_PATH_MAX], const char *operand, struct kymo_err *err)
{
	char directory[CLI_PATH_MAX];
	struct stat status;
	int length;

	length = snprintf(path, CLI_PATH_MAX, "%s", operand);
	if (lstat(operand, &status) && !strchr(operand, '/') && !cli_trace_dir(directory, err))
		length = snprintf(path, CLI_PATH_MAX, "%s/%s", directory, operand);
	if (length < 0 || length >= CLI_PATH_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "the path '%.100s...' is too long", operand);
	for (; length > 1 && path[length - 1] == '/'; length--)
		path[length - 1] = 0;
	if (lstat(path, &status))
		return err_set(err, KYMO_EXIT_INPUT,
			       "cannot find the recording %s: %s; `kymo ls` lists them", operand,
			       strerror(errno));
	if (!S_ISDIR(status.st_mode))
		return err_set(err, KYMO_EXIT_USAGE,
			       "%s is not a directory, and a recording is one; nothing was removed",
			       path);
	if (!recording_is(path))
		return err_set(
			err, KYMO_EXIT_USAGE,
			"%s is not a recording; nothing was removed; name one that `kymo ls` lists",
			path);
	return 0;
}

/* Reads what is to be removed. Return: 0; -1 with @err: it may not be removed. */
static int check(const char *operand, struct recording *recording, struct kymo_err *err)
{
	char path[CLI_PATH_MAX];

	if (find(path, operand, err) || recording_read(recording, path, err))
		return -1;
	if (!recording->running)
		return 0;
	recording_free(recording);
	return err_set(err, KYMO_EXIT_FAILED,
		       "%s is being recorded; nothing was removed; end it first: kymo stop", path);
}

static void describe(const struct recording *recording)
{
	char clean[4 * CLI_PATH_MAX], length[TEXT_QUANTITY_MAX], bytes[TEXT_QUANTITY_MAX];

	text_clean(clean, sizeof(clean), recording->path);
	fprintf(stderr, "    %9s  %9s  %s\n",
		text_ns(length, recording->end_ns - recording->begin_ns),
		text_bytes(bytes, recording->bytes), clean);
}

/* Return: whether to remove them. */
static bool ask(const struct recordings *recordings)
{
	char answer[16] = "";

	fprintf(stderr, "kymo rm: remove %u recording%s?\n", recordings->count,
		recordings->count == 1 ? "" : "s");
	for (unsigned i = 0; i < recordings->count; i++)
		describe(&recordings->item[i]);
	fprintf(stderr, "[y/N] ");
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* Removes the directory @path, whose last component is no symbolic link. Return: 0; -1 with errno.
 */
static int remove_one(const char *path)
{
	char whole[PATH_MAX], *name;
	int parent, rc;

	if (!realpath(path, whole))
		return -1;
	name = strrchr(whole, '/');
	*name++ = 0;
	parent = open(*whole ? whole : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return -1;
	rc = tree_remove(parent, name);
	(void)close(parent);
	return rc;
}

static int remove_all(const struct recordings *recordings, bool quiet, struct kymo_err *err)
{
	for (unsigned i = 0; i < recordings->count; i++) {
		const char *path = recordings->item[i].path;
		char clean[4 * CLI_PATH_MAX];

		if (remove_one(path))
			return err_set(
				err, KYMO_EXIT_FAILED,
				"cannot remove all of %s: %s; %u of %u recordings were removed",
				path, strerror(errno), i, recordings->count);
		text_clean(clean, sizeof(clean), path);
		if (!quiet)
			fprintf(stderr, "removed %s\n", clean);
	}
	return KYMO_EXIT_OK;
}

static bool is_among(const struct recordings *recordings, const char *path)
{
	struct stat a, b;

	for (unsigned i = 0; i < recordings->count; i++)
		if (!stat(recordings->item[i].path, &a) && !stat(path, &b) &&
		    a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			return true;
	return false;
}

/* Everything is looked at before anything is removed. */
static int collect(struct recordings *recordings, int argc, char **argv, struct kymo_err *err)
{
	for (int i = 0; i < argc; i++) {
		struct recording *recording;

		if (!ARRAY_ROOM(recordings->item, recordings->count, recordings->capacity))
			return err_no_memory(err);
		recording = &recordings->item[recordings->count];
		if (check(argv[i], recording, err))
			return -1;
		if (is_among(recordings, recording->path))
			recording_free(recording);
		else
			recordings->count++;
	}
	return 0;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };
	struct recordings recordings = { 0 };
	int status;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err))
		return -1;
	if (!argc)
		return err_set(err, KYMO_EXIT_USAGE,
			       "which recording? `kymo ls` lists them: kymo rm NAME");
	status = collect(&recordings, argc, argv, err);
	if (!status && !options.yes && !isatty(STDIN_FILENO))
		status = err_set(err, KYMO_EXIT_USAGE,
				 "standard input is no terminal, so kymo cannot ask; nothing was "
				 "removed; add --yes");
	else if (!status && !options.yes && !ask(&recordings))
		status = err_set(err, KYMO_EXIT_FAILED, "nothing was removed");
	if (!status)
		status = remove_all(&recordings, options.quiet, err);
	recordings_free(&recordings);
	return status;
}

const struct verb verb_rm = {
	.name = "rm",
	.synopsis = "NAME...",
	.summary = "remove recordings",
	.description = "Removes recordings with everything in their directories. NAME is a path, "
		       "or a name that `kymo ls` prints without an operand. kymo asks first. "
		       "Before it removes anything, kymo looks at every NAME: a directory that is "
		       "not a recording, and one that is being recorded, are refused. Symbolic "
		       "links are not followed.",
	.examples = "kymo rm my_session\n"
		    "kymo rm --yes traces/session-20261120230000",
	.opts = opts,
	.run = run,
};
