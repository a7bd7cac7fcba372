/* SPDX-License-Identifier: Apache-2.0 */
/* Files with secrets. */
#ifndef KYMO_FLEET_SECRET_H
#define KYMO_FLEET_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/**
 * secret_load() - file_load() of a file that only its owner may read; secret_free() it
 *
 * Return: 0; -1 with @err (KYMO_EXIT_INPUT). Context: allocates, blocks.
 */
int secret_load(const char *path, size_t most, char **text, size_t *size, struct kymo_err *err);

/**
 * secret_may_go() - a secret goes to other machines by TLS only
 * @url: where to, such as http://HOST:PORT or s3+https://HOST/BUCKET
 * @what: would be sent: "the password"
 * @key: of kymo.yaml that allows it; @allowed: its value
 *
 * Return: 0; -1 with @err (KYMO_EXIT_INPUT).
 */
int secret_may_go(const char *url, const char *what, const char *key, bool allowed,
		  struct kymo_err *err);

/** secret_free() - overwrite the @size bytes of @text, and free it. */
void secret_free(char *text, size_t size);

#endif
