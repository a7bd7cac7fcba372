/* SPDX-License-Identifier: Apache-2.0 */
/* --help and the manual page of a verb, printed from its table. See opt.h. */
#include "base/array.h"
#include "base/opt.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 28	/* where the explanations begin */
#define VALUE_COLUMN 8	/* where further lines of choices begin */
#define HELP_WIDTH 80	/* lines longer than this are broken at a blank */

void opt_usage(const struct verb *verb, FILE *out)
{
	fprintf(out, "kymo %s%s%s%s", verb->name, verb->opts && verb->opts->name ? " [OPTION...]" : "",
		verb->synopsis && *verb->synopsis ? " " : "", verb->synopsis ? verb->synopsis : "");
}

/* "table|json|csv" or "DIR" or nothing. */
static const char *value_of(const struct opt *opt)
{
	if (opt->value)
		return opt->value;
	return opt->choices ? opt->choices : opt->kind == OPT_FLAG ? NULL : "VALUE";
}

/*
 * One paragraph of @length bytes, with lines filled up to HELP_WIDTH wherever the source breaks
 * them. Its first line begins in column @column, the others behind @indent blanks.
 */
static void wrap(FILE *out, const char *text, size_t length, int column, int indent)
{
	const char *end = text + length;
	size_t at = (size_t)column;
	bool first = true;	/* word of its line */

	while (text < end) {
		size_t word = strcspn(text, " \n");

		if (word > (size_t)(end - text))
			word = (size_t)(end - text);
		if (word && !first && at + 1 + word > HELP_WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			at = (size_t)indent;
			first = true;
		}
		if (word) {
			fprintf(out, "%s%.*s", first ? "" : " ", (int)word, text);
			at += word + !first;
			first = false;
		}
		text += word;
		text += text < end;
	}
	fputc('\n', out);
}

/* The usage in a help, broken at blanks where it is wider than the help. */
static void usage_lines(const struct verb *verb, FILE *out)
{
	char *text = NULL;
	size_t size = 0;
	FILE *in = open_memstream(&text, &size);

	if (in) {
		opt_usage(verb, in);
		(void)fclose(in);
	}
	fputs("Usage: ", out);
	wrap(out, text ? text : verb->name, text ? size : strlen(verb->name), 7, 7);
	fputc('\n', out);
	free(text);
}

/* " VALUE"; many choices are broken behind a '|'. @used: columns before it. Return: those after it. */
static int value_out(FILE *out, const char *value, bool optional, int used)
{
	used += fprintf(out, "%s", optional ? "[=" : " ");
	for (size_t length; *value; value += length, used += (int)length) {
		length = strcspn(value, "|");
		length += value[length] == '|';
		if (used + (int)length > HELP_WIDTH)
			used = fprintf(out, "\n%*s", VALUE_COLUMN, "") - 1;
		fprintf(out, "%.*s", (int)length, value);
	}
	return used + fprintf(out, "%s", optional ? "]" : "");
}

static void help_line(FILE *out, char letter, const char *name, const char *value, bool optional,
		      const char *help)
{
	int used = 0;

	used += letter ? fprintf(out, "  -%c, ", letter) : fprintf(out, "      ");
	used += fprintf(out, "--%s", name);
	if (value)
		used = value_out(out, value, optional, used);
	if (used + 2 > HELP_COLUMN) {
		fputc('\n', out);
		used = 0;
	}
	fprintf(out, "%*s", HELP_COLUMN - used, "");
	wrap(out, help, strlen(help), HELP_COLUMN, HELP_COLUMN);
}

static bool stays_as_it_is(const char *line)
{
	return *line == ' ' || *line == '\t' || *line == '\n';
}

/*
 * Paragraphs of @text are filled, as roff fills them; blank lines, lines that begin with a blank,
 * and with @indent (examples) all lines stay as they are.
 */
static void block(FILE *out, const char *indent, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		if (*indent || stays_as_it_is(text)) {
			fprintf(out, "%s%.*s\n", length ? indent : "", (int)length, text);
		} else {
			while (text[length] && text[length + 1] &&
			       !stays_as_it_is(text + length + 1))
				length += 1 + strcspn(text + length + 1, "\n");
			wrap(out, text, length, 0, 0);
		}
		text += length + (text[length] == '\n');
	}
}

static void option_line(FILE *out, const struct opt *opt)
{
	help_line(out, opt->letter, opt->name, value_of(opt), opt->kind == OPT_SWITCH, opt->help);
}

/* Whether a word of @names, up to @end, is @name. */
static bool has_word(const char *names, const char *end, const char *name)
{
	while (names < end) {
		size_t length = strcspn(names, " \n");

		if (strlen(name) == length && !memcmp(names, name, length))
			return true;
		names += length + strspn(names + length, " \n");
	}
	return false;
}

/* @group is a line "Heading: name name". */
static void help_group(const struct verb *verb, const char *group, FILE *out)
{
	const char *names = strchr(group, ':'), *end = group + strcspn(group, "\n");

	fprintf(out, "\n%.*s:\n", (int)(names - group), group);
	for (const struct opt *opt = verb->opts; opt && opt->name; opt++)
		if (has_word(names + 2, end, opt->name))
			option_line(out, opt);
}

static bool is_grouped(const char *groups, const char *name)
{
	bool found = false;

	while (*groups && !found) {
		const char *end = groups + strcspn(groups, "\n");

		found = has_word(strchr(groups, ':') + 2, end, name);
		groups = end + (*end != 0);
	}
	return found;
}

void opt_help(const struct verb *verb, FILE *out)
{
	usage_lines(verb, out);
	if (verb->examples && *verb->examples) {
		fputs("Examples:\n", out);
		block(out, "  ", verb->examples);
		fputs("\n", out);
	}
	block(out, "", verb->description ? verb->description : verb->summary);
	for (const char *group = verb->groups; group && *group;
	     group += strcspn(group, "\n"), group += *group != 0)
		help_group(verb, group, out);
	fputs(verb->groups ? "\nOther options:\n" : "\nOptions:\n", out);
	for (const struct opt *opt = verb->opts; opt && opt->name; opt++)
		if (!verb->groups || !is_grouped(verb->groups, opt->name))
			option_line(out, opt);
	help_line(out, 'h', "help", NULL, false, "show this help; -h: a short one");
}

/* ---- the short help ---- */

#define SHORT_OPTIONS 8
#define SHORT_EXAMPLES 4

/* The first clause of @help, in one line. */
static void short_line(FILE *out, const struct opt *opt)
{
	const size_t room = HELP_WIDTH - HELP_COLUMN;
	size_t length = strcspn(opt->help, ";(");
	char text[HELP_WIDTH];

	while (length && opt->help[length - 1] == ' ')
		length--;
	if (length > room) {
		for (length = room - 4; length && opt->help[length] != ' '; length--)
			;
		(void)snprintf(text, sizeof text, "%.*s ...", (int)length, opt->help);
	} else {
		(void)snprintf(text, sizeof text, "%.*s", (int)length, opt->help);
	}
	help_line(out, opt->letter, opt->name, value_of(opt), opt->kind == OPT_SWITCH, text);
}

static const struct opt *option_named(const struct verb *verb, const char *name, size_t length)
{
	for (const struct opt *opt = verb->opts; opt && opt->name; opt++)
		if (strlen(opt->name) == length && !memcmp(opt->name, name, length))
			return opt;
	return NULL;
}

/* Lines that begin with a blank go on with the example before. */
static size_t first_examples(const char *text)
{
	size_t used = 0;

	for (unsigned lines = 0; text[used] && lines < SHORT_EXAMPLES; lines++) {
		size_t end = used + strcspn(text + used, "\n");

		if (text[end] && text[end + 1] == ' ') {
			if (lines + 2 > SHORT_EXAMPLES)
				break;
			end += 1 + strcspn(text + end + 1, "\n");
			lines++;
		}
		used = end + (text[end] == '\n');
	}
	return used;
}

void opt_help_short(const struct verb *verb, FILE *out)
{
	const char *names = verb->common;
	unsigned shown = 0, all = 0;
	char examples[1024];

	usage_lines(verb, out);
	wrap(out, verb->summary, strlen(verb->summary), 0, 0);
	if (verb->examples && *verb->examples) {
		(void)snprintf(examples, sizeof examples, "%.*s",
			       (int)first_examples(verb->examples), verb->examples);
		fputs("\nExamples:\n", out);
		block(out, "  ", examples);
	}
	for (const struct opt *opt = verb->opts; opt && opt->name; opt++)
		all++;
	if (all)
		fputs("\nCommon options:\n", out);
	for (size_t length; names && *names && shown < SHORT_OPTIONS;
	     names += length + strspn(names + length, " ")) {
		const struct opt *opt = option_named(verb, names, length = strcspn(names, " "));

		if (opt)
			short_line(out, opt), shown++;
	}
	for (const struct opt *opt = verb->opts;
	     !verb->common && opt && opt->name && shown < SHORT_OPTIONS; opt++, shown++)
		short_line(out, opt);
	fprintf(out, "\nkymo %s --help: %s\n", verb->name,
		all > shown ? "all options, and what they mean" : "the whole text");
}

/* ---- roff, the man(7) macros ---- */

/*
 * Escapes characters that roff treats as commands, or prints as others that do not work when copied
 * into a shell.
 */
static void roff_character(FILE *out, char c)
{
	static const struct {
		char c;
		const char *roff;
	} special[] = {
		{ '\\', "\\e" }, { '-', "\\-" }, { '\'', "\\(aq" }, { '`', "\\(ga" }, { '~', "\\(ti" }, { '^', "\\(ha" },
	};

	for (size_t i = 0; i < COUNT_OF(special); i++) {
		if (special[i].c == c) {
			fputs(special[i].roff, out);
			return;
		}
	}
	fputc(c, out);
}

/* One line of text, without commands for roff. */
static void roff_line(FILE *out, const char *text, size_t length)
{
	if (length && *text == '.')
		fputs("\\&", out);
	for (size_t i = 0; i < length; i++)
		roff_character(out, text[i]);
	fputc('\n', out);
}

static void roff_text(FILE *out, const char *text)
{
	roff_line(out, text, strlen(text));
}

/* Blank lines separate paragraphs; lines that begin with a space or tab stay as they are. */
void opt_roff(const char *text, FILE *out)
{
	bool literal = false;

	while (*text) {
		size_t length = strcspn(text, "\n");
		bool indented = *text == ' ' || *text == '\t';

		if (indented != literal && length) {
			fputs(indented ? ".nf\n" : ".fi\n", out);
			literal = indented;
		}
		if (length)
			roff_line(out, text, length);
		else
			fputs(literal ? "\n" : ".PP\n", out);
		text += length + (text[length] == '\n');
	}
	if (literal)
		fputs(".fi\n", out);
}

static void roff_option(FILE *out, char letter, const char *name, const char *value, bool optional,
			const char *help)
{
	fputs(".TP\n", out);
	if (letter)
		fprintf(out, "\\fB\\-%c\\fR, ", letter);
	fputs("\\fB\\-\\-", out);
	for (; *name; name++)
		fprintf(out, *name == '-' ? "\\%c" : "%c", *name);
	fprintf(out, "\\fR%s", !value ? "" : optional ? "[=\\fI" : " \\fI");
	for (; value && *value; value++)
		fprintf(out, *value == '-' ? "\\%c" : "%c", *value);
	fprintf(out, "%s%s\n", value ? "\\fR" : "", optional ? "]" : "");
	roff_text(out, help);
}

void opt_man(const struct verb *verb, const char *version, FILE *out)
{
	fprintf(out, ".TH KYMO\\-");
	for (const char *c = verb->name; *c; c++)
		fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, out);
	fprintf(out, " 1 \"\" \"kymo %s\" \"kymo manual\"\n.nh\n.SH NAME\nkymo\\-%s \\- ", version,
		verb->name);
	roff_text(out, verb->summary);
	fputs(".SH SYNOPSIS\n.nf\n", out);
	opt_usage(verb, out);
	fputs("\n.fi\n.SH DESCRIPTION\n", out);
	opt_roff(verb->description ? verb->description : verb->summary, out);
	fputs(".SH OPTIONS\n", out);
	for (const struct opt *opt = verb->opts; opt && opt->name; opt++)
		roff_option(out, opt->letter, opt->name, value_of(opt), opt->kind == OPT_SWITCH,
			    opt->help);
	roff_option(out, 'h', "help", NULL, false, "show a short help");
	if (verb->examples && *verb->examples) {
		fputs(".SH EXAMPLES\n.nf\n", out);
		for (const char *line = verb->examples; *line;) {
			size_t length = strcspn(line, "\n");

			roff_line(out, line, length);
			line += length + (line[length] == '\n');
		}
		fputs(".fi\n", out);
	}
	fputs(".SH SEE ALSO\n.BR kymo (1),\n.BR kymo (7)\n", out);
}
