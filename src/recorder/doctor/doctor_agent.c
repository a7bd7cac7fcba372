/* SPDX-License-Identifier: Apache-2.0 */
/* Is there a kymo agent, and can CARET's command line reach it? Nothing is sent. See doctor.h. */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/runtime/agent_lock.h"
#include "recorder/doctor/doctor_internal.h"
#include "recorder/runtime/elsewhere.h"
#include "recorder/runtime/ros_domains.h"
#include "recorder/runtime/status.h"

#define DIRS_MAX 8		/* other runtime directories that are reported */

struct agent_scan {
	struct doctor *doctor;
	const char *dir;
	bool runs;			/* one serves dir, ... */
	int pid;
	struct ros_domains serves;	/* ... these */
	char network[ELSEWHERE_NETWORKS]
		    [256];              /* its variables that choose a network; "": not set */
	struct ros_domains others;	/* of programs that it does not serve */
	unsigned other_count;
	char reported[DIRS_MAX][512];
	unsigned reported_count;
};

static bool is_reported(struct agent_scan *agent_scan, const char *dir)
{
	for (unsigned i = 0; i < agent_scan->reported_count; i++)
		if (strcmp(agent_scan->reported[i], dir) == 0)
			return true;
	if (agent_scan->reported_count < DIRS_MAX)
		(void)snprintf(agent_scan->reported[agent_scan->reported_count++], sizeof agent_scan->reported[0], "%s", dir);
	return false;
}

static void other_agent(struct agent_scan *agent_scan, const struct elsewhere_process *process)
{
	struct ros_domains serves, both = { { 0 } };
	char text[128];
	int pid;

	if (!agent_scan->runs || !agent_lock_read(process->dir, &pid, &serves) ||
	    pid != process->pid)
		return;
	for (unsigned i = 0; i < KYMO_ROS_WORDS; i++)
		both.bits[i] = serves.bits[i] & agent_scan->serves.bits[i];
	if (!ros_domains_limited(&both))
		return;
	ros_domains_text(text, sizeof text, &both);
	doctor_say(agent_scan->doctor, AGENT_TWO, process->pid, text, process->dir);
}

static void on_process(void *context, const struct elsewhere_process *process)
{
	struct agent_scan *agent_scan = context;

	if (process->agent && strcmp(process->dir, agent_scan->dir) == 0) {
		for (unsigned i = 0; i < ELSEWHERE_NETWORKS; i++)
			(void)snprintf(agent_scan->network[i], sizeof agent_scan->network[i], "%s",
				       process->network[i] ? process->network[i] : "");
		if (process->no_clock)
			doctor_say(agent_scan->doctor, AGENT_NO_CLOCK, process->pid);
	} else if (process->agent) {
		other_agent(agent_scan, process);
	} else if (strcmp(process->dir, agent_scan->dir) != 0 &&
		   !is_reported(agent_scan, process->dir)) {
		doctor_say(agent_scan->doctor, DIRECTORY_UNSEEN, process->pid, process->name,
			   process->dir);
	}
}

/* ---- programs whose domain it does not serve, or that have none ---- */

static void on_region(void *context, const struct process_status *status)
{
	struct agent_scan *agent_scan = context;

	if (status->alive == ALIVE_DEAD)
		return;
	if (status->ros_domain == KYMO_ROS_UNKNOWN) {
		doctor_say(agent_scan->doctor, AGENT_BAD_DOMAIN, status->pid, status->procname);
	} else if (agent_scan->runs && !ros_domains_has(&agent_scan->serves, status->ros_domain)) {
		ros_domains_add(&agent_scan->others, status->ros_domain);
		agent_scan->other_count++;
	}
}

static void domains(struct agent_scan *agent_scan)
{
	struct rundir dir;
	struct kymo_err err;
	char text[128];

	if (rundir_open(&dir, agent_scan->dir, false, &err) != 0)
		return;
	(void)status_read(&dir, on_region, NULL, agent_scan, &err);
	rundir_close(&dir);
	ros_domains_text(text, sizeof text, &agent_scan->others);
	if (agent_scan->other_count)
		doctor_say(agent_scan->doctor, AGENT_OTHER_DOMAINS, agent_scan->other_count,
			   agent_scan->other_count == 1 ? "" : "s", text);
}

/* ---- the network ---- */

/* Checks the files in a list of files and XML. */
static void uri(struct doctor *doctor, const char *text)
{
	char path[512];
	size_t length;

	for (; *text; text += strspn(text, ", ")) {
		if (*text == '<') /* XML goes on to the end, or may have commas */
			return;
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

/* Nodes up to Humble have no ranges. */
static bool is_off(const char *range)
{
	const char *distribution = getenv("ROS_DISTRO");

	return strcmp(range, "OFF") == 0 &&
	       !(distribution && *distribution && *distribution <= 'h');
}

/* Programs with other settings look for each other at other places. */
static void compare(struct doctor *doctor, const struct agent_scan *agent_scan)
{
	for (unsigned i = 0; i < ELSEWHERE_NETWORKS; i++) {
		const char *name = elsewhere_network_name(i), *agents = agent_scan->network[i],
			   *own = getenv(name) ?: "";

		if (strncmp(agents, own, sizeof agent_scan->network[i] - 1) == 0)
			continue;
		if (i == ELSEWHERE_URI)
			doctor_say(doctor, NETWORK_DIFFERS);
		else if (*agents)
			doctor_say(doctor, NETWORK_AGENT_HAS, name, agents, *own ? own : "none");
		else
			doctor_say(doctor, NETWORK_AGENT_HAS_NONE, name, own);
	}
}

void doctor_agent(struct doctor *doctor, const char *dir)
{
	const char *own = getenv("CYCLONEDDS_URI"),
		   *range = getenv("ROS_AUTOMATIC_DISCOVERY_RANGE") ?: "";
	struct agent_scan agent_scan = { .doctor = doctor, .dir = dir };
	char text[128];

	agent_scan.runs = agent_lock_read(dir, &agent_scan.pid, &agent_scan.serves);
	ros_domains_text(text, sizeof text, &agent_scan.serves);
	if (agent_scan.runs)
		doctor_say(doctor, AGENT_RUNS, agent_scan.pid, text);
	else
		doctor_say(doctor, AGENT_NONE, dir);
	elsewhere_scan(on_process, &agent_scan);
	domains(&agent_scan);
	if (own && *own)
		uri(doctor, own);
	if (agent_scan.runs)
		compare(doctor, &agent_scan);
	if (is_off(range) && agent_scan.runs)
		doctor_say(doctor, NETWORK_OFF);
	if ((!own || !*own) && strcmp(range, "LOCALHOST") != 0 &&
	    strcmp(getenv("ROS_LOCALHOST_ONLY") ?: "", "1") != 0)
		multicast(doctor);
}
