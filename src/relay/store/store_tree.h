/* SPDX-License-Identifier: Apache-2.0 */
/* Names below a directory: made, moved and removed without leaving it. Not for others than the store. */
#ifndef KYMO_RELAY_STORE_TREE_H
#define KYMO_RELAY_STORE_TREE_H

/**
 * tree_create() - a new file at @path below @root in place of what was there, with the directories above it
 *
 * Return: its descriptor (read and write), or -1 with errno. Context: blocks.
 */
int tree_create(int root, const char *path);

/** tree_open_file() - @path below @root, which is there, for reading and writing. Return: its descriptor, or -1 with errno. */
int tree_open_file(int root, const char *path);

/** tree_move() - rename @from to @to, with the directories above it. Return: 0 or -1. Context: blocks. */
int tree_move(int root, const char *from, const char *to);

/** tree_remove() - @path and all that is in it. Return: 0 (also when it is not there) or -1. Context: blocks. */
int tree_remove(int root, const char *path);

#endif
