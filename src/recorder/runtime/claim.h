/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who records what: a lock on the first byte of the domain page, and of each region file that is
 * recorded. They are locks of the open file description, so they go with the recorder however it
 * ends, and they hold against other recorders of the same process, too.
 *
 * A forked child shares its parent's descriptions and would keep the locks after the parent died:
 * so it closes the descriptors (claim_forget_in_children()), and mappings of the files are not
 * inherited (MADV_DONTFORK), for a mapping keeps a description, too.
 */
#ifndef KYMO_RECORDER_CLAIM_H
#define KYMO_RECORDER_CLAIM_H

#include <stdbool.h>

/** claim() - lock @fd, which is open for writing. Return: 0; -EAGAIN: another has it; -errno. */
int claim(int fd);

/** claim_release() - give the lock of @fd back, if we have it; before closing it. */
void claim_release(int fd);

/** claim_is_taken() - whether somebody has the lock of the file that @fd is. */
bool claim_is_taken(int fd);

/** claim_is_let_go() - whether nobody has the lock on KYMO_LOCK_ALIVE of region file @fd any more. */
bool claim_is_let_go(int fd);

/** claim_forget_in_children() - from now on, forked children close what is locked. Call it once. */
void claim_forget_in_children(void);

#endif
