/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that fit into some columns of a terminal. Context of all functions: reentrant; only
 * screen_wrap() allocates; none blocks. */
#ifndef KYMO_TOP_SCREEN_TEXT_H
#define KYMO_TOP_SCREEN_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "top/board.h"

#define SCREEN_TEXT_MAX 2048 /* bytes */

/**
 * screen_fit() - @text in exactly @width columns: cut in its middle, or filled up with blanks
 * @utf8: the terminal shows UTF-8; else other characters than ASCII become '?'
 *
 * Return: @buffer.
 */
char *screen_fit(char buffer[SCREEN_TEXT_MAX], const char *text, unsigned width, bool utf8);

/** screen_label() - the name of a row and what it is, in exactly @width columns: the name is cut
 * first. Return: @buffer. */
char *screen_label(char buffer[SCREEN_TEXT_MAX], const struct board_row *row, unsigned width,
		   bool utf8);

/**
 * screen_spark() - bars, of @count slices, in exactly @width columns; the latest is the last one
 * @of: a number for each slice, oldest first; below 0: nothing, a blank. The largest is a full bar
 * @slots: slices that @width columns stand for
 *
 * Return: @buffer.
 */
char *screen_spark(char buffer[SCREEN_TEXT_MAX], const int64_t *of, unsigned count, unsigned slots,
		   unsigned width, bool utf8);

/** screen_wrap() - @text with lines of at most @width columns, broken at blanks where possible.
 * Return: to be freed; NULL: no memory. */
char *screen_wrap(const char *text, unsigned width);

#endif
