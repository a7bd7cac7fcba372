/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who listens to a model after its reader was bound: what needs no other events may, what needs
 * events without values may not, and the error says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "analysis/chains/chains.h"
#include "analysis/model/model.h"

static const char metadata[] = "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n"
			       "stream { };\n";
static char directory[32], path[64];
static struct kymo_ctf_reader *reader;
static struct model *model;

static int setup(void **state)
{
	FILE *file;

	(void)state;
	assert_int_equal(model_create(&model, NULL), 0);
	snprintf(directory, sizeof(directory), "/dev/shm/kymo-late.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/metadata", directory);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(metadata, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(kymo_ctf_open(directory, &reader, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	model_destroy(model);
	kymo_ctf_close(reader);
	(void)unlink(path);
	return rmdir(directory);
}

static void on_instance(void *context, const struct model_instance *instance)
{
	(void)context;
	(void)instance;
}

static void on_call(void *context, const struct model_call *call)
{
	(void)context;
	(void)call;
}

static void on_goal(void *context, const struct model_goal *goal)
{
	(void)context;
	(void)goal;
}

static const struct model_listener runs = { .instance = on_instance }, calls = { .call = on_call },
				   goals = { .goal = on_goal };

static void late(void **state)
{
	struct chains_options options = { .calls = true };
	struct chains *chains;
	struct kymo_err err = { 0 };

	(void)state;
	assert_int_equal(model_listen(model, &calls, NULL, NULL), 0);
	assert_int_equal(model_attach(model, reader, NULL), 0);
	assert_int_equal(model_listen(model, &runs, NULL, NULL), 0);
	assert_int_equal(model_listen(model, &calls, NULL, NULL), 0);
	assert_int_equal(model_listeners(model), 3);
	assert_int_not_equal(model_listen(model, &goals, NULL, &err), 0);
	assert_non_null(strstr(err.text, "too late"));
	assert_int_equal(model_listeners(model), 3);
	/* An analysis passes the error on. */
	err = (struct kymo_err){ 0 };
	assert_int_not_equal(chains_create(&chains, model, &options, &err), 0);
	assert_non_null(strstr(err.text, "too late"));
	/* They are bound with the rest, and the reader with them. */
	model_want_all(model);
	assert_int_equal(model_attach(model, reader, NULL), 0);
	assert_int_equal(model_listen(model, &goals, NULL, NULL), 0);
}

static void too_many(void **state)
{
	struct kymo_err err = { 0 };

	(void)state;
	for (unsigned i = 0; i < MODEL_LISTENERS_MAX; i++)
		assert_int_equal(model_listen(model, &runs, NULL, &err), 0);
	assert_int_not_equal(model_listen(model, &runs, NULL, &err), 0);
	assert_non_null(strstr(err.text, "too many"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(late, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
