/* SPDX-License-Identifier: Apache-2.0 */
/* The packets of all captures, in memory; see capture.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/capture/capture_internal.h"
#include "base/array.h"
#include "base/file.h"

/* ---- packets ---- */

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static void writer_words(const struct capture_packet *packet, uint64_t words[2])
{
	memcpy(words, packet->writer, sizeof(packet->writer));
}

/* Packets with the same @key and @scope are copies. */
static void key_of(const struct capture_packet *packet, bool of_message, uint64_t *key,
		   uint64_t *scope)
{
	uint64_t words[2];

	writer_words(packet, words);
	*key = mix(words[0] ^ mix(packet->sequence));
	*scope = mix(words[1] ^ mix(of_message ? UINT64_MAX : (uint64_t)packet->fragment << 32 | packet->file));
}

static struct capture_packet *at_key(struct captures *captures, uint64_t key, uint64_t scope)
{
	const uintptr_t number = (uintptr_t)map_get(&captures->seen, key, scope);

	return number ? &captures->packet[number - 1] : NULL;
}

static uint64_t destination_of(const struct capture_packet *packet)
{
	uint64_t words[2];

	memcpy(words, packet->to.bytes, sizeof(words));
	return mix(words[0] ^ mix(words[1]));
}

static void copy_key(const struct capture_packet *packet, unsigned file, uint64_t *key,
		     uint64_t *scope)
{
	struct capture_packet there = *packet;

	there.file = (uint8_t)file;
	key_of(&there, false, key, scope);
	*scope = mix(*scope ^ destination_of(packet));
}

int64_t captures_copies(const struct captures *captures, const struct capture_packet *packet,
			unsigned file)
{
	uint64_t key, scope;

	if (!map_get(&captures->destinations, destination_of(packet), file))
		return -1;
	copy_key(packet, file, &key, &scope);
	return (int64_t)(uintptr_t)map_get(&captures->copies, key, scope);
}

static void count_copy(struct captures *captures, struct capture_packet *packet)
{
	uint64_t key, scope;
	uintptr_t before;

	copy_key(packet, packet->file, &key, &scope);
	before = (uintptr_t)map_get(&captures->copies, key, scope);
	packet->is_first_to = !before;
	captures->failed |=
		map_put(&captures->copies, key, scope, (void *)(before + 1)) ||
		map_put(&captures->destinations, destination_of(packet), packet->file, captures);
}

static bool is_same_way(const struct capture_packet *a, const struct capture_packet *b)
{
	return a->from.port == b->from.port && a->to.port == b->to.port &&
	       !memcmp(a->from.bytes, b->from.bytes, sizeof(a->from.bytes)) &&
	       !memcmp(a->to.bytes, b->to.bytes, sizeof(a->to.bytes));
}

/*
 * Is a copy of @first sent again? A writer that has no multicast sends a message to each reader,
 * one right after the other. So only what somebody asked for counts, or what goes the same way
 * twice.
 */
static bool is_again(const struct captures *captures, const struct capture_packet *first,
		     const struct capture_packet *packet)
{
	uint64_t words[2];
	uintptr_t asked;

	writer_words(packet, words);
	asked = (uintptr_t)map_get(&captures->asked, words[0], words[1] ^ packet->file);
	return is_same_way(first, packet) || (asked && captures->packet[asked - 1].ns >= first->ns);
}

static void note_request(struct captures *captures, const struct capture_packet *packet)
{
	uint64_t words[2];

	writer_words(packet, words);
	captures->failed |= map_put(&captures->asked, words[0], words[1] ^ packet->file,
				    (void *)(uintptr_t)captures->count);
}

/* The last packet: was there a copy before, and which source timestamp has its message? */
static void note_data(struct captures *captures, struct capture_packet *packet)
{
	struct capture_packet *first;
	uint64_t key, scope;

	key_of(packet, false, &key, &scope);
	first = at_key(captures, key, scope);
	packet->seen = first;
	packet->again = first && is_again(captures, first, packet);
	if (!first)
		captures->failed |=
			map_put(&captures->seen, key, scope, (void *)(uintptr_t)captures->count);
	key_of(packet, true, &key, &scope);
	first = at_key(captures, key, scope);
	if (!packet->source_ns && first)
		packet->source_ns = first->source_ns;
	if (packet->source_ns && !first)
		captures->failed |=
			map_put(&captures->seen, key, scope, (void *)(uintptr_t)captures->count);
}

void capture_add(struct captures *captures, const struct capture_packet *packet)
{
	if (!ARRAY_ADD(captures->packet, captures->count, captures->size, *packet)) {
		captures->failed = true;
		return;
	}
	if (packet->kind == CAPTURE_REQUEST) {
		captures->packet[captures->count - 1].source_ns = 0;
		note_request(captures, packet);
	} else {
		note_data(captures, &captures->packet[captures->count - 1]);
		count_copy(captures, &captures->packet[captures->count - 1]);
	}
}

uint64_t captures_count(const struct captures *captures)
{
	return captures->count;
}

const struct capture_packet *captures_packet(const struct captures *captures, uint64_t index)
{
	return &captures->packet[index];
}

/* ---- files ---- */

__attribute__((format(printf, 2, 3))) static void warn(struct captures *captures,
						       const char *format, ...)
{
	va_list list;
	char *text;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		text = NULL;
	va_end(list);
	if (text && ARRAY_ROOM(captures->warning, captures->warnings, captures->warnings_size))
		captures->warning[captures->warnings++] = text;
	else
		free(text);
}

const char *captures_warning(const struct captures *captures, unsigned index)
{
	return captures && index < captures->warnings ? captures->warning[index] : NULL;
}

static int read_source(struct captures *captures, FILE *stream, struct kymo_err *err)
{
	const unsigned number = captures->sources - 1;
	const struct capture_source *source = &captures->source[number];
	const uint64_t before = captures->count;

	if (capture_read_file(captures, number, stream, err))
		return -1;
	if (captures->failed)
		return err_no_memory(err);
	if (source->damage)
		warn(captures, "%s %s; what comes before is read", source->path, source->damage);
	if (source->foreign)
		warn(captures, "%s: %llu packets are left out, because kymo does not know their link type %u", source->path,
		     (unsigned long long)source->foreign, source->foreign_link);
	if (source->cut)
		warn(captures, "%s: %llu packets were cut off inside what kymo reads; capture with tcpdump -s 0", source->path,
		     (unsigned long long)source->cut);
	if (captures->count == before)
		warn(captures, "%s has no packets of DDS (RTPS over UDP); capture with `tcpdump -i any -w FILE udp`", source->path);
	return 0;
}

/* "HOST=FILE", unless there is a file of that name. */
static int name_source(struct capture_source *source, const char *argument)
{
	const char *equals = strchr(argument, '=');

	if (equals && equals > argument && !memchr(argument, '/', (size_t)(equals - argument)) &&
	    access(argument, F_OK)) {
		source->host = strndup(argument, (size_t)(equals - argument));
		argument = equals + 1;
		if (!source->host)
			return -1;
	}
	source->path = strdup(argument);
	return source->path ? 0 : -1;
}

static int open_source(struct captures *captures, const char *argument, struct kymo_err *err)
{
	struct capture_source *source = &captures->source[captures->sources];
	FILE *stream;
	int status;

	captures->sources++;
	if (name_source(source, argument))
		return err_no_memory(err);
	stream = file_stream(source->path);
	if (!stream)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read the capture %s: %s", source->path, file_why(-errno));
	status = read_source(captures, stream, err);
	fclose(stream);
	return status;
}

/* The source timestamps by which messages are looked up. */
static int complete(struct captures *captures, struct kymo_err *err)
{
	for (uint64_t i = 0; i < captures->count && !captures->failed; i++)
		if (captures->packet[i].source_ns)
			captures->failed |=
				map_put(&captures->stamps, (uint64_t)captures->packet[i].source_ns,
					0, captures);
	return captures->failed ? err_no_memory(err) : 0;
}

static struct captures *new_captures(struct kymo_err *err)
{
	struct captures *captures = calloc(1, sizeof(*captures));

	if (!captures)
		(void)err_no_memory(err);
	return captures;
}

int captures_read(struct captures **result, const char *const *argument, unsigned arguments,
		  struct kymo_err *err)
{
	struct captures *captures;
	int status = 0;

	if (arguments > CAPTURE_FILES_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "kymo reads at most %u captures at once", CAPTURE_FILES_MAX);
	captures = new_captures(err);
	if (!captures)
		return -1;
	for (unsigned i = 0; i < arguments && !status; i++)
		status = open_source(captures, argument[i], err);
	if (status || complete(captures, err)) {
		captures_free(captures);
		return -1;
	}
	*result = captures;
	return 0;
}

int captures_read_stream(struct captures **result, FILE *stream, struct kymo_err *err)
{
	struct captures *captures = new_captures(err);

	if (!captures)
		return -1;
	captures->sources = 1;
	if (name_source(&captures->source[0], "capture") || read_source(captures, stream, err) || complete(captures, err)) {
		captures_free(captures);
		return -1;
	}
	*result = captures;
	return 0;
}

void captures_free(struct captures *captures)
{
	if (!captures)
		return;
	for (unsigned i = 0; i < captures->sources; i++) {
		free(captures->source[i].path);
		free(captures->source[i].host);
	}
	for (unsigned i = 0; i < captures->warnings; i++)
		free(captures->warning[i]);
	free(captures->warning);
	map_free(&captures->seen);
	map_free(&captures->asked);
	map_free(&captures->copies);
	map_free(&captures->destinations);
	map_free(&captures->stamps);
	free(captures->packet);
	free(captures);
}

/* ---- names ---- */

const char *captures_host(const struct captures *captures, const struct capture_packet *packet)
{
	return captures->source[packet->file].host;
}

const char *captures_file(const struct captures *captures, const struct capture_packet *packet)
{
	return captures->source[packet->file].path;
}

const char *capture_kind_name(enum capture_kind kind)
{
	static const char *const names[] = {
		[CAPTURE_DATA] = "data", [CAPTURE_FRAGMENT] = "fragment", [CAPTURE_REQUEST] = "request",
	};

	return names[kind];
}

char *capture_address_text(const struct capture_address *address, char *buffer)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(address->is_ipv6 ? AF_INET6 : AF_INET, address->bytes, text, sizeof(text));
	snprintf(buffer, CAPTURE_ADDRESS_MAX, address->is_ipv6 ? "[%s]:%u" : "%s:%u", text, address->port);
	return buffer;
}
