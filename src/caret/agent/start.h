/* SPDX-License-Identifier: Apache-2.0 */
/* What a Start says, taken out of the message and checked. */
#ifndef KYMO_CONTROL_START_H
#define KYMO_CONTROL_START_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "caret/filter/caret_filter.h"

#define START_TEXT_MAX	8192	/* bytes of one list, with its NUL; a request to the recorder has 64 KiB */

struct start {
	uint32_t recording_frequency;	/* init events a second, in CARET; nothing is told again here */
	char *list[CARET_LISTS];	/* as CARET's variables; NULL where it says nothing */
};

/**
 * start_set() - one of the lists
 * @text: NULL and "" say nothing
 *
 * Return: 0; -1 with @err: longer than START_TEXT_MAX, or no UTF-8, or with control characters.
 */
int start_set(struct start *start, enum filter_caret_list list, const char *text, struct kymo_err *err);

/** start_filters() - whether any list says something. */
bool start_filters(const struct start *start);

void start_free(struct start *start);

#endif
