/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room on the disk for the last kymo.json.
 *
 * A disk that is full at the end of a recording would keep out the very file that says how much was
 * lost. So an empty file beside it holds blocks while the recording goes on, and the last kymo.json
 * is written into these blocks.
 */
#ifndef KYMO_RECORDER_RESERVE_H
#define KYMO_RECORDER_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * reserve_keep() - hold blocks for @name in @directory, for at least twice @size bytes
 * @size: of the file as it is now; more than that is not needed unless it doubles until the end
 *
 * Where the file system cannot reserve, or is full, nothing is held. Return: false: the file system
 * cannot reserve, and it is of no use to ask again. Context: blocks.
 */
bool reserve_keep(const char *directory, const char *name, size_t size);

/**
 * reserve_use() - replace @name in @directory by @text, in the blocks that were held
 * Return: 0; -ENOENT: none were held; another -errno: @name is as it was. Context: blocks.
 */
int reserve_use(const char *directory, const char *name, const char *text, size_t size);

/** reserve_end() - hold nothing more for @name in @directory. Context: blocks. */
void reserve_end(const char *directory, const char *name);

#endif
