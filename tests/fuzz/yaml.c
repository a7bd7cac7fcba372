/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file in YAML: the first byte says whether it has budgets, a configuration,
 * behaviours or an architecture. */
#include "analysis/behaviour/behaviour.h"
#include "caret/paths/architecture.h"
#include "check/budget.h"
#include "config/config.h"
#include "fuzz_file.h"

static void take(void *context, const char *key, const char *value, unsigned line,
		 const char *meaning)
{
	(void)context, (void)line;
	if (!key || !value || !meaning)
		abort();
}

static int read_config(const char *path, struct kymo_err *err)
{
	struct config *config = NULL;
	const int rc = config_read(&config, path, err);

	if (!rc) {
		config_each(config, take, NULL);
		config_free(config);
	}
	return rc;
}

static int read_behaviours(const char *path, struct kymo_err *err)
{
	struct behaviours *behaviours = NULL;
	const int rc = behaviours_read(&behaviours, path, err);

	for (unsigned i = 0; !rc && behaviours_what(behaviours, i); i++)
		if (!behaviours_what(behaviours, i)->name)
			abort();
	if (!rc)
		behaviours_free(behaviours);
	return rc;
}

static int read_architecture(const char *path, struct kymo_err *err)
{
	struct architecture *architecture = NULL;
	FILE *out;
	int rc = architecture_read(&architecture, path, err);

	if (rc)
		return rc;
	out = fopen("/dev/null", "we");
	if (!out)
		abort();
	rc = architecture_write(architecture, out, err);
	(void)fclose(out);
	architecture_free(architecture);
	return rc;
}

static int read_budgets(const char *path, struct kymo_err *err)
{
	struct budgets budgets;
	const int rc = budgets_read(&budgets, path, err);

	if (!rc)
		(void)budgets_need_base(&budgets, false, err);
	budgets_free(&budgets);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int (*const read[])(const char *path,
				   struct kymo_err *err) = { read_budgets, read_config,
							     read_behaviours, read_architecture };
	struct kymo_err err = { 0 };
	struct fuzz_file file;

	if (!size)
		return 0;
	file = fuzz_file_open(data + 1, size - 1);
	if (read[*data % 4](file.path, &err) && !err.text[0])
		abort();	/* refused without a word */
	fuzz_file_close(&file);
	return 0;
}
