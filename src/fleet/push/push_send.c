/* SPDX-License-Identifier: Apache-2.0 */
/* What a window is for ClickHouse and for a collector, and what their answers mean. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/json_get.h"
#include "base/text.h"
#include "fleet/otlp/otlp.h"
#include "fleet/push/push_internal.h"

#define ROWS_BYTES (2l << 20) /* of a request to ClickHouse, before it is compressed; the last window comes on top */

/* ---- bodies ---- */

/* Return: gzip of @size bytes, to be freed; NULL: no memory. */
static void *compress_body(const void *data, size_t size, size_t *packed)
{
	z_stream stream = { 0 };
	void *out = NULL;
	size_t room;

	if (deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	room = deflateBound(&stream, size);
	out = malloc(room);
	stream.next_in = (Bytef *)data;
	stream.avail_in = (uInt)size;
	stream.next_out = out;
	stream.avail_out = (uInt)room;
	if (!out || size > UINT32_MAX / 2 || deflate(&stream, Z_FINISH) != Z_STREAM_END) {
		free(out);
		out = NULL;
	}
	*packed = stream.total_out;
	(void)deflateEnd(&stream);
	return out;
}

static int put_row(void *context, const struct window_row *row, struct kymo_err *err)
{
	return window_rowbinary_put(context, row, err);
}

/* ---- answers ---- */

/* A varint of an answer. Return: false: there is none. */
static bool get_varint(const char **at, const char *end, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		const uint8_t byte = (uint8_t) * (*at)++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* Export...Response { partial_success = 1 { rejected = 1 } }. Return: false: it is not one. */
static bool rejected_of(const struct post_answer *answer, uint64_t *rejected)
{
	const char *at = answer->body, *end = at + answer->size;
	struct json_object *object, *partial;
	uint64_t size;

	*rejected = 0;
	if (!answer->size)
		return true;
	if (*at == 0x0a) {
		at++;
		if (get_varint(&at, end, &size) && at < end && *at == 0x08) {
			at++;
			(void)get_varint(&at, end, rejected);
		}
		return true;
	}
	object = *at == '{' ? json_tokener_parse(answer->body) : NULL;
	partial = json_get(object, "partialSuccess");
	if (json_object_is_type(partial, json_type_object)) {
		json_object_object_foreach(partial, key, value) {
			if (!strncmp(key, "rejected", 8))
				*rejected = json_object_get_uint64(value);
		}
	}
	json_object_put(object);
	return object != NULL;
}

/* What the server wrote, unless the secret is in it. */
static void quote(const struct push_target *target, const struct post_answer *answer, char *why,
		  size_t size)
{
	const char *secret = strchr(target->secret, ' ');
	bool leaks = secret && secret[1] && strstr(answer->body, strrchr(secret, ' ') + 1);

	for (unsigned i = 0; i < target->headers; i++)
		leaks |= strstr(answer->body, strchr(target->header[i], ' ') + 1) != NULL;
	snprintf(why, size, "it answered %ld%s%.200s", answer->status,
		 answer->size && !leaks ? ": " : "", leaks ? "" : answer->body);
}

static bool is_refused(const struct push_target *target, long status)
{
	return status == 413 || (target->is_otlp && (status == 400 || status == 415));
}

static enum push_result judge(struct push_target *target, const struct post_answer *answer,
			      size_t bytes, char *why, size_t size)
{
	uint64_t rejected = 0;
	bool taken;

	if (!answer->status) {
		snprintf(why, size, "%s", answer->why);
		return PUSH_AGAIN;
	}
	if (answer->status < 200 || answer->status > 299) {
		quote(target, answer, why, size);
		return is_refused(target, answer->status) ? PUSH_REFUSED : PUSH_AGAIN;
	}
	/* A hotel's login page also answers 200. */
	taken = target->is_otlp ? rejected_of(answer, &rejected) : answer->size == 0;
	if (!taken) {
		snprintf(why, size, "something else answered at this address");
		return PUSH_AGAIN;
	}
	pthread_mutex_lock(&target->lock);
	target->counts.sent_bytes += bytes;
	target->counts.rejected += rejected;
	pthread_mutex_unlock(&target->lock);
	return PUSH_SENT;
}

/* ---- requests ---- */

enum push_result push_post(struct push_target *target, const char *url, const char *type,
			   const char *key, const void *data, size_t length, char *why, size_t size)
{
	char header[128];
	struct post_request request = { .url = url };
	struct post_answer answer;
	enum push_result result;
	size_t packed = 0;
	void *body = data ? compress_body(data, length, &packed) : NULL;

	if (!body) {
		snprintf(why, size, "out of memory");
		return PUSH_AGAIN;
	}
	snprintf(header, sizeof(header), "Content-Type: %s", type);
	request.header[request.headers++] = header;
	request.header[request.headers++] = "Content-Encoding: gzip";
	request.header[request.headers++] = key;
	if (*target->secret)
		request.header[request.headers++] = target->secret;
	for (unsigned i = 0; i < target->headers; i++)
		request.header[request.headers++] = target->header[i];
	request.body = body;
	request.size = packed;
	post_send(target->post, &request, &answer);
	result = judge(target, &answer, packed, why, size);
	free(body);
	return result;
}

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

/* Return: 1: it is in; 0: it is damaged, and was removed; -1: it does not fit in. */
static int add_rows(struct push_target *target, struct rows *rows, struct backlog_item *item,
		    bool first)
{
	struct backlog_window window;
	struct kymo_err unused;
	int status = -1;

	if (!first && ftell(rows->out) > ROWS_BYTES)
		return -1;
	if ((!item->phase && backlog_phase(target->spool, item, 1)) ||
	    backlog_load(target->spool, item, &window))
		return 0;
	if (same_source(rows, &window.of, first) &&
	    !window_rows(window.summary, &window.of, item->begin_ns, item->length_ns, put_row,
			 rows->out, &unused))
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

static enum push_result send_rows(struct push_target *target, struct backlog_item *item,
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
		result = push_post(target, target->url, "application/octet-stream", key, body,
				   length, why, size);
	}
	free(body);
	free(rows);
	return result;
}

/* ---- a collector ---- */

static enum push_result send_signal(struct push_target *target, enum otlp_signal signal,
				    const struct backlog_item *item,
				    const struct backlog_window *window, const struct summary *summary,
				    int64_t begin_ns, char *why, size_t size)
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
		result = send_signal(target, OTLP_METRICS, item, window, total, begin_ns, why, size);
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
