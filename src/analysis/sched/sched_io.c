/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for a disk or the network; see sched_io.h.
 *
 * The idea: the kernel wakes a thread in the interrupt that brings what the thread waited for. So
 * remember for each CPU the latest completion of a request or packet, and ask at each wake-up
 * whether there was one on that CPU immediately before. The requests that were completed most
 * recently are kept, because a thread often waits for several.
 */
#include "analysis/sched/sched_io.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sched/sched_internal.h"
#include "base/array.h"
#include "base/map.h"

#define CLOSE_NS 50000  /* from a completion to the wake-up that it causes */
#define OPEN_MAX 65536u /* requests at a time; more are damage */
#define RECENT 256u

enum { ISSUE, COMPLETE, RECEIVE };

static const struct kymo_ctf_bind wanted[] = {
	[ISSUE] = { "block_rq_issue", { "dev", "sector", "rwbs", "bytes", "tid" } },
	[COMPLETE] = { "block_rq_complete", { "dev", "sector", "rwbs", "nr_sector" } },
	[RECEIVE] = { "net_if_receive_skb", { "name", "len" } },
};
enum { DEVICE, SECTOR, RWBS, BYTES, TID, SECTORS = BYTES };
enum { NAME, LENGTH };

struct io_request {
	uint32_t host, device;
	int64_t sector, issue_ns, complete_ns; /* issue_ns -1: not in the trace */
	uint64_t bytes;
	int32_t tid; /* who issued it; -1: unknown */
	const char *direction;
};

/* What arrived last on a CPU. */
struct io_arrival {
	int64_t ns;
	bool is_packet;
	struct io_request request;
	char name[SCHED_IO_NAME_SIZE]; /* of a packet: its interface */
	uint64_t bytes;
};

struct sched_ios {
	const struct kymo_ctf_reader *reader;
	struct map open;     /* (sector, host and device) -> struct io_request */
	struct map arrivals; /* (CPU, host) -> struct io_arrival */
	struct io_request recent[RECENT];
	unsigned next;
};

const struct kymo_ctf_bind *sched_ios_bind(unsigned *count)
{
	*count = COUNT_OF(wanted);
	return wanted;
}

int sched_ios_create(struct sched_ios **out, const struct kymo_ctf_reader *reader)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -1;
	(*out)->reader = reader;
	return 0;
}

void sched_ios_destroy(struct sched_ios *ios)
{
	if (!ios)
		return;
	map_free_all(&ios->open);
	map_free_all(&ios->arrivals);
	free(ios);
}

/* ---- requests ---- */

static uint64_t scope_of(uint32_t host, uint32_t device)
{
	return (uint64_t)host << 32 | device;
}

/* The kernel's letters, or LTTng's bits. */
static const char *direction_of(const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *value = &event->value[RWBS];

	if (!value->present)
		return NULL;
	if (sched_is_text(event->class, "rwbs")) {
		if (memchr(value->bytes, 'D', value->size))
			return "discard";
		if (memchr(value->bytes, 'W', value->size))
			return "write";
		if (memchr(value->bytes, 'R', value->size))
			return "read";
		return memchr(value->bytes, 'F', value->size) ? "flush" : NULL;
	}
	if (value->u & 1 << 1)
		return "discard";
	if (value->u & 1 << 0)
		return "write";
	if (value->u & 1 << 2)
		return "read";
	return value->u & (1 << 8 | 1 << 10) ? "flush" : NULL;
}

static int on_issue(struct sched_ios *ios, const struct kymo_ctf_event *event, uint32_t host)
{
	const struct kymo_ctf_value *value = event->value;
	uint64_t scope = scope_of(host, (uint32_t)value[DEVICE].u);
	struct io_request *request = map_get(&ios->open, value[SECTOR].u, scope);

	if (!request && ios->open.count >= OPEN_MAX)
		return 0;
	if (!request)
		request = map_at(&ios->open, value[SECTOR].u, scope, sizeof(*request));
	if (!request)
		return -1;
	*request = (struct io_request){
		.host = host,
		.device = (uint32_t)value[DEVICE].u,
		.sector = value[SECTOR].i,
		.issue_ns = event->ns,
		.bytes = value[BYTES].present ? value[BYTES].u : UINT64_MAX,
		.tid = value[TID].present ? (int32_t)value[TID].i : -1,
		.direction = direction_of(event),
	};
	return 0;
}

static struct io_arrival *arrival_at(struct sched_ios *ios, const struct kymo_ctf_event *event,
				  uint32_t host)
{
	struct io_arrival *arrival;

	/* Numbers of CPUs are small; others are damage. */
	if (event->cpu < 0 || event->cpu > 65535)
		return NULL;
	arrival = map_at(&ios->arrivals, (uint32_t)event->cpu, host, sizeof(*arrival));
	if (arrival)
		*arrival = (struct io_arrival){ .ns = event->ns };
	return arrival;
}

static void on_complete(struct sched_ios *ios, const struct kymo_ctf_event *event, uint32_t host)
{
	const struct kymo_ctf_value *value = event->value;
	struct io_request *request =
		map_del(&ios->open, value[SECTOR].u, scope_of(host, (uint32_t)value[DEVICE].u));
	struct io_request *recent = &ios->recent[ios->next++ % RECENT];
	struct io_arrival *arrival;

	*recent = (struct io_request){
		.host = host,
		.device = (uint32_t)value[DEVICE].u,
		.sector = value[SECTOR].i,
		.issue_ns = -1,
		.bytes = value[SECTORS].present ? 512 * value[SECTORS].u : UINT64_MAX,
		.tid = -1,
		.direction = direction_of(event),
	};
	if (request)
		*recent = *request;
	recent->complete_ns = event->ns;
	free(request);
	arrival = arrival_at(ios, event, host);
	if (arrival)
		arrival->request = *recent;
}

static void on_receive(struct sched_ios *ios, const struct kymo_ctf_event *event, uint32_t host)
{
	const struct kymo_ctf_value *name = &event->value[NAME], *length = &event->value[LENGTH];
	struct io_arrival *arrival = arrival_at(ios, event, host);

	if (!arrival)
		return;
	arrival->is_packet = true;
	arrival->bytes = length->present ? length->u : UINT64_MAX;
	if (name->present && sched_is_text(event->class, "name"))
		memcpy(arrival->name, name->bytes,
		       strnlen(name->bytes, name->size < sizeof(arrival->name)
						    ? name->size
						    : sizeof(arrival->name) - 1));
}

int sched_ios_event(struct sched_ios *ios, const struct kymo_ctf_event *event, unsigned first,
		    uint32_t host)
{
	const struct kymo_ctf_value *value = event->value;
	int row = event->bound - (int)first;

	if (event->bound < (int)first || row > RECEIVE || event->ns < 0)
		return 0;
	if (row == RECEIVE)
		on_receive(ios, event, host);
	else if (value[DEVICE].present && value[SECTOR].present && row == ISSUE)
		return on_issue(ios, event, host);
	else if (value[DEVICE].present && value[SECTOR].present)
		on_complete(ios, event, host);
	return 0;
}

/* ---- waits ---- */

/* The request of @spell's thread that was completed last during @spell, or NULL. */
static const struct io_request *own_request(const struct sched_ios *ios,
					 const struct sched_spell *spell)
{
	for (unsigned i = 1; i <= RECENT; i++) {
		const struct io_request *request = &ios->recent[(ios->next - i) % RECENT];

		if (request->complete_ns >= spell->from_ns &&
		    request->complete_ns <= spell->to_ns && request->tid == spell->tid &&
		    request->host == spell->host)
			return request;
	}
	return NULL;
}

static void wait_for_disk(const struct sched_ios *ios, const struct sched_spell *spell,
			  const struct io_request *last, struct sched_io *wait)
{
	(void)snprintf(wait->device, sizeof(wait->device), "%u:%u", last->device >> 20,
		       last->device & 0xfffff);
	wait->direction = last->direction;
	wait->sector = last->sector;
	wait->request_ns = last->issue_ns < 0 ? -1 : last->complete_ns - last->issue_ns;
	wait->requests = 1;
	wait->bytes = last->bytes;
	for (unsigned i = 0; i < RECENT; i++) {
		const struct io_request *other = &ios->recent[i];

		if (other->tid != spell->tid || other->host != spell->host ||
		    other->complete_ns <= spell->from_ns || other->complete_ns > spell->to_ns ||
		    (other->complete_ns == last->complete_ns && other->sector == last->sector))
			continue;
		wait->requests++;
		if (other->bytes == UINT64_MAX || wait->bytes == UINT64_MAX)
			wait->bytes = UINT64_MAX;
		else
			wait->bytes += other->bytes;
	}
}

bool sched_ios_wait(const struct sched_ios *ios, const struct sched_spell *spell, int32_t cpu,
		    struct sched_io *wait)
{
	const struct io_arrival *arrival = map_get(&ios->arrivals, (uint32_t)cpu, spell->host);
	const struct io_request *request;

	*wait = (struct sched_io){
		.from_ns = spell->from_ns, .to_ns = spell->to_ns, .sector = -1, .request_ns = -1
	};
	if (arrival && arrival->ns >= spell->from_ns && spell->to_ns - arrival->ns < CLOSE_NS) {
		wait->is_network = arrival->is_packet;
		if (!arrival->is_packet) {
			wait_for_disk(ios, spell, &arrival->request, wait);
			return true;
		}
		memcpy(wait->device, arrival->name, sizeof(wait->device));
		wait->direction = "receive";
		wait->requests = 1;
		wait->bytes = arrival->bytes;
		return true;
	}
	request = strncmp(spell->by, "kworker/", strlen("kworker/")) == 0 ? own_request(ios, spell)
									  : NULL;
	if (request)
		wait_for_disk(ios, spell, request, wait);
	return request;
}
