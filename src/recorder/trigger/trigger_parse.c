/* SPDX-License-Identifier: Apache-2.0 */
/* The language of triggers. */
#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "recorder/trigger/trigger.h"

enum part { NEVER, MAY, MUST };
enum limit { LIMIT_NONE, LIMIT_TIME, LIMIT_RATE, LIMIT_SHARE };

static const struct word {
	const char *text;
	enum trigger_kind kind;
	enum part name;
	enum limit limit;
	struct trigger_word shown;
} words[] = {
#define WORD(word, kind, name, limit, example, meaning) \
	{ word, TRIGGER_##kind, name, LIMIT_##limit, { example, meaning } },
#include "recorder/trigger/trigger_words.def"
#undef WORD
};

const struct trigger_word *trigger_word_at(unsigned at)
{
	for (unsigned i = 0; i < COUNT_OF(words); i++)
		if (words[i].shown.text && !at--)
			return &words[i].shown;
	return NULL;
}

#define REMEDY "\"kymo record --trigger help\" lists all triggers"

struct parser {
	const char *text, *at;
	struct kymo_err *err;
};

/* Return: -1 with place, cause and remedy. */
static int refuse(const struct parser *parser, const char *why)
{
	if (*parser->at)
		return err_set(parser->err, KYMO_EXIT_USAGE,
			       "trigger '%s': at character %u, '%s': %s; " REMEDY, parser->text,
			       (unsigned)(parser->at - parser->text) + 1, parser->at, why);
	return err_set(parser->err, KYMO_EXIT_USAGE, "trigger '%s': at its end: %s; " REMEDY, parser->text, why);
}

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

static size_t word_length(const char *at)
{
	size_t length = 0;

	while (isalpha((unsigned char)at[length]))
		length++;
	return length;
}

/* Whether @word comes next, alone; then it is read. */
static bool read_this(struct parser *parser, const char *word)
{
	skip_blanks(parser);
	if (word_length(parser->at) != strlen(word) || strncmp(parser->at, word, strlen(word)) != 0)
		return false;
	parser->at += strlen(word);
	skip_blanks(parser);
	return true;
}

static int refuse_word(const struct parser *parser)
{
	struct text_nearest nearest = { 0 };
	char typed[32], why[96];

	(void)snprintf(typed, sizeof typed, "%.*s", (int)word_length(parser->at), parser->at);
	for (unsigned i = 0; *typed && i < COUNT_OF(words); i++)
		text_nearest_try(&nearest, typed, words[i].text);
	if (!nearest.name)
		return refuse(parser, "not a trigger");
	(void)snprintf(why, sizeof why, "not a trigger; did you mean '%s'?", nearest.name);
	return refuse(parser, why);
}

static const struct word *read_word(struct parser *parser)
{
	for (unsigned i = 0; i < COUNT_OF(words); i++)
		if (read_this(parser, words[i].text))
			return &words[i];
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

/* "/scan -> /cmd_vel": the steps behind each other, each with its NUL. */
static int split_steps(struct parser *parser, struct trigger *trigger)
{
	char text[TRIGGER_TEXT_MAX], *at = text, *out = trigger->name;

	memcpy(text, trigger->name, sizeof text);
	for (char *next = text; next; at = next) {
		size_t length;

		next = strstr(at, "->");
		if (next) {
			*next = 0;
			next += 2;
		}
		at += strspn(at, " \t");
		length = strlen(at);
		while (length && isspace((unsigned char)at[length - 1]))
			length--;
		if (!length || trigger->steps == TRIGGER_STEPS_MAX)
			return refuse(parser, length ? "a chain has at most 8 steps" : "a step of the chain is empty");
		memmove(out, at, length);
		out[length] = 0;
		out += length + 1;
		trigger->steps++;
	}
	return trigger->steps > 1 ? 0 : refuse(parser, "a chain needs two steps or more: chain(/scan -> /cmd_vel)");
}

/* A number and its unit, with or without blanks between them: "10 ms", "80%", "180". */
static bool read_quantity(struct parser *parser, char text[64])
{
	size_t digits = strspn(parser->at, "0123456789.+-eE"), gap, unit;

	while (digits && isalpha((unsigned char)parser->at[digits - 1]))
		digits--;
	gap = strspn(parser->at + digits, " \t");
	unit = parser->at[digits + gap] == '%' ? 1 : word_length(parser->at + digits + gap);
	if (unit > 8 || digits + unit >= 64 || strncmp(parser->at + digits + gap, "for", 3) == 0 ||
	    strncmp(parser->at + digits + gap, "and", 3) == 0)
		unit = 0;
	if (!digits || digits + unit >= 64)
		return false;
	(void)snprintf(text, 64, "%.*s%.*s", (int)digits, parser->at, (int)unit, parser->at + digits + gap);
	parser->at += digits + (unit ? gap + unit : 0);
	return true;
}

static bool read_time(const char *text, uint64_t *out)
{
	const size_t length = strlen(text);
	int64_t ns;

	/* A number without a unit would mean seconds; here it is more likely a mistake. */
	if (!length || !isalpha((unsigned char)text[length - 1]) || !text_read_time(text, &ns) ||
	    ns < 0)
		return false;
	*out = (uint64_t)ns;
	return true;
}

static bool read_number(const char *text, const char *unit, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && (!*end || strcmp(end, unit) == 0) && isfinite(*out) && *out > 0;
}

static int read_limit(struct parser *parser, struct trigger *trigger, enum limit kind)
{
	const char *const missing[] = {
		[LIMIT_TIME] = "'>' and a duration are missing",
		[LIMIT_RATE] = "'<' or '>' and a rate are missing",
		[LIMIT_SHARE] = "'>' and a share such as 80% are missing",
	};
	struct parser start;
	char text[64];
	bool read;

	trigger->below = *parser->at == '<';
	if (*parser->at != '>' && !(trigger->below && kind == LIMIT_RATE))
		return refuse(parser, missing[kind]);
	parser->at++;
	if (*parser->at == '=')
		return refuse(parser, "leave out the '='");
	skip_blanks(parser);
	start = *parser;
	read = read_quantity(parser, text);
	if (kind == LIMIT_TIME && (!read || !read_time(text, &trigger->over_ns)))
		return refuse(&start, "a duration with its unit (500us, 1.5ms, 2s) is missing");
	if (kind == LIMIT_RATE && (!read || !read_number(text, "Hz", &trigger->limit)))
		return refuse(&start, "a rate above 0 is missing: write 180 or 0.5 Hz");
	if (kind == LIMIT_SHARE && (!read || !strchr(text, '%') || !read_number(text, "%", &trigger->limit)))
		return refuse(&start, "a share above 0 with its unit is missing: write 80%");
	if (kind == LIMIT_SHARE)
		trigger->limit /= 100;
	return 0;
}

/* "for 3 times in 10s" */
static int read_times(struct parser *parser, struct trigger *trigger)
{
	const char *const form = "write 'for 3 times in 10s', with 2 to 32 times";
	struct parser start = *parser;
	char text[64];
	char *end;
	unsigned long times;

	trigger->times = 1;
	if (!read_this(parser, "for"))
		return 0;
	times = isdigit((unsigned char)*parser->at) ? strtoul(parser->at, &end, 10) : 0;
	if (times < 2 || times > TRIGGER_TIMES_MAX)
		return refuse(&start, form);
	parser->at = end;
	if (!read_this(parser, "times") || !read_this(parser, "in") || !read_quantity(parser, text) ||
	    !read_time(text, &trigger->within_ns) || !trigger->within_ns)
		return refuse(&start, form);
	trigger->times = (unsigned)times;
	return 0;
}

static int parse(struct parser *parser, struct trigger *trigger)
{
	const struct word *word = read_word(parser);

	if (!word)
		return refuse_word(parser);
	trigger->kind = word->kind;
	skip_blanks(parser);
	trigger->any = *parser->at != '(';
	if (trigger->any && word->name == MUST)
		return refuse(parser, "'(' and a name are missing");
	if (!trigger->any && word->name != NEVER && read_name(parser, trigger) < 0)
		return -1;
	if (trigger->kind == TRIGGER_CHAIN && split_steps(parser, trigger) < 0)
		return -1;
	skip_blanks(parser);
	if (word->limit != LIMIT_NONE && read_limit(parser, trigger, word->limit) < 0)
		return -1;
	return read_times(parser, trigger);
}

static int check_room(const struct triggers *triggers, const struct trigger *trigger,
		      struct kymo_err *err)
{
	unsigned chains = trigger->kind == TRIGGER_CHAIN;

	if (triggers->count == TRIGGERS_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "more than %d triggers; name several things in one with '*'",
			       TRIGGERS_MAX);
	for (unsigned i = 0; i < triggers->count; i++)
		chains += triggers->item[i].kind == TRIGGER_CHAIN;
	if (chains > TRIGGER_CHAINS_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "more than %d chains in triggers; name several in one with '*'",
			       TRIGGER_CHAINS_MAX);
	return 0;
}

/* Conditions joined by "and". Return: 0; -1: the conditions before @first are as they were. */
static int parse_all(struct triggers *triggers, struct parser *parser)
{
	const unsigned first = triggers->count;

	do {
		struct trigger trigger = { .first = first };

		if (parse(parser, &trigger) < 0 || check_room(triggers, &trigger, parser->err) < 0)
			return -1;
		memcpy(trigger.text, parser->text, strlen(parser->text) + 1);
		triggers->item[triggers->count++] = trigger;
	} while (read_this(parser, "and"));
	if (*parser->at)
		return refuse(parser, "nothing may follow here but 'and', or 'for 3 times in 10s'; for \"or\", repeat "
				      "--trigger");
	for (unsigned i = first; i < triggers->count; i++)
		triggers->item[i].parts = triggers->count - first;
	return 0;
}

int triggers_add(struct triggers *triggers, const char *text, struct kymo_err *err)
{
	struct parser parser = { .text = text, .at = text, .err = err };
	const unsigned before = triggers->count;

	if (strlen(text) >= sizeof triggers->item[0].text)
		return err_set(err, KYMO_EXIT_USAGE, "trigger '%.60s...' is longer than %zu bytes", text,
			       sizeof triggers->item[0].text - 1);
	if (parse_all(triggers, &parser) == 0)
		return 0;
	triggers->count = before;
	return -1;
}

bool trigger_name_fits(const struct trigger *trigger, const char *text)
{
	return trigger->any || fnmatch(trigger->name, text, 0) == 0;
}
