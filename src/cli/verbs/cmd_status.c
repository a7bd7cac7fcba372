/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo status`: the processes that can be recorded, and the recorder. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/json_get.h"
#include "base/now.h"
#include "cli/common/ask.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"
#include "cli/verbs/info/status_refused.h"
#include "recorder/runtime/counts_left.h"
#include "recorder/runtime/domain.h"
#include "recorder/runtime/rundir.h"
#include "recorder/runtime/states.h"
#include "recorder/runtime/status.h"

#define INTERVAL_NS	100000000	/* between two readings */
#define WATCH_NS	1000000000
#define ASK_NS		1000000000	/* for the recorder, which answers between two rounds */

struct options {
	int format;
	bool watch;
	int64_t interval;		/* -1: not given */
};

static const struct opt opts[] = { { "watch", 'w', OPT_FLAG, offsetof(struct options, watch), NULL,
				     "print again every second, until interrupted", NULL },
				   { "interval", 'i', OPT_TIME, offsetof(struct options, interval),
				     "TIME",
				     "time between two readings, for the rate (100ms, with --watch "
				     "1s; 0: read once, without rates)",
				     NULL },
				   CLI_OPT_FORMAT(struct options),
				   CLI_OPT_SCREEN(0),
				   CLI_OPT_END };

static const struct table_column columns[] = {
	{ "pid", "pid" }, { "name", "name" }, { "state", "state" }, { "alive", "process" },
	{ "generation", "session" }, { "recorder", "recorder" }, { "events_per_s", "events/s" },
	{ "recorded", "recorded" }, { "lost", "lost" }, { "memory_bytes", "memory" },
	{ "unread_bytes", "unread" }, { "init_events", "init" }, { "rings", "rings" },
	{ "tracetools", "tracetools" }, { "dropped", NULL }, { "init_dropped", NULL },
	{ "recorder_pid", NULL }, { "exe", NULL },
};

struct status_list {
	struct process_status *item;
	unsigned count, capacity;
	struct status_refused refused;
};

static void collect(void *context, const struct process_status *status)
{
	struct status_list *list = context;

	if (ARRAY_ROOM(list->item, list->count, list->capacity))
		list->item[list->count++] = *status;
}

static void refused(void *context, const char *name, const char *text)
{
	struct status_list *list = context;

	status_refused_add(&list->refused, name, text);
}

static int by_pid(const void *a, const void *b)
{
	const struct process_status *left = a, *right = b;

	return left->pid < right->pid ? -1 : left->pid > right->pid;
}

static const char *state_name(const struct process_status *status)
{
	if (status->state == KYMO_STATE_RECORD && status->mode == KYMO_MODE_OVERWRITE)
		return "flight";
	if (status->state == KYMO_STATE_PREPARE && status->counts)
		return "count";
	return states_name(status->state);
}

/* The recorder of a process. Return: NULL: none. */
static const char *recorder_of(const struct process_status *status,
			       const struct domain_info *domain, char text[16])
{
	if (!status->recorder_pid)
		return status->state == KYMO_STATE_WAIT || status->mode == KYMO_MODE_OVERWRITE ? NULL : "died";
	if (status->recorder_pid == status->pid &&
	    !(domain->active && domain->generation == status->generation))
		return "itself";
	(void)snprintf(text, 16, "%u", status->recorder_pid);
	return text;
}

/* Events a second since @before, recorded or dropped. */
static void print_rate(struct table *table, const struct status_list *before,
		       const struct process_status *now)
{
	for (unsigned i = 0; i < before->count; i++) {
		const struct process_status *then = &before->item[i];
		uint64_t events, ns = now->at_ns - then->at_ns;

		if (then->pid != now->pid || then->start_time != now->start_time ||
		    then->birth_ns != now->birth_ns || !ns)
			continue;
		events = now->produced + now->dropped - then->produced - then->dropped;
		table_u64(table, events < UINT64_MAX / 2
					 ? (uint64_t)((double)events * 1e9 / (double)ns + 0.5)
					 : 0);
		return;
	}
	table_none(table);
}

static void print_process(struct table *table, const struct process_status *status,
			  const struct domain_info *domain, const struct status_list *before)
{
	static const char *const alive[] = {
		[ALIVE_DEAD] = "dead", [ALIVE_YES] = "alive", [ALIVE_UNKNOWN] = "unknown",
	};
	char recorder[16];

	table_u64(table, status->host_pid ? (uint64_t)status->host_pid : status->pid);
	table_text(table, status->procname);
	table_text(table, state_name(status));
	table_text(table, alive[status->alive]);
	cli_cell(table, status->recorder_pid, status->generation);
	table_text(table, recorder_of(status, domain, recorder));
	print_rate(table, before, status);
	cli_cell(table, status->recorder_pid, status->recorded);
	cli_cell(table, status->recorder_pid, status->lost);
	table_bytes(table, status->memory);
	table_bytes(table, status->unread_bytes);
	table_u64(table, status->init_events);
	table_u64(table, status->rings);
	table_text(table, status->tracetools[0] ? status->tracetools : NULL);
	table_u64(table, status->dropped);
	table_u64(table, status->init_dropped);
	cli_cell(table, status->recorder_pid, status->recorder_pid);
	table_text(table, status->exe);
}

/* One reading of everything. */
struct status_view {
	struct rundir dir;		/* fd -1: there is none */
	struct domain_info domain;
	struct status_list list;
	struct json_object *sinks;	/* as its recorder describes them; NULL: not known */
};

static const struct table_column relay_columns[] = {
	{ "sink", "sink" },
	{ "url", "sends to" },
	{ "session", "as" },
	{ "state", "relay" },
	{ "waiting_bytes", "not stored yet" },
	{ "spool_bytes", "at most" },
	{ "lost", "lost for it" },
	{ "lost_on_the_way", "lost on the way" },
	{ "lost_there", "lost there" },
	{ "error", "because" },
};

/* Where a sink sends to, and what the relay has not stored yet. */
static void print_relay(struct table *table, struct json_object *sink, struct json_object *relay)
{
	const char *why = json_get_text(relay, "why");
	char session[512];

	(void)snprintf(session, sizeof session, "host/%s/%s", json_object_get_string(json_get(relay, "host")),
		       json_object_get_string(json_get(relay, "session")));
	table_u64(table, json_get_u64(sink, "number"));
	table_text(table, json_get_text(sink, "path"));
	table_text(table, session);
	table_text(table, json_get_text(relay, "state"));
	table_bytes(table, json_get_u64(relay, "waiting"));
	table_bytes(table, json_get_u64(relay, "spool"));
	table_u64(table, json_get_u64(sink, "dropped") + json_get_u64(sink, "unwritten"));
	/* Nothing is lost on the way over TCP. */
	cli_cell(table, json_get(relay, "lost_events"), json_get_u64(relay, "lost_events"));
	/* What its disk did not take. */
	table_u64(table, json_get_u64(relay, "unstored_events"));
	table_text(table, why && *why ? why : NULL);
}

static void print_relays(struct table *table, struct json_object *sinks)
{
	bool any = false;

	for (size_t i = 0; i < json_length(sinks); i++) {
		struct json_object *sink = json_object_array_get_idx(sinks, i), *relay = json_get(sink, "relay");

		if (!relay)
			continue;
		if (!any)
			table_section(table, "relays", "Relays", relay_columns, COUNT_OF(relay_columns));
		any = true;
		print_relay(table, sink, relay);
	}
}

static void print_recorder(struct table *table, const struct status_view *view)
{
	const struct domain_info *domain = &view->domain;

	table_value_text(table, "runtime_dir", "Runtime directory", view->dir.path);
	if (!domain->active)
		return;
	table_value_u64(table, "recorder_pid", "Recorder", (uint64_t)domain->pid);
	if (domain->layout != KYMO_ABI_VERSION) {
		char text[160];

		(void)snprintf(text, sizeof text, "another kymo, with layout version %u instead of %u; programs of this version wait until it "
			       "stops", domain->layout, KYMO_ABI_VERSION);
		table_value_text(table, "recorder_version", "Its version", text);
		return;			/* the rest of its layout is not known */
	}
	if (domain->elsewhere)
		table_value_text(table, "recorder_in", "Recorder in", "another pid namespace: a container, or outside");
	table_value_text(table, "state", "State", domain->armed ? "armed" : states_name(domain->state));
	if (domain->state == KYMO_STATE_RECORD && ros_domains_limited(&domain->ros)) {
		char text[1024];

		ros_domains_text(text, sizeof text, &domain->ros);
		table_value_text(table, "ros_domains", "Of ROS domains", text);
	}
	table_value_u64(table, "generation", "Session", domain->generation);
	table_value_text(table, "trace", "Trace", domain->trace_path);
	table_value_ns(table, "recording_for_ns", "Recording for",
		       now_ns() - (int64_t)domain->started_ns);
}

static int read_view(struct status_view *view, struct kymo_err *err)
{
	int rc = rundir_open(&view->dir, NULL, false, err);
	struct kymo_err why;

	if (rc)
		return rc < 0 ? -1 : 0;
	rc = domain_inspect(&view->dir, &view->domain, err);
	if (rc == 0 && !view->domain.active)
		(void)counts_left_end(&view->dir);
	if (rc == 0)
		rc = status_read(&view->dir, collect, refused, &view->list, err) < 0 ? -1 : 0;
	if (rc == 0 && view->domain.active && ask_for(&view->dir, &view->domain, "sink_list", ASK_NS, &view->sinks, &why) < 0)
		view->sinks = NULL;		/* a program that records itself cannot be asked */
	if (view->list.count)
		qsort(view->list.item, view->list.count, sizeof *view->list.item, by_pid);
	rundir_close(&view->dir);
	return rc;
}

static void free_view(struct status_view *view)
{
	free(view->list.item);
	status_refused_free(&view->list.refused);
	json_object_put(view->sinks);
	*view = (struct status_view){ 0 };
}

static bool any_records_itself(const struct status_list *list)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->item[i].recorder_pid)
			return true;
	return false;
}

static int print(const struct status_view *view, const struct status_list *before, int format)
{
	const struct status_list *list = &view->list;
	struct table *table;

	if (cli_table("status", format, &table))
		return KYMO_EXIT_FAILED;
	print_recorder(table, view);
	if (!view->domain.active)
		table_note(table, "%s; start one with \"kymo start\" or \"kymo record\".", any_records_itself(list) ?
			   "No recorder is running, though some processes record themselves" : "No recorder is running");
	if (list->count || format != TABLE_TEXT)
		table_section(table, "processes", NULL, columns, COUNT_OF(columns));
	for (unsigned i = 0; i < list->count; i++)
		print_process(table, &list->item[i], &view->domain, before);
	status_refused_print(&list->refused, table);
	print_relays(table, json_get(view->sinks, "sinks"));
	if (!list->count && !list->refused.count)
		table_note(table, "No traced process; start one with \"kymo run -- CMD\".");
	return cli_close("status", table, KYMO_EXIT_OK);
}

static bool something_happens(const struct status_list *list)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->item[i].state == KYMO_STATE_RECORD && list->item[i].alive != ALIVE_DEAD)
			return true;
	return false;
}

static void pause_for(int64_t ns)
{
	const struct timespec time = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	(void)fflush(stdout);
	(void)nanosleep(&time, NULL);
}

/* Return: exit status; -1 with @err. */
static int watch(const struct options *options, struct kymo_err *err)
{
	const bool clear = options->format == TABLE_TEXT && isatty(STDOUT_FILENO);
	struct status_view before = { 0 }, now = { 0 };
	int status = read_view(&now, err);

	while (status == KYMO_EXIT_OK) {
		if (clear)
			fputs("\033[H\033[2J", stdout);
		status = print(&now, &before.list, options->format);
		pause_for(options->interval >= 0 ? options->interval : WATCH_NS);
		free_view(&before);
		before = now;
		now = (struct status_view){ 0 };
		if (status == KYMO_EXIT_OK)
			status = read_view(&now, err);
	}
	free_view(&before);
	free_view(&now);
	return status;
}

/* The rate requires two readings; without a recorder one is enough. Return: as watch(). */
static int once(const struct options *options, struct kymo_err *err)
{
	struct status_view before = { 0 }, now = { 0 };
	int status = read_view(&now, err);

	if (status == KYMO_EXIT_OK && options->interval && something_happens(&now.list)) {
		before = now;
		now = (struct status_view){ 0 };
		pause_for(options->interval > 0 ? options->interval : INTERVAL_NS);
		status = read_view(&now, err);
	}
	screen_page();
	if (status == KYMO_EXIT_OK)
		status = print(&now, &before.list, options->format);
	free_view(&before);
	free_view(&now);
	return status;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = {.interval = -1};

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) < 0 ||
	    cli_no_operands(argc, argv, err) < 0)
		return -1;
	return options.watch ? watch(&options, err) : once(&options, err);
}

const struct verb verb_status = {
	.name = "status",
	.synopsis = "",
	.summary = "list traced processes and the active recorder",
	.description =
		"Lists the processes of the runtime directory ($KYMO_DIR, else /dev/shm/kymo-UID). The state of a "
		"process is wait (only init events are kept), prepare (its session pauses), count (\"kymo top\" "
		"counts some of its events), record, or flight (the process keeps its last events itself). The recorder is a pid, \"itself\", or \"died\" (the next "
		"recorder goes on). \"events/s\" counts all events, also those that are dropped; \"recorded\" and "
		"\"lost\" are those of this session. The memory is the shared memory of the process; \"unread\" is "
		"the part that is not in a trace yet.\n\n"
		"If a process cannot be recorded, the reason is printed below the table: for example, it has "
		"another version of libkymo. kymo status changes nothing.\n\n"
		"--format json and csv also have \"dropped\": events lost since the process began.",
	.examples = "kymo status\nkymo status --watch\nkymo status --format json\n",
	.opts = opts,
	.run = run,
};
