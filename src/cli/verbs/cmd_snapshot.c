/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo snapshot`: the last events of everything, from a flight recorder or from the programs' own
 * memory.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/common/common.h"
#include "cli/verbs/record/recorded.h"
#include "recorder/control/control.h"
#include "recorder/runtime/domain.h"
#include "recorder/runtime/status.h"

#define ASK_MS 120000	/* --post of the recorder, and the writing */

struct options {
	const char *output;
	struct opt_list pids;
	int64_t last;
	bool quiet;
	int format;
};

static const struct opt opts[] = {
	CLI_OPT_OUTPUT(struct options, "DIR", "where the trace goes; must be new or empty"),
	{ "last", 'l', OPT_TIME, offsetof(struct options, last), "TIME",
	  "keep only the last TIME before the last event of each process (10s)", NULL },
	{ "pid", 'p', OPT_LIST, offsetof(struct options, pids), "PID",
	  "only this process; may be repeated", NULL },
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

/* ---- a flight recorder runs ---- */

static struct json_object *request(const struct options *options, struct kymo_err *err)
{
	struct json_object *object = json_object_new_object();
	char output[PATH_MAX + CLI_PATH_MAX];

	json_object_object_add(object, "request", json_object_new_string("snapshot"));
	if (options->last)
		json_object_object_add(object, "last_ns", json_object_new_int64(options->last));
	if (options->output && cli_absolute(output, sizeof output, options->output, err) < 0) {
		json_object_put(object);
		return NULL;
	}
	if (options->output)
		json_object_object_add(object, "output", json_object_new_string(output));
	return object;
}

static int print_reply(struct json_object *reply, const struct options *options)
{
	struct json_object *trace = NULL;
	const char *path;
	struct table *table;

	(void)json_object_object_get_ex(reply, "trace", &trace);
	path = trace ? json_object_get_string(trace) : "?";
	if (options->format == TABLE_TEXT) {
		puts(path);
		return KYMO_EXIT_OK;
	}
	if (cli_table("snapshot", options->format, &table))
		return KYMO_EXIT_FAILED;
	table_value_text(table, "trace", "Trace", path);
	return cli_close("snapshot", table, KYMO_EXIT_OK);
}

/* Return: exit status; -1 with @err; INT_MAX: there is no recorder to ask. */
static int ask(const struct rundir *dir, const struct options *options, struct kymo_err *err)
{
	struct json_object *object, *reply;
	struct domain_info domain;
	char verb[] = "snapshot";
	int rc;

	if (domain_inspect(dir, &domain, err) < 0)
		return -1;
	if (!domain.active)
		return INT_MAX;
	object = request(options, err);
	if (!object)
		return -1;
	rc = control_ask(dir, object, ASK_MS, &reply, err);
	json_object_put(object);
	if (rc == 0 && options->pids.count)
		cli_say(verb, "a recorder is running: the snapshot contains all that it records, not only --pid");
	if (rc == 0)
		rc = print_reply(reply, options);
	else if (rc == 1)
		rc = INT_MAX;
	json_object_put(reply);
	return rc;
}

/* ---- no recorder ---- */

struct candidates {
	const struct session_options *session;
	unsigned count;
};

static void count_candidate(void *context, const struct process_status *status)
{
	struct candidates *candidates = context;
	const struct session_options *session = candidates->session;
	int pid = status->host_pid ? status->host_pid : (int)status->pid;
	bool wanted = !session->pid_count;

	for (unsigned i = 0; i < session->pid_count; i++)
		wanted |= session->pids[i] == pid;
	candidates->count += wanted && status->state == KYMO_STATE_RECORD;
}

static int nothing_kept(const struct session_options *session, struct kymo_err *err)
{
	if (session->pid_count)
		return err_set(err, KYMO_EXIT_EMPTY, "no such process keeps its last events; \"kymo status\" shows "
			       "processes that do as \"flight\"");
	return err_set(err, KYMO_EXIT_EMPTY, "nothing to take a snapshot of; start programs with \"kymo run "
		       "--flight -- CMD\", so that they keep their last events themselves, or let \"kymo record "
		       "--flight 30s\" keep the events of all programs");
}

static int read_pids(const struct opt_list *list, struct session_options *session,
		     struct kymo_err *err)
{
	for (unsigned i = 0; i < list->count; i++) {
		uint64_t pid;

		if (!text_read_u64(list->item[i], &pid) || !pid || pid > INT32_MAX)
			return err_set(err, KYMO_EXIT_USAGE, "invalid process number '%s'", list->item[i]);
		session->pids[session->pid_count++] = (int)pid;
	}
	return 0;
}

/* Return: exit status; -1 with @err. */
static int from_memory(const struct rundir *dir, const struct options *options,
		       struct session_options *session, struct kymo_err *err)
{
	struct candidates candidates = { .session = session };
	struct session_stats stats;
	char output[CLI_PATH_MAX];

	if (status_read(dir, count_candidate, NULL, &candidates, err) < 0)
		return -1;
	if (!candidates.count)
		return nothing_kept(session, err);
	if (!options->output && cli_new_session(output, err) < 0)
		return -1;
	session->output = options->output ? options->output : output;
	if (recorded_once(session, &stats, err) < 0)
		return -1;
	if (!stats.processes)		/* another recorder has them, if only themselves */
		return nothing_kept(session, err);
	if (stats.overwritten && !options->quiet)
		fprintf(stderr, "%" PRIu64 " older events had been overwritten\n", stats.overwritten);
	if (options->format == TABLE_TEXT)
		puts(session->output);
	return recorded_print("snapshot", &stats, NULL, NULL, session->output, options->format, options->quiet);
}

static int parse(int argc, char **argv, struct options *options, struct session_options *session,
		 struct kymo_err *err)
{
	if (opt_parse(opts, options, &argc, &argv, NULL, err) < 0 ||
	    cli_no_operands(argc, argv, err) < 0)
		return -1;
	if (options->last < 0)
		return err_set(err, KYMO_EXIT_USAGE, "--last cannot be negative");
	session->last_ns = options->last;
	return read_pids(&options->pids, session, err);
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	char verb[] = "snapshot";
	struct session_options session = {
		.version = KYMO_VERSION, .frozen = true, .say = cli_say, .context = verb
	};
	struct options options = { 0 };
	struct rundir dir;
	int rc;

	if (parse(argc, argv, &options, &session, err) < 0)
		return -1;
	rc = rundir_open(&dir, NULL, false, err);
	if (rc == 1)
		rc = nothing_kept(&session, err);
	if (rc == 0) {
		rc = ask(&dir, &options, err);
		if (rc == INT_MAX)
			rc = from_memory(&dir, &options, &session, err);
		rundir_close(&dir);
	}
	return rc;
}

const struct verb verb_snapshot = {
	.name = "snapshot",
	.synopsis = "",
	.summary = "write the last events of everything into a trace, and go on",
	.description =
		"Writes what just happened into a trace and prints the path of the trace.\n\n"
		"If \"kymo record --flight\" is running, that recorder writes what it keeps. Otherwise snapshot "
		"reads the memory of programs that keep their last events themselves (\"kymo run --flight\", "
		"KYMO_FLIGHT=1), and of programs that died before their events were read. They may be running, "
		"hanging, stopped or dead. Nothing in them is changed. The facts of their start (nodes, topics, "
		"callbacks) are always complete.\n\n"
		"Exit status: 6 when no program keeps events.",
	.examples = "kymo snapshot\nkymo snapshot --last 10s -o spike\nkymo snapshot -p 4711\n",
	.opts = opts,
	.run = run,
};
