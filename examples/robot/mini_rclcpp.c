/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, nodes and entities of mini_rclcpp: what is created, and what that tells tracetools. */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mini_rclcpp.h"
#include "robot.h"
#include "tracetools/tracetools.h"

#define DEFAULT_DOMAIN 42

/* Nothing leaves the machine, and no multicast is needed to find each other. */
static const char loopback[] =
	"<CycloneDDS><Domain id=\"any\">"
	"<General><Interfaces><NetworkInterface address=\"127.0.0.1\"/></Interfaces>"
	"<AllowMulticast>false</AllowMulticast></General>"
	"<Discovery><ParticipantIndex>auto</ParticipantIndex>"
	"<MaxAutoParticipantIndex>30</MaxAutoParticipantIndex>"
	"<Peers><Peer address=\"127.0.0.1\"/></Peers></Discovery>"
	"</Domain></CycloneDDS>";

void rc_check(dds_return_t result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "robot: %s: %s\n", what, dds_strretcode(result));
	exit(1);
}

int64_t rc_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- options, context ---- */

struct rc_options rc_main_options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "domain", required_argument, NULL, 'd' },
		{ "seed", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 't' },
		{ "fault", required_argument, NULL, 'f' },
		{ "slow", required_argument, NULL, 'w' },
		{ NULL, 0, NULL, 0 },
	};
	struct rc_options options = { .domain = DEFAULT_DOMAIN, .seed = 1 };
	bool understood = true;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'd')
			options.domain = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 's')
			options.seed = strtoull(optarg, NULL, 10);
		else if (option == 't')
			options.seconds = strtod(optarg, NULL);
		else if (option == 'f' && options.faults < RC_FAULTS_MAX)
			options.fault[options.faults++] = optarg;
		else if (option == 'w')
			options.slow = optarg;
		else
			understood = false;
	}
	if (understood && optind == argc && options.domain <= 230 && options.seconds >= 0)
		return options;
	fprintf(stderr,
		"usage: %s [--domain 0..230] [--seed N] [--seconds N] [--fault KIND[:MS]]... "
		"[--slow PLACE:PERCENT]\n",
		argv[0]);
	exit(2);
}

static void stop_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

/* Waits for a signal or the end of the given time, then stops all executors. */
static void *signals_main(void *argument)
{
	struct rc_context *context = argument;
	double seconds = context->options.seconds;
	struct timespec limit = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };
	sigset_t set;

	stop_signals(&set);
	if (seconds > 0)
		sigtimedwait(&set, NULL, &limit);
	else
		sigwaitinfo(&set, NULL);
	context->ok = false;
	dds_set_guardcondition(context->stop, true);
	return NULL;
}

void rc_init(struct rc_context *context, const struct rc_options *options)
{
	sigset_t set;

	*context = (struct rc_context){ .options = *options };
	context->ok = true;
	stop_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	setenv("CYCLONEDDS_URI", loopback, 0);
	context->participant = dds_create_participant(options->domain, NULL, NULL);
	rc_check(context->participant, "cannot join the DDS domain");
	context->stop = dds_create_guardcondition(context->participant);
	rc_check(context->stop, "guard condition");
	ros_trace_rcl_init(&context->rcl);
	if (pthread_create(&context->signals, NULL, signals_main, context)) {
		fprintf(stderr, "robot: cannot start a thread\n");
		exit(1);
	}
}

void rc_shutdown(struct rc_context *context)
{
	pthread_join(context->signals, NULL);
	dds_delete(context->participant);
}

/* ---- DDS endpoints as rmw_cyclonedds makes them ---- */

static dds_entity_t topic_create(struct rc_context *context, const dds_topic_descriptor_t *type,
				 const char *prefix, const char *name, const char *suffix)
{
	char full[RC_NAME_MAX];
	dds_entity_t topic;

	snprintf(full, sizeof(full), "%s%s%s", prefix, name, suffix);
	topic = dds_create_topic(context->participant, type, full, NULL, NULL);
	rc_check(topic, full);
	return topic;
}

static dds_qos_t *qos_create(void)
{
	dds_qos_t *qos = dds_create_qos();

	dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
	dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, RC_DEPTH);
	dds_qset_writer_data_lifecycle(qos, false);
	return qos;
}

static dds_entity_t writer_create(struct rc_context *context, dds_entity_t topic)
{
	dds_qos_t *qos = qos_create();
	dds_entity_t writer = dds_create_writer(context->participant, topic, qos, NULL);

	dds_delete_qos(qos);
	rc_check(writer, "writer");
	return writer;
}

static dds_entity_t reader_create(struct rc_context *context, dds_entity_t topic)
{
	dds_qos_t *qos = qos_create();
	dds_entity_t reader = dds_create_reader(context->participant, topic, qos, NULL);

	dds_delete_qos(qos);
	rc_check(reader, "reader");
	return reader;
}

/* The objects of rcl and rmw that an endpoint has. Return: its gid. */
static const uint8_t *endpoint_init(struct rcl_object *rcl, struct rmw_object *rmw,
				    dds_entity_t endpoint, const char *name)
{
	dds_guid_t guid;

	rc_check(dds_get_guid(endpoint, &guid), "gid");
	*rmw = (struct rmw_object){ .implementation = rmw_implementation };
	memcpy(rmw->gid, guid.v, sizeof(guid.v));
	*rcl = (struct rcl_object){ .name = name, .rmw = rmw, .qos = { 1, RC_DEPTH } };
	return rmw->gid;
}

/* ---- nodes and entities ---- */

void rc_node_init(struct rc_node *node, struct rc_executor *executor, const char *name,
		  const char *namespace)
{
	*node = (struct rc_node){
		.context = executor->context, .executor = executor, .name = name,
		.namespace = namespace,
		.rcl = { .name = name, .namespace = namespace, .rmw = &node->rmw },
	};
	rclcpp_node_base_init(&node->base, &node->rcl);
	ros_trace_rcl_node_init(&node->rcl, &node->rmw, name, namespace);
}

static void callback_register(struct rc_entity *entity, const char *symbol)
{
	if (ros_trace_enabled_rclcpp_callback_register())
		ros_trace_do_rclcpp_callback_register(&entity->callback, symbol);
}

void rc_publisher_init(struct rc_publisher *publisher, struct rc_node *node,
		       const dds_topic_descriptor_t *type, const char *topic)
{
	const uint8_t *gid;

	publisher->writer = writer_create(node->context,
					  topic_create(node->context, type, "rt", topic, ""));
	gid = endpoint_init(&publisher->rcl, &publisher->rmw, publisher->writer, topic);
	ros_trace_rmw_publisher_init(&publisher->rmw, gid);
	ros_trace_rcl_publisher_init(&publisher->rcl, &node->rcl, &publisher->rmw, topic, RC_DEPTH);
}

dds_time_t rc_publish_begin(struct rc_publisher *publisher, const void *message)
{
	dds_time_t stamp;

	ros_trace_rclcpp_publish(NULL, message);
	rcl_publish(&publisher->rcl, message, NULL);
	stamp = dds_time();
	ros_trace_rmw_publish(&publisher->rmw, message, stamp);
	return stamp;
}

void rc_publish_send(struct rc_publisher *publisher, const void *message, dds_time_t stamp)
{
	dds_write_ts(publisher->writer, message, stamp);
}

void rc_publish(struct rc_publisher *publisher, const void *message)
{
	rc_publish_send(publisher, message, rc_publish_begin(publisher, message));
}

void rc_subscription_init(struct rc_entity *entity, struct rc_node *node,
			  const dds_topic_descriptor_t *type, const char *topic,
			  void (*function)(void *, const void *), void *user, const char *symbol)
{
	const uint8_t *gid;

	*entity = (struct rc_entity){
		.kind = &rc_subscription, .type = type, .on_message = function, .user = user
	};
	entity->reader = reader_create(node->context,
				       topic_create(node->context, type, "rt", topic, ""));
	gid = endpoint_init(&entity->rcl, &entity->rmw, entity->reader, topic);
	ros_trace_rmw_subscription_init(&entity->rmw, gid);
	ros_trace_rcl_subscription_init(&entity->rcl, &node->rcl, &entity->rmw, topic, RC_DEPTH);
	ros_trace_rclcpp_subscription_init(&entity->rcl, &entity->rclcpp);
	ros_trace_rclcpp_subscription_callback_added(&entity->rclcpp, &entity->callback);
	callback_register(entity, symbol);
	rc_entity_add(entity, node);
}

void rc_timer_init(struct rc_entity *entity, struct rc_node *node, int64_t period_ns,
		   void (*function)(void *), void *user, const char *symbol)
{
	*entity = (struct rc_entity){
		.kind = &rc_timer, .period_ns = period_ns, .on_timer = function, .user = user,
		.rcl = { .period_ns = period_ns },
	};
	entity->due_ns = rc_now_ns() + period_ns;
	ros_trace_rcl_timer_init(&entity->rcl, period_ns);
	ros_trace_rclcpp_timer_callback_added(&entity->rcl, &entity->callback);
	callback_register(entity, symbol);
	ros_trace_rclcpp_timer_link_node(&entity->rcl, &node->rcl);
	rc_entity_add(entity, node);
}

void rc_service_init(struct rc_entity *entity, struct rc_node *node,
		     const dds_topic_descriptor_t *request, const dds_topic_descriptor_t *response,
		     const char *service, void (*function)(void *, const void *, void *),
		     void *user, const char *symbol)
{
	struct rc_context *context = node->context;

	*entity = (struct rc_entity){
		.kind = &rc_service, .type = request, .response = response,
		.on_request = function, .user = user
	};
	entity->reader = reader_create(context,
				       topic_create(context, request, "rq", service, "Request"));
	entity->writer = writer_create(context,
				       topic_create(context, response, "rr", service, "Reply"));
	(void)endpoint_init(&entity->rcl, &entity->rmw, entity->reader, service);
	entity->rmw.reader = entity->reader;
	entity->rmw.writer = entity->writer;
	ros_trace_rcl_service_init(&entity->rcl, &node->rcl, &entity->rmw, service);
	ros_trace_rclcpp_service_callback_added(&entity->rcl, &entity->callback);
	callback_register(entity, symbol);
	rc_entity_add(entity, node);
}

void rc_client_init(struct rc_entity *entity, struct rc_node *node,
		    const dds_topic_descriptor_t *request, const dds_topic_descriptor_t *response,
		    const char *service, void (*function)(void *, const void *), void *user)
{
	struct rc_context *context = node->context;

	*entity = (struct rc_entity){
		.kind = &rc_client, .type = response, .on_message = function, .user = user
	};
	entity->writer = writer_create(context,
				       topic_create(context, request, "rq", service, "Request"));
	entity->reader =
		reader_create(context, topic_create(context, response, "rr", service, "Reply"));
	(void)endpoint_init(&entity->rcl, &entity->rmw, entity->reader, service);
	entity->rmw.reader = entity->reader;
	entity->rmw.writer = entity->writer;
	if (!rmw_create_client(&entity->rmw))
		rc_check(DDS_RETCODE_ERROR, "client");
	ros_trace_rcl_client_init(&entity->rcl, &node->rcl, &entity->rmw, service);
	rc_entity_add(entity, node);
}

void rc_call(struct rc_entity *client, void *request)
{
	int64_t number;

	rc_check(rcl_send_request(&client->rcl, request, &number), "request");
}
