/* SPDX-License-Identifier: Apache-2.0 */
/* What lies in the runtime directory and cannot be recorded. See doctor.h. */
#include <string.h>

#include "recorder/doctor/doctor.h"
#include "recorder/runtime/region_view.h"
#include "recorder/runtime/status.h"

static void on_region(void *context, const struct process_status *status)
{
	(void)context;
	(void)status;
}

/* The sentence ends with what to do, behind its last semicolon. */
static void on_refused(void *context, const char *name, const char *text)
{
	const char *remedy = strrchr(text, ';');
	int pid;
	enum alive alive = region_owner(name, &pid);

	doctor_say(context, "region", alive == ALIVE_DEAD ? DOCTOR_WARNING : DOCTOR_PROBLEM,
		   alive == ALIVE_DEAD ? "remove the file" :
		   strstr(text, "version") ? "restart the program with the library of this kymo ('kymo run'), or install one version of both" :
					     "remove the file if no program uses it, and restart the program",
		   "%.*s", (int)(remedy ? remedy - text : (long)strlen(text)), text);
}

void doctor_refused(struct doctor *doctor, const char *path)
{
	struct rundir dir;
	struct kymo_err err;

	if (rundir_open(&dir, path, false, &err) != 0)
		return;			/* doctor_directory() said why */
	(void)status_read(&dir, on_region, on_refused, doctor, &err);
	rundir_close(&dir);
}
