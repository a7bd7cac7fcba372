/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals that end `kymo live`: the first one wakes the loop, and update(), which may have much
 * to do, stops at once (live_stopped() in live.h).
 */
#ifndef KYMO_LIVE_SIGNALS_H
#define KYMO_LIVE_SIGNALS_H

#include <uv.h>

/* From now on SIGINT, SIGTERM and SIGALRM wake @told, until live_signals_leave(). */
void live_signals_take(uv_async_t *told);
/* The loop ends: nothing is to be woken. */
void live_signals_sleep(void);
/* What was held back is shown: if the user ended it, as much as a moment allows. */
void live_signals_last(void);
void live_signals_leave(void);

#endif
