/* SPDX-License-Identifier: Apache-2.0 */
/* What stands out on the board: waits behind others, runs that took far longer than usual, losses.
 */
#ifndef KYMO_TOP_FINDINGS_H
#define KYMO_TOP_FINDINGS_H

#include "top/board.h"

#define FINDINGS_MAX 8u

enum finding_kind {
	FINDING_LOSS, /* events were lost, so counts are too low */
	FINDING_WAIT, /* a callback waited behind another one */
	FINDING_RUN,  /* a callback ran far longer than it usually does */
};

struct finding {
	enum finding_kind kind;
	const struct board_row *row;    /* NULL: LOSS */
	const struct board_row *behind; /* WAIT: whose run took most of it; NULL: unknown */
	uint64_t count;                 /* LOSS: events and packets */
	int64_t ns, usual_ns;           /* how long; usual_ns of RUN */
	int64_t at_ns;                  /* when it ended, epoch */
};

/**
 * findings_find() - the worst first, the same ones each time for the same board
 *
 * What is less than a quarter of the worst is left out. Return: how many. Context: no allocation.
 */
unsigned findings_find(const struct board *board, struct finding of[FINDINGS_MAX]);

/**
 * finding_text() - "/obstacle_detector /scan waited 19.1 ms behind /costmap timer 96 ms"
 * @width: columns; if the text is longer, it begins "/scan waited". 0: not limited
 *
 * Return: @buffer.
 */
char *finding_text(const struct finding *finding, unsigned width, char *buffer, unsigned size);

/** finding_kind_name() - "loss", "wait", "run". */
const char *finding_kind_name(enum finding_kind kind);

#endif
