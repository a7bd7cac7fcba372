/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzzer without libFuzzer: each file of the named directories once, whole and cut at some
 * places. So what a fuzzer found once is tried with every build, and under every sanitizer.
 *
 * usage: seeds_WHAT [--sweep N] DIRECTORY...
 *
 * With --sweep, each file is also cut, has one byte changed, has one byte less and has one byte
 * more, at N offsets all over it; 0: at each offset.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "fuzz_file.h"

#define INPUT_MAX ((size_t)1 << 20)

#pragma weak LLVMFuzzerInitialize

static size_t sweep_most;
static bool sweeps;

/* In memory of just that size, so that the address sanitizer finds what reads behind a cut. */
static void try_one(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, bytes, size);
	(void)LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

/* @room: as large as @text and one byte more. Return: inputs that were tried. */
static int try_at(const uint8_t *text, size_t size, size_t at, uint8_t *room)
{
	static const uint8_t mask[] = { 0x01, 0x80, 0xff };

	try_one(text, at);
	for (size_t i = 0; i < sizeof(mask); i++) {
		memcpy(room, text, size);
		room[at] ^= mask[i];
		try_one(room, size);
	}
	memcpy(room, text, at);
	memcpy(room + at, text + at + 1, size - at - 1);
	try_one(room, size - 1);
	room[at] = 0xff;
	memcpy(room + at + 1, text + at, size - at);
	try_one(room, size + 1);
	return 3 + (int)sizeof(mask);
}

static int sweep(const uint8_t *text, size_t size)
{
	const size_t count = !sweep_most || sweep_most > size ? size : sweep_most;
	uint8_t *room = malloc(size + 1);
	int tried = 0;

	for (size_t i = 0; room && i < count; i++)
		tried += try_at(text, size, i * size / count, room);
	free(room);
	return tried;
}

/* Return: inputs that were tried; -1: it cannot be read. */
static int try_file(const char *path)
{
	char *text;
	size_t size;
	int tried = 5;
	struct kymo_err err;

	if (file_load(path, INPUT_MAX, &text, &size, &err)) {
		(void)fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	for (size_t part = 0; part <= 4; part++)
		try_one((const uint8_t *)text, size * part / 4);
	if (sweeps)
		tried += sweep((const uint8_t *)text, size);
	free(text);
	return tried;
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
	int tried = 0, first = 1;

	if (&LLVMFuzzerInitialize && LLVMFuzzerInitialize(&argc, &argv))
		return 1;
	if (argc > 2 && !strcmp(argv[1], "--sweep")) {
		sweeps = true;
		sweep_most = strtoul(argv[2], NULL, 10);
		first = 3;
	}
	for (int i = first; i < argc; i++) {
		const int some = try_folder(argv[i]);

		if (some < 0)
			return 1;
		tried += some;
	}
	(void)printf("%d inputs\n", tried);
	return tried ? 0 : 1;
}
