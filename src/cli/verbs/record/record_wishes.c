/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the options, which options exclude each other, and what each sets in the options of
 * the recorder.
 */
#include "cli/verbs/record/record_wishes.h"

#include <sys/random.h>
#include <unistd.h>

#include "cli/common/attaching.h"
#include "cli/verbs/record/nothing_traced.h"
#include "cli/verbs/record/record_users.h"
#include "recorder/filter/filter.h"
#include "recorder/launch/launch.h"
#include "relay/wire/url.h"

const struct opt record_opts[] = {
	{ "output", 'o', OPT_LIST, offsetof(struct record_wishes, output), "DIR",
	  "where the trace goes, new or empty; repeat it to write several traces; with --flight: "
	  "DIR/1, DIR/2, ...",
	  NULL },
	{ "perfetto", 0, OPT_TEXT, offsetof(struct record_wishes, perfetto), "FILE",
	  "also write FILE for Perfetto while recording; it can be opened at any time", NULL },
	{ "pid", 'p', OPT_LIST, offsetof(struct record_wishes, processes), "PID|NAME",
	  "record only this process, or processes with this name (which may contain * and ?); may "
	  "be repeated",
	  NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct record_wishes, all), NULL,
	  "with a command: also record all other processes, as without a command", NULL },
	{ "attach", 0, OPT_FLAG, offsetof(struct record_wishes, attach), NULL,
	  "attach to the ROS 2 programs that run already, or to those of -p: kymo help attach",
	  NULL },
	RECORD_USERS_OPT(struct record_wishes, users),
	{ "kernel", 'k', OPT_SWITCH, offsetof(struct record_wishes, kernel), NULL,
	  "also record the kernel's events: which thread ran on which CPU, which was woken, "
	  "interrupts; of recorded threads, and of what ran instead of them. If they are not "
	  "available, that is an error; with =if-possible, record without them",
	  "if-possible" },
	{ "kernel-all", 0, OPT_FLAG, offsetof(struct record_wishes, kernel_all), NULL,
	  "the kernel's events of all threads of the machine", NULL },
	{ "kernel-event", 0, OPT_LIST, offsetof(struct record_wishes, kernel_event), "GLOB",
	  "--kernel, and of its events only those whose name matches, such as sched_switch, "
	  "'block_*' or 'net_*'; "
	  "'!GLOB' leaves out; may be repeated (default: all but disks and network)",
	  NULL },
	{ "kernel-ring-size", 0, OPT_SIZE, offsetof(struct record_wishes, kernel_ring), "SIZE",
	  "--kernel, and so much memory per CPU for its events (default: 4M)", NULL },
	{ "syscalls", 0, OPT_FLAG, offsetof(struct record_wishes, syscalls), NULL,
	  "--kernel, and the system calls of recorded threads: which, how long, what they returned",
	  NULL },
	{ "cycles", 0, OPT_FLAG, offsetof(struct record_wishes, cycles), NULL,
	  "--kernel, and the CPU cycles of recorded threads, by hardware counters; CPU time if "
	  "there are none",
	  NULL },
	{ "stacks", 0, OPT_FLAG, offsetof(struct record_wishes, stacks), NULL,
	  "also sample call stacks of recorded threads: which functions need the time, on the CPU "
	  "and off it",
	  NULL },
	{ "stacks-rate", 0, OPT_U64, offsetof(struct record_wishes, stacks_rate), "HZ",
	  "--stacks, and so many samples per second of CPU time (default: 997, at most 10000)",
	  NULL },
	CLI_OPT_MALLOC(struct record_wishes),
	CLI_OPT_FUNCTIONS(struct record_wishes),
	{ "paused", 0, OPT_FLAG, offsetof(struct record_wishes, paused), NULL,
	  "begin with a pause: only facts are recorded until \"kymo resume\"", NULL },
	{ "wait", 0, OPT_FLAG, offsetof(struct record_wishes, wait), NULL,
	  "begin when \"kymo agent\" receives CARET's Start over DDS, or at \"kymo resume\"",
	  NULL },
	{ "agent", 0, OPT_FLAG, offsetof(struct record_wishes, agent), NULL,
	  "also run \"kymo agent\" as long as the recording, so that \"ros2 caret record\" finds "
	  "the programs",
	  NULL },
	CLI_OPT_STRICT(struct record_wishes),
	{ "duration", 'd', OPT_TIME, offsetof(struct record_wishes, duration), "TIME",
	  "end after this time (30s, 5min); a command and all that it started are ended then: "
	  "SIGINT, after 5 s SIGTERM",
	  NULL },
	{ "ring-size", 0, OPT_SIZE, offsetof(struct record_wishes, ring_size), "SIZE",
	  "shared memory per thread of the command (256K, 4M)", NULL },
	{ "block", 0, OPT_TIME, offsetof(struct record_wishes, block), "TIME",
	  "let a thread of the command wait so long for room instead of dropping an event (5ms, at "
	  "most 1s); never threads of real-time priority",
	  NULL },
	SINK_FILES_OPTS(struct record_wishes, files),
	{ "streams", 0, OPT_CHOICE, offsetof(struct record_wishes, streams), NULL,
	  "write a file for each thread, or for each process; auto: for each process if there are "
	  "many",
	  "auto|thread|process" },
	RELAY_OPTS(struct record_wishes, relay),
	FLIGHT_OPTS(struct record_wishes, flight),
	FILTER_OPTS(struct record_wishes, filter),
	RECORD_HOSTS_OPTS(struct record_wishes, hosts),
	CLI_OPT_FORMAT(struct record_wishes),
	CLI_OPT_QUIET(struct record_wishes),
	CLI_OPT_END
};

static int prepare_command(const struct record_wishes *wishes, char **command,
			   struct record_options *record, struct kymo_err *err)
{
	struct launch launch = { .fallback_libdir = KYMO_LIBDIR,
				 .ring_size = wishes->ring_size,
				 .block_ns = wishes->block,
				 .malloc = wishes->malloc,
				 .malloc_sums = wishes->malloc == CLI_MALLOC_SUMS,
				 .functions = wishes->functions };

	if (wishes->processes.count)
		return err_set(err, KYMO_EXIT_USAGE, "a command and --pid exclude each other");
	if (launch_find(command[0], err) < 0)
		return -1;
	if (getrandom(&launch.tag, sizeof launch.tag, 0) != sizeof launch.tag || !launch.tag)
		launch.tag = (uint64_t)getpid();
	if (wishes->all)
		launch.tag = 0;
	record->session.tag = launch.tag;
	record->command = command;
	launch.plain = warn_foreign("record", command);
	record->environment = launch_environment(&launch, err);
	return record->environment ? rclpy_check(command, record->environment, err) : -1;
}

/* Also without rules: programs may have rules, and "kymo filter" may set some. */
static int prepare_filter(const struct record_wishes *wishes, struct record_options *record,
			  struct kymo_err *err)
{
	struct filter_rules rules = { 0 };
	int rc = filter_wish(&wishes->filter, &rules, err);

	record->session.filter = rc < 0 ? NULL : filter_create(&filter_regex_pcre2);
	if (rc == 0 && (!record->session.filter || !filter_set(record->session.filter, &rules)))
		rc = err_no_memory(err);
	filter_rules_free(&rules);
	return rc;
}

/* The programs are attached when the recording begins, and stay so. */
static int attach_first(const struct record_wishes *wishes, bool command, struct kymo_err *err)
{
	const struct attaching attaching = {
		.who = wishes->processes,
		.all = !wishes->processes.count,
		.quiet = wishes->quiet || wishes->format,
		.bare = true,
	};

	if (!wishes->attach)
		return 0;
	if (command)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--attach is for programs that run already; a command needs none");
	return attaching_on(wishes->verb, &attaching, err);
}

static int check_words(int argc, char **argv, int dashdash, struct kymo_err *err)
{
	if (dashdash < 0 && argc > 0)
		return err_set(err, KYMO_EXIT_USAGE, "write a command after \"--\": kymo record -- %s",
			       argv[0]);
	if (dashdash > 0)
		return err_set(err, KYMO_EXIT_USAGE,
			       "unexpected word '%s' before \"--\": it is not an option", argv[0]);
	if (dashdash == 0 && argc == 0)
		return err_set(err, KYMO_EXIT_USAGE, "no command after \"--\"");
	return 0;
}

/* Options for the environment of a command that kymo starts. */
static int check_without_command(const struct record_wishes *wishes, struct kymo_err *err)
{
	if (wishes->functions)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--functions requires a command; start other programs with \"kymo run "
			       "--functions\"");
	if (wishes->malloc)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--malloc requires a command; start other programs with \"kymo run "
			       "--malloc\"");
	if (wishes->block > 0 && wishes->block <= BLOCK_MAX_NS)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--block requires a command; for other programs set KYMO_BLOCK when "
			       "you start them");
	if (!wishes->block && wishes->ring_size)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--ring-size requires a command; for other programs set "
			       "KYMO_RING_SIZE when you start them");
	return 0;
}

static int check_wishes(const struct record_wishes *wishes, bool command, struct kymo_err *err)
{
	if (wishes->duration < 0)
		return err_set(err, KYMO_EXIT_USAGE, "--duration cannot be negative");
	if (!command && check_without_command(wishes, err) < 0)
		return -1;
	if (wishes->block < 0 || wishes->block > BLOCK_MAX_NS)
		return err_set(err, KYMO_EXIT_USAGE, "--block must be at most 1s");
	if (wishes->hosts.hosts || record_hosts_any(&wishes->hosts))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--expect, --domain and --recording-frequency require --hosts");
	if (wishes->paused && wishes->wait)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--paused and --wait exclude each other: --paused waits for \"kymo "
			       "resume\", --wait for CARET's Start");
	if (wishes->all && wishes->processes.count)
		return err_set(err, KYMO_EXIT_USAGE, "--all and --pid exclude each other");
	return 0;
}

static int prepare_kernel(const struct record_wishes *wishes, struct record_options *record,
			  struct kymo_err *err)
{
	record->kernel = wishes->kernel || wishes->kernel_all || wishes->syscalls ||
			 wishes->cycles || wishes->kernel_event.count || wishes->kernel_ring;
	if (kernel_events_check(&wishes->kernel_event, err))
		return -1;
	record->kernel_events = &wishes->kernel_event;
	record->kernel_ring = wishes->kernel_ring;
	record->kernel_optional = wishes->kernel > 1;
	record->kernel_all = wishes->kernel_all;
	record->syscalls = wishes->syscalls;
	record->cycles = wishes->cycles;
	return 0;
}

static int prepare_stacks(const struct record_wishes *wishes, struct record_options *record,
			  struct kymo_err *err)
{
	if (wishes->stacks_rate == RECORD_NO_RATE) {
		record->stacks_hz = wishes->stacks ? STACKS_HZ : 0;
		return 0;
	}
	if (!wishes->stacks_rate || wishes->stacks_rate > STACKS_HZ_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "--stacks-rate must be from 1 to %u",
			       STACKS_HZ_MAX);
	record->stacks_hz = (unsigned)wishes->stacks_rate;
	return 0;
}

int record_wishes_read(int argc, char **argv, struct record_wishes *wishes,
		       struct record_options *record, struct kymo_err *err)
{
	int dashdash;

	if (opt_parse(record_opts, wishes, &argc, &argv, &dashdash, err) < 0 ||
	    check_words(argc, argv, dashdash, err) < 0 ||
	    check_wishes(wishes, argc > 0, err) < 0 ||
	    attach_first(wishes, argc > 0, err) < 0 ||
	    record_users(&wishes->users, &record->session, err) < 0 ||
	    select_processes(wishes->verb, &wishes->processes, &record->session, err) < 0 ||
	    prepare_filter(wishes, record, err) < 0 || prepare_kernel(wishes, record, err) < 0 ||
	    prepare_stacks(wishes, record, err) < 0)
		return -1;
	record->session.paused = wishes->paused || wishes->wait;
	record->session.armed = wishes->wait;
	record->duration_ns = wishes->duration;
	return argc ? prepare_command(wishes, argv, record, err) : 0;
}

static int check_flight(const struct record_wishes *wishes, const struct record_options *record,
			struct kymo_err *err)
{
	if (wishes->perfetto)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--perfetto does not work with --flight; export the snapshots");
	if (sink_files_any(&wishes->files) || wishes->output.count > 1)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--rotate-size, --rotate-time, --max-size, --compress, --ctf and a second -o do not "
			       "work with --flight: each snapshot is one trace; add a continuous recording "
			       "with \"kymo sink add\"");
	if (record->stacks_hz)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--stacks does not work with --flight: a flight recorder keeps no call "
			       "stacks; record them without --flight");
	if (wishes->relay.url)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--relay does not work with --flight: what is kept is not sent");
	return 0;
}

int record_wishes_output(const struct record_wishes *wishes, struct record_options *record,
			 struct flight_show *flight, char output[CLI_PATH_MAX],
			 struct kymo_err *err)
{
	const struct opt_list *given = &wishes->output;

	for (unsigned i = 0; i < given->count; i++)
		if (url_is_one(given->item[i]))
			return err_set(err, KYMO_EXIT_USAGE,
				       "-o names a directory, not a relay; use --relay %s", given->item[i]);
	flight->output = given->count ? given->item[0] : NULL;
	flight->format = wishes->format;
	if (flight_prepare(&wishes->flight, flight, record, err) < 0)
		return -1;
	if (record->flight)
		return check_flight(wishes, record, err);
	if (wishes->relay.url && !given->count &&
	    (wishes->perfetto || sink_files_any(&wishes->files)))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--perfetto, --rotate-size, --rotate-time, --max-size, --compress and --ctf require a "
			       "trace on this machine; choose its directory with -o DIR");
	if (wishes->relay.url && !given->count && record->stacks_hz)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--stacks requires a trace on this machine; choose its directory with -o DIR");
	if (sink_files_read(&wishes->files, &record->session.files, err) < 0)
		return -1;
	record->session.streams = (enum session_streams)wishes->streams;
	record->session.output = given->count ? given->item[0] : output;
	record->session.more = given->item + 1;
	record->session.more_count = given->count ? given->count - 1 : 0;
	if (wishes->relay.url && !given->count)
		record->session.output = NULL;	/* it is only sent */
	return given->count || wishes->relay.url ? 0 : cli_new_session(output, err);
}
