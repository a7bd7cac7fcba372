/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a process declares, tells of its callbacks, and records, with every kind of
 * trigger at once. The input is parts:  | kind u8 | id u16 | size u16 | size bytes |
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi/region.h"
#include "recorder/trigger/trigger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct triggers triggers;
static uint64_t hits;

static void on_hit(void *context, const struct trigger_hit *hit)
{
	(void)context;
	if (hit->trigger >= triggers.count ||
	    strnlen(hit->what, sizeof hit->what) == sizeof hit->what)
		abort();
	hits++;
}

static const struct trigger_listener ear = { on_hit, NULL };

static void part(struct trigger_process *process, struct classes *classes,
		 struct trigger_lane *lane, unsigned kind, unsigned id, const uint8_t *bytes,
		 size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);	/* a look beyond its end is seen */

	if (!exact)
		abort();
	memcpy(exact, bytes, size);
	switch (kind % 5) {
	case 0:
		(void)classes_declare(classes, exact, size);
		break;
	case 1:
		if (id < KYMO_POINTS_TABLE && kymo_points[id].phase == KYMO_PHASE_INIT)
			trigger_fact(process, id, exact, size);
		break;
	case 2:
		trigger_fact_event(process, id, size, &ear);
		break;
	case 3:
		trigger_lane_reset(&lane[id % 2]);
		break;
	default:
		(void)trigger_records(process, &lane[id % 2], exact, size, &ear);
		break;
	}
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const texts[] = {
		"span(*) > 1ns", "span(a:b) > 1us", "callback > 1ns", "callback(*a*) > 1us", "event(*:*a*)", "overrun",
		"missed(*a)",
	};
	struct trigger_lane lane[2] = { 0 };
	struct trigger_process *process;
	struct classes classes = { 0 };

	for (unsigned i = triggers.count; i < sizeof texts / sizeof *texts; i++)
		if (triggers_add(&triggers, texts[i], NULL) < 0)
			abort();
	process = trigger_process_new(&triggers, &classes);
	if (!process)
		abort();
	while (size >= 5) {
		unsigned id = data[1] | (unsigned)data[2] << 8;
		size_t length = data[3] | (size_t)data[4] << 8;

		size -= 5;
		if (length > size)
			length = size;
		part(process, &classes, lane, data[0], id, data + 5, length);
		data += 5 + length;
		size -= length;
	}
	trigger_process_free(process);
	trigger_lane_free(&lane[0]);
	trigger_lane_free(&lane[1]);
	classes_free(&classes);
	return 0;
}
