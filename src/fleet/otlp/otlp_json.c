/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protobuf bytes of a request as OTLP's JSON, by one table of messages and fields: names in
 * lowerCamelCase, ids as hexadecimal digits, numbers of 64 bits as texts, enums as numbers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_text.h"
#include "base/text.h"
#include "fleet/otlp/otlp_internal.h"

enum message {
	REQUEST_METRICS, /* as enum otlp_signal */
	REQUEST_TRACES,
	REQUEST_LOGS,
	GROUP_METRICS,
	GROUP_TRACES,
	GROUP_LOGS,
	RESOURCE,
	SCOPED_METRICS,
	SCOPED_TRACES,
	SCOPED_LOGS,
	SCOPE,
	METRIC,
	SUM,
	NUMBER,
	EXPONENTIAL,
	POINT,
	BUCKETS,
	SPAN,
	LINK,
	LOG,
	PAIR,
	VALUE,
};

enum kind { MESSAGE, TEXT, ID, FIXED, REAL, SIGNED, NUMERAL, FLAG, INTEGER, PACKED };

static const struct field {
	enum message of;
	uint32_t number;
	const char *name;
	enum kind kind;
	bool repeated;
	enum message is; /* of a MESSAGE */
} fields[] = {
	{ REQUEST_METRICS, 1, "resourceMetrics", MESSAGE, true, GROUP_METRICS },
	{ REQUEST_TRACES, 1, "resourceSpans", MESSAGE, true, GROUP_TRACES },
	{ REQUEST_LOGS, 1, "resourceLogs", MESSAGE, true, GROUP_LOGS },
	{ GROUP_METRICS, 1, "resource", MESSAGE, false, RESOURCE },
	{ GROUP_METRICS, 2, "scopeMetrics", MESSAGE, true, SCOPED_METRICS },
	{ GROUP_TRACES, 1, "resource", MESSAGE, false, RESOURCE },
	{ GROUP_TRACES, 2, "scopeSpans", MESSAGE, true, SCOPED_TRACES },
	{ GROUP_LOGS, 1, "resource", MESSAGE, false, RESOURCE },
	{ GROUP_LOGS, 2, "scopeLogs", MESSAGE, true, SCOPED_LOGS },
	{ RESOURCE, 1, "attributes", MESSAGE, true, PAIR },
	{ SCOPED_METRICS, 1, "scope", MESSAGE, false, SCOPE },
	{ SCOPED_METRICS, 2, "metrics", MESSAGE, true, METRIC },
	{ SCOPED_TRACES, 1, "scope", MESSAGE, false, SCOPE },
	{ SCOPED_TRACES, 2, "spans", MESSAGE, true, SPAN },
	{ SCOPED_LOGS, 1, "scope", MESSAGE, false, SCOPE },
	{ SCOPED_LOGS, 2, "logRecords", MESSAGE, true, LOG },
	{ SCOPE, 1, "name", TEXT, false, 0 },
	{ SCOPE, 2, "version", TEXT, false, 0 },
	{ METRIC, 1, "name", TEXT, false, 0 },
	{ METRIC, 2, "description", TEXT, false, 0 },
	{ METRIC, 3, "unit", TEXT, false, 0 },
	{ METRIC, 7, "sum", MESSAGE, false, SUM },
	{ METRIC, 10, "exponentialHistogram", MESSAGE, false, EXPONENTIAL },
	{ SUM, 1, "dataPoints", MESSAGE, true, NUMBER },
	{ SUM, 2, "aggregationTemporality", NUMERAL, false, 0 },
	{ SUM, 3, "isMonotonic", FLAG, false, 0 },
	{ NUMBER, 2, "startTimeUnixNano", FIXED, false, 0 },
	{ NUMBER, 3, "timeUnixNano", FIXED, false, 0 },
	{ NUMBER, 6, "asInt", FIXED, false, 0 },
	{ NUMBER, 7, "attributes", MESSAGE, true, PAIR },
	{ EXPONENTIAL, 1, "dataPoints", MESSAGE, true, POINT },
	{ EXPONENTIAL, 2, "aggregationTemporality", NUMERAL, false, 0 },
	{ POINT, 1, "attributes", MESSAGE, true, PAIR },
	{ POINT, 2, "startTimeUnixNano", FIXED, false, 0 },
	{ POINT, 3, "timeUnixNano", FIXED, false, 0 },
	{ POINT, 4, "count", FIXED, false, 0 },
	{ POINT, 5, "sum", REAL, false, 0 },
	{ POINT, 6, "scale", SIGNED, false, 0 },
	{ POINT, 7, "zeroCount", FIXED, false, 0 },
	{ POINT, 8, "positive", MESSAGE, false, BUCKETS },
	{ POINT, 12, "min", REAL, false, 0 },
	{ POINT, 13, "max", REAL, false, 0 },
	{ BUCKETS, 1, "offset", SIGNED, false, 0 },
	{ BUCKETS, 2, "bucketCounts", PACKED, false, 0 },
	{ SPAN, 1, "traceId", ID, false, 0 },
	{ SPAN, 2, "spanId", ID, false, 0 },
	{ SPAN, 4, "parentSpanId", ID, false, 0 },
	{ SPAN, 5, "name", TEXT, false, 0 },
	{ SPAN, 6, "kind", NUMERAL, false, 0 },
	{ SPAN, 7, "startTimeUnixNano", FIXED, false, 0 },
	{ SPAN, 8, "endTimeUnixNano", FIXED, false, 0 },
	{ SPAN, 9, "attributes", MESSAGE, true, PAIR },
	{ SPAN, 13, "links", MESSAGE, true, LINK },
	{ LINK, 1, "traceId", ID, false, 0 },
	{ LINK, 2, "spanId", ID, false, 0 },
	{ LOG, 1, "timeUnixNano", FIXED, false, 0 },
	{ LOG, 2, "severityNumber", NUMERAL, false, 0 },
	{ LOG, 3, "severityText", TEXT, false, 0 },
	{ LOG, 5, "body", MESSAGE, false, VALUE },
	{ LOG, 6, "attributes", MESSAGE, true, PAIR },
	{ LOG, 9, "traceId", ID, false, 0 },
	{ LOG, 10, "spanId", ID, false, 0 },
	{ LOG, 11, "observedTimeUnixNano", FIXED, false, 0 },
	{ PAIR, 1, "key", TEXT, false, 0 },
	{ PAIR, 2, "value", MESSAGE, false, VALUE },
	{ VALUE, 1, "stringValue", TEXT, false, 0 },
	{ VALUE, 2, "boolValue", FLAG, false, 0 },
	{ VALUE, 3, "intValue", INTEGER, false, 0 },
};

struct otlp_bytes {
	const uint8_t *at, *end;
};

static const struct field *find(enum message of, uint64_t number)
{
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		if (fields[i].of == of && fields[i].number == number)
			return &fields[i];
	return NULL;
}

static bool get_varint(struct otlp_bytes *in, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; in->at < in->end && shift < 64; shift += 7) {
		const uint8_t byte = *in->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool get_fixed(struct otlp_bytes *in, uint64_t *value)
{
	*value = 0;
	if (in->end - in->at < 8)
		return false;
	for (unsigned i = 0; i < 8; i++)
		*value |= (uint64_t)*in->at++ << 8 * i;
	return true;
}

static bool get_bytes(struct otlp_bytes *in, struct otlp_bytes *inside)
{
	uint64_t size;

	if (!get_varint(in, &size) || size > (uint64_t)(in->end - in->at))
		return false;
	*inside = (struct otlp_bytes){ in->at, in->at + size };
	in->at += size;
	return true;
}

/* ---- values ---- */

static void put_numeral(struct json_text *json, const char *key, const char *format, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), format, value);
	json_text_string(json, key, text);
}

static void put_text(struct json_text *json, const char *key, const struct otlp_bytes *in)
{
	char *copy = strndup((const char *)in->at, (size_t)(in->end - in->at));

	json->failed |= !copy;
	json_text_string(json, key, copy ? copy : "");
	free(copy);
}

static void put_id(struct json_text *json, const char *key, const struct otlp_bytes *in)
{
	char text[2 * OTLP_TRACE_BYTES + 1] = "";

	for (unsigned i = 0; in->at + i < in->end && i < OTLP_TRACE_BYTES; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", in->at[i]);
	json_text_string(json, key, text);
}

static bool put_packed(struct json_text *json, const char *key, struct otlp_bytes in)
{
	uint64_t value;

	json_text_open(json, key, '[');
	while (in.at < in.end) {
		if (!get_varint(&in, &value))
			return false;
		put_numeral(json, NULL, "%" PRIu64, value);
	}
	json_text_close(json, ']');
	return true;
}

static bool put_message(struct json_text *json, enum message of, struct otlp_bytes in);

static bool put_inside(struct json_text *json, const struct field *field, struct otlp_bytes *in)
{
	const char *key = field->repeated ? NULL : field->name;
	struct otlp_bytes inside;

	if (!get_bytes(in, &inside))
		return false;
	switch (field->kind) {
	case TEXT:
		put_text(json, key, &inside);
		return true;
	case ID:
		put_id(json, key, &inside);
		return true;
	case PACKED:
		return put_packed(json, key, inside);
	default:
		json_text_open(json, key, '{');
		if (!put_message(json, field->is, inside))
			return false;
		json_text_close(json, '}');
		return true;
	}
}

static bool put_value(struct json_text *json, const struct field *field, struct otlp_bytes *in)
{
	const bool fixed = field->kind == FIXED || field->kind == REAL;
	char text[TEXT_QUANTITY_MAX];
	uint64_t value;
	double real;

	if (field->kind == MESSAGE || field->kind == TEXT || field->kind == ID ||
	    field->kind == PACKED)
		return put_inside(json, field, in);
	if (!(fixed ? get_fixed(in, &value) : get_varint(in, &value)))
		return false;
	switch (field->kind) {
	case FIXED:
		put_numeral(json, field->name, "%" PRIu64, value);
		break;
	case INTEGER:
		put_numeral(json, field->name, "%" PRId64, value);
		break;
	case REAL:
		memcpy(&real, &value, sizeof(real));
		json_text_plain(json, field->name, text_f64_exact(text, real));
		break;
	case SIGNED:
		json_text_i64(json, field->name, (int64_t)(value >> 1 ^ -(value & 1)));
		break;
	case FLAG:
		json_text_bool(json, field->name, value != 0);
		break;
	default:
		json_text_u64(json, field->name, value);
	}
	return true;
}

static bool put_message(struct json_text *json, enum message of, struct otlp_bytes in)
{
	const struct field *open = NULL;

	while (in.at < in.end) {
		const struct field *field;
		uint64_t key;

		if (!get_varint(&in, &key))
			return false;
		field = find(of, key >> 3);
		if (!field)
			return false;
		if (open && field != open)
			json_text_close(json, ']');
		if (field->repeated && field != open)
			json_text_open(json, field->name, '[');
		open = field->repeated ? field : NULL;
		if (!put_value(json, field, &in))
			return false;
	}
	if (open)
		json_text_close(json, ']');
	return true;
}

char *otlp_json(enum otlp_signal signal, const void *data, size_t size_of_data, size_t *size)
{
	const struct otlp_bytes in = { data, (const uint8_t *)data + size_of_data };
	struct json_text json = { .one_line = true };
	bool ok;

	json_text_open(&json, NULL, '{');
	ok = put_message(&json, (enum message)signal, in);
	json_text_close(&json, '}');
	if (!ok || json.failed) {
		free(json.text);
		return NULL;
	}
	*size = json.size;
	return json.text;
}
