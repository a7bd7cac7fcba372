/* SPDX-License-Identifier: Apache-2.0 */
/* CARET's topics and the ROS graph of a domain. See speaker.h. */
#include "caret/dds/speaker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caret/dds/bus.h"
#include "caret/dds/dds_clock.h"
#include "messages.h"

/*
 * One writer publishes the states of all processes, and keeps what its readers have not received
 * yet. CARET has a writer in each process that keeps only the last state, so a PREPARE may be
 * overwritten. docs/decisions/agent.md has the numbers.
 */
#define STATUS_KEPT	4096
#define COMMAND_KEPT	1

struct speaker {
	struct speaker_options options;
	struct bus *bus;
	struct dds_clock *clock;		/* NULL: not recorded */
	dds_entity_t start, end, status, graph;
	enum agent_graph form;		/* of graph; AUTO: nothing was sent */
	char *told;			/* the names that were sent last */
	size_t told_size;
	bool told_invalid; /* that a Start was left out */
};

static dds_entity_t listen_to(struct speaker *speaker, enum bus_topic topic, struct kymo_err *err)
{
	return bus_reader(speaker->bus, topic, COMMAND_KEPT, speaker->options.arrived,
			  speaker->options.context, err);
}

int speaker_open(struct speaker **result, const struct speaker_options *options,
		 struct kymo_err *err)
{
	struct speaker *speaker = calloc(1, sizeof *speaker);

	if (!speaker)
		return err_no_memory(err);
	speaker->options = *options;
	if (bus_open(&speaker->bus, options->domain, options->say, options->context, err) == 0 &&
	    (speaker->status = bus_writer(speaker->bus, BUS_STATUS, STATUS_KEPT, err)) > 0 &&
	    (speaker->end = listen_to(speaker, BUS_END, err)) > 0 &&
	    (speaker->start = listen_to(speaker, BUS_START, err)) > 0) {
		*result = speaker;
		return 0;
	}
	speaker_close(speaker);
	return -1;
}

void speaker_close(struct speaker *speaker)
{
	if (!speaker)
		return;
	dds_clock_close(speaker->clock);
	bus_close(speaker->bus);
	free(speaker->told);
	free(speaker);
}

uint32_t speaker_domain(const struct speaker *speaker)
{
	return speaker->options.domain;
}

int speaker_record_clock(struct speaker *speaker, unsigned rate, bool of_several,
			 struct kymo_err *err)
{
	return dds_clock_open(&speaker->clock, speaker->bus, rate, of_several, err);
}

void speaker_want_clock(struct speaker *speaker, bool wanted)
{
	if (speaker->clock)
		dds_clock_want(speaker->clock, wanted);
}

bool speaker_has_clock(const struct speaker *speaker)
{
	return speaker->clock && dds_clock_has_time(speaker->clock);
}

bool speaker_clock_is_torn(const struct speaker *speaker)
{
	return speaker->clock && dds_clock_is_torn(speaker->clock);
}

__attribute__((format(printf, 2, 3)))
static void say(const struct speaker *speaker, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);
	va_end(args);
	speaker->options.say(speaker->options.context, text);
}

/* ---- the graph ---- */

/* A Gid is the entity's GUID, filled up with zeros. */
static void put_gid(uint8_t *gid, dds_entity_t entity)
{
	dds_guid_t guid = { { 0 } };

	(void)dds_get_guid(entity, &guid);
	memcpy(gid, guid.v, sizeof guid.v);
}

/*
 * Both forms, from one text: @module is the prefix of the generated types. Every node is given the
 * agent's readers and writer: by these it receives and sends.
 */
#define SEND_GRAPH(function, module)									\
static dds_return_t function(const struct speaker *speaker, const char *const *name, unsigned count)	\
{													\
	module##_msg_dds__ParticipantEntitiesInfo_ info = { 0 };					\
	module##_msg_dds__Gid_ reads[2] = { 0 }, writes = { 0 };					\
	module##_msg_dds__NodeEntitiesInfo_ *node = calloc(count + 1, sizeof *node);			\
	dds_return_t rc;										\
													\
	if (!node)											\
		return DDS_RETCODE_OUT_OF_RESOURCES;							\
	put_gid(info.gid.data, bus_participant(speaker->bus));						\
	put_gid(reads[0].data, speaker->start);								\
	put_gid(reads[1].data, speaker->end);								\
	put_gid(writes.data, speaker->status);								\
	for (unsigned i = 0; i < count; i++) {								\
		(void)snprintf(node[i].node_namespace, sizeof node[i].node_namespace, "/");		\
		(void)snprintf(node[i].node_name, sizeof node[i].node_name, "%s", name[i]);		\
		node[i].reader_gid_seq._maximum = node[i].reader_gid_seq._length = 2;			\
		node[i].reader_gid_seq._buffer = reads;							\
		node[i].writer_gid_seq._maximum = node[i].writer_gid_seq._length = 1;			\
		node[i].writer_gid_seq._buffer = &writes;						\
	}												\
	info.node_entities_info_seq._maximum = info.node_entities_info_seq._length = count;		\
	info.node_entities_info_seq._buffer = node;							\
	rc = dds_write(speaker->graph, &info);								\
	free(node);											\
	return rc;											\
}

SEND_GRAPH(send_iron, rmw_dds_common)
SEND_GRAPH(send_humble, rmw_dds_common_24)

/* The names as one text. Return: whether they have changed. */
static bool remember(struct speaker *speaker, const char *const *name, unsigned count)
{
	const size_t size = (size_t)count * ROSTER_NAME_MAX;
	char *text = calloc(1, size + 1);
	bool same;

	for (unsigned i = 0; text && i < count; i++)
		(void)snprintf(text + i * ROSTER_NAME_MAX, ROSTER_NAME_MAX, "%s", name[i]);
	same = text && speaker->told && speaker->told_size == size &&
	       memcmp(text, speaker->told, size) == 0;
	free(speaker->told);
	speaker->told = text;
	speaker->told_size = size;
	return !same;
}

static bool choose(struct speaker *speaker, enum agent_graph form)
{
	struct kymo_err err;

	if (speaker->form == form)
		return true;
	if (speaker->form != AGENT_GRAPH_AUTO)
		(void)dds_delete(speaker->graph);
	free(speaker->told);
	speaker->told = NULL;
	speaker->form = AGENT_GRAPH_AUTO;
	speaker->graph = bus_writer(speaker->bus,
				    form == AGENT_GRAPH_HUMBLE ? BUS_GRAPH_24 : BUS_GRAPH, 1, &err);
	if (speaker->graph < 0) {
		say(speaker, "%s; the traced processes will not be in the ROS graph", err.text);
		return false;
	}
	speaker->form = form;
	return true;
}

void speaker_graph(struct speaker *speaker, enum agent_graph form, const char *const *name,
		   unsigned count)
{
	dds_return_t rc;

	/* There is nothing to publish, and the form is not known yet. */
	if (!count && speaker->form == AGENT_GRAPH_AUTO)
		return;
	if (!choose(speaker, form) || !remember(speaker, name, count))
		return;
	rc = form == AGENT_GRAPH_HUMBLE ? send_humble(speaker, name, count)
					: send_iron(speaker, name, count);
	if (rc < 0)
		say(speaker, "cannot publish the traced processes in ROS domain %u: %s", speaker->options.domain,
		    dds_strretcode(rc));
}

/* ---- states ---- */

void speaker_status(struct speaker *speaker, const struct roster_process *process)
{
	const struct nodes *nodes = &process->nodes;
	char **names = calloc(nodes->count + 1, sizeof *names);
	caret_msgs_msg_dds__Status_ status = {
		.caret_node_name = (char *)process->name,
		.status = (int8_t)process->state,
		.pid = process->host_pid ? process->host_pid : (int64_t)process->region.pid,
	};
	dds_return_t rc;

	for (unsigned i = 0; names && i < nodes->count; i++)
		names[i] = nodes->node[i].name;
	status.node_names._length = status.node_names._maximum = names ? nodes->count : 0;
	status.node_names._buffer = names;
	rc = dds_write(speaker->status, &status);
	if (rc < 0)
		say(speaker, "cannot publish the state of process %d: %s", (int)status.pid, dds_strretcode(rc));
	free(names);
}

/* ---- commands ---- */

static void leave_out(struct speaker *speaker, const struct kymo_err *err)
{
	if (!speaker->told_invalid)
		say(speaker, "a Start in ROS domain %u is invalid and left out, and so will be all other invalid ones: %s",
		    speaker->options.domain, err->text);
	speaker->told_invalid = true;
}

static bool read_start(struct speaker *speaker, const caret_msgs_msg_dds__Start_ *message,
		       struct start *start)
{
	const char *const text[CARET_LISTS] = {
		[CARET_SELECT_NODES] = message->select_nodes,
		[CARET_IGNORE_NODES] = message->ignore_nodes,
		[CARET_SELECT_TOPICS] = message->select_topics,
		[CARET_IGNORE_TOPICS] = message->ignore_topics,
	};
	struct kymo_err err;

	*start = (struct start){ .recording_frequency = message->recording_frequency };
	for (unsigned i = 0; i < CARET_LISTS; i++)
		if (start_set(start, (enum filter_caret_list)i, text[i], &err) < 0) {
			leave_out(speaker, &err);
			start_free(start);
			return false;
		}
	return true;
}

/* The participant, because a sender's Start and End come from two writers. */
static void learn_sender(dds_entity_t reader, const dds_sample_info_t *info,
			 struct order_sent *sent)
{
	dds_builtintopic_endpoint_t *writer =
		dds_get_matched_publication_data(reader, info->publication_handle);

	*sent = (struct order_sent){ .ns = info->source_timestamp };
	if (!writer)
		return; /* it has left */
	memcpy(sent->sender, writer->participant_key.v, sizeof sent->sender);
	dds_builtintopic_free_endpoint(writer);
}

/* The next command of @reader. @start: where a Start goes; NULL: it is an End. Return: whether
 * there was one. */
static bool take(struct speaker *speaker, dds_entity_t reader, struct start *start,
		 struct order_sent *sent)
{
	dds_sample_info_t info;
	bool found = false;

	while (!found) {
		void *sample[1] = {NULL};

		if (dds_take(reader, sample, &info, 1, 1) != 1)
			break;
		found = info.valid_data && (!start || read_start(speaker, sample[0], start));
		learn_sender(reader, &info, sent);
		(void)dds_return_loan(reader, sample, 1);
	}
	return found;
}

bool speaker_take_start(struct speaker *speaker, struct start *start, struct order_sent *sent)
{
	return take(speaker, speaker->start, start, sent);
}

bool speaker_take_end(struct speaker *speaker, struct order_sent *sent)
{
	return take(speaker, speaker->end, NULL, sent);
}
