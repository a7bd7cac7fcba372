/* SPDX-License-Identifier: Apache-2.0 */
/* See progress.h. */
#include "cli/common/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/text.h"
#include "cli/common/screen.h"

#define FIRST_NS 400000000	/* shorter works show nothing */
#define EACH_NS 100000000
#define BAR 24			/* columns */

void progress_begin(struct progress *progress, bool quiet)
{
	const char *term = getenv("TERM");

	*progress = (struct progress){
		.on = !quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0,
		.begun_ns = now_ns(),
	};
}

/* "12.3 M" */
static const char *count_text(char text[TEXT_QUANTITY_MAX], double count)
{
	static const char units[] = " kMGT";
	unsigned unit = 0;

	for (; count >= 999.5 && unit < sizeof(units) - 2; unit++)
		count /= 1000;
	snprintf(text, TEXT_QUANTITY_MAX, unit ? "%.3g %c" : "%.0f", count, units[unit]);
	return text;
}

static void bar(double done)
{
	int filled = (int)(done * BAR);

	fputc('[', stderr);
	for (int i = 0; i < BAR; i++)
		fputc(i < filled ? '#' : '.', stderr);
	fprintf(stderr, "] %3d %%  ", (int)(done * 100));
}

void progress_show(struct progress *progress, uint64_t events, double done)
{
	char number[TEXT_QUANTITY_MAX], rate[TEXT_QUANTITY_MAX], left[TEXT_QUANTITY_MAX];
	int64_t now, spent;

	if (!progress->on || screen_pages())
		return;
	now = now_ns();
	spent = now - progress->begun_ns;
	if (spent < FIRST_NS || now - progress->shown_ns < EACH_NS)
		return;
	progress->shown_ns = now;
	progress->visible = true;
	fputc('\r', stderr);
	if (done > 0)
		bar(done);
	fprintf(stderr, "%s events, %s/s", count_text(number, (double)events),
		count_text(rate, (double)events * 1e9 / (double)spent));
	if (done > 0.02)
		fprintf(stderr, ", %s left", text_ns(left, (int64_t)((double)spent * (1 - done) / done)));
	fputs("\033[K", stderr);
	fflush(stderr);
}

void progress_extent(struct progress *progress, const struct kymo_ctf_reader *reader)
{
	progress->first_ns = UINT64_MAX;
	for (unsigned i = 0; progress->on && i < kymo_ctf_stream_count(reader); i++) {
		const struct kymo_ctf_stream_info *info = kymo_ctf_stream(reader, i);

		if (info->begin_ns && info->begin_ns < progress->first_ns)
			progress->first_ns = info->begin_ns;
		if (info->end_ns > progress->last_ns)
			progress->last_ns = info->end_ns;
	}
}

void progress_trace(void *context, uint64_t events, uint64_t clock_ns)
{
	struct progress *progress = context;
	double done = 0;

	if (!events) {
		progress_clear(progress);
		return;
	}
	if (progress->last_ns > progress->first_ns && clock_ns > progress->first_ns)
		done = (double)(clock_ns - progress->first_ns) /
		       (double)(progress->last_ns - progress->first_ns);
	progress_show(progress, events, done < 1 ? done : 1);
}

void progress_clear(struct progress *progress)
{
	if (!progress->visible || screen_pages())
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress->visible = false;
	progress->shown_ns = now_ns();
}
