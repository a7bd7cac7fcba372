/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeping by bare system calls: the functions of libc are cancellation points. See tracer_wait.h.
 */
#include "inside/tracer/tracer_wait.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inside/tracer/tracer_process.h"

#define PAUSE_NS 100000 /* a recorder empties a ring that fills up every millisecond */

static bool is_real_time(void)
{
	const long policy = syscall(SYS_sched_getscheduler, 0);

	return policy < 0 || ((policy & ~SCHED_RESET_ON_FORK) != SCHED_OTHER &&
			      (policy & ~SCHED_RESET_ON_FORK) != SCHED_BATCH &&
			      (policy & ~SCHED_RESET_ON_FORK) != SCHED_IDLE);
}

bool kymo_wait_begin(struct kymo_wait *wait, struct kymo_thread *thread)
{
	const uint64_t rpos = __atomic_load_n(&thread->ring->rpos, __ATOMIC_RELAXED);
	bool may;

	if (thread->in_slow || (thread->gave_up && thread->gave_up_rpos == rpos) ||
	    __atomic_load_n(thread->mode, __ATOMIC_RELAXED) == KYMO_MODE_OVERWRITE)
		return false;
	wait->error = errno;
	may = !is_real_time();
	errno = wait->error;
	wait->begin_ns = kymo_clock_ns();
	return may;
}

bool kymo_wait_pause(const struct kymo_wait *wait)
{
	const struct timespec pause = { 0, PAUSE_NS };

	if (kymo_clock_ns() - wait->begin_ns >= kymo_settings.block_ns)
		return false;
	(void)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
	return true;
}

void kymo_wait_end(const struct kymo_wait *wait, struct kymo_thread *thread, bool room)
{
	struct kymo_ring *ring = thread->ring;

	thread->gave_up = !room;
	thread->gave_up_rpos = __atomic_load_n(&ring->rpos, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->waits, ring->waits + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->waited_ns, ring->waited_ns + (kymo_clock_ns() - wait->begin_ns),
			 __ATOMIC_RELAXED);
	errno = wait->error;
}
