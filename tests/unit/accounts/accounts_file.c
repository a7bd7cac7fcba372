/* SPDX-License-Identifier: Apache-2.0 */
/* kymo.json: what is written is read again, what is unknown or missing is 0 or "", and nothing in the file is trusted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "accounts/accounts.h"

struct place {
	char dir[64], file[96];
	struct accounts accounts;
	char problem[512];
};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	(void)snprintf(place->dir, sizeof(place->dir), "/tmp/kymo-accounts-XXXXXX");
	*state = place;
	if (!mkdtemp(place->dir))
		return -1;
	(void)snprintf(place->file, sizeof(place->file), "%s/" ACCOUNTS_FILE, place->dir);
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	accounts_free(&place->accounts);
	(void)unlink(place->file);
	(void)rmdir(place->dir);
	free(place);
	return 0;
}

static void write_text(const struct place *place, const char *text)
{
	FILE *file = fopen(place->file, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static struct accounts *read_back(struct place *place)
{
	accounts_free(&place->accounts);
	accounts_read(&place->accounts, place->dir, place->problem);
	return &place->accounts;
}

static const struct accounts_process process = {
	.pid = 4711,
	.host_pid = 14711,
	.uid = ACCOUNTS_UNKNOWN,
	.procname = "planner",
	.exe = "/opt/planner",
	.ros_domain = ACCOUNTS_UNKNOWN,
	.state = "exited",
	.tracetools = "4.1.1",
	.rmw = "rmw_x",
	.recorded = 100,
	.dropped = 3,
	.unwritten = 2,
	.filter = "topic !/rosout",
	.wanted = true,
};
static const struct accounts_thread thread = { .tid = 4712, .name = "executor", .recorded = 60, .dropped = 1 };

/* A whole file, as a recorder writes it. */
static struct json_object *written(bool ended)
{
	const struct accounts_root root = { .kymo = "1.2", .format = ACCOUNTS_FORMAT, .start_ns = 1000, .ended = ended, .paused_ns = 7,
					    .pause_count = 2, .chunk = ACCOUNTS_UNKNOWN };
	const struct accounts_totals totals = {
		.processes = 1, .recorded = 100, .dropped = 3, .init_dropped = 4, .unwritten = 2
	};
	const struct accounts_kernel kernel = { .source = "tracefs", .recorded = 50, .lost = 5, .left_out = ACCOUNTS_UNKNOWN };
	const struct accounts_snapshot snapshot = { .cause = "trigger", .at_ns = 1500, .trigger = "callback > 10ms", .what = "/scan",
						    .value = 12000000, .pid = 4711, .procname = "planner", .tid = ACCOUNTS_UNKNOWN };
	const struct accounts_clock_changes changes = {
		.slept = 1, .slept_ns = 9, .set = 1, .set_ns = -5
	};
	const struct accounts_host host = { .kernel = "6.1", .cpu = "Fast", .cpus = 8 };
	struct json_object *whole = accounts_object(ACCOUNTS_ROOT, &root),
			   *array = json_object_new_array();
	struct json_object *object = accounts_object(ACCOUNTS_PROCESS, &process),
			   *threads = json_object_new_array();

	json_object_array_add(threads, accounts_object(ACCOUNTS_THREAD, &thread));
	json_object_object_add(object, "threads", threads);
	json_object_array_add(array, object);
	json_object_object_add(whole, "processes", array);
	json_object_object_add(whole, "host", accounts_object(ACCOUNTS_HOST, &host));
	json_object_object_add(whole, "totals", accounts_object(ACCOUNTS_TOTALS, &totals));
	json_object_object_add(whole, "kernel", accounts_object(ACCOUNTS_KERNEL, &kernel));
	json_object_object_add(whole, "snapshot", accounts_object(ACCOUNTS_SNAPSHOT, &snapshot));
	json_object_object_add(whole, "clock_changes", accounts_object(ACCOUNTS_CLOCK_CHANGES, &changes));
	return whole;
}

static void what_is_written_is_read(void **state)
{
	struct place *place = *state;
	struct json_object *whole = written(true);
	char text[MACHINE_TEXT_MAX];
	const struct accounts *a;

	write_text(place, json_object_to_json_string(whole));
	json_object_put(whole);
	a = read_back(place);
	assert_string_equal(place->problem, "");
	assert_true(a->present && a->ended);
	assert_string_equal(a->root.kymo, "1.2");
	assert_int_equal(a->root.pause_count, 2);
	assert_int_equal(a->recorded, 100);
	assert_int_equal(a->dropped, 7);		/* init events, too */
	assert_int_equal(a->unwritten, 2);
	assert_string_equal(a->kernel.source, "tracefs");
	assert_int_equal(a->kernel.lost, 5);
	assert_int_equal(a->clock_changes.set_ns, -5);
	assert_string_equal(accounts_machine(a, MACHINE_CPU, text), "Fast");
	assert_string_equal(accounts_machine(a, MACHINE_CPUS, text), "8");
	assert_string_equal(accounts_machine(a, MACHINE_GOVERNOR, text), "");
	assert_string_equal(accounts_machine(a, MACHINE_RMW, text), "rmw_x");
	assert_string_equal(accounts_machine(a, MACHINE_KYMO, text), "1.2");
	assert_int_equal(a->process_count, 1);
	assert_int_equal(a->process[0].is.pid, 4711);
	assert_string_equal(a->process[0].is.state, "exited");
	assert_int_equal(a->process[0].thread_count, 1);
	assert_string_equal(a->process[0].thread[0].name, "executor");
	assert_int_equal(a->snapshot_at_ns, 500);
	assert_string_equal(a->snapshot_text, "callback > 10ms: /scan, 12.0 ms in planner (4711)");
	assert_string_equal(a->rules, "in the environment of planner (4711): topic !/rosout");
}

static void unknown_members_are_left_out(void **state)
{
	struct json_object *object = accounts_object(ACCOUNTS_PROCESS, &process), *kernel;
	struct json_text json = { .one_line = true };
	const struct accounts_kernel none = { .source = "tracefs" };
	struct json_object *value;

	(void)state;
	assert_false(json_object_object_get_ex(object, "uid", &value));
	assert_false(json_object_object_get_ex(object, "ros_domain", &value));
	assert_true(json_object_object_get_ex(object, "bytes", &value));	/* known to be 0 */
	json_object_put(object);
	kernel = accounts_object(ACCOUNTS_KERNEL, &none);
	assert_true(json_object_object_get_ex(kernel, "counter", &value));
	assert_null(value);
	json_object_put(kernel);
	/* As text, it is the same. */
	json_text_open(&json, NULL, '{');
	accounts_text(&json, ACCOUNTS_THREAD, &thread);
	json_text_close(&json, '}');
	json_text_raw(&json, "", 1);
	assert_string_equal(json.text, "{\"tid\":4712,\"name\":\"executor\",\"recorded\":60,\"dropped\":1,\"filtered\":0,\"bytes\":0}");
	free(json.text);
}

static void counts_of_a_killed_recorder_are_old(void **state)
{
	struct place *place = *state;
	struct json_object *whole = written(false);

	write_text(place, json_object_to_json_string(whole));
	json_object_put(whole);
	assert_false(read_back(place)->ended);
	assert_int_equal(place->accounts.recorded, 0);
	assert_int_equal(place->accounts.totals.recorded, 100);
}

static void a_file_is_not_trusted(void **state)
{
	static const char *const texts[] = {
		"{}", "{\"totals\":[1],\"processes\":{\"a\":2}}", "{\"processes\":[1,null,{\"threads\":\"x\",\"pid\":\"y\"}]}",
		"{\"start_ns\":-1,\"clocks\":[3,{\"monotonic_ns\":18446744073709551615}],\"snapshot\":7,\"filter\":[]}",
		"{\"earlier\":{\"file\":\"../../etc/passwd\",\"file_bytes\":9999}}",
	};
	struct place *place = *state;

	assert_false(read_back(place)->present);
	assert_string_equal(place->problem, "");
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		write_text(place, texts[i]);
		assert_true(read_back(place)->present);
		assert_string_equal(place->problem, "");
		assert_string_equal(place->accounts.root.kymo, "");
		assert_int_equal(place->accounts.root.start_ns, 0);
		if (place->accounts.clock_count)
			assert_int_equal(place->accounts.clock[1].monotonic_ns, 0);
	}
	write_text(place, "[]");
	assert_false(read_back(place)->present);
	assert_non_null(strstr(place->problem, "not a JSON object"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_written_is_read, setup, teardown),
		cmocka_unit_test(unknown_members_are_left_out),
		cmocka_unit_test_setup_teardown(counts_of_a_killed_recorder_are_old, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_file_is_not_trusted, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
