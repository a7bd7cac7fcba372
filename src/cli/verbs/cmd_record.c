/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo record`: options to a session, its outcome to a sentence. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common/common.h"
#include "cli/common/detach.h"
#include "cli/input/record_options.h"
#include "cli/verbs/record/nothing_traced.h"
#include "cli/verbs/record/record_flight.h"
#include "cli/verbs/record/record_hosts.h"
#include "cli/verbs/record/record_perfetto.h"
#include "cli/verbs/record/record_relay.h"
#include "cli/verbs/record/record_users.h"
#include "cli/verbs/record/recorded.h"
#include "caret/agent/enter.h"
#include "recorder/filter/filter.h"
#include "recorder/launch/launch.h"
#include "recorder/record/record.h"

struct options {
	struct opt_list output;
	const char *perfetto;
	struct opt_list processes, users;
	const char *verb;
	bool all, paused, wait, kernel, kernel_all, syscalls, cycles, malloc;
	bool strict, quiet;
	int64_t duration;
	uint64_t ring_size;
	struct sink_wishes files;
	struct flight_wishes flight;
	struct filter_wishes filter;
	struct relay_wishes relay;
	struct hosts_wishes hosts;
	int format, streams;
};

static const struct opt opts[] = {
	{ "output", 'o', OPT_LIST, offsetof(struct options, output), "DIR",
	  "where the trace goes, new or empty; given several times, to each; with --flight, DIR/1, DIR/2, ...", NULL },
	{ "perfetto", 0, OPT_TEXT, offsetof(struct options, perfetto), "FILE",
	  "also write FILE for Perfetto meanwhile; it can be opened at any time", NULL },
	{ "pid", 'p', OPT_LIST, offsetof(struct options, processes), "PID|NAME",
	  "record only this process, or those of this name (may have * and ?); may be given several times", NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "all processes, also beside a command; without one it is so anyway", NULL },
	RECORD_USERS_OPT(struct options, users),
	{ "kernel", 'k', OPT_FLAG, offsetof(struct options, kernel), NULL,
	  "the kernel's events, too: who ran on which CPU, who was woken, interrupts; of what is recorded, and what ran "
	  "instead of it", NULL },
	{ "kernel-all", 0, OPT_FLAG, offsetof(struct options, kernel_all), NULL,
	  "the kernel's events of all threads of the machine", NULL },
	{ "syscalls", 0, OPT_FLAG, offsetof(struct options, syscalls), NULL,
	  "--kernel, and the system calls of what is recorded: which, how long, what they returned", NULL },
	{ "cycles", 0, OPT_FLAG, offsetof(struct options, cycles), NULL,
	  "--kernel, and the CPU cycles of what is recorded, by hardware counters; CPU time where there are none", NULL },
	CLI_OPT_MALLOC(struct options),
	{ "paused", 0, OPT_FLAG, offsetof(struct options, paused), NULL,
	  "begin with a pause: only facts are taken until \"kymo resume\"", NULL },
	{ "wait", 0, OPT_FLAG, offsetof(struct options, wait), NULL,
	  "begin when CARET's Start comes over DDS, which \"kymo agent\" hears, or at \"kymo resume\"", NULL },
	CLI_OPT_STRICT(struct options),
	{ "duration", 'd', OPT_TIME, offsetof(struct options, duration), "TIME",
	  "end after this time (30s, 5min); a command is sent SIGINT then", NULL },
	{ "ring-size", 0, OPT_SIZE, offsetof(struct options, ring_size), "SIZE",
	  "shared memory per thread of the command (256K, 4M)", NULL },
	SINK_FILES_OPTS(struct options, files),
	{ "streams", 0, OPT_CHOICE, offsetof(struct options, streams), NULL,
	  "a file for each thread, or for each process; auto: of processes when there are many",
	  "auto|thread|process" },
	RELAY_OPTS(struct options, relay),
	FLIGHT_OPTS(struct options, flight),
	FILTER_OPTS(struct options, filter),
	RECORD_HOSTS_OPTS(struct options, hosts),
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

struct show {
	bool terminal;		/* a progress line may be on it */
	struct detach detach;
	const char *verb;
};

/* ---- while it runs ---- */

static void say(void *context, const char *text)
{
	const struct show *show = context;
	char clean[1024];

	text_clean(clean, sizeof clean, text);
	fprintf(stderr, "%skymo %s: %s\n", show->terminal ? "\r\033[K" : "", show->verb, clean);
}

static int make_remote(void *context, struct json_object *request, struct sink **sink, struct kymo_err *err)
{
	const struct session_options session = { .version = KYMO_VERSION, .say = say, .context = context };

	return record_relay_remote(&session, request, sink, err);
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

static int prepare_command(const struct options *options, char **command,
			   struct record_options *record, struct kymo_err *err)
{
	struct launch launch = { .fallback_libdir = KYMO_LIBDIR, .ring_size = options->ring_size,
				 .malloc = options->malloc };

	if (options->processes.count)
		return err_set(err, KYMO_EXIT_USAGE, "either a command or --pid, not both");
	if (launch_find(command[0], err) < 0)
		return -1;
	if (getrandom(&launch.tag, sizeof launch.tag, 0) != sizeof launch.tag || !launch.tag)
		launch.tag = (uint64_t)getpid();
	if (options->all)
		launch.tag = 0;
	record->session.tag = launch.tag;
	record->command = command;
	record->environment = launch_environment(&launch, err);
	return record->environment ? 0 : -1;
}

/* Also without rules: programs may have some, and "kymo filter" may set others. */
static int prepare_filter(const struct options *options, struct record_options *record, struct kymo_err *err)
{
	struct filter_rules rules = { 0 };
	int rc = filter_wish(&options->filter, &rules, err);

	record->session.filter = rc < 0 ? NULL : filter_create(&filter_regex_pcre2);
	if (rc == 0 && (!record->session.filter || !filter_set(record->session.filter, &rules)))
		rc = err_no_memory(err);
	filter_rules_free(&rules);
	return rc;
}

static int parse(int argc, char **argv, struct options *options, struct record_options *record,
		 struct kymo_err *err)
{
	int dashdash;

	if (opt_parse(opts, options, &argc, &argv, &dashdash, err) < 0)
		return -1;
	if (dashdash < 0 && argc > 0)
		return err_set(err, KYMO_EXIT_USAGE, "a command stands behind \"--\": kymo record -- %s",
			       argv[0]);
	if (dashdash > 0)
		return err_set(err, KYMO_EXIT_USAGE, "'%s' in front of \"--\" is no option", argv[0]);
	if (dashdash == 0 && argc == 0)
		return err_set(err, KYMO_EXIT_USAGE, "there is no command behind \"--\"");
	if (options->duration < 0)
		return err_set(err, KYMO_EXIT_USAGE, "--duration cannot be negative");
	if (argc == 0 && options->malloc)
		return err_set(err, KYMO_EXIT_USAGE, "--malloc is for a command that is started here; others are started with \"kymo run "
			       "--malloc\"");
	if (argc == 0 && options->ring_size)
		return err_set(err, KYMO_EXIT_USAGE, "--ring-size is for a command that is started here; "
			       "for others set KYMO_RING_SIZE when they are started");
	if (options->hosts.hosts || record_hosts_any(&options->hosts))
		return err_set(err, KYMO_EXIT_USAGE, "--expect, --domain and --recording-frequency are for kymo record --hosts");
	if (options->paused && options->wait)
		return err_set(err, KYMO_EXIT_USAGE, "--paused begins with a pause that \"kymo resume\" ends, --wait waits for a Start: "
			       "only one of them");
	if (options->all && options->processes.count)
		return err_set(err, KYMO_EXIT_USAGE, "either --all or --pid, not both");
	if (record_users(&options->users, &record->session, err) < 0 ||
	    select_processes(options->verb, &options->processes, &record->session, err) < 0 ||
	    prepare_filter(options, record, err) < 0)
		return -1;
	options->kernel |= options->kernel_all || options->syscalls || options->cycles;
	record->kernel = options->kernel;
	record->kernel_all = options->kernel_all;
	record->syscalls = options->syscalls;
	record->cycles = options->cycles;
	record->session.paused = options->paused || options->wait;
	record->session.armed = options->wait;
	record->duration_ns = options->duration;
	return argc ? prepare_command(options, argv, record, err) : 0;
}

/* ---- afterwards ---- */

/* The command's own failure comes first, then ours. */
static int outcome(const struct record_result *result, const struct options *options)
{
	if (result->command_ended && result->command_status)
		return result->command_status;
	return options->strict && (recorded_lossy(&result->stats) || result->kernel.lost) ? KYMO_EXIT_LOSS : KYMO_EXIT_OK;
}

static int finish(const struct record_result *result, const struct record_options *record,
		  const struct options *options, const struct record_relay *relay)
{
	const struct session_stats *stats = &result->stats;
	int status;

	if (!stats->bytes && !result->kernel.events)
		return nothing_traced(result, record);
	status = recorded_print("record", stats, record->kernel ? &result->kernel : NULL, record->session.output,
				options->format, options->quiet);
	if (relay->url && !options->quiet)
		fprintf(stderr, "sent:  %s\n", relay->url);
	for (unsigned i = 0; i < record->session.more_count && !options->quiet; i++)
		fprintf(stderr, "also:  %s\n", record->session.more[i]);
	if (status != KYMO_EXIT_OK)
		return status;
	status = outcome(result, options);
	return status == KYMO_EXIT_OK && (relay->rest.events || relay->rest.lost_events) && options->strict ? KYMO_EXIT_LOSS : status;
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
	if (record->kernel)
		recorded_kernel("record", &result->kernel, options->quiet);
	if (status == KYMO_EXIT_OK && options->strict && result->kernel.lost)
		status = KYMO_EXIT_LOSS;
	return result->command_ended && result->command_status ? result->command_status : status;
}

/* Where to. A flight recorder asks for a place when it has something. */
static int prepare_output(const struct options *options, struct record_options *record,
			  struct flight_show *flight, char output[CLI_PATH_MAX], struct kymo_err *err)
{
	const struct opt_list *given = &options->output;

	flight->output = given->count ? given->item[0] : NULL;
	flight->format = options->format;
	if (flight_prepare(&options->flight, flight, record, err) < 0)
		return -1;
	if (record->flight && options->perfetto)
		return err_set(err, KYMO_EXIT_USAGE, "--perfetto does not go with --flight: export the snapshots");
	if (record->flight && (sink_files_any(&options->files) || given->count > 1))
		return err_set(err, KYMO_EXIT_USAGE, "--rotate-size, --rotate-time, --max-size, --compress and a second -o do not "
			       "go with --flight: each snapshot is one trace; \"kymo sink add\" may record beside it");
	if (record->flight && options->relay.url)
		return err_set(err, KYMO_EXIT_USAGE, "--relay does not go with --flight: what is kept is sent nowhere");
	if (record->flight)
		return 0;
	if (options->relay.url && !given->count && (options->perfetto || sink_files_any(&options->files)))
		return err_set(err, KYMO_EXIT_USAGE, "--perfetto, --rotate-size, --rotate-time, --max-size and --compress are about a "
			       "trace that is written here, too: name it with -o DIR");
	if (sink_files_read(&options->files, &record->session.files, err) < 0)
		return -1;
	record->session.streams = (enum session_streams)options->streams;
	record->session.output = given->count ? given->item[0] : output;
	record->session.more = given->item + 1;
	record->session.more_count = given->count ? given->count - 1 : 0;
	if (options->relay.url && !given->count)
		record->session.output = NULL;	/* it is only sent */
	return given->count || options->relay.url ? 0 : cli_new_session(output, err);
}

static void on_started(void *context)
{
	struct show *show = context;

	detach_ready(&show->detach);
}

/* Return: 0: go on, here or in the background; 1: who goes on is a child, or was, with *@status; -1 with @err. */
static int go_into_background(const struct options *options, const struct record_options *record,
			      struct detach *into, int *status, struct kymo_err *err)
{
	const char *output = options->output.count ? options->output.item[0] : record->session.output;
	char session[CLI_PATH_MAX], log[CLI_PATH_MAX];
	struct table *table;
	int rc;

	if (!output && cli_new_session(session, err) < 0)	/* each snapshot has its own */
		return -1;
	if ((unsigned)snprintf(log, sizeof log, "%s.log", output ? output : session) >= sizeof log)
		return err_set(err, KYMO_EXIT_FAILED, "the path of the trace is too long");
	rc = detach(into, log, status, err);
	if (rc <= 0 || *status != KYMO_EXIT_OK || (options->quiet && options->format == TABLE_TEXT))
		return rc;
	if (table_open(&table, stdout, (enum table_format)options->format) < 0)
		return err_no_memory(err);
	table_value_u64(table, "recorder_pid", "Recorder", (uint64_t)into->child);
	table_value_text(table, "state", "State", options->wait ? "armed" : states_name(record->session.paused ?
			 KYMO_STATE_PREPARE : KYMO_STATE_RECORD));
	table_value_text(table, "trace", "Trace", output);
	table_value_text(table, "log", "Log", into->log);
	table_note(table, "Next: kymo status, %s, stop", record->session.paused ? "resume" : "pause");
	*status = cli_close("start", table, KYMO_EXIT_OK);
	return rc;
}

static int record(const struct options *options, struct record_options *record, struct flight_show *flight,
		  struct record_relay *relay, struct show *show, struct kymo_err *err)
{
	struct record_perfetto perfetto = { 0 };
	struct record_result result;
	int rc, written;

	if (options->perfetto && record_perfetto_begin(&perfetto, options->perfetto, record->session.output,
						       options->quiet, err) < 0)
		return -1;
	/* A reader of our messages that went away, or a limit on files, must not end the recording. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	show->terminal = flight->terminal = !show->detach.active && !options->quiet && isatty(STDERR_FILENO);
	record->progress = show->terminal ? progress : NULL;
	rc = record_relay_begin(&options->relay, relay, record, err);
	if (rc == 0)
		rc = record_run(record, &result, err);
	written = record_perfetto_end(&perfetto);
	if (show->terminal)
		fputs("\r\033[K", stderr);
	if (rc < 0)
		return -1;
	if (show->detach.active && !result.stats.processes)
		return KYMO_EXIT_EMPTY;		/* who stops it is told; the log stays empty */
	rc = record->flight ? finish_flight(&result, record, options, flight) :
	     finish(&result, record, options, relay);
	return rc == KYMO_EXIT_OK && written ? KYMO_EXIT_FAILED : rc;
}

static int either(bool background, int argc, char **argv)
{
	struct options options = { .flight = FLIGHT_NO_WISHES, .verb = background ? "start" : "record" };
	struct flight_show flight = { 0 };
	struct show show = { .verb = options.verb };
	struct record_options record_options = {
		.session = { .version = KYMO_VERSION, .say = say, .context = &show },
		.remote = make_remote, .started = on_started, .context = &show,
	};
	struct record_relay relay = { 0 };
	char output[CLI_PATH_MAX];
	struct kymo_err err;
	int rc, status;

	rc = parse(argc, argv, &options, &record_options, &err);
	if (rc == 0)
		rc = record_relay_prepare(&options.relay, &relay, &err);
	if (rc == 0 && background && record_options.command)
		rc = err_set(&err, KYMO_EXIT_USAGE, "a session in the background attaches to programs: \"kymo run -- CMD\" "
			     "starts one, \"kymo record -- CMD\" records one");
	if (rc == 0)
		rc = prepare_output(&options, &record_options, &flight, output, &err);
	if (rc == 0 && background)
		rc = go_into_background(&options, &record_options, &show.detach, &status, &err);
	if (rc == 0) {
		status = record(&options, &record_options, &flight, &relay, &show, &err);
		rc = status < 0 ? -1 : 0;
	}
	record_relay_free(&relay);
	launch_free(record_options.environment);
	filter_free(record_options.session.filter);
	if (rc < 0)
		status = cli_fail(show.verb, &err);
	(void)fflush(NULL);
	detach_end(&show.detach);
	return status;
}

/* What goes with --hosts. */
static const struct opt hosts_opts[] = {
	RECORD_HOSTS_OPTS(struct options, hosts),
	{ "duration", 'd', OPT_TIME, offsetof(struct options, duration), "TIME", "", NULL },
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

static bool asks_hosts(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--hosts") == 0)
			return true;
	return false;
}

static int run_hosts(int argc, char **argv)
{
	struct options options = { 0 };
	struct kymo_err why, err;
	int rc = caret_enter("record", argc, argv, KYMO_LIBDIR, &err);

	if (rc == 0 && opt_parse(hosts_opts, &options, &argc, &argv, NULL, &why) < 0)
		rc = err_set(&err, KYMO_EXIT_USAGE, "with --hosts, which records nothing here: %s", why.text);
	if (rc == 0 && argc)
		rc = err_set(&err, KYMO_EXIT_USAGE, "'%s': with --hosts there is no command, it records nothing here", argv[0]);
	if (rc == 0 && options.duration < 0)
		rc = err_set(&err, KYMO_EXIT_USAGE, "--duration cannot be negative");
	return rc < 0 ? cli_fail("record", &err) : record_hosts(&options.hosts, options.duration, options.format, options.quiet);
}

static int run(int argc, char **argv)
{
	return asks_hosts(argc, argv) ? run_hosts(argc, argv) : either(false, argc, argv);
}

static int run_in_background(int argc, char **argv)
{
	return either(true, argc, argv);
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
		"LD_PRELOAD, now and later, until Ctrl-C or \"kymo stop\". They keep the facts of their start "
		"(nodes, topics, callbacks), so attaching late loses no name. -p selects by number or by "
		"name: that of the process's main thread or of its program's file.\n\n"
		"\"kymo pause\" and \"kymo resume\" switch runtime events off and on; --paused begins with a pause, "
		"--wait waits for CARET's Start (kymo help agent). "
		"\"kymo start\" does the same in the background.\n\n"
		"With --hosts it records nothing here, but tells \"kymo agent\" on all hosts of the ROS domain to begin, shows "
		"their states, and tells them to end at Ctrl-C (--duration), with CARET's messages. As CARET has it, a host where no "
		"session waits ignores the first (\"kymo start --wait\" there makes one), and one whose session is still active the last. "
		"--format json prints the whole table each time that something changes. It ends with 6 when no process recorded.\n\n"
		"With --flight TIME, only the last TIME of everything is kept, in memory, and written as a "
		"trace of its own each time a --trigger fires, \"kymo snapshot\" asks, SIGUSR1 arrives or a "
		"program calls kymo_snapshot(). Each prints a line with the path of the trace. Triggers: "
		"span(NAME) > 1ms; callback > 10ms; callback(NAME) > 10ms, where NAME is the function's "
		"symbol, its topic, service or node; event(NAME); overrun and missed of a kymo/loop.h loop, or "
		"overrun(LOOP), missed(LOOP); died, died(PROCESS); loss. Names may have * and ?.\n\n"
		"--node, --topic, --process, --event and --category say what is recorded; '!GLOB' leaves out. "
		"Each may be given several times; --filter-file has such rules one a line, like \"topic !/rosout\". "
		"Programs bring rules of their own in KYMO_FILTER and in CARET's CARET_SELECT_NODES, "
		"CARET_IGNORE_NODES, CARET_SELECT_TOPICS, CARET_IGNORE_TOPICS and CARET_IGNORE_PROCESSES. "
		"\"kymo filter\" changes them while it records.\n\n"
		"The trace goes to $ROS_TRACE_DIR, else $ROS_HOME/tracing, else ~/.ros/tracing, unless "
		"-o names a place. A recorder that was killed loses nothing: record again, and what the "
		"programs kept meanwhile is in the next trace. A program that records itself is left "
		"alone until it stops. When there was nothing to record, no trace is left.",
	.examples =
		"kymo record -- ros2 launch my_robot robot.launch.py\n"
		"kymo record -o /tmp/trace --duration 30s\n"
		"kymo record --perfetto robot.pftrace -- ros2 launch my_robot robot.launch.py\n"
		"kymo record -p 4711 -p 'planner*' --strict\n"
		"kymo record --node '/perception/*' --topic '!/rosout'\n"
		"kymo record --paused\n"
		"kymo record --hosts --expect 3\n"
		"kymo record --flight 30s --trigger 'callback(/scan) > 20ms' --trigger died -o spikes\n",
	.opts = opts,
	.run = run,
};

const struct verb verb_start = {
	.name = "start",
	.synopsis = "",
	.summary = "begin to record in the background",
	.description =
		"As \"kymo record\" without a command, with the same options, but it goes on in the background when "
		"the verb returns: all traced programs record then. \"kymo status\" shows it, \"kymo pause\", "
		"\"kymo resume\" and \"kymo stop\" steer it, from any terminal.\n\n"
		"What it has to say meanwhile is in a log file beside the trace, TRACE.log; when it had nothing to "
		"say, there is none afterwards.",
	.examples =
		"kymo start -o /data/trace\n"
		"kymo start --paused -p 'perception_*'\n"
		"kymo stop\n",
	.opts = opts,
	.run = run_in_background,
};
