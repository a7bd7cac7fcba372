/* SPDX-License-Identifier: Apache-2.0 */
/* See input_traces.h. */
#include "cli/input/input_traces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common/progress.h"
#include "summary/summary_file.h"

static void name_all(struct cli_traces *traces)
{
	size_t used = 0;

	for (unsigned i = 0; i < traces->count && used < sizeof(traces->name); i++)
		used += (size_t)snprintf(traces->name + used, sizeof(traces->name) - used, "%s%s", i ? " + " : "",
					 traces->path[i]);
}

int cli_traces(struct cli_traces *traces, int argc, char **argv, struct kymo_err *err)
{
	char path[CLI_PATH_MAX];

	traces->count = 0;
	if (argc > (int)CLI_TRACES_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "too many traces: %d; at most %u are read together", argc,
			       CLI_TRACES_MAX);
	if (argc < 1) {
		if (cli_trace(0, NULL, traces->newest, err))
			return -1;
		traces->path[traces->count++] = traces->newest;
	}
	for (int i = 0; i < argc; i++) {
		if (cli_trace(1, &argv[i], path, err))
			return -1;
		if (summary_is_file(argv[i]))
			return err_set(
				err, KYMO_EXIT_INPUT,
				"%s is a summary, and not a trace: only `kymo report` reads it, "
				"alone or with other summaries",
				argv[i]);
		traces->path[traces->count++] = argv[i];
	}
	name_all(traces);
	return 0;
}

void cli_traces_one(struct cli_traces *traces, const char *path)
{
	traces->count = 1;
	traces->path[0] = path;
	name_all(traces);
}

int cli_traces_distinct(const struct cli_traces *traces, struct kymo_err *err)
{
	struct stat status[CLI_TRACES_MAX];

	for (unsigned i = 0; i < traces->count; i++) {
		if (stat(traces->path[i], &status[i]))
			return err_set(err, KYMO_EXIT_INPUT,
				       "cannot open the trace %s: %s; name a trace directory (\"kymo ls\" lists them)",
				       traces->path[i], strerror(errno));
		for (unsigned k = 0; k < i; k++)
			if (status[k].st_dev == status[i].st_dev &&
			    status[k].st_ino == status[i].st_ino)
				return err_set(err, KYMO_EXIT_USAGE, "%s and %s are the same trace: each event would be counted twice",
					       traces->path[k], traces->path[i]);
	}
	return 0;
}

int cli_align(struct kymo_ctf_reader *reader, bool quiet, struct align **align,
	      struct kymo_err *err)
{
	struct progress progress;
	int status;

	kymo_ctf_threads(reader, 0);
	progress_begin(&progress, quiet);
	progress_extent(&progress, reader);
	status = align_find(align, reader, progress_trace, &progress, err);
	progress_clear(&progress);
	if (!status && align_apply(*align, reader, err)) {
		align_destroy(*align);
		*align = NULL;
		status = -1;
	}
	return status;
}

int cli_traces_open(const struct cli_traces *traces, const char *verb,
		    struct kymo_ctf_reader **reader, struct align **align, struct kymo_err *err)
{
	*align = NULL;
	if (cli_traces_distinct(traces, err) ||
	    kymo_ctf_open_all(traces->path, traces->count, reader, err))
		return -1;
	if (!cli_align(*reader, !verb, align, err))
		return 0;
	kymo_ctf_close(*reader);
	*reader = NULL;
	return -1;
}

void cli_print_hosts(const char *verb, const struct align *align)
{
	char remark[ALIGN_REMARK_MAX], ns[TEXT_QUANTITY_MAX];

	if (align_count(align))
		fprintf(stderr, "kymo %s: times are those of %s's clock\n", verb, align_host_name(align, 0));
	for (unsigned i = 1; i < align_count(align); i++) {
		const struct align_host *host = align_host(align, i);

		if (host->how == ALIGN_SAME_CLOCK)
			fprintf(stderr, "kymo %s: %s has the same clock as %s\n", verb, align_host_name(align, i),
				align_host_name(align, host->to));
		else if (host->how == ALIGN_MESSAGES)
			fprintf(stderr,
				"kymo %s: times of %s were converted by %llu messages; they are wrong by up to %s\n",
				verb, align_host_name(align, i),
				(unsigned long long)(host->messages_in + host->messages_out),
				text_ns(ns, host->error_max_ns));
		else if (align_remark(align, i, remark, sizeof(remark)))
			fprintf(stderr, "kymo %s: %s\n", verb, remark);
	}
}

void cli_tables_warn(const char *verb, const struct tables *tables)
{
	char clean[4096];

	for (unsigned i = 0; i < tables_warnings(tables); i++) {
		text_clean(clean, sizeof(clean), tables_warning(tables, i));
		fprintf(stderr, "kymo %s: warning: %s\n", verb, clean);
	}
	if (tables_lost(tables))
		fprintf(stderr, "kymo %s: warning: %llu events were lost while recording; the table lost_events says where\n", verb,
			(unsigned long long)tables_lost(tables));
}

void cli_warn_unseen(const char *verb, const struct accounts *accounts)
{
	if (accounts->kernel.unseen_switches)
		fprintf(stderr,
			"kymo %s: warning: the kernel did not report %" PRIu64
			" or more switches between threads: who had a CPU, and how long, may be "
			"wrong there\n",
			verb, accounts->kernel.unseen_switches);
	if (accounts->kernel.unseen_calls)
		fprintf(stderr,
			"kymo %s: warning: the kernel did not report %" PRIu64
			" or more events of system calls: these calls may be missing or have no "
			"end\n",
			verb, accounts->kernel.unseen_calls);
}

uint64_t cli_traces_lost(const struct cli_traces *traces, const char *verb)
{
	struct accounts accounts;
	char problem[512];
	uint64_t lost = 0;

	for (unsigned i = 0; i < traces->count; i++) {
		accounts = (struct accounts){ 0 };
		accounts_read(&accounts, traces->path[i], problem);
		if (*problem)
			fprintf(stderr, "kymo %s: warning: %s\n", verb, problem);
		cli_warn_unseen(verb, &accounts);
		lost += accounts.dropped + accounts.unwritten;
		accounts_free(&accounts);
	}
	return lost;
}

/* What fits on a line beside a verb and a short name. */
#define OPERAND_SHORT 38u

/* What follows @directory in @path; NULL: @path is not in it, or the rest is no name of its own. */
static const char *below(const char *path, const char *directory)
{
	const size_t length = directory ? strlen(directory) : 0;

	return length > 1 && strncmp(path, directory, length) == 0 && path[length] == '/' &&
			       path[length + 1] && !strchr("/-", path[length + 1])
		       ? path + length + 1
		       : NULL;
}

/* A long absolute path as a shell also takes it: from here, or from the home directory. */
static char *short_word(char *buffer, size_t size, const char *path)
{
	char here[CLI_PATH_MAX], rest[1024];
	const char *from_here, *from_home;

	if (strlen(path) < OPERAND_SHORT)
		return text_shell(buffer, size, path);
	from_here = below(path, getcwd(here, sizeof(here)));
	from_home = below(path, getenv("HOME"));
	if (from_here || !from_home)
		return text_shell(buffer, size, from_here ? from_here : path);
	(void)snprintf(buffer, size, "~/%s", text_shell(rest, sizeof(rest), from_home));
	return buffer;
}

char *cli_operand(char *buffer, size_t size, int argc, char **argv)
{
	char word[1200];

	*buffer = '\0';
	for (int i = 0; i < argc; i++)
		(void)snprintf(buffer + strlen(buffer), size - strlen(buffer), "%s%s", i ? " " : "",
			       short_word(word, sizeof(word), argv[i]));
	return buffer;
}
