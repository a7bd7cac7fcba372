/* SPDX-License-Identifier: Apache-2.0 */
/* The environment that a program was started with. */
#ifndef KYMO_RECORDER_ENVIRONMENT_H
#define KYMO_RECORDER_ENVIRONMENT_H

#include <stddef.h>

/**
 * environment_read() - of process @pid
 * @size: its bytes
 *
 * Return: its entries, each with a NUL, malloc'ed; NULL: it cannot be read. Context: allocates, reads /proc.
 */
char *environment_read(int pid, size_t *size);

/** environment_value() - of the variable @name; NULL: it is not set. @environment may be NULL. */
const char *environment_value(const char *environment, size_t size, const char *name);

#endif
