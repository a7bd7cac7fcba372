/* SPDX-License-Identifier: Apache-2.0 */
/* kymo.json beside the trace: host, clocks, processes, and where every event went. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/json_text.h"
#include "base/now.h"
#include "recorder/filter/filter.h"
#include "recorder/session/session_internal.h"

#define ACCOUNTS_FORMAT 1

/* ---- json ---- */

static void put_u64(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static void put_text(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, json_object_new_string(value));
}

static struct json_object *host(void)
{
	struct json_object *object = json_object_new_object();
	char boot_id[64] = "";
	struct utsname name;
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (file && fgets(boot_id, sizeof boot_id, file))
		boot_id[strcspn(boot_id, "\n")] = 0;
	if (file)
		(void)fclose(file);
	if (uname(&name) == 0) {
		put_text(object, "hostname", name.nodename);
		put_text(object, "kernel", name.release);
		put_text(object, "machine", name.machine);
	}
	put_text(object, "boot_id", boot_id);
	return object;
}

static struct json_object *clocks(const struct session *session)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < session->clock_count; i++) {
		const struct clock_snapshot *clock = &session->clock[i];
		struct json_object *object = json_object_new_object();

		put_u64(object, "monotonic_ns", clock->monotonic);
		put_u64(object, "realtime_ns", clock->realtime);
		put_u64(object, "boottime_ns", clock->boottime);
		put_u64(object, "tai_ns", clock->tai);
		put_u64(object, "counter", clock->counter);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *clock_changes(const struct clock_changes *changes)
{
	struct json_object *object = json_object_new_object();

	put_u64(object, "slept", changes->slept);
	put_u64(object, "slept_ns", changes->slept_ns);
	put_u64(object, "set", changes->set);
	json_object_object_add(object, "set_ns", json_object_new_int64(changes->set_ns));
	return object;
}

static struct json_object *totals(const struct session_stats *stats)
{
	struct json_object *object = json_object_new_object();

	put_u64(object, "processes", stats->processes);
	put_u64(object, "threads", stats->threads);
	put_u64(object, "recorded", stats->recorded);
	put_u64(object, "dropped", stats->dropped);
	put_u64(object, "filtered", stats->filtered);
	put_u64(object, "unwritten", stats->unwritten);
	put_u64(object, "before", stats->before);
	put_u64(object, "init_events", stats->init_events);
	put_u64(object, "init_dropped", stats->init_dropped);
	put_u64(object, "corrupt_bytes", stats->lost_bytes);
	put_u64(object, "overwritten", stats->overwritten);
	put_u64(object, "outside", stats->outside);
	put_u64(object, "bytes", stats->bytes);
	return object;
}

/* When nothing was recorded because somebody said so. */
static struct json_object *pauses(const struct session *session)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < session->pauses_kept; i++) {
		struct json_object *object = json_object_new_object();

		put_u64(object, "begin_ns", session->pause[i].begin);
		if (session->pause[i].end)
			put_u64(object, "end_ns", session->pause[i].end);
		json_object_array_add(array, object);
	}
	return array;
}

/* As a flight recorder's, of a session that only looks. */
static struct json_object *from_memory(const struct session *session)
{
	struct json_object *object = json_object_new_object();

	put_text(object, "cause", "memory");
	put_u64(object, "at_ns", session->ended_ns ? session->ended_ns : session->drain.now_ns);
	if (session->options.last_ns)
		put_u64(object, "window_ns", (uint64_t)session->options.last_ns);
	return object;
}

/* The rules as they are now, and how often they were changed since the session began. */
static void put_filter(struct json_object *root, const struct filter *filter)
{
	const struct filter_rules *rules = filter_rules_of(filter);
	struct json_object *array = json_object_new_array(), *object = json_object_new_object();
	char text[FILTER_TEXT_MAX];

	for (unsigned i = 0; i < rules->count; i++)
		json_object_array_add(array, json_object_new_string(filter_rule_text(&rules->rule[i], text)));
	json_object_object_add(object, "rules", array);
	for (unsigned i = 0; i < CARET_LISTS; i++) {
		const char *value = filter_caret_of(filter, (enum filter_caret_list)i);

		if (value)
			json_object_object_add(object, filter_caret_variable((enum filter_caret_list)i),
					       json_object_new_string(value));
	}
	put_u64(object, "changes", filter_changes(filter));
	json_object_object_add(root, "filter", object);
}

/* By others, while it was written: how often, and what was in it. */
static struct json_object *removed(const struct sink *sink)
{
	struct json_object *object = json_object_new_object();

	put_u64(object, "times", sink->removed.times);
	put_u64(object, "events", sink->removed.events);
	put_u64(object, "until_ns", sink->removed.until_ns);
	return object;
}

struct json_object *accounts_kernel(const struct kernel_stats *stats, bool whole)
{
	struct json_object *object = json_object_new_object();

	put_text(object, "source", stats->source);
	put_text(object, "clock", "monotonic");
	put_text(object, "threads", stats->all ? "all" : "traced");
	json_object_object_add(object, "syscalls", json_object_new_boolean(stats->syscalls));
	json_object_object_add(object, "counter", stats->counter ? json_object_new_string(stats->counter) : NULL);
	put_u64(object, "cpus", stats->cpus);
	put_u64(object, "recorded", stats->events);
	put_u64(object, "lost", stats->lost);
	if (whole)
		put_u64(object, "left_out", stats->left_out);
	put_u64(object, "bytes", stats->bytes);
	return object;
}

static struct json_object *accounts(const struct session *session, const struct sink *sink)
{
	struct json_object *root = json_object_new_object();
	struct session_stats stats;

	session_sink_stats(session, sink, &stats);
	put_text(root, "kymo", session->options.version);
	put_u64(root, "format", ACCOUNTS_FORMAT);
	put_u64(root, "generation", session->home[0].generation);
	put_text(root, "state", states_name(sink->end_ns ? KYMO_STATE_WAIT : session->state));
	if (ros_domains_limited(&session->ros))
		json_object_object_add(root, "ros_domains", ros_domains_json(&session->ros));
	put_u64(root, "start_ns", sink->start_ns);
	json_object_object_add(root, "start_realtime_ns", json_object_new_int64(sink->start_realtime_ns));
	put_u64(root, "duration_ns", stats.duration_ns);
	json_object_object_add(root, "ended", json_object_new_boolean(sink->end_ns != 0));
	json_object_object_add(root, "host", host());
	json_object_object_add(root, "totals", totals(&stats));
	if (sink->earlier.processes)
		json_object_object_add(root, "earlier", totals(&sink->earlier));
	put_filter(root, session->options.filter);
	if (session->kernel.source && session->kernel_sink == sink)
		json_object_object_add(root, "kernel", accounts_kernel(&session->kernel, true));
	if (session->options.frozen)
		json_object_object_add(root, "snapshot", from_memory(session));
	if (sink->removed.times)
		json_object_object_add(root, "removed", removed(sink));
	if (sink->ops->tell)
		sink->ops->tell(sink, root);
	if (session->pause_count) {
		put_u64(root, "paused_ns", session->paused_ns +
			(session->pause_began ? (uint64_t)now_ns() - session->pause_began : 0));
		put_u64(root, "pause_count", session->pause_count);
		json_object_object_add(root, "pauses", pauses(session));
	}
	json_object_object_add(root, "clocks", clocks(session));
	json_object_object_add(root, "clock_changes", clock_changes(&session->clock_changes));
	return root;
}

/* The processes, which may be thousands with their threads, become the last member of @root's text. */
static bool add_processes(struct json_text *json, const struct session *session, const struct sink *sink,
			  struct json_object *root)
{
	size_t length = 0;
	const char *text = json_object_to_json_string_length(root, JSON_C_TO_STRING_PRETTY |
							     JSON_C_TO_STRING_NOSLASHESCAPE, &length);

	if (!text || length < strlen("\n}"))
		return false;
	json_text_raw(json, text, length - strlen("\n}"));
	json->depth = 1;
	json->inside = true;
	json_text_open(json, "processes", '[');
	for (unsigned i = 0; i < session->process_count; i++) {
		const struct sink_process *at = sink_at(&session->drain, sink, session->process[i]);

		if (at)
			accounts_process(json, at);
	}
	json_text_close(json, ']');
	json_text_close(json, '}');
	json_text_raw(json, "", 1);
	return !json->failed;
}

int session_write_accounts(const struct session *session, struct sink *sink)
{
	struct json_text json = { 0 };
	struct json_object *root;
	int rc;

	if (!sink->ops->accounts)
		return 0;
	root = accounts(session, sink);
	rc = add_processes(&json, session, sink, root) ? sink->ops->accounts(sink, json.text) : -ENOMEM;
	json_object_put(root);
	free(json.text);
	return rc;
}
