/* SPDX-License-Identifier: Apache-2.0 */
/* See findings.h. */
#include "top/findings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define LEAST_NS ((int64_t)1000000) /* what is shorter harms nobody */
#define TIMES_USUAL 10              /* a run this many times as long as usual stands out */
#define LEAST_RUNS 20u              /* what is usual is known after so many */

static bool is_worse(const struct finding *a, const struct finding *b)
{
	if ((a->kind == FINDING_LOSS) != (b->kind == FINDING_LOSS))
		return a->kind == FINDING_LOSS;
	if (a->ns != b->ns)
		return a->ns > b->ns;
	if (a->kind != b->kind || !a->row || !b->row)
		return a->kind < b->kind;
	return strcmp(a->row->ask, b->row->ask) < 0;
}

static void insert(struct finding of[FINDINGS_MAX], unsigned *count, struct finding finding)
{
	unsigned at = *count;

	if (at == FINDINGS_MAX && !is_worse(&finding, &of[at - 1]))
		return;
	if (at == FINDINGS_MAX)
		at--;
	else
		++*count;
	for (; at && is_worse(&finding, &of[at - 1]); at--)
		of[at] = of[at - 1];
	of[at] = finding;
}

static void judge(const struct board *board, const struct board_row *row,
		  struct finding of[FINDINGS_MAX], unsigned *count)
{
	struct board_values values;

	board_values(board, row, &values);
	if (values.wait_ns >= LEAST_NS && values.wait_ns >= TIMES_USUAL * values.usual_ns)
		insert(of, count,
		       (struct finding){ .kind = FINDING_WAIT,
					 .row = row,
					 .behind = values.behind,
					 .ns = values.wait_ns,
					 .at_ns = values.wait_at_ns });
	if (values.count >= LEAST_RUNS && values.worst_ns >= LEAST_NS &&
	    values.worst_ns >= TIMES_USUAL * values.usual_ns)
		insert(of, count,
		       (struct finding){ .kind = FINDING_RUN,
					 .row = row,
					 .ns = values.worst_ns,
					 .usual_ns = values.usual_ns,
					 .at_ns = values.worst_at_ns });
}

/* A long run harms by what waits for it: that comes first, and has its name, too. */
static void victims_first(struct finding *of, unsigned count)
{
	for (unsigned run = 0; run < count; run++)
		for (unsigned wait = run + 1; of[run].kind == FINDING_RUN && wait < count; wait++) {
			const struct finding victim = of[wait];

			if (victim.kind != FINDING_WAIT || victim.behind != of[run].row ||
			    victim.ns < of[run].ns / 2)
				continue;
			memmove(&of[run + 1], &of[run], (wait - run) * sizeof(*of));
			of[run] = victim;
			break;
		}
}

unsigned findings_find(const struct board *board, struct finding of[FINDINGS_MAX])
{
	struct board_totals totals;
	unsigned count = 0;
	int64_t worst;

	for (unsigned i = 0; i < board_count(board, BOARD_CALLBACKS); i++)
		judge(board, board_row(board, BOARD_CALLBACKS, i), of, &count);
	worst = count ? of[0].ns : 0;
	while (count && of[count - 1].ns < worst / 4)
		count--;
	victims_first(of, count);
	board_totals(board, &totals);
	if (totals.lost)
		insert(of, &count, (struct finding){ .kind = FINDING_LOSS, .count = totals.lost });
	return count;
}

/* "/costmap timer 96 ms" */
static const char *label(const struct board_row *row, char *buffer, unsigned size)
{
	(void)snprintf(buffer, size, "%s%s%s", row->name, *row->what ? " " : "", row->what);
	return buffer;
}

static void sentence(const struct finding *finding, bool brief, char *buffer, unsigned size)
{
	const struct board_row *row = finding->row, *behind = finding->behind;
	char ns[TEXT_QUANTITY_MAX], usual[TEXT_QUANTITY_MAX], who[400], other[400];
	/* A topic or a service says as much as its node. */
	const char *subject = brief && row && *row->what == '/' ? row->what
			      : row                             ? label(row, who, sizeof(who))
								: "";

	if (finding->kind == FINDING_LOSS)
		(void)snprintf(buffer, size, "%" PRIu64 " events lost: the numbers are too low",
			       finding->count);
	else if (finding->kind == FINDING_RUN)
		(void)snprintf(buffer, size, "%s ran %s, usually %s", subject,
			       text_ns(ns, finding->ns), text_ns(usual, finding->usual_ns));
	else if (behind == row)
		(void)snprintf(buffer, size, "%s waited %s behind its own run before", subject,
			       text_ns(ns, finding->ns));
	else
		(void)snprintf(buffer, size, "%s waited %s%s%s", subject, text_ns(ns, finding->ns),
			       behind ? " behind " : "",
			       !behind ? ""
			       : brief ? behind->name
				       : label(behind, other, sizeof(other)));
}

char *finding_text(const struct finding *finding, unsigned width, char *buffer, unsigned size)
{
	sentence(finding, false, buffer, size);
	if (width && text_width(buffer) > width)
		sentence(finding, true, buffer, size);
	return buffer;
}

const char *finding_kind_name(enum finding_kind kind)
{
	static const char *const name[] = { "loss", "wait", "run" };

	return name[kind];
}
