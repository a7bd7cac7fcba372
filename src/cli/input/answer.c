/* SPDX-License-Identifier: Apache-2.0 */
/* See answer.h. */
#include "cli/input/answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/common/screen.h"
#include "cli/input/input_runs.h"
#include "cli/input/trace_time.h"

#define WARNINGS_SHOWN 5u

static void close_all(struct answer *answer)
{
	kymo_ctf_close(answer->reader);
	simclock_free(answer->clock);
	align_destroy(answer->align);
}

/* The reader is open. */
static int open_times(struct answer *answer, const struct cli_times *times, struct kymo_err *err)
{
	if ((times->merge || !cli_one_run(answer->verb, &answer->traces, answer->reader, err)) &&
	    !cli_clock(times->clock, answer->reader, answer->traces.name, &answer->clock, err) &&
	    !cli_read_window(answer->reader, answer->clock, times, &answer->begin_ns,
			     &answer->end_ns, err))
		return 0;
	close_all(answer);
	return -1;
}

int answer_open(struct answer *answer, const char *verb, int argc, char **argv,
		const struct cli_times *times, struct kymo_err *err)
{
	*answer = (struct answer){.verb = verb, .warnings = WARNINGS_SHOWN};
	if (cli_traces(&answer->traces, argc, argv, err) ||
	    cli_traces_open(&answer->traces, verb, &answer->reader, &answer->align, err))
		return -1;
	return open_times(answer, times, err);
}

/* The only operand may have been meant as a trace. */
#define NEITHER "'%s' is neither a trace nor a chain ('FROM -> TO')"

int answer_open_about(struct answer *answer, const char *verb, int argc, char **argv,
		      const struct cli_times *times, const char *about, struct kymo_err *err)
{
	const char *alone = argc ? NULL : about;

	if (answer_open(answer, verb, argc, argv, times, err) == 0)
		return 0;
	if (alone && !answer->traces.count)
		(void)err_set(err, KYMO_EXIT_INPUT,
			      NEITHER ", and no recorded trace was found; name one", alone);
	else if (alone && err->status == KYMO_EXIT_INPUT)
		(void)err_wrap(err, NEITHER, alone);
	return -1;
}

int answer_follow(struct answer *answer, const char *verb, int argc, char **argv,
		  const struct cli_times *times, struct kymo_err *err)
{
	*answer = (struct answer){.verb = verb, .warnings = WARNINGS_SHOWN};
	if (times->clock)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--clock sim requires a complete trace; leave out --follow");
	if (cli_traces(&answer->traces, argc, argv, err))
		return -1;
	if (answer->traces.count > 1)
		return err_set(
			err, KYMO_EXIT_USAGE,
			"--follow only works with one trace; let a relay bring those of several "
			"hosts into one directory (kymo relay -o DIR), and follow that");
	if (kymo_ctf_open(answer->traces.path[0], &answer->reader, err))
		return -1;
	kymo_ctf_threads(answer->reader, 0);
	kymo_ctf_growing(answer->reader, true);
	return open_times(answer, times, err);
}

int answer_begin(struct answer *answer, int format, struct kymo_err *err)
{
	screen_page();
	if (answer->kept && *answer->kept->kept.path)
		answer->held = open_memstream(&answer->text, &answer->text_size);
	if (table_open(&answer->table, answer->held ? answer->held : stdout,
		       (enum table_format)format))
		return err_no_memory(err);
	screen_dress(answer->table);
	progress_begin(&answer->progress, false);
	progress_extent(&answer->progress, answer->reader);
	table_clock(answer->table, answer->clock ? cli_stamp : NULL, answer->clock);
	return 0;
}

/* ---- what is kept ---- */

/* Everything that an answer depends on beside the traces, in one text. Return: false: too long. */
static bool question_of(char *question, size_t size, const char *command)
{
	static const char *const variables[] = { "TZ", "LANG", "LC_ALL", "LC_TIME", "LC_NUMERIC",
						 "AMENT_PREFIX_PATH", "HOME" };
	char here[CLI_PATH_MAX]; /* commands in the answer may name the trace from here */
	struct winsize window = { 0 };
	size_t used;

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &window);
	(void)snprintf(question, size, "answer %d %u %u %d %s\n%s", isatty(STDOUT_FILENO),
		       screen_width(), window.ws_row, screen_has_color(), command,
		       getcwd(here, sizeof(here)) ? here : "");
	for (unsigned i = 0; i < COUNT_OF(variables); i++) {
		const char *value = getenv(variables[i]);

		used = strlen(question);
		(void)snprintf(question + used, size - used, "\n%s%s", value ? "=" : "",
			       value ? value : "");
	}
	return strlen(question) + 1 < size;
}

void answer_command(struct answer_kept *kept, const char *verb, int argc, char **argv)
{
	const size_t size = sizeof(kept->command);
	size_t used;

	*kept = (struct answer_kept){ 0 };
	used = (size_t)snprintf(kept->command, size, "%s", verb);
	for (int i = 0; i < argc; i++) {
		const int length = snprintf(kept->command + used, size - used, " %zu %s",
					    strlen(argv[i]), argv[i]);

		if (length < 0 || (size_t)length >= size - used) {
			kept->command[0] = '\0';
			return;
		}
		used += (size_t)length;
	}
}

bool answer_recall(struct answer_kept *kept, int argc, char **argv)
{
	struct kymo_err ignored;
	char question[16384], *text;
	size_t size;

	if (!*kept->command || cli_traces(&kept->traces, argc, argv, &ignored) ||
	    !question_of(question, sizeof(question), kept->command))
		return false;
	kept_open(&kept->kept, question, kept->traces.path, kept->traces.count);
	text = kept_get(&kept->kept, &size);
	if (!text)
		return false;
	if (!kept->is_plain)
		screen_page();
	(void)fwrite(text, 1, size, stdout);
	free(text);
	return true;
}

/* Not what came with warnings on stderr, which would be missing the next time. */
bool answer_is_clean(const struct cli_traces *traces)
{
	bool clean = true;

	for (unsigned i = 0; i < traces->count && clean; i++) {
		struct accounts accounts;
		char problem[512];

		accounts_read(&accounts, traces->path[i], problem);
		accounts_free(&accounts);
		clean = !*problem;
	}
	return clean;
}

/* The table is complete. */
static int print_held(struct answer *answer, int status)
{
	struct kymo_err err;

	if (fclose(answer->held))
		status = KYMO_EXIT_FAILED;
	answer->held = NULL;
	if (status >= 0 && answer->text_size &&
	    (fwrite(answer->text, 1, answer->text_size, stdout) != answer->text_size ||
	     fflush(stdout)) &&
	    errno != EPIPE) {
		(void)err_set(&err, KYMO_EXIT_FAILED, "cannot write the output: %s",
			      strerror(errno));
		status = cli_fail(answer->verb, &err);
	}
	if (status == KYMO_EXIT_OK && !kymo_ctf_warning_count(answer->reader) &&
	    answer_is_clean(&answer->traces))
		kept_put(&answer->kept->kept, answer->text, answer->text_size);
	free(answer->text);
	answer->text = NULL;
	return status;
}

int answer_close(struct answer *answer, int status, bool strict)
{
	const bool loss = status >= 0 && answer->lost && strict;

	progress_clear(&answer->progress);
	if (loss)
		status = KYMO_EXIT_LOSS;
	if (answer->table && cli_close(answer->verb, answer->table, KYMO_EXIT_OK) && status >= 0)
		status = KYMO_EXIT_FAILED;
	if (answer->held)
		status = print_held(answer, status);
	if (answer->warnings)
		answer_warn(answer->verb, answer->reader, answer->warnings);
	close_all(answer);
	if (loss && status == KYMO_EXIT_LOSS)
		fprintf(stderr, "kymo %s: events were lost, and --strict makes that an error\n",
			answer->verb);
	return status;
}

void answer_warn(const char *verb, const struct kymo_ctf_reader *reader, unsigned most)
{
	unsigned count = kymo_ctf_warning_count(reader);
	char clean[4096];

	for (unsigned i = 0; i < count && i < most; i++) {
		text_clean(clean, sizeof(clean), kymo_ctf_warning(reader, i));
		fprintf(stderr, "kymo %s: warning: %s\n", verb, clean);
	}
	if (count > most)
		fprintf(stderr, "kymo %s: %u more warnings; `kymo info` shows them\n", verb, count - most);
}
