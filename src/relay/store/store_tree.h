/* SPDX-License-Identifier: Apache-2.0 */
/* Paths below a directory: created, moved and removed without leaving it. Only for the store. */
#ifndef KYMO_RELAY_STORE_TREE_H
#define KYMO_RELAY_STORE_TREE_H

/**
 * tree_create() - create the file @path below @root and the directories above it, replacing an
 * existing file
 *
 * Return: its descriptor (read and write); -1 with errno. Context: blocks.
 */
int tree_create(int root, const char *path);

/** tree_open_file() - open the existing file @path below @root for reading and writing. Return: as
 * tree_create(). */
int tree_open_file(int root, const char *path);

/** tree_remove() - @path and everything in it. Return: 0 (also if it does not exist) or -1.
 * Context: blocks. */
int tree_remove(int root, const char *path);

#endif
