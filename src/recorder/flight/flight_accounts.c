/* SPDX-License-Identifier: Apache-2.0 */
/* What kymo.json of a snapshot says: its events, by process and thread. */
#include <errno.h>

#include "accounts/accounts.h"
#include "recorder/flight/flight_write_internal.h"
#include "recorder/session/session.h"

void flight_writer_totals(const struct flight_writer *writer, struct flight_totals *totals)
{
	*totals = (struct flight_totals){
		.processes = writer->count,
		.clock_offset_ns = writer->clock_offset_ns,
		.bytes = writer->sink->ops->bytes(writer->sink),
	};
	for (unsigned i = 0; i < writer->count; i++) {
		const struct written *written = &writer->process[i];

		totals->events += written->records;
		totals->init_events += written->init_events;
		totals->dropped += written->dropped;
		for (unsigned j = 0; j < written->thread_count; j++)
			totals->threads +=
				written->thread[j].recorded || written->thread[j].dropped;
	}
}

static struct json_object *threads(const struct written *written)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < written->thread_count; i++) {
		const struct sink_without *thread = &written->thread[i];
		const struct thread_account *known = &written->at.process->thread[i];
		const struct accounts_thread account = {
			.tid = known->tid,
			.name = known->name,
			.recorded = thread->recorded,
			.dropped = thread->dropped,
			.filtered = ACCOUNTS_UNKNOWN,
			.bytes = thread->bytes,
		};

		if (thread->recorded || thread->dropped)
			json_object_array_add(array, accounts_object(ACCOUNTS_THREAD, &account));
	}
	return array;
}

/* Events of the recording that are outside of the snapshot. */
static uint64_t outside(const struct written *written)
{
	const uint64_t seen = written->from->seen_records;

	return seen > written->records ? seen - written->records : 0;
}

static struct json_object *account_process(const struct written *written)
{
	const struct drained_process *process = written->at.process;
	const struct accounts_process account = {
		.pid = process->region.pid,
		.host_pid = (uint64_t)process->host_pid,
		.uid = ACCOUNTS_UNKNOWN,
		.procname = process->region.procname,
		.exe = process->region.exe,
		.ros_domain = ACCOUNTS_UNKNOWN,
		.start_ns = (int64_t)process->region.birth_ns,
		.state = session_end_name(process),
		.tracetools = process->tracetools_version,
		.recorded = written->records,
		.dropped = written->dropped + written->init_dropped,
		.dropped_no_ring = written->init_dropped,
		.filtered = ACCOUNTS_UNKNOWN,
		.before = ACCOUNTS_UNKNOWN,
		.init_events = written->init_events,
		.texts_cut = ACCOUNTS_UNKNOWN,
		.corrupt_bytes = process->lost_bytes,
		.outside = outside(written),
		.bytes = written->bytes,
		.wanted = true,
	};
	struct json_object *object = accounts_object(ACCOUNTS_PROCESS, &account);

	json_object_object_add(object, "threads", threads(written));
	return object;
}

static void account_all(const struct flight_writer *writer, struct json_object *root)
{
	struct json_object *array = json_object_new_array();
	struct accounts_totals totals;
	struct flight_totals all;

	flight_writer_totals(writer, &all);
	totals = (struct accounts_totals){
		.processes = all.processes,
		.threads = all.threads,
		.recorded = all.events,
		.dropped = all.dropped,
		.filtered = ACCOUNTS_UNKNOWN,
		.before = ACCOUNTS_UNKNOWN,
		.init_events = all.init_events,
		.bytes = all.bytes,
	};
	for (unsigned i = 0; i < writer->count; i++) {
		json_object_array_add(array, account_process(&writer->process[i]));
		totals.dropped += writer->process[i].init_dropped;
		totals.outside += outside(&writer->process[i]);
	}
	json_object_object_add(root, "processes", array);
	json_object_object_add(root, "totals", accounts_object(ACCOUNTS_TOTALS, &totals));
}

int flight_write_accounts(const struct flight_writer *writer, const char *accounts,
			  struct json_object *snapshot)
{
	struct json_object *root = accounts ? json_tokener_parse(accounts) : NULL;
	const char *text;
	int rc = -ENOMEM;

	if (!json_object_is_type(root, json_type_object)) {
		json_object_put(root);
		root = json_object_new_object();
	}
	json_object_object_add(root, "start_ns", json_object_new_uint64(writer->begin_ns));
	json_object_object_add(
		root, "start_realtime_ns",
		json_object_new_int64(writer->clock_offset_ns + (int64_t)writer->begin_ns));
	json_object_object_add(root, "duration_ns", json_object_new_uint64(writer->end_ns - writer->begin_ns));
	json_object_object_add(root, "ended", json_object_new_boolean(true));
	json_object_object_add(root, "snapshot", json_object_get(snapshot));
	account_all(writer, root);
	text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
							    JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		rc = writer->sink->ops->accounts(writer->sink, text, true);
	json_object_put(root);
	return rc;
}
