/* SPDX-License-Identifier: Apache-2.0 */
/* See summary_window.h. */
#include "summary/summary_window.h"

#include <stdlib.h>

struct summary_window {
	unsigned half, count;            /* count: intervals in the later half */
	struct summary *earlier, *later; /* NULL: nothing yet */
	struct summary *whole;           /* both; NULL: to be merged, or it is `later` alone */
};

struct summary_window *summary_window_new(unsigned half)
{
	struct summary_window *window = calloc(1, sizeof(*window));

	if (window)
		window->half = half;
	return window;
}

void summary_window_free(struct summary_window *window)
{
	if (!window)
		return;
	summary_free(window->earlier);
	summary_free(window->later);
	summary_free(window->whole);
	free(window);
}

/* How many callbacks have no name is a state, not a count. */
static void names_of(struct summary *into, const struct summary *latest)
{
	into->trust.callbacks = latest->trust.callbacks;
	into->trust.unnamed = latest->trust.unnamed;
}

int summary_window_add(struct summary_window *window, const struct summary *interval)
{
	summary_free(window->whole);
	window->whole = NULL;
	if (window->half && window->count == window->half) {
		summary_free(window->earlier);
		window->earlier = window->later;
		window->later = NULL;
		window->count = 0;
	}
	if (!window->later)
		window->later = summary_new();
	window->count++;
	if (!window->later || summary_merge(window->later, interval) < 0)
		return -1;
	names_of(window->later, interval);
	return 0;
}

const struct summary *summary_window_get(struct summary_window *window)
{
	struct summary *whole;

	if (!window->earlier || window->whole)
		return window->earlier ? window->whole : window->later;
	whole = summary_new();
	if (whole && summary_merge(whole, window->earlier) == 0 &&
	    summary_merge(whole, window->later) == 0) {
		names_of(whole, window->later);
		return window->whole = whole;
	}
	summary_free(whole);
	return NULL;
}
