/* SPDX-License-Identifier: Apache-2.0 */
/* Giving an order to the library in another process: abi/attach.h. Private to src/attach. */
#ifndef KYMO_ATTACH_INJECT_H
#define KYMO_ATTACH_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/attach.h"
#include "attach/attach_maps.h"
#include "attach/attach_process.h"

struct injection {
	const struct attach_process *process;
	struct maps maps;
	const struct attach_map *library; /* libkymo-ros2.so in the process; NULL: not loaded */
	uint32_t held;             /* enum kymo_attach_held of it */
	uint64_t scratch;          /* 0: none yet */
	int64_t max_pause;         /* ns; 0: no limit */
	int64_t pause;             /* ns for which a thread was stopped, the longest time */
	unsigned thread;           /* the borrowed thread */
	bool realtime;             /* it has a real-time priority */
};

/** injection_open() - what is in the process now. Return: 0 and an object for injection_close(), or
 * -1 with @err. */
int injection_open(struct injection *injection, const struct attach_process *process,
		   struct kymo_err *err);
void injection_close(struct injection *injection);

/**
 * injection_order() - give the order in @block and wait for the answer, which is in @block
 * afterwards
 *
 * The addresses in @block are filled in. Return: 0: `state` is KYMO_ATTACH_ANSWERED or
 * KYMO_ATTACH_NOT_LOADED; -1 with @err: the process is as it was, or the order is still under way
 * there, which @err says then. Context: blocks, up to half a minute.
 */
int injection_order(struct injection *injection, struct kymo_attach_block *block,
		    struct kymo_err *err);

#endif
