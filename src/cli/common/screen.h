/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal of the user: how wide it is, whether colours are wanted, and the pager. Options of
 * CLI_OPT_SCREEN() change what it says.
 *
 * Context: one thread; blocks on the terminal.
 */
#ifndef KYMO_CLI_COMMON_SCREEN_H
#define KYMO_CLI_COMMON_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

struct table;

/** screen_is_terminal() - whether a person reads standard output, perhaps through the pager. */
bool screen_is_terminal(void);

/** screen_width() - columns of the terminal behind standard output: $COLUMNS, else as the terminal
 * says; 0: it is none, does not say, or --wide was given. */
unsigned screen_width(void);

/**
 * screen_say() - print @text and a newline; on a terminal in lines that are broken at blanks
 * @at: columns of the first line that are already used
 * @indent: of the lines that follow
 */
void screen_say(FILE *out, unsigned at, unsigned indent, const char *text);

/** screen_has_color() - whether standard output gets colours. */
bool screen_has_color(void);

/** screen_dress() - print @table, which goes to standard output, for this terminal. */
void screen_dress(struct table *table);

/**
 * screen_page() - from now on standard output goes through a pager if it is longer than the screen
 *
 * Only on a terminal, and not with --no-pager. What fits is printed as it is when the command ends;
 * a long text starts KYMO_PAGER, else PAGER, else `less -FRX`. If the user leaves the pager before
 * all was written, the command ends with status 0.
 */
void screen_page(void);

/** screen_chop() - cut lines at the edge of the screen, instead of wrapping them, unless --wide was
 * given; after screen_page(). */
void screen_chop(void);

/** screen_pages() - whether the pager runs: then nothing else may draw on the terminal. */
bool screen_pages(void);

/** screen_end() - print what is held back, and wait until the user leaves the pager. Return: 0, or
 * an errno of the write. */
int screen_end(void);

#endif
