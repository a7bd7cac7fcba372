/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which recorder owns what: file locks on the first byte of the domain page, and of each region
 * file that is being recorded. A lock belongs to the open file description: it ends with the
 * recorder, however that dies, and it also holds against another recorder in the same process.
 *
 * A forked child shares the descriptions of its parent and would keep the locks after the parent
 * died. So the child closes the descriptors (claim_forget_in_children()). The files' mappings are
 * not inherited (MADV_DONTFORK), because a mapping keeps a description open, too.
 *
 * Context of all functions: one thread at a time; never wait for a lock.
 */
#ifndef KYMO_RECORDER_CLAIM_H
#define KYMO_RECORDER_CLAIM_H

#include <stdbool.h>

/** claim() - lock @fd, which is open for writing. Return: 0; -EAGAIN: another recorder has the
 * lock; -errno. */
int claim(int fd);

/** claim_release() - give the lock of @fd back, if we have it; call it before closing @fd. */
void claim_release(int fd);

/** claim_is_taken() - whether some recorder has the lock of the file that @fd is. Return:
 * false also if that cannot be found out. */
bool claim_is_taken(int fd);

/** claim_is_let_go() - whether the process of region file @fd no longer holds its lock on
 * KYMO_LOCK_ALIVE. Return: false also if that cannot be found out. */
bool claim_is_let_go(int fd);

/** claim_forget_in_children() - from now on, forked children close the locked files. Call it
 * once. */
void claim_forget_in_children(void);

#endif
