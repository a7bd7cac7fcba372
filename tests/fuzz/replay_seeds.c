/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzzer without libFuzzer: each file of the named directories once, whole and cut at some places. So what a fuzzer found once is
 * tried with every build, and under every sanitizer.
 */
#include <dirent.h>
#include <string.h>

#include "base/file.h"
#include "fuzz_file.h"

#define INPUT_MAX ((size_t)1 << 20)

#pragma weak LLVMFuzzerInitialize

/* Return: inputs that were tried; -1: it cannot be read. */
static int try_file(const char *path)
{
	char *text;
	size_t size;
	struct kymo_err err;

	if (file_load(path, INPUT_MAX, &text, &size, &err)) {
		(void)fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	for (size_t part = 0; part <= 4; part++)
		(void)LLVMFuzzerTestOneInput((const uint8_t *)text, size * part / 4);
	free(text);
	return 5;
}

static int try_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	int tried = 0, some = 0;

	if (!dir)
		return -1;
	while (some >= 0 && (entry = readdir(dir))) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		some = entry->d_name[0] == '.' ? 0 : try_file(path);
		tried += some;
	}
	(void)closedir(dir);
	return some < 0 ? -1 : tried;
}

int main(int argc, char **argv)
{
	int tried = 0;

	if (&LLVMFuzzerInitialize && LLVMFuzzerInitialize(&argc, &argv))
		return 1;
	for (int i = 1; i < argc; i++) {
		const int some = try_folder(argv[i]);

		if (some < 0)
			return 1;
		tried += some;
	}
	(void)printf("%d inputs\n", tried);
	return tried ? 0 : 1;
}
