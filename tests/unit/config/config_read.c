/* SPDX-License-Identifier: Apache-2.0 */
/* kymo.yaml: what it says, what is wrong in it, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "config/config.h"

static char path[] = "/tmp/kymo-config-XXXXXX";

static int read_text(struct config **config, const char *text, struct kymo_err *err)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	return config_read(config, path, err);
}

static void values(void **state)
{
	struct config *config;
	struct kymo_err err;

	(void)state;
	assert_int_equal(read_text(&config,
				   "robot: r2d2\nboot: b1\nserve:\n  window: 10s\nlabels:\n  site: hall \"3\"\n"
				   "otlp: {url: 'http://h:4318', encoding: json}\nspool: {limit: 1M}\n",
				   &err),
			 0);
	assert_string_equal(config->robot, "r2d2");
	assert_string_equal(config->boot, "b1");
	assert_string_equal(config->software, "");
	assert_string_equal(config->listen, "127.0.0.1:9465");
	assert_string_equal(config->labels_json, "{\"site\":\"hall \\\"3\\\"\"}");
	assert_string_equal(config->otlp.url, "http://h:4318");
	assert_int_equal(config->window_ns, 10000000000);
	assert_int_equal(config->otlp_encoding, CONFIG_JSON);
	assert_int_equal(config->otlp_temporality, CONFIG_DELTA);
	assert_int_equal(config->spool_limit, 1 << 20);
	assert_true(config_is_set(config, "serve.window"));
	assert_false(config_is_set(config, "software"));
	assert_int_equal(config_set(config, "clickhouse.url", "ftp://x", &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_USAGE);
	config_free(config);
}

static void nothing(void **state)
{
	struct config *config;
	struct kymo_err err;

	(void)state;
	assert_int_equal(read_text(&config, "", &err), 0);
	assert_true(*config->robot && *config->boot);
	assert_string_equal(config->labels_json, "");
	config_free(config);
}

static void wrong(void **state)
{
	static const struct {
		const char *text, *line, *what;
	} cases[] = {
		{ "robto: a\n", ":1: ", "did you mean 'robot'?" },
		{ "robot: a\nserve:\n  windw: 1s\n", ":3: ", "did you mean 'serve.window'?" },
		{ "clickhuose: {url: 'http://a'}\n", ":1: ", "did you mean 'clickhouse'?" },
		{ "x y z: 1\n", ":1: ", "kymo config show" },
		{ "serve: 1\n", ":1: ", "keys below" },
		{ "robot: [a]\n", ":1: ", "one value" },
		{ "robot: a\nrobot: b\n", ":2: ", "first in line 1" },
		{ "serve: {window: 0s}\n", ":1: ", "a time" },
		{ "spool: {limit: x}\n", ":1: ", "a size" },
		{ "serve: {max-series: many}\n", ":1: ", "a number" },
		{ "otlp: {encoding: xml}\n", ":1: ", "protobuf|json" },
		{ "otlp: {url: h:4318}\n", ":1: ", "https://HOST:PORT" },
		{ "otlp: {url: 'http://me:secret@h'}\n", ":1: ", "everybody" },
		{ "upload: {to: 'http://h/b'}\n", ":1: ", "s3+https://HOST/BUCKET" },
		{ "upload: {to: 's3+https:///b'}\n", ":1: ", "s3+https://HOST/BUCKET" },
		{ "upload: {to: 'file://mnt/x'}\n", ":1: ", "file:///DIR" },
		{ "upload: {to: 's3+https://me:secret@h/b'}\n", ":1: ", "everybody" },
		{ "upload: {to: 's3+https://h/b?x'}\n", ":1: ", "characters" },
		{ "upload: {to: \"file:///a\\nb\"}\n", ":1: ", "characters" },
		{ "upload: {to: 's3+https://h/b/../c'}\n", ":1: ", "without" },
		{ "labels: {a-b: c}\n", ":1: ", "letters" },
		{ "labels: {boot: c}\n", ":1: ", "not robot" },
		{ "labels:\n  a: [b]\n", ":2: ", "256" },
		{ "a: b: c\n", ":1: ", "" },
		{ "- a\n", ":1: ", "expected keys" },
	};
	struct config *config;
	struct kymo_err err;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		assert_int_equal(read_text(&config, cases[i].text, &err), -1);
		assert_int_equal(err.status, KYMO_EXIT_INPUT);
		if (!strstr(err.text, cases[i].line) || !strstr(err.text, cases[i].what))
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_null(strstr(err.text, "secret@"));
	}
	(void)unlink(path);
	assert_int_equal(config_read(&config, path, &err), -1);
}

static void note(void *context, const struct kymo_err *err)
{
	const size_t used = strlen(context);

	(void)snprintf((char *)context + used, 4096 - used, "%s\n", strchr(err->text, ':'));
}

static int check_text(const char *text, char told[4096], struct kymo_err *err)
{
	FILE *file = fopen(path, "we");
	struct config *config = NULL;
	int status;

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	*told = 0;
	status = config_check(&config, path, note, told, err);
	config_free(config);
	return status;
}

/* Each error, in the order of the file; not without end. */
static void all_that_is_wrong(void **state)
{
	char told[4096], many[2048] = "";
	unsigned lines = 0;
	struct kymo_err err = { 0 };

	(void)state;
	assert_int_equal(check_text("robot: a\n", told, &err), 0);
	assert_string_equal(told, "");
	assert_int_equal(check_text("robto: a\nserve:\n  window: 0s\n  windw: 1s\nlabels:\n  a-b: c\n  d: [e]\n  f: g\n"
				    "otlp: {encoding: xml}\n", told, &err), -1);
	assert_string_equal(err.text, "");
	assert_int_equal(err.status, KYMO_EXIT_INPUT);
	for (const char *at = told; *at; at++)
		lines += *at == '\n';
	assert_int_equal(lines, 6);
	assert_non_null(strstr(told, ":1: unknown key 'robto'"));
	assert_non_null(strstr(told, ":3: serve.window"));
	assert_non_null(strstr(told, ":4: unknown key 'serve.windw'"));
	assert_non_null(strstr(told, ":6: the name of a label"));
	assert_non_null(strstr(told, ":7: the value of a label"));
	assert_non_null(strstr(told, ":9: otlp.encoding"));
	for (unsigned i = 0; i < 30; i++)
		(void)snprintf(many + strlen(many), sizeof(many) - strlen(many), "x%u: 1\n", i);
	assert_int_equal(check_text(many, told, &err), -1);
	assert_non_null(strstr(err.text, "more errors than the 20"));
}

/* Files whose size says little about what a reader would go through. */
static void bombs(void **state)
{
	char *text = calloc(1, 1 << 20);
	struct config *config;
	struct kymo_err err;

	(void)state;
	assert_non_null(text);
	memset(text, '[', 1000000);
	assert_int_equal(read_text(&config, text, &err), -1);
	assert_non_null(strstr(err.text, "more than 64 levels"));
	memset(text, 0, 1 << 20);
	for (unsigned i = 0; i < 100000; i++)
		(void)snprintf(text + i * 10, 11, "- &a%05u\n", i);
	assert_int_equal(read_text(&config, text, &err), -1);
	assert_non_null(strstr(err.text, "anchors"));
	assert_int_equal(read_text(&config, "labels: &a\n  b: *a\n", &err), -1);
	assert_non_null(strstr(err.text, "a list that it is in"));
	(void)snprintf(text, 100, "a0: &a0 x\n");
	for (unsigned i = 1; i < 10; i++) {
		(void)snprintf(text + strlen(text), 100, "a%u: &a%u [*a%u", i, i, i - 1);
		for (unsigned k = 0; k < 9; k++)
			(void)snprintf(text + strlen(text), 100, ",*a%u", i - 1);
		(void)snprintf(text + strlen(text), 100, "]\n");
	}
	assert_int_equal(read_text(&config, text, &err), -1);
	assert_non_null(strstr(err.text, "its aliases stand for"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(nothing),
		cmocka_unit_test(wrong),
		cmocka_unit_test(all_that_is_wrong),
		cmocka_unit_test(bombs),
	};

	int status;

	close(mkstemp(path));
	status = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(path);
	return status;
}
