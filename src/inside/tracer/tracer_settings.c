/* SPDX-License-Identifier: Apache-2.0 */
/* What the environment of the process asks of the tracer, and what `kymo attach` gave instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "inside/tracer/tracer_libc.h"
#include "inside/tracer/tracer_process.h"

struct kymo_settings kymo_settings;

/* Settings that `kymo attach` gave: "NAME=value" one after the other, the last one empty. */
static char given[KYMO_GIVEN_MAX];

const char *kymo_setting(const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = given; *at; at += strlen(at) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	return secure_getenv(name);
}

/* The value of a setting such as "256K", "4M", "1G" or a number of bytes; 0: not set, or not a number. */
static uint64_t size_setting(const char *name)
{
	const char *text = kymo_setting(name);
	char *end;
	uint64_t value;

	if (!text || *text < '0' || *text > '9')
		return 0;
	value = strtoull(text, &end, 10);
	if (*end == 'k' || *end == 'K')
		value <<= 10;
	else if (*end == 'm' || *end == 'M')
		value <<= 20;
	else if (*end == 'g' || *end == 'G')
		value <<= 30;
	return value;
}

/* A time such as "500us", "5ms", "1s", at most KYMO_BLOCK_NS_MAX; 0: not set, or not a time. */
static uint64_t block_setting(void)
{
	const char *text = kymo_setting("KYMO_BLOCK");
	uint64_t value, unit;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return 0;
	value = strtoull(text, &end, 10);
	unit = !strcmp(end, "us")   ? 1000
	       : !strcmp(end, "ms") ? 1000000
	       : !strcmp(end, "s")  ? 1000000000
				    : 0;
	if (!unit)
		return 0;
	return value < KYMO_BLOCK_NS_MAX / unit ? value * unit : KYMO_BLOCK_NS_MAX;
}

static uint64_t ring_bytes_setting(void)
{
	uint64_t bytes = size_setting("KYMO_RING_SIZE"), power = KYMO_RING_BYTES_MIN;

	if (!bytes)
		return 0;
	while (power < bytes && power < KYMO_RING_BYTES_MAX)
		power <<= 1;
	return power;
}

static uint64_t log_size_setting(void)
{
	const uint64_t bytes = size_setting("KYMO_LOG_SIZE") / KYMO_LOG_CHUNK * KYMO_LOG_CHUNK;

	if (!size_setting("KYMO_LOG_SIZE") || bytes > KYMO_LOG_SIZE)
		return KYMO_LOG_SIZE;
	return bytes < KYMO_LOG_SIZE_MIN ? KYMO_LOG_SIZE_MIN : bytes;
}

/*
 * The default of $KYMO_RING_MEMORY. With a large $KYMO_RING_SIZE, it has room for KYMO_ASKED_RINGS
 * rings.
 */
static uint64_t default_ring_memory(uint64_t ring_bytes)
{
	const uint64_t some = KYMO_ASKED_RINGS * (ring_bytes + KYMO_PAGE);

	return some > KYMO_RING_MEMORY ? some : KYMO_RING_MEMORY;
}

static bool flag_setting(const char *name)
{
	const char *text = kymo_setting(name);

	return text && text[0] == '1' && !text[1];
}

/* $ROS_DOMAIN_ID as rcl reads it: any base; not set means domain 0. */
static uint32_t ros_domain_setting(void)
{
	const char *text = getenv("ROS_DOMAIN_ID");
	unsigned long number;
	char *end;

	if (!text || !*text)
		return 1;
	number = strtoul(text, &end, 0);
	return (number || !*end) && number <= KYMO_ROS_DOMAIN_MAX ? (uint32_t)number + 1
								  : KYMO_ROS_UNKNOWN;
}

void kymo_settings_read(const char *settings)
{
	const char *clock, *tag;

	(void)snprintf(given, sizeof given - 1, "%s", settings);
	for (char *at = given; (at = strchr(at, '\n')); at++)
		*at = 0;
	clock = kymo_setting("KYMO_CLOCK");
	tag = kymo_setting("KYMO_SESSION");
	kymo_gettime_find();
	kymo_settings = (struct kymo_settings){
		.loaded = true,
		/* A setuid program is not traced, and neither is one of another libc. */
		.disabled = flag_setting("KYMO_DISABLE") || getauxval(AT_SECURE) || !kymo_libc_is_known(),
		.verbose = flag_setting("KYMO_VERBOSE"),
		.flight = flag_setting("KYMO_FLIGHT"),
		.ring_bytes = ring_bytes_setting(),
		.ring_memory = size_setting("KYMO_RING_MEMORY"),
		.spare_bytes = size_setting("KYMO_RING_SPARE"),
		.log_size = log_size_setting(),
		.block_ns = block_setting(),
		.session_tag = tag ? strtoull(tag, NULL, 16) : 0,
		.ros_domain = ros_domain_setting(),
		.clock = !clock                      ? 0
			 : !strcmp(clock, "counter") ? 1
			 : !strcmp(clock, "vdso")    ? 2
						     : 0,
	};
	if (!kymo_settings.ring_memory)
		kymo_settings.ring_memory = default_ring_memory(kymo_settings.ring_bytes);
	if (!kymo_settings.spare_bytes)
		kymo_settings.spare_bytes = KYMO_SPARE_BYTES;
}
