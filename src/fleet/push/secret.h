/* SPDX-License-Identifier: Apache-2.0 */
/* Files with secrets. */
#ifndef KYMO_FLEET_SECRET_H
#define KYMO_FLEET_SECRET_H

#include <stddef.h>

#include "base/err.h"

/**
 * secret_load() - file_load() of a file that only its owner may read; secret_free() it
 *
 * Return: 0; -1 with @err (KYMO_EXIT_INPUT). Context: allocates, blocks.
 */
int secret_load(const char *path, size_t most, char **text, size_t *size, struct kymo_err *err);

/** secret_free() - overwrite the @size bytes of @text, and free it. */
void secret_free(char *text, size_t size);

#endif
