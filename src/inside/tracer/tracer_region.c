/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The region's file: created once, grown by whole segments, never shrunk.
 *
 * Every page is allocated (fallocate) and mapped in (MADV_POPULATE_WRITE) before it is written. So
 * a full tmpfs is an error here, not a SIGBUS in the traced program, and no later event causes a
 * page fault. No descriptor stays open: to grow the file, the process opens it by its path.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/points.h"
#include "inside/tracer/tracer_process.h"
#include "inside/tracer/tracer_region_file.h"
#include "inside/tracer/tracer_spare.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* ftruncate() beyond RLIMIT_FSIZE would raise SIGXFSZ in the traced program. */
static bool file_size_allowed(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	       size <= limit.rlim_cur;
}

static int populate(uint8_t *at, size_t bytes)
{
	if (!madvise(at, bytes, MADV_POPULATE_WRITE))
		return 0;
	if (errno != EINVAL)
		return -errno;
	/* Linux < 5.14: write to each page; the pages are allocated already. */
	for (size_t i = 0; i < bytes; i += KYMO_PAGE)
		((volatile uint8_t *)at)[i] = 0;
	return 0;
}

/* Append @pages to the open file and map them. */
static int append(int fd, uint32_t page, uint32_t pages, uint8_t **at)
{
	const off_t offset = (off_t)page * KYMO_PAGE, bytes = (off_t)pages * KYMO_PAGE;
	uint8_t *map;
	int error;

	if (!file_size_allowed((uint64_t)(offset + bytes)))
		return -EFBIG;
	if (fallocate(fd, 0, offset, bytes))
		return -errno;
	map = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	if (map == MAP_FAILED) {
		error = -errno;
	} else {
		error = populate(map, (size_t)bytes);
		if (!error) {
			*at = map;
			return 0;
		}
		(void)munmap(map, (size_t)bytes);
	}
	(void)!ftruncate(fd, offset);
	return error;
}

uint64_t kymo_region_ring_bytes(unsigned index)
{
	if (kymo_settings.ring_bytes)
		return kymo_settings.ring_bytes;
	if (kymo_settings.flight && index < 2)
		return index == 0 ? KYMO_FIRST_KEEPS_BYTES : KYMO_SECOND_KEEPS_BYTES;
	return index == 0   ? KYMO_FIRST_RING_BYTES
	       : index == 1 ? KYMO_SECOND_RING_BYTES
			    : KYMO_LATER_RING_BYTES;
}

/* Initialise a ring of @bytes in mapped, zeroed pages and publish it. */
static void install_ring(struct kymo_process *process, unsigned index, uint64_t bytes, uint8_t *at,
			 uint32_t page)
{
	struct kymo_ring *ring = (struct kymo_ring *)at;

	if (kymo_spare_fits(process, bytes))
		ring->block_size = KYMO_SPARE_BLOCK;
	else
		ring->block_size =
			(uint32_t)(bytes / 4 < KYMO_BLOCK_MAX ? bytes / 4 : KYMO_BLOCK_MAX);
	ring->block_count = (uint32_t)(bytes / ring->block_size);
	ring->number = index;
	process->ring[index] = ring;
	process->ring_page[index] = page;
	process->ring_memory += bytes + KYMO_PAGE;
	__atomic_store_n(&process->region->ring_count, index + 1, __ATOMIC_RELEASE);
}

/* @memory, which is new or was an older chunk, becomes the next chunk of the log. */
static void install_log_chunk(struct kymo_process *process, struct kymo_log_memory memory)
{
	const uint32_t number = process->region->log_chunk_count, at = number % KYMO_LOG_CHUNKS_MAX;

	process->log_chunk[at] = memory;
	__atomic_store_n(&process->log_page[at], memory.page, __ATOMIC_RELEASE);
	__atomic_store_n(&process->region->log_chunk_count, number + 1, __ATOMIC_RELEASE);
}

static uint32_t ring_pages(uint64_t bytes)
{
	return 1 + (uint32_t)(bytes / KYMO_PAGE);
}

/* Allocate and map @pages and @spares spare blocks, or as many of these as a small tmpfs holds. */
static int append_first(int fd, uint32_t pages, uint32_t *spares, uint8_t **at)
{
	int error;

	while ((error = append(fd, 0, pages + *spares * (KYMO_SPARE_BLOCK / KYMO_PAGE), at)) &&
	       *spares)
		*spares /= 2;
	return error;
}

/* Fill a new file with all that a region begins with, in one mapping. */
static int fill_new(struct kymo_process *process, int fd)
{
	const uint32_t chunk_pages = KYMO_LOG_CHUNK / KYMO_PAGE;
	uint32_t pages = KYMO_FIRST_SEGMENT_PAGE + chunk_pages, page, spares;
	unsigned rings = KYMO_PREFAULT_RINGS;
	struct kymo_region *region;
	uint8_t *at;
	int error;

	while (rings && rings * (kymo_region_ring_bytes(0) + KYMO_PAGE) > kymo_settings.ring_memory)
		rings--;
	for (unsigned i = 0; i < rings; i++)
		pages += ring_pages(kymo_region_ring_bytes(i));
	spares = kymo_spare_count((uint64_t)(pages - KYMO_FIRST_SEGMENT_PAGE - chunk_pages) *
				  KYMO_PAGE);
	error = append_first(fd, pages, &spares, &at);
	if (error)
		return error;
	pages += spares * (KYMO_SPARE_BLOCK / KYMO_PAGE);

	region = (struct kymo_region *)at;
	process->region = region;
	process->ring_page = (uint32_t *)(at + KYMO_RING_DIR_PAGE * KYMO_PAGE);
	process->log_page = (uint32_t *)(at + KYMO_LOG_DIR_PAGE * KYMO_PAGE);
	kymo_region_identify(region);
	region->state = KYMO_STATE_WAIT;
	at[KYMO_ENABLE_PAGE * KYMO_PAGE + KYMO_POINT_UNDECLARED] = 1;
	at[KYMO_ENABLE_PAGE * KYMO_PAGE + KYMO_POINT_ENDS] = 1;
	at[KYMO_ENABLE_PAGE * KYMO_PAGE + KYMO_POINT_NO_ID] = 1;
	page = KYMO_FIRST_SEGMENT_PAGE;
	install_log_chunk(process, (struct kymo_log_memory){ at + page * KYMO_PAGE, page });
	process->log_memory = 1;
	page += chunk_pages;
	for (unsigned i = 0; i < rings; i++) {
		install_ring(process, i, kymo_region_ring_bytes(i), at + page * KYMO_PAGE, page);
		page += ring_pages(kymo_region_ring_bytes(i));
	}
	kymo_spare_install(process, spares, at + page * KYMO_PAGE, page);
	__atomic_store_n(&region->page_count, pages, __ATOMIC_RELEASE);
	__atomic_store_n(&region->magic, KYMO_REGION_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

int kymo_region_create(struct kymo_process *process)
{
	char *temporary = process->scratch.new_path;
	struct stat st;
	int fd, error = kymo_region_find_directory(process);

	if (error)
		return error;
	kymo_domain_sweep(process, !kymo_domain_recording(process));
	kymo_region_choose_path(process);
	(void)snprintf(temporary, sizeof process->scratch.new_path, "%s.new", process->path);
	/* Left by this process, if exec() replaced it while it created its region. */
	(void)unlink(temporary);
	fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	error = fstat(fd, &st) ? -errno : fill_new(process, fd);
	if (!error)
		kymo_region_lock_alive(fd);
	(void)close(fd);
	if (error)
		goto failed;
	if (kymo_region_holds_lock(temporary))
		process->region->flags |= KYMO_REGION_LOCKED;
	process->dev = st.st_dev;
	process->ino = st.st_ino;
	/* Before the rename, so that every visible region has its state. */
	kymo_domain_join(process);
	if (rename(temporary, process->path)) {
		error = -errno;
		goto failed;
	}
	kymo_domain_join(process);	/* again, because the domain may have changed meanwhile */
	return 0;
failed:
	(void)unlink(temporary);
	return error;
}

static bool nothing_unread(const struct kymo_process *process)
{
	for (unsigned i = 0; i < process->region->ring_count; i++) {
		const struct kymo_ring *ring = process->ring[i];

		if (KYMO_WORD_POS(ring->wpos) != __atomic_load_n(&ring->rpos, __ATOMIC_ACQUIRE))
			return false;
	}
	return true;
}

void kymo_region_leave(struct kymo_process *process)
{
	struct kymo_region *region = process->region;

	(void)__atomic_fetch_or(&region->flags, KYMO_REGION_EXITED, __ATOMIC_RELEASE);
	if (__atomic_load_n(&region->state, __ATOMIC_ACQUIRE) == KYMO_STATE_WAIT &&
	    !__atomic_load_n(&region->owed, __ATOMIC_ACQUIRE) &&
	    nothing_unread(process) && !kymo_domain_recording(process))
		(void)unlink(process->path);
}

bool kymo_region_lock(struct kymo_process *process)
{
	return kymo_lock_take(&process->growing, kymo_own_tid(), KYMO_LOCK_TRIES);
}

void kymo_region_unlock(struct kymo_process *process)
{
	kymo_lock_release(&process->growing);
}

static int grow(struct kymo_process *process, uint32_t pages, uint8_t **at, uint32_t *page)
{
	struct stat st;
	int error, fd = open(process->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	*page = process->region->page_count;
	if (fstat(fd, &st))
		error = -errno;
	else if (st.st_dev != process->dev || st.st_ino != process->ino)
		error = -ESTALE;	/* the path now names another file */
	else
		error = append(fd, *page, pages, at);
	(void)close(fd);
	if (!error)
		__atomic_store_n(&process->region->page_count, *page + pages, __ATOMIC_RELEASE);
	return error;
}

int kymo_region_add_ring(struct kymo_process *process, uint64_t wanted)
{
	const unsigned index = process->region->ring_count;
	const uint64_t bytes = wanted ? wanted : kymo_region_ring_bytes(index);
	uint32_t page;
	uint8_t *at;
	int error;

	if (index >= KYMO_RINGS_MAX)
		return -ENOSPC;
	if (process->ring_memory + bytes + KYMO_PAGE > kymo_settings.ring_memory)
		return -ENOMEM;
	error = grow(process, ring_pages(bytes), &at, &page);
	if (error)
		return error;
	install_ring(process, index, bytes, at, page);
	return (int)index;
}

int kymo_region_add_counts(struct kymo_process *process, unsigned index)
{
	uint32_t page;
	uint8_t *at;
	int error = process->counts[index] ? -EEXIST : grow(process, KYMO_COUNT_PAGES, &at, &page);

	if (error)
		return error;
	process->counts[index] = (struct kymo_count *)at;
	__atomic_store_n(&process->ring[index]->count_page, page, __ATOMIC_RELEASE);
	return 0;
}

/* Double the log's memory, but by at most 1 MiB at a time. The first time, add enough for
 * KYMO_LOG_SPARE free chunks. */
static int add_log_memory(struct kymo_process *process)
{
	const uint32_t chunk_pages = KYMO_LOG_CHUNK / KYMO_PAGE, have = process->log_memory;
	const uint32_t most = (uint32_t)(kymo_settings.log_size / KYMO_LOG_CHUNK) + KYMO_LOG_SPARE;
	uint32_t count = have < 16 ? have : 16, page;
	uint8_t *at;
	int error;

	if (have < KYMO_LOG_SPARE + 1)
		count = KYMO_LOG_SPARE + 1;
	if (count > most - have)
		count = most - have;
	if (!count)
		return -ENOSPC;
	error = grow(process, count * chunk_pages, &at, &page);
	if (error)
		return error;
	process->log_memory += count; /* first: so the log never grows beyond its size */
	for (uint32_t i = 0; i < count; i++)
		process->log_free[process->log_free_count++] =
			(struct kymo_log_memory){ at + i * KYMO_LOG_CHUNK, page + i * chunk_pages };
	return 0;
}

/* Writers look at the number without the lock. */
static void count_lent(struct kymo_process *process)
{
	const uint32_t free = process->log_free_count;

	__atomic_store_n(&process->log_lent, free < KYMO_LOG_SPARE ? KYMO_LOG_SPARE - free : 0,
			 __ATOMIC_RELAXED);
}

int kymo_region_add_log_chunk(struct kymo_process *process, unsigned leave)
{
	int error = 0;

	if (process->log_free_count <= KYMO_LOG_SPARE)
		error = add_log_memory(process);
	if (process->log_free_count <= leave) /* also after a last, small growth */
		return error ? error : -ENOSPC;
	process->log_free_count--;
	count_lent(process);	/* before others can see the chunk */
	install_log_chunk(process, process->log_free[process->log_free_count]);
	return 0;
}

void kymo_region_free_log_chunk(struct kymo_process *process, uint64_t number)
{
	process->log_free[process->log_free_count++] =
		process->log_chunk[number % KYMO_LOG_CHUNKS_MAX];
	count_lent(process);
}
