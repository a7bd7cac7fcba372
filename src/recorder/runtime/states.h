/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a session and what may happen in each, as a pure function. Every process of a
 * session is in the session's state; the words are in its region, page and domain, abi/region.h.
 *
 *              start                  pause
 *     WAIT ───────────────▶ RECORD ◀────────────▶ PREPARE
 *      ▲  └── start, paused ───┼─────────resume──────▲ │
 *      └──────────── stop ─────┴────────────────────────┘
 */
#ifndef KYMO_RECORDER_STATES_H
#define KYMO_RECORDER_STATES_H

#include <stdint.h>

#include "base/err.h"

enum states_action {
	STATES_START,
	STATES_START_PAUSED,
	STATES_PAUSE,
	STATES_RESUME,
	STATES_STOP,
	STATES_ACTIONS
};

enum states_answer {
	STATES_REFUSE, /* not in this state */
	STATES_STAY,   /* already in that state: nothing to do, no error */
	STATES_GO,     /* into the next state */
};

/**
 * states_next() - what @action does in @state
 * @state: enum kymo_state; anything else, from a corrupt word, counts as WAIT
 * @next: the state afterwards, which may be the same
 *
 * Context: wait-free.
 */
enum states_answer states_next(uint32_t state, enum states_action action, uint32_t *next);

/** states_name() - "wait", "prepare", "record"; "?" for anything else. */
const char *states_name(uint32_t state);

/** states_nobody() - the error when a command needs the recorder of @dir, and none is running.
 * Return: -1. */
int states_nobody(const char *dir, struct kymo_err *err);

#endif
