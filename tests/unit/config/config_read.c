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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(nothing),
		cmocka_unit_test(wrong),
	};

	close(mkstemp(path));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
