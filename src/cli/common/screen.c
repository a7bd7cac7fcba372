/* SPDX-License-Identifier: Apache-2.0 */
/* See screen.h. */
#include "cli/common/screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/opt.h"
#include "base/table/table.h"
#include "base/text.h"

#define WIDTH_MAX 10000
#define SAY_LEAST 20 /* columns for a text: below that it is not broken */

static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

bool screen_is_terminal(void)
{
	return screen_pages() || isatty(STDOUT_FILENO);
}

/* Of the terminal behind standard output; 0: there is none, or it does not say. */
static struct winsize size_of_terminal(void)
{
	static struct winsize known; /* the pager takes the terminal away */
	struct winsize size = { 0 };

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		known = size;
	return known;
}

unsigned screen_width(void)
{
	const char *columns = getenv("COLUMNS");
	uint64_t width;

	if (opt_screen.wide || !screen_is_terminal())
		return 0;
	if (columns && text_read_u64(columns, &width) && width && width < WIDTH_MAX)
		return (unsigned)width;
	return size_of_terminal().ws_col;
}

/* 0: nobody reads @out at a terminal. */
static unsigned width_of(FILE *out)
{
	struct winsize size = { 0 };

	if (out == stdout)
		return screen_width();
	return isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size) ? size.ws_col : 0;
}

void screen_say(FILE *out, unsigned at, unsigned indent, const char *text)
{
	const unsigned width = width_of(out);

	if (width > indent + SAY_LEAST)
		text_fold(out, text, width, at, indent);
	else
		fputs(text, out);
	fputc('\n', out);
}

static bool has_color(bool terminal)
{
	const char *no_color = getenv("NO_COLOR");

	if (opt_screen.color)
		return opt_screen.color == 1;
	return terminal && !is_dumb() && (!no_color || !*no_color);
}

bool screen_has_color(void)
{
	return has_color(screen_is_terminal());
}

/* As the locale says it, which programs that never call setlocale() do not know. */
static bool is_unicode(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (unsigned i = 0; i < 3; i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

void screen_dress(struct table *table)
{
	const bool terminal = screen_is_terminal();

	table_look(table, &(struct table_look){
				  .terminal = terminal,
				  .color = has_color(terminal),
				  .unicode = is_unicode(),
				  .width = screen_width(),
				  .lines = terminal ? size_of_terminal().ws_row : 0,
				  .more = "--wide",
			  });
}
