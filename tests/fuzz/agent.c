/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any messages of other participants of a ROS domain: an input is pieces { u8 what, u8 who, u8
 * size, bytes } for what `kymo agent` and `kymo record --hosts` know of hosts, the order of Starts
 * and Ends, the state of processes, and /clock.
 */
#include <string.h>

#include "caret/agent/hosts.h"
#include "caret/agent/machine.h"
#include "caret/agent/order.h"
#include "caret/agent/sim_clock.h"
#include "fuzz_file.h"

struct fuzz {
	struct hosts hosts;
	struct order order;
	struct sim_clock clock;
	enum machine_state state;
	int64_t now, kept_ns;
	uint64_t kept;
};

static void keep(void *context, const struct sim_clock_point *pair)
{
	struct fuzz *fuzz = context;

	if (pair->ns < fuzz->kept_ns || pair->ns > fuzz->now)
		abort();	/* in the order of ns */
	fuzz->kept_ns = pair->ns;
	fuzz->kept++;
}

static int64_t number(const uint8_t *bytes, size_t size)
{
	int64_t value = 0;

	memcpy(&value, bytes, size < sizeof(value) ? size : sizeof(value));
	return value;
}

static void graph(struct fuzz *fuzz, const uint8_t key[HOSTS_KEY], char *text, size_t size)
{
	const char *name[64];
	unsigned count = 0;

	for (size_t at = 0; at < size && count < 64; at += strlen(text + at) + 1)
		name[count++] = text + at;
	hosts_graph(&fuzz->hosts, key, name, count);
}

static void order(struct fuzz *fuzz, const uint8_t key[HOSTS_KEY], bool start, int64_t ns)
{
	struct order_sent sent = { .ns = ns };

	memcpy(sent.sender, key, sizeof(sent.sender));
	(void)(start ? order_start(&fuzz->order, &sent) : order_end(&fuzz->order, &sent));
}

static void step(struct fuzz *fuzz, uint8_t who)
{
	const struct machine_condition condition = { who & 128,
						     (enum machine_session)(who >> 4 & 7) };

	fuzz->state = machine_step(fuzz->state, (enum machine_input)(who & 7), condition).next;
	if ((unsigned)fuzz->state >= MACHINE_STATES || !machine_name(fuzz->state))
		abort();
}

static void message(struct fuzz *fuzz, uint8_t what, uint8_t who, const uint8_t *bytes, size_t size)
{
	uint8_t key[HOSTS_KEY] = { who };
	char text[256] = "";

	memcpy(text, bytes, size);
	switch (what % 9) {
	case 0:
		hosts_listens(&fuzz->hosts, key, who & 1 ? text : NULL);
		break;
	case 1:
		hosts_gone(&fuzz->hosts, key);
		break;
	case 2:
		graph(fuzz, key, text, size);
		break;
	case 3:
		hosts_status(&fuzz->hosts, key, text, (int)number(bytes, size), number(bytes, size),
			     who);
		break;
	case 4:
		hosts_asked(&fuzz->hosts);
		break;
	case 5:
		order(fuzz, key, what & 128, number(bytes, size));
		break;
	case 6:
		step(fuzz, who);
		break;
	case 7:
		fuzz->now += (int64_t)who * who * 1000;
		sim_clock_message(&fuzz->clock, fuzz->now, number(bytes, size));
		break;
	default:
		fuzz->now += (int64_t)who * who * 1000;
		if (sim_clock_tick(&fuzz->clock, fuzz->now) < 1000000)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz fuzz;

	fuzz = (struct fuzz){ .now = 1000000000 };
	hosts_init(&fuzz.hosts);
	sim_clock_init(&fuzz.clock, 10, keep, &fuzz);
	for (size_t piece; size > 2; data += 3 + piece, size -= 3 + piece) {
		piece = data[2] < size - 3 ? data[2] : size - 3;
		message(&fuzz, data[0], data[1], data + 3, piece);
	}
	(void)hosts_tally(&fuzz.hosts, NULL);
	for (unsigned i = 0; i < fuzz.hosts.count; i++)
		if (!hosts_state(&fuzz.hosts.host[i]) ||
		    fuzz.hosts.host[i].count > HOSTS_PROCESS_MAX)
			abort();
	hosts_free(&fuzz.hosts);
	return 0;
}
