/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of expectations: lines of values with commas between them, as caret_report has its
 *     callback_list.csv   NODE,timer_callback,PERIOD_NS,HZ    NODE,subscription_callback,TOPIC,HZ
 *     topic list          TOPIC,HZ
 * and, for response times,
 *                         PATH,response_time,CASE,MS
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/sections/expect_internal.h"

#define FIELDS_MAX 4u

static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t\r\n");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r\n", end[-1]))
		*--end = 0;
	return text;
}

/* Return: how many there are, FIELDS_MAX + 1 when these are too many. */
static unsigned split(char *line, char *field[FIELDS_MAX])
{
	unsigned count = 0;

	for (char *next = line; next; count++) {
		char *begin = strsep(&next, ",");

		if (count == FIELDS_MAX)
			return FIELDS_MAX + 1;
		field[count] = trim(begin);
	}
	return count;
}

/* What is no number is 0, as caret_report has it: nothing is expected. Else finite. */
static double number(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return end == text || *end || !isfinite(value) ? 0 : value;
}

static int read_period(struct expectation *e, const char *text, const char *file, unsigned line,
		       struct kymo_err *err)
{
	char *end;

	errno = 0;
	e->period_ns = strtoll(text, &end, 10);
	if (errno || end == text || *end || e->period_ns <= 0)
		return err_set(err, KYMO_EXIT_INPUT, "%s:%u: '%.100s' is not a timer period in nanoseconds, such as 100000000",
			       file, line, text);
	return 0;
}

static int read_case(struct expectation *e, const char *text, const char *file, unsigned line,
		     struct kymo_err *err)
{
	for (unsigned i = 0; i < CARET_CASES; i++) {
		e->which = (enum caret_case)i;
		if (!strcmp(text, caret_case_name(e->which)))
			return 0;
	}
	return err_set(err, KYMO_EXIT_INPUT, "%s:%u: '%.100s' is not a case of a response time; write all, best, worst or "
		       "worst-with-external-latency", file, line, text);
}

static int read_node(struct expectation *e, const char *file, unsigned line, struct kymo_err *err)
{
	char why[128];
	int error = regcomp(&e->regex, e->name, REG_EXTENDED | REG_NOSUB);

	e->has_regex = !error;
	if (!error)
		return 0;
	(void)regerror(error, &e->regex, why, sizeof(why));
	return err_set(err, KYMO_EXIT_INPUT, "%s:%u: '%.100s' is not a regular expression for a node: %s", file, line, e->name, why);
}

static int no_memory(struct kymo_err *err)
{
	return err_no_memory(err);
}

static struct expectation *add(struct expectations *all)
{
	struct expectation *e;

	if (!ARRAY_ROOM(all->item, all->count, all->room))
		return NULL;
	e = &all->item[all->count++];
	*e = (struct expectation){ .kind = EXPECT_TOPIC };
	return e;
}

static int take(struct expectations *all, const char *text, char *const *field, unsigned fields,
		const char *file, unsigned line, struct kymo_err *err)
{
	struct expectation *e = add(all);

	if (!e)
		return no_memory(err);
	e->line = line;
	e->text = strdup(text);
	if (!e->text)
		return no_memory(err);
	e->name = strdup(field[0]);
	e->value = number(field[fields - 1]);
	if (!e->name)
		return no_memory(err);
	if (fields == 2)
		return 0;
	if (!strcmp(field[1], "response_time")) {
		e->kind = EXPECT_PATH;
		return read_case(e, field[2], file, line, err);
	}
	if (!strcmp(field[1], "timer_callback")) {
		e->kind = EXPECT_TIMER;
		if (read_period(e, field[2], file, line, err))
			return -1;
		return read_node(e, file, line, err);
	}
	if (strcmp(field[1], "subscription_callback") != 0)
		return err_set(err, KYMO_EXIT_INPUT, "%s:%u: '%.100s' is not one of timer_callback, subscription_callback and "
			       "response_time", file, line, field[1]);
	e->kind = EXPECT_SUBSCRIPTION;
	e->topic = strdup(field[2]);
	return e->topic ? read_node(e, file, line, err) : no_memory(err);
}

int expectations_read(struct expectations **expectations, const char *file, struct kymo_err *err)
{
	char *field[FIELDS_MAX], *text = NULL, whole[512];
	FILE *in = fopen(file, "re");
	size_t room = 0;
	unsigned fields;
	int status = 0;

	if (!in)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read expectations from '%s': %s", file, strerror(errno));
	if (!*expectations)
		*expectations = calloc(1, sizeof(**expectations));
	if (!*expectations)
		status = no_memory(err);
	for (unsigned line = 1; !status && getline(&text, &room, in) > 0; line++) {
		(void)snprintf(whole, sizeof(whole), "%s", text);
		fields = split(text, field);
		if (!*field[0] || *field[0] == '#' || !strcmp(field[0], "node_name") || !strcmp(field[0], "topic_name"))
			continue;
		if (fields != 2 && fields != 4)
			status = err_set(err, KYMO_EXIT_INPUT, "%s:%u: not a valid line; write NODE,timer_callback,PERIOD_NS,HZ, or "
					 "NODE,subscription_callback,TOPIC,HZ, or TOPIC,HZ, or PATH,response_time,CASE,MS",
					 file, line);
		else
			status = take(*expectations, trim(whole), field, fields, file, line, err);
	}
	if (!status && ferror(in))
		status = err_set(err, KYMO_EXIT_INPUT, "cannot read expectations from '%s': %s", file, strerror(errno));
	free(text);
	(void)fclose(in);
	return status ? -1 : 0;
}

void expectations_free(struct expectations *expectations)
{
	if (!expectations)
		return;
	for (unsigned i = 0; i < expectations->count; i++) {
		struct expectation *e = &expectations->item[i];

		if (e->has_regex)
			regfree(&e->regex);
		free(e->name);
		free(e->topic);
		free(e->text);
	}
	free(expectations->item);
	free(expectations->verdict);
	free(expectations);
}

unsigned expectations_broken(const struct expectations *expectations)
{
	return expectations ? expectations->broken : 0;
}

unsigned expectations_line(const struct expectations *expectations, unsigned at, const char **text)
{
	if (at >= expectations->count)
		return 0;
	*text = expectations->item[at].value > 0 ? expectations->item[at].text : NULL;
	return expectations->item[at].line;
}

const struct expect_verdict *expectations_verdict(const struct expectations *expectations,
						  unsigned at)
{
	return at < expectations->verdicts ? &expectations->verdict[at] : NULL;
}
