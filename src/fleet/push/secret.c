/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/push/secret.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"

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

int secret_may_go(const char *url, const char *what, const char *key, bool allowed,
		  struct kymo_err *err)
{
	const char *scheme = !strncmp(url, "s3+", 3) ? url + 3 : url;
	const bool tls = !strncasecmp(scheme, "https://", 8);
	char host[256];

	if (tls || allowed || host_is_loopback(host_of_url(url, host, sizeof(host))))
		return 0;
	return err_set(err, KYMO_EXIT_INPUT,
		       "%s would be sent to %s unencrypted; write the address with https://, or accept that with "
		       "%s: yes in kymo.yaml",
		       what, host, key);
}

void secret_free(char *text, size_t size)
{
	explicit_bzero(text, size);
	free(text);
}
