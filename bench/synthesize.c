/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a large ROS 2 trace for the benchmarks of what reads traces: pairs of processes, one
 * with a timer that publishes, one with a subscription, 14 events per message in the order and
 * with the fields of rclcpp on Jazzy. usage: bench_synthesize DIR EVENTS [PAIRS [GAPS]]
 * GAPS: so many times nothing happens for an hour; 24 make a day.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "abi/points.h"
#include "ctf/write/writer.h"

#define PACKET (64u << 10)
#define STEP_NS 200
#define GAP_NS 3600000000000ull
#define EPOCH_NS 1700000000000000000ll

/* Between header and payload of init events. */
struct init_context {
	uint64_t init_timestamp;
	int32_t vpid, vtid;
	char procname[CTF_PROCNAME_SIZE];
} __attribute__((packed));

struct side {
	struct ctf_out *out;
	struct init_context init;	/* of a stream of init events */
	bool is_init;
	struct ctf_packet packet;
	unsigned char bytes[PACKET];
};

static uint64_t now_ns = 1000000000;
static uint64_t random_state = 1;
static uint64_t events;

static void fail(const char *what)
{
	fprintf(stderr, "bench_synthesize: %s\n", what);
	exit(1);
}

static void flush(struct side *side)
{
	side->packet.events = side->bytes;
	if (side->packet.size && ctf_out_packet(side->out, &side->packet))
		fail("cannot write");
	side->packet.size = 0;
}

static void put(struct side *side, const void *from, size_t size)
{
	memcpy(side->bytes + side->packet.size, from, size);
	side->packet.size += size;
}

/* Arguments as the point's descriptor says: uint64_t for numbers, const char * for strings. */
static void event(struct side *side, unsigned id, ...)
{
	const struct kymo_point *point = &kymo_points[id];
	uint16_t id16 = id;
	uint64_t number;
	int32_t flag;
	const char *text;
	unsigned i;
	va_list list;

	if (side->packet.size > PACKET - 1024)
		flush(side);
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	now_ns += STEP_NS / 2 + (random_state >> 40) % STEP_NS;
	if (!side->packet.size)
		side->packet.begin = now_ns;
	side->packet.end = now_ns;
	put(side, &id16, 2);
	put(side, &now_ns, 8);
	if (side->is_init) {
		side->init.init_timestamp = now_ns;
		put(side, &side->init, sizeof(side->init));
	}
	va_start(list, id);
	for (i = 0; i < point->field_count; i++) {
		if (point->field[i].kind == KYMO_KIND_STR) {
			text = va_arg(list, const char *);
			put(side, text, strlen(text) + 1);
			continue;
		}
		number = va_arg(list, uint64_t);
		flag = (int32_t)number;
		if (point->field[i].kind == KYMO_KIND_BOOL)
			put(side, &flag, 4);
		else
			put(side, &number, 8);
	}
	va_end(list);
	events++;
}

static void open_side(struct side *side, struct ctf_writer *writer, enum ctf_class class,
		      unsigned pid, const char *name)
{
	char file[32];

	snprintf(file, sizeof(file), "%s_%u", class == CTF_CLASS_INIT ? "init" : "ros2", pid);
	side->out = ctf_out_create(writer, class, file);
	if (!side->out)
		fail("no memory");
	side->is_init = class == CTF_CLASS_INIT;
	side->init.vpid = side->init.vtid = (int32_t)pid;
	snprintf(side->init.procname, sizeof(side->init.procname), "%s", name);
	side->packet.vpid = side->packet.vtid = (int32_t)pid;
	snprintf(side->packet.procname, sizeof(side->packet.procname), "%s", name);
}

static void close_side(struct side *side)
{
	flush(side);
	ctf_out_close(side->out);
}

#define N(value) ((uint64_t)(value))

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
	stamp = EPOCH_NS + now_ns;
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
				flush(&side[k]);
			now_ns += GAP_NS;
			gap++;
		}
		message(&side[2 * i], &side[2 * i + 1]);
	}
}

int main(int argc, char **argv)
{
	const struct ctf_trace_desc desc = {
		.name = "bench", .hostname = "bench", .boot_id = "", .clock_offset_ns = EPOCH_NS,
		.created_s = EPOCH_NS / 1000000000, .version_minor = 1,
	};
	uint64_t wanted = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	unsigned pairs = argc > 3 ? (unsigned)atoi(argv[3]) : 4, i;
	const unsigned gaps = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
	struct ctf_writer *writer;
	struct side *side, *init = calloc(1, sizeof(*init));
	struct kymo_err err;
	char topic[32];

	if (!wanted || !pairs)
		fail("usage: bench_synthesize DIR EVENTS [PAIRS [GAPS]]");
	side = calloc(2 * (size_t)pairs, sizeof(*side));
	if (!side || !init || mkdir(argv[1], 0777) || ctf_writer_create(argv[1], &desc, &writer, &err))
		fail("cannot create the trace");
	for (i = 0; i < KYMO_POINTS_TABLE; i++)
		if (KYMO_V(8, 2) >= kymo_points[i].from && KYMO_V(8, 2) <= kymo_points[i].to)
			ctf_writer_declare(writer, i);
	for (i = 0; i < pairs; i++) {
		snprintf(topic, sizeof(topic), "/topic_%u", i);
		open_side(init, writer, CTF_CLASS_INIT, 100 + 2 * i, "talker");
		init_publisher(init, topic);
		close_side(init);
		open_side(init, writer, CTF_CLASS_INIT, 101 + 2 * i, "listener");
		init_subscription(init, topic);
		close_side(init);
	}
	for (i = 0; i < pairs; i++) {
		open_side(&side[2 * i], writer, CTF_CLASS_RUN, 100 + 2 * i, "talker");
		open_side(&side[2 * i + 1], writer, CTF_CLASS_RUN, 101 + 2 * i, "listener");
	}
	messages(side, pairs, wanted, gaps);
	for (i = 0; i < 2 * pairs; i++)
		close_side(&side[i]);
	ctf_writer_close(writer);
	printf("%" PRIu64 "\n", events);
	free(side);
	free(init);
	return 0;
}
