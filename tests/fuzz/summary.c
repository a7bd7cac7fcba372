/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a summary: the first byte says whether they are the file, its JSON, the exact JSON
 * that commands pass on, or the two lines of a window that waits to be pushed. What is read is
 * written and read again.
 */
#include <string.h>
#include <zstd.h>
#include <zlib.h>

#include "fleet/push/backlog_internal.h"
#include "fuzz_file.h"
#include "summary/summary_file.h"

static struct backlog spool;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	(void)snprintf(spool.directory, sizeof(spool.directory), "%s", fuzz_folder_make());
	return 0;
}

static void write_again(struct summary *summary)
{
	struct summary *again;
	size_t size;
	char *text = summary_put_exact(summary, &size);

	again = text ? summary_get_exact(text) : NULL;
	if (!again)
		abort();
	summary_free(again);
	free(text);
}

static void read_file(const void *data, size_t size)
{
	struct fuzz_file file = fuzz_file_open(data, size);
	struct summary *summary = NULL;
	struct kymo_err err = { 0 };

	(void)summary_is_file(file.path);
	if (!summary_read(&summary, file.path, &err)) {
		write_again(summary);
		summary_free(summary);
	} else if (!err.text[0]) {
		abort();
	}
	fuzz_file_close(&file);
}

static void read_exact(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct summary *summary;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	summary = summary_get_exact(text);
	if (summary)
		write_again(summary);
	summary_free(summary);
	free(text);
}

static void read_window(const uint8_t *data, size_t size)
{
	static const struct backlog_item item = { .begin_ns = 1, .length_ns = 1, .windows = 1 };
	const size_t room = ZSTD_compressBound(size);
	void *packed = malloc(room);
	struct backlog_window window;
	char path[PATH_MAX];
	FILE *out = fopen(backlog_path(&spool, &item, path), "we");
	size_t length;

	if (!packed || !out)
		abort();
	length = ZSTD_compress(packed, room, data, size, 1);
	(void)fwrite(packed, 1, length, out);
	(void)fclose(out);
	free(packed);
	if (!backlog_read(&spool, &item, &window)) {
		if (!window.of.robot || !window.of.boot || !window.of.software || !window.of.labels)
			abort();
		write_again(window.summary);
	}
	backlog_unload(&window);
	(void)unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (*data % 3) {
	case 0:
		read_file(data + 1, size - 1);
		break;
	case 1:
		read_exact(data + 1, size - 1);
		break;
	default:
		read_window(data + 1, size - 1);
	}
	return 0;
}
