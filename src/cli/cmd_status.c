/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo status`: who can be recorded, and who records. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/text.h"
#include "cli/common.h"
#include "recorder/domain.h"
#include "recorder/region.h"
#include "recorder/rundir.h"
#include "recorder/status.h"

struct options {
	int format;
};

static const struct opt opts[] = {
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_END
};

static const struct table_column columns[] = {
	{ "pid", "pid" }, { "name", "name" }, { "state", "state" }, { "alive", "process" },
	{ "tracetools", "tracetools" }, { "init_events", "init" }, { "rings", "rings" },
	{ "unread_bytes", "unread" }, { "dropped", "dropped" }, { "init_dropped", NULL },
	{ "memory_bytes", "memory" }, { "exe", NULL },
};

struct list {
	struct process_status *item;
	unsigned count, room;
};

static void collect(void *context, const struct process_status *status)
{
	struct list *list = context;

	if (list->count == list->room) {
		unsigned room = list->room ? list->room * 2 : 16;
		struct process_status *grown = realloc(list->item, room * sizeof *grown);

		if (!grown)
			return;
		list->item = grown;
		list->room = room;
	}
	list->item[list->count++] = *status;
}

static void refused(void *context, const char *text)
{
	char clean[1024];

	(void)context;
	text_clean(clean, sizeof clean, text);
	fprintf(stderr, "kymo status: %s\n", clean);
}

static int by_pid(const void *a, const void *b)
{
	const struct process_status *left = a, *right = b;

	return left->pid < right->pid ? -1 : left->pid > right->pid;
}

static const char *state_name(uint32_t state, uint32_t mode)
{
	if (state == KYMO_STATE_RECORD && mode == KYMO_MODE_OVERWRITE)
		return "flight";
	return state == KYMO_STATE_WAIT ? "wait" : state == KYMO_STATE_PREPARE ? "prepare" :
	       state == KYMO_STATE_RECORD ? "record" : "?";
}

static void print_process(struct table *table, const struct process_status *status)
{
	static const char *const alive[] = {
		[ALIVE_DEAD] = "dead", [ALIVE_YES] = "alive", [ALIVE_UNKNOWN] = "unknown",
	};

	table_u64(table, status->host_pid ? (uint64_t)status->host_pid : status->pid);
	table_text(table, status->procname);
	table_text(table, state_name(status->state, status->mode));
	table_text(table, alive[status->alive]);
	table_text(table, status->tracetools[0] ? status->tracetools : NULL);
	table_u64(table, status->init_events);
	table_u64(table, status->rings);
	table_bytes(table, status->unread_bytes);
	table_u64(table, status->dropped);
	table_u64(table, status->init_dropped);
	table_bytes(table, status->memory);
	table_text(table, status->exe);
}

static void print_recorder(struct table *table, const struct rundir *dir,
			   const struct domain_info *domain)
{
	struct timespec now;

	table_value_text(table, "runtime_dir", "Runtime directory", dir->path);
	if (!domain->active) {
		table_note(table, "Nobody is recording.");
		return;
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	table_value_u64(table, "recorder_pid", "Recorder", (uint64_t)domain->pid);
	table_value_text(table, "trace", "Trace", domain->trace_path);
	table_value_ns(table, "recording_for_ns", "Recording for",
		       (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - (int64_t)domain->started_ns);
}

static int look(const struct rundir *dir, struct list *list, struct domain_info *domain,
		struct err *err)
{
	if (domain_inspect(dir, domain, err) < 0)
		return -1;
	return status_read(dir, collect, refused, list, err) < 0 ? -1 : 0;
}

static int run(int argc, char **argv)
{
	struct options options = { 0 };
	struct domain_info domain = { 0 };
	struct list list = { 0 };
	struct table *table;
	struct rundir dir;
	struct err err;
	int rc;

	if (opt_parse(opts, &options, &argc, &argv, NULL, &err) < 0)
		return cli_fail("status", &err);
	if (argc) {
		(void)err_set(&err, EXIT_USAGE, "'%s': there are no operands", argv[0]);
		return cli_fail("status", &err);
	}
	region_guard();
	rc = rundir_open(&dir, NULL, false, &err);
	if (rc == 0) {
		rc = look(&dir, &list, &domain, &err);
		rundir_close(&dir);
	}
	if (rc >= 0 && table_open(&table, stdout, (enum table_format)options.format) < 0)
		rc = err_set(&err, EXIT_FAILED, "out of memory");
	if (rc < 0) {
		free(list.item);
		return cli_fail("status", &err);
	}
	print_recorder(table, &dir, &domain);
	if (list.count)
		qsort(list.item, list.count, sizeof *list.item, by_pid);
	if (list.count || options.format != TABLE_TEXT)
		table_section(table, "processes", NULL, columns, sizeof columns / sizeof *columns);
	for (unsigned i = 0; i < list.count; i++)
		print_process(table, &list.item[i]);
	if (!list.count)
		table_note(table, "No traced process; start one with \"kymo run -- CMD\".");
	free(list.item);
	return cli_close("status", table, EXIT_OK);
}

const struct verb verb_status = {
	.name = "status",
	.synopsis = "",
	.summary = "list traced processes and the active recorder",
	.description =
		"Lists the processes of the runtime directory ($KYMO_DIR, else /dev/shm/kymo-UID) with "
		"their state: wait (init events only), prepare, record, flight (keeps its last events "
		"itself); what of their shared memory is not yet in a trace; and events dropped since they began. Changes nothing.",
	.examples = "kymo status\nkymo status --format json\n",
	.opts = opts,
	.run = run,
};
