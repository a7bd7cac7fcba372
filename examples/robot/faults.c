/* SPDX-License-Identifier: Apache-2.0 */
/* See faults.h. Each process plans all faults alike, and has those whose places it visits. */
#include "faults.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "work.h"

#define SIZE_MS 120
#define SIZE_MS_MAX 10000
/* When its visit is due, after the first one: all programs know each other by then, and what is
 * usual is known, too. */
#define FIRST_MS 1000
#define APART_MS 300		/* and as long as the fault before lasts */
#define CHANCE_MS 200
/* Of SCHED_FIFO. */
#define ROBOT_PRIORITY 10
#define HOG_PRIORITY 50
#define HELD_MAX 256
#define PAGES_BYTES ((size_t)4 << 20)

struct fault {
	const struct kind *kind;
	int64_t size_ns;
	unsigned at, visits;		/* at which visit of its place, and how many there were */
	int64_t begin_ns, end_ns, cpu_ns;
	int64_t touched_ns;		/* of cpu_ns, that were page faults */
	int32_t tid;			/* who did it */
	unsigned messages;
	bool on, over;
};

struct kind {
	const char *name, *place;
	unsigned period_ms;		/* of the place's visits */
	const char *what;		/* as kymo calls it */
	void (*run)(struct fault *fault);	/* NULL: of a timer or a publisher */
};

struct held {
	union {
		char bytes[256];
		max_align_t align;
	} message;
	dds_time_t stamp;
};

static struct fault planned[RC_FAULTS_MAX];
static unsigned count;
static struct held held[HELD_MAX];

static int64_t cpu_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_for(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&t, NULL);
}

/* ---- by the place's own thread ---- */

static void run_hold(struct fault *fault)
{
	work_for(fault->size_ns);
}

/* So many page faults that they last this long, as this thread's CPU time has it. */
static void run_pages(struct fault *fault)
{
	volatile char *bytes =
		mmap(NULL, PAGES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int64_t from_ns;

	if (bytes == MAP_FAILED)
		return;
	madvise((void *)bytes, PAGES_BYTES, MADV_NOHUGEPAGE);
	while (fault->touched_ns < fault->size_ns) {
		from_ns = cpu_now_ns();
		for (size_t i = 0; i < PAGES_BYTES; i += 4096)
			bytes[i] = 1;
		fault->touched_ns += cpu_now_ns() - from_ns;
		madvise((void *)bytes, PAGES_BYTES, MADV_DONTNEED);
	}
	munmap((void *)bytes, PAGES_BYTES);
}

/* ---- by a thread of their own ---- */

struct helper {
	struct fault *fault;
	pthread_mutex_t mutex;
	atomic_bool begun, over;
};

static void *hog_main(void *argument)
{
	struct helper *helper = argument;
	struct fault *fault = helper->fault;

	pthread_setname_np(pthread_self(), "hog");
	fault->tid = gettid();
	fault->begin_ns = rc_now_ns();
	work_for(fault->size_ns);
	fault->end_ns = rc_now_ns();
	helper->over = true;
	return NULL;
}

/* Of a higher real-time priority than the robot's; where that is not permitted, the victim steps
 * down as far as it can. Return: an error number. */
static int hog_start(pthread_t *thread, struct helper *helper, const cpu_set_t *cpu)
{
	struct sched_param priority = { .sched_priority = HOG_PRIORITY };
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(*cpu), cpu);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &priority);
	error = pthread_create(thread, &attributes, hog_main, helper);
	if (error) {
		pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED);
		error = pthread_create(thread, &attributes, hog_main, helper);
		setpriority(PRIO_PROCESS, (id_t)gettid(), 19);
	}
	pthread_attr_destroy(&attributes);
	return error;
}

/* The victim wants the CPU all the time. */
static void run_hog(struct fault *fault)
{
	struct helper helper = { .fault = fault };
	cpu_set_t before, cpu;
	pthread_t thread;

	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&cpu);
	CPU_SET(sched_getcpu(), &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	if (!hog_start(&thread, &helper, &cpu)) {
		while (!helper.over)
			;
		pthread_join(thread, NULL);
	}
	sched_setaffinity(0, sizeof(before), &before);
}

static void *loader_main(void *argument)
{
	struct helper *helper = argument;

	pthread_setname_np(pthread_self(), "planner_loader");
	helper->fault->tid = gettid();
	pthread_mutex_lock(&helper->mutex);
	helper->begun = true;
	sleep_for(helper->fault->size_ns);
	helper->fault->end_ns = rc_now_ns();
	pthread_mutex_unlock(&helper->mutex);
	return NULL;
}

static void run_lock(struct fault *fault)
{
	struct helper helper = { .fault = fault, .mutex = PTHREAD_MUTEX_INITIALIZER };
	pthread_t thread;

	if (pthread_create(&thread, NULL, loader_main, &helper))
		return;
	while (!helper.begun)
		sched_yield();
	fault->begin_ns = rc_now_ns();
	pthread_mutex_lock(&helper.mutex);
	pthread_mutex_unlock(&helper.mutex);
	pthread_join(thread, NULL);
}

/* ---- the plan ---- */

static const struct kind kinds[] = {
	{ "hold", "costmap", 96, "/perception/costmap timer 96 ms", run_hold },
	{ "hog", "detector", 25, "hog", run_hog },
	{ "pages", "detector", 25, "/perception/obstacle_detector /scan", run_pages },
	{ "lock", "planner", 25, "planner_loader", run_lock },
	{ "late", "lidar", 25, "/lidar_driver timer 25 ms", NULL },
	{ "link", "lidar", 25, "/scan to /perception/obstacle_detector", NULL },
	{ "loss", "lidar", 25, "/scan to /perception/obstacle_detector", NULL },
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static void plan(struct fault *fault, const char *text, double when_ms)
{
	size_t length = strcspn(text, ":");
	long ms = text[length] ? strtol(text + length + 1, NULL, 10) : SIZE_MS;

	for (size_t i = 0; i < KINDS && !fault->kind; i++)
		if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, text, length) == 0)
			fault->kind = &kinds[i];
	if (!fault->kind || ms < 1 || ms > SIZE_MS_MAX) {
		fprintf(stderr, "robot: '%s' is no fault: KIND[:MS], 1 to %d ms, of these kinds:", text, SIZE_MS_MAX);
		for (size_t i = 0; i < KINDS; i++)
			fprintf(stderr, " %s", kinds[i].name);
		fputc('\n', stderr);
		exit(2);
	}
	fault->size_ns = ms * MS;
	fault->at = (unsigned)(when_ms / fault->kind->period_ms) + 1;
}

/* The callbacks that --slow can make slower, and how long they usually work. */
static const struct slow_place {
	const char *name;
	int64_t work_ns;
} slow_places[] = { { "detector", 300 * US }, { "planner", 200 * US }, { "costmap", 400 * US } };
#define SLOW_PLACES (sizeof(slow_places) / sizeof(*slow_places))

static const struct slow_place *slow_place;
static long slow_percent;

static void plan_slow(const char *text)
{
	const size_t length = strcspn(text, ":");

	slow_percent = text[length] ? strtol(text + length + 1, NULL, 10) : 0;
	for (size_t i = 0; i < SLOW_PLACES && !slow_place; i++)
		if (strlen(slow_places[i].name) == length &&
		    strncmp(slow_places[i].name, text, length) == 0)
			slow_place = &slow_places[i];
	if (slow_place && slow_percent >= 1 && slow_percent <= 1000)
		return;
	fprintf(stderr,
		"robot: '%s' is not PLACE:PERCENT, 1 to 1000, with a place of these:", text);
	for (size_t i = 0; i < SLOW_PLACES; i++)
		fprintf(stderr, " %s", slow_places[i].name);
	fputc('\n', stderr);
	exit(2);
}

/* What else the machine does is none of the faults: it shall not get in between, where that is
 * permitted. Threads inherit it. */
static void come_first(void)
{
	const struct sched_param priority = { .sched_priority = ROBOT_PRIORITY };

	(void)sched_setscheduler(0, SCHED_FIFO, &priority);
}

void faults_init(const struct rc_options *options)
{
	uint64_t state = (options->seed + 1) * 0x9e3779b97f4a7c15u | 1;
	double ms = FIRST_MS;

	if (options->faults)
		come_first();
	if (options->slow)
		plan_slow(options->slow);
	count = options->faults;
	for (unsigned i = 0; i < count; i++) {
		plan(&planned[i], options->fault[i], ms + CHANCE_MS * chance(&state));
		ms += APART_MS + (double)planned[i].size_ns / MS;
	}
}

/* Is it the visit on which @fault comes? */
static bool is_due(struct fault *fault, const char *place)
{
	return strcmp(fault->kind->place, place) == 0 && ++fault->visits == fault->at;
}

static void take_longer(const char *place)
{
	if (slow_place && strcmp(place, slow_place->name) == 0)
		work_for(slow_place->work_ns * slow_percent / 100);
}

void faults_visit(const char *place)
{
	take_longer(place);
	for (struct fault *fault = planned; fault < planned + count; fault++) {
		int64_t cpu_ns = cpu_now_ns();

		if (!fault->kind->run || !is_due(fault, place))
			continue;
		fault->tid = gettid();
		fault->begin_ns = rc_now_ns();
		fault->kind->run(fault);
		if (!fault->end_ns)
			fault->end_ns = rc_now_ns();
		fault->cpu_ns = cpu_now_ns() - cpu_ns;
		fault->over = true;
	}
}

void faults_timer(const char *place, struct rc_entity *timer)
{
	for (struct fault *fault = planned; fault < planned + count; fault++) {
		if (strcmp(fault->kind->name, "late") != 0 || !is_due(fault, place))
			continue;
		fault->tid = gettid();
		fault->begin_ns = timer->due_ns;
		fault->end_ns = timer->due_ns += fault->size_ns;
		fault->over = true;
	}
}

/* ---- the link ---- */

static void deliver(struct fault *fault, struct rc_publisher *publisher)
{
	fault->on = false;
	fault->over = true;
	fault->end_ns = rc_now_ns();
	for (unsigned i = 0; i < fault->messages && strcmp(fault->kind->name, "link") == 0; i++) {
		rc_publish_send(publisher, &held[i].message, held[i].stamp);
		if (!i)
			fault->end_ns = rc_now_ns();	/* the fault is about this visit */
	}
}

static void keep_back(struct fault *fault, const void *message, size_t size, dds_time_t stamp)
{
	struct held *to = &held[fault->messages++];

	memcpy(to->message.bytes, message, size < sizeof(to->message) ? size : sizeof(to->message));
	to->stamp = stamp;
}

void faults_publish(const char *place, struct rc_publisher *publisher, const void *message,
		    size_t size)
{
	int64_t now = rc_now_ns();
	dds_time_t stamp = rc_publish_begin(publisher, message);
	bool kept = false;

	for (struct fault *fault = planned; fault < planned + count; fault++) {
		if (fault->kind->run || strcmp(fault->kind->name, "late") == 0)
			continue;
		if (fault->on &&
		    (now >= fault->begin_ns + fault->size_ns || fault->messages == HELD_MAX))
			deliver(fault, publisher);
		if (is_due(fault, place)) {
			fault->on = true;
			fault->tid = gettid();
			fault->begin_ns = now;
		}
		if (fault->on && !kept) {
			keep_back(fault, message, size, stamp);
			kept = true;
		}
	}
	if (!kept)
		rc_publish_send(publisher, message, stamp);
}

/* How far the wall clock is ahead of CLOCK_MONOTONIC. */
static int64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec - rc_now_ns();
}

void faults_print(void)
{
	int64_t wall = wall_ns();

	for (const struct fault *fault = planned; fault < planned + count; fault++)
		if (fault->over)
			printf("{\"fault\":\"%s\",\"what\":\"%s\",\"pid\":%d,\"tid\":%" PRId32
			       ",\"begin_ns\":%" PRId64 ",\"end_ns\":%" PRId64
			       ",\"cpu_ns\":%" PRId64 ",\"touched_ns\":%" PRId64
			       ",\"messages\":%u}\n",
			       fault->kind->name, fault->kind->what, getpid(), fault->tid,
			       fault->begin_ns + wall, fault->end_ns + wall, fault->cpu_ns,
			       fault->touched_ns, fault->messages);
}
