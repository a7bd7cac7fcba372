/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor_process.c knows of a process, for what people trip over: doctor_trips.c. */
#ifndef KYMO_RECORDER_DOCTOR_INTERNAL_H
#define KYMO_RECORDER_DOCTOR_INTERNAL_H

#include <limits.h>
#include <stdbool.h>

#include "recorder/doctor/doctor.h"

struct doctor_process {
	unsigned pid;
	unsigned inner_pid;	/* in its own pid namespace */
	unsigned uid;
	char name[64];
	char state;
	char *environment;	/* strings behind each other, ends with two NUL */
};

struct doctor_loaded {
	bool preload, tracer, deleted, malloc, rclpy;
	char tracetools[PATH_MAX], rclcpp[PATH_MAX], libkymo[PATH_MAX];
};

/** doctor_variable() - of its environment, as it was started; NULL: not there. */
const char *doctor_variable(const struct doctor_process *process, const char *name);

/** doctor_parent() - name and parent of @pid. Return: the parent; 0: none that is seen. */
int doctor_parent(int pid, char name[64]);

/** doctor_no_preload() - why a process has not the preload library. Return: false: nothing was found, nothing was said. */
bool doctor_no_preload(struct doctor *doctor, const struct doctor_process *process);

/** doctor_no_tracetools() - why it has no libtracetools. Return: as above. */
bool doctor_no_tracetools(struct doctor *doctor, const struct doctor_process *process, const struct doctor_loaded *loaded);

/** doctor_python() - what is recorded of a Python program. Others: nothing. */
void doctor_python(struct doctor *doctor, const struct doctor_process *process, const struct doctor_loaded *loaded);

/** doctor_malloc() - is the program's own malloc() in the way of --malloc? */
void doctor_malloc(struct doctor *doctor, const struct doctor_process *process);

/** doctor_meet() - is its runtime directory @inner, which we see as @path, the one that kymo looks into here? */
void doctor_meet(struct doctor *doctor, const struct doctor_process *process, const char *inner, const char *path);

#endif
