/* SPDX-License-Identifier: Apache-2.0 */
/* See counts_left.h. */
#include "recorder/runtime/counts_left.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/points.h"
#include "recorder/runtime/claim.h"
#include "recorder/runtime/initlog_cursor.h"
#include "recorder/runtime/region_view.h"

struct ending {
	const struct rundir *dir;
	unsigned count;
};

/* A look without a mapping: nearly always the answer is no. */
static bool may_count(const struct rundir *dir, const char *name)
{
	const int fd = openat(dir->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	uint8_t enable[KYMO_PAGE];
	bool counts;

	if (fd < 0)
		return false;
	counts = pread(fd, enable, sizeof(enable), (off_t)KYMO_ENABLE_PAGE * KYMO_PAGE) ==
			 sizeof(enable) &&
		 memchr(enable, KYMO_ENABLE_COUNT, sizeof(enable));
	(void)close(fd);
	return counts;
}

/* Under the claim: nobody else writes these bytes. Return: whether there was one. */
static bool stop_counting(uint8_t *enable)
{
	bool any = false;

	for (unsigned id = 0; id < KYMO_PAGE; id++) {
		if (__atomic_load_n(&enable[id], __ATOMIC_RELAXED) != KYMO_ENABLE_COUNT)
			continue;
		__atomic_store_n(&enable[id], KYMO_ENABLE_NO, __ATOMIC_RELAXED);
		any = true;
	}
	return any;
}

/* The counting session had taken the flight recorder over, and did not give it back. */
static void begin_flight(const struct region *region, uint8_t *enable)
{
	struct log_facts facts;
	struct log_place place;

	__atomic_store_n(&region_header(region)->mode, KYMO_MODE_OVERWRITE, __ATOMIC_RELEASE);
	for (unsigned id = 0; id < KYMO_POINTS_TABLE; id++)
		if (kymo_points[id].phase == KYMO_PHASE_RUN)
			__atomic_store_n(&enable[id], KYMO_ENABLE_YES, __ATOMIC_RELAXED);
	/* Before the list is read: what is declared from now on is switched on by the program. */
	__atomic_store_n(&region_header(region)->state, KYMO_STATE_RECORD, __ATOMIC_SEQ_CST);
	if (log_collect(region, 0, UINT64_MAX, true, &facts) < 0)
		return;
	for (size_t i = 0; i < facts.count; i++) {
		uint16_t id;

		if (log_look(region, facts.fact[i].position, facts.until, &place) != LOG_RECORD ||
		    place.head.id != KYMO_LOG_DECLARE || place.head.payload_size < sizeof(id))
			continue;
		memcpy(&id, place.payload, sizeof(id));
		if (log_holds(region, facts.fact[i].position) && id >= KYMO_POINTS_TABLE &&
		    id < KYMO_PAGE)
			__atomic_store_n(&enable[id], KYMO_ENABLE_YES, __ATOMIC_RELAXED);
	}
	free(facts.fact);
}

static bool end_one(const struct region *region)
{
	struct kymo_region *header = region_header(region);
	uint8_t *enable = region_page(region, KYMO_ENABLE_PAGE, 1);

	if (!enable || !stop_counting(enable))
		return false;
	if (__atomic_load_n(&header->state, __ATOMIC_ACQUIRE) != KYMO_STATE_PREPARE)
		return true;
	if (__atomic_load_n(&header->flags, __ATOMIC_ACQUIRE) & KYMO_REGION_FLIGHT)
		begin_flight(region, enable);
	else
		__atomic_store_n(&header->state, KYMO_STATE_WAIT, __ATOMIC_RELEASE);
	return true;
}

static void end_file(void *context, const char *name)
{
	struct ending *ending = context;
	struct region region;
	struct kymo_err err;

	if (!region_is_name(name) || !may_count(ending->dir, name) ||
	    region_open(&region, ending->dir, name, true, &err) != 0)
		return;
	/* The claim keeps recorders that begin now away: they try again. */
	if (claim(region.fd) == 0)
		ending->count += end_one(&region);
	region_close(&region);
}

unsigned counts_left_end(const struct rundir *dir)
{
	struct ending ending = { dir, 0 };

	(void)rundir_list(dir, end_file, &ending);
	return ending.count;
}
