/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that counts what it produces, per thread, for tests/system/record/sums.py.
 *
 *   sums FILE FIRST_SLOT
 *
 * Each thread emits rcl_publish(slot, n) for n = 1, 2, 3 ... FILE is shared with the test, which
 * says what to do: emit or stand still, end a thread, begin another, fork, end. A slot of FILE has
 * the counts of one thread:
 *
 *     sure     events that were enabled before the call and after it: these are in a trace, or
 * counted as dropped maybe    events that were enabled before the call or after it: no others are
 *
 * The two differ by an event for each time that a recorder switched the event while the thread was
 * in it. Events whose topic the test declared to be left out are in neither, but in `left`: until a
 * recorder has read of a new publisher, its events are as those of any other.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kymo/kymo.h>

#include "abi/points.h"
#include "tracetools/tracetools.h"

#define SLOTS 256
#define SLOTS_OF_PROGRAM 16 /* the last ones are of forked children, two each */
#define TOPICS 2
#define EVENTS_OF_STEP 1500

extern const uint8_t *kymo__enable;

struct slot {
	_Atomic uint32_t pid, tid; /* in their namespace; tid comes last: the slot is in use */
	_Atomic uint32_t turn;     /* that the thread obeys */
	_Atomic uint32_t end, ended;
	_Atomic uint32_t left;
	_Atomic uint64_t noted, sure, maybe;
};

struct orders {
	_Atomic uint32_t turn; /* odd: emit; even: stand still */
	_Atomic uint32_t quit;
	_Atomic uint32_t left_out; /* bit: topic */
	_Atomic uint32_t burst, sleep_us;
	_Atomic uint32_t step; /* of the test: a thread emits at most EVENTS_OF_STEP in each */
	_Atomic uint32_t threads[SLOTS / SLOTS_OF_PROGRAM]; /* of each program, so far */
	_Atomic uint32_t forks[SLOTS / SLOTS_OF_PROGRAM];
	struct slot slot[SLOTS];
};

static struct orders *orders;

static bool enabled(void)
{
	const uint8_t *bytes = __atomic_load_n(&kymo__enable, __ATOMIC_SEQ_CST);

	return __atomic_load_n(&bytes[KYMO_POINT_rcl_publish], __ATOMIC_SEQ_CST);
}

static void emit(struct slot *slot, uintptr_t number)
{
	const bool counts = !(orders->left_out & 1u << number % TOPICS);
	const uint64_t n = slot->noted + 1;
	const bool before = enabled();

	ros_trace_rcl_publish((void *)(2 * (number + 1)), (void *)n);
	const bool after = enabled();

	if (counts && (before || after))
		slot->maybe++;
	if (counts && before && after)
		slot->sure++;
	if (!counts && (before || after))
		slot->left++;
	slot->noted = n;
}

static void *emit_main(void *argument)
{
	const uintptr_t number = (uintptr_t)argument;
	struct slot *slot = &orders->slot[number];
	uint32_t step = 0;
	uint64_t most = 0;

	slot->pid = (uint32_t)getpid();
	slot->turn = 0;
	slot->tid = (uint32_t)syscall(SYS_gettid);
	while (!orders->quit && !slot->end) {
		const uint32_t turn = orders->turn;

		slot->turn = turn;
		if (step != orders->step)
			most = slot->noted + EVENTS_OF_STEP;
		step = orders->step;
		for (uint32_t i = 0; turn % 2 && i < orders->burst && slot->noted < most; i++)
			emit(slot, number);
		(void)usleep(turn % 2 ? orders->sleep_us : 300);
	}
	slot->ended = 1;
	return NULL;
}

static void begin_thread(uintptr_t number)
{
	char topic[16];
	pthread_t id;

	(void)snprintf(topic, sizeof topic, "/topic%lu", (unsigned long)number % TOPICS);
	ros_trace_rcl_publisher_init((void *)(2 * (number + 1)), NULL, NULL, topic, 10);
	if (pthread_create(&id, NULL, emit_main, (void *)number) || pthread_detach(id))
		exit(1);
}

/* The child has slots, a region and rings of its own. */
static void child(unsigned first)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	ros_trace_rcl_init(&orders);
	for (unsigned i = 0; i < 2; i++)
		begin_thread(first + i);
	while (!orders->quit)
		(void)usleep(1000);
	for (unsigned i = 0; i < 2; i++)
		while (!orders->slot[first + i].ended)
			(void)usleep(1000);
	exit(0);
}

int main(int argc, char **argv)
{
	const unsigned first = argc == 3 ? (unsigned)atoi(argv[2]) : SLOTS;
	const unsigned program = first / SLOTS_OF_PROGRAM;
	const int file = argc == 3 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	unsigned threads = 0, forks = 0;

	if (file < 0 || first % SLOTS_OF_PROGRAM || first >= SLOTS) {
		(void)fprintf(stderr, "usage: sums FILE FIRST_SLOT\n");
		return 2;
	}
	orders = mmap(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (orders == MAP_FAILED)
		return 1;
	ros_trace_rcl_init(&orders);
	while (!orders->quit) {
		while (threads < orders->threads[program])
			begin_thread(first + threads++);
		while (forks < orders->forks[program])
			if (fork() == 0)
				child(first + SLOTS_OF_PROGRAM - 2 * ++forks);
			else
				forks++;
		(void)usleep(500);
	}
	for (unsigned i = 0; i < threads; i++)
		while (!orders->slot[first + i].ended)
			(void)usleep(1000);
	while (wait(NULL) > 0)
		;
	return 0;
}
