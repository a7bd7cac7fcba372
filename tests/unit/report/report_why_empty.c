/* SPDX-License-Identifier: Apache-2.0 */
/* What `kymo why` says of a topic alone: what to name instead, or why there is nothing. */
#include "chains_feed.h"

#include "report/why/report_why_internal.h"

#define SENDER 1
#define RECEIVER 2

struct named {
	struct feed feed;
	struct why_options options;
	struct why_answer answer;
	char said[1024];
};

static int named_setup(void **state)
{
	struct named *named = calloc(1, sizeof(*named));
	struct feed *f = &named->feed;

	open_chains(f, NULL);
	named->options.callback = "/x";
	named->answer.options = &named->options;
	node(f, SENDER, "sender");
	timer(f);
	publisher(f, 1, "/x");
	publisher(f, 2, "/alone");
	node(f, RECEIVER, "receiver");
	subscription(f, 1, "/x");
	*state = named;
	return 0;
}

static int named_teardown(void **state)
{
	struct named *named = *state;

	chains_destroy(named->feed.chains);
	model_destroy(named->feed.model);
	free(named);
	return 0;
}

/* What it says of @topic. */
static const char *said_of(struct named *named, const char *topic)
{
	finish(&named->feed);
	named->answer.model = named->feed.model;
	named->answer.chains = named->feed.chains;
	named->options.callback = topic;
	return why_empty(&named->answer, named->said, sizeof named->said);
}

static void it_names_a_receiver(void **state)
{
	struct named *named = *state;
	struct feed *f = &named->feed;
	uint64_t stamp;

	start(f, SENDER, 4990, 0x3000);
	stamp = publish(f, SENDER, 5000, 1);
	end(f, SENDER, 5020, 0x3000);
	deliver(f, RECEIVER, 5100, 1, stamp);
	end(f, RECEIVER, 5110, 0x4001);
	assert_string_equal(said_of(named, "/x"), "'/x' is a topic. Name it with a node that receives it: "
						  "`kymo why '/x -> /receiver'`.");
}

static void nothing_was_received(void **state)
{
	assert_string_equal(said_of(*state, "/x"),
			    "'/x' is a topic, and the trace has no message of it that a node received.");
}

/* A process of this version of tracetools. */
static void process_of(struct named *named, const char *version)
{
	named->feed.pid = RECEIVER;
	ev(&named->feed, 9, "ros2:rcl_init", "context_handle", P(0x10), "\"version", version, NULL);
}

static void humble_tells_less(void **state)
{
	process_of(*state, "4.1.1");
	assert_string_equal(said_of(*state, "/x"),
			    "'/x' is a topic, and the trace has no message of it that a node received. "
			    "ROS 2 Humble itself traces neither messages within a process nor those of "
			    "generic publishers and subscriptions.");
}

/* Then Humble is not the reason. */
static void nobody_subscribed(void **state)
{
	process_of(*state, "4.1.1");
	assert_string_equal(said_of(*state, "/alone"),
			    "'/alone' is a topic, and the trace has no message of it that a node received.");
}

static void others_tell_all(void **state)
{
	process_of(*state, "8.2.2");
	assert_null(strstr(said_of(*state, "/x"), "Humble"));
}

static void no_topic(void **state)
{
	assert_non_null(strstr(said_of(*state, "/y"), "No callback of '/y' ran"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_names_a_receiver, named_setup, named_teardown),
		cmocka_unit_test_setup_teardown(nothing_was_received, named_setup, named_teardown),
		cmocka_unit_test_setup_teardown(humble_tells_less, named_setup, named_teardown),
		cmocka_unit_test_setup_teardown(nobody_subscribed, named_setup, named_teardown),
		cmocka_unit_test_setup_teardown(others_tell_all, named_setup, named_teardown),
		cmocka_unit_test_setup_teardown(no_topic, named_setup, named_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
