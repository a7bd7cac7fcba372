/* SPDX-License-Identifier: Apache-2.0 */
/* See bus.h. QoS as rclpy's and rmw_cyclonedds' are; type names without CycloneDDS's type
 * information, as ROS 2 sends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus.h"
#include "dds/dds.h"
#include "graph.h"
#include "ros.h"

struct bus {
	struct bus_options options;
	dds_entity_t participant, topic[TOPIC_COUNT], writer[TOPIC_COUNT], reader[TOPIC_COUNT];
	dds_entity_t participants, waitset;
	struct graph *graph;
	dds_duration_t late;
};

static const struct {
	const char *name, *type;
	const dds_topic_descriptor_t *descriptor;
} topics[TOPIC_COUNT] = {
	[TOPIC_START] = { "rt/caret/start_record", "caret_msgs::msg::dds_::Start_", &caret_msgs_msg_dds__Start__desc },
	[TOPIC_END] = { "rt/caret/end_record", "caret_msgs::msg::dds_::End_", &caret_msgs_msg_dds__End__desc },
	[TOPIC_STATUS] = { "rt/caret/status", "caret_msgs::msg::dds_::Status_", &caret_msgs_msg_dds__Status__desc },
	[TOPIC_DISCOVERY] = { "ros_discovery_info", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_",
			      &rmw_dds_common_msg_dds__ParticipantEntitiesInfo__desc },
};

static dds_return_t must(dds_return_t result, const char *what)
{
	if (result >= 0)
		return result;
	fprintf(stderr, "caret_client: %s: %s\n", what, dds_strretcode(result));
	exit(1);
}

/* ---- entities ---- */

static dds_entity_t join(const struct bus_options *options)
{
	dds_qos_t *qos = dds_create_qos();
	char user_data[256];
	dds_entity_t participant;

	if (options->enclave) {
		(void)snprintf(user_data, sizeof user_data, "enclave=%s;", options->enclave);
		dds_qset_userdata(qos, user_data, strlen(user_data));
	}
	participant = must(dds_create_participant(options->domain, qos, NULL), "cannot join the domain");
	dds_delete_qos(qos);
	return participant;
}

static dds_entity_t topic_make(dds_entity_t participant, const dds_topic_descriptor_t *type,
			       enum topic topic)
{
	dds_topic_descriptor_t plain;

	memcpy(&plain, type, sizeof plain);	/* its members are const */
	const dds_topic_descriptor_t bare = {
		.m_size = plain.m_size,
		.m_align = plain.m_align,
		.m_nops = plain.m_nops,
		.m_ops = plain.m_ops,
		.m_flagset = plain.m_flagset & ~DDS_TOPIC_XTYPES_METADATA,
		.m_typename = topics[topic].type,
		.m_meta = "",
	};

	return must(dds_create_topic(participant, &bare, topics[topic].name, NULL, NULL),
		    topics[topic].name);
}

/* Commands: KEEP_LAST 1; the command line's Status and everybody's discovery reader: KEEP_ALL. */
static dds_qos_t *qos_of(enum topic topic, bool reads)
{
	dds_qos_t *qos = dds_create_qos();
	bool all = reads && (topic == TOPIC_STATUS || topic == TOPIC_DISCOVERY);

	dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_INFINITY);
	dds_qset_history(qos, all ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST, 1);
	dds_qset_durability(qos, topic == TOPIC_DISCOVERY ? DDS_DURABILITY_TRANSIENT_LOCAL
							  : DDS_DURABILITY_VOLATILE);
	dds_qset_writer_data_lifecycle(qos, false);
	return qos;
}

static dds_entity_t writer_make(dds_entity_t participant, dds_entity_t topic, enum topic kind)
{
	dds_qos_t *qos = qos_of(kind, false);
	dds_entity_t writer = must(dds_create_writer(participant, topic, qos, NULL), "writer");

	dds_delete_qos(qos);
	return writer;
}

static void listen_to(struct bus *bus, enum topic kind)
{
	dds_qos_t *qos = qos_of(kind, true);

	bus->reader[kind] = must(dds_create_reader(bus->participant, bus->topic[kind], qos, NULL), "reader");
	dds_delete_qos(qos);
	must(dds_set_status_mask(bus->reader[kind], DDS_DATA_AVAILABLE_STATUS), "status mask");
	must(dds_waitset_attach(bus->waitset, bus->reader[kind], kind), "waitset");
}

static void gid_of(dds_entity_t entity, void *gid)
{
	dds_guid_t guid;

	must(dds_get_guid(entity, &guid), "guid");
	memcpy(gid, guid.v, sizeof guid.v);	/* Humble's other 8 bytes stay 0 */
}

/* One node with the endpoints that a CARET session node has. */
static void introduce(struct bus *bus)
{
	rmw_dds_common_msg_dds__Gid_ readers[1] = { 0 }, writers[2] = { 0 };
	rmw_dds_common_msg_dds__NodeEntitiesInfo_ node = { .node_namespace = "/" };
	rmw_dds_common_msg_dds__ParticipantEntitiesInfo_ info = { 0 };
	humble_Gid_ readers24[1] = { 0 }, writers24[2] = { 0 };
	humble_NodeEntitiesInfo_ node24 = { .node_namespace = "/" };
	humble_ParticipantEntitiesInfo_ info24 = { 0 };

	(void)snprintf(node.node_name, sizeof node.node_name, "%s", bus->options.node);
	memcpy(node24.node_name, node.node_name, sizeof node24.node_name);
	gid_of(bus->participant, &info.gid);
	gid_of(bus->reader[TOPIC_STATUS], &readers[0]);
	gid_of(bus->writer[TOPIC_START], &writers[0]);
	gid_of(bus->writer[TOPIC_END], &writers[1]);
	memcpy(&info24.gid, &info.gid, sizeof info.gid);
	memcpy(&readers24[0], &readers[0], sizeof readers[0]);
	for (int i = 0; i < 2; i++)
		memcpy(&writers24[i], &writers[i], sizeof writers[i]);
	node.reader_gid_seq._length = node24.reader_gid_seq._length = 1;
	node.writer_gid_seq._length = node24.writer_gid_seq._length = 2;
	node.reader_gid_seq._buffer = readers;
	node.writer_gid_seq._buffer = writers;
	node24.reader_gid_seq._buffer = readers24;
	node24.writer_gid_seq._buffer = writers24;
	info.node_entities_info_seq._length = info24.node_entities_info_seq._length = 1;
	info.node_entities_info_seq._buffer = &node;
	info24.node_entities_info_seq._buffer = &node24;
	must(dds_write(bus->writer[TOPIC_DISCOVERY], bus->options.humble ? (void *)&info24 : (void *)&info), "discovery");
}

struct bus *bus_open(const struct bus_options *options)
{
	struct bus *bus = calloc(1, sizeof *bus);

	if (!bus || !(bus->graph = graph_new()))
		abort();
	bus->options = *options;
	bus->participant = join(options);
	bus->waitset = must(dds_create_waitset(bus->participant), "waitset");
	bus->participants = must(dds_create_reader(bus->participant, DDS_BUILTIN_TOPIC_DCPSPARTICIPANT, NULL, NULL), "reader");
	must(dds_set_status_mask(bus->participants, DDS_DATA_AVAILABLE_STATUS), "status mask");
	must(dds_waitset_attach(bus->waitset, bus->participants, TOPIC_COUNT), "waitset");
	for (enum topic topic = 0; topic < TOPIC_COUNT; topic++) {
		const dds_topic_descriptor_t *type = options->humble && topic == TOPIC_DISCOVERY ?
			&humble_ParticipantEntitiesInfo__desc : topics[topic].descriptor;

		bus->topic[topic] = topic_make(bus->participant, type, topic);
		if (topic >= TOPIC_STATUS || options->on_command)
			listen_to(bus, topic);
		if (topic != TOPIC_STATUS || options->forges)
			bus->writer[topic] =
				writer_make(bus->participant, bus->topic[topic], topic);
	}
	introduce(bus);
	return bus;
}

void bus_close(struct bus *bus)
{
	must(dds_delete(bus->participant), "cannot leave the domain");
	graph_free(bus->graph);
	free(bus);
}

/* ---- what comes ---- */

static void take_participants(struct bus *bus)
{
	void *sample[1] = { NULL };
	dds_sample_info_t info;

	while (must(dds_take(bus->participants, sample, &info, 1, 1), "participants") == 1) {
		const dds_builtintopic_participant_t *participant = sample[0];
		void *data = NULL;
		size_t size = 0;

		if (info.instance_state != DDS_ALIVE_INSTANCE_STATE)
			graph_gone(bus->graph, participant->key.v);
		else if (participant->qos && dds_qget_userdata(participant->qos, &data, &size))
			graph_participant(bus->graph, participant->key.v, data, size);
		dds_free(data);
		(void)dds_return_loan(bus->participants, sample, 1);
	}
}

static void discovered(struct bus *bus, const void *sample)
{
	const rmw_dds_common_msg_dds__ParticipantEntitiesInfo_ *info = sample;
	const humble_ParticipantEntitiesInfo_ *info24 = sample;
	bool humble = bus->options.humble;
	unsigned count = humble ? info24->node_entities_info_seq._length
				: info->node_entities_info_seq._length;
	const uint8_t *gid = humble ? info24->gid.data : info->gid.data;

	graph_nodes_begin(bus->graph, gid);
	for (unsigned i = 0; i < count; i++)
		if (humble)
			graph_node(bus->graph, gid,
				   info24->node_entities_info_seq._buffer[i].node_namespace,
				   info24->node_entities_info_seq._buffer[i].node_name);
		else
			graph_node(bus->graph, gid,
				   info->node_entities_info_seq._buffer[i].node_namespace,
				   info->node_entities_info_seq._buffer[i].node_name);
}

static void command_came(struct bus *bus, enum topic topic, const void *sample)
{
	const caret_msgs_msg_dds__Start_ *start = sample;
	struct start told;

	if (topic == TOPIC_END) {
		bus->options.on_command(topic, NULL);
		return;
	}
	told = (struct start){ start->recording_frequency,
			       { start->ignore_nodes, start->ignore_topics, start->select_nodes,
				 start->select_topics } };
	bus->options.on_command(topic, &told);
}

static void status_came(struct bus *bus, const void *sample)
{
	const caret_msgs_msg_dds__Status_ *status = sample;

	bus->options.on_status(&(struct status){
		.node = status->caret_node_name,
		.status = (int8_t)status->status,
		.pid = status->pid,
		.node_names = (const char *const *)status->node_names._buffer,
		.node_count = status->node_names._length,
	});
}

static void take(struct bus *bus, enum topic topic)
{
	void *sample[1] = { NULL };
	dds_sample_info_t info;

	while (must(dds_take(bus->reader[topic], sample, &info, 1, 1), "take") == 1) {
		if (!info.valid_data)
			;
		else if (topic == TOPIC_DISCOVERY)
			discovered(bus, sample[0]);
		else if (topic == TOPIC_STATUS)
			status_came(bus, sample[0]);
		else
			command_came(bus, topic, sample[0]);
		(void)dds_return_loan(bus->reader[topic], sample, 1);
	}
}

void bus_poll(struct bus *bus, unsigned ms)
{
	dds_attach_t which[TOPIC_COUNT + 1];
	dds_return_t count = must(dds_waitset_wait(bus->waitset, which, TOPIC_COUNT + 1, DDS_MSECS(ms)), "wait");

	for (dds_return_t i = 0; i < count && i <= TOPIC_COUNT; i++)
		if (which[i] == TOPIC_COUNT)
			take_participants(bus);
		else
			take(bus, (enum topic)which[i]);
	if (graph_changed(bus->graph) && bus->options.on_nodes) {
		unsigned nodes;
		const char *const *names = graph_names(bus->graph, &nodes);

		bus->options.on_nodes(names, nodes);
	}
}

const char *const *bus_nodes(const struct bus *bus, unsigned *count)
{
	return graph_names(bus->graph, count);
}

unsigned bus_subscriptions(struct bus *bus, enum topic topic)
{
	dds_publication_matched_status_t matched;

	must(dds_get_publication_matched_status(bus->writer[topic], &matched), "matched");
	return matched.current_count;
}

static void tell_user_data(dds_builtintopic_endpoint_t *endpoint,
			   void (*tell)(const char *text, size_t size))
{
	void *data = NULL;
	size_t size = 0;

	if (!endpoint)
		return;
	if (dds_qget_userdata(endpoint->qos, &data, &size))
		tell(data, size);
	dds_free(data);
	dds_builtintopic_free_endpoint(endpoint);
}

void bus_user_data(struct bus *bus, enum topic topic, void (*tell)(const char *text, size_t size))
{
	dds_instance_handle_t other[64];
	dds_return_t count;

	if (bus->writer[topic]) {
		count = must(dds_get_matched_subscriptions(bus->writer[topic], other, 64),
			     "subscriptions");
		for (dds_return_t i = 0; i < count && i < 64; i++)
			tell_user_data(
				dds_get_matched_subscription_data(bus->writer[topic], other[i]),
				tell);
	}
	if (bus->reader[topic]) {
		count = must(dds_get_matched_publications(bus->reader[topic], other, 64),
			     "publications");
		for (dds_return_t i = 0; i < count && i < 64; i++)
			tell_user_data(
				dds_get_matched_publication_data(bus->reader[topic], other[i]),
				tell);
	}
}

/* ---- what goes ---- */

void bus_late(struct bus *bus, unsigned ms)
{
	bus->late = DDS_MSECS(ms);
}

void bus_start(struct bus *bus, const struct start *start)
{
	caret_msgs_msg_dds__Start_ message = {
		.recording_frequency = start->recording_frequency,
		.ignore_nodes = (char *)start->filter[0], .ignore_topics = (char *)start->filter[1],
		.select_nodes = (char *)start->filter[2], .select_topics = (char *)start->filter[3],
	};

	must(dds_write_ts(bus->writer[TOPIC_START], &message, dds_time() - bus->late),
	     "cannot send Start");
}

void bus_end(struct bus *bus)
{
	must(dds_write_ts(bus->writer[TOPIC_END], &(caret_msgs_msg_dds__End_){ 0 },
			  dds_time() - bus->late),
	     "cannot send End");
}

void bus_status(struct bus *bus, const struct status *status)
{
	caret_msgs_msg_dds__Status_ message = {
		.caret_node_name = (char *)status->node,
		.status = (uint8_t)status->status,
		.pid = status->pid,
		.node_names = { ._length = status->node_count,
				._buffer = (char **)status->node_names },
	};

	must(dds_write(bus->writer[TOPIC_STATUS], &message), "cannot send Status");
}

/* A type of so many bytes and nothing else, under the name of the other one; a participant has one
 * type per topic. */
static dds_entity_t bytes_writer(struct bus *bus, enum topic topic, size_t size,
				 dds_entity_t *participant)
{
	const uint32_t ops[] = { DDS_OP_ADR | DDS_OP_TYPE_ARR | DDS_OP_SUBTYPE_1BY, 0,
				 (uint32_t)size, DDS_OP_RTS };
	const dds_topic_descriptor_t type = {
		.m_size = (uint32_t)size,
		.m_align = 1,
		.m_flagset = DDS_TOPIC_FIXED_SIZE,
		.m_nops = 2,
		.m_ops = ops,
	};
	const unsigned others = bus_subscriptions(bus, topic);
	dds_publication_matched_status_t matched = { 0 };
	dds_entity_t writer;

	*participant = join(&bus->options);
	writer = writer_make(*participant, topic_make(*participant, &type, topic), topic);
	/* Volatile: who is not known yet does not get it. */
	while (matched.current_count < others) {
		bus_poll(bus, 10);
		must(dds_get_publication_matched_status(writer, &matched), "matched");
	}
	return writer;
}

void bus_raw(struct bus *bus, enum topic topic, const void *bytes, size_t size)
{
	dds_entity_t participant, writer = bytes_writer(bus, topic, size, &participant);

	must(dds_write(writer, bytes), "cannot send bytes");
	(void)dds_wait_for_acks(writer, DDS_SECS(10));
	must(dds_delete(participant), "cannot leave the domain");
}

static uint32_t random_next(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* Words, most of them small: lengths of what follows, and sometimes text. */
static void make_nonsense(unsigned char *bytes, size_t size, uint32_t *seed)
{
	for (size_t i = 0; i < size; i += 4) {
		uint32_t word = random_next(seed);

		word = word % 5 == 0   ? word
		       : word % 5 == 1 ? 0xffffffffu - word % 9
		       : word % 5 == 2 ? 0x00616161
				       : word % 32;
		memcpy(bytes + i, &word, size - i < 4 ? size - i : 4);
	}
}

void bus_storm(struct bus *bus, enum topic topic, unsigned count, unsigned seed)
{
	static const size_t sizes[] = { 1, 4, 8, 21, 64, 1000, 60000 };
	static unsigned char bytes[60000];
	uint32_t random = seed * 2654435761u | 1;

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		dds_entity_t participant, writer = bytes_writer(bus, topic, sizes[i], &participant);

		for (unsigned n = 0; n < count / (sizeof sizes / sizeof *sizes) + 1; n++) {
			make_nonsense(bytes, sizes[i], &random);
			must(dds_write(writer, bytes), "cannot send bytes");
			bus_poll(bus, 0);
		}
		(void)dds_wait_for_acks(writer, DDS_SECS(10));
		must(dds_delete(participant), "cannot leave the domain");
	}
}
