/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A participant of one ROS domain that ROS 2 takes for one of its own: USER_DATA with an enclave, topics
 * and types with ROS's names. One table, bus.c, says name, type and QoS of each topic; bus_reader() and
 * bus_writer() make the endpoints, which are plain CycloneDDS entities from there on (dds_write(), dds_take()).
 *
 *   bus_open(&bus, 0, say, context, &err)
 *   status = bus_writer(bus, BUS_STATUS, 1, &err)          dds_write(status, &message)
 *   start = bus_reader(bus, BUS_START, 1, on_start, context, &err)
 *   bus_close(bus)                                         with all that was made of it
 *
 * The generated types are in "messages.h": caret_msgs_msg_dds__Start_, ... A message for another topic: a
 * struct in messages.idl, a row in enum bus_topic and in the table.
 */
#ifndef KYMO_CONTROL_DDS_BUS_H
#define KYMO_CONTROL_DDS_BUS_H

#include <stdbool.h>
#include <stdint.h>

#include <dds/dds.h>

#include "base/err.h"

#define BUS_DOMAIN_MAX	232u		/* by ROS: ports of a larger one are no ports */
#define BUS_ALL		0		/* as a depth: KEEP_ALL */

enum bus_topic {
	BUS_START,		/* caret_msgs_msg_dds__Start_ */
	BUS_END,		/* caret_msgs_msg_dds__End_ */
	BUS_STATUS,		/* caret_msgs_msg_dds__Status_ */
	BUS_CLOCK,		/* rosgraph_msgs_msg_dds__Clock_: the time of a simulation */
	BUS_GRAPH,		/* rmw_dds_common_msg_dds__ParticipantEntitiesInfo_: ROS 2 Iron and later */
	BUS_GRAPH_24,		/* rmw_dds_common_24_msg_dds__ParticipantEntitiesInfo_: until Humble */
	BUS_TOPICS
};

struct bus;

/**
 * bus_open() - join @domain, as CYCLONEDDS_URI says in which networks
 * @say: is told once, in a sentence, when messages come that are none; on any thread. May be NULL.
 *
 * Return: 0; -1 with @err. Context: allocates, blocks; makes threads of CycloneDDS.
 */
int bus_open(struct bus **bus, uint32_t domain, void (*say)(void *context, const char *text), void *context,
	     struct kymo_err *err);

/** bus_close() - leave, with all readers and writers. NULL is fine. Context: blocks; no callback runs afterwards. */
void bus_close(struct bus *bus);

/** bus_participant() - to make further entities. */
dds_entity_t bus_participant(const struct bus *bus);

/** bus_domain() - its number. */
uint32_t bus_domain(const struct bus *bus);

/**
 * bus_reader() - read @topic
 * @depth: samples that are kept until they are taken, of all writers together; BUS_ALL
 * @on_data: there is something to take. On a thread of CycloneDDS: uv_async_send() and nothing more. May be
 *	NULL: then poll.
 *
 * Return: the reader; -1 with @err.
 */
dds_entity_t bus_reader(struct bus *bus, enum bus_topic topic, int depth, void (*on_data)(void *context),
			void *context, struct kymo_err *err);

/**
 * bus_writer() - write @topic
 * @depth: samples that are kept for readers that have not got them yet; BUS_ALL: dds_write() waits for
 *	them, at most a tenth of a second
 *
 * Return: the writer; -1 with @err.
 */
dds_entity_t bus_writer(struct bus *bus, enum bus_topic topic, int depth, struct kymo_err *err);

/** bus_matched() - how many endpoints of others @endpoint, a reader or writer, is connected with. */
unsigned bus_matched(dds_entity_t endpoint);

/** bus_malformed() - messages, of all participants of this program, that were none and were left out. */
uint64_t bus_malformed(void);

#endif
