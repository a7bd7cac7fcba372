/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page for browsers in one file, that needs no network: a head that can be read before any script
 * runs, the data, the scripts. Nothing in it refers to anything outside of it.
 *
 *   struct page_file page = { .title = "robot", .data = &json, .script = ..., .put_lead = ... };
 *   page_file_write(&page, "robot.html", stdout, &err);
 *
 * Names come from traces of anybody: in markup they are written by page_put_escaped() alone; the
 * data are base64. The common scripts (frame.js, core.js, table.js, axis.js) come before those of
 * the page.
 *
 * Context of all functions: not thread-safe; they allocate, and block as the file does.
 */
#ifndef KYMO_PAGE_PAGE_FILE_H
#define KYMO_PAGE_PAGE_FILE_H

#include <stdio.h>

#include "base/err.h"
#include "base/json_text.h"

struct page_file {
	const char *title;
	const struct json_text *data;
	const unsigned char *script; /* behind the common ones */
	unsigned long script_size;
	/* Writes what is read before any script runs, "<header class=bar>" to "</main>". */
	void (*put_lead)(FILE *out, const void *context);
	const void *context;
};

/**
 * page_file_write() - write the file @path; "-": to @stream
 *
 * There is never half a page of this name. Return: 0, or -1 with @err.
 */
int page_file_write(const struct page_file *page, const char *path, FILE *stream,
		    struct kymo_err *err);

/** page_put_escaped() - @text as text in markup; control characters become visible. */
void page_put_escaped(FILE *out, const char *text);

/** page_put_element() - @before and @after are markup, @text between them is text. */
void page_put_element(FILE *out, const char *before, const char *text, const char *after);

#endif
