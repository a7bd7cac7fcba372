/* SPDX-License-Identifier: Apache-2.0 */
/* What a graph of nodes and topics marks: a topic without messages, if no callback received one. */
#include "chains_feed.h"

#include "analysis/stats/stats_graph.h"

struct graphed {
	struct feed feed;
	struct graph *graph;
};

static int graphed_setup(void **state)
{
	struct graphed *g = calloc(1, sizeof(*g));
	struct kymo_err err;

	open_chains(&g->feed, NULL);
	assert_int_equal(graph_create(&g->graph, g->feed.model, INT64_MIN, INT64_MAX, &err), 0);
	node(&g->feed, 1, "one");
	publisher(&g->feed, 1, "/x");
	subscription(&g->feed, 1, "/x");
	*state = g;
	return 0;
}

static int graphed_teardown(void **state)
{
	struct graphed *g = *state;

	graph_destroy(g->graph);
	chains_destroy(g->feed.chains);
	model_destroy(g->feed.model);
	free(g);
	return 0;
}

static unsigned flags_of(struct graphed *g)
{
	finish(&g->feed);
	assert_false(graph_failed(g->graph));
	return graph_topic_flags(g->graph, model_topic(g->feed.model, 0));
}

static void silent(void **state)
{
	assert_int_equal(flags_of(*state), GRAPH_SILENT);
}

/* As Humble traces it: neither a publication nor a take, only that the callback ran. */
static void received_within_the_process(void **state)
{
	struct graphed *g = *state;

	ev(&g->feed, 100, "ros2:callback_start", "callback", P(0x4001), "is_intra_process", P(1), NULL);
	end(&g->feed, 1, 110, 0x4001);
	assert_int_equal(flags_of(g), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(silent, graphed_setup, graphed_teardown),
		cmocka_unit_test_setup_teardown(received_within_the_process, graphed_setup,
						graphed_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
