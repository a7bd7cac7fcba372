/* SPDX-License-Identifier: Apache-2.0 */
/* What must be the same for a kept answer; private to kept.c. */
#ifndef KYMO_CLI_INPUT_KEPT_KEY_H
#define KYMO_CLI_INPUT_KEPT_KEY_H

#include <stddef.h>
#include <stdint.h>

/**
 * kept_key() - the question, kymo, and every file of the traces
 * @newest_ns: set to when the youngest file changed, epoch; INT64_MAX if it may be younger than its
 * times say
 *
 * Context: allocates, blocks. Return: text to be freed; NULL: it cannot be told.
 */
char *kept_key(const char *question, const char *const *trace, unsigned traces, size_t *size,
	       int64_t *newest_ns);

/**
 * kept_others() - the state of files that need not exist
 * @paths: each with a NUL behind it, @paths_size bytes
 * @newest_ns: set to when the youngest changed, epoch; INT64_MIN: none exists
 *
 * Context: allocates, blocks. Return: text to be freed; NULL: no memory.
 */
char *kept_others(const char *paths, size_t paths_size, size_t *size, int64_t *newest_ns);

#endif
