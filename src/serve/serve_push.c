/* SPDX-License-Identifier: Apache-2.0 */
/* See serve_push.h. */
#include "serve/serve_push.h"

#include <inttypes.h>
#include <string.h>

struct targets {
	const char *name[PUSH_TARGETS];
	struct push_counts counts[PUSH_TARGETS];
};

/* Of a counter, OpenMetrics calls the family by its name without _total. */
static void put_head(FILE *out, bool open, const char *name, const char *type, const char *help)
{
	const size_t length = strlen(name) - (open && !strcmp(type, "counter") ? 6 : 0);

	fprintf(out, "# HELP %.*s %s\n# TYPE %.*s %s\n", (int)length, name, help, (int)length, name,
		type);
}

static void put_windows(const struct targets *targets, bool open, FILE *out)
{
	static const char name[] = "kymo_push_windows_total";

	put_head(out, open, name, "counter",
		 "Windows by what became of them; merged ones are sent later, as one.");
	for (unsigned i = 0; i < PUSH_TARGETS; i++) {
		const struct push_counts *counts = &targets->counts[i];
		const struct {
			const char *result;
			uint64_t value;
		} results[] = { { "sent", counts->spool.sent },
				{ "merged", counts->spool.merged },
				{ "dropped", counts->spool.dropped },
				{ "refused", counts->spool.refused } };

		for (unsigned j = 0; targets->name[i] && j < 4; j++)
			fprintf(out, "%s{target=\"%s\",result=\"%s\"} %" PRIu64 "\n", name,
				targets->name[i], results[j].result, results[j].value);
	}
}

static void put_each(const struct targets *targets, bool open, FILE *out, const char *name,
		     const char *type, const char *help, size_t offset)
{
	put_head(out, open, name, type, help);
	for (unsigned i = 0; i < PUSH_TARGETS; i++) {
		uint64_t value;

		memcpy(&value, (const char *)&targets->counts[i] + offset, sizeof(value));
		if (targets->name[i])
			fprintf(out, "%s{target=\"%s\"} %" PRIu64 "\n", name, targets->name[i],
				value);
	}
}

void serve_push_put(struct push *push, bool open, FILE *out)
{
	struct targets targets = { 0 };

	if (!push)
		return;
	for (unsigned i = 0; i < PUSH_TARGETS; i++) {
		targets.name[i] = push_counts(push, i, &targets.counts[i]);
		targets.counts[i].last_ns /= 1000000000;
	}
	put_windows(&targets, open, out);
#define EACH(name, type, help, member) \
	put_each(&targets, open, out, name, type, help, offsetof(struct push_counts, member))
	EACH("kymo_push_waiting_windows", "gauge", "Windows in the spool.", spool.waiting);
	EACH("kymo_push_waiting_bytes", "gauge", "Bytes of the spool.", spool.waiting_bytes);
	EACH("kymo_push_sent_bytes_total", "counter", "Bytes of bodies that were accepted.",
	     sent_bytes);
	EACH("kymo_push_failures_total", "counter", "Requests that were not accepted.", failures);
	EACH("kymo_push_rejected_total", "counter",
	     "Points, spans and records that the collector did not take.", rejected);
	EACH("kymo_push_last_success_timestamp_seconds", "gauge", "0: none so far.", last_ns);
#undef EACH
}

/* ---- incidents ---- */

/* Metric kymo_WHAT_NAME. */
static void put_value(FILE *out, bool open, const char *what, const char *name, const char *type,
		      const char *help, uint64_t value)
{
	char whole[128];

	(void)snprintf(whole, sizeof(whole), "kymo_%s_%s", what, name);
	put_head(out, open, whole, type, help);
	fprintf(out, "%s %" PRIu64 "\n", whole, value);
}

void serve_upload_put(struct upload *upload, const char *what, bool open, FILE *out)
{
	struct upload_counts counts;
	char name[64];

	if (!upload_counts(upload, &counts))
		return;
	(void)snprintf(name, sizeof(name), "kymo_%s_incidents_total", what);
	put_head(out, open, name, "counter",
		 "Incidents by what became of them; removed: before they were sent.");
	fprintf(out,
		"%s{result=\"sent\"} %" PRIu64 "\n%s{result=\"refused\"} %" PRIu64
		"\n%s{result=\"removed\"} %" PRIu64 "\n",
		name, counts.sent, name, counts.refused, name, counts.removed);
	put_value(out, open, what, "waiting_incidents", "gauge",
		  "Incidents that are complete, and not sent.", counts.waiting);
	put_value(out, open, what, "sent_bytes_total", "counter", "Bytes that were accepted.",
		  counts.sent_bytes);
	put_value(out, open, what, "failures_total", "counter",
		  "Attempts to send an incident that failed.", counts.failures);
	put_value(out, open, what, "last_success_timestamp_seconds", "gauge", "0: none so far.",
		  (uint64_t)(counts.last_ns / 1000000000));
}
