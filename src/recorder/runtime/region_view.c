/* SPDX-License-Identifier: Apache-2.0 */
/* Opens region files of traced processes, and refuses files that are not regions. */
#include "base/text.h"
#include "recorder/runtime/region_view.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/hash.h"
#include "abi/points.h"
#include "base/shared_map.h"
#include "recorder/runtime/claim.h"

bool region_is_name(const char *name)
{
	return strlen(name) < REGION_NAME_MAX && name[0] >= '0' && name[0] <= '9' &&
	       text_ends_with(name, ".region");
}

/* A name from shared memory as text that is safe to print. */
static void copy_text(char *to, const char *from, size_t size)
{
	size_t i;

	for (i = 0; i < size && from[i]; i++)
		to[i] = (unsigned char)from[i] < ' ' || from[i] == 0x7f ? '?' : from[i];
	to[i] = 0;
}

bool region_is_left(const struct region *region)
{
	return __atomic_load_n(&region_header(region)->flags, __ATOMIC_ACQUIRE) &
		       KYMO_REGION_LOCKED &&
	       claim_is_let_go(region->fd);
}

enum alive region_alive(const struct region *region, int *host_pid)
{
	enum alive alive = alive_find(region->pid, region->pid_ns, region->start_time, host_pid);

	/* In another time namespace, the start time of a process that lives is another one. */
	if (alive == ALIVE_DEAD && !alive_shares_clock(region->time_ns, 0))
		alive = ALIVE_UNKNOWN;
	if (alive != ALIVE_UNKNOWN)
		return alive;
	if (!(__atomic_load_n(&region_header(region)->flags, __ATOMIC_ACQUIRE) &
	      KYMO_REGION_LOCKED))
		return ALIVE_UNKNOWN;
	return claim_is_let_go(region->fd) ? ALIVE_DEAD : ALIVE_YES;
}

bool region_has_name(const struct region *region, const char *glob)
{
	return fnmatch(glob, region->procname, 0) == 0 ||
	       fnmatch(glob, basename(region->exe), 0) == 0;
}

#define REFUSE(...) err_set(err, KYMO_EXIT_INPUT, __VA_ARGS__)

/* Root records for another user, but only that user's own regions: those of the directory's
 * owner. */
static bool is_owner(uid_t uid, const struct rundir *dir)
{
	struct stat st;

	return uid == geteuid() || (geteuid() == 0 && fstat(dir->fd, &st) == 0 && st.st_uid == uid);
}

enum alive region_owner(const char *name, int *host_pid)
{
	unsigned long long start, space;
	unsigned pid;

	*host_pid = 0;
	if (sscanf(name, "%10u-%20llu-%16llx.", &pid, &start, &space) != 3)
		return ALIVE_UNKNOWN;
	return alive_find(pid, space, start, host_pid);
}

/* The layout of another version is not known here, so only the file's name says which process it
 * is. */
static int refuse_version(const char *path, const char *version, struct kymo_err *err)
{
	char comm[64];
	int pid;
	enum alive alive = region_owner(basename(path), &pid);

	if (alive == ALIVE_DEAD)
		return REFUSE("%s was left by a process of another version, which has ended: %s; remove it", path, version);
	if (!pid)
		return REFUSE("%s is of a process with another version of libkymo: %s; restart the program with the library "
			      "of this kymo (\"kymo run\"), or install one version of both", path, version);
	alive_read_name(pid, comm, sizeof comm);
	return REFUSE("process %d (%s) has another version of libkymo: %s; restart it with the library of this kymo (\"kymo "
		      "run\"), or install one version of both", pid, *comm ? comm : "?", version);
}

/* Before anything else is checked: sizes and offsets differ between versions. */
static int check_version(int fd, const char *path, struct kymo_err *err)
{
	struct {
		uint64_t magic;
		uint32_t abi_version, points_table;
		uint64_t table_hash;
	} head;
	char version[128];

	if (pread(fd, &head, sizeof head, 0) != sizeof head || head.magic != KYMO_REGION_MAGIC)
		return 0;		/* the other checks report it */
	if (head.abi_version != KYMO_ABI_VERSION)
		(void)snprintf(version, sizeof version, "layout version %u, this kymo has %u", head.abi_version, KYMO_ABI_VERSION);
	else if (head.points_table != KYMO_POINTS_TABLE || head.table_hash != kymo_table_hash())
		(void)snprintf(version, sizeof version, "layout version %u as this kymo, but other tracepoints (%u, here %u)",
			       head.abi_version, head.points_table, (unsigned)KYMO_POINTS_TABLE);
	else
		return 0;
	return refuse_version(path, version, err);
}

static int check_file(int fd, const struct rundir *dir, const char *path, struct stat *st,
		      struct kymo_err *err)
{
	if (fstat(fd, st) < 0)
		return REFUSE("cannot read %s: %s", path, strerror(errno));
	if (!S_ISREG(st->st_mode))
		return REFUSE("%s is not a regular file; remove it", path);
	if (!is_owner(st->st_uid, dir))
		return REFUSE("%s belongs to uid %u, not to %s; not recorded", path, (unsigned)st->st_uid,
			      geteuid() ? "you" : "the directory's owner");
	if (geteuid() == 0 && st->st_nlink > 1)
		return REFUSE("%s has a second hard link, which no region has; remove it", path);
	if ((st->st_mode & 07777) != 0600)
		return REFUSE("%s has mode %04o instead of 0600; remove it if no program uses it",
			      path, (unsigned)(st->st_mode & 07777));
	if (check_version(fd, path, err) < 0)
		return -1;
	if (st->st_size < KYMO_FIRST_SEGMENT_PAGE * KYMO_PAGE ||
	    (uint64_t)st->st_size > REGION_SIZE_MAX)
		return REFUSE("%s is not a region: it has %lld bytes; remove it", path,
			      (long long)st->st_size);
	return 0;
}

static int check_header(const struct kymo_region *header, const char *path, struct kymo_err *err)
{
	if (header->magic != KYMO_REGION_MAGIC)
		return REFUSE("%s does not begin as a region does; remove it", path);
	if (!header->pid || header->pid > INT32_MAX)
		return REFUSE("%s names no process; remove it", path);
	if (header->page_count < KYMO_FIRST_SEGMENT_PAGE)
		return REFUSE("%s claims to have %u pages; remove it", path, header->page_count);
	return 0;
}

static void copy_identity(struct region *region)
{
	const struct kymo_region *header = region_header(region);

	region->pid = header->pid;
	region->start_time = header->start_time;
	region->pid_ns = header->pid_ns;
	region->time_ns = header->time_ns;
	region->birth_ns = header->birth_ns;
	region->tag = header->session_tag;
	region->ros_domain = header->ros_domain <= KYMO_ROS_DOMAIN_MAX + 1 ||
					     header->ros_domain == KYMO_ROS_EVERY
				     ? header->ros_domain
				     : KYMO_ROS_UNKNOWN;
	copy_text(region->procname, header->procname, sizeof header->procname);
	copy_text(region->exe, header->exe, sizeof header->exe);
}

int region_open(struct region *result, const struct rundir *dir, const char *name, bool writable,
		struct kymo_err *err)
{
	struct region region = { .fd = -1 };
	char path[sizeof dir->path + REGION_NAME_MAX];
	struct stat st;

	(void)snprintf(path, sizeof path, "%s/%s", dir->path, name);
	(void)snprintf(region.name, sizeof region.name, "%s", name);
	/* O_NONBLOCK: opening a FIFO of this name must not block. */
	region.fd = openat(dir->fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (region.fd < 0 && errno == ENOENT)
		return 1;
	if (region.fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		(void)err_set(err, KYMO_EXIT_FAILED,
			      "cannot open %s: %s; raise the limit on open files (ulimit -n)", path,
			      strerror(errno));
		return REGION_LATER;
	}
	if (region.fd < 0)
		return REFUSE("cannot open %s: %s; remove it if no program uses it", path,
			      errno == ELOOP ? "it is a symbolic link" : strerror(errno));
	if (check_file(region.fd, dir, path, &st, err) < 0)
		goto fail;
	region.uid = st.st_uid;
	region.pages = (uint64_t)st.st_size / KYMO_PAGE;
	region.base = shared_map(region.fd, region.pages * KYMO_PAGE, writable);
	if (!region.base) {
		(void)REFUSE("cannot map %s: %s", path, strerror(errno));
		goto fail;
	}
	if (check_header(region_header(&region), path, err) < 0)
		goto fail;
	if (region_grow(&region) < 0) {
		(void)REFUSE("%s is shorter than it says; remove it if no program uses it", path);
		goto fail;
	}
	copy_identity(&region);
	if (!region_intact(&region)) {
		(void)REFUSE(
			"%s was truncated while it was being read; remove it if no program uses it",
			path);
		goto fail;
	}
	*result = region;
	return 0;
fail:
	region_close(&region);
	return -1;
}

void region_close(struct region *region)
{
	claim_release(region->fd);
	shared_unmap(region->base, region->pages * KYMO_PAGE);
	if (region->fd >= 0)
		(void)close(region->fd);
	region->base = NULL;
	region->pages = 0;
	region->fd = -1;
}

int region_grow(struct region *region)
{
	/* Pairs with the release after the file was made longer. */
	uint64_t wanted = __atomic_load_n(&region_header(region)->page_count, __ATOMIC_ACQUIRE);
	struct stat st;
	void *base;

	if (wanted <= region->pages)
		return 0;
	if (wanted * KYMO_PAGE > REGION_SIZE_MAX || fstat(region->fd, &st) < 0 ||
	    (uint64_t)st.st_size < wanted * KYMO_PAGE)
		return -1;
	base = shared_map_grow(region->base, region->pages * KYMO_PAGE, wanted * KYMO_PAGE);
	if (!base)
		return -1;
	region->base = base;
	region->pages = wanted;
	return 0;
}

bool region_intact(const struct region *region)
{
	struct stat st;

	if (region->fd < 0) /* a copy in memory */
		return true;
	return !shared_map_is_torn(region->base) && fstat(region->fd, &st) == 0 &&
	       (uint64_t)st.st_size >= region->pages * KYMO_PAGE;
}

static bool is_power_of_two(uint64_t value)
{
	return value && (value & (value - 1)) == 0;
}

bool region_has_ring(const struct region *region, uint32_t page, uint64_t block_size,
		     uint64_t block_count)
{
	return page >= KYMO_FIRST_SEGMENT_PAGE && is_power_of_two(block_size) &&
	       is_power_of_two(block_count) && block_size >= KYMO_BLOCK_MIN &&
	       block_size <= KYMO_BLOCK_MAX && block_count >= 2 && block_count <= 1u << 20 &&
	       region_page(region, (uint64_t)page + 1, block_size * block_count / KYMO_PAGE);
}

uint64_t region_block_page(const struct region *region, const struct kymo_ring *ring, uint32_t page,
			   uint64_t number, uint32_t block_size, uint32_t block_count)
{
	const uint64_t home = (uint64_t)page + 1 + number % block_count * (block_size / KYMO_PAGE);
	int64_t spare;

	if (block_size != KYMO_SPARE_BLOCK ||
	    number * KYMO_SPARE_BLOCK >= __atomic_load_n(&ring->lent, __ATOMIC_ACQUIRE))
		return home; /* without a look at the places: their memory is in no cache */
	spare = __atomic_load_n(&ring->place[number % KYMO_PLACES], __ATOMIC_RELAXED);
	if (!spare)
		return home;
	spare += page;
	if (spare < KYMO_FIRST_SEGMENT_PAGE ||
	    !region_page(region, (uint64_t)spare, KYMO_SPARE_BLOCK / KYMO_PAGE))
		return home;
	return (uint64_t)spare;
}

uint64_t region_room(const struct region *region, uint32_t block_size, uint32_t block_count)
{
	uint64_t spares = region_header(region)->spare_count;

	if (block_size != KYMO_SPARE_BLOCK)
		return (uint64_t)block_size * block_count;
	if (spares > KYMO_SPARES_MAX)
		spares = KYMO_SPARES_MAX;
	return (block_count + spares) * KYMO_SPARE_BLOCK;
}
