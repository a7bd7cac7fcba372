/* SPDX-License-Identifier: Apache-2.0 */
/* Paths: the joins, the four cases, architectures and their files, on hand-made traces. */
#include "feed.h"

#include <stdio.h>
#include <unistd.h>

#include "caret/paths/caret_paths.h"
#include "caret/paths/caret_records.h"
#include "base/array.h"

static void add(struct records *records, int64_t a, int64_t b)
{
	int64_t *row = records_add(records);

	assert_non_null(row);
	row[0] = a;
	if (records->columns > 1)
		row[1] = b;
}

static void expect(const struct records *records, size_t rows, const int64_t *values)
{
	assert_int_equal(records->rows, rows);
	for (size_t i = 0; i < rows * records->columns; i++)
		assert_int_equal(records->value[i], values[i]);
}

static void joins(void **state)
{
	static const int64_t joined[] = { 1, 10, 100, 1, 10, 101, 2, 20, 0, 3, 0, 0 };
	static const int64_t every[] = { 1, 10, 12, 1, 10, 15, 2, 20, 20, 2, 20, 25, 3, 0, 0 };
	static const int64_t once[] = { 1, 10, 12, 2, 20, 20, 3, 0, 0 };
	struct records left = { .columns = 2 }, right = { .columns = 2 }, stamps = { .columns = 1 },
		       out;

	(void)state;
	add(&left, 1, 10);
	add(&left, 2, 20);
	add(&left, 3, 0);
	add(&right, 10, 101);
	add(&right, 10, 100);
	add(&right, 30, 300);
	assert_int_equal(records_join(&left, 1, &right, 0, &out), 0);
	records_sort(&out, 0);
	expect(&out, 4, joined);
	records_free(&out);
	add(&stamps, 5, 0);			/* before all of them: left out */
	add(&stamps, 25, 0);
	add(&stamps, 20, 0);			/* at the same time: after it */
	add(&stamps, 12, 0);
	add(&stamps, 15, 0);
	assert_int_equal(records_follow(&left, 1, -1, &stamps, 0, -1, true, &out), 0);
	expect(&out, 5, every);
	records_free(&out);
	assert_int_equal(records_follow(&left, 1, -1, &stamps, 0, -1, false, &out), 0);
	expect(&out, 3, once);
	records_drop(&out, 1);
	assert_int_equal(out.columns, 2);
	assert_int_equal(records_row(&out, 1)[1], 20);
	records_free(&out);
	records_free(&left);
	records_free(&right);
	records_free(&stamps);
}

/*
 * /sensor -> /in -> /fusion -> /out -> /actuator. The fusion publishes on its own clock, every 100;
 * inputs come at 10, 40, 110, 310; the third output finds nothing new, the last input none after
 * it.
 */
static void run(struct feed *f, bool lose_second)
{
	static const int64_t inputs[] = { 10, 40, 110, 310 };
	int64_t clock = 95;

	on(f, 1, 1);
	node(f, 1, 0x10, "sensor");
	publisher(f, 2, 0x100, 0x10, "/in");
	EV(3, "rcl_timer_init", "timer_handle", P(0x886), "period", P(100));
	EV(4, "rclcpp_timer_callback_added", "timer_handle", P(0x886), "callback", P(0x888));
	EV(5, "rclcpp_timer_link_node", "timer_handle", P(0x886), "node_handle", P(0x10));
	EV(6, "rcl_client_init", "client_handle", P(0x990), "node_handle", P(0x10),
	   "rmw_client_handle", P(0x991), "\"service_name", "/add");
	on(f, 2, 2);
	node(f, 1, 0x20, "fusion");
	subscription(f, 2, 0x200, 0x20, "/in");
	publisher(f, 3, 0x300, 0x20, "/out");
	on(f, 3, 3);
	node(f, 1, 0x30, "actuator");
	subscription(f, 2, 0x400, 0x30, "/out");
	for (unsigned i = 0; i < 4; i++) {
		for (; clock < inputs[i]; clock += 100) {
			on(f, 2, 2);
			publish(f, clock, 0x300);
			on(f, 3, 3);
			take(f, clock + 3, 0x400, clock + 2);
			start(f, clock + 4, 0x402);
			end(f, clock + 5, 0x402);
		}
		on(f, 1, 1);
		start(f, inputs[i] - 1, 0x888);
		start(f, inputs[i], 0x990); /* a client's callback, which CARET does not have */
		end(f, inputs[i], 0x990);
		publish(f, inputs[i], 0x100);
		end(f, inputs[i] + 3, 0x888);
		if (i == 1 && lose_second)
			continue;
		on(f, 2, 2);
		take(f, inputs[i] + 4, 0x200, inputs[i] + 2);
		start(f, inputs[i] + 5, 0x202);
		end(f, inputs[i] + 6, 0x202);
	}
	model_finish(f->model);
}

struct asked {
	struct architecture *architecture;
	const struct arch_path *path;
	struct caret *caret;
};

static void ask(struct feed *f, struct asked *asked, const char *path, bool first, bool last)
{
	struct caret_options options = { .paths = 1, .first_callback = first, .last_callback = last,
					 .begin_ns = INT64_MIN, .end_ns = INT64_MAX };
	struct kymo_err err;

	asked->architecture = architecture_new();
	assert_non_null(asked->architecture);
	assert_int_equal(architecture_path(asked->architecture, path, &err), 0);
	asked->path = architecture_find_path(asked->architecture, path);
	options.architecture = asked->architecture;
	options.path = &asked->path;
	assert_int_equal(caret_create(&asked->caret, f->model, &options, &err), 0);
}

static const struct caret_path *answer(struct asked *asked)
{
	struct kymo_err err;

	assert_int_equal(caret_finish(asked->caret, &err), 0);
	return caret_path(asked->caret, 0);
}

static void done(struct asked *asked)
{
	caret_destroy(asked->caret);
	architecture_free(asked->architecture);
}

#define PATH "/sensor -> /in -> /fusion -> /out -> /actuator"

static void response(const struct caret_path *path, enum caret_case which, size_t at,
		     int64_t start_ns, int64_t value_ns)
{
	assert_true(at < path->count[which]);
	assert_int_equal(path->response[which][at].start_ns, start_ns);
	assert_int_equal(path->response[which][at].value_ns, value_ns);
}

static void four_cases(void **state)
{
	struct feed *f = *state;
	const struct caret_path *path;
	struct asked asked;

	ask(f, &asked, PATH, false, false);
	run(f, false);
	path = answer(&asked);
	assert_null(path->problem);
	/* 10: overtaken by 40, which the output at 95 is made of; 110: of those at 195 and 295. */
	assert_int_equal(path->records.rows, 5);
	assert_int_equal(path->complete, 3);
	/* 10 and 40 end in the first output, 310 nowhere. */
	assert_int_equal(path->count[CARET_ALL], 1);
	response(path, CARET_ALL, 0, 110, 195 + 4 - 110);
	assert_int_equal(path->count[CARET_WORST_WITH_EXTERNAL], 0);
	assert_string_equal(path->column[0], "/in");
	assert_string_equal(path->column[1], "/fusion/callback_0");
	assert_string_equal(path->column[2], "/out");
	assert_int_equal(path->stack[CARET_BEST].rows, 1);
	assert_int_equal(records_row(&path->stack[CARET_BEST], 0)[0], 110);
	assert_int_equal(records_row(&path->stack[CARET_WORST_WITH_EXTERNAL], 0)[0], 40);
	done(&asked);
}

/* The callbacks at both ends belong to it, and a message that never arrived is a delay. */
static void with_ends_and_a_drop(void **state)
{
	struct feed *f = *state;
	const struct caret_path *path;
	struct asked asked;

	ask(f, &asked, PATH, true, true);
	run(f, true);
	path = answer(&asked);
	assert_int_equal(path->records.columns, 6);
	assert_int_equal(path->count[CARET_ALL], 2);
	response(path, CARET_ALL, 0, 39, 195 + 5 - 39);		/* the lost one: answered by 195 */
	response(path, CARET_ALL, 1, 109, 195 + 5 - 109);
	assert_int_equal(path->count[CARET_WORST], 1);
	response(path, CARET_WORST, 0, 39, 195 + 5 - 39);
	response(path, CARET_BEST, 0, 109, 195 + 5 - 109);
	response(path, CARET_WORST_WITH_EXTERNAL, 0, 39, 195 + 5 - 39);
	assert_string_equal(path->column[0], "/sensor/callback_x");
	assert_string_equal(path->column[4], "/actuator/callback_0");
	done(&asked);
}

static void what_is_not_there(void **state)
{
	struct feed *f = *state;
	const struct caret_path *path;
	struct asked asked;

	ask(f, &asked, "/sensor -> /in -> /nobody", false, false);
	run(f, false);
	path = answer(&asked);
	assert_string_equal(path->problem, "/nobody has no subscription of /in in the trace");
	assert_int_equal(path->records.rows, 0);
	done(&asked);
}

static void paths_in_one_line(void **state)
{
	static const char *const wrong[] = { "", "/a", "/a -> /b", "/a -> -> /b", "/a -> /t -> /b ->" };
	struct architecture *architecture = architecture_new();
	const struct arch_path *path;
	struct kymo_err err;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(wrong); i++)
		assert_int_equal(architecture_path(architecture, wrong[i], &err), -1);
	assert_int_equal(architecture->paths, 0);
	assert_int_equal(architecture_path(architecture, "/a->/t ->  /b", &err), 0);
	path = architecture_find_path(architecture, "/a->/t ->  /b");
	assert_int_equal(path->hops, 2);
	assert_string_equal(path->hop[0].publish_topic, "/t");
	assert_string_equal(path->hop[1].subscribe_topic, "/t");
	assert_string_equal(path->hop[1].node, "/b");
	architecture_free(architecture);
}

/* What is written is read again; a chain that the file tells of is followed. */
static void there_and_back(void **state)
{
	struct feed *f = *state;
	struct architecture *made, *read;
	char name[] = "/tmp/kymo-architecture-XXXXXX";
	const struct arch_node *fusion;
	struct kymo_err err;
	FILE *file;
	int fd = mkstemp(name);

	run(f, false);
	assert_int_equal(architecture_of(&made, f->model, &err), 0);
	assert_int_equal(architecture_path(made, PATH, &err), 0);
	file = fdopen(fd, "w");
	assert_int_equal(architecture_write(made, file, &err), 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(architecture_read(&read, name, &err), 0);
	unlink(name);
	assert_int_equal(read->nodes, 3);
	assert_int_equal(read->paths, 1);
	assert_string_equal(read->path[0].hop[1].publish_topic, "/out");
	fusion = architecture_find_node(read, "/fusion");
	assert_int_equal(fusion->callbacks, 1);
	assert_string_equal(fusion->callback[0].topic, "/in");
	assert_string_equal(fusion->context[0].type, "callback_chain");
	assert_string_equal(fusion->context[0].callback[0], "/fusion/callback_0");
	assert_string_equal(fusion->publish[0].callback[0], "/fusion/callback_0");
	architecture_free(made);
	architecture_free(read);
}

/* A message arrives at the fusion, which TILDE knows by @id. */
static void tilde_arrives(struct feed *f, int64_t ns, uint64_t id)
{
	on(f, 1, 1);
	publish(f, ns, 0x100);
	on(f, 2, 2);
	take(f, ns + 4, 0x200, ns + 2);
	start(f, ns + 5, 0x202);
	CARET(ns + 6, "tilde_subscribe", "subscription", P(0x201), "tilde_message_id", id);
	end(f, ns + 7, 0x202);
}

/* The fusion publishes, of messages of two topics. */
static void tilde_leads(struct feed *f, int64_t ns, uint64_t id, uint64_t other)
{
	on(f, 2, 2);
	CARET(ns - 2, "tilde_publish", "publisher", P(0x303), "subscription_id", P(7),
	      "tilde_message_id", id);
	CARET(ns - 1, "tilde_publish", "publisher", P(0x303), "subscription_id", P(8),
	      "tilde_message_id", other);
	publish(f, ns, 0x300);
	on(f, 3, 3);
	take(f, ns + 3, 0x400, ns + 2);
	start(f, ns + 4, 0x402);
	end(f, ns + 5, 0x402);
}

/*
 * The fusion holds the first message back and publishes the second one before it: TILDE's ids tell
 * them apart, where the latest message would be taken for both. Ids are those of a process; another
 * one has the same numbers.
 */
static void ids_of_tilde(void **state)
{
	struct arch_context context = { .type = "tilde",
					.subscription_topic = "/in",
					.publisher_topic = "/out" };
	struct arch_node fusion = { .name = "/fusion", .context = &context, .contexts = 1 };
	struct feed *f = *state;
	const struct caret_path *path;
	struct asked asked;

	ask(f, &asked, PATH, false, false);
	asked.architecture->node = &fusion;
	asked.architecture->nodes = 1;
	f->also = caret_pass.event;
	f->analysis = asked.caret;
	on(f, 1, 1);
	node(f, 1, 0x10, "sensor");
	publisher(f, 2, 0x100, 0x10, "/in");
	CARET(3, "tilde_publisher_init", "publisher", P(0x303), "\"node_name", "/sensor",
	      "\"topic_name", "/in");
	on(f, 2, 2);
	node(f, 1, 0x20, "fusion");
	subscription(f, 2, 0x200, 0x20, "/in");
	publisher(f, 3, 0x300, 0x20, "/out");
	CARET(3, "tilde_subscription_init", "subscription", P(0x201), "\"node_name", "/fusion",
	      "\"topic_name", "/in");
	CARET(3, "tilde_subscribe_added", "subscription_id", P(7), "\"node_name", "/fusion",
	      "\"topic_name", "/in");
	CARET(3, "tilde_subscribe_added", "subscription_id", P(8), "\"node_name", "/fusion",
	      "\"topic_name", "/map");
	CARET(3, "tilde_publisher_init", "publisher", P(0x303), "\"node_name", "/fusion",
	      "\"topic_name", "/out");
	on(f, 3, 3);
	node(f, 1, 0x30, "actuator");
	subscription(f, 2, 0x400, 0x30, "/out");
	tilde_arrives(f, 10, 1001);
	tilde_arrives(f, 40, 1002);
	tilde_leads(f, 100, 1002, 1001);
	tilde_leads(f, 200, 1001, 1002);
	tilde_leads(f, 300, 5555, 1001); /* of a message that did not arrive in the trace */
	model_finish(f->model);
	path = answer(&asked);
	assert_null(path->problem);
	assert_int_equal(path->records.rows, 2);
	assert_int_equal(path->complete, 2);
	assert_int_equal(records_row(&path->records, 0)[0], 10);
	assert_int_equal(records_row(&path->records, 0)[2], 200);
	assert_int_equal(records_row(&path->records, 1)[0], 40);
	assert_int_equal(records_row(&path->records, 1)[2], 100);
	asked.architecture->node = NULL;
	asked.architecture->nodes = 0;
	done(&asked);
}

/* Without TILDE's events the path says so. */
static void tilde_without_ids(void **state)
{
	struct arch_context context = { .type = "tilde",
					.subscription_topic = "/in",
					.publisher_topic = "/out" };
	struct arch_node fusion = { .name = "/fusion", .context = &context, .contexts = 1 };
	struct feed *f = *state;
	const struct caret_path *path;
	struct asked asked;

	ask(f, &asked, PATH, false, false);
	asked.architecture->node = &fusion;
	asked.architecture->nodes = 1;
	run(f, false);
	path = answer(&asked);
	assert_non_null(strstr(path->problem, "does not have TILDE's ids of messages on /out"));
	asked.architecture->node = NULL;
	asked.architecture->nodes = 0;
	done(&asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joins),
		TEST(ids_of_tilde),
		TEST(tilde_without_ids),
		TEST(four_cases),
		TEST(with_ends_and_a_drop),
		TEST(what_is_not_there),
		cmocka_unit_test(paths_in_one_line),
		TEST(there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
