/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What triggers on topics, chains, timers and rates cost the recorder: CPU time for each event of a
 * chain of two callbacks, and as a share of a core at 100,000 events/s.
 *
 *   bench_trigger [EVENTS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/region.h"
#include "base/array.h"
#include "recorder/trigger/trigger.h"

#define HOPS 8u		/* publications of a round */

static uint8_t bytes[1u << 16];
static size_t used;
static unsigned events, hits;

static void word(uint64_t value, size_t size)
{
	memcpy(bytes + used, &value, size);
	used += size;
}

static void head(unsigned id, uint64_t ns)
{
	word(id, 2);
	word(ns, 8);
	events++;
}

static void text_fact(struct trigger_process *process, unsigned id, const uint64_t *word,
		      unsigned words, const char *text)
{
	uint8_t fact[256];

	memcpy(fact, word, words * sizeof *word);
	memcpy(fact + words * sizeof *word, text, strlen(text) + 1);
	memset(fact + words * sizeof *word + strlen(text) + 1, 0, 16);
	trigger_fact(process, id, fact, words * sizeof *word + strlen(text) + 17);
}

/* Callback i receives /t<i> and publishes /t<i + 1>. */
static void facts(struct trigger_process *process)
{
	for (uint64_t i = 0; i <= HOPS; i++) {
		char topic[32];

		(void)snprintf(topic, sizeof topic, "/t%u", (unsigned)i);
		text_fact(process, KYMO_POINT_rcl_publisher_init,
			  (uint64_t[]){ 1000 + i, 1, 2000 + i }, 3, topic);
		text_fact(process, KYMO_POINT_rcl_subscription_init,
			  (uint64_t[]){ 3000 + i, 1, 4000 + i }, 3, topic);
		trigger_fact(process, KYMO_POINT_rclcpp_subscription_init,
			     (uint8_t *)(uint64_t[]){ 3000 + i, 5000 + i }, 16);
		trigger_fact(process, KYMO_POINT_rclcpp_subscription_callback_added,
			     (uint8_t *)(uint64_t[]){ 5000 + i, 6000 + i }, 16);
	}
}

/* Eight callbacks, each with what an executor, rcl and rmw record of a message: ten events. */
static void round_of(uint64_t ns)
{
	for (uint64_t i = 0; i < HOPS; i++, ns += 10000) {
		head(KYMO_POINT_rclcpp_executor_get_next_ready, ns);
		head(KYMO_POINT_rclcpp_executor_execute, ns + 100);
		word(3000 + i, 8);
		head(KYMO_POINT_rmw_take, ns + 200);
		word(4000 + i, 8), word(7, 8), word(ns - 9000, 8), word(1, 4);
		head(KYMO_POINT_rcl_take, ns + 300);
		word(7, 8);
		head(KYMO_POINT_rclcpp_take, ns + 400);
		word(7, 8);
		head(KYMO_POINT_callback_start, ns + 500);
		word(6000 + i, 8), word(0, 4);
		head(KYMO_POINT_rclcpp_publish, ns + 600);
		word(8, 8);
		head(KYMO_POINT_rcl_publish, ns + 700);
		word(1001 + i, 8), word(8, 8);
		head(KYMO_POINT_rmw_publish, ns + 800);
		word(2001 + i, 8), word(8, 8), word(ns + 1000, 8);
		head(KYMO_POINT_callback_end, ns + 900);
		word(6000 + i, 8);
	}
}

static void on_hit(void *context, const struct trigger_hit *hit)
{
	(void)context;
	(void)hit;
	hits++;
}

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double measure(const char *const *trigger, unsigned wanted)
{
	const struct trigger_listener ear = { on_hit, NULL };
	struct triggers *triggers = calloc(1, sizeof *triggers);
	struct classes classes = { 0 };
	struct trigger_process *process;
	struct trigger_lane lane[4] = { { 0 } };
	struct kymo_err err;
	uint64_t ns = 1000000000;
	double begun;

	for (; *trigger; trigger++)
		if (triggers_add(triggers, *trigger, &err) < 0)
			exit(1);
	(void)triggers_watch(triggers, &ear);
	process = trigger_process_new(triggers, &classes);
	trigger_process_owner(process, &classes, "bench", "/bench", ns);
	for (unsigned i = 0; i < COUNT_OF(lane); i++)
		(void)trigger_thread(process, &lane[i], (int)i, "t");
	facts(process);
	begun = cpu_s();
	for (events = 0; events < wanted;) {
		for (unsigned i = 0; i < 100 * COUNT_OF(lane); i++, ns += 100000) {
			used = 0;
			round_of(ns);
			(void)trigger_records(process, &lane[i / 100], bytes, used, &ear);
		}
		trigger_watch_until(triggers, ns);
	}
	begun = cpu_s() - begun;
	trigger_process_free(process);
	for (unsigned i = 0; i < COUNT_OF(lane); i++)
		trigger_lane_free(&lane[i]);
	triggers_watch_end(triggers);
	free(triggers);
	return begun / events * 1e9;
}

int main(int argc, char **argv)
{
	const unsigned wanted = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20000000;
	static const char *const none[] = { NULL }, *const callback[] = { "callback > 10s", NULL },
		*const rate[] = { "rate(/t3) < 1", NULL }, *const chain[] = { "chain(/t1 -> /t7) > 10us", NULL },
		*const all[] = { "chain(/t1 -> /t7) > 10s", "latency(/t*) > 10s", "silent(/t1) > 1s", "rate(/t3) < 1", "lost(/t5)",
				 "late > 10s", "cpu(bench) > 10000%", NULL };
	static const struct {
		const char *name;
		const char *const *trigger;
	} rows[] = { { "no trigger", none }, { "callback", callback }, { "rate", rate }, { "chain", chain }, { "all seven", all } };

	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		const double ns = measure(rows[i].trigger, wanted);

		printf("%-12s %6.1f ns an event, %.2f %% of a core at 100,000 events/s (fired %u times)\n", rows[i].name, ns,
		       ns * 1e5 / 1e7, hits);
		hits = 0;
	}
	return 0;
}
