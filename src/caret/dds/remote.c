/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording on all hosts of a domain. See remote.h. One thread that polls every POLL_NS, which is
 * often enough: hosts need hundreds of milliseconds to answer.
 */
#include "caret/agent/remote.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "caret/dds/bus.h"
#include "messages.h"
#include "base/array.h"
#include "base/now.h"

#define POLL_NS		20000000
#define SETTLED_NS	1000000000	/* without a new host for this time, all are found */
#define NOBODY_NS	3000000000	/* wait this time for the first host */
#define STUCK_NS	3000000000	/* report hosts that have not begun by then */
#define AGAIN_NS 1000000000 /* to the first repetition of a Start; 2 s to the next, 4 s */
#define AGAIN_MAX 5         /* repetitions */
#define ANSWER_NS	3000000000	/* for the answers to an End */
#define READERS_MAX	1024		/* of Start */

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

struct remote {
	const struct remote_options *options;
	struct hosts *hosts;
	enum remote_phase phase;
	struct bus *bus;
	dds_entity_t participants, graph, status, start, end;
	int64_t now, phase_ns, changed_ns, asked_ns, started_ns;
	unsigned changes, sent; /* hosts.changes at the last report; hosts at the last Start */
	unsigned again;         /* repetitions of the last Start */
	bool told;              /* hosts that have not begun were reported */
};

/* ---- hosts ---- */

/* CycloneDDS reports its host's name; hosts with another DDS get their DDS address as a name. */
static void learn_host(struct remote *remote, const dds_builtintopic_endpoint_t *reader)
{
	void *sample[1] = { NULL };
	dds_sample_info_t info;
	char *name = NULL;

	if (dds_read_instance(remote->participants, sample, &info, 1, 1,
			      reader->participant_instance_handle) == 1) {
		const dds_builtintopic_participant_t *participant = sample[0];

		if (info.valid_data && participant->qos)
			(void)dds_qget_prop(participant->qos, "__Hostname", &name);
		(void)dds_return_loan(remote->participants, sample, 1);
	}
	hosts_listens(remote->hosts, reader->participant_key.v, name);
	dds_free(name);
}

/* Finds new participants that subscribe to Start, and those that left. */
static void find_hosts(struct remote *remote)
{
	static dds_instance_handle_t reader[READERS_MAX];
	static bool here[HOSTS_MAX];
	struct hosts *hosts = remote->hosts;
	dds_return_t count = dds_get_matched_subscriptions(remote->start, reader, READERS_MAX);

	memset(here, 0, sizeof here);
	for (dds_return_t i = 0; i < count && i < (int)READERS_MAX; i++) {
		dds_builtintopic_endpoint_t *data =
			dds_get_matched_subscription_data(remote->start, reader[i]);

		if (!data)
			continue;
		learn_host(remote, data);
		for (unsigned j = 0; j < hosts->count; j++)
			here[j] |=
				memcmp(hosts->host[j].key, data->participant_key.v, HOSTS_KEY) == 0;
		dds_builtintopic_free_endpoint(data);
	}
	for (unsigned j = 0; count >= 0 && j < hosts->count; j++)
		if (!here[j] && hosts->host[j].listens)
			hosts_gone(hosts, hosts->host[j].key);
}

/* Both forms begin with a Gid; its first bytes are the participant's key. */
static void take_graph(struct remote *remote)
{
	void *sample[1] = { NULL };
	dds_sample_info_t info;
	const char *name[HOSTS_PROCESS_MAX];

	while (dds_take(remote->graph, sample, &info, 1, 1) == 1) {
		const rmw_dds_common_msg_dds__ParticipantEntitiesInfo_ *iron = sample[0];
		const rmw_dds_common_24_msg_dds__ParticipantEntitiesInfo_ *humble = sample[0];
		const bool old = remote->options->humble;
		uint32_t count = old ? humble->node_entities_info_seq._length
				     : iron->node_entities_info_seq._length;

		count = count < HOSTS_PROCESS_MAX ? count : HOSTS_PROCESS_MAX;
		for (uint32_t i = 0; info.valid_data && i < count; i++)
			name[i] = old ? humble->node_entities_info_seq._buffer[i].node_name :
				  iron->node_entities_info_seq._buffer[i].node_name;
		if (info.valid_data)
			hosts_graph(remote->hosts, old ? humble->gid.data : iron->gid.data, name,
				    count);
		(void)dds_return_loan(remote->graph, sample, 1);
	}
}

static void take_status(struct remote *remote)
{
	void *sample[1] = { NULL };
	dds_sample_info_t info;

	while (dds_take(remote->status, sample, &info, 1, 1) == 1) {
		const caret_msgs_msg_dds__Status_ *status = sample[0];
		dds_builtintopic_endpoint_t *writer =
			info.valid_data ? dds_get_matched_publication_data(remote->status,
									   info.publication_handle)
					: NULL;

		if (writer) {		/* else it has left */
			hosts_status(remote->hosts, writer->participant_key.v,
				     status->caret_node_name, status->status, status->pid,
				     status->node_names._length);
			dds_builtintopic_free_endpoint(writer);
		}
		(void)dds_return_loan(remote->status, sample, 1);
	}
}

static void read_all(struct remote *remote)
{
	find_hosts(remote);
	take_graph(remote);
	take_status(remote);
	remote->now = now_ns();
	if (remote->hosts->changes == remote->changes)
		return;
	remote->changes = remote->hosts->changes;
	remote->changed_ns = remote->now;
	remote->options->changed(remote->options->context, remote->phase, remote->hosts);
}

/* ---- sending ---- */

static void enter(struct remote *remote, enum remote_phase phase)
{
	remote->phase = phase;
	remote->phase_ns = remote->now;
	remote->options->changed(remote->options->context, phase, remote->hosts);
}

static int sent(dds_return_t result, const char *what, struct kymo_err *err)
{
	return result < 0 ? err_set(err, KYMO_EXIT_FAILED, "cannot send %s: %s", what, dds_strretcode(result)) : 0;
}

/* Without filters: each host uses its session's. */
static int send_start(struct remote *remote, struct kymo_err *err)
{
	static char none[] = "";
	const caret_msgs_msg_dds__Start_ start = { remote->options->frequency, none, none, none,
						   none };

	remote->sent = hosts_tally(remote->hosts, NULL).hosts;
	remote->started_ns = remote->now;
	return sent(dds_write(remote->start, &start), "Start", err);
}

/* All hosts are asked. */
static int begin(struct remote *remote, struct kymo_err *err)
{
	remote->told = false;
	remote->again = 0;
	remote->asked_ns = remote->now;
	hosts_asked(remote->hosts);
	return send_start(remote, err);
}

/*
 * An answer may be lost: the host knows our Start already, but not yet that we read its states, and
 * DDS keeps nothing for a reader that it does not know. A Start that comes again changes nothing on
 * a host that has answered.
 */
static bool is_answer_missing(const struct remote *remote)
{
	const struct hosts_tally all = hosts_tally(remote->hosts, NULL);
	const int64_t since_ns =
		remote->started_ns > remote->changed_ns ? remote->started_ns : remote->changed_ns;

	return all.answered < all.processes && remote->again < AGAIN_MAX &&
	       remote->now - since_ns > (int64_t)AGAIN_NS << remote->again;
}

static int send_end(struct remote *remote, struct kymo_err *err)
{
	const caret_msgs_msg_dds__End_ end = { 0 };

	hosts_asked(remote->hosts);
	remote->asked_ns = remote->now;
	return sent(dds_write(remote->end, &end), "End", err);
}

/* ---- phases ---- */

static int looking(struct remote *remote, struct kymo_err *err)
{
	const struct hosts_tally all = hosts_tally(remote->hosts, NULL);
	const unsigned expect = remote->options->expect;
	const int64_t passed = remote->now - remote->phase_ns;

	if (signals)
		return err_set(err, KYMO_EXIT_EMPTY, "interrupted before a Start was sent");
	if (!all.hosts && !expect && passed > NOBODY_NS)
		return err_set(err, KYMO_EXIT_EMPTY,
			       "no agent found in ROS domain %u: start \"kymo agent\" on each "
			       "host, with the same ROS_DOMAIN_ID and "
			       "ROS_AUTOMATIC_DISCOVERY_RANGE; if they are running, check the "
			       "networks of CYCLONEDDS_URI, which must let multicast pass",
			       remote->options->domain);
	if (expect && all.hosts < expect && !remote->told && passed > NOBODY_NS) {
		char text[128];

		remote->told = true;
		(void)snprintf(text, sizeof text, "%u of %u hosts found; waiting for the others", all.hosts, expect);
		remote->options->say(remote->options->context, text);
	}
	if (!all.hosts || all.hosts < expect ||
	    (!expect && remote->now - remote->changed_ns < SETTLED_NS))
		return 0;
	enter(remote, REMOTE_WATCHING);
	return begin(remote, err);
}

static void host_name(const struct host *host, char *name, size_t size)
{
	if (host->name[0])
		(void)snprintf(name, size, "%s", host->name);
	else
		(void)snprintf(name, size, "%02x%02x%02x%02x", host->key[4], host->key[5], host->key[6], host->key[7]);
}

/* Reports, once for each host, that processes are in the state @wrong. */
static void report_others(const struct remote *remote, enum machine_state wrong, const char *format)
{
	for (unsigned i = 0; i < remote->hosts->count; i++) {
		const struct host *host = &remote->hosts->host[i];
		const struct hosts_tally tally = hosts_tally(remote->hosts, host);
		char name[HOSTS_NAME_MAX], count[64], text[512];

		if (!tally.hosts || !tally.state[wrong])
			continue;
		host_name(host, name, sizeof name);
		(void)snprintf(count, sizeof count, "%u of %u processes", tally.state[wrong], tally.processes);
		(void)snprintf(text, sizeof text, "%s: %s %s", name, count, format);
		remote->options->say(remote->options->context, text);
	}
}

static int watching(struct remote *remote, struct kymo_err *err)
{
	const struct hosts_tally all = hosts_tally(remote->hosts, NULL);
	const int64_t duration = remote->options->duration_ns;

	if (signals || (duration && remote->now - remote->phase_ns >= duration)) {
		enter(remote, REMOTE_ENDING);
		return send_end(remote, err);
	}
	if (all.hosts > remote->sent)
		return begin(remote, err);
	remote->sent = all.hosts;
	if (is_answer_missing(remote)) {
		remote->again++;
		return send_start(remote, err);
	}
	if (!remote->told && remote->now - remote->asked_ns > STUCK_NS) {
		remote->told = true;
		report_others(remote, MACHINE_WAIT, "stay in wait: no session is active there for the Start; "
			    "create one with \"kymo start --wait\" on that host, or use \"kymo agent --active always\"");
		report_others(remote, MACHINE_UNINITIALIZED, "have not answered");
	}
	return 0;
}

static bool ending(struct remote *remote)
{
	const struct hosts_tally all = hosts_tally(remote->hosts, NULL);

	if (all.answered < all.processes && remote->now - remote->asked_ns < ANSWER_NS &&
	    signals < 2)
		return true;
	report_others(remote, MACHINE_RECORD, "continue recording: a session is active there, and such a host ignores End; "
		    "end it with \"kymo stop\" on that host");
	report_others(remote, MACHINE_PREPARE, "stay in prepare: a session is active there; end it with \"kymo stop\" on that host");
	return false;
}

static int steps(struct remote *remote, struct kymo_err *err)
{
	const struct timespec pause = { 0, POLL_NS };
	int rc = 0;

	remote->now = remote->phase_ns = remote->changed_ns = now_ns();
	while (rc == 0 && remote->phase != REMOTE_DONE) {
		read_all(remote);
		if (remote->phase == REMOTE_LOOKING)
			rc = looking(remote, err);
		else if (remote->phase == REMOTE_WATCHING)
			rc = watching(remote, err);
		else if (!ending(remote))
			enter(remote, REMOTE_DONE);
		if (rc == 0 && remote->phase != REMOTE_DONE)
			(void)nanosleep(&pause, NULL);
	}
	return rc;
}

/* ---- the whole run ---- */

static int join(struct remote *remote, struct kymo_err *err)
{
	const struct remote_options *options = remote->options;

	if (bus_open(&remote->bus, options->domain, options->say, options->context, err) < 0)
		return -1;
	remote->participants = dds_create_reader(bus_participant(remote->bus),
						 DDS_BUILTIN_TOPIC_DCPSPARTICIPANT, NULL, NULL);
	if ((remote->status = bus_reader(remote->bus, BUS_STATUS, BUS_ALL, NULL, NULL, err)) < 0 ||
	    (remote->graph = bus_reader(remote->bus, options->humble ? BUS_GRAPH_24 : BUS_GRAPH,
					BUS_ALL, NULL, NULL, err)) < 0 ||
	    (remote->end = bus_writer(remote->bus, BUS_END, 1, err)) < 0)
		return -1;
	remote->start = bus_writer(remote->bus, BUS_START, 1, err);
	return remote->start < 0 ? -1 : 0;
}

static void catch(void (*handler)(int))
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	for (unsigned i = 0; i < COUNT_OF(numbers); i++)
		(void)sigaction(numbers[i], &(struct sigaction){ .sa_handler = handler }, NULL);
}

int remote_run(const struct remote_options *options, struct hosts *hosts, struct kymo_err *err)
{
	struct remote remote = { .options = options, .hosts = hosts };
	int rc;

	signals = 0;
	catch(on_signal);
	rc = join(&remote, err);
	if (rc == 0)
		rc = steps(&remote, err);
	bus_close(remote.bus);
	catch(SIG_DFL);
	return rc;
}
