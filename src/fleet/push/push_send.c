/* SPDX-License-Identifier: Apache-2.0 */
/* What a window is for ClickHouse and for a collector. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fleet/otlp/otlp.h"
#include "fleet/push/push_internal.h"

/* Bytes of a request to ClickHouse, before it is compressed; the last window comes on top. */
#define ROWS_BYTES (2l << 20)

/* "Idempotency-Key: ROBOT/BOOT/BEGIN", of several windows "BEGIN-BEGIN": of the first and the last. */
static void key_of(char *key, size_t size, const struct window_source *of, int64_t first_ns,
		   int64_t last_ns)
{
	char robot[768], last[32] = "";

	text_clean(robot, 256, of->robot);
	if (last_ns != first_ns)
		snprintf(last, sizeof(last), "-%" PRId64, last_ns);
	snprintf(key, size, "Idempotency-Key: %.255s/%.64s/%" PRId64 "%s", robot, of->boot, first_ns,
		 last);
}

/* ---- ClickHouse ---- */

/* Of one robot since its start; the rest waits for the next request. */
struct rows {
	FILE *out;
	struct window_source of; /* of the first window; robot and boot are copies */
	char robot[768], boot[128];
};

static bool same_source(struct rows *rows, const struct window_source *of, bool first)
{
	if (first) {
		snprintf(rows->robot, sizeof(rows->robot), "%s", of->robot);
		snprintf(rows->boot, sizeof(rows->boot), "%s", of->boot);
		rows->of = (struct window_source){ rows->robot, rows->boot, "", "" };
	}
	return !strcmp(of->robot, rows->robot) && !strcmp(of->boot, rows->boot);
}

static int put_rows(FILE *out, const struct backlog_window *window, const struct backlog_item *item,
		    unsigned scale)
{
	struct kymo_err unused;

	return window_rows(window->summary, &window->of, item->begin_ns, item->length_ns, scale,
			   window_rowbinary_put, out, &unused);
}

static int put_packed(FILE *out, const struct backlog_window *window,
		      const struct backlog_item *item, unsigned scale)
{
	struct window_packed *packed = window_packed_new();
	struct kymo_err unused;
	int status = -1;

	if (packed && !window_rows(window->summary, &window->of, item->begin_ns, item->length_ns,
				   scale, window_packed_put, packed, &unused))
		status = window_packed_write(packed, out, &window->of, item->begin_ns,
					     item->length_ns);
	window_packed_free(packed);
	return status;
}

/* Return: 1: it is in; 0: it is damaged, and was removed; -1: it does not fit in. */
static int add_rows(struct push_target *target, struct rows *rows, struct backlog_item *item,
		    bool first)
{
	const unsigned scale = WINDOW_SCALE - (unsigned)target->config->clickhouse_buckets;
	struct backlog_window window;
	int status = -1;

	if (!first && ftell(rows->out) > ROWS_BYTES)
		return -1;
	if ((!item->phase && backlog_phase(target->spool, item, 1)) ||
	    backlog_load(target->spool, item, &window))
		return 0;
	if (same_source(rows, &window.of, first) &&
	    !(target->packed ? put_packed : put_rows)(rows->out, &window, item, scale))
		status = 1;
	backlog_unload(&window);
	return status;
}

/* @count: set to how many are in @body. */
static void collect_rows(struct push_target *target, struct rows *rows, struct backlog_item *item,
			 unsigned *count)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < *count; i++) {
		const int in = add_rows(target, rows, &item[i], !kept);

		if (in < 0)
			break;
		if (in)
			item[kept++] = item[i];
	}
	*count = kept;
}

static enum push_result send_once(struct push_target *target, struct backlog_item *item,
				  unsigned *count, char *why, size_t size)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	enum push_result result = PUSH_AGAIN;
	char *body = NULL, key[1024];
	size_t length;

	if (rows)
		rows->out = open_memstream(&body, &length);
	if (!rows || !rows->out) {
		free(rows);
		snprintf(why, size, "out of memory");
		return PUSH_AGAIN;
	}
	collect_rows(target, rows, item, count);
	if (fclose(rows->out)) {
		snprintf(why, size, "out of memory");
	} else if (*count) {
		key_of(key, sizeof(key), &rows->of, item[0].begin_ns, item[*count - 1].begin_ns);
		result = push_post(target, target->packed ? target->packed_url : target->url,
				   "application/octet-stream", key, body, length, why, size);
	}
	free(body);
	free(rows);
	return result;
}

static enum push_result send_rows(struct push_target *target, struct backlog_item *item,
				  unsigned *count, char *why, size_t size)
{
	const bool packed = target->packed;
	enum push_result result = send_once(target, item, count, why, size);

	if (!packed || target->packed || result != PUSH_AGAIN)
		return result;
	target->to->say(target->to->context,
			"clickhouse has no table kymo_windows_in, so windows take almost twice as "
			"many bytes; run packaging/fleet/clickhouse.sql there again");
	return send_once(target, item, count, why, size);
}

/* ---- a collector ---- */

static enum push_result send_signal(struct push_target *target, enum otlp_signal signal,
				    const struct backlog_item *item,
				    const struct backlog_window *window,
				    const struct summary *summary, int64_t begin_ns, char *why,
				    size_t size)
{
	const struct otlp_of of = { window->of, target->config, target->version,
				    target->cumulative };
	struct pb pb = { 0 };
	char url[sizeof(target->url) + 32], key[1024], *json = NULL;
	enum push_result result = PUSH_SENT;
	size_t length = 0;

	snprintf(url, sizeof(url), "%s/v1/%s", target->url, otlp_path(signal));
	if (otlp_put(&pb, signal, &of, summary, begin_ns, item->begin_ns + item->length_ns)) {
		length = pb.size;
		if (target->json)
			json = otlp_json(signal, pb.data, pb.size, &length);
		key_of(key, sizeof(key), &window->of, item->begin_ns, item->begin_ns);
		result = push_post(target, url,
				   target->json ? "application/json" : "application/x-protobuf", key,
				   pb.failed	? NULL
				   : target->json ? (void *)json
						  : pb.data,
				   length, why, size);
	}
	free(json);
	pb_free(&pb);
	return result;
}

/* Since kymo serve began: what was sent, and this window. */
static enum push_result send_total(struct push_target *target, const struct backlog_item *item,
				   const struct backlog_window *window, char *why, size_t size)
{
	struct summary *total = summary_new();
	enum push_result result = PUSH_AGAIN;
	const int64_t begin_ns = target->total ? target->total_ns : item->begin_ns;

	if (total && !(target->total && summary_merge(total, target->total)) &&
	    !summary_merge(total, window->summary))
		result = send_signal(target, OTLP_METRICS, item, window, total, begin_ns, why,
				     size);
	if (result != PUSH_SENT) {
		summary_free(total);
		return result;
	}
	for (unsigned i = 0; i < total->entities; i++)
		total->entity[i]->worsts = total->entity[i]->segments = 0;
	summary_free(target->total);
	target->total = total;
	target->total_ns = begin_ns;
	return PUSH_SENT;
}

/* Phase 1: nothing was sent; 2: the metrics; 3: the traces, too. */
static enum push_result send_signals(struct push_target *target, struct backlog_item *item,
				     const struct backlog_window *window, char *why, size_t size)
{
	enum push_result result = PUSH_SENT;

	for (unsigned signal = item->phase - 1;
	     signal < OTLP_SIGNALS && result == PUSH_SENT; signal++) {
		if (signal == OTLP_METRICS && target->cumulative)
			result = send_total(target, item, window, why, size);
		else
			result = send_signal(target, signal, item, window, window->summary,
					     item->begin_ns, why, size);
		if (result == PUSH_SENT && signal + 1 < OTLP_SIGNALS)
			(void)backlog_phase(target->spool, item, signal + 2);
	}
	return result;
}

enum push_result push_send(struct push_target *target, struct backlog_item *item, unsigned *count,
			   char *why, size_t size)
{
	struct backlog_window window;
	enum push_result result;

	if (!target->is_otlp)
		return send_rows(target, item, count, why, size);
	*count = 0;
	if ((!item->phase && backlog_phase(target->spool, item, 1)) ||
	    backlog_load(target->spool, item, &window))
		return PUSH_AGAIN;
	*count = 1;
	result = send_signals(target, item, &window, why, size);
	backlog_unload(&window);
	return result;
}
