/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a Start, checked. Context of all functions: not thread-safe; start_set()
 * allocates; none blocks. */
#ifndef KYMO_CARET_START_H
#define KYMO_CARET_START_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "caret/filter/caret_filter.h"

/* bytes of a list, with its NUL; a request to the recorder has 64 KiB */
#define START_TEXT_MAX	8192

struct start {
	uint32_t recording_frequency;	/* init events a second, for CARET; kymo does not use it */
	char *list[CARET_LISTS];	/* as CARET's variables; NULL: empty */
};

/**
 * start_set() - set a list
 * @text: NULL and "": empty
 *
 * Return: 0; -1 with @err: longer than START_TEXT_MAX, not UTF-8, or with control characters.
 */
int start_set(struct start *start, enum filter_caret_list list, const char *text,
	      struct kymo_err *err);

/** start_filters() - whether any list is set. */
bool start_filters(const struct start *start);

void start_free(struct start *start);

#endif
