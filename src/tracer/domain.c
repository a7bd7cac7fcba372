/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime directory tells a process that starts: is somebody recording? */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/points.h"
#include "tracer/process.h"

/* The table's runtime events; what a process declares itself comes with its declaration. */
static const uint8_t is_runtime[KYMO_POINTS_TABLE] = {
#define POINT(provider, id, name, phase, ...) KYMO_PHASE_##phase == KYMO_PHASE_RUN,
#include "abi/tracepoints.def"
#undef POINT
};

/* The domain as it stands; WAIT when there is none or its recorder is gone. */
static void read_domain(const struct kymo_process *process, struct kymo_domain *domain)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };
	char path[sizeof process->directory + 8];
	struct stat st;
	bool valid;
	int fd;

	*domain = (struct kymo_domain){ .state = KYMO_STATE_WAIT };
	(void)snprintf(path, sizeof path, "%s/domain", process->directory);
	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	valid = !fstat(fd, &st) && st.st_uid == geteuid() &&
		pread(fd, domain, sizeof *domain, 0) == sizeof *domain &&
		domain->magic == KYMO_DOMAIN_MAGIC && domain->abi_version == KYMO_ABI_VERSION &&
		!fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
	(void)close(fd);
	if (!valid)
		*domain = (struct kymo_domain){ .state = KYMO_STATE_WAIT };
}

bool kymo_domain_recording(const struct kymo_process *process)
{
	struct kymo_domain domain;

	read_domain(process, &domain);
	return domain.state == KYMO_STATE_RECORD || domain.state == KYMO_STATE_PREPARE;
}

static bool wanted(const struct kymo_domain *domain)
{
	return domain->state == KYMO_STATE_RECORD &&
	       (!domain->session_tag || domain->session_tag == kymo_settings.session_tag);
}

static void set_state(struct kymo_process *process, bool record, uint32_t generation)
{
	struct kymo_region *region = process->region;
	uint8_t *enable = (uint8_t *)region + KYMO_ENABLE_PAGE * KYMO_PAGE;

	__atomic_store_n(&region->generation, generation, __ATOMIC_RELAXED);
	for (unsigned id = 0; id < KYMO_POINTS_TABLE; id++)
		__atomic_store_n(&enable[id], record && is_runtime[id], __ATOMIC_RELAXED);
	__atomic_store_n(&region->state, record ? KYMO_STATE_RECORD : KYMO_STATE_WAIT, __ATOMIC_RELEASE);
}

/*
 * A recorder that ends writes the domain first and the regions after. So: set, look again, and
 * repeat while the answer changes; whoever comes later then wins.
 */
void kymo_domain_join(struct kymo_process *process)
{
	struct kymo_domain domain, again;

	read_domain(process, &domain);
	for (int try = 0; try < 100; try++) {
		bool record = wanted(&domain);

		if (record || process->region->state == KYMO_STATE_RECORD)
			set_state(process, record, domain.generation);
		read_domain(process, &again);
		if (again.generation == domain.generation && wanted(&again) == record)
			return;
		domain = again;
	}
}

/* ---- left-overs of processes that died while nobody recorded ---- */

static bool ring_is_empty(int fd, uint32_t page)
{
	struct kymo_ring ring;

	return pread(fd, &ring, sizeof ring, (off_t)page * KYMO_PAGE) == sizeof ring &&
	       KYMO_WORD_POS(ring.wpos) == ring.rpos;
}

static bool holds_nothing_unread(int fd, const struct kymo_region *region)
{
	uint32_t page[KYMO_RINGS_MAX];
	const unsigned count = region->ring_count;

	if (count > KYMO_RINGS_MAX ||
	    pread(fd, page, sizeof page, (off_t)KYMO_RING_DIR_PAGE * KYMO_PAGE) != sizeof page)
		return false;
	for (unsigned i = 0; i < count; i++)
		if (!ring_is_empty(fd, page[i]))
			return false;
	return true;
}

static bool owner_is_dead(const struct kymo_region *region)
{
	char pid[16];
	uint64_t start;

	if (kill((pid_t)region->pid, 0) && errno == ESRCH)
		return true;
	(void)snprintf(pid, sizeof pid, "%u", region->pid);
	start = kymo_start_time(pid);
	return start && start != region->start_time;	/* the number was given away again */
}

void kymo_domain_sweep(const struct kymo_process *process)
{
	DIR *dir = opendir(process->directory);
	struct dirent *entry;
	struct stat own;

	if (!dir || stat("/proc/self/ns/pid", &own)) {
		if (dir)
			(void)closedir(dir);
		return;
	}
	while ((entry = readdir(dir))) {
		const char *suffix = strstr(entry->d_name, ".region");
		struct kymo_region region;
		int fd;

		if (!suffix || suffix[strlen(".region")])
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			continue;
		if (pread(fd, &region, sizeof region, 0) == sizeof region &&
		    region.magic == KYMO_REGION_MAGIC && region.abi_version == KYMO_ABI_VERSION &&
		    region.pid_ns == own.st_ino && owner_is_dead(&region) &&
		    holds_nothing_unread(fd, &region))
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
		(void)close(fd);
	}
	(void)closedir(dir);
}
