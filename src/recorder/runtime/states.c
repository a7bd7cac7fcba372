/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/runtime/states.h"

#include "abi/region.h"

#define STATES (KYMO_STATE_RECORD + 1)

struct state_step {
	enum states_answer answer;
	uint32_t next;
};

/* An action that is not listed is refused. */
/* clang-format off */
static const struct state_step steps[STATES][STATES_ACTIONS] = {
	[KYMO_STATE_WAIT] = {
		[STATES_START] = { STATES_GO, KYMO_STATE_RECORD },
		[STATES_START_PAUSED] = { STATES_GO, KYMO_STATE_PREPARE },
	},
	[KYMO_STATE_PREPARE] = {
		[STATES_PAUSE] = { STATES_STAY, KYMO_STATE_PREPARE },
		[STATES_RESUME] = { STATES_GO, KYMO_STATE_RECORD },
		[STATES_STOP] = { STATES_GO, KYMO_STATE_WAIT },
	},
	[KYMO_STATE_RECORD] = {
		[STATES_PAUSE] = { STATES_GO, KYMO_STATE_PREPARE },
		[STATES_RESUME] = { STATES_STAY, KYMO_STATE_RECORD },
		[STATES_STOP] = { STATES_GO, KYMO_STATE_WAIT },
	},
};
/* clang-format on */

enum states_answer states_next(uint32_t state, enum states_action action, uint32_t *next)
{
	const struct state_step *step;

	if (state < KYMO_STATE_WAIT || state > KYMO_STATE_RECORD)
		state = KYMO_STATE_WAIT;
	step = &steps[state][action];
	*next = step->answer == STATES_REFUSE ? state : step->next;
	return step->answer;
}

const char *states_name(uint32_t state)
{
	return state == KYMO_STATE_WAIT ? "wait" : state == KYMO_STATE_PREPARE ? "prepare" :
	       state == KYMO_STATE_RECORD ? "record" : "?";
}

int states_nobody(const char *dir, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_EMPTY, "no recorder is running in %s; start one with \"kymo start\" or \"kymo record\", "
		       "or set KYMO_DIR to the runtime directory of another", dir);
}
