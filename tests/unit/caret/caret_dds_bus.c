/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* Two participants of one domain: what one writes, the other reads, as often as it was written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "caret/dds/bus.h"
#include "messages.h"

#define PATIENCE_S	60
#define BURST		600	/* two states of 300 processes */

static uint32_t domain;

/* Only on loopback, and nobody else's domain. */
static int set_up(void **state)
{
	(void)state;
	domain = 100 + (uint32_t)getpid() % 100;
	return setenv("CYCLONEDDS_URI", "<General><Interfaces><NetworkInterface name=\"lo\" multicast=\"false\"/></Interfaces>"
		      "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
		      "<MaxAutoParticipantIndex>99</MaxAutoParticipantIndex><Peers><Peer address=\"127.0.0.1\"/></Peers>"
		      "</Discovery>", 1);
}

static struct bus *join(void)
{
	struct bus *bus;
	struct kymo_err err;

	if (bus_open(&bus, domain, NULL, NULL, &err) < 0)
		fail_msg("%s", err.text);
	return bus;
}

static bool still(time_t until)
{
	(void)usleep(2000);
	return time(NULL) < until;
}

static void wait_matched(dds_entity_t endpoint, unsigned count)
{
	time_t until = time(NULL) + PATIENCE_S;

	while (bus_matched(endpoint) < count && still(until))
		;
	assert_int_equal(bus_matched(endpoint), count);
}

/* Takes what is there. Return: how many; -1: something else than the next ones in order. */
static int take(dds_entity_t reader, int *next)
{
	void *sample[64] = { 0 };
	dds_sample_info_t info[64];
	int n = dds_take(reader, sample, info, 64, 64), got = 0;

	for (int i = 0; i < n; i++) {
		const caret_msgs_msg_dds__Status_ *status = sample[i];

		if (!info[i].valid_data)
			continue;
		if (status->pid != *next)
			fail_msg("status %d came, not %d", (int)status->pid, *next);
		assert_string_equal(status->caret_node_name, "caret_trace_0");
		assert_int_equal(status->node_names._length, 1);
		assert_string_equal(status->node_names._buffer[0], "/camera");
		(*next)++;
		got++;
	}
	if (n > 0)
		(void)dds_return_loan(reader, sample, n);
	return got;
}

/* Every status of a burst reaches a reader that keeps all, also one that is slow to look. */
static void test_burst(void **state)
{
	struct bus *here = join(), *there = join();
	struct kymo_err err;
	dds_entity_t writer = bus_writer(here, BUS_STATUS, BURST * 2, &err);
	dds_entity_t reader = bus_reader(there, BUS_STATUS, BUS_ALL, NULL, NULL, &err);
	char *names[] = { (char *)"/camera" };
	caret_msgs_msg_dds__Status_ status = { .caret_node_name = (char *)"caret_trace_0", .status = 2,
		.node_names = { 1, 1, names, false } };
	time_t until = time(NULL) + PATIENCE_S;
	int next = 0;

	(void)state;
	assert_true(writer > 0 && reader > 0);
	wait_matched(writer, 1);
	for (int i = 0; i < BURST; i++) {
		status.pid = i;
		assert_int_equal(dds_write(writer, &status), DDS_RETCODE_OK);
	}
	while (next < BURST && still(until))
		(void)take(reader, &next);
	assert_int_equal(next, BURST);
	bus_close(here);
	bus_close(there);
}

/* Who comes later gets the last word about the graph; in both generations of the message. */
static void test_graph(void **state)
{
	static const enum bus_topic topic[] = { BUS_GRAPH, BUS_GRAPH_24 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct bus *here = join(), *there = join();
		rmw_dds_common_msg_dds__NodeEntitiesInfo_ node = { .node_name = "caret_trace_0" };
		rmw_dds_common_24_msg_dds__NodeEntitiesInfo_ node24 = { .node_name = "caret_trace_0" };
		rmw_dds_common_msg_dds__ParticipantEntitiesInfo_ info = {
			.node_entities_info_seq = { 1, 1, &node, false } };
		rmw_dds_common_24_msg_dds__ParticipantEntitiesInfo_ info24 = {
			.node_entities_info_seq = { 1, 1, &node24, false } };
		struct kymo_err err;
		dds_entity_t writer = bus_writer(here, topic[i], 1, &err), reader;
		time_t until = time(NULL) + PATIENCE_S;
		void *sample[1] = { 0 };
		dds_sample_info_t got;
		int n = 0;

		assert_true(writer > 0);
		assert_int_equal(dds_write(writer, i ? (void *)&info24 : (void *)&info),
				 DDS_RETCODE_OK);
		reader = bus_reader(there, topic[i], BUS_ALL, NULL, NULL, &err);
		assert_true(reader > 0);
		while ((n = dds_take(reader, sample, &got, 1, 1)) <= 0 && still(until))
			;
		assert_int_equal(n, 1);
		assert_true(got.valid_data);
		assert_string_equal(
			i ? ((rmw_dds_common_24_msg_dds__ParticipantEntitiesInfo_ *)sample[0])
					->node_entities_info_seq._buffer[0]
					.node_name
			  : ((rmw_dds_common_msg_dds__ParticipantEntitiesInfo_ *)sample[0])
					->node_entities_info_seq._buffer[0]
					.node_name,
			"caret_trace_0");
		(void)dds_return_loan(reader, sample, n);
		bus_close(here);
		bus_close(there);
	}
}

/* What ROS 2 looks at before it takes a participant for one of its own. */
static void test_enclave(void **state)
{
	struct bus *bus = join();
	dds_qos_t *qos = dds_create_qos();
	void *value = NULL;
	size_t size = 0;

	(void)state;
	assert_int_equal(dds_get_qos(bus_participant(bus), qos), DDS_RETCODE_OK);
	assert_true(dds_qget_userdata(qos, &value, &size));
	assert_int_equal(size, 10);
	assert_memory_equal(value, "enclave=/;", 10);
	dds_free(value);
	dds_delete_qos(qos);
	bus_close(bus);
}

static void endpoint_says(dds_entity_t endpoint, const char *expected)
{
	dds_qos_t *qos = dds_create_qos();
	void *value = NULL;
	size_t size = 0;

	assert_true(endpoint > 0);
	assert_int_equal(dds_get_qos(endpoint, qos), DDS_RETCODE_OK);
	assert_true(dds_qget_userdata(qos, &value, &size));
	assert_int_equal(size, strlen(expected));
	assert_memory_equal(value, expected, size);
	dds_free(value);
	dds_delete_qos(qos);
}

/* Hashes that ROS 2 publishes for the same types; those of caret_msgs are computed in system/agent.
 */
static void test_type_hashes(void **state)
{
	static const char clock[] =
		"typehash=RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564;",
			  graph[] = "typehash=RIHS01_"
				    "91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c29"
				    "5e;";
	struct bus *bus = join();
	struct kymo_err err;

	(void)state;
	endpoint_says(bus_reader(bus, BUS_CLOCK, 1, NULL, NULL, &err), clock);
	endpoint_says(bus_writer(bus, BUS_GRAPH, 1, &err), graph);
	bus_close(bus);
	bus = join();
	endpoint_says(bus_writer(bus, BUS_GRAPH_24, 1, &err), "");
	bus_close(bus);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_type_hashes),
		cmocka_unit_test(test_burst),
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_enclave),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
