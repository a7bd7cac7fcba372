/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo record` and `kymo start`: turns options into a session, and its result into a summary. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common/attaching.h"
#include "cli/common/common.h"
#include "cli/common/detach.h"
#include "cli/input/record_options.h"
#include "cli/verbs/record/nothing_traced.h"
#include "cli/verbs/record/record_agent.h"
#include "cli/verbs/record/record_flight.h"
#include "cli/verbs/record/record_hosts.h"
#include "cli/verbs/record/record_perfetto.h"
#include "cli/verbs/record/record_relay.h"
#include "cli/verbs/record/record_users.h"
#include "cli/verbs/record/recorded.h"
#include "caret/agent/agent.h"
#include "recorder/filter/filter.h"
#include "recorder/launch/launch.h"
#include "recorder/record/record.h"
#include "relay/wire/url.h"

struct options {
	struct opt_list output;
	const char *perfetto;
	struct opt_list processes, users;
	const char *verb;
	bool all, attach, paused, wait, agent, kernel_all, syscalls, cycles, functions;
	int malloc;
	bool strict, quiet;
	int64_t duration, block;
	uint64_t ring_size;
	struct sink_wishes files;
	struct flight_wishes flight;
	struct filter_wishes filter;
	struct relay_wishes relay;
	struct hosts_wishes hosts;
	int kernel, format, streams;
	struct opt_list kernel_event;
	uint64_t kernel_ring;
};

static const struct opt opts[] = {
	{ "output", 'o', OPT_LIST, offsetof(struct options, output), "DIR",
	  "where the trace goes, new or empty; repeat it to write several traces; with --flight: "
	  "DIR/1, DIR/2, ...",
	  NULL },
	{ "perfetto", 0, OPT_TEXT, offsetof(struct options, perfetto), "FILE",
	  "also write FILE for Perfetto while recording; it can be opened at any time", NULL },
	{ "pid", 'p', OPT_LIST, offsetof(struct options, processes), "PID|NAME",
	  "record only this process, or processes with this name (which may contain * and ?); may "
	  "be repeated",
	  NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "with a command: also record all other processes, as without a command", NULL },
	{ "attach", 0, OPT_FLAG, offsetof(struct options, attach), NULL,
	  "attach to the ROS 2 programs that run already, or to those of -p: kymo help attach",
	  NULL },
	RECORD_USERS_OPT(struct options, users),
	{ "kernel", 'k', OPT_SWITCH, offsetof(struct options, kernel), NULL,
	  "also record the kernel's events: which thread ran on which CPU, which was woken, "
	  "interrupts; of recorded threads, "
	  "and of what ran instead of them. If they are not available, that is an error; with "
	  "=if-possible, record without them",
	  "if-possible" },
	{ "kernel-all", 0, OPT_FLAG, offsetof(struct options, kernel_all), NULL,
	  "the kernel's events of all threads of the machine", NULL },
	{ "kernel-event", 0, OPT_LIST, offsetof(struct options, kernel_event), "GLOB",
	  "--kernel, and of its events only those whose name matches, such as sched_switch, "
	  "'block_*' or 'net_*'; "
	  "'!GLOB' leaves out; may be repeated (default: all but disks and network)",
	  NULL },
	{ "kernel-ring-size", 0, OPT_SIZE, offsetof(struct options, kernel_ring), "SIZE",
	  "--kernel, and so much memory per CPU for its events (default: 4M)", NULL },
	{ "syscalls", 0, OPT_FLAG, offsetof(struct options, syscalls), NULL,
	  "--kernel, and the system calls of recorded threads: which, how long, what they returned",
	  NULL },
	{ "cycles", 0, OPT_FLAG, offsetof(struct options, cycles), NULL,
	  "--kernel, and the CPU cycles of recorded threads, by hardware counters; CPU time if "
	  "there are none",
	  NULL },
	CLI_OPT_MALLOC(struct options),
	CLI_OPT_FUNCTIONS(struct options),
	{ "paused", 0, OPT_FLAG, offsetof(struct options, paused), NULL,
	  "begin with a pause: only facts are recorded until \"kymo resume\"", NULL },
	{ "wait", 0, OPT_FLAG, offsetof(struct options, wait), NULL,
	  "begin when \"kymo agent\" receives CARET's Start over DDS, or at \"kymo resume\"",
	  NULL },
	{ "agent", 0, OPT_FLAG, offsetof(struct options, agent), NULL,
	  "also run \"kymo agent\" as long as the recording, so that \"ros2 caret record\" finds "
	  "the programs",
	  NULL },
	CLI_OPT_STRICT(struct options),
	{ "duration", 'd', OPT_TIME, offsetof(struct options, duration), "TIME",
	  "end after this time (30s, 5min); a command and all that it started are ended then: "
	  "SIGINT, after 5 s SIGTERM",
	  NULL },
	{ "ring-size", 0, OPT_SIZE, offsetof(struct options, ring_size), "SIZE",
	  "shared memory per thread of the command (256K, 4M)", NULL },
	{ "block", 0, OPT_TIME, offsetof(struct options, block), "TIME",
	  "let a thread of the command wait so long for room instead of dropping an event (5ms, at "
	  "most 1s); never threads of "
	  "real-time priority",
	  NULL },
	SINK_FILES_OPTS(struct options, files),
	{ "streams", 0, OPT_CHOICE, offsetof(struct options, streams), NULL,
	  "write a file for each thread, or for each process; auto: for each process if there are "
	  "many",
	  "auto|thread|process" },
	RELAY_OPTS(struct options, relay),
	FLIGHT_OPTS(struct options, flight),
	FILTER_OPTS(struct options, filter),
	RECORD_HOSTS_OPTS(struct options, hosts),
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

/* Of a recording without a process, until the reason is shown: of one without a command, and of one
 * with a command, which may take its time. */
#define NOBODY_NS  1000000000u
#define NOTHING_NS 5000000000u

struct show {
	bool terminal;		/* a progress line may be on it */
	bool told_nothing;
	const struct record_options *record;
	const struct record_result *result;
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

/* A line of zeros does not show that something is wrong. */
static void tell_nothing(struct show *show)
{
	const struct stranger *stranger = &show->result->stranger;
	char text[sizeof stranger->text + sizeof stranger->remedy + 64];

	show->told_nothing = true;
	if (!show->record->command)
		(void)snprintf(text, sizeof text,
			       "no traced process is running, so nothing is recorded yet; start "
			       "programs with "
			       "\"kymo run -- CMD\"; \"kymo doctor -p PID\" shows why a running "
			       "one is not traced");
	else
		(void)snprintf(text, sizeof text, "nothing of the command is traced yet%s%s%s%s",
			       *stranger->text ? ": " : "", stranger->text,
			       *stranger->remedy ? "; " : "", stranger->remedy);
	say(show, text);
}

static void progress(void *context, const struct session_stats *stats)
{
	char time[TEXT_QUANTITY_MAX], bytes[TEXT_QUANTITY_MAX];
	struct show *show = context;

	if (!stats->processes && !show->told_nothing &&
	    stats->duration_ns >= (show->record->command ? NOTHING_NS : NOBODY_NS))
		tell_nothing(show);
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
	struct launch launch = { .fallback_libdir = KYMO_LIBDIR,
				 .ring_size = options->ring_size,
				 .block_ns = options->block,
				 .malloc = options->malloc,
				 .malloc_sums = options->malloc == CLI_MALLOC_SUMS,
				 .functions = options->functions };

	if (options->processes.count)
		return err_set(err, KYMO_EXIT_USAGE, "a command and --pid exclude each other");
	if (launch_find(command[0], err) < 0)
		return -1;
	if (getrandom(&launch.tag, sizeof launch.tag, 0) != sizeof launch.tag || !launch.tag)
		launch.tag = (uint64_t)getpid();
	if (options->all)
		launch.tag = 0;
	record->session.tag = launch.tag;
	record->command = command;
	launch.plain = warn_foreign("record", command);
	record->environment = launch_environment(&launch, err);
	return record->environment ? rclpy_check(command, record->environment, err) : -1;
}

/* Also without rules: programs may have rules, and "kymo filter" may set some. */
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

/* The programs are attached when the recording begins, and stay so. */
static int attach_first(const struct options *options, bool command, struct kymo_err *err)
{
	const struct attaching attaching = {
		.who = options->processes,
		.all = !options->processes.count,
		.quiet = options->quiet || options->format,
		.bare = true,
	};

	if (!options->attach)
		return 0;
	if (command)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--attach is for programs that run already; a command needs none");
	return attaching_on(options->verb, &attaching, err);
}

static int parse(int argc, char **argv, struct options *options, struct record_options *record,
		 struct kymo_err *err)
{
	int dashdash;

	if (opt_parse(opts, options, &argc, &argv, &dashdash, err) < 0)
		return -1;
	if (dashdash < 0 && argc > 0)
		return err_set(err, KYMO_EXIT_USAGE, "write a command after \"--\": kymo record -- %s",
			       argv[0]);
	if (dashdash > 0)
		return err_set(err, KYMO_EXIT_USAGE, "unexpected word '%s' before \"--\": it is not an option", argv[0]);
	if (dashdash == 0 && argc == 0)
		return err_set(err, KYMO_EXIT_USAGE, "no command after \"--\"");
	if (options->duration < 0)
		return err_set(err, KYMO_EXIT_USAGE, "--duration cannot be negative");
	if (argc == 0 && options->functions)
		return err_set(
			err, KYMO_EXIT_USAGE,
			"--functions requires a command; start other programs with \"kymo run "
			"--functions\"");
	if (argc == 0 && options->malloc)
		return err_set(err, KYMO_EXIT_USAGE, "--malloc requires a command; start other programs with \"kymo run "
			       "--malloc\"");
	if (options->block < 0 || options->block > BLOCK_MAX_NS)
		return err_set(err, KYMO_EXIT_USAGE, "--block must be at most 1s");
	if (argc == 0 && options->block)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--block requires a command; for other programs set KYMO_BLOCK when "
			       "you start them");
	if (argc == 0 && options->ring_size)
		return err_set(err, KYMO_EXIT_USAGE, "--ring-size requires a command; "
			       "for other programs set KYMO_RING_SIZE when you start them");
	if (options->hosts.hosts || record_hosts_any(&options->hosts))
		return err_set(err, KYMO_EXIT_USAGE, "--expect, --domain and --recording-frequency require --hosts");
	if (options->paused && options->wait)
		return err_set(err, KYMO_EXIT_USAGE, "--paused and --wait exclude each other: --paused waits for \"kymo resume\", "
			       "--wait for CARET's Start");
	if (options->all && options->processes.count)
		return err_set(err, KYMO_EXIT_USAGE, "--all and --pid exclude each other");
	if (attach_first(options, argc > 0, err) < 0 ||
	    record_users(&options->users, &record->session, err) < 0 ||
	    select_processes(options->verb, &options->processes, &record->session, err) < 0 ||
	    prepare_filter(options, record, err) < 0)
		return -1;
	record->kernel = options->kernel || options->kernel_all || options->syscalls ||
			 options->cycles || options->kernel_event.count || options->kernel_ring;
	if (kernel_events_check(&options->kernel_event, err))
		return -1;
	record->kernel_events = &options->kernel_event;
	record->kernel_ring = options->kernel_ring;
	record->kernel_optional = options->kernel > 1;
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
	if (result->command_left)
		return KYMO_EXIT_FAILED;
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
	if (status == KYMO_EXIT_OK && result->command_left)
		status = KYMO_EXIT_FAILED;
	return result->command_ended && result->command_status ? result->command_status : status;
}

/* Where the trace goes. A flight recorder asks for a place when it has something. */
static int prepare_output(const struct options *options, struct record_options *record,
			  struct flight_show *flight, char output[CLI_PATH_MAX], struct kymo_err *err)
{
	const struct opt_list *given = &options->output;

	for (unsigned i = 0; i < given->count; i++)
		if (url_is_one(given->item[i]))
			return err_set(err, KYMO_EXIT_USAGE, "-o names a directory, not a relay; use --relay %s", given->item[i]);
	flight->output = given->count ? given->item[0] : NULL;
	flight->format = options->format;
	if (flight_prepare(&options->flight, flight, record, err) < 0)
		return -1;
	if (record->flight && options->perfetto)
		return err_set(err, KYMO_EXIT_USAGE, "--perfetto does not work with --flight; export the snapshots");
	if (record->flight && (sink_files_any(&options->files) || given->count > 1))
		return err_set(err, KYMO_EXIT_USAGE, "--rotate-size, --rotate-time, --max-size, --compress, --ctf and a second -o do not "
			       "work with --flight: each snapshot is one trace; add a continuous recording with \"kymo sink add\"");
	if (record->flight && options->relay.url)
		return err_set(err, KYMO_EXIT_USAGE, "--relay does not work with --flight: what is kept is not sent");
	if (record->flight)
		return 0;
	if (options->relay.url && !given->count && (options->perfetto || sink_files_any(&options->files)))
		return err_set(err, KYMO_EXIT_USAGE, "--perfetto, --rotate-size, --rotate-time, --max-size, --compress and --ctf require a "
			       "trace on this machine; choose its directory with -o DIR");
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

/* Return: 0: go on, here or in the background; 1: a child goes on, or has ended, with *@status; -1 with @err. */
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
		return err_set(err, KYMO_EXIT_FAILED, "the path of the trace is too long; choose a shorter one with -o");
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
	struct record_agent agent = { 0 };
	struct record_result result;
	int rc, written;

	if (options->agent && record_agent_begin(&agent, show->verb, err) < 0)
		return -1;
	if (options->perfetto &&
	    record_perfetto_begin(&perfetto, options->perfetto, record->session.output,
				  options->quiet, err) < 0) {
		record_agent_end(&agent);
		return -1;
	}
	/* A reader of our messages that went away, or a limit on files, must not end the recording. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	show->terminal = flight->terminal = !show->detach.active && !options->quiet && isatty(STDERR_FILENO);
	record->progress = show->terminal ? progress : NULL;
	show->record = record;
	show->result = &result;
	rc = record_relay_begin(&options->relay, relay, record, err);
	if (rc == 0)
		rc = record_run(record, &result, err);
	record_agent_end(&agent);
	written = record_perfetto_end(&perfetto);
	if (show->terminal)
		fputs("\r\033[K", stderr);
	if (rc < 0) {
		flight_tidy(flight);
		return -1;
	}
	if (show->detach.active && !result.stats.processes)
		return KYMO_EXIT_EMPTY;		/* kymo stop says so; the log stays empty */
	rc = record->flight ? finish_flight(&result, record, options, flight) :
	     finish(&result, record, options, relay);
	return rc == KYMO_EXIT_OK && written ? KYMO_EXIT_FAILED : rc;
}

/* Who uses CARET's command line should know before it waits for nothing. */
static void hint(const struct options *options)
{
	if (options->quiet || options->agent)
		return;
	if (options->wait)
		record_agent_hint_waits(options->verb);
	else
		record_agent_hint(options->verb, "what this recording records",
				  "add --agent, or start \"kymo agent\"");
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
	if (rc == 0 && flight_help(&options.flight)) {
		launch_free(record_options.environment);
		filter_free(record_options.session.filter);
		return KYMO_EXIT_OK;
	}
	if (rc == 0)
		rc = record_relay_prepare(&options.relay, &relay, &err);
	if (rc == 0 && background && record_options.command)
		rc = err_set(&err, KYMO_EXIT_USAGE, "a recorder in the background starts no command; start it with \"kymo run -- CMD\", "
			     "or record it with \"kymo record -- CMD\"");
	if (rc == 0)
		rc = prepare_output(&options, &record_options, &flight, output, &err);
	if (rc == 0)
		hint(&options);
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

/* What works with --hosts. */
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

static int run_hosts(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };
	struct kymo_err why;
	int rc = caret_enter("record", argc, argv, KYMO_LIBDIR, err);

	if (rc == 0 && opt_parse(hosts_opts, &options, &argc, &argv, NULL, &why) < 0)
		rc = err_set(err, KYMO_EXIT_USAGE,
			     "with --hosts, which records nothing on this machine: %s", why.text);
	if (rc == 0 && argc)
		rc = err_set(err, KYMO_EXIT_USAGE,
			     "unexpected command '%s': --hosts records nothing on this machine",
			     argv[0]);
	if (rc == 0 && options.duration < 0)
		rc = err_set(err, KYMO_EXIT_USAGE, "--duration cannot be negative");
	return rc < 0 ? -1
		      : record_hosts(&options.hosts, options.duration, options.format,
				     options.quiet, err);
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	return asks_hosts(argc, argv) ? run_hosts(argc, argv, err) : either(false, argc, argv);
}

static int run_in_background(int argc, char **argv, struct kymo_err *err)
{
	(void)err; /* printed before the log is closed */
	return either(true, argc, argv);
}

const struct verb verb_record = {
	.name = "record",
	.synopsis = "[-- CMD [ARG...]]",
	.summary = "record a command, or programs that already run",
	.description =
		"Records ROS 2 programs into a trace directory (CTF 1.8, like LTTng's; with --ctf 2, CTF 2).\n\n"
		"With a command after \"--\", kymo starts it with libkymo-ros2.so preloaded, "
		"records it and "
		"everything it starts until it ends, and exits with its status. Without a command, "
		"it records all "
		"programs that were started with \"kymo run\" or with the library in LD_PRELOAD, "
		"now and later, "
		"until Ctrl-C or \"kymo stop\". Programs keep the facts of their start (nodes, "
		"topics, callbacks), "
		"so no name is missing if you attach late. -p selects processes by number or by "
		"name: the name of "
		"the main thread or of the program's file.\n\n"
		"\"kymo pause\" and \"kymo resume\" switch runtime events off and on. --paused "
		"begins with a pause; "
		"--wait waits for CARET's Start, which \"kymo agent\" receives (kymo help agent), "
		"or the agent of --agent. \"kymo start\" does the same in the background.\n\n"
		"With --flight TIME, kymo keeps only the last TIME of everything, in memory. It "
		"writes that as a "
		"trace each time a --trigger fires, you run \"kymo snapshot\", SIGUSR1 arrives or "
		"a program calls "
		"kymo_snapshot(), and prints a line with the path of the trace. Triggers: "
		"span(NAME) > 1ms; "
		"callback > 10ms; callback(NAME) > 10ms, where NAME is the function's symbol, its "
		"topic, service "
		"or node; event(NAME); overrun and missed of a kymo/loop.h loop, or overrun(LOOP), "
		"missed(LOOP); "
		"died, died(PROCESS); loss. Names may contain * and ?.\n\n"
		"--node, --topic, --process, --event and --category choose what is recorded; "
		"'!GLOB' leaves out "
		"what matches. You may repeat each of them. --filter-file contains such rules, one "
		"per line, like "
		"\"topic !/rosout\". Programs can bring rules of their own in KYMO_FILTER and in "
		"CARET's "
		"CARET_SELECT_NODES, CARET_IGNORE_NODES, CARET_SELECT_TOPICS, CARET_IGNORE_TOPICS "
		"and "
		"CARET_IGNORE_PROCESSES. \"kymo filter\" changes the rules while the recorder "
		"runs.\n\n"
		"The trace goes to $ROS_TRACE_DIR, else $ROS_HOME/tracing, else ~/.ros/tracing, "
		"unless you choose "
		"a directory with -o. If a recorder is killed, nothing is lost: record again, and "
		"the next trace "
		"contains what the programs kept meanwhile. A program that records itself is left "
		"alone until it "
		"stops. If there was nothing to record, no trace is left.\n\n"
		"With --hosts, kymo records nothing on this machine. It tells \"kymo agent\" on "
		"all hosts of the "
		"ROS domain to begin, shows their states, and tells them to end at Ctrl-C (or "
		"after --duration). "
		"The messages are CARET's. As with CARET, a host on which no session waits ignores "
		"the first "
		"message (\"kymo start --wait\" there starts a session that waits), and a host "
		"whose session is "
		"still active ignores the last. --format json prints the whole table each time "
		"something changes. "
		"The status is 6 if no process recorded.",
	.examples = "kymo record -- ros2 launch my_robot robot.launch.py\n"
		    "kymo record -o /tmp/trace --duration 30s\n"
		    "kymo record --perfetto robot.pftrace -- ros2 launch my_robot robot.launch.py\n"
		    "kymo record -p 4711 -p 'planner*' --strict\n"
		    "kymo record --node '/perception/*' --topic '!/rosout'\n"
		    "kymo record --paused\n"
		    "kymo record --wait --agent\n"
		    "kymo record --hosts --expect 3\n"
		    "kymo record --flight 30s --trigger 'callback(/scan) > 20ms' --trigger died -o "
		    "spikes\n",
	.common = "output duration pid topic flight trigger kernel malloc",
	.opts = opts,
	.run = run,
};

const struct verb verb_start = {
	.name = "start",
	.synopsis = "",
	.summary = "start recording in the background",
	.description =
		"Does what \"kymo record\" does without a command, with the same options, but continues in the "
		"background when the verb returns. Then all traced programs record. \"kymo status\" shows the "
		"recorder; \"kymo pause\", \"kymo resume\" and \"kymo stop\" control it, from any terminal.\n\n"
		"The recorder writes its messages into a log file beside the trace, TRACE.log. If it had no "
		"message, no log file is left.",
	.examples =
		"kymo start -o /data/trace\n"
		"kymo start --paused -p 'perception_*'\n"
		"kymo stop\n",
	.opts = opts,
	.run = run_in_background,
};
