/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of ROS 2 that `ros2 caret record` uses, over CycloneDDS: its node in the graph, the
 * names of the nodes that are there, and CARET's three topics. Written a second time on purpose,
 * from the interface files and rmw_dds_common's rules: nothing of src/control is in here, so that
 * both do not agree on the same mistake.
 */
#ifndef TESTS_CARET_BUS_H
#define TESTS_CARET_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum topic { TOPIC_START, TOPIC_END, TOPIC_STATUS, TOPIC_DISCOVERY, TOPIC_COUNT };

struct start {
	uint32_t recording_frequency;
	/* Ignore nodes, ignore topics, select nodes, select topics. */
	const char *filter[4];
};

struct status {
	const char *node;
	int status;			/* 0 uninitialized, 1 wait, 2 prepare, 3 record */
	const char *const *node_names;
	unsigned node_count;
	int64_t pid;
};

struct bus_options {
	uint32_t domain;
	const char *node;		/* its own name in the graph */
	const char *enclave;		/* NULL: none is told, as programs that are no ROS 2 do */
	bool humble;			/* gids of 24 bytes */
	/* Has a publisher of Status, which the command line has not. */
	bool forges;
	void (*on_status)(const struct status *status);
	/* NULL: it does not listen to them. */
	void (*on_command)(enum topic topic, const struct start *start);
	/* The graph changed: full names, sorted. */
	void (*on_nodes)(const char *const *names, unsigned count);
};

struct bus;

/** bus_open() - join the domain. Exits with a message when it cannot. */
struct bus *bus_open(const struct bus_options *options);
void bus_close(struct bus *bus);

/** bus_poll() - wait at most @ms for anything, and call back for what came */
void bus_poll(struct bus *bus, unsigned ms);

/** bus_nodes() - full names of the nodes in the graph, sorted; valid until the next bus_poll() */
const char *const *bus_nodes(const struct bus *bus, unsigned *count);

/** bus_subscriptions() - how many subscriptions match the publisher of a topic */
unsigned bus_subscriptions(struct bus *bus, enum topic topic);

/** bus_user_data() - call @tell with USER_DATA of each remote endpoint that matches ours of @topic
 */
void bus_user_data(struct bus *bus, enum topic topic, void (*tell)(const char *text, size_t size));

/** bus_late() - what is sent from now on looks as if it had been sent so many milliseconds before
 */
void bus_late(struct bus *bus, unsigned ms);

void bus_start(struct bus *bus, const struct start *start);
void bus_end(struct bus *bus);
void bus_status(struct bus *bus, const struct status *status);

/** bus_raw() - publish @size bytes, at least one, on a topic as they are, behind a correct
 * encapsulation header (CDR) */
void bus_raw(struct bus *bus, enum topic topic, const void *bytes, size_t size);

/**
 * bus_storm() - publish @count messages on a topic that are most likely none: random bytes, and
 * strings with lengths and ends that are not theirs; several sizes, a participant each, and none
 * waits for anybody
 */
void bus_storm(struct bus *bus, enum topic topic, unsigned count, unsigned seed);

#endif
