/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/push/secret.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

int secret_load(const char *path, size_t most, char **text, size_t *size, struct kymo_err *err)
{
	struct stat file;

	if (file_load(path, most, text, size, err))
		return -1;
	if (!stat(path, &file) && !(file.st_mode & 077))
		return 0;
	secret_free(*text, *size);
	return err_set(err, KYMO_EXIT_INPUT,
		       "%s: others than its owner can read this secret; chmod 600 it", path);
}

void secret_free(char *text, size_t size)
{
	explicit_bzero(text, size);
	free(text);
}
