/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session with rules takes from a process that writes all it may: the test's own region,
 * whose producer does not look objects up, so that everything is left out by the recorder. All of
 * it with a stream of each thread, and with one that is merged.
 */
#include "place.h"
#include "producer.h"

#include "recorder/filter/filter.h"
#include "recorder/records/left_out_set.h"
#include "recorder/session/session.h"
#include "base/array.h"

struct place {
	char run[PLACE_RUN_SIZE], trace[96], said[1024];
	struct producer producer;
	struct filter *filter;
	struct session *session;
};

static enum session_streams streams;

static void say(void *context, const char *text)
{
	struct place *place = context;

	snprintf(place->said, sizeof place->said, "%s", text);
}

static int setup(void **state)
{
	struct place *place = place_create(sizeof *place);

	if (!place)
		return -1;
	snprintf(place->trace, sizeof place->trace, "%s/trace", place->run);
	producer_open(&place->producer, place->run);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	session_free(place->session);
	filter_free(place->filter);
	producer_close(&place->producer);
	return place_destroy(place);
}

/* ---- facts and events ---- */

struct payload {
	uint8_t bytes[256];
	size_t size;
};

static void put(struct payload *payload, uint64_t value)
{
	memcpy(payload->bytes + payload->size, &value, sizeof value);
	payload->size += sizeof value;
}

static void put_text(struct payload *payload, const char *text)
{
	memcpy(payload->bytes + payload->size, text, strlen(text) + 1);
	payload->size += strlen(text) + 1;
}

static void fact(struct place *place, uint16_t id, const struct payload *payload)
{
	producer_init_record(&place->producer, id, payload->bytes, payload->size);
}

static void node(struct place *place, uint64_t handle, const char *space, const char *name)
{
	struct payload payload = { .size = 0 };

	put(&payload, handle);
	put(&payload, handle + 2);
	put_text(&payload, name);
	put_text(&payload, space);
	fact(place, KYMO_POINT_rcl_node_init, &payload);
}

/* rcl_publisher_init, rcl_subscription_init: the middleware's handle is the next even address. */
static void endpoint(struct place *place, uint16_t id, uint64_t handle, uint64_t of,
		     const char *topic)
{
	struct payload payload = { .size = 0 };

	put(&payload, handle);
	put(&payload, of);
	put(&payload, handle + 2);
	put_text(&payload, topic);
	if (id == KYMO_POINT_rcl_publisher_init || id == KYMO_POINT_rcl_subscription_init)
		put(&payload, 10);
	fact(place, id, &payload);
}

static void link_of(struct place *place, uint16_t id, uint64_t first, uint64_t second)
{
	struct payload payload = { .size = 0 };

	put(&payload, first);
	put(&payload, second);
	fact(place, id, &payload);
}

/* A subscription, its object at handle + 4, its callback at handle + 6. */
static void subscription(struct place *place, uint64_t handle, uint64_t of, const char *topic)
{
	endpoint(place, KYMO_POINT_rcl_subscription_init, handle, of, topic);
	link_of(place, KYMO_POINT_rclcpp_subscription_init, handle, handle + 4);
	link_of(place, KYMO_POINT_rclcpp_subscription_callback_added, handle + 4, handle + 6);
}

/* One event whose fields are numbers. */
static void event_in(struct place *place, unsigned ring, uint16_t id, uint64_t first,
		     uint64_t second)
{
	struct payload payload = { .size = 0 };
	const struct kymo_point *point = &kymo_points[id];

	for (unsigned i = 0; i < point->field_count; i++)
		if (point->field[i].kind == KYMO_KIND_BOOL) {
			memset(payload.bytes + payload.size, 0, 4);
			payload.size += 4;
		} else {
			put(&payload, i == 0 ? first : i == 1 ? second : 0);
		}
	producer_emit(&place->producer, ring, id, payload.bytes, payload.size);
}

static void event(struct place *place, uint16_t id, uint64_t first, uint64_t second)
{
	event_in(place, 0, id, first, second);
}

static void callback(struct place *place, uint64_t address)
{
	event(place, KYMO_POINT_callback_start, address, 0);
	event(place, KYMO_POINT_callback_end, address, 0);
}

/* ---- sessions ---- */

static struct filter_rules rules_of(const char *text)
{
	struct filter_rules rules = { 0 };
	struct kymo_err err = { 0 };

	if (filter_rules_text(&rules, text, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return rules;
}

static void poll_once(struct place *place)
{
	session_flush(place->session);
	assert_true(session_poll(place->session) >= 0);
}

/* From its first round on it waits before a flush until what is committed is old enough to be
 * merged. */
static void begin(struct place *place, const char *text)
{
	struct filter_rules rules = rules_of(text);
	struct session_options options = {
		.runtime_dir = place->run, .output = place->trace, .version = "0.1.0", .say = say, .context = place,
		.streams = streams,
	};
	struct kymo_err err = { 0 };

	place->filter = options.filter = filter_create(&filter_regex_pcre2);
	assert_non_null(place->filter);
	assert_true(filter_set(place->filter, &rules));
	filter_rules_free(&rules);
	if (session_begin(&options, &place->session, &err) < 0)
		fail_msg("%s", err.text);
	poll_once(place);
}

static void change(struct place *place, const char *text)
{
	struct filter_rules rules = rules_of(text);
	struct kymo_err err = { 0 };

	if (session_set_rules(place->session, &rules, &err) < 0)
		fail_msg("%s", err.text);
	filter_rules_free(&rules);
}

/* Everything that was produced is in the trace or was left out. */
static struct session_stats taken(struct place *place)
{
	struct session_stats stats;

	poll_once(place);
	session_stats(place->session, &stats);
	assert_int_equal(stats.dropped, 0);
	assert_int_equal(stats.recorded + stats.filtered, place->producer.produced);
	return stats;
}

static void wants(struct place *place, uint64_t recorded, uint64_t filtered)
{
	struct session_stats stats = taken(place);

	if (stats.recorded != recorded || stats.filtered != filtered)
		fail_msg("%llu recorded and %llu left out, not %llu and %llu",
			 (unsigned long long)stats.recorded, (unsigned long long)stats.filtered,
			 (unsigned long long)recorded, (unsigned long long)filtered);
}

static uint64_t *set_of(struct place *place)
{
	return (uint64_t *)producer_page(&place->producer, KYMO_LEFT_OUT_PAGE);
}

/* As the traced process looks: is it in the set, and more than proposed? */
static bool left_out(struct place *place, uint64_t address)
{
	bool found = false;

	for (unsigned i = 0; i < KYMO_LEFT_OUT_MAX; i++)
		found |= set_of(place)[i] == address;
	return found;
}

static uint8_t byte_of(struct place *place, unsigned id)
{
	return ((uint8_t *)producer_page(&place->producer, KYMO_ENABLE_PAGE))[id];
}

/* ---- tests ---- */

static void by_topic(void **state)
{
	struct place *place = *state;

	node(place, 0x1000, "/", "talker");
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1100, 0x1000, "/scan");
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1200, 0x1000, "/rosout");
	subscription(place, 0x1300, 0x1000, "/scan");
	subscription(place, 0x1400, 0x1000, "/rosout");
	begin(place, "topic !/rosout");
	assert_true(left_out(place, 0x1200));		/* before the first event */
	assert_true(left_out(place, 0x1202));
	assert_true(left_out(place, 0x1406));
	assert_false(left_out_has(set_of(place), 0x1100));
	assert_false(left_out_has(set_of(place), 0x1306));
	assert_int_equal(byte_of(place, KYMO_POINT_rcl_publish), KYMO_ENABLE_LOOK_UP);
	assert_int_equal(byte_of(place, KYMO_POINT_rclcpp_executor_wait_for_work), KYMO_ENABLE_YES);

	event(place, KYMO_POINT_rcl_publish, 0x1100, 0x77);
	event(place, KYMO_POINT_rmw_publish, 0x1102, 0x77);
	wants(place, 2, 0);
	event(place, KYMO_POINT_rcl_publish, 0x1200, 0x77);
	event(place, KYMO_POINT_rmw_publish, 0x1202, 0x77);
	wants(place, 2, 2);
	callback(place, 0x1306);
	callback(place, 0x1406);
	callback(place, 0x9990);			/* nobody knows what that is: recorded */
	event(place, KYMO_POINT_rclcpp_executor_wait_for_work, 0, 0);
	event(place, KYMO_POINT_rclcpp_executor_execute, 0x1400, 0);
	wants(place, 7, 5);
}

/* What has a message alone follows what had it before, and rclcpp_publish what comes behind it. */
static void messages(void **state)
{
	struct place *place = *state;

	node(place, 0x1000, "/", "n");
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1100, 0x1000, "/a");
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1200, 0x1000, "/b");
	subscription(place, 0x1300, 0x1000, "/a");
	subscription(place, 0x1400, 0x1000, "/b");
	begin(place, "topic /a");
	event(place, KYMO_POINT_rmw_take, 0x1402, 0x50);
	event(place, KYMO_POINT_rcl_take, 0x50, 0);
	event(place, KYMO_POINT_rclcpp_take, 0x50, 0);
	wants(place, 0, 3);
	event(place, KYMO_POINT_rcl_take, 0x51, 0);	/* another message */
	wants(place, 1, 3);
	event(place, KYMO_POINT_rmw_take, 0x1302, 0x50);
	event(place, KYMO_POINT_rcl_take, 0x50, 0);
	wants(place, 3, 3);
	event(place, KYMO_POINT_rmw_take, 0x1402, 0x52);
	wants(place, 3, 4);
	event(place, KYMO_POINT_rcl_take, 0x52, 0);	/* in another packet */
	wants(place, 3, 5);
	event(place, KYMO_POINT_rclcpp_publish, 0x60, 0);
	event(place, KYMO_POINT_rcl_publish, 0x1200, 0x60);
	event(place, KYMO_POINT_rclcpp_publish, 0x60, 0);
	event(place, KYMO_POINT_rcl_publish, 0x1100, 0x60);
	event(place, KYMO_POINT_rclcpp_publish, 0x61, 0);
	event(place, KYMO_POINT_rcl_publish, 0x1200, 0x62);	/* of another message */
	wants(place, 6, 8);
}

static void by_node(void **state)
{
	struct place *place = *state;

	node(place, 0x1000, "/p", "x");
	node(place, 0x2000, "/", "y");
	begin(place, "node /p/*");
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1100, 0x1000, "/t");
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x2100, 0x2000, "/t");
	endpoint(place, KYMO_POINT_rcl_service_init, 0x2200, 0x2000, "/y/srv");
	link_of(place, KYMO_POINT_rclcpp_service_callback_added, 0x2200, 0x2210);
	link_of(place, KYMO_POINT_rcl_lifecycle_state_machine_init, 0x2000, 0x2300);
	event(place, KYMO_POINT_rcl_publish, 0x1100, 1);
	event(place, KYMO_POINT_rcl_publish, 0x2100, 1);
	callback(place, 0x2210);
	wants(place, 1, 3);
	assert_true(left_out(place, 0x2300));
	/* A timer's node is told last, after its callback. */
	link_of(place, KYMO_POINT_rcl_timer_init, 0x2400, 1000000);
	link_of(place, KYMO_POINT_rclcpp_timer_callback_added, 0x2400, 0x2410);
	poll_once(place);
	assert_false(left_out(place, 0x2410));
	link_of(place, KYMO_POINT_rclcpp_timer_link_node, 0x2400, 0x2000);
	callback(place, 0x2410);
	event(place, KYMO_POINT_rclcpp_executor_execute, 0x2400, 0);
	wants(place, 1, 6);
	assert_true(left_out(place, 0x2410));
	assert_true(left_out(place, 0x2400));
}

/* A buffer belongs to something that belongs to a subscription that is told of last of all. */
static void buffers(void **state)
{
	struct place *place = *state;

	begin(place, "topic !/b");
	node(place, 0x1000, "/", "n");
	link_of(place, KYMO_POINT_rclcpp_construct_ring_buffer, 0x1500, 10);
	link_of(place, KYMO_POINT_rclcpp_buffer_to_ipb, 0x1500, 0x1510);
	link_of(place, KYMO_POINT_rclcpp_ipb_to_subscription, 0x1510, 0x1404);
	poll_once(place);
	assert_false(left_out(place, 0x1500));
	subscription(place, 0x1400, 0x1000, "/b");
	event(place, KYMO_POINT_rclcpp_ring_buffer_enqueue, 0x1500, 0);
	event(place, KYMO_POINT_rclcpp_ring_buffer_clear, 0x1500, 0);
	event(place, KYMO_POINT_rclcpp_ring_buffer_clear, 0x1508, 0);
	wants(place, 1, 2);
	assert_true(left_out(place, 0x1500));
	assert_true(left_out(place, 0x1510));
}

/* Things that belong to each other in a circle, and a long chain: nothing hangs. */
static void senseless_links(void **state)
{
	struct place *place = *state;

	begin(place, "node !/n");
	node(place, 0x1000, "/", "n");
	link_of(place, KYMO_POINT_rclcpp_buffer_to_ipb, 0x10, 0x20);
	link_of(place, KYMO_POINT_rclcpp_buffer_to_ipb, 0x20, 0x30);
	link_of(place, KYMO_POINT_rclcpp_buffer_to_ipb, 0x30, 0x10);
	link_of(place, KYMO_POINT_rclcpp_buffer_to_ipb, 0x40, 0x40);
	link_of(place, KYMO_POINT_rclcpp_timer_link_node, 0x20, 0x1000);
	for (uint64_t i = 0; i < 900; i++)
		link_of(place, KYMO_POINT_rclcpp_buffer_to_ipb, 0x10000 + 16 * i,
			0x10000 + 16 * i + 16);
	link_of(place, KYMO_POINT_rclcpp_timer_link_node, 0x10000 + 16 * 900, 0x1000);
	callback(place, 0x10);
	callback(place, 0x20);
	callback(place, 0x30);
	callback(place, 0x40);
	callback(place, 0x10000);
	wants(place, 2, 8);
}

/* An address that is used again: what it was when the event was written counts. */
static void used_again(void **state)
{
	struct place *place = *state;

	node(place, 0x1000, "/", "n");
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1100, 0x1000, "/a");
	begin(place, "topic !/b");
	event(place, KYMO_POINT_rcl_publish, 0x1100, 1);
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1100, 0x1000, "/b");
	event(place, KYMO_POINT_rcl_publish, 0x1100, 2);
	wants(place, 1, 1);
	assert_true(left_out(place, 0x1100));
	event(place, KYMO_POINT_rcl_publish, 0x1100, 3);
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1100, 0x1000, "/a");
	event(place, KYMO_POINT_rcl_publish, 0x1100, 4);
	wants(place, 2, 2);
	assert_false(left_out_has(set_of(place), 0x1100));
}

/* As long as a record of the init log is being written, nobody knows what else is behind it. */
static void not_before_the_log_is_read(void **state)
{
	struct place *place = *state;
	struct kymo_log_record *record;
	uint64_t stamp, position;

	node(place, 0x1000, "/", "n");
	begin(place, "node !/n");
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1100, 0x1000, "/a");
	position = place->producer.region->log_tail;
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1200, 0x1000, "/b");
	record = (void *)(place->producer.base + KYMO_FIRST_SEGMENT_PAGE * KYMO_PAGE + position);
	stamp = record->stamp;
	__atomic_store_n(&record->stamp, 0, __ATOMIC_RELEASE);
	poll_once(place);
	assert_false(left_out(place, 0x1100));
	event(place, KYMO_POINT_rcl_publish, 0x1100, 1);	/* left out all the same */
	wants(place, 0, 1);
	__atomic_store_n(&record->stamp, stamp, __ATOMIC_RELEASE);
	poll_once(place);
	assert_true(left_out(place, 0x1100));
	assert_true(left_out(place, 0x1200));
}

static void while_it_runs(void **state)
{
	struct place *place = *state;

	node(place, 0x1000, "/", "n");
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1100, 0x1000, "/a");
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1200, 0x1000, "/b");
	begin(place, "");
	assert_int_equal(byte_of(place, KYMO_POINT_rcl_publish), KYMO_ENABLE_YES);
	event(place, KYMO_POINT_rcl_publish, 0x1100, 1);
	event(place, KYMO_POINT_rcl_publish, 0x1200, 1);
	change(place, "topic !/a");			/* what was there before is recorded */
	assert_true(left_out(place, 0x1100));
	event(place, KYMO_POINT_rcl_publish, 0x1100, 1);
	event(place, KYMO_POINT_rcl_publish, 0x1200, 1);
	wants(place, 3, 1);
	change(place, "topic /a; event !rcl_pub*");
	assert_false(left_out(place, 0x1100));
	assert_true(left_out(place, 0x1200));
	assert_int_equal(byte_of(place, KYMO_POINT_rcl_publish), KYMO_ENABLE_NO);
	event(place, KYMO_POINT_rcl_publish, 0x1100, 1);	/* not even written */
	event(place, KYMO_POINT_rmw_publish, 0x1102, 1);
	event(place, KYMO_POINT_rmw_publish, 0x1202, 1);
	wants(place, 4, 2);
	change(place, "");
	assert_false(left_out_has(set_of(place), 0x1200));
	event(place, KYMO_POINT_rcl_publish, 0x1100, 1);
	event(place, KYMO_POINT_rcl_publish, 0x1200, 1);
	wants(place, 6, 2);
	assert_int_equal(filter_changes(place->filter), 3);
}

static void a_process_that_is_not_wanted(void **state)
{
	struct place *place = *state;
	struct session_stats stats;

	node(place, 0x1000, "/", "n");
	begin(place, "process !fake");
	event(place, KYMO_POINT_rcl_publish, 0x1100, 1);
	assert_int_equal(place->producer.produced, 0);
	node(place, 0x2000, "/", "m");
	stats = taken(place);
	assert_int_equal(stats.init_events, 0);
	assert_int_equal(stats.bytes, 0);
	change(place, "process fake");			/* and with all it had told before */
	event(place, KYMO_POINT_rcl_publish, 0x1100, 1);
	stats = taken(place);
	assert_int_equal(stats.init_events, 2);
	assert_int_equal(stats.recorded, 1);
}

static void too_many_objects(void **state)
{
	struct place *place = *state;
	unsigned in = 0;

	node(place, 0x1000, "/", "n");
	begin(place, "node !/n");
	for (uint64_t i = 0; i < 900; i++)
		endpoint(place, KYMO_POINT_rcl_publisher_init, 0x100000 + 64 * i, 0x1000, "/t");
	/* Two addresses each: not all have room in the set, none is recorded. */
	for (uint64_t i = 0; i < 400; i++)
		link_of(place, KYMO_POINT_rclcpp_subscription_init, 0x100000 + 64 * i,
			0x900000 + 64 * i);
	poll_once(place);
	for (unsigned i = 0; i < KYMO_LEFT_OUT_MAX; i++)
		in += set_of(place)[i] > KYMO_LEFT_OUT_USED;
	assert_true(in > KYMO_LEFT_OUT_MAX / 2);
	for (uint64_t i = 0; i < 100; i++)
		event(place, KYMO_POINT_rcl_publish, 0x100000 + 64 * 9 * i, 1);
	wants(place, 0, 100);
	assert_int_equal(session_left_out(place->session), 2201);	/* and the node */
}

/* Numbers of events of 0x1100 as babeltrace2 has them, by thread; others are a failure. */
static void read_numbers(struct place *place, uint64_t last[PRODUCER_RINGS])
{
	char command[256], line[4096];
	FILE *out;

	snprintf(command, sizeof command, "command -v babeltrace2 >/dev/null || exit 77; exec babeltrace2 '%s' 2>&1",
		 place->trace);
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof line, out)) {
		const char *text = strstr(line, "message = 0x");
		uint64_t number = text ? strtoull(text + strlen("message = 0x"), NULL, 16) : 0;

		if (!strstr(line, "rcl_publish:"))
			continue;
		assert_non_null(strstr(line, "publisher_handle = 0x1100,"));
		assert_true(number >> 32 < PRODUCER_RINGS);
		if ((uint32_t)number != last[number >> 32] + 1)
			fail_msg("behind %u: %s", (unsigned)last[number >> 32], line);
		last[number >> 32] = (uint32_t)number;
	}
	if (pclose(out) >> 8 == 77)
		skip();
}

static unsigned files_like(const struct place *place, const char *pattern)
{
	char command[256];
	unsigned count = 0;
	FILE *out;

	snprintf(command, sizeof command, "ls '%s/ust' | grep -c '%s'", place->trace, pattern);
	out = popen(command, "r");
	assert_non_null(out);
	assert_int_equal(fscanf(out, "%u", &count), 1);
	pclose(out);
	return count;
}

/* Ring 0 has long stretches, of blocks even, of which nothing is wanted; ring 1 has what is wanted
 * in between. */
static void threads_in_their_order(void **state)
{
	/* A block has 155. */
	static const unsigned stretch[] = { 0, 1, 100, 157, 160, 320, 400 };
	const unsigned count = COUNT_OF(stretch);
	struct place *place = *state;
	uint64_t last[PRODUCER_RINGS] = { 0 }, next[PRODUCER_RINGS] = { 0 };
	struct kymo_err err = { 0 };

	node(place, 0x1000, "/", "n");
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1100, 0x1000, "/a");
	endpoint(place, KYMO_POINT_rcl_publisher_init, 0x1200, 0x1000, "/b");
	begin(place, "topic /a");
	for (unsigned i = 0; i < 4 * count; i++) {
		for (unsigned n = 0; n < stretch[i % count]; n++) {
			event_in(place, 0, KYMO_POINT_rcl_publish, 0x1200, 1);
			if (n % 16 == 0)
				event_in(place, 1, KYMO_POINT_rcl_publish, 0x1100,
					 1ull << 32 | ++next[1]);
		}
		for (unsigned n = 0; n < i % 5; n++)
			event_in(place, 0, KYMO_POINT_rcl_publish, 0x1100, ++next[0]);
		/* Not before those. */
		event_in(place, 1, KYMO_POINT_rcl_publish, 0x1100, 1ull << 32 | ++next[1]);
		poll_once(place);
		(void)taken(place);
	}
	wants(place, next[0] + next[1], place->producer.produced - next[0] - next[1]);
	assert_int_equal(session_end(place->session, &err), 0);
	read_numbers(place, last);
	assert_memory_equal(last, next, sizeof last);
	assert_int_equal(files_like(place, "_threads$"), streams == STREAMS_PROCESS);
	assert_int_equal(files_like(place, "_[01]$"), streams == STREAMS_PROCESS ? 0 : 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_topic),
		TEST(messages),
		TEST(by_node),
		TEST(buffers),
		TEST(senseless_links),
		TEST(used_again),
		TEST(not_before_the_log_is_read),
		TEST(while_it_runs),
		TEST(a_process_that_is_not_wanted),
		TEST(too_many_objects),
		TEST(threads_in_their_order),
	};

	int failed;

	streams = STREAMS_THREAD;
	failed = cmocka_run_group_tests_name("streams of threads", tests, NULL, NULL);
	streams = STREAMS_PROCESS;
	return failed + cmocka_run_group_tests_name("one stream", tests, NULL, NULL);
}
