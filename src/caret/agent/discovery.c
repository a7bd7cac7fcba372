/* SPDX-License-Identifier: Apache-2.0 */
/* From ROS 2's variables to a CycloneDDS configuration. See discovery.h. */
#include "caret/agent/discovery.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

#define PEER_MAX 255 /* bytes of an address, as rcl has it */

struct reading {
	void (*say)(void *context, const char *text);
	void *context;
	bool localhost_only;
};

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

/* Nodes up to Humble know only ROS_LOCALHOST_ONLY. */
static bool is_old(void)
{
	const char *distribution = variable("ROS_DISTRO");

	return *distribution && *distribution <= 'h';
}

__attribute__((format(printf, 2, 3))) static void say(const struct reading *reading,
						      const char *format, ...)
{
	char text[512];
	va_list args;

	if (!reading->say)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);
	va_end(args);
	reading->say(reading->context, text);
}

static enum discovery_range range_of(struct reading *reading)
{
	static const struct {
		const char *name;
		enum discovery_range range;
	} names[] = {
		{ "", DISCOVERY_SUBNET },
		{ "SUBNET", DISCOVERY_SUBNET },
		{ "LOCALHOST", DISCOVERY_LOCALHOST },
		{ "OFF", DISCOVERY_OFF },
		{ "SYSTEM_DEFAULT", DISCOVERY_DEFAULT },
	};
	const char *value = variable("ROS_AUTOMATIC_DISCOVERY_RANGE");

	reading->localhost_only = strcmp(variable("ROS_LOCALHOST_ONLY"), "1") == 0;
	if (is_old())
		return reading->localhost_only ? DISCOVERY_LOOPBACK : DISCOVERY_DEFAULT;
	if (reading->localhost_only)
		return DISCOVERY_LOCALHOST;
	for (unsigned i = 0; i < COUNT_OF(names); i++)
		if (strcmp(names[i].name, value) == 0)
			return names[i].range;
	say(reading,
	    "ROS_AUTOMATIC_DISCOVERY_RANGE is '%.100s', which is not SUBNET, LOCALHOST, OFF or "
	    "SYSTEM_DEFAULT; as ROS 2 does, only nodes of this host are looked for",
	    value);
	return DISCOVERY_LOCALHOST;
}

/* ---- the configuration ---- */

static void put_address(FILE *out, const char *text, size_t length)
{
	fputs("<Peer address=\"", out);
	for (size_t i = 0; i < length; i++)
		if (strchr("<>&\"'", text[i]))
			fprintf(out, "&#%d;", text[i]);
		else
			fputc(text[i], out);
	fputs("\"/>", out);
}

static void put_peers(FILE *out, const struct reading *reading, enum discovery_range range)
{
	const char *at = reading->localhost_only ? "" : variable("ROS_STATIC_PEERS");

	if (range != DISCOVERY_LOCALHOST && !at[strspn(at, ";")])
		return;
	fputs("<Peers>", out);
	if (range == DISCOVERY_LOCALHOST)
		put_address(out, "localhost", 9);
	while (at[strspn(at, ";")]) {
		size_t length;

		at += strspn(at, ";");
		length = strcspn(at, ";");
		if (length <= PEER_MAX)
			put_address(out, at, length);
		else
			say(reading,
			    "an address in ROS_STATIC_PEERS is longer than 255 bytes and left out: "
			    "%.40s...",
			    at);
		at += length;
	}
	fputs("</Peers>", out);
}

/* A tag that nobody else has hides a participant from all others. */
static void put_discovery(FILE *out, const struct reading *reading, enum discovery_range range)
{
	fputs("<Discovery>", out);
	if (range == DISCOVERY_OFF) {
		fprintf(out,
			"<ParticipantIndex>none</ParticipantIndex><Tag>kymo_discovery_off_%d</Tag>",
			(int)getpid());
	} else {
		fputs("<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</"
		      "MaxAutoParticipantIndex>",
		      out);
		put_peers(out, reading, range);
	}
	fputs("</Discovery>", out);
}

enum discovery_range discovery_read(char **config, void (*report)(void *context, const char *text),
				    void *context)
{
	struct reading reading = { .say = report, .context = context };
	const enum discovery_range range = range_of(&reading);
	size_t size = 0;
	FILE *out;

	*config = NULL;
	out = open_memstream(config, &size);
	if (!out)
		return range;
	if (range != DISCOVERY_DEFAULT)
		fputs("<CycloneDDS><Domain>", out);
	if (range == DISCOVERY_LOOPBACK)
		fputs("<General><Interfaces><NetworkInterface "
		      "address=\"127.0.0.1\"/></Interfaces></General>",
		      out);
	if (range == DISCOVERY_LOCALHOST || range == DISCOVERY_OFF)
		fputs("<General><AllowMulticast>false</AllowMulticast></General>", out);
	if (range != DISCOVERY_DEFAULT && range != DISCOVERY_LOOPBACK)
		put_discovery(out, &reading, range);
	if (range != DISCOVERY_DEFAULT)
		fputs("</Domain></CycloneDDS>,", out);
	else if (!is_old() && *variable("ROS_STATIC_PEERS"))
		say(&reading,
		    "ROS_STATIC_PEERS (%.100s) has no effect with "
		    "ROS_AUTOMATIC_DISCOVERY_RANGE=SYSTEM_DEFAULT",
		    variable("ROS_STATIC_PEERS"));
	fputs(variable("CYCLONEDDS_URI"), out);
	if (fclose(out) != 0) {
		free(*config);
		*config = NULL;
	}
	return range;
}
