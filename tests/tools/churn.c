/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates nodes as rclcpp does, and destroys them again, for tests/system/record/churn.py and
 * bench/recorder/initlog.sh.
 *
 *   churn [--no-fini] [--threads N]
 *
 * Reads commands, a line each, and answers each with a line of JSON: what there is in all.
 *
 *   keep N       N nodes that stay
 *   drop N       the oldest N of these go
 *   churn N      N nodes one after the other, in each thread
 *   end
 *
 * A node has a publisher, a subscription, a timer, a service and a client: 16 facts. Node k is
 * named "n<k>". With --no-fini nobody calls rcl_*_fini: what is gone is told only by its address
 * being used again.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracetools/tracetools.h"

#define FACTS 16
#define KEPT_MAX 100000
#define THREADS_MAX 64

int rcl_node_fini(void *node);
int rcl_timer_fini(void *timer);
int rcl_publisher_fini(void *publisher, void *node);
int rcl_subscription_fini(void *subscription, void *node);
int rcl_service_fini(void *service, void *node);
int rcl_client_fini(void *client, void *node);
long rcl_stub_calls(void);

struct robot {			/* a node and what it has; every member has an address of its own */
	char *node, *rmw_node, *publisher, *rmw_publisher, *subscription, *rmw_subscription,
		*receiver;
	char *subscription_callback, *timer, *timer_callback, *service, *rmw_service,
		*service_callback;
	char *client, *rmw_client;
};

static struct robot kept[KEPT_MAX];
static long first_kept, kept_end;
static atomic_long numbers, finis;
static bool no_fini;
static long rounds;

static char *object(void)
{
	char *at = malloc(48);

	if (!at)
		abort();
	return at;
}

static void create(struct robot *r)
{
	const long number = atomic_fetch_add(&numbers, 1);
	static const uint8_t gid[24] = { 1, 2, 3 };
	char **members = (char **)r, name[32];

	for (size_t i = 0; i < sizeof *r / sizeof *members; i++)
		members[i] = object();
	(void)snprintf(name, sizeof name, "n%ld", number);
	/* rcl's order: a node's own publisher comes before the node. */
	ros_trace_rmw_publisher_init(r->rmw_publisher, gid);
	ros_trace_rcl_publisher_init(r->publisher, r->node, r->rmw_publisher, "/rosout", 1000);
	ros_trace_rcl_node_init(r->node, r->rmw_node, name, "/churn");
	ros_trace_rmw_subscription_init(r->rmw_subscription, gid);
	ros_trace_rcl_subscription_init(r->subscription, r->node, r->rmw_subscription, "/chatter", 10);
	ros_trace_rclcpp_subscription_callback_added(r->receiver, r->subscription_callback);
	ros_trace_rclcpp_subscription_init(r->subscription, r->receiver);
	ros_trace_rclcpp_callback_register(r->subscription_callback, "void Churn::on_chatter(Message)");
	ros_trace_rcl_timer_init(r->timer, 100000000);
	ros_trace_rclcpp_timer_callback_added(r->timer, r->timer_callback);
	ros_trace_rclcpp_callback_register(r->timer_callback, "void Churn::on_timer()");
	ros_trace_rclcpp_timer_link_node(r->timer, r->node);
	ros_trace_rcl_service_init(r->service, r->node, r->rmw_service, "/add");
	ros_trace_rclcpp_service_callback_added(r->service, r->service_callback);
	ros_trace_rclcpp_callback_register(r->service_callback, "void Churn::on_add(Request, Response)");
	ros_trace_rcl_client_init(r->client, r->node, r->rmw_client, "/add");
}

static void end(int status)
{
	(void)atomic_fetch_add(&finis, 1);
	if (status)
		abort();
}

static void destroy(struct robot *r)
{
	char **members = (char **)r;

	if (!no_fini) {
		end(rcl_client_fini(r->client, r->node));
		end(rcl_service_fini(r->service, r->node));
		end(rcl_timer_fini(r->timer));
		end(rcl_subscription_fini(r->subscription, r->node));
		end(rcl_publisher_fini(r->publisher, r->node));
		end(rcl_node_fini(r->node));
	}
	for (size_t i = 0; i < sizeof *r / sizeof *members; i++)
		free(members[i]);
}

static void *churn(void *unused)
{
	(void)unused;
	for (long i = 0; i < rounds; i++) {
		struct robot robot;

		create(&robot);
		destroy(&robot);
	}
	return NULL;
}

static void churn_all(int threads)
{
	pthread_t thread[THREADS_MAX];

	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, churn, NULL))
			abort();
	for (int i = 0; i < threads; i++)
		(void)pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	char line[128], verb[16];
	int threads = 1;
	long n;

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--no-fini"))
			no_fini = true;
		else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
			threads = atoi(argv[++i]);
	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	ros_trace_rcl_init(&numbers);
	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "%15s %ld", verb, &n) < 2)
			n = 0;
		if (!strcmp(verb, "end"))
			break;
		rounds = n;
		for (; !strcmp(verb, "keep") && n && kept_end < KEPT_MAX; n--)
			create(&kept[kept_end++]);
		for (; !strcmp(verb, "drop") && n && first_kept < kept_end; n--)
			destroy(&kept[first_kept++]);
		if (!strcmp(verb, "churn"))
			churn_all(threads);
		(void)printf(
			"{\"pid\": %d, \"nodes\": %ld, \"first_kept\": %ld, \"kept\": %ld, \"facts\": %ld, "
			"\"live\": %ld, \"finis\": %ld, \"forwarded\": %ld}\n",
			getpid(), numbers, first_kept, kept_end - first_kept, 1 + FACTS * numbers,
			1 + FACTS * (kept_end - first_kept), finis, rcl_stub_calls());
		(void)fflush(stdout);
	}
	return 0;
}
