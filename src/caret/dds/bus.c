/* SPDX-License-Identifier: Apache-2.0 */
/* Participant, topics and endpoints of a ROS domain. See bus.h. */
#include "caret/dds/bus.h"
#include "caret/dds/bus_domain.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "messages.h"

static const char enclave[] = "enclave=/;";	/* without it rmw_cyclonedds does not accept a participant as one of ROS */

struct bus {
	dds_entity_t participant;
	uint32_t domain;
	struct bus_callback *callbacks;
};

struct bus_callback {
	struct bus_callback *next;
	void (*on_data)(void *context);
	void *context;
};

static const struct {
	const char *name;
	const char *type;
	const dds_topic_descriptor_t *descriptor;
	dds_durability_kind_t durability;
	dds_reliability_kind_t reads;		/* a reader's reliability; writers are reliable */
	/*
	 * In the endpoint's USER_DATA, from Iron on: nodes log a warning about an endpoint without
	 * it. It is a SHA-256 over a description of the type (REP 2011);
	 * tests/system/lib/lib_types.py computes it.
	 */
	const char *hash;
} topics[BUS_TOPICS] = {
	[BUS_START] = { "rt/caret/start_record", "caret_msgs::msg::dds_::Start_",
			&caret_msgs_msg_dds__Start__desc, DDS_DURABILITY_VOLATILE,
			DDS_RELIABILITY_RELIABLE,
			"a1004b3e18bd77cec7a5e25af7fe890d7338e69375cd2564f6f78f9ad293e05c" },
	[BUS_END] = { "rt/caret/end_record", "caret_msgs::msg::dds_::End_",
		      &caret_msgs_msg_dds__End__desc, DDS_DURABILITY_VOLATILE,
		      DDS_RELIABILITY_RELIABLE,
		      "70cc00c258b28a0db2c3c80caa7ef4af4bc7d51a43c1bd2ca78e0123163ccb40" },
	[BUS_STATUS] = { "rt/caret/status", "caret_msgs::msg::dds_::Status_",
			 &caret_msgs_msg_dds__Status__desc, DDS_DURABILITY_VOLATILE,
			 DDS_RELIABILITY_RELIABLE,
			 "ef68f3290e8a310dc513ea2988a0dfe51390a1a2e99cbafe2cbf09592848daf2" },
	[BUS_CLOCK] = { "rt/clock", "rosgraph_msgs::msg::dds_::Clock_",
			&rosgraph_msgs_msg_dds__Clock__desc, DDS_DURABILITY_VOLATILE,
			DDS_RELIABILITY_BEST_EFFORT,
			"692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564" },
	[BUS_GRAPH] = { "ros_discovery_info", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_",
			&rmw_dds_common_msg_dds__ParticipantEntitiesInfo__desc,
			DDS_DURABILITY_TRANSIENT_LOCAL, DDS_RELIABILITY_RELIABLE,
			"91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e" },
	[BUS_GRAPH_24] = { "ros_discovery_info",
			   "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_",
			   &rmw_dds_common_24_msg_dds__ParticipantEntitiesInfo__desc,
			   DDS_DURABILITY_TRANSIENT_LOCAL, DDS_RELIABILITY_RELIABLE,
			   NULL }, /* Humble has no hashes */
};

/* ---- invalid messages ---- */

/*
 * CycloneDDS itself deserialises and checks messages, and writes a line into its log for each
 * invalid one. So its log comes here. The first invalid message is reported, and of its errors a
 * few in a while: who can reach the agent must not fill the disk with its log. The others are
 * counted.
 */
#define ERRORS_AT_ONCE 4u
#define ERRORS_AGAIN_NS 60000000000 /* after so long a further one is reported */

static struct {
	pthread_mutex_t lock;
	unsigned buses;
	uint64_t invalid; /* messages that were left out */
	uint64_t untold;  /* errors that were not reported */
	unsigned at_once; /* errors that may still be reported now */
	int64_t again_ns; /* when the next one may be */
	void (*say)(void *context, const char *text);
	void *context;
} cyclone = { .lock = PTHREAD_MUTEX_INITIALIZER, .at_once = ERRORS_AT_ONCE };

static bool is_malformed(const char *text)
{
	return strstr(text, "malformed") || strstr(text, "deserialization") || strstr(text, "invalid");
}

static void report(const char *what, const char *message)
{
	char text[512], untold[64] = "";

	if (cyclone.untold)
		(void)snprintf(untold, sizeof untold, " (and %" PRIu64 " errors before)",
			       cyclone.untold);
	(void)snprintf(text, sizeof text, "%s: %.*s%s", what, (int)strcspn(message, "\n"), message,
		       untold);
	cyclone.untold = 0;
	cyclone.say(cyclone.context, text);
}

static void report_error(const char *message)
{
	const int64_t now = now_ns();

	if (!cyclone.at_once && now < cyclone.again_ns) {
		cyclone.untold++;
		return;
	}
	cyclone.at_once -= cyclone.at_once > 0;
	cyclone.again_ns = now + ERRORS_AGAIN_NS;
	report("CycloneDDS", message);
}

static void on_log(void *unused, const dds_log_data_t *data)
{
	(void)unused;
	(void)pthread_mutex_lock(&cyclone.lock);
	if (!cyclone.say)
		;
	else if (is_malformed(data->message)) {
		if (!cyclone.invalid++)
			report("an invalid message was left out, and so will be all others",
			       data->message);
	} else if (data->priority & (DDS_LC_FATAL | DDS_LC_ERROR)) {
		report_error(data->message);
	}
	(void)pthread_mutex_unlock(&cyclone.lock);
}

static void watch_log(void (*say)(void *context, const char *text), void *context)
{
	(void)pthread_mutex_lock(&cyclone.lock);
	cyclone.buses++;
	cyclone.say = say;
	cyclone.context = context;
	(void)pthread_mutex_unlock(&cyclone.lock);
	dds_set_log_sink(on_log, NULL);
}

/* What was not reported, when nothing more comes. */
static void report_rest(void)
{
	char text[160];

	if (cyclone.invalid > 1 && cyclone.say) {
		(void)snprintf(text, sizeof text,
			       "%" PRIu64 " invalid messages were left out in all",
			       cyclone.invalid);
		cyclone.say(cyclone.context, text);
	}
	if (cyclone.untold && cyclone.say) {
		(void)snprintf(text, sizeof text, "CycloneDDS: %" PRIu64 " errors more",
			       cyclone.untold);
		cyclone.say(cyclone.context, text);
	}
	cyclone.invalid = cyclone.untold = 0;
	cyclone.at_once = ERRORS_AT_ONCE;
	cyclone.say = NULL;
}

static void unwatch_log(void)
{
	bool last;

	(void)pthread_mutex_lock(&cyclone.lock);
	last = --cyclone.buses == 0;
	if (last)
		report_rest();
	(void)pthread_mutex_unlock(&cyclone.lock);
	if (last)
		dds_set_log_sink(NULL, NULL);
}

/* ---- participant ---- */

/* Return: the participant, or DDS_RETCODE_...; then the domain is closed. */
static dds_entity_t join_domain(uint32_t domain, const dds_qos_t *qos,
				void (*say)(void *context, const char *text), void *context)
{
	dds_entity_t participant = bus_domain_open(domain, say, context);

	if (participant < 0)
		return participant;
	participant = dds_create_participant(domain, qos, NULL);
	if (participant < 0)
		bus_domain_close(domain);
	return participant;
}

int bus_open(struct bus **result, uint32_t domain, void (*say)(void *context, const char *text),
	     void *context, struct kymo_err *err)
{
	struct bus *bus = calloc(1, sizeof *bus);
	dds_qos_t *qos = dds_create_qos();

	if (!bus || !qos) {
		free(bus);
		dds_delete_qos(qos);
		return err_no_memory(err);
	}
	bus->domain = domain;
	watch_log(say, context);
	dds_qset_userdata(qos, enclave, sizeof enclave - 1);
	bus->participant = join_domain(domain, qos, say, context);
	dds_delete_qos(qos);
	if (bus->participant < 0) {
		int rc = err_set(
			err, KYMO_EXIT_FAILED,
			"cannot join ROS domain %u: %s; perhaps CYCLONEDDS_URI names a network "
			"that does not exist, ROS_STATIC_PEERS a host that does not, or too many "
			"participants are running",
			domain, dds_strretcode(bus->participant));

		unwatch_log();
		free(bus);
		return rc;
	}
	*result = bus;
	return 0;
}

void bus_close(struct bus *bus)
{
	if (!bus)
		return;
	(void)dds_delete(bus->participant);
	bus_domain_close(bus->domain);
	unwatch_log();
	while (bus->callbacks) {
		struct bus_callback *next = bus->callbacks->next;

		free(bus->callbacks);
		bus->callbacks = next;
	}
	free(bus);
}

dds_entity_t bus_participant(const struct bus *bus)
{
	return bus->participant;
}

uint32_t bus_domain(const struct bus *bus)
{
	return bus->domain;
}

/* ---- endpoints ---- */

/*
 * Types have no description for other participants (idlc -t), because ROS 2's types have none: with
 * descriptions on both sides, more than the names would have to agree.
 */
static dds_entity_t make_topic(struct bus *bus, enum bus_topic topic, struct kymo_err *err)
{
	dds_topic_descriptor_t descriptor = *topics[topic].descriptor;
	dds_entity_t entity;

	descriptor.m_typename = topics[topic].type;
	entity = dds_create_topic(bus->participant, &descriptor, topics[topic].name, NULL, NULL);
	if (entity < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create the topic %s: %s", topics[topic].name,
			       dds_strretcode(entity));
	return entity;
}

static dds_qos_t *make_qos(enum bus_topic topic, int depth, dds_reliability_kind_t reliability)
{
	dds_qos_t *qos = dds_create_qos();
	char hash[128];

	if (!qos)
		return NULL;
	if (topics[topic].hash)
		dds_qset_userdata(qos, hash,
				  (size_t)snprintf(hash, sizeof hash, "typehash=RIHS01_%s;",
						   topics[topic].hash));
	dds_qset_reliability(qos, reliability, DDS_MSECS(100));
	dds_qset_durability(qos, topics[topic].durability);
	dds_qset_history(qos, depth == BUS_ALL ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST,
			 depth == BUS_ALL ? 1 : depth);
	if (topics[topic].durability == DDS_DURABILITY_TRANSIENT_LOCAL && depth != BUS_ALL)
		dds_qset_durability_service(qos, 0, DDS_HISTORY_KEEP_LAST, depth,
					    DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED,
					    DDS_LENGTH_UNLIMITED);
	return qos;
}

static void on_data_available(dds_entity_t reader, void *argument)
{
	struct bus_callback *callback = argument;

	(void)reader;
	callback->on_data(callback->context);
}

/* The callback's data lives as long as the bus: CycloneDDS may call it until the participant is
 * deleted. */
static dds_listener_t *make_listener(struct bus *bus, void (*on_data)(void *context), void *context)
{
	struct bus_callback *callback = calloc(1, sizeof *callback);
	dds_listener_t *listener;

	if (!callback)
		return NULL;
	*callback = (struct bus_callback){ bus->callbacks, on_data, context };
	bus->callbacks = callback;
	listener = dds_create_listener(callback);
	if (listener)
		dds_lset_data_available(listener, on_data_available);
	return listener;
}

dds_entity_t bus_reader(struct bus *bus, enum bus_topic topic, int depth,
			void (*on_data)(void *context), void *context, struct kymo_err *err)
{
	dds_listener_t *listener = on_data ? make_listener(bus, on_data, context) : NULL;
	dds_entity_t entity = make_topic(bus, topic, err), reader;
	dds_qos_t *qos;

	if (entity < 0 || (on_data && !listener)) {
		dds_delete_listener(listener);
		return entity < 0 ? -1 : err_no_memory(err);
	}
	qos = make_qos(topic, depth, topics[topic].reads);
	reader = dds_create_reader(bus->participant, entity, qos, listener);
	dds_delete_qos(qos);
	dds_delete_listener(listener);
	if (reader < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot read %s: %s", topics[topic].name, dds_strretcode(reader));
	return reader;
}

dds_entity_t bus_writer(struct bus *bus, enum bus_topic topic, int depth, struct kymo_err *err)
{
	dds_entity_t entity = make_topic(bus, topic, err), writer;
	dds_qos_t *qos;

	if (entity < 0)
		return -1;
	qos = make_qos(topic, depth, DDS_RELIABILITY_RELIABLE);
	writer = dds_create_writer(bus->participant, entity, qos, NULL);
	dds_delete_qos(qos);
	if (writer < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s", topics[topic].name, dds_strretcode(writer));
	return writer;
}

unsigned bus_matched(dds_entity_t endpoint)
{
	dds_publication_matched_status_t writer;
	dds_subscription_matched_status_t reader;

	if (dds_get_publication_matched_status(endpoint, &writer) == DDS_RETCODE_OK)
		return writer.current_count;
	return dds_get_subscription_matched_status(endpoint, &reader) == DDS_RETCODE_OK
		       ? reader.current_count
		       : 0;
}
