/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads and many libraries for tests/system/record/scale.py, and what they leave behind.
 *
 *   scale threads THREADS EVENTS       short-lived threads, 16 at once
 *   scale live THREADS EVENTS          all alive at once, twice
 *   scale libraries ROUNDS LIBRARY...  all loaded, used and unloaded, in each round
 *
 * Prints a line of JSON now and then: what was produced so far, and the sizes of the region, of
 * this process and of its parent, the recorder.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>

#include "abi/region.h"

#define AT_ONCE 16
#define LIBRARIES_MAX 512
#define WAVE 512		/* short-lived threads until the recorder may catch up */
#define DRAIN_TRIES 10000	/* of 1 ms */

static uint64_t produced;
static long events_each;

static void die(const char *what)
{
	(void)fprintf(stderr, "scale: %s\n", what);
	exit(1);
}

/* ---- what there is of everything ---- */

static const uint8_t *region_map(size_t *size)
{
	const char *directory = getenv("KYMO_DIR");
	char own[32], path[4096];
	DIR *dir = directory ? opendir(directory) : NULL;
	struct dirent *entry;
	struct stat st;
	void *at = MAP_FAILED;
	int fd = -1;

	(void)snprintf(own, sizeof(own), "%d-", getpid());
	while (dir && fd < 0 && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, own, strlen(own))) {
			(void)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
			fd = open(path, O_RDONLY | O_CLOEXEC);
		}
	if (dir)
		(void)closedir(dir);
	if (fd >= 0 && !fstat(fd, &st))
		at = mmap(NULL, *size = (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		(void)close(fd);
	if (at == MAP_FAILED)
		die("there is no region of this process");
	return at;
}

static const struct kymo_ring *ring_at(const uint8_t *region, unsigned index)
{
	const uint32_t *page = (const uint32_t *)(region + (size_t)KYMO_RING_DIR_PAGE * KYMO_PAGE);

	return (const struct kymo_ring *)(region + (size_t)page[index] * KYMO_PAGE);
}

/* Until the recorder has emptied and freed what ended threads left. */
static void wait_for_recorder(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	size_t size;
	const uint8_t *region = region_map(&size);
	const unsigned count = ((const struct kymo_region *)region)->ring_count;

	for (int try = 0; try < DRAIN_TRIES; try++) {
		unsigned retired = 0;

		for (unsigned i = 0; i < count; i++)
			retired += __atomic_load_n(&ring_at(region, i)->state, __ATOMIC_RELAXED) ==
				   KYMO_RING_RETIRED;
		if (!retired) {
			(void)munmap((void *)region, size);
			return;
		}
		(void)nanosleep(&pause, NULL);
	}
	die("the recorder does not free the rings of ended threads");
}

static unsigned entries(const char *format, int pid)
{
	char path[64];
	DIR *dir;
	unsigned count = 0;

	(void)snprintf(path, sizeof(path), format, pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		count++;
	if (dir)
		(void)closedir(dir);
	return count;
}

static unsigned long resident_kib(int pid)
{
	char path[64];
	unsigned long pages = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		(void)fclose(file);
	return pages * (unsigned long)(sysconf(_SC_PAGESIZE) / 1024);
}

static unsigned mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned count = 0;
	int byte;

	while (file && (byte = getc(file)) != EOF)
		count += byte == '\n';
	if (file)
		(void)fclose(file);
	return count;
}

static void tell(const char *stage)
{
	size_t size;
	const uint8_t *region = region_map(&size);
	const struct kymo_region *head = (const struct kymo_region *)region;
	const unsigned long long rings = head->ring_count, log = head->log_tail;

	(void)munmap((void *)region, size);
	(void)printf("{\"stage\": \"%s\", \"pid\": %d, \"produced\": %llu, \"region\": %zu, \"rings\": %llu, "
		     "\"log\": %llu, \"rss_kib\": %lu, \"fds\": %u, \"maps\": %u, \"recorder_rss_kib\": %lu, "
		     "\"recorder_fds\": %u}\n", stage, getpid(), (unsigned long long)produced, size, rings, log,
		     resident_kib(getpid()), entries("/proc/%d/fd", getpid()), mappings(),
		     resident_kib(getppid()), entries("/proc/%d/fd", getppid()));
	(void)fflush(stdout);
}

/* ---- threads ---- */

static void emit(uint64_t number)
{
	for (long i = 0; i < events_each; i++)
		KYMO_INSTANT("scale", "tick", ("thread", number));
	(void)__atomic_fetch_add(&produced, (uint64_t)events_each, __ATOMIC_RELAXED);
}

static void *short_lived(void *number)
{
	emit((uint64_t)(uintptr_t)number);
	return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), unsigned long number)
{
	pthread_attr_t small;

	if (pthread_attr_init(&small) || pthread_attr_setstacksize(&small, 128 << 10) ||
	    pthread_create(thread, &small, run, (void *)(uintptr_t)number))
		die("no further thread is to be had");
	(void)pthread_attr_destroy(&small);
}

static void many_threads(unsigned long count)
{
	pthread_t thread[AT_ONCE];

	for (unsigned long done = 0; done < count; done += AT_ONCE) {
		for (unsigned i = 0; i < AT_ONCE; i++)
			start(&thread[i], short_lived, done + i);
		for (unsigned i = 0; i < AT_ONCE; i++)
			(void)pthread_join(thread[i], NULL);
		if ((done + AT_ONCE) % WAVE == 0)
			wait_for_recorder();
		if ((done + AT_ONCE) == WAVE)
			tell("early");
	}
	wait_for_recorder();
	tell("end");
}

static pthread_barrier_t all_emitted, all_seen;

static void *long_lived(void *number)
{
	emit((uint64_t)(uintptr_t)number);
	(void)pthread_barrier_wait(&all_emitted);
	(void)pthread_barrier_wait(&all_seen);
	emit((uint64_t)(uintptr_t)number);
	return NULL;
}

static void live_threads(unsigned long count)
{
	pthread_t *thread = calloc(count, sizeof(*thread));

	if (!thread)
		die("out of memory");
	for (int round = 1; round <= 2; round++) {
		if (pthread_barrier_init(&all_emitted, NULL, (unsigned)count + 1) ||
		    pthread_barrier_init(&all_seen, NULL, (unsigned)count + 1))
			die("no barrier");
		for (unsigned long i = 0; i < count; i++)
			start(&thread[i], long_lived, i);
		(void)pthread_barrier_wait(&all_emitted);
		tell(round == 1 ? "early live" : "live");
		(void)pthread_barrier_wait(&all_seen);
		for (unsigned long i = 0; i < count; i++)
			(void)pthread_join(thread[i], NULL);
		(void)pthread_barrier_destroy(&all_emitted);
		(void)pthread_barrier_destroy(&all_seen);
		wait_for_recorder();
		tell(round == 1 ? "early" : "end");
	}
	free(thread);
}

/* ---- libraries: each has `unsigned say(void)`, which returns how many events it emitted ---- */

static void libraries(char **path, int count)
{
	static void *library[LIBRARIES_MAX];

	for (int i = 0; i < count; i++) {
		unsigned (*say)(void) = NULL;

		library[i] = dlopen(path[i], RTLD_NOW | RTLD_LOCAL);
		if (library[i])
			*(void **)&say = dlsym(library[i], "say");
		if (!say)
			die(dlerror());
		produced += say();
	}
	for (int i = count; i-- > 0;)
		(void)dlclose(library[i]);
	for (int i = 0; i < count; i++)
		if (dlopen(path[i], RTLD_NOW | RTLD_NOLOAD))
			die("a library is not unloaded");
	kymo_set_category("nobody", true);	/* looks at every place there is, not at one there was */
}

int main(int argc, char **argv)
{
	long number = argc >= 4 ? strtol(argv[2], NULL, 10) : 0;

	if (number < 1 || argc - 3 > LIBRARIES_MAX) {
		(void)fprintf(stderr, "usage: scale threads|live THREADS EVENTS\n"
			      "       scale libraries ROUNDS LIBRARY...\n");
		return 2;
	}
	events_each = strtol(argv[3], NULL, 10);
	KYMO_INSTANT("scale", "main");
	produced = 1;
	if (!strcmp(argv[1], "threads")) {
		many_threads((unsigned long)number);
	} else if (!strcmp(argv[1], "live")) {
		live_threads((unsigned long)number);
	} else {
		for (long round = 1; round <= number; round++) {
			libraries(argv + 3, argc - 3);
			if (round == 1 || round == number)
				tell(round == number ? "end" : "early");
		}
	}
	return 0;
}
