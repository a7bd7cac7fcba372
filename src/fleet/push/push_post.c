/* SPDX-License-Identifier: Apache-2.0 */
/* A body to ClickHouse or to a collector, and what their answers mean. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/json_get.h"
#include "fleet/push/push_internal.h"

/* Of a window, and of many at once, for which the better one takes more memory. */
#define ZSTD_LEVEL 16
#define ZSTD_LEVEL_MANY 9
#define ZSTD_MANY (512u << 10)

/* ---- bodies ---- */

/* Return: @size bytes as gzip or zstd, to be freed; NULL: no memory. */
static void *compress_gzip(const void *data, size_t size, size_t *packed)
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

static void *compress_zstd(const void *data, size_t size, size_t *packed)
{
	const size_t room = ZSTD_compressBound(size);
	void *out = malloc(room);

	*packed = out ? ZSTD_compress(out, room, data, size,
				      size < ZSTD_MANY ? ZSTD_LEVEL : ZSTD_LEVEL_MANY)
		      : 0;
	if (out && ZSTD_isError(*packed)) {
		free(out);
		out = NULL;
	}
	return out;
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

/* ClickHouse 18.16 names the header, 20.11 the method; a server in between may say 415. */
static bool is_about_zstd(const struct post_answer *answer)
{
	return answer->status == 415 || strstr(answer->body, "Content-Encoding") ||
	       strstr(answer->body, "compression method");
}

/* A server of an earlier version, or whose tables are older. Return: whether the next attempt
 * differs. */
static bool learn(struct push_target *target, const struct post_answer *answer)
{
	if (answer->status < 400)
		return false;
	if (target->zstd && is_about_zstd(answer)) {
		target->zstd = false;
		return true;
	}
	if (target->packed && strstr(answer->body, "kymo_windows_in")) {
		target->packed = false;
		return true;
	}
	return false;
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

/* One attempt. */
static void send_body(struct push_target *target, struct post_request *request, const char *type,
		      const char *key, struct post_answer *answer)
{
	char header[128];

	snprintf(header, sizeof(header), "Content-Type: %s", type);
	request->header[request->headers++] = header;
	request->header[request->headers++] =
		target->zstd ? "Content-Encoding: zstd" : "Content-Encoding: gzip";
	request->header[request->headers++] = key;
	if (*target->secret)
		request->header[request->headers++] = target->secret;
	for (unsigned i = 0; i < target->headers; i++)
		request->header[request->headers++] = target->header[i];
	post_send(target->post, request, answer);
}

enum push_result push_post(struct push_target *target, const char *url, const char *type,
			   const char *key, const void *data, size_t length, char *why, size_t size)
{
	const bool zstd = target->zstd;
	struct post_request request = { .url = url };
	struct post_answer answer;
	size_t packed = 0;
	void *body = NULL;

	if (data)
		body = (zstd ? compress_zstd : compress_gzip)(data, length, &packed);
	if (!body) {
		snprintf(why, size, "out of memory");
		return PUSH_AGAIN;
	}
	request.body = body;
	request.size = packed;
	send_body(target, &request, type, key, &answer);
	free(body);
	if (learn(target, &answer) && zstd && !target->zstd)
		return push_post(target, url, type, key, data, length, why, size);
	return judge(target, &answer, packed, why, size);
}
