/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ground that all files of the reader stand on: warnings, and what the reader knows of classes,
 * traces and streams without reading an event. It calls none of them but the scan of a stream that
 * nobody read yet. And how much memory the files may take.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "ctf/read/stream_impl.h"

static void keep_warning(struct kymo_ctf_reader *reader, char *text)
{
	if (text && reader->warning_count == WARNINGS_MAX) {
		free(text);
		text = NULL;
	}
	/* A second pass over a trace finds the same again. */
	for (unsigned i = 0; text && i < reader->warning_count; i++) {
		if (!strcmp(reader->warning[i], text)) {
			free(text);
			text = NULL;
		}
	}
	if (!text)
		return;
	if (reader->warning_count == WARNINGS_MAX - 1) {
		free(text);
		text = strdup("there are more warnings than are kept");
	}
	if (text)
		reader->warning[reader->warning_count++] = text;
}

void reader_warn(struct kymo_ctf_reader *reader, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	pthread_mutex_lock(&reader->warning_lock);
	keep_warning(reader, text);
	pthread_mutex_unlock(&reader->warning_lock);
}

unsigned kymo_ctf_class_count(const struct kymo_ctf_reader *r)
{
	return r->class_count;
}

const struct kymo_ctf_event_class *kymo_ctf_class(const struct kymo_ctf_reader *r, unsigned index)
{
	return index < r->class_count ? &r->class[index]->pub : NULL;
}

unsigned kymo_ctf_trace_count(const struct kymo_ctf_reader *r)
{
	return r->trace_count;
}

const struct kymo_ctf_trace_info *kymo_ctf_trace(const struct kymo_ctf_reader *r, unsigned index)
{
	return index < r->trace_count ? &r->trace[index]->info : NULL;
}

unsigned kymo_ctf_stream_count(const struct kymo_ctf_reader *r)
{
	return r->stream_count;
}

const struct kymo_ctf_stream_info *kymo_ctf_stream(const struct kymo_ctf_reader *r, unsigned index)
{
	if (index >= r->stream_count)
		return NULL;
	if (!r->stream[index]->scanned)
		stream_scan(r->stream[index]);
	return &r->stream[index]->info;
}

unsigned kymo_ctf_warning_count(const struct kymo_ctf_reader *r)
{
	return r->warning_count;
}

const char *kymo_ctf_warning(const struct kymo_ctf_reader *r, unsigned index)
{
	return index < r->warning_count ? r->warning[index] : NULL;
}

/* ---- memory ---- */

/*
 * How much memory the files of traces may take. A file that is known takes about 2 kB until the
 * reader is closed, and the metadata of a trace about eight times its size, so a directory with
 * very many of them could take all memory of the machine: the reader refuses it instead, before it
 * opens the files. The windows of streams that are being read share what is left: window.c.
 */
#define VARIABLE "KYMO_READ_MEMORY"
#define FILE_BYTES 2048u /* measured: 1.6 kB with 10,000 and with 100,000 files; and a window */
#define TRACE_BYTES 2048u
#define METADATA_TIMES 8u /* measured: 130 kB for 16 kB, 9 kB for 1 kB */

int budget_open(struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	const char *given = getenv(VARIABLE);
	const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	reader->held_most =
		pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : UINT64_MAX;
	if (given && *given && !text_read_size(given, &reader->held_most))
		return err_set(err, KYMO_EXIT_USAGE,
			       VARIABLE "='%s' is not a size; write for example " VARIABLE "=4G",
			       given);
	return 0;
}

uint64_t budget_of(uint64_t files, uint64_t metadata)
{
	return files * FILE_BYTES + (metadata ? TRACE_BYTES + METADATA_TIMES * metadata : 0);
}

int budget_check(const struct kymo_ctf_reader *reader, uint64_t bytes, const char *path,
		 struct kymo_err *err)
{
	char needed[TEXT_QUANTITY_MAX], most[TEXT_QUANTITY_MAX];

	if (bytes <= reader->held_most && reader->held <= reader->held_most - bytes)
		return 0;
	return err_set(
		err, KYMO_EXIT_FAILED,
		"%s: too many files: with this directory, reading needs %s of memory, and "
		"at most %s are allowed; name a part of it, such as one recording or one of its "
		"chunks, or allow more (" VARIABLE "=%" PRIu64 "G)",
		path, text_bytes(needed, reader->held + bytes), text_bytes(most, reader->held_most),
		((reader->held + bytes) >> 30) + 1);
}
