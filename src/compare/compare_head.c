/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a comparison: its sides, what was left out, and what has a new name. */
#include <string.h>

#include "base/text.h"
#include "compare/compare_print.h"
#include "compare/compare_words.h"

#define LEFT_OUT_SHOWN 4u

static void left_out_lines(FILE *out, const struct compare_print *print, unsigned count)
{
	const unsigned most = print->most && count > LEFT_OUT_SHOWN ? LEFT_OUT_SHOWN : count;
	char clean[1024], number[32];

	if (!count)
		return;
	fprintf(out,
		"Left out, because events were lost: %u of the base runs, %u of the new ones.\n",
		print->left_out_base, print->left_out_new);
	for (unsigned i = 0; i < most; i++) {
		const struct compare_left_out *one = &print->left_out[i];

		text_clean(clean, sizeof(clean), one->path);
		if (one->is_partner)
			fprintf(out, "    %s: events were lost in the other run of its pair\n",
				clean);
		else if (one->events)
			fprintf(out, "    %s: %s lost events\n", clean,
				summary_number(number, one->events));
		else
			fprintf(out, "    %s: the trace has gaps\n", clean);
	}
	if (most < count)
		fprintf(out, "    %u more: --all\n", count - most);
}

static void renamed_lines(FILE *out, const struct compare_renames *renames)
{
	char old[512], new[512];

	for (unsigned i = 0; renames && i < renames->count; i++) {
		text_clean(old, sizeof(old), renames->old[i]);
		text_clean(new, sizeof(new), renames->new[i]);
		fprintf(out, "%s of the base runs is compared with %s.\n", old, new);
	}
}

/* "6 runs each, in pairs   base -> new   same machine, no events lost" */
void compare_print_head(FILE *out, const struct compare_print *print)
{
	const struct change_design *design = &print->options->design;
	const unsigned left_out = print->left_out_base + print->left_out_new;
	char line[512], sides[400], note[100];
	bool breaks;

	if (design->bases != design->news)
		(void)snprintf(line, sizeof(line), "%u and %u runs", design->bases, design->news);
	else
		(void)snprintf(line, sizeof(line), "%u run%s each%s", design->bases,
			       design->bases == 1 ? "" : "s", design->paired ? ", in pairs" : "");
	(void)snprintf(sides, sizeof(sides), "%s%s-> %s", print->base,
		       strlen(print->base) + strlen(print->new) + 4 > COMPARE_WIDTH ? "\n" : " ",
		       print->new);
	(void)snprintf(note, sizeof(note), "%s%s", print->machine ? print->machine : "",
		       print->machine && !left_out ? ", no events lost" : "");
	breaks = strlen(line) + strlen(sides) + 3 > COMPARE_WIDTH;
	fprintf(out, "%s%s%s%s%s\n", line, breaks ? "\n" : "   ", sides,
		!*note                                                                      ? ""
		: breaks || strlen(line) + strlen(sides) + strlen(note) + 6 > COMPARE_WIDTH ? "\n"
											    : "   ",
		note);
	left_out_lines(out, print, left_out);
	renamed_lines(out, print->renames);
	fputc('\n', out);
}
