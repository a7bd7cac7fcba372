/* SPDX-License-Identifier: Apache-2.0 */
/* See ctf2_form.h. */
#include "ctf/tsdl/ctf2_form.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctf/tsdl/ctf2_write.h"

int ctf2_form(const char *text, size_t head, size_t size, FILE *out)
{
	struct ctf_metadata *metadata;
	struct kymo_err err = { 0 };
	char *copy = malloc(size + 1); /* the parser changes it */
	int rc;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, size);
	copy[size] = 0;
	rc = tsdl_parse(copy, size, "metadata", &metadata, &err);
	if (rc == 0) {
		rc = (head ? ctf2_write_events : ctf2_write)(metadata, out, &err);
		tsdl_free(metadata);
	}
	free(copy);
	return rc == 0 ? 0 : err.status == KYMO_EXIT_INPUT ? -EINVAL : -ENOMEM;
}
