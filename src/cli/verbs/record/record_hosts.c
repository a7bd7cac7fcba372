/* SPDX-License-Identifier: Apache-2.0 */
/* See record_hosts.h. */
#include "cli/verbs/record/record_hosts.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "caret/agent/remote.h"

#define FREQUENCY	100		/* CARET's */

struct show {
	int format;
	bool quiet, clear;		/* a terminal: the table stays in its place */
	enum remote_phase phase;
	bool all_told;
	char said[16][256];		/* below the table, where it is redrawn */
	unsigned said_count;
};

static const struct table_column host_columns[] = {
	{ "host", "host" }, { "state", "state" }, { "processes", "processes" }, { "wait", "wait" }, { "prepare", "prepare" },
	{ "record", "record" }, { "recorded", "recorded" },
};

static const struct table_column process_columns[] = {
	{ "host", "host" }, { "node", "node" }, { "pid", "pid" }, { "state", "state" }, { "nodes", "nodes" },
	{ "recorded", "recorded" },
};

static void host_name(const struct host *host, struct table *table)
{
	char key[2 * HOSTS_KEY + 1];

	for (unsigned i = 0; i < HOSTS_KEY; i++)
		(void)snprintf(key + 2 * i, 3, "%02x", host->key[i]);
	table_text(table, host->name[0] ? host->name : key);
}

static void print_host(struct table *table, const struct hosts *hosts, const struct host *host)
{
	const struct hosts_tally tally = hosts_tally(hosts, host);

	host_name(host, table);
	table_text(table, hosts_state(host));
	table_u64(table, tally.processes);
	for (enum machine_state state = MACHINE_WAIT; state < MACHINE_STATES; state++)
		table_u64(table, tally.state[state]);
	table_u64(table, tally.recorded);
}

static void print_processes(struct table *table, const struct host *host)
{
	for (unsigned i = 0; i < host->count; i++) {
		const struct host_process *process = &host->process[i];

		host_name(host, table);
		table_text(table, process->name);
		cli_cell(table, process->pid, (uint64_t)process->pid);
		table_text(table, process->gone ? "gone" : process->state ? machine_name(process->state) : "unknown");
		table_u64(table, process->nodes);
		table_u64(table, process->recorded);
	}
}

static int print(const struct show *show, const struct hosts *hosts)
{
	static const char *const phases[] = {
		[REMOTE_LOOKING] = "looking", [REMOTE_WATCHING] = "watching", [REMOTE_ENDING] = "ending", [REMOTE_DONE] = "done",
	};
	struct table *table;

	if (cli_table("record", show->format, &table))
		return KYMO_EXIT_FAILED;
	if (show->format != TABLE_TEXT)
		table_value_text(table, "phase", "Phase", phases[show->phase]);
	table_section(table, "hosts", NULL, host_columns, COUNT_OF(host_columns));
	for (unsigned i = 0; i < hosts->count; i++)
		if (hosts->host[i].listens)
			print_host(table, hosts, &hosts->host[i]);
	if (show->format != TABLE_TEXT) {
		table_section(table, "processes", NULL, process_columns, COUNT_OF(process_columns));
		for (unsigned i = 0; i < hosts->count; i++)
			if (hosts->host[i].listens)
				print_processes(table, &hosts->host[i]);
	}
	return cli_close("record", table, KYMO_EXIT_OK);
}

/* ---- while it runs ---- */

/* A table that is redrawn has the messages below it. */
static void redraw(const struct show *show, const struct hosts *hosts)
{
	static const char *const hints[] = {
		[REMOTE_LOOKING] = "looking for hosts ...", [REMOTE_WATCHING] = "Ctrl-C ends the recordings",
		[REMOTE_ENDING] = "ending ...", [REMOTE_DONE] = NULL,
	};

	fputs("\033[H\033[2J", stdout);
	(void)print(show, hosts);
	for (unsigned i = 0; i < show->said_count; i++)
		printf("%s\n", show->said[i]);
	if (hints[show->phase])
		printf("%s\n", hints[show->phase]);
	(void)fflush(stdout);
}

static void say(void *context, const char *text)
{
	struct show *show = context;
	char clean[1024];

	text_clean(clean, sizeof clean, text);
	if (!show->clear)
		fprintf(stderr, "kymo record: %s\n", clean);
	else if (show->said_count < COUNT_OF(show->said))
		(void)snprintf(show->said[show->said_count++], sizeof *show->said, "%.255s", clean);
}

/* Without a table, a line instead. */
static void print_step(struct show *show, enum remote_phase phase, const struct hosts *hosts)
{
	const struct hosts_tally all = hosts_tally(hosts, NULL);

	if (show->quiet || show->format != TABLE_TEXT || show->clear)
		return;
	if (phase == REMOTE_WATCHING && show->phase != phase && all.processes)
		fprintf(stderr, "starting %u processes on %u hosts\n", all.processes, all.hosts);
	else if (phase == REMOTE_WATCHING && show->phase != phase)
		fprintf(stderr, "starting what runs on %u hosts\n", all.hosts);
	if (phase == REMOTE_WATCHING && !show->all_told && all.processes &&
	    all.state[MACHINE_RECORD] == all.processes) {
		fprintf(stderr, "all %u processes on %u hosts record; Ctrl-C ends it\n", all.processes, all.hosts);
		show->all_told = true;
	}
}

static void changed(void *context, enum remote_phase phase, const struct hosts *hosts)
{
	struct show *show = context;

	print_step(show, phase, hosts);
	show->phase = phase;
	if (show->clear)
		redraw(show, hosts);
	else if (show->format != TABLE_TEXT || phase == REMOTE_DONE)
		(void)print(show, hosts);
	(void)fflush(stdout);
}

/* ---- before and after ---- */

bool record_hosts_any(const struct hosts_wishes *wishes)
{
	return wishes->expect || wishes->frequency || wishes->domain;
}

static int options_of(const struct hosts_wishes *wishes, struct remote_options *options,
		      struct kymo_err *err)
{
	const char *variable = getenv("ROS_DOMAIN_ID"), *distribution = getenv("ROS_DISTRO");
	const char *text = wishes->domain ? wishes->domain : variable && *variable ? variable : "0";

	if (cli_ros_domain(text, wishes->domain ? "--domain" : "ROS_DOMAIN_ID", &options->domain,
			   err))
		return -1;
	if (wishes->expect > HOSTS_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "--expect must be at most %d hosts", HOSTS_MAX);
	if (wishes->frequency > UINT32_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "--recording-frequency must be at most %u", UINT32_MAX);
	options->expect = (unsigned)wishes->expect;
	options->frequency = wishes->frequency ? (uint32_t)wishes->frequency : FREQUENCY;
	options->humble = distribution && *distribution && strcmp(distribution, "humble") <= 0;
	return 0;
}

static int outcome(const struct show *show, const struct hosts *hosts)
{
	const struct hosts_tally all = hosts_tally(hosts, NULL);

	if (show->clear)
		for (unsigned i = 0; i < show->said_count; i++)
			fprintf(stderr, "kymo record: %s\n", show->said[i]);
	if (all.recorded)
		return KYMO_EXIT_OK;
	fprintf(stderr, all.processes ? "kymo record: no process of any host recorded, because no session waits for a Start; run "
		"\"kymo start --wait\" on each host\n" : "kymo record: agents answer, but there is no traced process; start programs with "
		"\"kymo run -- CMD\" on their hosts\n");
	return KYMO_EXIT_EMPTY;
}

int record_hosts(const struct hosts_wishes *wishes, int64_t duration_ns, int format, bool quiet,
		 struct kymo_err *err)
{
	static struct hosts hosts;
	struct show show = { .format = format,
			     .quiet = quiet,
			     .clear = format == TABLE_TEXT && !quiet && isatty(STDOUT_FILENO) };
	struct remote_options options = {
		.duration_ns = duration_ns, .changed = changed, .say = say, .context = &show
	};
	int status = -1;

	(void)signal(SIGPIPE, SIG_IGN);
	hosts_init(&hosts);
	if (options_of(wishes, &options, err) == 0 && remote_run(&options, &hosts, err) == 0)
		status = outcome(&show, &hosts);
	hosts_free(&hosts);
	return status;
}
