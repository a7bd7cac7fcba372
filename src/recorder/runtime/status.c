/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/runtime/status.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/runtime/claim.h"
#include "recorder/runtime/initlog_cursor.h"
#include "recorder/runtime/region_view.h"
#include "base/now.h"

#define COMMITTED_TRIES 100

/* As many facts as a recorder that begins now would read. */
static uint64_t count_init(const struct region *region)
{
	struct log_facts facts;

	(void)log_collect(region, 0, UINT64_MAX, true, &facts);
	free(facts.fact);
	return facts.count;
}

/* Records ever committed to a ring. Tries again while the producer moves on to another block. */
static uint64_t committed(const struct region *region, const struct kymo_ring *ring, uint32_t page)
{
	const uint32_t block_size = __atomic_load_n(&ring->block_size, __ATOMIC_RELAXED);
	const uint32_t block_count = __atomic_load_n(&ring->block_count, __ATOMIC_RELAXED);
	const bool sound = region_has_ring(region, page, block_size, block_count);

	for (int i = 0; sound && i < COMMITTED_TRIES; i++) {
		uint64_t word = __atomic_load_n(&ring->wpos, __ATOMIC_ACQUIRE);
		uint64_t number = KYMO_WORD_POS(word) / block_size, before;
		const uint64_t at =
			region_block_page(region, ring, page, number, block_size, block_count);
		const struct kymo_block *block = (const void *)(region->base + at * KYMO_PAGE);

		if (!KYMO_WORD_POS(word))
			return 0;
		before = __atomic_load_n(&block->records_before, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&block->seq, __ATOMIC_ACQUIRE) == number + 1)
			return before + KYMO_WORD_COUNT(word);
	}
	return 0;
}

static void add_rings(const struct region *region, struct process_status *status)
{
	const struct kymo_region *header = region_header(region);
	const uint32_t *ring_page = region_page(region, KYMO_RING_DIR_PAGE, 2);
	uint32_t count = __atomic_load_n(&header->ring_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count && i < KYMO_RINGS_MAX; i++) {
		uint32_t page = __atomic_load_n(&ring_page[i], __ATOMIC_ACQUIRE);
		const struct kymo_ring *ring = page ? region_page(region, page, 1) : NULL;
		const uint64_t size = ring ? (uint64_t)ring->block_size * ring->block_count : 0;
		uint64_t wpos, rpos;

		if (!ring)
			continue;
		rpos = __atomic_load_n(&ring->rpos, __ATOMIC_ACQUIRE);
		wpos = KYMO_WORD_POS(__atomic_load_n(&ring->wpos, __ATOMIC_ACQUIRE));
		status->rings++;
		if (status->mode == KYMO_MODE_OVERWRITE)	/* rpos stands still */
			rpos = wpos > size ? wpos - size : 0;
		status->unread_bytes += wpos > rpos ? wpos - rpos : 0;
		status->dropped += __atomic_load_n(&ring->dropped, __ATOMIC_RELAXED);
		status->produced += committed(region, ring, page);
	}
}

static bool counts_some(const struct region *region)
{
	const uint8_t *enable = region_page(region, KYMO_ENABLE_PAGE, 1);

	return enable && memchr(enable, KYMO_ENABLE_COUNT, KYMO_PAGE);
}

static void fill(const struct region *region, struct process_status *status)
{
	const struct kymo_region *header = region_header(region);

	*status = (struct process_status){
		.pid = region->pid,
		.state = __atomic_load_n(&header->state, __ATOMIC_ACQUIRE),
		.mode = __atomic_load_n(&header->mode, __ATOMIC_RELAXED),
		.counts = counts_some(region),
		.generation = __atomic_load_n(&header->generation, __ATOMIC_RELAXED),
		.start_time = region->start_time,
		.birth_ns = region->birth_ns,
		.at_ns = (uint64_t)now_ns(),
		.session_tag = region->tag,
		.ros_domain = region->ros_domain,
		.init_events = count_init(region),
		.init_dropped = header->log_dropped,
		.dropped = header->dropped_no_ring,
		.memory = region->pages * KYMO_PAGE,
	};
	memcpy(status->procname, region->procname, sizeof status->procname);
	memcpy(status->exe, region->exe, sizeof status->exe);
	memcpy(status->tracetools, header->tracetools_version, sizeof header->tracetools_version);
	status->alive = region_alive(region, &status->host_pid);
	if (header->flags & KYMO_REGION_REPLACED || region_is_left(region))
		status->alive = ALIVE_DEAD;
	if (claim_is_taken(region->fd)) {
		status->recorder_pid = header->recorder_pid;
		status->recorded = __atomic_load_n(&header->recorded, __ATOMIC_RELAXED);
		status->lost = __atomic_load_n(&header->lost, __ATOMIC_RELAXED);
	}
	add_rings(region, status);
}

struct reading {
	const struct rundir *dir;
	void (*each)(void *context, const struct process_status *status);
	void (*refused)(void *context, const char *name, const char *text);
	void *context;
	int count;
};

static void read_region(void *context, const char *name)
{
	struct reading *reading = context;
	struct process_status status;
	struct region region;
	struct kymo_err why;
	int rc;

	if (!region_is_name(name))
		return;
	rc = region_open(&region, reading->dir, name, false, &why);
	if (rc < 0 && reading->refused)
		reading->refused(reading->context, name, why.text);
	if (rc)
		return;
	fill(&region, &status);
	region_close(&region);
	reading->each(reading->context, &status);
	reading->count++;
}

int status_read(const struct rundir *dir,
		void (*each)(void *context, const struct process_status *status),
		void (*refused)(void *context, const char *name, const char *text), void *context,
		struct kymo_err *err)
{
	struct reading reading = { dir, each, refused, context, 0 };
	const int rc = rundir_list(dir, read_region, &reading);

	return rc < 0 ? err_set(err, KYMO_EXIT_FAILED, "cannot read %s: %s", dir->path, strerror(-rc)) : reading.count;
}
