/* SPDX-License-Identifier: Apache-2.0 */
/* Who may change or replace a file that a process loads. Private to src/attach. */
#ifndef KYMO_ATTACH_TRUST_H
#define KYMO_ATTACH_TRUST_H

#include <limits.h>

struct trust {
	const char *root; /* root directory of the process, as we see it; "": ours */
	unsigned user[2]; /* beside root */
};

enum trust_verdict {
	TRUST_OURS,   /* only root and these users may */
	TRUST_OTHERS, /* somebody else may change or replace it */
	TRUST_NONE,   /* it does not exist, or cannot be looked at: errno */
};

/**
 * trust_file() - may only root and two users change the file that the process finds at @path?
 * @path: absolute, in the root directory of the process
 * @where: set to what another user may change, in the root directory of the process
 *
 * Looks at the file, at each directory of its path, and, where a symbolic link leads elsewhere, at
 * the link and at each directory of its target. Context: blocks.
 */
enum trust_verdict trust_file(const struct trust *trust, const char *path, char where[PATH_MAX]);

#endif
