/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing, for screen_draw.c and screen_table.c: what does not fit on the screen is left out.
 * Context of all functions: as screen.h. */
#ifndef KYMO_TOP_SCREEN_DRAW_H
#define KYMO_TOP_SCREEN_DRAW_H

#include <curses.h>

#include "top/screen.h"

attr_t screen_color(const struct screen *screen, enum screen_color number);

/** screen_put() - @text in exactly @width columns at @y, @x. */
void screen_put(const struct screen *screen, int y, int x, const char *text, int width, attr_t how);

/** screen_put_right() - @text so that it ends before column @end. */
void screen_put_right(const struct screen *screen, int y, int end, const char *text, attr_t how);

/** screen_draw_table() - the rows of the view, between the lines @y and @end. */
void screen_draw_table(struct screen *screen, int y, int end);

#endif
