/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many processes of one program that hear each other, as tracetools and kymo.h see it: each has the
 * node /drone, whose timer publishes on /swarm every 10 ms, and which receives what all of them,
 * itself too, publish there. So there are PROCESSES * PROCESSES chains of one name.
 *
 *   swarm PROCESSES ROUNDS        ROUNDS 0: until SIGTERM
 *
 * All begin when the last one is there. The first process is slow: from round 20 on, in every tenth
 * one its timer takes 20 ms, in the span "swarm:step", before it publishes. The events are real, the
 * messages are numbers in pipes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>

#include "tracetools/tracetools.h"

#define PROCESSES_MAX 32
#define PERIOD_NS 10000000
#define SLOW_NS 20000000
#define SLOW_FIRST 20
#define SLOW_EVERY 10

enum { NODE, TIMER, TIMER_CALLBACK, PUBLISHER, SUBSCRIPTION, RECEIVER, CALLBACK, MESSAGE };

static int in[PROCESSES_MAX], out[PROCESSES_MAX];
static int ready[2], go[2]; /* pipes: a byte of each process; its end when all are there */
static unsigned processes;
static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static const void *handle(unsigned object)
{
	return (const void *)(uintptr_t)(0x10000 + object * 0x100);
}

static const void *rmw(unsigned object)
{
	return (const void *)(uintptr_t)(0x20000 + object * 0x100);
}

static void create(void)
{
	ros_trace_rcl_init(handle(MESSAGE));
	ros_trace_rcl_node_init(handle(NODE), rmw(NODE), "drone", "/");
	ros_trace_rcl_timer_init(handle(TIMER), PERIOD_NS);
	ros_trace_rclcpp_timer_callback_added(handle(TIMER), handle(TIMER_CALLBACK));
	ros_trace_rclcpp_timer_link_node(handle(TIMER), handle(NODE));
	ros_trace_rclcpp_callback_register(handle(TIMER_CALLBACK), "Drone::on_timer()");
	ros_trace_rcl_publisher_init(handle(PUBLISHER), handle(NODE), rmw(PUBLISHER), "/swarm", 10);
	ros_trace_rcl_subscription_init(handle(SUBSCRIPTION), handle(NODE), rmw(SUBSCRIPTION),
					"/swarm", 10);
	ros_trace_rclcpp_subscription_init(handle(SUBSCRIPTION), handle(RECEIVER));
	ros_trace_rclcpp_subscription_callback_added(handle(RECEIVER), handle(CALLBACK));
	ros_trace_rclcpp_callback_register(handle(CALLBACK), "Drone::on_swarm()");
}

/* Source timestamps are unique: of 32 processes, each has its own last digits. */
static void publish(unsigned self)
{
	const int64_t stamp = clock_ns(CLOCK_REALTIME) / PROCESSES_MAX * PROCESSES_MAX + self;

	ros_trace_rclcpp_publish(NULL, handle(MESSAGE));
	ros_trace_rcl_publish(handle(PUBLISHER), handle(MESSAGE));
	ros_trace_rmw_publish(rmw(PUBLISHER), handle(MESSAGE), stamp);
	for (unsigned i = 0; i < processes; i++)
		if (write(out[i], &stamp, sizeof(stamp)) != sizeof(stamp) && !stopped)
			stopped = 1; /* the others have ended */
}

static void on_timer(unsigned self, unsigned long round)
{
	const struct timespec slow = { .tv_nsec = SLOW_NS };

	ros_trace_callback_start(handle(TIMER_CALLBACK), false);
	KYMO_BEGIN("swarm", "step");
	if (self == 0 && round >= SLOW_FIRST && round % SLOW_EVERY == 0)
		(void)nanosleep(&slow, NULL);
	KYMO_END("swarm", "step");
	publish(self);
	ros_trace_callback_end(handle(TIMER_CALLBACK));
}

static void on_message(int64_t stamp)
{
	ros_trace_rmw_take(rmw(SUBSCRIPTION), handle(MESSAGE), stamp, true);
	ros_trace_rcl_take(handle(MESSAGE));
	ros_trace_rclcpp_take(handle(MESSAGE));
	ros_trace_callback_start(handle(CALLBACK), false);
	ros_trace_callback_end(handle(CALLBACK));
}

/* What comes before @due_ns. */
static void receive(unsigned self, int64_t due_ns)
{
	struct pollfd wait = { .fd = in[self], .events = POLLIN };
	int64_t stamp, left;

	while ((left = due_ns - clock_ns(CLOCK_MONOTONIC)) > 0 && !stopped)
		if (poll(&wait, 1, (int)(left / 1000000) + 1) > 0)
			while (read(in[self], &stamp, sizeof(stamp)) == sizeof(stamp))
				on_message(stamp);
}

/* Until all processes are there. */
static void gather(unsigned self)
{
	char bytes[PROCESSES_MAX];
	ssize_t count = 0, got = 1;

	if (self) {
		(void)close(go[1]);
		if (write(ready[1], "", 1) == 1)
			(void)read(go[0], bytes, 1);
		return;
	}
	while (count + 1 < (ssize_t)processes && got > 0) {
		got = read(ready[0], bytes, sizeof(bytes));
		count += got;
	}
	(void)close(go[1]);
}

static int be(unsigned self, unsigned long rounds)
{
	int64_t due_ns;

	create();
	gather(self);
	due_ns = clock_ns(CLOCK_MONOTONIC);
	for (unsigned long round = 0; !stopped && (!rounds || round < rounds); round++) {
		on_timer(self, round);
		due_ns += PERIOD_NS;
		receive(self, due_ns);
	}
	receive(self, due_ns + 10 * PERIOD_NS); /* what others still publish */
	return 0;
}

int main(int argc, char **argv)
{
	const unsigned long rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned i;
	int ends[2];

	processes = argc == 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	if (processes < 1 || processes > PROCESSES_MAX)
		return 2;
	(void)signal(SIGTERM, stop);
	(void)signal(SIGINT, stop);
	(void)signal(SIGPIPE, SIG_IGN);
	if (pipe2(ready, O_CLOEXEC) || pipe2(go, O_CLOEXEC))
		return 1;
	for (i = 0; i < processes; i++) {
		if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
			return 1;
		in[i] = ends[0];
		out[i] = ends[1];
	}
	for (i = 1; i < processes; i++)
		if (fork() == 0)
			return be(i, rounds);
	(void)be(0, rounds);
	if (!rounds)
		(void)kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	return 0;
}
