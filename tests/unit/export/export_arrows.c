// SPDX-License-Identifier: Apache-2.0
/* Arrows and publish instants of the Perfetto export, where no recorded trace goes far enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "export/perfetto/perfetto_internal.h"

struct fixture {
	struct exporter exporter;
	struct perfetto_options options;
	struct perfetto_result result;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){ 0 };
	f.options.begin_ns = INT64_MIN;
	f.options.end_ns = INT64_MAX;
	f.options.fd = memfd_create("trace", MFD_CLOEXEC);
	f.exporter.options = &f.options;
	f.exporter.result = &f.result;
	assert_int_equal(model_create(&f.exporter.model, NULL), 0);
	assert_int_equal(pft_open(&f.exporter.pft, f.options.fd, 0, NULL), 0);
	export_words(&f.exporter);
	assert_int_equal(model_listen(f.exporter.model, &export_listener, &f.exporter, NULL), 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(pft_close(f->exporter.pft, NULL), 0);
	export_counters_free(&f->exporter);
	model_destroy(f->exporter.model);
	for (unsigned i = 0; i < BY_COUNT; i++)
		free(f->exporter.by[i].item);
	map_free(&f->exporter.counters);
	close(f->options.fd);
	return 0;
}

/* An event of process and thread 1; fields are name, value pairs up to NULL; '"' begins a
 * text's, '#' that of 16 bytes. */
static void emit(struct fixture *f, int64_t ns, const char *name, ...)
{
	struct kymo_ctf_event event = { .ns = ns, .vpid = 1, .vtid = 1, .procname = "p" };
	unsigned count, i;
	const struct kymo_ctf_bind *bind = model_bind(f->exporter.model, &count);
	const char *field;
	va_list list;

	for (i = 0; i < count && strcmp(bind[i].event, name) != 0; i++)
		;
	assert_true(i < count);
	event.bound = (int)i;
	bind += i;
	va_start(list, name);
	while ((field = va_arg(list, const char *))) {
		const bool bytes = *field == '#', text = *field == '"' || bytes;

		for (i = 0; bind->field[i] && strcmp(bind->field[i], field + text) != 0; i++)
			;
		assert_non_null(bind->field[i]);
		event.value[i].present = 1;
		event.value[i].size = bytes ? 16 : 0;
		if (text)
			event.value[i].bytes = va_arg(list, const char *);
		else
			event.value[i].u = va_arg(list, uint64_t);
	}
	va_end(list);
	f->exporter.now_ns = ns;
	assert_int_equal(model_event(f->exporter.model, &event), 0);
}
#define EMIT(ns, name, ...) emit(f, ns, "ros2:" name, __VA_ARGS__, NULL)
#define U(value) ((uint64_t)(value))

static void make_publisher(struct fixture *f)
{
	EMIT(1, "rcl_node_init", "node_handle", U(1), "rmw_handle", U(1), "\"node_name", "n",
	     "\"namespace", "/");
	EMIT(2, "rcl_publisher_init", "publisher_handle", U(2), "node_handle", U(1),
	     "rmw_publisher_handle", U(3), "\"topic_name", "/t", "queue_depth", U(1));
}

static void make_subscriptions(struct fixture *f, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		EMIT(3, "rcl_subscription_init", "subscription_handle", U(1000 + i), "node_handle", U(1),
		     "rmw_subscription_handle", U(2000 + i), "\"topic_name", "/t", "queue_depth", U(1));
}

static void publish(struct fixture *f, uint64_t stamp)
{
	EMIT((int64_t)stamp, "rmw_publish", "rmw_publisher_handle", U(3), "message", U(7),
	     "timestamp", stamp);
}

static unsigned arrows(struct fixture *f)
{
	struct model_message message = { .id = 1, .topic = model_topic(f->exporter.model, 0) };
	uint64_t flow[FLOWS_MAX];
	unsigned count = export_flows(&f->exporter, &message, flow);

	for (unsigned i = 0; i < count; i++)
		for (unsigned j = 0; j < i; j++)
			assert_true(flow[i] != flow[j]);
	return count;
}

static uint64_t arrow_to(struct fixture *f, unsigned subscription)
{
	struct model_message message = { .id = 1, .topic = model_topic(f->exporter.model, 0) };

	return export_flow(&f->exporter, &message,
			   model_subscription(f->exporter.model, subscription));
}

/* Arrows lead to those that listen, and to no more than there are numbers for. */
static void listeners(void **state)
{
	struct fixture *f = *state;

	make_publisher(f);
	make_subscriptions(f, FLOWS_MAX - 1);
	assert_int_equal(arrows(f), FLOWS_MAX - 1);
	make_subscriptions(f, FLOWS_MAX);
	assert_int_equal(arrows(f), FLOWS_MAX);
	make_subscriptions(f, FLOWS_MAX + 6);
	assert_int_equal(arrows(f), FLOWS_MAX);
	assert_true(arrow_to(f, 0) != 0);
	assert_true(arrow_to(f, FLOWS_MAX) == 0);

	for (unsigned i = 0; i < SILENT_MAX; i++)
		publish(f, 1000 + i);
	assert_int_equal(arrows(f), FLOWS_MAX);
	assert_true(arrow_to(f, 5) != 0);
	publish(f, 5000);
	assert_int_equal(arrows(f), 1);
	/* One that was silent speaks again; one that never had a place gets that of a silent
	 * one. */
	assert_true(arrow_to(f, 6) != 0);
	assert_true(arrow_to(f, FLOWS_MAX) != 0);
	assert_true(arrow_to(f, 5) != arrow_to(f, FLOWS_MAX));
	assert_int_equal(arrows(f), 3);
}

/* A publish within the process waits for its other half; at the end it is written without. */
static void both_halves(void **state)
{
	struct fixture *f = *state;
	struct pft_totals totals;

	make_publisher(f);
	EMIT(100, "rclcpp_intra_publish", "publisher_handle", U(2), "message", U(7));
	pft_totals(f->exporter.pft, &totals);
	assert_int_equal(totals.instants, 0);
	publish(f, 110);
	pft_totals(f->exporter.pft, &totals);
	assert_int_equal(totals.instants, 1);
	EMIT(200, "rclcpp_intra_publish", "publisher_handle", U(2), "message", U(7));
	EMIT(300, "rclcpp_intra_publish", "publisher_handle", U(2), "message", U(7));
	pft_totals(f->exporter.pft, &totals);
	assert_int_equal(totals.instants, 2);
	export_publishes(&f->exporter);
	export_publishes(&f->exporter);
	pft_totals(f->exporter.pft, &totals);
	assert_int_equal(totals.instants, 3);
}

/* Times that no clock can show: nothing overflows, nothing is negative. */
static void times(void **state)
{
	struct fixture *f = *state;

	f->exporter.offset_ns = 1000;
	assert_int_equal(export_time(&f->exporter, 1500), 500);
	assert_int_equal(export_time(&f->exporter, 999), 0);
	assert_int_equal(export_time(&f->exporter, INT64_MIN), 0);
	f->exporter.offset_ns = INT64_MIN;
	assert_int_equal(export_time(&f->exporter, INT64_MAX), 0);
	assert_int_equal(export_time(&f->exporter, INT64_MIN + 5), 5);
}

/* A callback that ran when the trace ended is an open slice; one that got lost before, an
 * instant. */
static void unfinished(void **state)
{
	struct fixture *f = *state;
	struct pft_totals totals;

	make_publisher(f);
	EMIT(10, "callback_start", "callback", U(50), "is_intra_process", U(0));
	EMIT(20, "callback_start", "callback", U(51), "is_intra_process", U(0));
	EMIT(30, "callback_end", "callback", U(51));
	EMIT(40, "callback_start", "callback", U(52), "is_intra_process", U(0));
	f->exporter.finishing = true;
	model_finish(f->exporter.model);
	pft_totals(f->exporter.pft, &totals);
	assert_int_equal(f->result.callbacks, 1);
	assert_int_equal(f->result.unfinished, 2);
	assert_int_equal(totals.slices, 2);
	assert_int_equal(totals.instants, 1);
}

/* A goal that is executed when the trace ends is an open slice, and so is what is inside. */
static void goal_under_way(void **state)
{
	struct fixture *f = *state;
	static const uint8_t id[16] = { 1 }, gid[16] = { 2 };
	struct pft_totals before, totals;

	EMIT(1, "rcl_service_init", "service_handle", U(8), "node_handle", U(1),
	     "rmw_service_handle", U(9), "\"service_name", "/count/_action/send_goal");
	emit(f, 2, "ros2_kymo:action_request_taken", "service_handle", U(8), "\"call", "goal",
	     "#goal_id", id, "#client_gid", gid, "sequence_number", U(1), NULL);
	emit(f, 3, "ros2_kymo:action_response_sent", "service_handle", U(8), "\"call", "goal",
	     "#client_gid", gid, "sequence_number", U(1), "answer", U(1), NULL);
	emit(f, 4, "ros2_kymo:action_goal_state", "goal_handle", U(10), "#goal_id", id, "state",
	     U(2), NULL);
	pft_totals(f->exporter.pft, &before);
	f->exporter.finishing = true;
	model_finish(f->exporter.model);
	pft_totals(f->exporter.pft, &totals);
	assert_int_equal(totals.slices - before.slices, 3); /* goal, accepting, executing */
	assert_int_equal(totals.instants, before.instants);
	assert_int_equal(totals.orphan_ends, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(listeners, setup, teardown),
		cmocka_unit_test_setup_teardown(both_halves, setup, teardown),
		cmocka_unit_test_setup_teardown(times, setup, teardown),
		cmocka_unit_test_setup_teardown(unfinished, setup, teardown),
		cmocka_unit_test_setup_teardown(goal_under_way, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
