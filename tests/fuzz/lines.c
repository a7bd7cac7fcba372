/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a file of lines: rules of a filter, expectations, or names of real-time code; or as
 * the lists of CARET's environment. The first byte says which.
 */
#include <string.h>

#include "caret/filter/caret_filter.h"
#include "fuzz_file.h"
#include "recorder/filter/filter_rules.h"
#include "report/sections/expect.h"
#include "report/sections/realtime_names.h"

static int read_rules(const char *path, struct kymo_err *err)
{
	struct filter_rules rules = { 0 }, copy = { 0 }, again = { 0 };
	int rc = filter_rules_file(&rules, path, err);

	if (!rc) {
		char *text = filter_rules_join(&rules);

		for (int kind = 0; kind < 3; kind++)
			(void)filter_rules_want(&rules, (enum filter_kind)kind, "/name", "name");
		if (!filter_rules_copy(&copy, &rules) || !text ||
		    filter_rules_text(&again, text, err))
			abort();
		free(text);
	}
	filter_rules_free(&rules);
	filter_rules_free(&copy);
	filter_rules_free(&again);
	return rc;
}

static int read_expectations(const char *path, struct kymo_err *err)
{
	struct expectations *all = NULL;
	const int rc = expectations_read(&all, path, err);

	expectations_free(all);
	return rc;
}

static int read_names(const char *path, struct kymo_err *err)
{
	struct realtime_names names = { 0 };
	const int rc = realtime_names_file(&names, path, err);

	realtime_names_free(&names);
	return rc;
}

static void quiet(void *context, const char *text)
{
	(void)context, (void)text;
}

/* Its lists are lines. */
static void read_caret(const uint8_t *data, size_t size)
{
	const char *value[CARET_LISTS] = { NULL };
	char *text = malloc(size + 1), *rest = text, *line;
	struct filter_caret *caret;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	for (int i = 0; i < CARET_LISTS && (line = strsep(&rest, "\n")); i++)
		value[i] = line;
	caret = filter_caret_create(&filter_regex_pcre2, value, quiet, NULL);
	if (caret) {
		(void)filter_caret_node(caret, "/a_node");
		(void)filter_caret_topic(caret, "/a_topic");
		(void)filter_caret_wants_process(caret, "a_program");
	}
	filter_caret_free(caret);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int (*const read[])(const char *path, struct kymo_err *err) = { read_rules,
									       read_expectations,
									       read_names };
	struct kymo_err err = { 0 };
	struct fuzz_file file;

	if (!size)
		return 0;
	if (*data % 4 == 3) {
		read_caret(data + 1, size - 1);
		return 0;
	}
	file = fuzz_file_open(data + 1, size - 1);
	if (read[*data % 4](file.path, &err) && !err.text[0])
		abort();	/* refused without a word */
	fuzz_file_close(&file);
	return 0;
}
