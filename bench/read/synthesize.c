/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a large ROS 2 trace for the benchmarks of what reads traces: pairs of processes, one
 * with a timer that publishes, one with a subscription, 14 events per message in the order and
 * with the fields of rclcpp on Jazzy. usage: bench_synthesize DIR EVENTS [PAIRS [GAPS]]
 * GAPS: so many times nothing happens for an hour; 24 make a day.
 */
#include <inttypes.h>

#include "synthesize.h"

#define STEP_NS 200
#define GAP_NS 3600000000000ull

static uint64_t now_ns = 1000000000;
static uint64_t random_state = 1;
static uint64_t events;

/* The next event, a moment after the one before. */
static void event(struct side *side, unsigned id, ...)
{
	va_list list;

	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	now_ns += STEP_NS / 2 + (random_state >> 40) % STEP_NS;
	va_start(list, id);
	side_event_list(side, now_ns, id, list);
	va_end(list);
	events++;
}

static void init_publisher(struct side *s, const char *topic)
{
	event(s, KYMO_POINT_rcl_node_init, N(0x1000), N(0x1100), "talker", "/bench");
	event(s, KYMO_POINT_rcl_publisher_init, N(0x2000), N(0x1000), N(0x2100), topic, N(10));
	event(s, KYMO_POINT_rcl_timer_init, N(0x3000), N(1000000));
	event(s, KYMO_POINT_rclcpp_timer_callback_added, N(0x3000), N(0x3100));
	event(s, KYMO_POINT_rclcpp_callback_register, N(0x3100), "Talker::on_timer()");
	event(s, KYMO_POINT_rclcpp_timer_link_node, N(0x3000), N(0x1000));
}

static void init_subscription(struct side *s, const char *topic)
{
	event(s, KYMO_POINT_rcl_node_init, N(0x1000), N(0x1100), "listener", "/bench");
	event(s, KYMO_POINT_rcl_subscription_init, N(0x2000), N(0x1000), N(0x2100), topic, N(10));
	event(s, KYMO_POINT_rclcpp_subscription_init, N(0x2000), N(0x2200));
	event(s, KYMO_POINT_rclcpp_subscription_callback_added, N(0x2200), N(0x3100));
	event(s, KYMO_POINT_rclcpp_callback_register, N(0x3100), "Listener::on_message()");
}

static void message(struct side *from, struct side *to)
{
	uint64_t stamp;

	event(from, KYMO_POINT_rclcpp_executor_execute, N(0x3000));
	event(from, KYMO_POINT_callback_start, N(0x3100), N(0));
	event(from, KYMO_POINT_rclcpp_publish, N(0x7000));
	event(from, KYMO_POINT_rcl_publish, N(0x2000), N(0x7000));
	stamp = SIDE_EPOCH_NS + now_ns;
	event(from, KYMO_POINT_rmw_publish, N(0x2100), N(0x7000), stamp);
	event(from, KYMO_POINT_callback_end, N(0x3100));
	event(to, KYMO_POINT_rclcpp_executor_get_next_ready);
	event(to, KYMO_POINT_rclcpp_executor_execute, N(0x2000));
	event(to, KYMO_POINT_rmw_take, N(0x2100), N(0x8000), stamp, N(1));
	event(to, KYMO_POINT_rcl_take, N(0x8000));
	event(to, KYMO_POINT_rclcpp_take, N(0x8000));
	event(to, KYMO_POINT_callback_start, N(0x3100), N(0));
	event(to, KYMO_POINT_callback_end, N(0x3100));
	event(to, KYMO_POINT_rclcpp_executor_wait_for_work, N(-1));
}

/* Messages of one pair after the other, with gaps between equal parts of them. */
static void messages(struct side *side, unsigned pairs, uint64_t wanted, unsigned gaps)
{
	unsigned gap = 0, i, k;

	for (i = 0; events < wanted; i = (i + 1) % pairs) {
		if (gap < gaps && events >= wanted / (gaps + 1) * (gap + 1)) {
			for (k = 0; k < 2 * pairs; k++)
				side_flush(&side[k]);
			now_ns += GAP_NS;
			gap++;
		}
		message(&side[2 * i], &side[2 * i + 1]);
	}
}

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	unsigned pairs = argc > 3 ? (unsigned)atoi(argv[3]) : 4, i;
	const unsigned gaps = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
	struct ctf_writer *writer;
	struct side *side, *init = calloc(1, sizeof(*init));
	char topic[32];

	if (!wanted || !pairs)
		side_fail("usage: bench_synthesize DIR EVENTS [PAIRS [GAPS]]");
	side = calloc(2 * (size_t)pairs, sizeof(*side));
	if (!side || !init)
		side_fail("no memory");
	writer = side_writer(argv[1]);
	for (i = 0; i < pairs; i++) {
		snprintf(topic, sizeof(topic), "/topic_%u", i);
		side_open(init, writer, CTF_CLASS_INIT, 100 + 2 * i, "talker");
		init_publisher(init, topic);
		side_close(init);
		side_open(init, writer, CTF_CLASS_INIT, 101 + 2 * i, "listener");
		init_subscription(init, topic);
		side_close(init);
	}
	for (i = 0; i < pairs; i++) {
		side_open(&side[2 * i], writer, CTF_CLASS_RUN, 100 + 2 * i, "talker");
		side_open(&side[2 * i + 1], writer, CTF_CLASS_RUN, 101 + 2 * i, "listener");
	}
	messages(side, pairs, wanted, gaps);
	for (i = 0; i < 2 * pairs; i++)
		side_close(&side[i]);
	ctf_writer_close(writer);
	printf("%" PRIu64 "\n", events);
	free(side);
	free(init);
	return 0;
}
