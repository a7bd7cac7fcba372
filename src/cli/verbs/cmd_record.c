/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo record` and `kymo start`: turns options into a session, and its result into a summary. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "caret/agent/agent.h"
#include "cli/common/common.h"
#include "cli/common/detach.h"
#include "cli/verbs/record/record_agent.h"
#include "cli/verbs/record/record_finish.h"
#include "cli/verbs/record/record_hosts.h"
#include "cli/verbs/record/record_perfetto.h"
#include "cli/verbs/record/record_relay.h"
#include "cli/verbs/record/record_show.h"
#include "cli/verbs/record/record_wishes.h"
#include "recorder/filter/filter.h"
#include "recorder/launch/launch.h"

static int make_remote(void *context, struct json_object *request, struct sink **sink,
		       struct kymo_err *err)
{
	const struct session_options session = { .version = KYMO_VERSION,
						 .say = record_say,
						 .context = context };

	return record_relay_remote(&session, request, sink, err);
}

static void on_started(void *context)
{
	struct record_show *show = context;

	detach_ready(&show->detach);
}

/*
 * Return: 0: go on, here or in the background; 1: a child goes on, or has ended, with *@status; -1
 * with @err.
 */
static int go_into_background(const struct record_wishes *wishes,
			      const struct record_options *record, struct detach *into, int *status,
			      struct kymo_err *err)
{
	const char *output = wishes->output.count ? wishes->output.item[0] : record->session.output;
	char session[CLI_PATH_MAX], log[CLI_PATH_MAX];
	struct table *table;
	int rc;

	if (!output && cli_new_session(session, err) < 0)	/* each snapshot has its own */
		return -1;
	if ((unsigned)snprintf(log, sizeof log, "%s.log", output ? output : session) >= sizeof log)
		return err_set(err, KYMO_EXIT_FAILED, "the path of the trace is too long; choose a shorter one with -o");
	rc = detach(into, log, status, err);
	if (rc <= 0 || *status != KYMO_EXIT_OK || (wishes->quiet && wishes->format == TABLE_TEXT))
		return rc;
	if (table_open(&table, stdout, (enum table_format)wishes->format) < 0)
		return err_no_memory(err);
	table_value_u64(table, "recorder_pid", "Recorder", (uint64_t)into->child);
	table_value_text(table, "state", "State", wishes->wait ? "armed" : states_name(record->session.paused ?
			 KYMO_STATE_PREPARE : KYMO_STATE_RECORD));
	table_value_text(table, "trace", "Trace", output);
	table_value_text(table, "log", "Log", into->log);
	table_note(table, "Next: kymo status, kymo %s or kymo stop", record->session.paused ? "resume" : "pause");
	*status = cli_close("start", table, KYMO_EXIT_OK);
	return rc;
}

static int record(const struct record_wishes *wishes, struct record_options *record,
		  struct flight_show *flight, struct record_relay *relay, struct record_show *show,
		  struct kymo_err *err)
{
	struct record_perfetto perfetto = { 0 };
	struct record_agent agent = { 0 };
	struct record_result result;
	int rc, written;

	if (wishes->agent && record_agent_begin(&agent, show->verb, err) < 0)
		return -1;
	if (wishes->perfetto &&
	    record_perfetto_begin(&perfetto, wishes->perfetto, record->session.output,
				  wishes->quiet, err) < 0) {
		record_agent_end(&agent);
		return -1;
	}
	/*
	 * A reader of our messages that went away, or a limit on files, must not end the recording.
	 */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	show->terminal = flight->terminal =
		!show->detach.active && !wishes->quiet && isatty(STDERR_FILENO);
	record->progress = show->terminal ? record_progress : NULL;
	show->record = record;
	show->result = &result;
	rc = record_relay_begin(&wishes->relay, relay, record, err);
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
	rc = record->flight ? record_finish_flight(&result, record, wishes, flight) :
	     record_finish_trace(&result, record, wishes, relay);
	return rc == KYMO_EXIT_OK && written ? KYMO_EXIT_FAILED : rc;
}

/* Who uses CARET's command line should know before it waits for nothing. */
static void hint(const struct record_wishes *wishes)
{
	if (wishes->quiet || wishes->agent)
		return;
	if (wishes->wait)
		record_agent_hint_waits(wishes->verb);
	else
		record_agent_hint(wishes->verb, "what this recording records",
				  "add --agent, or start \"kymo agent\"");
}

static int either(bool background, int argc, char **argv)
{
	struct record_wishes wishes = { RECORD_NO_WISHES,
					.verb = background ? "start" : "record" };
	struct flight_show flight = { 0 };
	struct record_show show = { .verb = wishes.verb };
	struct record_options record_options = {
		.session = { .version = KYMO_VERSION, .say = record_say, .context = &show },
		.remote = make_remote, .started = on_started, .context = &show,
	};
	struct record_relay relay = { 0 };
	char output[CLI_PATH_MAX];
	struct kymo_err err;
	int rc, status;

	rc = record_wishes_read(argc, argv, &wishes, &record_options, &err);
	if (rc == 0 && flight_help(&wishes.flight)) {
		launch_free(record_options.environment);
		filter_free(record_options.session.filter);
		return KYMO_EXIT_OK;
	}
	if (rc == 0)
		rc = record_relay_prepare(&wishes.relay, &relay, &err);
	if (rc == 0 && background && record_options.command)
		rc = err_set(&err, KYMO_EXIT_USAGE, "a recorder in the background starts no command; start it with \"kymo run -- CMD\", "
			     "or record it with \"kymo record -- CMD\"");
	if (rc == 0)
		rc = record_wishes_output(&wishes, &record_options, &flight, output, &err);
	if (rc == 0)
		hint(&wishes);
	if (rc == 0 && background)
		rc = go_into_background(&wishes, &record_options, &show.detach, &status, &err);
	if (rc == 0) {
		status = record(&wishes, &record_options, &flight, &relay, &show, &err);
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
	RECORD_HOSTS_OPTS(struct record_wishes, hosts),
	{ "duration", 'd', OPT_TIME, offsetof(struct record_wishes, duration), "TIME", "", NULL },
	CLI_OPT_FORMAT(struct record_wishes),
	CLI_OPT_QUIET(struct record_wishes),
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
	struct record_wishes wishes = { 0 };
	struct kymo_err why;
	int rc = caret_enter("record", argc, argv, KYMO_LIBDIR, err);

	if (rc == 0 && opt_parse(hosts_opts, &wishes, &argc, &argv, NULL, &why) < 0)
		rc = err_set(err, KYMO_EXIT_USAGE,
			     "with --hosts, which records nothing on this machine: %s", why.text);
	if (rc == 0 && argc)
		rc = err_set(err, KYMO_EXIT_USAGE,
			     "unexpected command '%s': --hosts records nothing on this machine",
			     argv[0]);
	if (rc == 0 && wishes.duration < 0)
		rc = err_set(err, KYMO_EXIT_USAGE, "--duration cannot be negative");
	return rc < 0 ? -1
		      : record_hosts(&wishes.hosts, wishes.duration, wishes.format,
				     wishes.quiet, err);
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
		"Records ROS 2 programs into a trace directory (CTF 1.8, like LTTng's; with --ctf "
		"2, CTF 2).\n\n"
		"With a command after \"--\", kymo starts it with libkymo-ros2.so preloaded, "
		"records it and everything it starts until it ends, and exits with its status. "
		"Without a command, it records all programs that were started with \"kymo run\" or "
		"with the library in LD_PRELOAD, now and later, until Ctrl-C or \"kymo stop\". "
		"Programs keep the facts of their start (nodes, topics, callbacks), so no name is "
		"missing if you attach late. -p selects processes by number or by name: the name "
		"of the main thread or of the program's file.\n\n"
		"\"kymo pause\" and \"kymo resume\" switch runtime events off and on. --paused "
		"begins with a pause; --wait waits for CARET's Start, which \"kymo agent\" "
		"receives (kymo help agent), or the agent of --agent. \"kymo start\" does the same "
		"in the background.\n\n"
		"With --flight TIME, kymo keeps only the last TIME of everything, in memory. It "
		"writes that as a trace each time a --trigger fires, you run \"kymo snapshot\", "
		"SIGUSR1 arrives or a program calls kymo_snapshot(), and prints a line with the "
		"path of the trace. Triggers: span(NAME) > 1ms; callback > 10ms; callback(NAME) > "
		"10ms, where NAME is the function's symbol, its topic, service or node; "
		"event(NAME); overrun and missed of a kymo/loop.h loop, or overrun(LOOP), "
		"missed(LOOP); died, died(PROCESS); loss. Names may contain * and ?.\n\n"
		"--node, --topic, --process, --event and --category choose what is recorded; "
		"'!GLOB' leaves out what matches. You may repeat each of them. --filter-file "
		"contains such rules, one per line, like \"topic !/rosout\". Programs can bring "
		"rules of their own in KYMO_FILTER and in CARET's CARET_SELECT_NODES, "
		"CARET_IGNORE_NODES, CARET_SELECT_TOPICS, CARET_IGNORE_TOPICS and "
		"CARET_IGNORE_PROCESSES. \"kymo filter\" changes the rules while the recorder "
		"runs.\n\n"
		"The trace goes to $ROS_TRACE_DIR, else $ROS_HOME/tracing, else ~/.ros/tracing, "
		"unless you choose a directory with -o. If a recorder is killed, nothing is lost: "
		"record again, and the next trace contains what the programs kept meanwhile. A "
		"program that records itself is left alone until it stops. If there was nothing to "
		"record, no trace is left.\n\n"
		"With --hosts, kymo records nothing on this machine. It asks \"kymo agent\" on "
		"all hosts of the ROS domain to begin, shows their states, and asks them to end "
		"at Ctrl-C (or after --duration). The messages are CARET's. As with CARET, a host "
		"on which no session waits ignores the first message (\"kymo start --wait\" there "
		"starts a session that waits), and a host whose session is still active ignores "
		"the last. --format json prints the whole table each time something changes. The "
		"status is 6 if no process recorded.",
	.examples = "kymo record -- ros2 launch my_robot robot.launch.py\n"
		    "kymo record -o /tmp/trace --duration 30s\n"
		    "kymo record --perfetto robot.pftrace -- ros2 launch my_robot robot.launch.py\n"
		    "kymo record -p 4711 -p 'planner*' --strict\n"
		    "kymo record --node '/perception/*' --topic '!/rosout'\n"
		    "kymo record --paused\n"
		    "kymo record --wait --agent\n"
		    "kymo record --hosts --expect 3\n"
		    "kymo record --flight 30s --trigger 'callback(/scan) > 20ms' --trigger died\n",
	.common = "output duration pid topic flight trigger kernel malloc",
	.opts = record_opts,
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
	.opts = record_opts,
	.run = run_in_background,
};
