/* SPDX-License-Identifier: Apache-2.0 */
/* See serve_rules.h. */
#include "serve/serve_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "relay/wire/tls.h"
#include "relay/wire/token.h"
#include "serve/serve.h"
#include "summary/summary_windows.h"

#define SAMPLE_LEAST_NS 100000000ll

int serve_rules_address(const char *listen, char address[SERVE_ADDRESS_MAX], unsigned *port,
			struct kymo_err *err)
{
	const char *text = listen, *end = strrchr(text, ':');
	unsigned long number = SERVE_PORT;
	size_t length;
	char *rest;

	if (*text == '[' && strchr(text, ']')) {
		const char *bracket = strchr(text++, ']');

		length = (size_t)(bracket - text);
		end = bracket[1] ? bracket + 1 : NULL;
	} else {
		length = end ? (size_t)(end - text) : strlen(text);
	}
	if (end) {
		number = strtoul(end + 1, &rest, 10);
		if (*end != ':' || !end[1] || *rest || number > 65535)
			return err_set(err, KYMO_EXIT_USAGE, "--listen (serve.listen): invalid port '%s'",
				       end + (*end == ':'));
	}
	snprintf(address, SERVE_ADDRESS_MAX, "%.*s", (int)(length < 63 ? length : 63), text);
	if (!length)
		snprintf(address, SERVE_ADDRESS_MAX, "127.0.0.1");
	*port = (unsigned)number;
	if (!host_is_numeric(address))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--listen (serve.listen): '%s' is not a numeric address such as 127.0.0.1:9465 "
			       "or [::1]:9465",
			       listen);
	return 0;
}

/* ---- rules: 0, or -1 with @err ---- */

static int listens(const struct serve_rules *rules, struct kymo_err *err)
{
	char address[SERVE_ADDRESS_MAX];
	unsigned port;

	if (serve_rules_address(rules->listen, address, &port, err))
		return -1;
	if (!host_is_loopback(address) && !rules->everybody &&
	    (!*rules->tls_cert || !*rules->token_file))
		return err_set(
			err, KYMO_EXIT_USAGE,
			"--listen %s: others than this machine could read it; protect it with "
			"--tls-cert, "
			"--tls-key and --token-file, or accept that with --everybody-may-read "
			"(serve.everybody-may-read: yes)",
			address);
	return 0;
}

static int has_length(const struct serve_rules *rules, struct kymo_err *err)
{
	return rules->window_ns < SUMMARY_WINDOWS_LEAST_NS
		       ? err_set(err, KYMO_EXIT_USAGE,
				 "--window (serve.window) must be at least 100ms")
		       : 0;
}

static int samples(const struct serve_rules *rules, struct kymo_err *err)
{
	if (rules->sample_ns && rules->has_trace)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--sample is for programs that run; a trace already has its events");
	if (rules->sample_ns && rules->count)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--sample also counts, outside the samples; leave out --count");
	if (rules->sample_ns &&
	    (rules->sample_ns < SAMPLE_LEAST_NS || rules->sample_ns > rules->window_ns / 2))
		return err_set(
			err, KYMO_EXIT_USAGE,
			"--sample (serve.sample) must be from 100ms to %gs, half of the window; a "
			"longer --window (serve.window) has room for more",
			(double)rules->window_ns / 2e9);
	return 0;
}

static int has_series(const struct serve_rules *rules, struct kymo_err *err)
{
	return rules->series > UINT32_MAX
		       ? err_set(err, KYMO_EXIT_USAGE, "--max-series (serve.max-series): too large")
		       : 0;
}

/* --max-entities and --max-objects. */
static int has_most(uint64_t most, const char *what, struct kymo_err *err)
{
	return !most || most > UINT32_MAX
		       ? err_set(err, KYMO_EXIT_USAGE,
				 "--max-%s (serve.max-%s) must be from 1 to %u", what, what,
				 UINT32_MAX)
		       : 0;
}

static int has_entities(const struct serve_rules *rules, struct kymo_err *err)
{
	return has_most(rules->entities, "entities", err);
}

static int has_objects(const struct serve_rules *rules, struct kymo_err *err)
{
	return has_most(rules->objects, "objects", err);
}

static int has_both(const struct serve_rules *rules, const char *given, struct kymo_err *err)
{
	return *given && (!*rules->tls_cert || !*rules->tls_key)
		       ? err_set(err, KYMO_EXIT_USAGE,
				 "--tls-cert (serve.tls-cert) and --tls-key (serve.tls-key) "
				 "require each other")
		       : 0;
}

/* The key without the certificate. */
static int has_key(const struct serve_rules *rules, struct kymo_err *err)
{
	return has_both(rules, rules->tls_key, err);
}

static int has_certificate(const struct serve_rules *rules, struct kymo_err *err)
{
	struct tls_context *tls;

	if (has_both(rules, rules->tls_cert, err))
		return -1;
	if (!*rules->tls_cert)
		return 0;
	tls = tls_serve(rules->tls_cert, rules->tls_key, err);
	tls_context_free(tls);
	return tls ? 0 : -1;
}

static int has_token(const struct serve_rules *rules, struct kymo_err *err)
{
	struct token token = { 0 };
	const int status = *rules->token_file ? token_read(rules->token_file, &token, err) : 0;

	explicit_bzero(&token, sizeof(token));
	return status;
}

unsigned serve_rules_check(const struct serve_rules *rules,
			   void (*wrong)(void *context, const char *key,
					 const struct kymo_err *err),
			   void *context)
{
	static const struct {
		const char *key;
		int (*holds)(const struct serve_rules *rules, struct kymo_err *err);
	} all[] = {
		{ "serve.window", has_length },       { "serve.sample", samples },
		{ "serve.max-series", has_series },   { "serve.max-entities", has_entities },
		{ "serve.max-objects", has_objects },
		{ "serve.tls-cert", has_certificate }, { "serve.tls-key", has_key },
		{ "serve.token-file", has_token },    { "serve.listen", listens },
	};
	struct kymo_err err;
	unsigned wrongs = 0;

	for (unsigned i = 0; i < COUNT_OF(all); i++) {
		if (!all[i].holds(rules, &err))
			continue;
		wrong(context, all[i].key, &err);
		wrongs++;
	}
	return wrongs;
}
