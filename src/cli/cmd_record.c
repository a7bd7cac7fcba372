/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo record`: options to a session, its outcome to a sentence. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common.h"
#include "cli/record_flight.h"
#include "cli/recorded.h"
#include "cli/sink_files.h"
#include "recorder/launch.h"
#include "recorder/record.h"
#include "recorder/region.h"

struct options {
	const char *output;
	struct opt_list pids;
	bool strict, quiet;
	int64_t duration;
	uint64_t ring_size;
	struct sink_wishes files;
	struct flight_wishes flight;
	int format;
};

static const struct opt opts[] = {
	CLI_OPT_OUTPUT(struct options, "DIR", "where the trace goes; must be new or empty; with --flight, DIR/1, DIR/2, ..."),
	{ "pid", 'p', OPT_LIST, offsetof(struct options, pids), "PID",
	  "record only this process; may be given several times", NULL },
	CLI_OPT_STRICT(struct options),
	{ "duration", 'd', OPT_TIME, offsetof(struct options, duration), "TIME",
	  "end after this time (30s, 5min); a command is sent SIGINT then", NULL },
	{ "ring-size", 0, OPT_SIZE, offsetof(struct options, ring_size), "SIZE",
	  "shared memory per thread of the command (256K, 4M)", NULL },
	SINK_FILES_OPTS(struct options, files),
	FLIGHT_OPTS(struct options, flight),
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

struct show {
	bool terminal;		/* a progress line may be on it */
	bool quiet;
};

/* ---- while it runs ---- */

static void say(void *context, const char *text)
{
	const struct show *show = context;
	char clean[1024];

	text_clean(clean, sizeof clean, text);
	fprintf(stderr, "%skymo record: %s\n", show->terminal ? "\r\033[K" : "", clean);
}

static void progress(void *context, const struct session_stats *stats)
{
	char time[TEXT_QUANTITY_MAX], bytes[TEXT_QUANTITY_MAX];

	(void)context;
	fprintf(stderr, "\r%s  %" PRIu64 " events  %s  %u processes", text_ns(time,
		(int64_t)stats->duration_ns), stats->recorded + stats->init_events,
		text_bytes(bytes, stats->bytes), stats->alive);
	if (stats->dropped)
		fprintf(stderr, "  %" PRIu64 " dropped", stats->dropped);
	fputs("\033[K", stderr);
	fflush(stderr);
}

/* ---- before ---- */

static int read_pids(const struct opt_list *list, struct session_options *session, struct err *err)
{
	for (unsigned i = 0; i < list->count; i++) {
		uint64_t pid;

		if (!text_read_u64(list->item[i], &pid) || !pid || pid > INT32_MAX)
			return err_set(err, EXIT_USAGE, "'%s' is no process number", list->item[i]);
		if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
			return err_set(err, EXIT_INPUT, "there is no process %" PRIu64 "; \"kymo status\" "
				       "lists those that can be recorded", pid);
		session->pids[session->pid_count++] = (int)pid;
	}
	return 0;
}
static_assert(OPT_LIST_MAX <= SESSION_PIDS_MAX, "every pid fits");

static int prepare_command(const struct options *options, char **command,
			   struct record_options *record, struct err *err)
{
	struct launch launch = { .fallback_libdir = KYMO_LIBDIR, .ring_size = options->ring_size };

	if (options->pids.count)
		return err_set(err, EXIT_USAGE, "either a command or --pid, not both");
	if (launch_find(command[0], err) < 0)
		return -1;
	if (getrandom(&launch.tag, sizeof launch.tag, 0) != sizeof launch.tag || !launch.tag)
		launch.tag = (uint64_t)getpid();
	record->session.tag = launch.tag;
	record->command = command;
	record->environment = launch_environment(&launch, err);
	return record->environment ? 0 : -1;
}

static int parse(int argc, char **argv, struct options *options, struct record_options *record,
		 struct err *err)
{
	int dashdash;

	if (opt_parse(opts, options, &argc, &argv, &dashdash, err) < 0)
		return -1;
	if (dashdash < 0 && argc > 0)
		return err_set(err, EXIT_USAGE, "a command stands behind \"--\": kymo record -- %s",
			       argv[0]);
	if (dashdash > 0)
		return err_set(err, EXIT_USAGE, "'%s' in front of \"--\" is no option", argv[0]);
	if (dashdash == 0 && argc == 0)
		return err_set(err, EXIT_USAGE, "there is no command behind \"--\"");
	if (options->duration < 0)
		return err_set(err, EXIT_USAGE, "--duration cannot be negative");
	if (argc == 0 && options->ring_size)
		return err_set(err, EXIT_USAGE, "--ring-size is for a command that is started here; "
			       "for others set KYMO_RING_SIZE when they are started");
	if (read_pids(&options->pids, &record->session, err) < 0)
		return -1;
	record->duration_ns = options->duration;
	return argc ? prepare_command(options, argv, record, err) : 0;
}

/* ---- afterwards ---- */

/* The command's own failure comes first, then ours. */
static int outcome(const struct record_result *result, const struct options *options)
{
	if (result->command_ended && result->command_status)
		return result->command_status;
	return options->strict && recorded_lossy(&result->stats) ? EXIT_LOSS : EXIT_OK;
}

static int nothing_traced(const struct record_result *result, const struct record_options *record)
{
	fprintf(stderr, "kymo record: nothing was traced, so there is no trace: %s; \"kymo doctor%s%s\" says "
		"why\n",
		result->stats.foreign ? "what there is records itself, or another recorder has it" :
		record->command ? "the command made no event, neither of ROS 2 nor of kymo.h" :
		result->stats.refused ? "no process in the runtime directory could be recorded" :
		"no traced process was running (start programs with \"kymo run -- CMD\")",
		record->command ? " " : "", record->command ? record->command[0] : "");
	return result->command_ended && result->command_status ? result->command_status : EXIT_EMPTY;
}

static int finish(const struct record_result *result, const struct record_options *record,
		  const struct options *options, const char *output)
{
	const struct session_stats *stats = &result->stats;
	int status;

	if (!stats->bytes)
		return nothing_traced(result, record);
	status = recorded_print("record", stats, output, options->format, options->quiet);

	return status == EXIT_OK ? outcome(result, options) : status;
}

/* The command's own failure comes first, then ours. */
static int finish_flight(const struct record_result *result, const struct record_options *record,
			 const struct options *options, const struct flight_show *flight)
{
	int status;

	flight_tidy(flight);
	if (!result->stats.recorded && !result->stats.init_events && !result->stats.dropped)
		return nothing_traced(result, record);
	status = flight_summary(flight, result, options->strict, options->quiet);
	return result->command_ended && result->command_status ? result->command_status : status;
}

/* Where to. A flight recorder asks for a place when it has something. */
static int prepare_output(const struct options *options, struct record_options *record,
			  struct flight_show *flight, char output[CLI_PATH_MAX], struct err *err)
{
	flight->output = options->output;
	flight->format = options->format;
	if (flight_prepare(&options->flight, flight, record, err) < 0)
		return -1;
	if (record->flight && sink_files_any(&options->files))
		return err_set(err, EXIT_USAGE, "--rotate-size, --rotate-time and --max-size do not go with "
			       "--flight: a snapshot is one trace, --snapshots and --flight bound them");
	if (record->flight)
		return 0;
	if (sink_files_read(&options->files, &record->session.files, err) < 0)
		return -1;
	record->session.output = options->output ? options->output : output;
	return options->output ? 0 : cli_new_session(output, err);
}

static int run(int argc, char **argv)
{
	struct options options = { .flight = FLIGHT_NO_WISHES };
	struct flight_show flight = { 0 };
	struct show show = { 0 };
	struct record_options record = {
		.session = { .version = KYMO_VERSION, .say = say, .context = &show },
	};
	struct record_result result;
	char output[CLI_PATH_MAX];
	struct err err;
	int rc;

	if (parse(argc, argv, &options, &record, &err) < 0 ||
	    prepare_output(&options, &record, &flight, output, &err) < 0) {
		launch_free(record.environment);
		return cli_fail("record", &err);
	}
	/* A reader of our messages that went away, or a limit on files, must not end the recording. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	show.quiet = options.quiet;
	show.terminal = flight.terminal = !options.quiet && isatty(STDERR_FILENO);
	record.progress = show.terminal ? progress : NULL;
	rc = record_run(&record, &result, &err);
	if (show.terminal)
		fputs("\r\033[K", stderr);
	launch_free(record.environment);
	if (rc < 0)
		return cli_fail("record", &err);
	return record.flight ? finish_flight(&result, &record, &options, &flight) :
	       finish(&result, &record, &options, record.session.output);
}

const struct verb verb_record = {
	.name = "record",
	.synopsis = "[-- CMD [ARG...]]",
	.summary = "record a command, or what runs already",
	.description =
		"Records ROS 2 programs into a trace directory (CTF 1.8, as LTTng's).\n\n"
		"With a command behind \"--\", starts it with libkymo-ros2.so preloaded, records it and "
		"everything it starts until it ends, and passes its exit status on. Without one, "
		"records all programs that were started with \"kymo run\" or with the library in "
		"LD_PRELOAD, now and later, until Ctrl-C. They keep the facts of their start (nodes, "
		"topics, callbacks), so attaching late loses no name.\n\n"
		"With --flight TIME, only the last TIME of everything is kept, in memory, and written as a "
		"trace of its own each time a --trigger fires, \"kymo snapshot\" asks, SIGUSR1 arrives or a "
		"program calls kymo_snapshot(). Each prints a line with the path of the trace. Triggers: "
		"span(NAME) > 1ms; callback > 10ms; callback(NAME) > 10ms, where NAME is the function's "
		"symbol, its topic, service or node; event(NAME); overrun and missed of a kymo/loop.h loop, or "
		"overrun(LOOP), missed(LOOP); died, died(PROCESS); loss. Names may have * and ?.\n\n"
		"The trace goes to $ROS_TRACE_DIR, else $ROS_HOME/tracing, else ~/.ros/tracing, unless "
		"-o names a place. A recorder that was killed loses nothing: record again, and what the "
		"programs kept meanwhile is in the next trace. A program that records itself is left "
		"alone until it stops. When there was nothing to record, no trace is left.",
	.examples =
		"kymo record -- ros2 launch my_robot robot.launch.py\n"
		"kymo record -o /tmp/trace --duration 30s\n"
		"kymo record -p 4711 --strict\n"
		"kymo record --flight 30s --trigger 'callback(/scan) > 20ms' --trigger died -o spikes\n",
	.opts = opts,
	.run = run,
};
