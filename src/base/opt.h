/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a verb: one table gives parsing, --help, the man page and the completion.
 *
 * Long options take "--name value" and "--name=value", short ones "-nvalue" and "-n value";
 * "--" ends them. The value of a switch is optional, so it takes "--name=value" alone. An unknown
 * option, and a missing or bad value, is an error with KYMO_EXIT_USAGE. The error names the most
 * similar option.
 *
 * Context of all functions: one thread, for values of OPT_SCREEN() go to opt_screen.
 */
#ifndef KYMO_BASE_OPT_H
#define KYMO_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum opt_kind {
	OPT_FLAG,   /* bool */
	OPT_TEXT,   /* const char * */
	OPT_U64,    /* uint64_t */
	OPT_SIZE,   /* uint64_t bytes: 64K, 4M, 1G (powers of 1024) */
	OPT_TIME,   /* int64_t ns: 250us, 10ms, 30s, 5min, 2h; a bare number is seconds */
	OPT_CHOICE, /* int: index into choices, or OPT_CHOICE_WITH() */
	OPT_LIST,   /* struct opt_list: may be given several times */
	OPT_SWITCH, /* int: 0, 1: --name, 2 + index into choices: --name=choice. Never takes the
		       next argument */
};

#define OPT_LIST_MAX 64

struct opt_list {
	const char *item[OPT_LIST_MAX];
	unsigned count;
};

struct opt {
	const char *name;	/* long name, without dashes */
	char letter;		/* short name or 0 */
	enum opt_kind kind;
	size_t offset;		/* of the target in the verb's own options struct */
	const char *value;	/* "DIR", "PID": name of the value in help; NULL for flags */
	const char *help;	/* one line, begins with a small letter, no full stop */
	const char *choices; /* OPT_CHOICE, OPT_SWITCH: "table|json|csv"; "system|sim[:N]": sim may
				have a number */
};

/* A choice that was given with a number, up to OPT_CHOICE_NUMBER_MAX. */
#define OPT_CHOICE_NUMBER_MAX		0xffffff
#define OPT_CHOICE_WITH(index, number)	((index) | ((int)(number) + 1) << 6)
#define OPT_CHOICE_INDEX(value)		((value) & 63)
#define OPT_CHOICE_NUMBER(value)	(((value) >> 6) - 1)	/* -1: without */

/* What options of several verbs say about the terminal. Their rows have OPT_SCREEN(member) as the
 * offset. */
struct opt_screen {
	bool wide, no_pager;
	int color; /* 0: auto, 1: always, 2: never */
};

extern struct opt_screen opt_screen;

#define OPT_SCREEN_BIT (~(SIZE_MAX >> 1))
#define OPT_SCREEN(member) (OPT_SCREEN_BIT | offsetof(struct opt_screen, member))

struct verb {
	const char *name;
	const char *synopsis;	/* what follows the options: "[-- CMD [ARG...]]" */
	const char *summary;	/* one line for `kymo help` */
	const char *description;	/* paragraphs for --help and the man page */
	const char *examples;	/* lines for --help and the man page */
	const struct opt *opts;	/* ends with a zeroed entry */
	const char *common; /* names of options for the short help, with blanks between them; NULL:
			       the first ones */
	/* Headings of --help: lines "What is shown: section node topic"; other options follow. May
	 * be NULL. */
	const char *groups;
	/*
	 * @argv: the arguments behind the verb, not parsed, ending with NULL.
	 * Return: the exit status; -1 with @err, which main() prints.
	 */
	int (*run)(int argc, char **argv, struct kymo_err *err);
};

/**
 * opt_parse() - parse @argv by @opts into @target
 * @argc, @argv: arguments after the verb; on return only operands, moved to the front of argv
 *               and followed by NULL, so that they can be given to exec
 * @dashdash: set to the index of the first operand behind "--", or -1. May be NULL.
 *
 * --help and -h are not handled here: the command line does it before it calls the verb.
 * Return: 0, or -1 with @err filled.
 */
int opt_parse(const struct opt *opts, void *target, int *argc, char ***argv, int *dashdash,
	      struct kymo_err *err);

enum opt_help { OPT_HELP_NONE, OPT_HELP_SHORT, OPT_HELP_FULL };

/** opt_asks_help() - whether --help (full) or -h (short) is among the options (not as a value, not
 * after --). */
enum opt_help opt_asks_help(const struct opt *opts, int argc, char **argv);

/** opt_usage() - print "kymo VERB [OPTION...] SYNOPSIS", without a newline. */
void opt_usage(const struct verb *verb, FILE *out);

/** opt_help() - print usage, description, options and examples of @verb. */
void opt_help(const struct verb *verb, FILE *out);

/** opt_help_short() - print usage, four examples and the common options, on one
 * screen of 24 lines, with room for a prompt. */
void opt_help_short(const struct verb *verb, FILE *out);

/** opt_man() - print the manual page kymo-<verb>(1) of @verb as roff with man(7) macros. */
void opt_man(const struct verb *verb, const char *version, FILE *out);

/** opt_roff() - print @text as roff: blank lines separate paragraphs, lines that begin with a blank
 * stay as they are. */
void opt_roff(const char *text, FILE *out);

#endif
