/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ground that all files of the reader stand on: warnings, and what the reader knows of classes,
 * traces and streams without reading an event. It calls none of them but the scan of a stream that
 * nobody read yet.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
