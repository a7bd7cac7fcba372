/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_player: a simulator's /clock, a hundred times a second, for tests of simulation time.
 *
 *   clock_player DOMAIN PHASE...
 *     SECONDS:RATE     runs for so long, at that rate; 0: stands, and says so
 *     SECONDS:silent   stands, and says nothing
 *     =SECONDS         jumps there
 *
 * Begins when somebody listens. Prints at the begin of each phase, and at the end: CLOCK_MONOTONIC
 * in ns, the simulation's time in ns, the rate.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "dds/dds.h"

#define S 1000000000ll
#define EVERY_NS 10000000

static int64_t monotonic(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * S + now.tv_nsec;
}

static dds_entity_t must(dds_entity_t entity, const char *what)
{
	if (entity >= 0)
		return entity;
	fprintf(stderr, "clock_player: %s: %s\n", what, dds_strretcode(entity));
	exit(1);
}

/* As rclcpp's ClockQoS: best effort, the last one. */
static dds_entity_t publisher(uint32_t domain)
{
	const dds_topic_descriptor_t *type = &rosgraph_msgs_msg_dds__Clock__desc;
	const dds_topic_descriptor_t bare = {
		.m_size = type->m_size,
		.m_align = type->m_align,
		.m_nops = type->m_nops,
		.m_ops = type->m_ops,
		.m_flagset = type->m_flagset & ~DDS_TOPIC_XTYPES_METADATA,
		.m_typename = "rosgraph_msgs::msg::dds_::Clock_",
		.m_meta = "",
	};
	dds_entity_t participant = must(dds_create_participant(domain, NULL, NULL), "cannot join the domain"), writer;
	dds_qos_t *qos = dds_create_qos();

	dds_qset_reliability(qos, DDS_RELIABILITY_BEST_EFFORT, 0);
	dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1);
	writer = must(dds_create_writer(participant, must(dds_create_topic(participant, &bare, "rt/clock", NULL, NULL),
							  "rt/clock"), qos, NULL), "cannot write");
	dds_delete_qos(qos);
	return writer;
}

static void wait_for_listeners(dds_entity_t writer)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int64_t until = monotonic() + 60 * S;
	dds_publication_matched_status_t matched;

	while (dds_get_publication_matched_status(writer, &matched) == DDS_RETCODE_OK &&
	       !matched.current_count) {
		if (monotonic() > until) {
			fprintf(stderr, "clock_player: nobody listens\n");
			exit(1);
		}
		(void)nanosleep(&pause, NULL);
	}
}

static void publish(dds_entity_t writer, int64_t stamp)
{
	rosgraph_msgs_msg_dds__Clock_ message = { { (int32_t)(stamp / S), (uint32_t)(stamp % S) } };

	(void)dds_write(writer, &message);
}

/* Return: the simulation's time at its end. */
static int64_t play(dds_entity_t writer, int64_t *begin, int64_t stamp, double seconds, double rate,
		    bool says)
{
	const struct timespec pause = { .tv_nsec = EVERY_NS };
	int64_t end = *begin + (int64_t)(seconds * (double)S), now;

	printf("%" PRId64 " %" PRId64 " %g\n", *begin, stamp, rate);
	fflush(stdout);
	while ((now = monotonic()) < end) {
		if (says)
			publish(writer, stamp + llround((double)(now - *begin) * rate));
		(void)nanosleep(&pause, NULL);
	}
	stamp += llround((double)(end - *begin) * rate);
	*begin = end;
	return stamp;
}

int main(int argc, char **argv)
{
	int64_t stamp = 100 * S, begin;
	dds_entity_t writer;

	if (argc < 3)
		return 2;
	writer = publisher((uint32_t)strtoul(argv[1], NULL, 10));
	wait_for_listeners(writer);
	begin = monotonic();
	for (int i = 2; i < argc; i++) {
		char *colon = strchr(argv[i], ':');

		if (*argv[i] == '=')
			stamp = llround(strtod(argv[i] + 1, NULL) * (double)S);
		else if (colon)
			stamp = play(writer, &begin, stamp, strtod(argv[i], NULL),
				     strtod(colon + 1, NULL), strcmp(colon + 1, "silent") != 0);
		else
			return 2;
	}
	printf("%" PRId64 " %" PRId64 " 0\n", begin, stamp);
	return 0;
}
