/* SPDX-License-Identifier: Apache-2.0 */
/* URLs of relays, as LTTng writes them and as nobody does; tokens, their files and their
 * greeting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "relay/wire/token.h"
#include "relay/wire/url.h"
#include "base/array.h"

static void producers(void **state)
{
	static const struct {
		const char *text, *host, *path;
		unsigned port, data_port;
		int family;
		bool tls, datagrams;
	} cases[] = {
		{ "net://robot", "robot", "", 5342, 5343, AF_INET, false, false },
		{ "net://robot:1", "robot", "", 1, 5343, AF_INET, false, false },
		{ "tcp://10.0.0.1:1:65535/", "10.0.0.1", "", 1, 65535, AF_INET, false, false },
		{ "net6://[::1]:7:8/a/b//", "::1", "a/b", 7, 8, AF_INET6, false, false },
		{ "net://[fe80::1%eth0]", "fe80::1%eth0", "", 5342, 5343, AF_INET6, false, false },
		{ "nets://robot.example:9", "robot.example", "", 9, 5343, AF_INET, true, false },
		{ "udp://robot::", NULL, NULL, 0, 0, 0, false, false },
		{ "udp://robot:1", "robot", "", 1, 0, AF_INET, false, true },
		{ "udps6://robot:1:2", "robot", "", 1, 2, AF_INET6, true, true },
		{ "net:/robot", NULL, NULL, 0, 0, 0, false, false },
		{ "net://", NULL, NULL, 0, 0, 0, false, false },
		{ "net:///x", NULL, NULL, 0, 0, 0, false, false },
		{ "net://a b", NULL, NULL, 0, 0, 0, false, false },
		{ "net://[::1", NULL, NULL, 0, 0, 0, false, false },
		{ "net://[::1]x", NULL, NULL, 0, 0, 0, false, false },
		{ "net://r:0", NULL, NULL, 0, 0, 0, false, false },
		{ "net://r:65536", NULL, NULL, 0, 0, 0, false, false },
		{ "net://r:1:2:3", NULL, NULL, 0, 0, 0, false, false },
		{ "net://r:1x", NULL, NULL, 0, 0, 0, false, false },
		{ "file:///tmp/x", NULL, NULL, 0, 0, 0, false, false },
		{ "/tmp/x", NULL, NULL, 0, 0, 0, false, false },
		{ "", NULL, NULL, 0, 0, 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct kymo_err err = { 0 };
		struct url url;
		const int rc = url_parse(cases[i].text, URL_PRODUCER, &url, &err);

		if (!cases[i].host) {
			assert_int_equal(rc, -1);
			assert_int_equal(err.status, KYMO_EXIT_USAGE);
			assert_non_null(strstr(err.text, "net://"));
			continue;
		}
		assert_int_equal(rc, 0);
		assert_string_equal(url.host, cases[i].host);
		assert_string_equal(url.path, cases[i].path);
		assert_int_equal(url.port, cases[i].port);
		assert_int_equal(url.data_port, cases[i].data_port);
		assert_int_equal(url.family, cases[i].family);
		assert_int_equal(url.tls, cases[i].tls);
		assert_int_equal(url.datagrams, cases[i].datagrams);
	}
}

static void viewers(void **state)
{
	struct kymo_err err;
	struct url url;

	(void)state;
	assert_int_equal(url_parse("net://r/host/robot/run 1", URL_VIEWER, &url, &err), 0);
	assert_int_equal(url.port, 5344);
	assert_int_equal(url.data_port, 0);
	assert_string_equal(url.target, "robot");
	assert_string_equal(url.session, "run 1");
	assert_int_equal(url_parse("net://r:99/host/robot", URL_VIEWER, &url, &err), 0);
	assert_int_equal(url.port, 99);
	assert_string_equal(url.target, "robot");
	assert_string_equal(url.session, "");
	assert_int_equal(url_parse("net6://r/run", URL_VIEWER, &url, &err), 0);
	assert_string_equal(url.target, "");
	assert_string_equal(url.session, "run");
	assert_int_equal(url_parse("net://r/", URL_VIEWER, &url, &err), 0);
	assert_string_equal(url.session, "");
	assert_int_equal(url_parse("net://r:1:2/run", URL_VIEWER, &url, &err), -1);
	assert_int_equal(url_parse("net://r/host//run", URL_VIEWER, &url, &err), -1);
	assert_int_equal(url_parse("udp://r/run", URL_VIEWER, &url, &err), -1);
}

static void long_ones(void **state)
{
	char text[2 * URL_PATH_MAX];
	struct kymo_err err;
	struct url url;

	(void)state;
	for (size_t size = URL_HOST_MAX - 2; size < URL_HOST_MAX + 2; size++) {
		(void)snprintf(text, sizeof(text), "net://%0*d", (int)size, 0);
		assert_int_equal(url_parse(text, URL_PRODUCER, &url, &err),
				 size < URL_HOST_MAX ? 0 : -1);
		(void)snprintf(text, sizeof(text), "net://r/host/%0*d/s", (int)size, 0);
		assert_int_equal(url_parse(text, URL_VIEWER, &url, &err),
				 size < URL_HOST_MAX ? 0 : -1);
	}
	(void)snprintf(text, sizeof(text), "net://r/%0*d", URL_PATH_MAX, 0);
	assert_int_equal(url_parse(text, URL_PRODUCER, &url, &err), -1);
}

static void loopback(void **state)
{
	(void)state;
	assert_true(host_is_loopback("127.0.0.1"));
	assert_true(host_is_loopback("127.9.9.9"));
	assert_true(host_is_loopback("::1"));
	assert_true(host_is_loopback("localhost"));
	assert_true(host_is_loopback("LOCALHOST"));
	assert_false(host_is_loopback("localhost.example"));
	assert_false(host_is_loopback("127.0.0.1.example"));
	assert_false(host_is_loopback("127.1")); /* some resolvers would say yes */
	assert_false(host_is_loopback(""));
	assert_false(host_is_loopback("127.evil.example"));
	assert_false(host_is_loopback("0.0.0.0"));
	assert_false(host_is_loopback("::"));
	assert_false(host_is_loopback("robot"));
	assert_true(url_is_one("net://x"));
	assert_true(url_is_one("http://x"));
	assert_false(url_is_one("://x"));
	assert_false(url_is_one("dir/net://x"));
}

static void host_of_address(void **state)
{
	static const struct {
		const char *url, *host;
	} all[] = {
		{ "http://127.0.0.1:4318/v1", "127.0.0.1" },
		{ "http://LOCALHOST", "LOCALHOST" },
		{ "http://[::1]:8123/?x=[::2]", "::1" },
		{ "http://[fe80::1", "fe80::1" },
		{ "http://127.0.0.1@evil.example/", "evil.example" },
		{ "http://a:b@127.0.0.1@evil.example:1/", "evil.example" },
		{ "http://127.0.0.1:1@[2001:db8::1]:2/", "2001:db8::1" },
		{ "http://evil.example?@127.0.0.1/", "evil.example" },
		{ "http://evil.example#@127.0.0.1/", "evil.example" },
		{ "http://evil.example/@127.0.0.1/", "evil.example" },
		{ "s3+http://127.0.0.1.example/b", "127.0.0.1.example" },
		{ "http://", "" },
		{ "127.0.0.1", "" },
	};
	char host[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		assert_string_equal(host_of_url(all[i].url, host, sizeof(host)), all[i].host);
}

/* ---- tokens ---- */

static int read_token(const char *bytes, mode_t mode, struct token *token, struct kymo_err *err)
{
	char path[] = "/tmp/kymo-token-XXXXXX";
	const int fd = mkstemp(path);
	int rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
	assert_int_equal(fchmod(fd, mode), 0);
	(void)close(fd);
	rc = token_read(path, token, err);
	(void)unlink(path);
	return rc;
}

static void token_files(void **state)
{
	struct token token;
	struct kymo_err err;

	(void)state;
	assert_int_equal(read_token("0123456789abcdef\r\n\n", 0600, &token, &err), 0);
	assert_int_equal(token.size, 16);
	assert_int_equal(read_token("0123456789abcdef", 0640, &token, &err), -1);
	assert_non_null(strstr(err.text, "chmod 600"));
	assert_int_equal(read_token("0123456789abcde\n", 0600, &token, &err), -1);
	assert_int_equal(token_read("/proc/no/such/file", &token, &err), -1);
	assert_int_equal(token_read("/dev/zero", &token, &err), -1);
}

static void greetings(void **state)
{
	struct token wanted = { 17, "a token of theirs" }, none = { 0, "" };
	struct wire_out greeting = { 0 }, reply = { 0 };
	struct kymo_err err;
	size_t used;

	(void)state;
	token_greet(&wanted, &greeting);
	wire_add_bytes(&greeting, "next", 4);
	for (size_t size = 1; size < greeting.used - 4; size++)
		assert_int_equal(token_check(&wanted, greeting.bytes, size, &used, &reply, &err),
				 TOKEN_WAIT);
	assert_int_equal(reply.used, 0);
	assert_int_equal(token_check(&wanted, greeting.bytes, greeting.used, &used, &reply, &err),
			 TOKEN_WELCOME);
	assert_int_equal(used, greeting.used - 4);
	assert_int_equal(token_answer(reply.bytes, 3, &used, &err), TOKEN_WAIT);
	assert_int_equal(token_answer(reply.bytes, reply.used, &used, &err), TOKEN_WELCOME);
	assert_int_equal(used, 8);
	reply.used = 0;
	/* Who asks for none takes any, and who says nothing. */
	assert_int_equal(token_check(&none, greeting.bytes, greeting.used, &used, &reply, &err),
			 TOKEN_WELCOME);
	assert_int_equal(used, greeting.used - 4);
	assert_int_equal(token_check(&none, (const uint8_t *)"\0\0", 2, &used, &reply, &err), TOKEN_WELCOME);
	assert_int_equal(used, 0);
	/* Others are refused: another token, a shorter or longer one, none, one of a size that is
	 * none. */
	for (size_t at = 8; at < 8 + wanted.size; at++) {
		greeting.bytes[at] ^= 1;
		reply.used = 0;
		assert_int_equal(
			token_check(&wanted, greeting.bytes, greeting.used, &used, &reply, &err),
			TOKEN_REFUSED);
		greeting.bytes[at] ^= 1;
	}
	assert_int_equal(token_answer(reply.bytes, reply.used, &used, &err), TOKEN_REFUSED);
	greeting.bytes[7]--;
	assert_int_equal(token_check(&wanted, greeting.bytes, greeting.used, &used, &reply, &err),
			 TOKEN_REFUSED);
	greeting.bytes[7] += 2;
	assert_int_equal(token_check(&wanted, greeting.bytes, greeting.used, &used, &reply, &err),
			 TOKEN_REFUSED);
	greeting.bytes[4] = 1;
	assert_int_equal(token_check(&wanted, greeting.bytes, greeting.used, &used, &reply, &err),
			 TOKEN_REFUSED);
	memset(greeting.bytes + 4, 0, 4);
	assert_int_equal(token_check(&wanted, greeting.bytes, greeting.used, &used, &reply, &err),
			 TOKEN_REFUSED);
	assert_int_equal(token_check(&wanted, (const uint8_t *)"\0", 1, &used, &reply, &err), TOKEN_REFUSED);
	/* lttng-relayd would say something else, or nothing. */
	assert_int_equal(token_answer((const uint8_t *)"\0", 1, &used, &err), TOKEN_REFUSED);
	wire_out_free(&greeting);
	wire_out_free(&reply);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(producers),       cmocka_unit_test(viewers),
		cmocka_unit_test(long_ones),       cmocka_unit_test(loopback),
		cmocka_unit_test(host_of_address), cmocka_unit_test(token_files),
		cmocka_unit_test(greetings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
