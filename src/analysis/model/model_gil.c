/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for Python's global interpreter lock. kymo records each wait at its end; CPython waits at
 * most its switch interval, 5 ms, and then again, so only the last one of a row says who released
 * the lock.
 */
#include "analysis/model/model_internal.h"

static void on_gil_wait(struct model *model, const struct now *now)
{
	ARGS(gil_wait, now->event);
	const int64_t tid = args->released_by.i;
	struct model_gil_wait wait = { .thread = &now->thread->pub,
				       .start_ns = now->ns - args->duration.i,
				       .end_ns = now->ns,
				       .tid = tid > 0 && tid <= INT32_MAX ? (int32_t)tid : 0 };
	const struct thread *by = NULL;

	if (args->duration.i < 0)
		return;
	if (wait.tid)
		by = map_get(&model->threads, (uint32_t)wait.tid, now->process->pub.index);
	wait.by = by ? &by->pub : NULL;
	EMIT(model, gil_wait, &wait);
}

static const handler handlers[KYMO_POINTS_TABLE] = { [KYMO_POINT_gil_wait] = on_gil_wait };

const struct model_part model_gil = { .handlers = handlers };
