/* SPDX-License-Identifier: Apache-2.0 */
/* Why processes of a recorded command are not traced. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/doctor/doctor_internal.h"

#define GENERATIONS_MAX 32
#define PROCESSES_MAX 256

static bool comes_from(int pid, int command)
{
	char name[64];

	for (int i = 0; i < GENERATIONS_MAX && pid > 1; i++) {
		if (pid == command)
			return true;
		pid = doctor_parent(pid, name);
	}
	return false;
}

static void on_found(void *context, const struct doctor_found *found)
{
	struct stranger *stranger = context;
	const bool other_place =
		found->check == DOCTOR_CHECK_DIRECTORY || found->check == DOCTOR_CHECK_CONTAINER;

	if (found->check == DOCTOR_CHECK_TRACETOOLS)
		stranger->calls |= found->result == DOCTOR_OK;
	if (*stranger->text || !found->remedy)
		return;
	if ((found->check == DOCTOR_CHECK_PRELOAD && found->result == DOCTOR_PROBLEM) ||
	    (other_place && found->result != DOCTOR_OK)) {
		(void)snprintf(stranger->text, sizeof stranger->text, "%s", found->text);
		(void)snprintf(stranger->remedy, sizeof stranger->remedy, "%s", found->remedy);
	}
}

static void examine(int pid, struct stranger *best)
{
	struct stranger found = { 0 };
	struct doctor doctor = { .found = on_found, .context = &found };
	char name[64];
	struct kymo_err err;

	(void)doctor_parent(pid, name);
	if (doctor_process(&doctor, (unsigned)pid, &err) < 0 || !*found.text)
		return;				/* it has ended meanwhile, or is traced */
	if (*best->text && (best->calls || !found.calls))
		return;
	*best = found;
	(void)snprintf(best->text, sizeof best->text, "process %d (%s): %.400s", pid, name,
		       found.text);
}

void doctor_strangers(int command, struct stranger *stranger)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned count = 0;

	while (proc && !stranger->calls && count < PROCESSES_MAX && (entry = readdir(proc))) {
		int pid = atoi(entry->d_name);

		if (pid < 1 || !comes_from(pid, command))
			continue;
		examine(pid, stranger);
		count++;
	}
	if (proc)
		closedir(proc);
}
