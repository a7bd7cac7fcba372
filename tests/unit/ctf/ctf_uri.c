/* SPDX-License-Identifier: Apache-2.0 */
/* What an event class says about its kind reaches whoever reads the classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "ctf/read/reader.h"

static const char metadata[] =
	"/* CTF 1.8 */\n"
	"trace { major = 1; minor = 8; byte_order = le; };\n"
	"stream { event.header := struct { integer { size = 8; } id; }; };\n"
	"event { name = \"a:plain\"; id = 0; loglevel = 13; };\n"
	"event { name = \"a:work_begin\"; id = 1; loglevel = 13; model.emf.uri = \"kymo:begin\"; };\n"
	"event { name = \"a:odd\"; id = 2; model.emf.uri = 7; };\n";

static void uri_of_a_class(void **state)
{
	char directory[] = "/tmp/kymo-uri-XXXXXX", path[64];
	struct kymo_ctf_reader *reader;
	struct kymo_err err = { 0 };
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/metadata", directory);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(metadata, file) >= 0);
	assert_int_equal(fclose(file), 0);
	if (kymo_ctf_open(directory, &reader, &err))
		fail_msg("%s", err.text);
	assert_int_equal(kymo_ctf_class_count(reader), 3);
	assert_null(kymo_ctf_class(reader, 0)->uri);
	assert_int_equal(kymo_ctf_class(reader, 0)->loglevel, 13);
	assert_string_equal(kymo_ctf_class(reader, 1)->uri, "kymo:begin");
	assert_int_equal(kymo_ctf_class(reader, 1)->loglevel, 13);
	assert_null(kymo_ctf_class(reader, 2)->uri);
	assert_int_equal(kymo_ctf_class(reader, 2)->loglevel, -1);
	kymo_ctf_close(reader);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(uri_of_a_class) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
