/* SPDX-License-Identifier: Apache-2.0 */
/* The language of triggers. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "recorder/trigger/trigger.h"

/* Whether a name, and a duration, follow each word. */
enum part { NEVER, MAY, MUST };

static const struct word {
	const char *text;
	enum part name, duration;
} words[TRIGGER_KINDS] = {
	[TRIGGER_SPAN] = { "span", MUST, MUST },
	[TRIGGER_CALLBACK] = { "callback", MAY, MUST },
	[TRIGGER_EVENT] = { "event", MUST, NEVER },
	[TRIGGER_OVERRUN] = { "overrun", MAY, NEVER },
	[TRIGGER_MISSED] = { "missed", MAY, NEVER },
	[TRIGGER_DIED] = { "died", MAY, NEVER },
	[TRIGGER_LOSS] = { "loss", NEVER, NEVER },
};

#define GRAMMAR "a trigger is one of: span(NAME) > 1ms; callback > 10ms; callback(NAME) > 10ms; event(NAME); " \
	"overrun; overrun(LOOP); missed; missed(LOOP); died; died(PROCESS); loss"

struct parser {
	const char *text, *at;
	struct kymo_err *err;
};

/* Return: -1 with place, cause and grammar. */
static int refuse(const struct parser *parser, const char *why)
{
	if (*parser->at)
		return err_set(parser->err, KYMO_EXIT_USAGE, "trigger '%s': at character %u, '%s': %s; " GRAMMAR,
			       parser->text, (unsigned)(parser->at - parser->text) + 1, parser->at, why);
	return err_set(parser->err, KYMO_EXIT_USAGE, "trigger '%s': at its end: %s; " GRAMMAR, parser->text, why);
}

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

static const struct word *read_word(struct parser *parser)
{
	size_t length = 0;

	skip_blanks(parser);
	while (isalpha((unsigned char)parser->at[length]))
		length++;
	for (unsigned i = 0; i < TRIGGER_KINDS; i++)
		if (strlen(words[i].text) == length && memcmp(words[i].text, parser->at, length) == 0) {
			parser->at += length;
			return &words[i];
		}
	return NULL;
}

/* Up to the closing parenthesis; C++ symbols contain parentheses of their own. */
static size_t bare_length(const char *at)
{
	size_t length = 0;
	unsigned depth = 0;

	for (; at[length]; length++) {
		if (at[length] == ')' && !depth--)
			break;
		depth += at[length] == '(';
	}
	while (length && isspace((unsigned char)at[length - 1]))
		length--;
	return length;
}

static int read_name(struct parser *parser, struct trigger *trigger)
{
	bool quoted;
	size_t length;

	parser->at++;
	skip_blanks(parser);
	quoted = *parser->at == '"';
	parser->at += quoted;
	length = quoted ? strcspn(parser->at, "\"") : bare_length(parser->at);
	if (!length)
		return refuse(parser, "a name is missing");
	memcpy(trigger->name, parser->at, length);	/* shorter than the text */
	trigger->name[length] = 0;
	parser->at += length;
	if (quoted && *parser->at != '"')
		return refuse(parser, "the quote is not closed");
	parser->at += quoted;
	skip_blanks(parser);
	if (*parser->at != ')')
		return refuse(parser, "')' is missing");
	parser->at++;
	return 0;
}

static int read_duration(struct parser *parser, struct trigger *trigger)
{
	char text[64];
	size_t length;
	int64_t ns;

	if (*parser->at != '>')
		return refuse(parser, "'>' and a duration are missing");
	parser->at++;
	skip_blanks(parser);
	length = strlen(parser->at);
	while (length && isspace((unsigned char)parser->at[length - 1]))
		length--;
	(void)snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : 0), parser->at);
	/* A number without a unit would mean seconds; here it is more likely a mistake. */
	if (!length || !isalpha((unsigned char)parser->at[length - 1]) || !text_read_time(text, &ns) || ns < 0)
		return refuse(parser, "a duration with its unit (500us, 1.5ms, 2s) is missing");
	trigger->over_ns = (uint64_t)ns;
	parser->at += length;
	return 0;
}

static int parse(struct parser *parser, struct trigger *trigger)
{
	const struct word *word = read_word(parser);

	if (!word)
		return refuse(parser, "not a trigger");
	trigger->kind = (enum trigger_kind)(word - words);
	skip_blanks(parser);
	trigger->any = *parser->at != '(';
	if (trigger->any && word->name == MUST)
		return refuse(parser, "'(' and a name are missing");
	if (!trigger->any && word->name != NEVER && read_name(parser, trigger) < 0)
		return -1;
	skip_blanks(parser);
	if (word->duration == MUST && read_duration(parser, trigger) < 0)
		return -1;
	skip_blanks(parser);
	return *parser->at ? refuse(parser, "nothing may follow here") : 0;
}

int triggers_add(struct triggers *triggers, const char *text, struct kymo_err *err)
{
	struct parser parser = { .text = text, .at = text, .err = err };
	struct trigger trigger = { 0 };

	if (triggers->count == TRIGGERS_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "more than %d triggers; name several things in one with '*'",
			       TRIGGERS_MAX);
	if (strlen(text) >= sizeof trigger.text)
		return err_set(err, KYMO_EXIT_USAGE, "trigger '%.60s...' is longer than %zu bytes", text,
			       sizeof trigger.text - 1);
	if (parse(&parser, &trigger) < 0)
		return -1;
	memcpy(trigger.text, text, strlen(text) + 1);
	triggers->item[triggers->count++] = trigger;
	return 0;
}

bool trigger_name_fits(const struct trigger *trigger, const char *text)
{
	return trigger->any || fnmatch(trigger->name, text, 0) == 0;
}
