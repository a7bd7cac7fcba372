/* SPDX-License-Identifier: Apache-2.0 */
/* See attach.h: the two orders, and what their answers mean. */
#include "attach/attach.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attach.h"
#include "attach/attach_inject.h"
#include "attach/attach_process.h"

static void fill(struct attach_outcome *outcome, const struct injection *injection,
		 const struct kymo_attach_block *block)
{
	outcome->pause = injection->pause;
	outcome->thread = injection->thread;
	outcome->realtime = injection->realtime;
	outcome->entries = block->entries;
	outcome->objects = block->objects;
	outcome->tracepoints = block->tracepoints;
	outcome->elsewhere = block->elsewhere;
	outcome->tracetools = block->tracetools;
	outcome->python_failed = block->python == KYMO_PYTHON_FAILED;
}

/*
 * What the library answered, as an error. The program wrote @block, so its texts may have no end.
 * @library: what it was asked to load. Return: 0: no error; else -1.
 */
static int judge(const struct attach_process *process, struct kymo_attach_block *block,
		 const char *library, struct kymo_err *err)
{
	block->text[sizeof block->text - 1] = 0;
	if (block->state == KYMO_ATTACH_NOT_LOADED)
		return err_set(err, KYMO_EXIT_FAILED, "%s (%u) cannot load %s: %s", process->name,
			       process->pid, library,
			       *block->text ? block->text : "its dynamic linker does not say why");
	switch (block->result) {
	case KYMO_ATTACH_OK:
		return 0;
	case KYMO_ATTACH_OTHER_VERSION:
		return err_set(err, KYMO_EXIT_FAILED,
			       "%s (%u) has the library of another version of kymo; use that "
			       "version, or start the program again",
			       process->name, process->pid);
	case KYMO_ATTACH_NO_CALLS:
		return err_set(err, KYMO_EXIT_FAILED,
			       "nothing in %s (%u) calls a function that kymo records: not a ROS 2 "
			       "program, or its tracepoints are compiled out; \"kymo doctor -p "
			       "%u\" looks at its libraries",
			       process->name, process->pid, process->pid);
	case KYMO_ATTACH_DISABLED:
		return err_set(
			err, KYMO_EXIT_FAILED,
			"%s (%u) is not to be traced: KYMO_DISABLE=1 is set in its environment",
			process->name, process->pid);
	case KYMO_ATTACH_NO_REGION:
		return err_set(err, KYMO_EXIT_FAILED,
			       "%s (%u) cannot create its shared memory in the runtime directory "
			       "(/dev/shm/kymo-UID, or $KYMO_DIR): \"kymo doctor\" looks at it",
			       process->name, process->pid);
	default:
		return err_set(
			err, KYMO_EXIT_FAILED,
			"%s (%u) cannot load libkymo-attach.so, which is installed beside %s",
			process->name, process->pid, library);
	}
}

static int open_process(unsigned pid, struct attach_process *process, struct injection *injection,
			struct attach_outcome *outcome, struct kymo_err *err)
{
	*outcome = (struct attach_outcome){ 0 };
	if (process_read(process, pid, err) < 0 || process_allows(process, err) < 0 ||
	    injection_open(injection, process, err) < 0)
		return -1;
	(void)snprintf(outcome->name, sizeof outcome->name, "%s", process->name);
	return 0;
}

static int give_order(struct injection *injection, enum kymo_attach_order order,
		      const struct attach_wish *wish, struct attach_outcome *outcome,
		      struct kymo_err *err)
{
	struct kymo_attach_block *block = calloc(1, sizeof *block);
	int result;

	if (!block)
		return err_no_memory(err);
	injection->max_pause = wish->max_pause;
	block->order = order;
	(void)snprintf(block->library, sizeof block->library, "%s", wish->library);
	(void)snprintf(block->settings, sizeof block->settings, "%s",
		       wish->settings ? wish->settings : "");
	result = injection_order(injection, block, err);
	if (result == 0) {
		fill(outcome, injection, block);
		result = judge(injection->process, block, wish->library, err);
	}
	free(block);
	return result;
}

int attach_on(unsigned pid, const struct attach_wish *wish, struct attach_outcome *outcome,
	      struct kymo_err *err)
{
	struct injection injection;
	struct attach_process process;
	int result;

	if (strlen(wish->library) >= KYMO_ATTACH_PATH_MAX ||
	    (wish->settings && strlen(wish->settings) >= KYMO_ATTACH_SETTINGS_MAX))
		return err_set(err, KYMO_EXIT_FAILED,
			       "the path of the library, or of the runtime directory, is too long");
	if (open_process(pid, &process, &injection, outcome, err) < 0)
		return -1;
	if (injection.library && injection.held == KYMO_ATTACH_NEVER && !injection.scratch) {
		outcome->change = ATTACH_PRELOADED;
		result = 0;
	} else {
		outcome->change =
			injection.held == KYMO_ATTACH_IS_ON ? ATTACH_AGAIN : ATTACH_CHANGED;
		result = injection.library ? 0 : process_library(&process, wish->library, err);
		if (result == 0)
			result = give_order(&injection, KYMO_ATTACH_ON, wish, outcome, err);
	}
	injection_close(&injection);
	return result;
}

int attach_off(unsigned pid, const struct attach_wish *wish, struct attach_outcome *outcome,
	       struct kymo_err *err)
{
	struct injection injection;
	struct attach_process process;
	int result = 0;

	if (open_process(pid, &process, &injection, outcome, err) < 0)
		return -1;
	outcome->change = ATTACH_CHANGED;
	if (injection.library && injection.held == KYMO_ATTACH_NEVER && !injection.scratch)
		outcome->change = ATTACH_PRELOADED;
	else if (injection.held != KYMO_ATTACH_IS_ON)
		outcome->change = ATTACH_NOTHING;
	else
		result = give_order(&injection, KYMO_ATTACH_OFF, wish, outcome, err);
	injection_close(&injection);
	return result;
}
