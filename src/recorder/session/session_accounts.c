/* SPDX-License-Identifier: Apache-2.0 */
/* What a session knows, as kymo.json has it: host, clocks, processes, and where every event
 * went. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "accounts/accounts.h"
#include "base/now.h"
#include "recorder/drain/sink_list.h"
#include "recorder/filter/filter.h"
#include "recorder/session/session_internal.h"

static struct json_object *host(const struct session_machine *machine)
{
	struct accounts_host host = {
		.cpu = *machine->cpu ? machine->cpu : NULL,
		.cpus = machine->cpus ? machine->cpus : ACCOUNTS_UNKNOWN,
		.governor = *machine->governor ? machine->governor : NULL,
		.os = *machine->os ? machine->os : NULL,
	};
	char boot_id[64] = "";
	struct utsname name;
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (file && fgets(boot_id, sizeof boot_id, file))
		boot_id[strcspn(boot_id, "\n")] = 0;
	if (file)
		(void)fclose(file);
	host.boot_id = boot_id;
	if (uname(&name) == 0) {
		host.hostname = name.nodename;
		host.kernel = name.release;
		host.machine = name.machine;
	}
	return accounts_object(ACCOUNTS_HOST, &host);
}

static struct json_object *clocks(const struct session *session)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < session->clock_count; i++) {
		const struct clock_snapshot *clock = &session->clock[i];
		const struct accounts_clock account = {
			.monotonic_ns = (int64_t)clock->monotonic,
			.realtime_ns = (int64_t)clock->realtime,
			.boottime_ns = (int64_t)clock->boottime,
			.tai_ns = (int64_t)clock->tai,
			.counter = (int64_t)clock->counter,
		};

		json_object_array_add(array, accounts_object(ACCOUNTS_CLOCK, &account));
	}
	return array;
}

static struct json_object *clock_changes(const struct clock_changes *changes)
{
	const struct accounts_clock_changes account = {
		.slept = changes->slept,
		.slept_ns = (int64_t)changes->slept_ns,
		.set = changes->set,
		.set_ns = changes->set_ns,
	};

	return accounts_object(ACCOUNTS_CLOCK_CHANGES, &account);
}

static struct json_object *totals(const struct session_stats *stats)
{
	const struct accounts_totals account = {
		.processes = stats->processes,
		.threads = stats->threads,
		.recorded = stats->recorded,
		.dropped = stats->dropped,
		.filtered = stats->filtered,
		.unwritten = stats->unwritten,
		.before = stats->before,
		.init_events = stats->init_events,
		.init_dropped = stats->init_dropped,
		.corrupt_bytes = stats->lost_bytes,
		.overwritten = stats->overwritten,
		.outside = stats->outside,
		.bytes = stats->bytes,
	};

	return accounts_object(ACCOUNTS_TOTALS, &account);
}

/* When nothing was recorded because a user asked for a pause. */
static struct json_object *pauses(const struct session *session)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < session->pauses_kept; i++) {
		const struct session_pause *pause = &session->pause[i];
		const struct accounts_pause account = { .begin_ns = pause->begin,
							.end_ns = pause->end ? pause->end
									     : ACCOUNTS_UNKNOWN };

		json_object_array_add(array, accounts_object(ACCOUNTS_PAUSE, &account));
	}
	return array;
}

/* What a flight recorder says of its snapshot, for a session that only looks at the programs'
 * memory. */
static struct json_object *from_memory(const struct session *session)
{
	const struct accounts_snapshot account = {
		.number = ACCOUNTS_UNKNOWN,
		.cause = "memory",
		.at_ns = (int64_t)(session->ended_ns ? session->ended_ns : session->drain.now_ns),
		.value = ACCOUNTS_UNKNOWN,
		.pid = ACCOUNTS_UNKNOWN,
		.tid = ACCOUNTS_UNKNOWN,
		.window_ns = session->options.last_ns ? (uint64_t)session->options.last_ns
						      : ACCOUNTS_UNKNOWN,
		.kept_ns = ACCOUNTS_UNKNOWN,
		.suppressed = ACCOUNTS_UNKNOWN,
	};

	return accounts_object(ACCOUNTS_SNAPSHOT, &account);
}

/* The rules as they are now, CARET's variables for all programs, and how often rules changed since
 * the session began. */
static struct json_object *rules(const struct filter *filter)
{
	const struct filter_rules *rules = filter_rules_of(filter);
	struct json_object *array = json_object_new_array(), *object = json_object_new_object();
	char text[FILTER_TEXT_MAX];

	for (unsigned i = 0; i < rules->count; i++)
		json_object_array_add(
			array, json_object_new_string(filter_rule_text(&rules->rule[i], text)));
	json_object_object_add(object, "rules", array);
	for (unsigned i = 0; i < CARET_LISTS; i++) {
		const char *value = filter_caret_of(filter, (enum filter_caret_list)i);

		if (value)
			json_object_object_add(object,
					       filter_caret_variable((enum filter_caret_list)i),
					       json_object_new_string(value));
	}
	json_object_object_add(object, "changes", json_object_new_uint64(filter_changes(filter)));
	return object;
}

static struct json_object *removed(const struct sink *sink)
{
	const struct accounts_removed account = {
		.times = sink->removed.times,
		.events = sink->removed.events,
		.until_ns = sink->removed.until_ns,
	};

	return accounts_object(ACCOUNTS_REMOVED, &account);
}

struct json_object *session_account_kernel(const struct kernel_stats *stats, bool whole)
{
	const struct accounts_kernel account = {
		.source = stats->source,
		.clock = "monotonic",
		.threads = stats->all ? "all" : "traced",
		.syscalls = stats->syscalls,
		.counter = stats->counter,
		.cpus = stats->cpus,
		.recorded = stats->events,
		.lost = stats->lost,
		.unseen_switches = whole ? stats->unseen : ACCOUNTS_UNKNOWN,
		.unseen_calls = whole ? stats->unseen_calls : ACCOUNTS_UNKNOWN,
		.left_out = whole ? stats->left_out : ACCOUNTS_UNKNOWN,
		.bytes = stats->bytes,
	};

	return accounts_object(ACCOUNTS_KERNEL, &account);
}

static struct json_object *account_stacks(const struct stacks_stats *stats)
{
	const struct accounts_stacks account = {
		.hz = stats->hz,
		.user_only = stats->user_only,
		.samples = stats->samples,
		.waits = stats->waits,
		.lost = stats->lost,
	};

	return accounts_object(ACCOUNTS_STACKS, &account);
}

static struct json_object *root_of(const struct session *session, const struct sink *sink,
				   const struct session_stats *stats)
{
	const uint64_t lasting_ns =
		session->pause_began ? (uint64_t)now_ns() - session->pause_began : 0;
	const struct accounts_root account = {
		.kymo = session->options.version,
		.format = ACCOUNTS_FORMAT,
		.generation = session->home[0].generation,
		.state = states_name(sink->end_ns ? KYMO_STATE_WAIT : session->state),
		.start_ns = (int64_t)sink->start_ns,
		.start_realtime_ns = sink->start_realtime_ns,
		.duration_ns = (int64_t)stats->duration_ns,
		.ended = sink->end_ns != 0,
		.chunk = ACCOUNTS_UNKNOWN,
		.paused_ns =
			session->pause_count ? session->paused_ns + lasting_ns : ACCOUNTS_UNKNOWN,
		.pause_count = session->pause_count ? session->pause_count : ACCOUNTS_UNKNOWN,
		.left_alone = session->left_alone,
	};

	return accounts_object(ACCOUNTS_ROOT, &account);
}

static struct json_object *accounts(const struct session *session, const struct sink *sink)
{
	struct session_stats stats;
	struct json_object *root;

	session_sink_stats(session, sink, &stats);
	root = root_of(session, sink, &stats);
	if (ros_domains_limited(&session->ros))
		json_object_object_add(root, "ros_domains", ros_domains_json(&session->ros));
	json_object_object_add(root, "host", host(&session->machine));
	json_object_object_add(root, "totals", totals(&stats));
	if (sink->earlier.processes)
		json_object_object_add(root, "earlier", totals(&sink->earlier));
	json_object_object_add(root, "filter", rules(session->options.filter));
	if (session->kernel.source && session->kernel_sink == sink)
		json_object_object_add(root, "kernel", session_account_kernel(&session->kernel, true));
	if (session->stacks.hz && session->stacks_sink == sink)
		json_object_object_add(root, "stacks", account_stacks(&session->stacks));
	if (session->options.frozen)
		json_object_object_add(root, "snapshot", from_memory(session));
	if (sink->removed.times)
		json_object_object_add(root, "removed", removed(sink));
	if (sink->ops->tell)
		sink->ops->tell(sink, root);
	if (session->pause_count)
		json_object_object_add(root, "pauses", pauses(session));
	json_object_object_add(root, "clocks", clocks(session));
	json_object_object_add(root, "clock_changes", clock_changes(&session->clock_changes));
	return root;
}

/* The processes, which may be thousands with their threads, become the last member of @root's
 * text. */
static bool add_processes(struct json_text *json, const struct session *session,
			  const struct sink *sink, struct json_object *root)
{
	size_t length = 0;
	const char *text = json_object_to_json_string_length(
		root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE, &length);

	if (!text || length < strlen("\n}"))
		return false;
	json_text_raw(json, text, length - strlen("\n}"));
	json->depth = 1;
	json->inside = true;
	json_text_open(json, "processes", '[');
	for (unsigned i = 0; i < session->process_count; i++) {
		const struct sink_process *at = sink_at(&session->drain, sink, session->process[i]);

		if (at)
			session_account_process(json, at);
	}
	json_text_close(json, ']');
	json_text_close(json, '}');
	json_text_raw(json, "", 1);
	return !json->failed;
}

int session_write_accounts(const struct session *session, struct sink *sink, bool last)
{
	struct json_text json = { 0 };
	struct json_object *root;
	int rc;

	if (!sink->ops->accounts)
		return 0;
	root = accounts(session, sink);
	rc = add_processes(&json, session, sink, root) ? sink->ops->accounts(sink, json.text, last)
						       : -ENOMEM;
	json_object_put(root);
	free(json.text);
	return rc;
}
