/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as a Perfetto file: in parts, while it grows, with a summary. See export.h. */
#include "cli/verbs/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/text.h"
#include "accounts/accounts.h"
#include "cli/common/progress.h"
#include "cli/input/answer.h"
#include "cli/input/trace_time.h"
#include "export/archive/archive.h"
#include "export/perfetto/perfetto.h"

#define SUFFIX ".pftrace"
#define POLL_MS 100			/* how often a growing trace is read again */
#define HOLD_NS 200000000		/* a recorder's threads write a packet at least as often */

struct export {
	const struct export_request *request;
	struct perfetto_options options;
	struct progress progress;
	char output[CLI_PATH_MAX];	/* of the present part */
	bool made;			/* the file is new */
	int before;			/* the part before, whose end is being written; -1: none */
	bool last;			/* the recording is over */
	const volatile sig_atomic_t *stop; /* set by a signal; NULL: signals are not ours */
};

static void summary(const struct export_request *request, const struct kymo_ctf_reader *reader,
		 const struct perfetto_result *result, const char *output)
{
	bool selected =
		request->times.begin || request->times.end || selection_any(&request->selection);
	uint64_t of_programs = result->spans + result->instants + result->counters;
	char bytes[TEXT_QUANTITY_MAX];

	answer_warn(request->verb, reader, UINT_MAX);
	if (result->lost_events || result->lost_packets)
		fprintf(stderr, "kymo %s: warning: %" PRIu64 " events and %" PRIu64
			" packets were lost while recording; \"TRACE DATA LOST\" marks where\n",
			request->verb, result->lost_events, result->lost_packets);
	fprintf(stderr, "%s%s: ", export_shown(output),
		request->split ? " and the parts before it" : "");
	if (result->callbacks || !of_programs)
		fprintf(stderr, "%" PRIu64 " callbacks ", result->callbacks);
	if (result->callbacks && of_programs)
		fputs("and ", stderr);
	if (of_programs)
		fprintf(stderr, "%" PRIu64 " spans, %" PRIu64 " instants and %" PRIu64 " counter values ",
			result->spans, result->instants, result->counters);
	fprintf(stderr, "from %" PRIu64 " events, %s", result->events, text_bytes(bytes, result->bytes));
	if (result->unfinished_spans)
		fprintf(stderr, "; %" PRIu64 " spans did not end", result->unfinished_spans);
	if (result->unfinished)
		fprintf(stderr, "; %" PRIu64 " callbacks did not end", result->unfinished);
	fputs("\n", stderr);
	if (!result->callbacks && !of_programs && selected)
		fputs("No callback or span is in that window, or of that node and topic; `kymo report` shows "
		      "which there are, and when.\n", stderr);
	else if (!result->callbacks && !of_programs)
		fputs("There is neither a ROS 2 callback nor a span in this trace; `kymo info` shows what it "
		      "holds.\n", stderr);
	else if (!export_is_stdout(output) && !request->member)
		fputs("Open it at https://ui.perfetto.dev (it stays in your browser).\n", stderr);
}

/* The clocks of the host that booted first are those of the file. */
static void use_clocks(const struct accounts *accounts, struct perfetto_options *perfetto)
{
	const struct pft_clocks *known = perfetto->clocks ? perfetto->clock : NULL;
	struct pft_clocks *clock;

	if (!accounts->clock_count || (known && known->realtime_ns - known->monotonic_ns <=
		     accounts->clock[0].realtime_ns - accounts->clock[0].monotonic_ns))
		return;
	clock = calloc(accounts->clock_count, sizeof(*clock));
	for (unsigned i = 0; clock && i < accounts->clock_count; i++) {
		clock[i].monotonic_ns = accounts->clock[i].monotonic_ns;
		clock[i].realtime_ns = accounts->clock[i].realtime_ns;
		clock[i].boottime_ns = accounts->clock[i].boottime_ns;
	}
	free((void *)perfetto->clock);
	perfetto->clock = clock;
	perfetto->clocks = clock ? accounts->clock_count : 0;
}

/* What the recorders counted, and the clocks that they read. */
static void ask_recorder(const struct export_request *request, struct perfetto_options *perfetto)
{
	struct accounts accounts;
	char problem[512];

	free((void *)perfetto->clock);
	perfetto->clock = NULL;
	perfetto->clocks = 0;
	perfetto->told_lost = 0;
	for (unsigned i = 0; i < request->traces.count; i++) {
		accounts = (struct accounts){ 0 };
		accounts_read(&accounts, request->traces.path[i], problem);
		if (*problem)
			fprintf(stderr, "kymo export: warning: %s\n", problem);
		cli_warn_unseen("export", &accounts);
		perfetto->told_lost += accounts.dropped + accounts.unwritten;
		use_clocks(&accounts, perfetto);
		accounts_free(&accounts);
	}
}

/* ---- parts ---- */

static int name_part(const char *output, unsigned number, char path[CLI_PATH_MAX],
		     struct kymo_err *err)
{
	const bool has = text_ends_with(output, SUFFIX);
	const size_t length = strlen(output) - (has ? strlen(SUFFIX) : 0);

	if (snprintf(path, CLI_PATH_MAX, "%.*s.%u%s", (int)length, output,
		     number, has ? SUFFIX : "") >= CLI_PATH_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "the path of the output is too long; choose a shorter one with -o");
	return 0;
}

/* Opens the file of part @number; 0: there are no parts. Return: 0, -1 with @err. */
static int open_part(struct export *export, unsigned number, struct kymo_err *err)
{
	const struct export_request *request = export->request;
	char made[CLI_PATH_MAX + 16];
	const char *output = export_output(request, request->format == EXPORT_CHROME ? ".trace.json" : SUFFIX, made);

	if (number && name_part(output, number, export->output, err))
		return -1;
	if (!number)
		(void)snprintf(export->output, sizeof(export->output), "%.*s", (int)sizeof(export->output) - 1, output);
	if (request->member) {
		export->options.fd = request->member->fd;
		return 0;
	}
	export->options.fd = export_open(export->output, request->force, &export->made, err);
	return export->options.fd < 0 ? -1 : 0;
}

static int close_part(const struct export *export, struct kymo_err *err)
{
	if (!export_is_stdout(export->output) && !export->request->member &&
	    close(export->options.fd))
		return err_set(err, KYMO_EXIT_FAILED, "cannot write it: %s", strerror(errno));
	return 0;
}

static void retire(struct export *export)
{
	if (export->before >= 0)
		(void)close(export->before);	/* all of it was written without error */
	export->before = -1;
}

/* A part gets its last packets after the next part is open. */
static int next_part(void *context, unsigned number, struct kymo_err *err)
{
	struct export *export = context;
	int before = export->options.fd;

	retire(export);
	if (open_part(export, number, err))
		return -1;
	export->before = before;
	return export->options.fd;
}

/* ---- a trace that grows ---- */

/* A time on @reader's clock: everything before it is written. */
static int64_t settled(const struct kymo_ctf_reader *reader)
{
	return now_ns() - HOLD_NS + kymo_ctf_trace(reader, 0)->clock_offset_ns;
}

static bool is_over(const struct export *export)
{
	struct pollfd closed = {.fd = export->request->until_closed, .events = POLLIN};

	/* A signal ends the wait; a negative descriptor is only a wait. */
	return poll(&closed, 1, POLL_MS) > 0 || (export->stop && *export->stop);
}

static int more(void *context, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	struct export *export = context;

	if (export->last)
		return 0;
	export->last = is_over(export);
	kymo_ctf_until(reader, export->last ? INT64_MAX : settled(reader));
	if (kymo_ctf_refresh(reader, err) < 0)
		return -1;
	if (export->last)
		ask_recorder(export->request, &export->options);
	return 1;
}

static void begin_following(struct export *export, struct kymo_ctf_reader *reader)
{
	if (export->request->until_closed < 0)
		export->stop = cli_stop_signals();
	kymo_ctf_growing(reader, true);
	kymo_ctf_until(reader, settled(reader));
	export->options.more = more;
}

/* ---- all of it ---- */

static void show_progress(void *context, uint64_t events, uint64_t clock_ns)
{
	struct export *export = context;

	progress_trace(&export->progress, events, clock_ns);
}

static int write_out(struct export *export, struct kymo_ctf_reader *reader,
		     struct perfetto_result *result, struct kymo_err *err)
{
	const struct export_request *request = export->request;
	int status;

	if (open_part(export, request->split ? 1 : 0, err))
		return -1;
	progress_begin(&export->progress, request->quiet || request->follow);
	progress_extent(&export->progress, reader);
	status = perfetto_export(reader, &export->options, result, err);
	progress_clear(&export->progress);
	retire(export);
	if (close_part(export, status ? NULL : err))
		status = -1;
	/*
	 * A part of it would look like the whole; but of a running recording it is all that exists.
	 */
	if (status && export->made && !request->follow && !export_is_stdout(export->output))
		(void)unlink(export->output);
	if (status)
		return err_wrap(err, "%s", export_shown(export->output));
	if (!request->quiet)
		summary(request, reader, result, export->output);
	return 0;
}

static int open_traces(const struct export_request *request, struct kymo_ctf_reader **reader,
		       struct kymo_err *err)
{
	struct align *align = NULL;
	int status = kymo_ctf_open_all(request->traces.path, request->traces.count, reader, err);

	/* A trace that grows cannot be read twice. */
	if (!status && !request->follow && !request->member) {
		status = cli_align(*reader, request->quiet, &align, err);
		if (!status && !request->quiet)
			cli_print_hosts(request->verb, align);
		align_destroy(align);
		if (status)
			kymo_ctf_close(*reader);
	}
	return status;
}

int export_perfetto(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	struct export export = {
		.request = request,
		.before = -1,
		.options = { .version = KYMO_VERSION,
			     .trace_name = request->name,
			     .chrome = request->format == EXPORT_CHROME,
			     .executors = request->executors,
			     .behaviours = request->behaviours,
			     .level = request->level,
			     .selection = &request->selection,
			     .begin_ns = INT64_MIN,
			     .end_ns = INT64_MAX,
			     .split = request->split,
			     .part = next_part,
			     .progress = show_progress,
			     .context = &export },
	};
	struct perfetto_result result = { 0 };
	struct simclock *clock = NULL;
	struct kymo_ctf_reader *reader;
	int status;

	if (open_traces(request, &reader, err))
		return -1;
	kymo_ctf_threads(reader, 0);
	if (request->member) {
		export.options.machine = request->member->machine;
		export.options.offset_ns = &request->member->offset_ns;
	}
	status = cli_clock(request->times.clock, reader, request->traces.path[0], &clock, err);
	if (!status)
		status = cli_read_window(reader, clock, &request->times, &export.options.begin_ns,
					 &export.options.end_ns, err);
	export.options.simulation = clock;
	if (!status) {
		ask_recorder(request, &export.options);
		if (request->follow)
			begin_following(&export, reader);
		status = write_out(&export, reader, &result, err);
		free((void *)export.options.clock);
	}
	kymo_ctf_close(reader);
	simclock_free(clock);
	*lost = result.lost_events || result.lost_packets;
	return status;
}
