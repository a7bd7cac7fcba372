/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent makes of regions and messages: which processes there are, what the session does for
 * each, which nodes they have; and that nothing that stands in a region, or in a Start, leads it
 * astray.
 */
#include <signal.h>

#include "producer.h"

#include <json-c/json.h>

#include "caret/agent/roster.h"
#include "caret/agent/start.h"
#include "base/array.h"

struct place {
	char run[64];
	pid_t child;			/* whose region it is: an agent does not see its own */
	struct producer producer;
	struct roster roster;
	unsigned found, gone, changed;
	int gone_pid;
};

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof *place);
	char name[64];

	snprintf(place->run, sizeof place->run, "/dev/shm/kymo-test-XXXXXX");
	if (!mkdtemp(place->run))
		return -1;
	place->child = fork();
	if (place->child == 0) {
		for (;;)
			(void)pause();
	}
	assert_true(place->child > 0);
	snprintf(name, sizeof name, "%d-1.region", (int)place->child);
	producer_open_as(&place->producer, place->run, place->child, alive_start_time(place->child),
			 name);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	char command[128];
	int rc;

	if (place->child) {
		(void)kill(place->child, SIGKILL);
		(void)waitpid(place->child, NULL, 0);
	}
	producer_close(&place->producer);
	snprintf(command, sizeof command, "rm -rf '%s'", place->run);
	rc = system(command);
	free(place);
	return rc;
}

/* ---- the log ---- */

static void tell_node(struct place *place, uint64_t handle, const char *name, size_t name_size,
		      const char *space, size_t space_size)
{
	uint8_t payload[1024] = { 0 };

	memcpy(payload, &handle, sizeof handle);
	memcpy(payload + 16, name, name_size);
	memcpy(payload + 16 + name_size, space, space_size);
	producer_init_record(&place->producer, KYMO_POINT_rcl_node_init, payload,
			     16 + name_size + space_size);
}

static struct region region_of(const struct place *place)
{
	return (struct region){ .fd = -1, .base = place->producer.base, .pages = PRODUCER_PAGES };
}

static void test_nodes(void **state)
{
	struct place *place = *state;
	struct region region = region_of(place);
	struct nodes nodes = { 0 };
	struct kymo_gone gone = { 1, 0 };
	char longest[300];

	memset(longest, 'x', sizeof longest);
	assert_false(nodes_read(&nodes, &region));
	tell_node(place, 1, "camera", 7, "/", 2);
	tell_node(place, 2, "planner", 8, "/ns", 4);
	assert_true(nodes_read(&nodes, &region));
	assert_int_equal(nodes.count, 2);
	assert_string_equal(nodes.node[0].name, "/camera");
	assert_string_equal(nodes.node[1].name, "/ns/planner");
	assert_false(nodes_read(&nodes, &region));

	/* Without an end, too short, longer than a name can be: none of them. */
	tell_node(place, 3, "endless", 7, "", 0);
	tell_node(place, 3, "half", 5, "/ns", 3);
	tell_node(place, 3, longest, sizeof longest, longest, sizeof longest);
	producer_init_record(&place->producer, KYMO_POINT_rcl_node_init, "1234567", 7);
	producer_init_record(&place->producer, KYMO_POINT_rcl_node_init, "", 0);
	producer_init_record(&place->producer, KYMO_LOG_GONE, "123", 3);
	assert_false(nodes_read(&nodes, &region));
	assert_int_equal(nodes.count, 2);

	/* Told again; another one at its address; gone. */
	tell_node(place, 2, "pilot", 6, "/ns/", 5);
	producer_init_record(&place->producer, KYMO_LOG_GONE, &gone, sizeof gone);
	assert_true(nodes_read(&nodes, &region));
	assert_int_equal(nodes.count, 1);
	assert_string_equal(nodes.node[0].name, "/ns/pilot");
	nodes_free(&nodes);
}

/* Whatever the numbers of the log say, reading ends, and stays inside. */
static void test_corrupt_log(void **state)
{
	static const uint64_t wild[] = {
		0,          1,         7, 8, KYMO_LOG_CHUNK - 8, KYMO_LOG_CHUNK, 3 * KYMO_LOG_CHUNK,
		1ull << 40, UINT64_MAX
	};
	struct place *place = *state;
	struct region region = region_of(place);

	tell_node(place, 1, "camera", 7, "/", 2);
	for (unsigned i = 0; i < COUNT_OF(wild); i++)
		for (unsigned j = 0; j < COUNT_OF(wild); j++) {
			struct nodes nodes = { .at = wild[(i + j) % 9] };

			place->producer.region->log_head = wild[i];
			place->producer.region->log_tail = wild[j];
			(void)nodes_read(&nodes, &region);
			nodes_free(&nodes);
		}
}

/* ---- processes ---- */

static void on_found(void *context, struct roster_process *process)
{
	(void)process;
	((struct place *)context)->found++;
}

static void on_gone(void *context, struct roster_process *process)
{
	((struct place *)context)->gone++;
	((struct place *)context)->gone_pid = process->host_pid;
}

static void on_changed(void *context, struct roster_process *process)
{
	(void)process;
	((struct place *)context)->changed++;
}

static void look(struct place *place)
{
	const struct roster_calls calls = { on_found, on_gone, on_changed, place };

	roster_update(&place->roster, true, &calls);
}

/* A session comes, waits, records, pauses, goes; the process is in it, or is not. */
static void test_sessions(void **state)
{
	struct place *place = *state;
	struct kymo_region *region = place->producer.region;
	struct domain domain;
	struct rundir dir;
	struct kymo_err err;
	char name[ROSTER_NAME_MAX];
	const struct roster_process *process;
	struct ros_domains ros = { { 1u << 6 } };

	assert_int_equal(roster_open(&place->roster, place->run, &err), 0);
	look(place);
	assert_int_equal(place->found, 1);
	process = place->roster.process[0];
	assert_int_equal(process->session, MACHINE_NONE);
	assert_int_equal(process->host_pid, place->child);
	assert_int_equal(strncmp(process->name, "caret_trace_", 12), 0);
	assert_int_equal(strlen(process->name), 12 + 36);
	assert_int_equal(strspn(process->name + 12, "0123456789abcdef_"), 36);
	roster_name(name, &process->region);
	assert_string_equal(name, process->name);

	assert_int_equal(rundir_open(&dir, place->run, true, &err), 0);
	assert_int_equal(domain_claim(&domain, &dir, &err), 0);
	domain_announce(&domain, KYMO_STATE_PREPARE, true, 0, 1, "/tmp/trace");
	look(place);
	/* It has not been taken yet. */
	assert_int_equal(process->session, MACHINE_NONE);
	region->generation = domain.generation;
	region->state = KYMO_STATE_PREPARE;
	look(place);
	assert_int_equal(process->session, MACHINE_ARMED);
	domain_switch(&domain, KYMO_STATE_RECORD);
	look(place);
	assert_int_equal(process->session, MACHINE_ARMED);		/* its turn comes */
	region->state = KYMO_STATE_RECORD;
	look(place);
	assert_int_equal(process->session, MACHINE_RECORDS);
	domain_switch(&domain, KYMO_STATE_PREPARE);
	region->state = KYMO_STATE_PREPARE;
	look(place);
	assert_int_equal(process->session, MACHINE_PAUSED);		/* armed once only */
	/* Those of other ROS domains begin. */
	domain_limit(&domain, &ros);
	domain_switch(&domain, KYMO_STATE_RECORD);
	look(place);
	assert_int_equal(process->session, MACHINE_ARMED);
	ros_domains_add(&ros, process->region.ros_domain);
	domain_limit(&domain, &ros);
	look(place);
	assert_int_equal(process->session, MACHINE_ARMED);		/* its turn comes */
	region->state = KYMO_STATE_RECORD;
	look(place);
	assert_int_equal(process->session, MACHINE_RECORDS);
	domain_switch(&domain, KYMO_STATE_PREPARE);
	region->state = KYMO_STATE_PREPARE;
	look(place);
	assert_int_equal(process->session, MACHINE_PAUSED);
	/* What another session left. */
	region->generation++;
	look(place);
	assert_int_equal(process->session, MACHINE_NONE);
	region->generation--;
	/* Its own flight recorder. */
	region->mode = KYMO_MODE_OVERWRITE;
	look(place);
	assert_int_equal(process->session, MACHINE_NONE);
	region->mode = KYMO_MODE_DISCARD;
	region->state = 77;						/* no state at all */
	look(place);
	assert_int_equal(process->session, MACHINE_NONE);
	domain_release(&domain);
	look(place);
	assert_int_equal(process->session, MACHINE_NONE);

	region->flags = KYMO_REGION_REPLACED;
	look(place);
	assert_int_equal(place->gone, 1);
	assert_int_equal(place->roster.count, 0);
	rundir_close(&dir);
	roster_close(&place->roster);
}

/* It is told who died. */
static void test_death(void **state)
{
	struct place *place = *state;
	struct kymo_err err;

	assert_int_equal(roster_open(&place->roster, place->run, &err), 0);
	look(place);
	assert_int_equal(place->roster.count, 1);
	assert_int_equal(kill(place->child, SIGKILL), 0);
	assert_int_equal(waitpid(place->child, NULL, 0), place->child);
	look(place);
	assert_int_equal(place->gone, 1);
	assert_int_equal(place->gone_pid, place->child);
	place->child = 0;
	assert_int_equal(place->roster.count, 0);
	roster_close(&place->roster);
}

/* ---- ROS domains ---- */

static void test_domains(void **state)
{
	struct ros_domains set = { { 0 } }, other = { { 0 } }, read;
	struct json_object *array;
	char text[32];
	struct kymo_err err;

	(void)state;
	for (uint32_t number = 0; number < 256; number++)
		assert_true(ros_domains_has(&set, number));		/* none are all */
	ros_domains_add(&set, KYMO_ROS_UNKNOWN);
	ros_domains_add(&set, 1);
	ros_domains_add(&set, KYMO_ROS_DOMAIN_MAX + 1);
	for (uint32_t number = 0; number < 256; number++)
		assert_int_equal(ros_domains_has(&set, number),
				 number <= 1 || number == 233 || number == KYMO_ROS_EVERY);
	ros_domains_text(text, sizeof text, &set);
	assert_string_equal(text, "0, 232");
	ros_domains_text(text, 3, &set);
	assert_string_equal(text, "0,");

	array = ros_domains_json(&set);
	assert_string_equal(json_object_to_json_string_ext(array, JSON_C_TO_STRING_PLAIN), "[-1,0,232]");
	assert_int_equal(ros_domains_read(&read, array, &err), 0);
	assert_memory_equal(&read, &set, sizeof set);
	json_object_put(array);
	assert_int_equal(ros_domains_read(&read, NULL, &err), 0);
	assert_false(ros_domains_limited(&read));
	for (unsigned i = 0; i < 5; i++) {
		static const char *const wrong[] = { "[]", "[233]", "[-2]", "[\"1\"]", "{}" };

		array = json_tokener_parse(wrong[i]);
		assert_int_equal(ros_domains_read(&read, array, &err), -1);
		json_object_put(array);
	}

	ros_domains_add(&other, 1);
	assert_false(ros_domains_join(&set, &other));
	assert_true(ros_domains_leave(&set, &other));
	assert_false(ros_domains_has(&set, 1));
	assert_true(ros_domains_join(&set, &other));
	other = (struct ros_domains){ { 2, 0, 0, 1ull << (233 - 192) } };
	/* Of those that are not known nobody is left. */
	assert_false(ros_domains_leave(&set, &other));
	assert_true(ros_domains_has(&set, 1));
}

/* ---- Start ---- */

static void test_start(void **state)
{
	char text[START_TEXT_MAX + 1] = "";
	struct start start = { 0 };
	struct kymo_err err;

	(void)state;
	assert_int_equal(start_set(&start, CARET_SELECT_NODES, NULL, &err), 0);
	assert_int_equal(start_set(&start, CARET_SELECT_NODES, "", &err), 0);
	assert_false(start_filters(&start));
	memset(text, 'a', START_TEXT_MAX);
	assert_int_equal(start_set(&start, CARET_SELECT_NODES, text, &err), -1);
	assert_non_null(strstr(err.text, "CARET_SELECT_NODES"));
	text[START_TEXT_MAX - 1] = 0;
	assert_int_equal(start_set(&start, CARET_SELECT_NODES, text, &err), 0);
	assert_true(start_filters(&start));
	assert_int_equal(start_set(&start, CARET_IGNORE_TOPICS, "a\nb", &err), -1);
	assert_int_equal(start_set(&start, CARET_IGNORE_TOPICS, "a\xff", &err), -1);
	assert_int_equal(start_set(&start, CARET_IGNORE_TOPICS, "/k\xc3\xbc" "che:^/a.*$", &err), 0);
	start_free(&start);
	assert_false(start_filters(&start));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nodes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_corrupt_log, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sessions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_death, setup, teardown),
		cmocka_unit_test(test_domains),
		cmocka_unit_test(test_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
