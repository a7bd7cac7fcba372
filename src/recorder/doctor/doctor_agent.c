/* SPDX-License-Identifier: Apache-2.0 */
/* Is there a kymo agent, and can CARET's command line reach it? Nothing is sent. See doctor.h. */
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/runtime/claim.h"
#include "recorder/doctor/doctor_internal.h"
#include "recorder/runtime/elsewhere.h"
#include "recorder/runtime/ros_domains.h"
#include "recorder/runtime/status.h"

#define DIRS_MAX 8		/* other runtime directories that are told of */

struct look {
	struct doctor *doctor;
	const char *dir;
	bool runs;			/* one serves dir, ... */
	int pid;
	struct ros_domains serves;	/* ... these */
	char uri[256];			/* its CYCLONEDDS_URI */
	struct ros_domains others;	/* of programs that it does not serve */
	unsigned other_count;
	char told[DIRS_MAX][512];
	unsigned told_count;
};

/*
 * What the agent of @dir wrote: its pid, and the domains that it serves, on two lines. Return: whether one runs.
 */
static bool read_lock(const char *dir, int *pid, struct ros_domains *serves)
{
	char path[600], text[256] = "", *at;
	bool runs;
	int fd;

	(void)snprintf(path, sizeof path, "%s/agent", dir);
	fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	runs = claim_is_taken(fd) && pread(fd, text, sizeof text - 1, 0) > 0;
	(void)close(fd);
	*pid = (int)strtol(text, &at, 10);
	*serves = (struct ros_domains){ 0 };
	while (runs && *at) {
		char *end;
		unsigned long number = strtoul(at, &end, 10);

		if (end == at)
			break;
		if (number <= KYMO_ROS_DOMAIN_MAX)
			ros_domains_add(serves, (uint32_t)number + 1);
		at = end;
	}
	return runs;
}

static bool is_told(struct look *look, const char *dir)
{
	for (unsigned i = 0; i < look->told_count; i++)
		if (strcmp(look->told[i], dir) == 0)
			return true;
	if (look->told_count < DIRS_MAX)
		(void)snprintf(look->told[look->told_count++], sizeof look->told[0], "%s", dir);
	return false;
}

static void other_agent(struct look *look, const struct elsewhere_process *process)
{
	struct ros_domains serves, both = { { 0 } };
	char text[128];
	int pid;

	if (!look->runs || !read_lock(process->dir, &pid, &serves) || pid != process->pid)
		return;
	for (unsigned i = 0; i < KYMO_ROS_WORDS; i++)
		both.bits[i] = serves.bits[i] & look->serves.bits[i];
	if (!ros_domains_limited(&both))
		return;
	ros_domains_text(text, sizeof text, &both);
	doctor_say(look->doctor, AGENT_TWO, process->pid, text, process->dir);
}

static void on_process(void *context, const struct elsewhere_process *process)
{
	struct look *look = context;

	if (process->agent && strcmp(process->dir, look->dir) == 0) {
		(void)snprintf(look->uri, sizeof look->uri, "%s", process->uri ? process->uri : "");
		if (process->no_clock)
			doctor_say(look->doctor, AGENT_NO_CLOCK, process->pid);
	} else if (process->agent) {
		other_agent(look, process);
	} else if (strcmp(process->dir, look->dir) != 0 && !is_told(look, process->dir)) {
		doctor_say(look->doctor, DIRECTORY_UNSEEN, process->pid, process->name, process->dir);
	}
}

/* ---- programs whose domain it does not serve, or that have none ---- */

static void on_region(void *context, const struct process_status *status)
{
	struct look *look = context;

	if (status->alive == ALIVE_DEAD)
		return;
	if (status->ros_domain == KYMO_ROS_UNKNOWN) {
		doctor_say(look->doctor, AGENT_BAD_DOMAIN, status->pid, status->procname);
	} else if (look->runs && !ros_domains_has(&look->serves, status->ros_domain)) {
		ros_domains_add(&look->others, status->ros_domain);
		look->other_count++;
	}
}

static void domains(struct look *look)
{
	struct rundir dir;
	struct kymo_err err;
	char text[128];

	if (rundir_open(&dir, look->dir, false, &err) != 0)
		return;
	(void)status_read(&dir, on_region, NULL, look, &err);
	rundir_close(&dir);
	ros_domains_text(text, sizeof text, &look->others);
	if (look->other_count)
		doctor_say(look->doctor, AGENT_OTHER_DOMAINS, look->other_count,
			   look->other_count == 1 ? "" : "s", text);
}

/* ---- the network ---- */

/* Which file, if it is one, of a list of files and XML. */
static void uri(struct doctor *doctor, const char *text)
{
	char path[512];
	size_t length;

	for (; *text; text += strspn(text, ", ")) {
		if (*text == '<') {		/* XML goes on to the end, or may have commas */
			return;
		}
		length = strcspn(text, ",");
		(void)snprintf(path, sizeof path, "%.*s", (int)length, text);
		if (access(strncmp(path, "file://", 7) == 0 ? path + 7 : path, R_OK) < 0)
			doctor_say(doctor, NETWORK_NO_FILE, path, strerror(errno));
		text += length;
	}
}

/* By default DDS finds others by multicast. */
static void multicast(struct doctor *doctor)
{
	struct ifaddrs *all = NULL;
	bool able = false;

	if (getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *at = all; at; at = at->ifa_next)
		able |= (at->ifa_flags & IFF_UP) && (at->ifa_flags & IFF_MULTICAST);
	freeifaddrs(all);
	if (!able)
		doctor_say(doctor, NETWORK_NO_MULTICAST);
}

void doctor_agent(struct doctor *doctor, const char *dir)
{
	const char *own = getenv("CYCLONEDDS_URI");
	struct look look = { .doctor = doctor, .dir = dir };
	char text[128];

	look.runs = read_lock(dir, &look.pid, &look.serves);
	ros_domains_text(text, sizeof text, &look.serves);
	if (look.runs)
		doctor_say(doctor, AGENT_RUNS, look.pid, text);
	else
		doctor_say(doctor, AGENT_NONE, dir);
	elsewhere_scan(on_process, &look);
	domains(&look);
	if (own && *own)
		uri(doctor, own);
	if (look.runs && strncmp(look.uri, own ? own : "", sizeof look.uri - 1) != 0)
		doctor_say(doctor, NETWORK_DIFFERS);
	if (!own || !*own)
		multicast(doctor);
}
