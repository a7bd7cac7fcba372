/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace of a robot with many names, for what windows of a fleet cost: some time of it,
 * with two nodes in each process. Each node has a timer that publishes, and two subscriptions, the
 * first of which publishes, too. Rates are 0.5 to 100 Hz, callbacks take 0.03 to 5 ms, and their
 * runs, the latencies of messages and the starts of timers vary as those of a robot do.
 *
 * usage: bench_synthesize_robot DIR SECONDS [NODES]
 */
#include <inttypes.h>
#include <math.h>

#include "synthesize.h"

#define SUBSCRIPTIONS 2u
#define CALLBACKS (1 + SUBSCRIPTIONS) /* of a node; the first one is that of its timer */
#define TOPICS 2u                     /* of a node: of its timer, and of its first subscription */
#define START_NS 1000000000ll
#define MS 1000000.0

struct callback {
	unsigned side, timer_ms;    /* 0: a subscription */
	uint64_t handle, address, publisher;
	int publishes; /* number of a topic; -1: none */
	double usual_ns;
};

struct topic {
	char name[128];
	unsigned subscriber[64], subscribers;
};

/* What a callback has to do at a time. */
struct work {
	int64_t ns;
	unsigned callback;
	uint64_t stamp;
};

static struct side *sides;
static struct callback *callbacks;
static struct topic *topics;
static int64_t *free_ns; /* of each process */
static struct work *heap;
static unsigned works, heap_size;
static uint64_t random_state = 1, events;

/* Above 0, up to 1. */
static double chance(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return ((double)(random_state >> 11) + 1) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(chance())) * cos(6.283185307 * chance());
}

static void event(struct side *side, int64_t ns, unsigned id, ...)
{
	va_list list;

	va_start(list, id);
	side_event_list(side, (uint64_t)ns, id, list);
	va_end(list);
	events++;
}

/* ---- work, the earliest first ---- */

static void add(int64_t ns, unsigned callback, uint64_t stamp)
{
	unsigned at = works++;

	if (works > heap_size) {
		heap_size = 2 * heap_size + 64;
		heap = realloc(heap, heap_size * sizeof(*heap));
		if (!heap)
			side_fail("no memory");
	}
	for (; at && heap[(at - 1) / 2].ns > ns; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = (struct work){ ns, callback, stamp };
}

static struct work take(void)
{
	const struct work first = heap[0], last = heap[--works];
	unsigned at = 0, child;

	while ((child = 2 * at + 1) < works) {
		child += child + 1 < works && heap[child + 1].ns < heap[child].ns;
		if (heap[child].ns >= last.ns)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

/* ---- what exists ---- */

static const char *const spaces[] = { "perception", "localization", "planning", "control", "sensing" };
static const char *const places[] = { "front", "rear", "left", "right", "top" };
static const char *const things[] = { "lidar", "camera", "radar", "odometry", "costmap", "path", "goal" };
static const char *const deeds[] = { "driver", "filter", "detector", "monitor", "server" };

static void name_node(unsigned node, char space[32], char name[64])
{
	snprintf(space, 32, "/%s", spaces[node % 5]);
	snprintf(name, 64, "%s_%s_%s", places[node / 5 % 5], things[node % 7], deeds[node / 7 % 5]);
}

static void add_publisher(struct side *side, struct callback *callback, unsigned topic,
			  uint64_t node)
{
	callback->publishes = (int)topic;
	callback->publisher = node + 0x200 + 0x10 * (topic % TOPICS);
	event(side, START_NS, KYMO_POINT_rcl_publisher_init, callback->publisher, node,
	      callback->publisher + 8, topics[topic].name, N(10));
}

static void add_timer(struct side *side, struct callback *callback, uint64_t node)
{
	static const unsigned periods[] = { 100, 1000, 50, 200, 20, 2000, 33, 100, 10, 500, 1000 };

	callback->timer_ms = periods[(size_t)(chance() * 10.99)];
	event(side, START_NS, KYMO_POINT_rcl_timer_init, callback->handle,
	      N(callback->timer_ms) * 1000000);
	event(side, START_NS, KYMO_POINT_rclcpp_timer_callback_added, callback->handle,
	      callback->address);
	event(side, START_NS, KYMO_POINT_rclcpp_callback_register, callback->address, "on_timer()");
	event(side, START_NS, KYMO_POINT_rclcpp_timer_link_node, callback->handle, node);
}

static void add_subscription(struct side *side, unsigned number, unsigned from, uint64_t node)
{
	struct callback *callback = &callbacks[number];
	struct topic *topic = &topics[from];

	topic->subscriber[topic->subscribers++] = number;
	event(side, START_NS, KYMO_POINT_rcl_subscription_init, callback->handle, node,
	      callback->handle + 8, topic->name, N(10));
	event(side, START_NS, KYMO_POINT_rclcpp_subscription_init, callback->handle,
	      callback->handle + 16);
	event(side, START_NS, KYMO_POINT_rclcpp_subscription_callback_added, callback->handle + 16,
	      callback->address);
	event(side, START_NS, KYMO_POINT_rclcpp_callback_register, callback->address, "on_message()");
}

/* A topic of an earlier node; a topic of a subscription is rarer, so that rates stay low. */
static unsigned some_topic(unsigned node)
{
	unsigned topic;

	do
		topic = (unsigned)(chance() * 0.999 * node) * TOPICS + (chance() < 0.4);
	while (topics[topic].subscribers == 64);
	return topic;
}

static void add_node(struct side *side, unsigned node)
{
	const uint64_t handle = 0x1000 + 0x1000 * (node % 2);
	char space[32], name[64];

	name_node(node, space, name);
	event(side, START_NS, KYMO_POINT_rcl_node_init, handle, handle + 8, name, space);
	snprintf(topics[TOPICS * node].name, sizeof(topics->name), "%s/%s/state", space, name);
	snprintf(topics[TOPICS * node + 1].name, sizeof(topics->name), "%s/%s/output", space, name);
	for (unsigned i = 0; i < CALLBACKS; i++) {
		struct callback *callback = &callbacks[CALLBACKS * node + i];

		*callback = (struct callback){ .side = node / 2,
					       .handle = handle + 0x400 + 0x40 * i,
					       .address = handle + 0x800 + 0x40 * i,
					       .publishes = -1,
					       .usual_ns = MS * 0.03 * exp(5.1 * chance()) };
		if (i < TOPICS)
			add_publisher(side, callback, TOPICS * node + i, handle);
		if (!i)
			add_timer(side, callback, handle);
		else if (node)
			add_subscription(side, CALLBACKS * node + i, some_topic(node), handle);
	}
}

/* ---- what happens ---- */

static int64_t publish(struct side *side, const struct callback *callback, int64_t ns)
{
	const struct topic *topic = &topics[callback->publishes];
	const uint64_t stamp = SIDE_EPOCH_NS + (uint64_t)ns + 1500;

	event(side, ns, KYMO_POINT_rclcpp_publish, N(0x7000));
	event(side, ns + 500, KYMO_POINT_rcl_publish, callback->publisher, N(0x7000));
	event(side, ns + 2000, KYMO_POINT_rmw_publish, callback->publisher + 8, N(0x7000), stamp);
	for (unsigned i = 0; i < topic->subscribers; i++)
		add(ns + 40000 - (int64_t)(60000 * log(chance())), topic->subscriber[i], stamp);
	return ns + 3000;
}

static void run(const struct work *work)
{
	const struct callback *callback = &callbacks[work->callback];
	struct side *side = &sides[callback->side];
	int64_t ns = work->ns, begin_ns;
	const double ran_ns = callback->usual_ns * exp(0.3 * normal()) * (chance() < 0.01 ? 4 : 1);

	ns = ns > free_ns[callback->side] ? ns : free_ns[callback->side];
	event(side, ns, KYMO_POINT_rclcpp_executor_get_next_ready);
	event(side, ns + 400, KYMO_POINT_rclcpp_executor_execute, callback->handle);
	if (!callback->timer_ms) {
		event(side, ns + 900, KYMO_POINT_rmw_take, callback->handle + 8, N(0x8000),
		      work->stamp, N(1));
		event(side, ns + 1200, KYMO_POINT_rcl_take, N(0x8000));
		event(side, ns + 1400, KYMO_POINT_rclcpp_take, N(0x8000));
	}
	begin_ns = ns += 2000;
	event(side, ns, KYMO_POINT_callback_start, callback->address, N(0));
	ns += (int64_t)ran_ns;
	if (callback->publishes >= 0)
		ns = publish(side, callback, ns);
	event(side, ns, KYMO_POINT_callback_end, callback->address);
	event(side, ns + 700, KYMO_POINT_rclcpp_executor_wait_for_work, N(-1));
	free_ns[callback->side] = ns + 1000;
	if (!callback->timer_ms)
		return;
	begin_ns -= (begin_ns - START_NS) % (callback->timer_ms * 1000000ll);
	add(begin_ns + callback->timer_ms * 1000000ll + 55000 - (int64_t)(20000 * log(chance())),
	    work->callback, 0);
}

static void create(struct ctf_writer *writer, unsigned nodes)
{
	struct side *init = calloc(1, sizeof(*init));
	char name[64], space[32];

	if (!init)
		side_fail("no memory");
	for (unsigned i = 0; i < nodes; i++) {
		if (i % 2 == 0) {
			name_node(i, space, name);
			side_open(init, writer, CTF_CLASS_INIT, 100 + i, name);
			side_open(&sides[i / 2], writer, CTF_CLASS_RUN, 100 + i, name);
		}
		add_node(init, i);
		if (i % 2 || i + 1 == nodes)
			side_close(init);
	}
	free(init);
}

int main(int argc, char **argv)
{
	const double seconds = argc > 2 ? atof(argv[2]) : 0;
	const unsigned nodes = argc > 3 ? (unsigned)atoi(argv[3]) : 50;
	const int64_t end_ns = START_NS + (int64_t)(seconds * 1e9);
	struct ctf_writer *writer;

	if (seconds <= 0 || !nodes)
		side_fail("usage: bench_synthesize_robot DIR SECONDS [NODES]");
	writer = side_writer(argv[1]);
	sides = calloc((nodes + 1) / 2, sizeof(*sides));
	callbacks = calloc((size_t)nodes * CALLBACKS, sizeof(*callbacks));
	topics = calloc((size_t)nodes * TOPICS, sizeof(*topics));
	free_ns = calloc((nodes + 1) / 2, sizeof(*free_ns));
	if (!sides || !callbacks || !topics || !free_ns)
		side_fail("no memory");
	create(writer, nodes);
	for (unsigned i = 0; i < nodes; i++)
		add(START_NS + 10000000 + (int64_t)(chance() * 1e8), CALLBACKS * i, 0);
	while (works && heap[0].ns < end_ns) {
		const struct work work = take();

		run(&work);
	}
	for (unsigned i = 0; i < (nodes + 1) / 2; i++)
		side_close(&sides[i]);
	ctf_writer_close(writer);
	printf("%" PRIu64 "\n", events);
	free(sides);
	free(callbacks);
	free(topics);
	free(free_ns);
	free(heap);
	return 0;
}
