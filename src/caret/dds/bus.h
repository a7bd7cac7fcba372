/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A participant of a ROS domain that ROS 2 accepts as one of its own: USER_DATA with an enclave,
 * topics and types with ROS's names. A table in bus.c has the name, type and QoS of each topic.
 * bus_reader() and bus_writer() create the endpoints, which are plain CycloneDDS entities
 * (dds_write(), dds_take()).
 *
 *   bus_open(&bus, 0, say, context, &err)
 *   status = bus_writer(bus, BUS_STATUS, 1, &err)          dds_write(status, &message)
 *   start = bus_reader(bus, BUS_START, 1, on_start, context, &err)
 *   bus_close(bus)                                         with all endpoints
 *
 * The generated types are in "messages.h": caret_msgs_msg_dds__Start_, ... For another topic add a
 * struct in messages.idl and a row in enum bus_topic and in the table.
 */
#ifndef KYMO_CARET_DDS_BUS_H
#define KYMO_CARET_DDS_BUS_H

#include <stdint.h>

#include <dds/dds.h>

#include "base/err.h"

#define BUS_ALL		0		/* a depth: KEEP_ALL */

enum bus_topic {
	BUS_START,    /* caret_msgs_msg_dds__Start_ */
	BUS_END,      /* caret_msgs_msg_dds__End_ */
	BUS_STATUS,   /* caret_msgs_msg_dds__Status_ */
	BUS_CLOCK,    /* rosgraph_msgs_msg_dds__Clock_: time of a simulation */
	BUS_GRAPH,    /* rmw_dds_common_msg_dds__ParticipantEntitiesInfo_: Iron and later */
	BUS_GRAPH_24, /* rmw_dds_common_24_msg_dds__ParticipantEntitiesInfo_: up to Humble */
	BUS_TOPICS
};

struct bus;

/**
 * bus_open() - join @domain; ROS 2's discovery variables and CYCLONEDDS_URI configure the networks
 * @say: called with the first invalid message, and with CycloneDDS's errors; on any thread. May be
 * NULL.
 *
 * Return: 0; -1 with @err. Context: allocates, blocks; creates threads of CycloneDDS.
 */
int bus_open(struct bus **bus, uint32_t domain, void (*say)(void *context, const char *text),
	     void *context, struct kymo_err *err);

/** bus_close() - leave the domain. NULL: nothing. Context: blocks; no callback runs afterwards. */
void bus_close(struct bus *bus);

/** bus_participant() - for further entities. */
dds_entity_t bus_participant(const struct bus *bus);

/** bus_domain() - its number. */
uint32_t bus_domain(const struct bus *bus);

/**
 * bus_reader() - read @topic
 * @depth: samples of all writers that are kept until they are read; BUS_ALL
 * @on_data: there is something to read. On a thread of CycloneDDS: call only uv_async_send(). May
 *	be NULL: then poll.
 *
 * Return: the reader; -1 with @err.
 */
dds_entity_t bus_reader(struct bus *bus, enum bus_topic topic, int depth,
			void (*on_data)(void *context), void *context, struct kymo_err *err);

/**
 * bus_writer() - write @topic
 * @depth: samples that are kept for readers that do not have them yet; BUS_ALL: dds_write() waits
 *	for these readers, at most a tenth of a second
 *
 * Return: the writer; -1 with @err.
 */
dds_entity_t bus_writer(struct bus *bus, enum bus_topic topic, int depth, struct kymo_err *err);

/** bus_matched() - how many remote endpoints @endpoint is connected with. */
unsigned bus_matched(dds_entity_t endpoint);

#endif
