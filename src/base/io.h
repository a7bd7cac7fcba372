/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to a file descriptor, all of them. */
#ifndef KYMO_BASE_IO_H
#define KYMO_BASE_IO_H

#include <stddef.h>

/**
 * write_all() - write @size bytes, however many write(2) accepts at a time
 * Return: 0; -errno when @fd refused (-ENOSPC when it accepted nothing): some of the bytes may be written.
 * Context: blocks.
 */
int write_all(int fd, const void *data, size_t size);

#endif
