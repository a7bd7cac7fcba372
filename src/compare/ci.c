/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/ci.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define TEXT_MAX 2048

/* ---- verdicts ---- */

static const char *copy(struct ci_suite *suite, const char *text)
{
	char clean[TEXT_MAX];
	const char *kept;

	text_clean(clean, sizeof(clean), text);
	kept = pool_text(&suite->pool, clean, strlen(clean));
	suite->failed |= !kept;
	return kept ? kept : "";
}

void ci_add(struct ci_suite *suite, enum ci_result result, const char *group, const char *name,
	    unsigned line, const char *message, ...)
{
	char text[TEXT_MAX];
	struct ci_case item = { .result = result, .line = line };
	va_list list;

	va_start(list, message);
	(void)vsnprintf(text, sizeof(text), message, list);
	va_end(list);
	item.group = copy(suite, group);
	item.name = copy(suite, name);
	item.message = copy(suite, text);
	if (!ARRAY_ADD(suite->item, suite->count, suite->capacity, item)) {
		suite->failed = true;
		return;
	}
	suite->results[result]++;
}

void ci_free(struct ci_suite *suite)
{
	pool_free(&suite->pool);
	free(suite->item);
}

/* ---- JUnit ---- */

/* Text of an attribute. */
static void put_xml(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

static void put_element(FILE *out, const char *element, const char *message)
{
	fprintf(out, "<%s message=\"", element);
	put_xml(out, message);
	fputs("\"/>", out);
}

void ci_put_junit(const struct ci_suite *suite, FILE *out)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuite name=\"%s\" tests=\"%u\" failures=\"%u\" skipped=\"%u\">\n",
		suite->name, suite->count, suite->results[CI_FAILED], suite->results[CI_SKIPPED]);
	for (unsigned i = 0; i < suite->count; i++) {
		const struct ci_case *item = &suite->item[i];

		fputs("  <testcase classname=\"", out);
		put_xml(out, item->group);
		fputs("\" name=\"", out);
		put_xml(out, item->name);
		fputs("\">", out);
		if (item->result == CI_FAILED)
			put_element(out, "failure", item->message);
		else if (item->result == CI_SKIPPED)
			put_element(out, "skipped", item->message);
		fputs("</testcase>\n", out);
	}
	fputs("</testsuite>\n", out);
}

/* ---- GitHub ---- */

/* A command is one line: what would end it, or one of its properties, is escaped. */
static void put_command(FILE *out, const char *text, bool is_property)
{
	for (; *text; text++) {
		if (strchr("%\r\n", *text) || (is_property && strchr(":,", *text)))
			fprintf(out, "%%%02X", (unsigned char)*text);
		else
			fputc(*text, out);
	}
}

void ci_put_github(const struct ci_suite *suite, FILE *out)
{
	for (unsigned i = 0; i < suite->count; i++) {
		const struct ci_case *item = &suite->item[i];

		if (item->result != CI_FAILED)
			continue;
		fputs("::error ", out);
		if (item->line) {
			fputs("file=", out);
			put_command(out, suite->file, true);
			fprintf(out, ",line=%u,", item->line);
		}
		fputs("title=", out);
		put_command(out, suite->name, true);
		fputs("::", out);
		put_command(out, item->group, false);
		fputc(' ', out);
		put_command(out, item->message, false);
		fputc('\n', out);
	}
}

/* ---- GitLab ---- */

/* The same finding has the same number in each run of the job. FNV-1a. */
static uint64_t fingerprint(const struct ci_suite *suite, const struct ci_case *item)
{
	const char *const texts[] = { suite->name, item->group, item->name };
	uint64_t hash = UINT64_C(14695981039346656037);

	for (unsigned i = 0; i < COUNT_OF(texts); i++)
		for (const char *at = texts[i];; at++) {
			hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
			if (!*at)
				break;
		}
	return hash;
}

void ci_put_gitlab(const struct ci_suite *suite, FILE *out)
{
	bool any = false;

	fputc('[', out);
	for (unsigned i = 0; i < suite->count; i++) {
		const struct ci_case *item = &suite->item[i];
		char text[2 * TEXT_MAX];

		if (item->result != CI_FAILED)
			continue;
		(void)snprintf(text, sizeof(text), "%s %s", item->group, item->message);
		fprintf(out, "%s\n  {\"description\": ", any ? "," : "");
		text_put_json(out, text);
		fputs(", \"check_name\": ", out);
		text_put_json(out, suite->name);
		fprintf(out,
			", \"fingerprint\": \"%016" PRIx64 "\", \"severity\": \"major\", "
			"\"location\": {\"path\": ",
			fingerprint(suite, item));
		text_put_json(out, suite->file);
		fprintf(out, ", \"lines\": {\"begin\": %u}}}", item->line ? item->line : 1);
		any = true;
	}
	fputs(any ? "\n]\n" : "]\n", out);
}

/* ---- files ---- */

static int put_file(const struct ci_suite *suite, const char *path,
		    void (*put)(const struct ci_suite *suite, FILE *out), struct kymo_err *err)
{
	FILE *out = fopen(path, "we");
	bool failed;

	if (!out)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
	put(suite, out);
	failed = ferror(out);
	failed |= fclose(out) != 0;
	return failed ? err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s", path, strerror(errno))
		      : 0;
}

int ci_write(const struct ci_suite *suite, const char *junit, enum ci_service service,
	     struct kymo_err *err)
{
	if (suite->failed)
		return err_no_memory(err);
	if (junit && put_file(suite, junit, ci_put_junit, err))
		return -1;
	if (service == CI_GITHUB)
		ci_put_github(suite, stdout);
	return service == CI_GITLAB ? put_file(suite, CI_GITLAB_FILE, ci_put_gitlab, err) : 0;
}
