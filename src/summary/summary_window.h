/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last minute of something that goes on: summaries of short intervals, merged, of which the
 * oldest are forgotten.
 *
 *   struct summary_window *window = summary_window_new(30);
 *   ... each second: summary_window_add(window, second)
 *   summary_findings(summary_window_get(window), ...)
 *
 * The window has two halves. New intervals are merged into the later half; when it is full, the
 * earlier one is forgotten. So a window of two times 30 intervals shows the last 30 to 60 of them,
 * and its memory and time do not depend on how many there are.
 *
 *   [ earlier: 30 intervals ][ later: 0 to 29 ]  <- summary_window_add()
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_SUMMARY_WINDOW_H
#define KYMO_SUMMARY_WINDOW_H

#include "summary/summary.h"

struct summary_window;

/** summary_window_new() - @half: intervals of a half; 0: nothing is forgotten. Return: NULL without
 * memory. */
struct summary_window *summary_window_new(unsigned half);
void summary_window_free(struct summary_window *window);

/** summary_window_add() - one interval more. Return: 0; -1: no memory. */
int summary_window_add(struct summary_window *window, const struct summary *interval);

/**
 * summary_window_get() - all intervals that are not forgotten, merged
 *
 * Return: valid until the next interval is added; NULL: none was added, or no memory.
 */
const struct summary *summary_window_get(struct summary_window *window);

#endif
