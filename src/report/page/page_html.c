/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a page: a head that can be read before any script runs, plain tables for browsers
 * without scripts, the data, the scripts. Nothing in it refers to anything outside of it.
 *
 * Names come from traces of anybody: in markup they are written by put_escaped() alone; the data
 * are base64.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "base/text.h"
#include "report/page/page_internal.h"
#include "summary/findings.h"

#define PLAIN_ROWS 200u /* of a table without scripts */

/* ---- text ---- */

static void put_escaped(FILE *out, const char *text)
{
	static const struct {
		char c;
		const char *entity;
	} entities[] = { { '&', "&amp;" },
			 { '<', "&lt;" },
			 { '>', "&gt;" },
			 { '"', "&quot;" },
			 { '\'', "&#39;" } };
	char *clean = malloc(4 * strlen(text) + 1);
	unsigned k;

	if (!clean)
		return;
	text_clean(clean, 4 * strlen(text) + 1, text);
	for (const char *c = clean; *c; c++) {
		for (k = 0; k < COUNT_OF(entities) && entities[k].c != *c; k++)
			;
		if (k < COUNT_OF(entities))
			fputs(entities[k].entity, out);
		else
			fputc(*c, out);
	}
	free(clean);
}

static void put_element(FILE *out, const char *before, const char *text, const char *after)
{
	fputs(before, out);
	put_escaped(out, text);
	fputs(after, out);
}

/* The last part of a path. */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* ---- what is read before any script runs ---- */

static void put_findings(FILE *out, const struct page *page)
{
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	const unsigned count = summary_findings(page->summary, finding, SUMMARY_FINDINGS_MAX);
	char text[2400];

	fputs("<ol class=plain>\n", out);
	for (unsigned i = 0; i < count && i < 10; i++)
		put_element(out, "<li>",
			    summary_finding_text(page->summary, &finding[i], text, sizeof(text)),
			    "</li>\n");
	fputs("</ol>\n", out);
	if (!count)
		fputs("<p>Nothing stands out.</p>\n", out);
}

static void put_lead(FILE *out, const struct page *page)
{
	const struct summary *summary = page->summary;
	char text[512], time[TEXT_QUANTITY_MAX];

	put_element(out, "<header class=bar><h1>", name_of(page->report->path), "</h1><p>");
	fprintf(out, "%s",
		text_ns(time, summary->end_ns > summary->begin_ns
				      ? summary->end_ns - summary->begin_ns
				      : 0));
	fprintf(out, " · %s events", summary_number(text, summary->events));
	fputs(*first_incomplete(summary, text, sizeof(text))
		      ? "</p></header>\n<main>\n"
		      : " · none lost</p></header>\n<main>\n",
	      out);
	if (*text) {
		put_element(out, "<div class=banner role=alert><strong>", text, "</strong> ");
		put_element(out, "", first_doubt(summary, &page->first, text, sizeof(text)),
			    "</div>\n");
	}
	put_findings(out, page);
}

static void put_cell(FILE *out, const struct histogram *h, uint64_t value)
{
	char time[TEXT_QUANTITY_MAX];

	fprintf(out, "<td class=n>%s</td>", h->count ? text_ns(time, (int64_t)value) : "");
}

static void put_plain_table(FILE *out, const struct summary *summary, enum summary_kind kind,
			    const char *title, enum summary_distribution by)
{
	unsigned rows = 0;

	for (unsigned i = 0; i < summary->entities && rows < PLAIN_ROWS; i++) {
		const struct summary_entity *entity = summary->entity[i];
		const struct histogram *h = &entity->histogram[by];

		if (entity->kind != kind || entity->is_startup)
			continue;
		if (!rows++)
			fprintf(out,
				"<table><caption>%s</caption><tr><th>name</th><th>count</th>"
				"<th>usually</th><th>p99</th><th>worst</th></tr>\n",
				title);
		put_element(out, "<tr><td>", entity->label, "</td>");
		fprintf(out, "<td class=n>%" PRIu64 "</td>", h->count);
		put_cell(out, h, histogram_quantile(h, 0.5));
		put_cell(out, h, histogram_quantile(h, 0.99));
		put_cell(out, h, h->max);
		fputs("</tr>\n", out);
	}
	if (rows)
		fputs("</table>\n", out);
}

static void put_plain(FILE *out, const struct summary *summary)
{
	fputs("<noscript>\n<p>This browser runs no scripts: here are plain tables.</p>\n", out);
	put_plain_table(out, summary, SUMMARY_CHAIN, "Chains: latency", SUMMARY_LATENCY);
	put_plain_table(out, summary, SUMMARY_CALLBACK, "Callbacks: duration", SUMMARY_DURATION);
	put_plain_table(out, summary, SUMMARY_TOPIC, "Topics: latency", SUMMARY_LATENCY);
	put_plain_table(out, summary, SUMMARY_TIMER, "Timers: how late they began", SUMMARY_WAIT);
	put_plain_table(out, summary, SUMMARY_LOOP, "Loops: how late they woke", SUMMARY_LATENCY);
	put_plain_table(out, summary, SUMMARY_SPAN, "Spans: duration", SUMMARY_DURATION);
	fputs("</noscript>\n", out);
}

/* ---- the data ---- */

/* Return: gzip's form of the data; NULL without memory. */
static unsigned char *compressed(const struct json_text *json, size_t *size)
{
	z_stream stream = { 0 };
	unsigned char *out;
	size_t room;

	if (json->size > UINT32_MAX ||
	    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	room = deflateBound(&stream, json->size);
	out = malloc(room);
	if (out) {
		stream.next_in = (unsigned char *)json->text;
		stream.avail_in = (unsigned)json->size;
		stream.next_out = out;
		stream.avail_out = (unsigned)room;
		(void)deflate(&stream, Z_FINISH);
		*size = stream.total_out;
	}
	(void)deflateEnd(&stream);
	return out;
}

static void put_base64(FILE *out, const unsigned char *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		const size_t left = size - i;
		const uint32_t three = (uint32_t)bytes[i] << 16 |
				       (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				       (left > 2 ? bytes[i + 2] : 0);

		fputc(digits[three >> 18], out);
		fputc(digits[three >> 12 & 63], out);
		fputc(left > 1 ? digits[three >> 6 & 63] : '=', out);
		fputc(left > 2 ? digits[three & 63] : '=', out);
	}
}

/* ---- the file ---- */

static int put_file(FILE *out, const struct page *page)
{
	size_t size = 0;
	unsigned char *bytes = compressed(&page->json, &size);

	if (!bytes)
		return -1;
	fputs("<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
	      "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; script-src "
	      "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
	      "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=referrer content=no-referrer>\n"
	      "<link rel=icon href=\"data:,\">\n",
	      out);
	put_element(out, "<title>", name_of(page->report->path), " · kymo</title>\n<style>\n");
	fwrite(page_style, 1, page_style_size, out);
	fputs("</style>\n</head>\n<body>\n<div id=page>\n", out);
	put_lead(out, page);
	put_plain(out, page->summary);
	fputs("</main>\n</div>\n<script type=\"application/octet-stream\" id=data>", out);
	put_base64(out, bytes, size);
	fputs("</script>\n<script>\n", out);
	fwrite(page_script, 1, page_script_size, out);
	fputs("</script>\n</body>\n</html>\n", out);
	free(bytes);
	return 0;
}

/* Beside it first, so that there is never half a page of this name. */
static int write_beside(struct page *page, const char *path, const char *beside)
{
	FILE *out = fopen(beside, "we");
	bool failed;

	if (!out)
		return err_set(page->report->err, KYMO_EXIT_FAILED,
			       "cannot write %s: %s; choose another place with -o", path,
			       strerror(errno));
	if (put_file(out, page)) {
		(void)fclose(out);
		(void)unlink(beside);
		return err_no_memory(page->report->err);
	}
	errno = 0;
	failed = ferror(out) != 0;
	failed |= fclose(out) != 0;
	if (!failed && rename(beside, path) == 0)
		return 0;
	(void)err_set(page->report->err, KYMO_EXIT_FAILED, "cannot write %s: %s", path,
		      errno ? strerror(errno) : "the disk may be full");
	(void)unlink(beside);
	return -1;
}

int page_write(struct page *page)
{
	const char *path = page->report->options->page;
	size_t size = strlen(path) + sizeof(".part");
	char *beside;
	int status;

	if (strcmp(path, "-") == 0)
		return put_file(page->report->options->page_stream, page)
			       ? err_no_memory(page->report->err)
			       : 0;
	beside = malloc(size);
	if (!beside)
		return err_no_memory(page->report->err);
	snprintf(beside, size, "%s.part", path);
	status = write_beside(page, path, beside);
	free(beside);
	return status;
}
