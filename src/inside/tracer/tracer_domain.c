/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that starts reads the runtime directory: the domain file (abi/region.h) shows whether a
 * recorder runs, and sets the state of the process. The process also removes the files of dead
 * processes that no recorder needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/points.h"
#include "inside/tracer/tracer_process.h"

/* files of dead flight recorders that a sweep keeps at most */
#define FLIGHTS_MAX	1024u
/* bytes of these files at most; also at most a quarter of the file system */
#define FLIGHT_BYTES_MAX (256ull << 20)

/*
 * The runtime events of the table. Events that a process declares are switched on with their
 * declaration.
 */
static const uint8_t is_runtime[KYMO_POINTS_TABLE] = {
#define POINT(provider, id, name, phase, ...) KYMO_PHASE_##phase == KYMO_PHASE_RUN,
#include "abi/tracepoints.def"
#undef POINT
};

/* Read the domain file. State WAIT if the file does not exist or its recorder is dead. */
static void read_domain(struct kymo_process *process, struct kymo_domain *domain)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };
	char *path = process->scratch.domain_path;
	struct stat st;
	bool valid;
	int fd;

	memset(domain, 0, sizeof *domain);
	domain->state = KYMO_STATE_WAIT;
	(void)snprintf(path, sizeof process->scratch.domain_path, "%s/domain", process->directory);
	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	valid = !fstat(fd, &st) && st.st_uid == geteuid() &&
		pread(fd, domain, sizeof *domain, 0) == sizeof *domain &&
		domain->magic == KYMO_DOMAIN_MAGIC && domain->abi_version == KYMO_ABI_VERSION &&
		!fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
	(void)close(fd);
	if (!valid) {
		memset(domain, 0, sizeof *domain);
		domain->state = KYMO_STATE_WAIT;
	}
}

static bool is_active(const struct kymo_domain *domain)
{
	return domain->state == KYMO_STATE_RECORD || domain->state == KYMO_STATE_PREPARE;
}

bool kymo_domain_recording(struct kymo_process *process)
{
	read_domain(process, &process->scratch.domain);
	return is_active(&process->scratch.domain);
}

static bool wanted(const struct kymo_domain *domain)
{
	return is_active(domain) &&
	       (!domain->session_tag || domain->session_tag == kymo_settings.session_tag);
}

static bool is_of(const struct kymo_domain *domain)
{
	const uint32_t number = __atomic_load_n(&kymo_settings.ros_domain, __ATOMIC_RELAXED);
	uint64_t any = 0;

	for (unsigned i = 0; i < KYMO_ROS_WORDS; i++)
		any |= domain->ros_domains[i];
	return !any || number == KYMO_ROS_EVERY ||
	       domain->ros_domains[number / 64] >> number % 64 & 1;
}

/*
 * If the session records other ROS domains than that of this process, the process is only in
 * PREPARE.
 */
static void narrow(struct kymo_domain *domain)
{
	if (domain->state == KYMO_STATE_RECORD && !is_of(domain))
		domain->state = KYMO_STATE_PREPARE;
}

/* The state and mode that the process should have. */
struct aim {
	enum kymo_state state;
	enum kymo_mode mode;
};

/* A session that wants the process has priority over KYMO_FLIGHT. */
static struct aim aim_for(const struct kymo_domain *domain)
{
	if (wanted(domain))
		return (struct aim){ domain->state, KYMO_MODE_DISCARD };
	if (kymo_settings.flight)
		return (struct aim){ KYMO_STATE_RECORD, KYMO_MODE_OVERWRITE };
	return (struct aim){ KYMO_STATE_WAIT, KYMO_MODE_DISCARD };
}

static bool is_aim(const struct kymo_region *region, struct aim aim)
{
	return __atomic_load_n(&region->state, __ATOMIC_RELAXED) == aim.state &&
	       __atomic_load_n(&region->mode, __ATOMIC_RELAXED) == aim.mode;
}

static void set_state(struct kymo_process *process, struct aim aim, uint32_t generation)
{
	struct kymo_region *region = process->region;
	uint8_t *enable = (uint8_t *)region + KYMO_ENABLE_PAGE * KYMO_PAGE;

	__atomic_store_n(&region->generation, generation, __ATOMIC_RELAXED);
	__atomic_store_n(&region->mode, aim.mode, __ATOMIC_RELAXED);
	for (unsigned id = 0; id < KYMO_POINTS_TABLE; id++)
		__atomic_store_n(&enable[id], aim.state == KYMO_STATE_RECORD && is_runtime[id],
				 __ATOMIC_RELAXED);
	__atomic_store_n(&region->state, aim.state, __ATOMIC_RELEASE);
}

/*
 * The recorder may change the domain while the process joins it. A recorder that ends writes the
 * domain first and the regions afterwards. So the process sets its state, reads the domain again,
 * and repeats both while the domain changes. Then the later decision holds.
 */
void kymo_domain_join(struct kymo_process *process)
{
	struct kymo_domain *domain = &process->scratch.domain, *again = &process->scratch.again;

	read_domain(process, domain);
	narrow(domain);
	/*
	 * The domain has not changed since the first join. Keep the state: the recorder may have
	 * changed it in the region.
	 */
	if (process->joined && domain->generation == process->joined_generation &&
	    domain->state == process->joined_state)
		return;
	for (int try = 0; try < 100; try++) {
		if (wanted(domain) || !is_aim(process->region, aim_for(domain)))
			set_state(process, aim_for(domain), domain->generation);
		read_domain(process, again);
		narrow(again);
		if (again->generation == domain->generation && again->state == domain->state &&
		    wanted(again) == wanted(domain))
			break;
		*domain = *again;
	}
	process->joined = true;
	process->joined_generation = domain->generation;
	process->joined_state = domain->state;
}

/* ---- files of processes that died while no recorder ran ---- */

/* The files of dead flight recorders that a sweep found, sorted by the time of the last event,
 * oldest first. */
struct dead_flights {
	struct dead_flight {
		uint64_t last_ns, bytes;
		char name[64];
	} flight[FLIGHTS_MAX];
	unsigned count;
	uint64_t bytes;
};

/* As the kernel returns the entries of a directory. opendir() would allocate memory: not in a
 * signal handler. */
struct entry {
	uint64_t inode, offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* What a sweep needs. Too large for a small stack, so it is in pages of its own. */
struct sweep {
	int dir;
	bool all;
	uint64_t pid_ns;
	struct kymo_region region; /* of the file that is looked at */
	uint32_t page[KYMO_RINGS_MAX];
	struct kymo_ring ring;
	struct dead_flights flights;
	alignas(8) char entries[32 << 10];
};

/*
 * @owed: a recorder was killed, so the next recorder must also report dropped events: the ring is
 *   empty only without any.
 */
static bool ring_is_empty(struct sweep *sweep, int fd, uint32_t page, bool owed)
{
	const struct kymo_ring *ring = &sweep->ring;

	return pread(fd, &sweep->ring, sizeof *ring, (off_t)page * KYMO_PAGE) == sizeof *ring &&
	       KYMO_WORD_POS(ring->wpos) == ring->rpos && (!owed || ring->told == ring->dropped);
}

static bool holds_nothing_unread(struct sweep *sweep, int fd)
{
	const struct kymo_region *region = &sweep->region;
	const unsigned count = region->ring_count;

	if (count > KYMO_RINGS_MAX || region->promise.state ||
	    (region->owed && region->no_ring_told != region->dropped_no_ring) ||
	    pread(fd, sweep->page, sizeof sweep->page, (off_t)KYMO_RING_DIR_PAGE * KYMO_PAGE) !=
		    sizeof sweep->page)
		return false;
	for (unsigned i = 0; i < count; i++)
		if (!ring_is_empty(sweep, fd, sweep->page[i], region->owed))
			return false;
	return true;
}

static bool is_dead(unsigned pid, uint64_t start_time)
{
	struct stat ns;
	char path[40];
	char text[16];
	uint64_t start;

	if (kill((pid_t)pid, 0) && errno == ESRCH)
		return true;
	(void)snprintf(text, sizeof text, "%u", pid);
	start = kymo_start_time(text);
	/* A new process has the pid. Start times of another time namespace cannot be compared. */
	(void)snprintf(path, sizeof path, "/proc/%u/ns/time", pid);
	return start && start != start_time &&
	       (stat(path, &ns) || (uint64_t)ns.st_ino == kymo_own_time_ns());
}

/* The time of the last event in the region; without events, the time of the registration. */
static uint64_t last_event(struct sweep *sweep, int fd)
{
	const struct kymo_ring *ring = &sweep->ring;
	uint64_t last = sweep->region.birth_ns;

	if (pread(fd, sweep->page, sizeof sweep->page, (off_t)KYMO_RING_DIR_PAGE * KYMO_PAGE) !=
	    sizeof sweep->page)
		return last;
	for (unsigned i = 0; i < sweep->region.ring_count && i < KYMO_RINGS_MAX; i++)
		if (pread(fd, &sweep->ring, sizeof *ring, (off_t)sweep->page[i] * KYMO_PAGE) ==
			    sizeof *ring &&
		    ring->lastts > last)
			last = ring->lastts;
	return last;
}

static void flights_remove_oldest(struct dead_flights *flights, int dir)
{
	(void)unlinkat(dir, flights->flight[0].name, 0);
	flights->bytes -= flights->flight[0].bytes;
	memmove(&flights->flight[0], &flights->flight[1],
		--flights->count * sizeof flights->flight[0]);
}

static void flights_add(struct sweep *sweep, const char *name, int fd)
{
	struct dead_flights *flights = &sweep->flights;
	struct dead_flight new = { .last_ns = last_event(sweep, fd) };
	struct stat st;
	unsigned at = 0;

	if (fstat(fd, &st) || strlen(name) >= sizeof new.name)
		return;
	new.bytes = (uint64_t)st.st_size;
	(void)snprintf(new.name, sizeof new.name, "%s", name);
	if (flights->count == FLIGHTS_MAX)
		flights_remove_oldest(flights, sweep->dir);
	while (at < flights->count && flights->flight[at].last_ns < new.last_ns)
		at++;
	memmove(&flights->flight[at + 1], &flights->flight[at],
		(flights->count - at) * sizeof new);
	flights->flight[at] = new;
	flights->count++;
	flights->bytes += new.bytes;
}

/*
 * Keep the newest files for `kymo snapshot` and `kymo recover`, as far as the limits allow; remove
 * the others.
 */
static void flights_trim(struct dead_flights *flights, int dir)
{
	uint64_t allowed = FLIGHT_BYTES_MAX;
	struct statvfs fs;

	if (!fstatvfs(dir, &fs) && (uint64_t)fs.f_blocks * fs.f_frsize / 4 < allowed)
		allowed = (uint64_t)fs.f_blocks * fs.f_frsize / 4;
	while (flights->count && flights->bytes > allowed)
		flights_remove_oldest(flights, dir);
}

static void sweep_one(struct sweep *sweep, const char *name)
{
	const int fd = openat(sweep->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct kymo_region *region = &sweep->region;

	if (fd < 0)
		return;
	if (pread(fd, region, sizeof *region, 0) == sizeof *region &&
	    region->magic == KYMO_REGION_MAGIC && region->abi_version == KYMO_ABI_VERSION &&
	    region->pid_ns == sweep->pid_ns && is_dead(region->pid, region->start_time)) {
		if (holds_nothing_unread(sweep, fd))
			(void)unlinkat(sweep->dir, name, 0);
		else if (region->flags & KYMO_REGION_FLIGHT && region->mode == KYMO_MODE_OVERWRITE)
			flights_add(sweep, name, fd);
	}
	(void)close(fd);
}

/*
 * Remove an incomplete region whose process was killed while it created the region. Only the name
 * of such a file is valid.
 */
static void sweep_unborn(const struct sweep *sweep, const char *name)
{
	unsigned long long start, space;
	unsigned pid;

	if (sscanf(name, "%10u-%20llu-%16llx.", &pid, &start, &space) == 3 && pid &&
	    pid <= INT_MAX && space == sweep->pid_ns && is_dead(pid, start))
		(void)unlinkat(sweep->dir, name, 0);
}

static bool ends_with(const char *name, const char *suffix)
{
	const size_t length = strlen(name), end = strlen(suffix);

	return length > end && !strcmp(name + length - end, suffix);
}

static void sweep_entries(struct sweep *sweep)
{
	long got;

	while ((got = syscall(SYS_getdents64, sweep->dir, sweep->entries, sizeof sweep->entries)) >
	       0)
		for (long at = 0; at < got;) {
			const struct entry *entry = (const struct entry *)(sweep->entries + at);

			if (ends_with(entry->name, ".region.new"))
				sweep_unborn(sweep, entry->name);
			else if (sweep->all && ends_with(entry->name, ".region"))
				sweep_one(sweep, entry->name);
			at += entry->length;
		}
}

void kymo_domain_sweep(const struct kymo_process *process, bool all)
{
	const int dir = open(process->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sweep *sweep;

	if (dir < 0)
		return;
	sweep = mmap(NULL, sizeof *sweep, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (sweep != MAP_FAILED) {
		sweep->dir = dir;
		sweep->all = all;
		sweep->pid_ns = kymo_own_pid_ns();
		if (sweep->pid_ns)
			sweep_entries(sweep);
		flights_trim(&sweep->flights, dir);
		(void)munmap(sweep, sizeof *sweep);
	}
	(void)close(dir);
}
