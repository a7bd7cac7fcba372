/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* The control socket: requests good and bad, and clients that mean no good. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/control/control.h"
#include "base/array.h"

struct bench {
	char path[64];
	struct rundir dir;
	uv_loop_t loop;
	uv_async_t stop;
	uv_timer_t later;
	struct control *control;
	struct control_call *waiting;
	pthread_t thread;
};

/* ---- a recorder with three requests ---- */

static void on_echo(void *context, struct control_call *call, struct json_object *request)
{
	struct json_object *text = NULL, *reply = json_object_new_object();

	(void)context;
	(void)json_object_object_get_ex(request, "text", &text);
	json_object_object_add(reply, "text", json_object_get(text));
	control_reply(call, reply);
}

static void on_no(void *context, struct control_call *call, struct json_object *request)
{
	struct kymo_err err;

	(void)context;
	(void)request;
	(void)err_set(&err, KYMO_EXIT_EMPTY, "there is \"nothing\"");
	control_refuse(call, &err);
}

static void on_time(uv_timer_t *timer)
{
	struct bench *bench = timer->data;

	control_reply(bench->waiting, NULL);
}

static void on_later(void *context, struct control_call *call, struct json_object *request)
{
	struct bench *bench = context;

	(void)request;
	bench->waiting = call;
	(void)uv_timer_start(&bench->later, on_time, 50, 0);
}

static void on_never(void *context, struct control_call *call, struct json_object *request)
{
	(void)context;
	(void)call;
	(void)request;
}

static const struct control_request requests[] = {
	{ "echo", on_echo }, { "no", on_no }, { "later", on_later }, { "never", on_never }, { 0 },
};

static void on_stop(uv_async_t *async)
{
	struct bench *bench = async->data;

	control_close(bench->control);
	uv_close((uv_handle_t *)&bench->later, NULL);
	uv_close((uv_handle_t *)async, NULL);
}

static void *serve(void *context)
{
	struct bench *bench = context;

	(void)uv_run(&bench->loop, UV_RUN_DEFAULT);
	return NULL;
}

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof *bench);
	struct kymo_err err;

	snprintf(bench->path, sizeof bench->path, "/dev/shm/kymo-test-XXXXXX");
	*state = bench;
	if (!mkdtemp(bench->path) || rundir_open(&bench->dir, bench->path, false, &err))
		return -1;
	(void)uv_loop_init(&bench->loop);
	(void)uv_async_init(&bench->loop, &bench->stop, on_stop);
	(void)uv_timer_init(&bench->loop, &bench->later);
	bench->stop.data = bench->later.data = bench;
	if (control_open(&bench->control, &bench->loop, bench->path, requests, bench, &err) < 0)
		return -1;
	return pthread_create(&bench->thread, NULL, serve, bench);
}

static int teardown(void **state)
{
	struct bench *bench = *state;
	char path[128];
	int left;

	(void)uv_async_send(&bench->stop);
	(void)pthread_join(bench->thread, NULL);
	snprintf(path, sizeof path, "%s/" CONTROL_NAME, bench->path);
	left = access(path, F_OK) == 0;
	left |= uv_loop_close(&bench->loop);
	rundir_close(&bench->dir);
	left |= rmdir(bench->path);
	free(bench);
	return left;
}

static int ask(struct bench *bench, const char *request, struct json_object **reply,
	       struct kymo_err *err)
{
	struct json_object *object = json_tokener_parse(request);
	int rc = control_ask(&bench->dir, object, 3000, reply, err);

	json_object_put(object);
	return rc;
}

/* ---- tests ---- */

static void what_the_recorder_answers(void **state)
{
	struct bench *bench = *state;
	struct json_object *reply, *text;
	struct stat st;
	struct kymo_err err;

	assert_int_equal(fstatat(bench->dir.fd, CONTROL_NAME, &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(ask(bench, "{\"request\":\"echo\",\"text\":\"a\\nb\"}", &reply, &err), 0);
		assert_true(json_object_object_get_ex(reply, "text", &text));
		assert_string_equal(json_object_get_string(text), "a\nb");
		json_object_put(reply);
	}
	assert_int_equal(ask(bench, "{\"request\":\"later\"}", &reply, &err), 0);
	json_object_put(reply);
	assert_int_equal(ask(bench, "{\"request\":\"no\"}", &reply, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_EMPTY);
	assert_string_equal(err.text, "there is \"nothing\"");
	assert_int_equal(ask(bench, "{\"request\":\"dance\"}", &reply, &err), -1);
	assert_non_null(strstr(err.text, "'dance'; this recorder knows: echo, no, later, never"));
}

static int connected(const struct bench *bench)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s/" CONTROL_NAME, bench->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

/* What comes back for raw bytes, up to the end of the connection. */
static const char *raw(const struct bench *bench, const void *bytes, size_t size)
{
	static char answer[4096];
	int fd = connected(bench);
	size_t used = 0;
	ssize_t got;

	(void)send(fd, bytes, size, MSG_NOSIGNAL);
	while ((got = recv(fd, answer + used, sizeof answer - 1 - used, 0)) > 0)
		used += (size_t)got;
	answer[used] = 0;
	(void)close(fd);
	return answer;
}

static void requests_that_are_none(void **state)
{
	static const char *const bad[] = {
		"\n", "hello\n", "[]\n", "{}\n", "{\"request\":5}\n", "{\"request\":\"echo\"\n", "\0\n",
		"{\"request\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{}}}}}}}}}}\n",
	};
	struct bench *bench = *state;
	char *endless = malloc(CONTROL_LINE_MAX + 10);

	for (unsigned i = 0; i < COUNT_OF(bad); i++)
		if (!strstr(raw(bench, bad[i], bad[i][0] ? strlen(bad[i]) : 2), "\"ok\":false"))
			fail_msg("'%s' gave %s", bad[i], raw(bench, bad[i], strlen(bad[i])));
	memset(endless, ' ', CONTROL_LINE_MAX + 10);
	assert_string_equal(raw(bench, endless, CONTROL_LINE_MAX + 10), "");
	/* Two lines at once: one answer. */
	assert_string_equal(raw(bench, "{\"request\":\"later\"}\n{\"request\":\"later\"}\n", 40), "{\"ok\":true}\n");
	free(endless);
}

/* They neither ask nor listen nor go; the others are served. */
static void clients_that_hang(void **state)
{
	struct bench *bench = *state;
	int fd[CONTROL_CLIENTS_MAX - 2];
	struct json_object *reply;
	struct kymo_err err;

	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX - 2; i++) {
		fd[i] = connected(bench);
		if (i % 3 == 1)
			(void)send(fd[i], "{\"request\":", 11, MSG_NOSIGNAL);
		if (i % 3 == 2)
			(void)send(fd[i], "{\"request\":\"never\"}\n", 20, MSG_NOSIGNAL);
	}
	assert_int_equal(ask(bench, "{\"request\":\"later\"}", &reply, &err), 0);
	json_object_put(reply);
	/* More than it takes; these go at once. */
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++)
		assert_true(close(connected(bench)) == 0);
	for (unsigned i = 0; i < CONTROL_CLIENTS_MAX - 2; i++)
		(void)close(fd[i]);
	/* Those are noticed one by one. */
	for (int i = 0; i < 300; i++) {
		int rc = ask(bench, "{\"request\":\"echo\"}", &reply, &err);

		json_object_put(reply);
		if (rc == 0)
			return;
		usleep(10000);
	}
	fail_msg("%s", err.text);
}

static void nobody_listens(void **state)
{
	struct bench bench = { .path = "/dev/shm/kymo-test-XXXXXX" };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct json_object *reply;
	struct kymo_err err;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	assert_non_null(mkdtemp(bench.path));
	assert_int_equal(rundir_open(&bench.dir, bench.path, false, &err), 0);
	assert_int_equal(ask(&bench, "{\"request\":\"echo\"}", &reply, &err), 1);
	/* What a dead recorder left. */
	snprintf(address.sun_path, sizeof address.sun_path, "%s/" CONTROL_NAME, bench.path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	(void)close(fd);
	assert_int_equal(ask(&bench, "{\"request\":\"echo\"}", &reply, &err), 1);
	assert_int_equal(uv_loop_init(&bench.loop), 0);
	assert_int_equal(
		control_open(&bench.control, &bench.loop, bench.path, requests, &bench, &err), 0);
	control_close(bench.control);
	(void)uv_run(&bench.loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&bench.loop), 0);
	rundir_close(&bench.dir);
	assert_int_equal(rmdir(bench.path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_the_recorder_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(requests_that_are_none, setup, teardown),
		cmocka_unit_test_setup_teardown(clients_that_hang, setup, teardown),
		cmocka_unit_test(nobody_listens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
