/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of a verb's arguments by its option table. See opt.h. */
#include "base/opt.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

struct opt_screen opt_screen;

/* What each kind of value looks like, for errors: "... is not a whole number". */
static const char *const expects[] = {
	[OPT_FLAG] = "nothing",
	[OPT_TEXT] = "a text",
	[OPT_U64] = "a whole number",
	[OPT_SIZE] = "a size such as 64K, 4M or 1G",
	[OPT_TIME] = "a time such as 250us, 10ms, 30s, 5min or 2h",
	[OPT_CHOICE] = "one of",
	[OPT_LIST] = "a text",
	[OPT_SWITCH] = "one of",
};

/* The number that means @value among the '|'-separated @choices, or -1. */
static int choice_value(const char *choices, const char *value)
{
	const size_t length = strcspn(value, ":");
	uint64_t number;

	for (int i = 0; *choices; i++) {
		const size_t span = strcspn(choices, "|"), word = strcspn(choices, "|[");

		if (word == length && !memcmp(choices, value, length) && !value[length])
			return i;
		if (word == length && !memcmp(choices, value, length) && word < span &&
		    text_read_u64(value + length + 1, &number) && number <= OPT_CHOICE_NUMBER_MAX)
			return OPT_CHOICE_WITH(i, number);
		choices += span + (choices[span] == '|');
	}
	return -1;
}

static bool store(const struct opt *opt, void *target, const char *value)
{
	void *at = opt->offset & OPT_SCREEN_BIT
			   ? (char *)&opt_screen + (opt->offset & ~OPT_SCREEN_BIT)
			   : (char *)target + opt->offset;
	struct opt_list *list;
	int index;

	switch (opt->kind) {
	case OPT_FLAG:
		*(bool *)at = true;
		return true;
	case OPT_TEXT:
		*(const char **)at = value;
		return true;
	case OPT_U64:
		return text_read_u64(value, at);
	case OPT_SIZE:
		return text_read_size(value, at);
	case OPT_TIME:
		return text_read_time(value, at);
	case OPT_CHOICE:
		index = choice_value(opt->choices, value);
		if (index >= 0)
			*(int *)at = index;
		return index >= 0;
	case OPT_LIST:
		list = at;
		if (list->count >= OPT_LIST_MAX)
			return false;
		list->item[list->count++] = value;
		return true;
	case OPT_SWITCH:
		index = value ? choice_value(opt->choices, value) : -1;
		if (!value || index >= 0)
			*(int *)at = index + 2; /* without a value: 1 */
		return !value || index >= 0;
	}
	return false;
}

static int set(const struct opt *opt, void *target, const char *value, struct kymo_err *err)
{
	if (!target || store(opt, target, value))
		return 0;
	if (opt->kind == OPT_LIST)
		return err_set(err, KYMO_EXIT_USAGE, "option --%s: at most %d times", opt->name,
			       OPT_LIST_MAX);
	if (opt->kind == OPT_SWITCH)
		return err_set(
			err, KYMO_EXIT_USAGE,
			"option --%s: unknown value '%s'; write --%s without a value, or --%s=%s",
			opt->name, value, opt->name, opt->name, opt->choices);
	if (opt->choices)
		return err_set(err, KYMO_EXIT_USAGE, "option --%s: '%s' is not one of %s", opt->name,
			       value, opt->choices);
	return err_set(err, KYMO_EXIT_USAGE, "option --%s: '%s' is not %s", opt->name, value,
		       expects[opt->kind]);
}

static const struct opt *find_name(const struct opt *opts, const char *name, size_t length)
{
	for (; opts->name; opts++) {
		if (strlen(opts->name) == length && !memcmp(opts->name, name, length))
			return opts;
	}
	return NULL;
}

static const struct opt *find_letter(const struct opt *opts, char letter)
{
	for (; opts->name; opts++) {
		if (opts->letter && opts->letter == letter)
			return opts;
	}
	return NULL;
}

static int unknown_name(const struct opt *opts, const char *name, size_t length,
			struct kymo_err *err)
{
	struct text_nearest best = { 0 };
	char typed[33];

	if (length < sizeof typed) {
		memcpy(typed, name, length);
		typed[length] = 0;
		for (; opts->name; opts++)
			text_nearest_try(&best, typed, opts->name);
	}
	if (best.name)
		return err_set(err, KYMO_EXIT_USAGE, "unknown option --%.*s; did you mean --%s?",
			       (int)length, name, best.name);
	return err_set(err, KYMO_EXIT_USAGE, "unknown option --%.*s; --help lists the options",
		       (int)(length > 64 ? 64 : length), name);
}

/* One parse in progress. */
struct opt_walk {
	const struct opt *opts;
	void *target;	/* NULL: store nothing */
	int argc;
	char **argv;
	int at;
	enum opt_help help;
};

static int take_value(struct opt_walk *walk, const struct opt *opt, const char *inline_value,
		      struct kymo_err *err)
{
	if (inline_value)
		return set(opt, walk->target, inline_value, err);
	if (walk->at + 1 >= walk->argc)
		return err_set(err, KYMO_EXIT_USAGE, "option --%s needs a value: %s", opt->name,
			       opt->value ? opt->value : opt->choices ? opt->choices : "VALUE");
	return set(opt, walk->target, walk->argv[++walk->at], err);
}

static int long_option(struct opt_walk *walk, const char *text, struct kymo_err *err)
{
	size_t length = strcspn(text, "=");
	const char *value = text[length] ? text + length + 1 : NULL;
	const struct opt *opt = find_name(walk->opts, text, length);

	if (!opt && !strcmp(text, "help")) {
		walk->help = OPT_HELP_FULL;
		return 0;
	}
	if (!opt)
		return unknown_name(walk->opts, text, length, err);
	if (opt->kind == OPT_SWITCH)
		return set(opt, walk->target, value, err);
	if (opt->kind != OPT_FLAG)
		return take_value(walk, opt, value, err);
	if (value)
		return err_set(err, KYMO_EXIT_USAGE, "option --%s takes no value", opt->name);
	return set(opt, walk->target, NULL, err);
}

static int short_options(struct opt_walk *walk, const char *letters, struct kymo_err *err)
{
	for (; *letters; letters++) {
		const struct opt *opt = find_letter(walk->opts, *letters);

		if (!opt && *letters == 'h') {
			if (!walk->help)
				walk->help = OPT_HELP_SHORT;
			continue;
		}
		if (!opt)
			return err_set(err, KYMO_EXIT_USAGE,
				       "unknown option -%c; --help lists the options", *letters);
		if (opt->kind != OPT_FLAG && opt->kind != OPT_SWITCH)
			return take_value(walk, opt, letters[1] ? letters + 1 : NULL, err);
		if (set(opt, walk->target, NULL, err))
			return -1;
	}
	return 0;
}

int opt_parse(const struct opt *opts, void *target, int *argc, char ***argv, int *dashdash,
	      struct kymo_err *err)
{
	struct opt_walk walk = { .opts = opts, .target = target, .argc = *argc, .argv = *argv };
	char **operands = *argv;
	int kept = 0;

	if (dashdash)
		*dashdash = -1;
	for (; walk.at < walk.argc; walk.at++) {
		char *arg = walk.argv[walk.at];

		if (!strcmp(arg, "--")) {
			if (dashdash)
				*dashdash = kept;
			for (walk.at++; walk.at < walk.argc; walk.at++)
				operands[kept++] = walk.argv[walk.at];
			break;
		}
		if (arg[0] != '-' || !arg[1])
			operands[kept++] = arg;
		else if (arg[1] == '-' ? long_option(&walk, arg + 2, err) :
					 short_options(&walk, arg + 1, err))
			return -1;
	}
	if (kept < *argc)
		operands[kept] = NULL;	/* operands can go to exec as they are */
	*argc = kept;
	return 0;
}

enum opt_help opt_asks_help(const struct opt *opts, int argc, char **argv)
{
	struct opt_walk walk = { .opts = opts, .argc = argc, .argv = argv };

	/* Errors do not matter here: opt_parse() finds them again. Values are skipped as it
	 * does. */
	for (; walk.at < argc && strcmp(argv[walk.at], "--"); walk.at++) {
		const char *arg = argv[walk.at];

		if (arg[0] == '-' && arg[1])
			(void)(arg[1] == '-' ? long_option(&walk, arg + 2, NULL) :
					       short_options(&walk, arg + 1, NULL));
	}
	return walk.help;
}
