/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts and their processes, as messages report them. See hosts.h. */
#include "base/array.h"
#include "caret/agent/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void hosts_init(struct hosts *hosts)
{
	memset(hosts, 0, sizeof *hosts);
}

void hosts_free(struct hosts *hosts)
{
	for (unsigned i = 0; i < hosts->count; i++)
		free(hosts->host[i].process);
	hosts_init(hosts);
}

/* ---- input ---- */

static struct host *find(struct hosts *hosts, const uint8_t key[HOSTS_KEY])
{
	for (unsigned i = 0; i < hosts->count; i++)
		if (memcmp(hosts->host[i].key, key, HOSTS_KEY) == 0)
			return &hosts->host[i];
	return NULL;
}

/* Finds or adds the host with this key. NULL: too many hosts. */
static struct host *host_of(struct hosts *hosts, const uint8_t key[HOSTS_KEY])
{
	struct host *host = find(hosts, key);

	if (host || hosts->count == HOSTS_MAX)
		return host;
	host = &hosts->host[hosts->count++];
	memcpy(host->key, key, HOSTS_KEY);
	return host;
}

static struct host_process *process_of(struct host *host, const char *name)
{
	char cut[HOSTS_NAME_MAX];

	text_clean(cut, sizeof cut, name);
	for (unsigned i = 0; i < host->count; i++)
		if (strcmp(host->process[i].name, cut) == 0)
			return &host->process[i];
	if (host->count == HOSTS_PROCESS_MAX || !ARRAY_ROOM(host->process, host->count, host->room))
		return NULL;
	host->process[host->count] = (struct host_process){ .gone = true };
	memcpy(host->process[host->count].name, cut, sizeof cut);
	return &host->process[host->count++];
}

void hosts_listens(struct hosts *hosts, const uint8_t key[HOSTS_KEY], const char *name)
{
	struct host *host = host_of(hosts, key);

	if (!host || (host->listens && !host->gone && (host->name[0] || !name || !*name)))
		return;
	host->listens = true;
	host->gone = false;
	text_clean(host->name, sizeof host->name, name ? name : "");
	hosts->changes++;
}

void hosts_gone(struct hosts *hosts, const uint8_t key[HOSTS_KEY])
{
	struct host *host = find(hosts, key);

	if (!host || host->gone)
		return;
	host->gone = true;
	for (unsigned i = 0; i < host->count; i++)
		host->process[i].gone = true;
	hosts->changes++;
}

void hosts_graph(struct hosts *hosts, const uint8_t key[HOSTS_KEY], const char *const *names,
		 unsigned count)
{
	struct host *host = find(hosts, key);

	for (unsigned i = 0; host && i < host->count; i++)
		host->process[i].gone = true;
	for (unsigned i = 0; i < count; i++) {
		struct host_process *process;

		if (!strstr(names[i], HOSTS_MARK))
			continue;
		host = host_of(hosts, key);
		process = host ? process_of(host, names[i]) : NULL;
		if (process)
			process->gone = false;
	}
	hosts->changes += host != NULL;
}

void hosts_status(struct hosts *hosts, const uint8_t key[HOSTS_KEY], const char *name, int state,
		  int64_t pid, unsigned nodes)
{
	struct host *host = host_of(hosts, key);
	struct host_process *process;

	if (!host || state <= MACHINE_UNINITIALIZED || state >= MACHINE_STATES ||
	    !strstr(name, HOSTS_MARK))
		return;
	process = process_of(host, name);
	if (!process)
		return;
	process->gone = false;
	process->answered = true;
	process->state = (enum machine_state)state;
	process->pid = pid > 0 ? pid : 0;
	process->nodes = nodes;
	process->recorded |= hosts->asked && state == MACHINE_RECORD;
	hosts->changes++;
}

void hosts_asked(struct hosts *hosts)
{
	hosts->asked = true;
	for (unsigned i = 0; i < hosts->count; i++)
		for (unsigned j = 0; j < hosts->host[i].count; j++)
			hosts->host[i].process[j].answered = false;
}

/* ---- output ---- */

static void count(const struct host *host, struct hosts_tally *tally)
{
	if (!host->listens)
		return;
	tally->hosts += !host->gone;
	for (unsigned i = 0; i < host->count; i++) {
		const struct host_process *process = &host->process[i];

		tally->recorded += process->recorded;
		if (process->gone)
			continue;
		tally->processes++;
		tally->answered += process->answered;
		tally->state[process->state]++;
	}
}

struct hosts_tally hosts_tally(const struct hosts *hosts, const struct host *host)
{
	struct hosts_tally tally = { 0 };

	if (host)
		count(host, &tally);
	for (unsigned i = 0; !host && i < hosts->count; i++)
		count(&hosts->host[i], &tally);
	return tally;
}

const char *hosts_state(const struct host *host)
{
	const struct hosts_tally tally = hosts_tally(NULL, host);

	if (host->gone)
		return "gone";
	if (!tally.processes)
		return "idle";
	if (tally.state[MACHINE_UNINITIALIZED] == tally.processes)
		return "unknown";
	for (enum machine_state state = MACHINE_WAIT; state < MACHINE_STATES; state++)
		if (tally.state[state] == tally.processes)
			return machine_name(state);
	return "mixed";
}
