/* SPDX-License-Identifier: Apache-2.0 */
/* Where to push, as kymo.yaml and the variables of OpenTelemetry say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fleet/push/push_internal.h"
#include "fleet/push/secret.h"

/* ---- secrets ---- */

/* "Authorization: Bearer TOKEN" */
static int read_secret(struct push_target *target, const char *path, const char *header,
		       struct kymo_err *err)
{
	size_t size;
	char *text;
	int status = 0;

	if (!*path)
		return 0;
	if (secret_load(path, PUSH_SECRET_MAX / 2, &text, &size, err))
		return -1;
	while (size && (text[size - 1] == '\n' || text[size - 1] == '\r'))
		text[--size] = 0;
	if (!size || strpbrk(text, "\r\n") || strlen(text) != size)
		status = err_set(err, KYMO_EXIT_INPUT, "%s: a secret is one line", path);
	else
		snprintf(target->secret, sizeof(target->secret), "%s%s", header, text);
	secret_free(text, size);
	return status;
}

/* In place: %20 becomes a blank. */
static void decode(char *text)
{
	char *to = text;

	for (; *text; text++) {
		unsigned value;

		if (*text == '%' && text[1] && text[2] && sscanf(text + 1, "%2x", &value) == 1) {
			*to++ = (char)value;
			text += 2;
		} else {
			*to++ = *text;
		}
	}
	*to = 0;
}

/* OTEL_EXPORTER_OTLP_HEADERS=api-key=secret,team=a */
static int read_headers(struct push_target *target, struct kymo_err *err)
{
	const char *given = getenv("OTEL_EXPORTER_OTLP_HEADERS");
	char *copy = given ? strdup(given) : NULL, *rest = copy, *pair;
	int status = 0;

	while (!status && (pair = strsep(&rest, ",")) != NULL) {
		char *value = strchr(pair, '=');

		if (!*pair)
			continue;
		if (value)
			*value++ = 0;
		decode(value ? value : pair);
		pair += strspn(pair, " ");
		if (!value || !*pair || strpbrk(value, "\r\n") || strpbrk(pair, "\r\n: "))
			status = err_set(err, KYMO_EXIT_USAGE,
					 "OTEL_EXPORTER_OTLP_HEADERS: expected name=value,name=value");
		else if (target->headers == PUSH_HEADERS_MAX)
			status = err_set(err, KYMO_EXIT_USAGE,
					 "OTEL_EXPORTER_OTLP_HEADERS has more than 8 headers");
		else if (asprintf(&target->header[target->headers], "%s: %s", pair, value) < 0)
			status = err_no_memory(err);
		else
			target->headers++;
	}
	free(copy);
	return status;
}

/* ---- targets ---- */

static const char columns[] =
#define COLUMN(name, kind, value, text) "%2C" #name
#include "fleet/window/window.def"
	;

static const char packed_columns[] =
	"robot%2Cboot%2Csoftware%2Clabels%2Cwindow_start%2Cwindow_s%2Cscale"
#define PACKED(name, type, value) "%2C" #name
#include "fleet/window/window_packed.def"
	;

static void use(struct push_target *target, const struct config_target *from)
{
	target->options.ca = from->ca;
	target->options.cert = from->cert;
	target->options.key = from->key;
}

/* A word of an address. */
static void escape(char *out, size_t size, const char *text)
{
	size_t used = 0;

	for (; *text && used + 4 < size; text++) {
		const unsigned char c = (unsigned char)*text;

		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    c == '_')
			out[used++] = *text;
		else
			used += (size_t)snprintf(out + used, 4, "%%%02X", c);
	}
	out[used] = 0;
}

static int configure_clickhouse(struct push_target *target, struct kymo_err *err)
{
	const struct config *config = target->config;
	const char *url = config->clickhouse.url;
	char database[256], user[256];
	int place;

	target->key = "clickhouse.url";
	if (!*url)
		return 0;
	use(target, &config->clickhouse);
	escape(database, sizeof(database), config->clickhouse_database);
	escape(user, sizeof(user), config->clickhouse_user);
	if (snprintf(target->url, sizeof(target->url),
		     "%s%s?database=%s%s%s&query=INSERT+INTO+kymo_windows+(%s)+FORMAT+RowBinary",
		     url, strchr(strstr(url, "://") + 3, '/') ? "" : "/", database,
		     *user ? "&user=" : "", user, columns + 3) >= (int)sizeof(target->url))
		return err_set(err, KYMO_EXIT_INPUT, "clickhouse.url is too long");
	place = (int)(strstr(target->url, "&query=") - target->url);
	if (snprintf(target->packed_url, sizeof(target->packed_url),
		     "%.*s&query=INSERT+INTO+kymo_windows_in+(%s)+FORMAT+RowBinary", place,
		     target->url, packed_columns) >= (int)sizeof(target->packed_url))
		return err_set(err, KYMO_EXIT_INPUT, "clickhouse.url is too long");
	snprintf(target->incidents_url, sizeof(target->incidents_url),
		 "%.*s&query=INSERT+INTO+kymo_incidents+FORMAT+JSONEachRow", place, target->url);
	target->packed = target->zstd = true;
	if (strpbrk(url, "?#"))
		return err_set(err, KYMO_EXIT_INPUT,
			       "clickhouse.url: write only http://HOST:PORT/; the database is "
			       "clickhouse.database");
	target->key = "clickhouse.password-file";
	if (read_secret(target, config->clickhouse.secret_file, "X-ClickHouse-Key: ", err))
		return -1;
	target->key = "clickhouse.url";
	return *target->secret && secret_may_go(url, "the password", "clickhouse.unencrypted",
						config->clickhouse.unencrypted, err)
		       ? -1
		       : 1;
}

static int configure_otlp(struct push_target *target, struct kymo_err *err)
{
	const struct config *config = target->config;
	const char *url = getenv("OTEL_EXPORTER_OTLP_ENDPOINT"),
		   *protocol = getenv("OTEL_EXPORTER_OTLP_PROTOCOL"),
		   *preference = getenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE");
	size_t length;

	target->key = "otlp.url";
	if (!url || !*url)
		url = config->otlp.url;
	if (!*url)
		return 0;
	if (strncmp(url, "http://", 7) && strncmp(url, "https://", 8))
		return err_set(err, KYMO_EXIT_USAGE,
			       "OTEL_EXPORTER_OTLP_ENDPOINT: expected an address such as "
			       "http://127.0.0.1:4318");
	if (url_has_user(url))
		return err_set(err, KYMO_EXIT_USAGE,
			       "OTEL_EXPORTER_OTLP_ENDPOINT: the address contains a user or a "
			       "password; put the secret into OTEL_EXPORTER_OTLP_HEADERS, or into the "
			       "file that otlp.token-file names");
	if (protocol && *protocol && strcmp(protocol, "http/protobuf") &&
	    strcmp(protocol, "http/json"))
		return err_set(err, KYMO_EXIT_USAGE,
			       "OTEL_EXPORTER_OTLP_PROTOCOL: kymo speaks http/protobuf and http/json, "
			       "not '%.100s'",
			       protocol);
	use(target, &config->otlp);
	target->json = protocol && *protocol ? !strcmp(protocol, "http/json")
					     : config->otlp_encoding == CONFIG_JSON;
	target->cumulative = preference && *preference
				     ? !strcasecmp(preference, "cumulative")
				     : config->otlp_temporality == CONFIG_CUMULATIVE;
	length = strlen(url);
	while (length && url[length - 1] == '/')
		length--;
	if (length >= sizeof(target->url))
		return err_set(err, KYMO_EXIT_INPUT, "otlp.url is too long");
	snprintf(target->url, sizeof(target->url), "%.*s", (int)length, url);
	target->key = "otlp.token-file";
	if (read_secret(target, config->otlp.secret_file, "Authorization: Bearer ", err))
		return -1;
	target->key = "otlp.url";
	if (read_headers(target, err))
		return -1;
	return (*target->secret || target->headers) &&
			       secret_may_go(url, *target->secret ? "the token" : "OTEL_EXPORTER_OTLP_HEADERS",
					     "otlp.unencrypted", config->otlp.unencrypted, err)
		       ? -1
		       : 1;
}

int push_target_configure(struct push_target *target, struct kymo_err *err)
{
	return target->is_otlp ? configure_otlp(target, err) : configure_clickhouse(target, err);
}

unsigned push_check(const struct config *config,
		    void (*wrong)(void *context, const char *key, const struct kymo_err *err),
		    void *context)
{
	unsigned wrongs = 0;

	for (unsigned i = 0; i < PUSH_TARGETS; i++) {
		struct push_target target = { .is_otlp = i == 1, .config = config };
		struct kymo_err err;

		if (push_target_configure(&target, &err) < 0) {
			wrong(context, target.key, &err);
			wrongs++;
		}
		push_target_free(&target);
	}
	return wrongs;
}

void push_target_free(struct push_target *target)
{
	for (unsigned i = 0; i < target->headers; i++)
		free(target->header[i]);
	memset(target->secret, 0, sizeof(target->secret));
	summary_free(target->total);
	pthread_mutex_destroy(&target->lock);
	pthread_cond_destroy(&target->changed);
}
