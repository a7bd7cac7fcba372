/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream whose bytes go to stdout at once, and are copied to be kept (kept.h): for answers that
 * may be longer than memory.
 *
 *   FILE *out = kept_copy_open(&copy);
 *   ... print to out ...
 *   if (kept_copy_close(&copy))
 *       kept_put(&kept, copy.text, copy.size);
 *   free(copy.text);
 *
 * Context: not thread-safe; allocates and blocks.
 */
#ifndef KYMO_CLI_INPUT_KEPT_COPY_H
#define KYMO_CLI_INPUT_KEPT_COPY_H

#include <stdbool.h>
#include <stdio.h>

struct kept_copy {
	FILE *stream;
	char *text;
	size_t size, room;
	bool is_cut; /* it is longer than KEPT_ONE_MOST, or there was no memory */
};

/** kept_copy_open() - Return: the stream; stdout if there is no memory for it. */
FILE *kept_copy_open(struct kept_copy *copy);

/** kept_copy_close() - Return: whether all that was printed is in @copy->text. */
bool kept_copy_close(struct kept_copy *copy);

#endif
