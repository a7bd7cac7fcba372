/* SPDX-License-Identifier: Apache-2.0 */
/* Incidents that are uploaded: the quota leaves the one that is held, and a mark is of one place.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "incident/incident.h"

static char directory[] = "/tmp/kymo-incident-XXXXXX";
static char path[3][64];

static int create(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	for (unsigned i = 0; i < COUNT_OF(path); i++) {
		(void)snprintf(path[i], sizeof path[i], "%s/20261124-03124%u", directory, i);
		if (mkdir(path[i], 0700) < 0)
			return -1;
	}
	return 0;
}

static int clean(void **state)
{
	(void)state;
	return incident_remove(directory);
}

static void marks(void **state)
{
	char file[96];
	struct kymo_err err;
	FILE *out;

	(void)state;
	assert_false(incident_is_uploaded(path[2], "s3+https://h/b"));
	assert_int_equal(incident_set_uploaded(path[2], "s3+https://h/b", &err), 0);
	assert_int_equal(incident_set_uploaded(path[2], "file:///my disk", &err), 0);
	assert_true(incident_is_uploaded(path[2], "s3+https://h/b"));
	assert_true(incident_is_uploaded(path[2], "file:///my disk"));
	assert_false(incident_is_uploaded(path[2], "file:///my"));
	(void)snprintf(file, sizeof file, "%s/" INCIDENT_UPLOADED,
		       path[1]); /* a line that is not whole */
	out = fopen(file, "we");
	assert_non_null(out);
	fputs("2026-11-24T03:12:44Z s3+https://h/b", out);
	assert_int_equal(fclose(out), 0);
	assert_false(incident_is_uploaded(path[1], "s3+https://h/b"));
}

static void held(void **state)
{
	const int hold = incident_hold(path[0]);

	(void)state;
	assert_true(hold >= 0);
	assert_int_equal(incident_hold(path[0]), -1);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(incidents_prune(directory, 2, UINT64_MAX), 1);
	assert_int_equal(access(path[0], F_OK), 0);
	assert_int_equal(access(path[1], F_OK), -1);
	incident_let_go(hold);
	assert_int_equal(incidents_prune(directory, 1, UINT64_MAX), 1);
	assert_int_equal(access(path[0], F_OK), -1);
	assert_int_equal(incident_hold(path[0]), -1);
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(marks), cmocka_unit_test(held) };

	return cmocka_run_group_tests(tests, create, clean);
}
