/* SPDX-License-Identifier: Apache-2.0 */
/* Signals while `kymo live` runs; see live_signals.h. */
#include "live/live_signals.h"

#include <signal.h>
#include <unistd.h>

#include "live/live.h"

#define LAST_S		1		/* to show what was held back, when the user ends it */

static volatile sig_atomic_t stopped, cut;
static uv_async_t *volatile wakes;	/* NULL: the loop does not run */

static void on_number(int number)
{
	uv_async_t *async = wakes;

	stopped = 1;
	if (number == SIGALRM)
		cut = 1;
	else
		(void)alarm(LAST_S);
	if (async)
		(void)uv_async_send(async);
}

static void take_signals(void (*handler)(int number))
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	const struct sigaction last = { .sa_handler = handler };

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGALRM, &last, NULL); /* interrupts a write that nobody reads */
}

const volatile sig_atomic_t *live_stopped(void)
{
	return &stopped;
}

bool live_was_cut(void)
{
	return cut;
}

void live_signals_take(uv_async_t *told)
{
	stopped = cut = 0;
	wakes = told;
	take_signals(on_number);
}

void live_signals_sleep(void)
{
	wakes = NULL;
}

void live_signals_last(void)
{
	if (stopped)
		(void)alarm(LAST_S);
	stopped = 0;
}

void live_signals_leave(void)
{
	(void)alarm(0);
	take_signals(SIG_DFL);
}
