/* SPDX-License-Identifier: Apache-2.0 */
/* Where one test is: a runtime directory of its own in shared memory, and what the test keeps
 * beside its name. */
#ifndef KYMO_TEST_PLACE_H
#define KYMO_TEST_PLACE_H

#include <stdio.h>
#include <stdlib.h>

#define PLACE_RUN_SIZE	64u

/**
 * place_create() - a zeroed struct of @size bytes, whose first member is char run[PLACE_RUN_SIZE]
 *
 * The member becomes the name of a new directory. Return: NULL if there can be none.
 */
static inline void *place_create(size_t size)
{
	char *run = calloc(1, size);

	if (!run)
		return NULL;
	(void)snprintf(run, PLACE_RUN_SIZE, "/dev/shm/kymo-test-XXXXXX");
	if (mkdtemp(run))
		return run;
	free(run);
	return NULL;
}

/** place_destroy() - remove the directory with all that is in it, and free the struct. Return: 0,
 * or the status of rm. */
static inline int place_destroy(void *place)
{
	char command[PLACE_RUN_SIZE + sizeof "rm -rf ''"];
	int rc;

	(void)snprintf(command, sizeof command, "rm -rf '%s'", (const char *)place);
	rc = system(command);
	free(place);
	return rc;
}

#endif
