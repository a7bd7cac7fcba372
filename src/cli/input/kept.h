/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found out about traces, kept in the user's cache, so that the second question is quick.
 *
 *   kept_open(&kept, "summary", &path, 1);
 *   data = kept_get(&kept, &size);
 *   if (!data) { ... read the trace ...; kept_put(&kept, text, size); }
 *   kept_close(&kept);
 *
 * What is kept is found again only if the question, kymo itself, and every file of the traces are
 * the same: path, size, times of modification and change, inode. All of that is in the file and
 * compared byte by byte; a damaged file is ignored. An answer that comes from other files, too,
 * names them (kept_needs()), and these must be the same, too. A trace that changes while it is
 * read, or that changed just before, is not kept. Files are replaced as a whole, and the oldest are
 * removed above KEPT_MOST bytes. Where something is not as it should be (no directory, no memory, a
 * full disk), nothing is kept, and that is no error.
 *
 * Environment: KYMO_CACHE=off: neither read nor write; =always: also keep what took less than
 * KEPT_LEAST_NS. $XDG_CACHE_HOME/kymo, else $HOME/.cache/kymo.
 *
 * Context of all functions: not thread-safe; allocate and block.
 */
#ifndef KYMO_CLI_INPUT_KEPT_H
#define KYMO_CLI_INPUT_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/common/common.h"

#define KEPT_MOST (64u << 20)                /* bytes of all files together */
#define KEPT_ONE_MOST (16u << 20)            /* of one answer */
#define KEPT_LEAST_NS INT64_C(100000000)     /* what takes less is asked again */

struct kept {
	char path[CLI_PATH_MAX]; /* of the file; "": nothing is kept */
	char *key;               /* all that must be the same */
	size_t key_size;
	char *question;
	const char *const *trace; /* lent */
	unsigned traces;
	int64_t begun_ns, begun_epoch_ns;
	char *others; /* paths of other files, each with its NUL */
	size_t others_size;
	bool is_small; /* kept however little time it took */
	const char *one; /* the only trace, of kept_open_small() */
};

/** kept_open() - where the answer to @question about the @traces is. To be closed by kept_close().
 */
void kept_open(struct kept *kept, const char *question, const char *const *trace, unsigned traces);

/** kept_open_small() - the same for an answer of a few hundred bytes about one trace, which is kept
 * however quick it was; @trace is lent. */
void kept_open_small(struct kept *kept, const char *question, const char *trace);

/** kept_get() - what was kept, with a 0 behind it, to be freed. Return: NULL: nothing. */
char *kept_get(const struct kept *kept, size_t *size);

/** kept_needs() - the answer comes from the file @path, too, which need not exist. @kept: a struct
 * kept, for callers that pass it on. */
void kept_needs(void *kept, const char *path);

/** kept_put() - keep @data, the answer, if reading took its time and the traces are as they were.
 */
void kept_put(const struct kept *kept, const void *data, size_t size);

void kept_close(struct kept *kept);

#endif
