/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats pcap and pcapng, of either byte order;
 * https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-05.html and -pcapng-03. Everything in a
 * file is untrusted: no length is believed before that many bytes are there, and what is longer
 * than FRAME_MAX is damage.
 *
 * Why no library: two headers and three kinds of blocks are all that is needed, and libpcap would
 * bring the library of D-Bus into every process of kymo.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/capture/capture_internal.h"

#define FRAME_MAX (1u << 20)
#define INTERFACES_MAX 256u

#define PCAP_MICRO 0xa1b2c3d4u
#define PCAP_NANO 0xa1b23c4du
#define NG_SECTION 0x0a0d0d0au
#define NG_ORDER 0x1a2b3c4du

enum { NG_INTERFACE = 1, NG_PACKET_OLD = 2, NG_PACKET = 6 };
enum { NG_OPTION_RESOLUTION = 9, NG_OPTION_OFFSET = 14 };

struct interface {
	unsigned link;
	uint64_t per_second;	/* units of its times */
	int64_t offset_s;
};

struct file {
	struct captures *captures;
	unsigned number;
	FILE *stream;
	bool little;
	uint8_t *buffer;	/* FRAME_MAX */
	struct interface interface[INTERFACES_MAX];
	unsigned interfaces;
};

/* Return: 1; 0 at the end of the file; -1: it ends in the middle. */
static int get(struct file *file, void *into, size_t size)
{
	const size_t got = fread(into, 1, size, file->stream);

	return got == size ? 1 : got ? -1 : 0;
}

static void damaged(struct file *file, const char *what)
{
	file->captures->source[file->number].damage = what;
}

static void cut_short(struct file *file)
{
	damaged(file, "ends in the middle of a packet");
}

/* ---- pcap ---- */

static void read_pcap(struct file *file, bool nano)
{
	uint8_t header[20], record[16];
	struct capture_frame frame;
	int more;

	if (get(file, header, sizeof(header)) <= 0) {
		cut_short(file);
		return;
	}
	frame.link = get32(header + 16, file->little) & 0xffff;
	while ((more = get(file, record, sizeof(record))) > 0) {
		const uint64_t part = get32(record + 4, file->little);

		frame.ns = (int64_t)get32(record, file->little) * 1000000000 +
			   (int64_t)(nano ? part : part * 1000);
		frame.data =
			(struct capture_bytes){ file->buffer, get32(record + 8, file->little) };
		frame.wire_bytes = get32(record + 12, file->little);
		if (frame.data.size > FRAME_MAX) {
			damaged(file, "is damaged: it has a packet of more than 1 MiB");
			return;
		}
		if (frame.data.size && get(file, file->buffer, frame.data.size) <= 0) {
			cut_short(file);
			return;
		}
		capture_frame(file->captures, file->number, &frame);
	}
	if (more < 0)
		cut_short(file);
}

/* ---- pcapng ---- */

static void set_resolution(struct interface *interface, unsigned value)
{
	uint64_t per_second = 1;

	if (value & 0x80)
		per_second = (value & 0x7f) < 40 ? 1ull << (value & 0x7f) : 0;
	else
		for (unsigned i = 0; i < value && per_second; i++)
			per_second = i < 12 ? per_second * 10 : 0;
	if (per_second)
		interface->per_second = per_second;
}

/* 0 link; 2 reserved; 4 length of packets; 8 options: code, length, value, padded */
static void on_interface(struct file *file, struct capture_bytes body)
{
	struct interface *interface;

	if (file->interfaces == INTERFACES_MAX || body.size < 8)
		return;
	interface = &file->interface[file->interfaces++];
	*interface = (struct interface){
		.link = get16(body.at, file->little), .per_second = 1000000,
	};
	(void)skip(&body, 8);
	while (body.size >= 4) {
		const unsigned code = get16(body.at, file->little),
			       length = get16(body.at + 2, file->little);

		if (!code || !skip(&body, 4) || body.size < length)
			return;
		if (code == NG_OPTION_RESOLUTION && length >= 1)
			set_resolution(interface, body.at[0]);
		if (code == NG_OPTION_OFFSET && length >= 8)
			interface->offset_s =
				(int64_t)((uint64_t)get32(body.at + (file->little ? 4 : 0),
							  file->little)
						  << 32 |
					  get32(body.at + (file->little ? 0 : 4), file->little));
		if (!skip(&body, (length + 3u) & ~3u))
			return;
	}
}

static int64_t interface_ns(const struct interface *interface, uint64_t units)
{
	const uint64_t seconds = units / interface->per_second + (uint64_t)interface->offset_s;
	const uint64_t rest = units % interface->per_second;

	/* Nobody has captured then. */
	if (seconds > UINT32_MAX)
		return 0;
	if (interface->per_second <= 1000000000 && 1000000000 % interface->per_second == 0)
		return (int64_t)(seconds * 1000000000 +
				 rest * (1000000000 / interface->per_second));
	return (int64_t)(seconds * 1000000000) +
	       (int64_t)((double)rest * 1e9 / (double)interface->per_second);
}

/* 0 interface; 4 time, the upper half first; 12 bytes that were kept; 16 bytes that there were; 20
 * the bytes */
static void on_packet(struct file *file, struct capture_bytes body, bool old)
{
	struct capture_frame frame;
	unsigned number;

	if (body.size < 20)
		return;
	number = old ? get16(body.at, file->little) : get32(body.at, file->little);
	if (number >= file->interfaces)
		return;
	frame.link = file->interface[number].link;
	frame.ns = interface_ns(&file->interface[number], (uint64_t)get32(body.at + 4, file->little)
									  << 32 |
								  get32(body.at + 8, file->little));
	frame.wire_bytes = get32(body.at + 16, file->little);
	frame.data.size = get32(body.at + 12, file->little);
	(void)skip(&body, 20);
	frame.data.at = body.at;
	if (frame.data.size > body.size)
		frame.data.size = body.size;
	capture_frame(file->captures, file->number, &frame);
}

/* After its type: the length of a section's block depends on the byte order in it. Return: as
 * get(). */
static int begin_section(struct file *file, uint8_t head[8])
{
	const int more = get(file, head, 8);

	if (more <= 0)
		return more ? more : -1;
	if (get32(head + 4, true) == NG_ORDER)
		file->little = true;
	else if (get32(head + 4, false) == NG_ORDER)
		file->little = false;
	else
		return -1;
	file->interfaces = 0;
	return 1;
}

/* One block behind its type. Return: 1; -1: it is damaged or cut off. */
static int read_block(struct file *file, const uint8_t type[4])
{
	const bool is_section = get32(type, true) == NG_SECTION;
	uint8_t head[8];
	struct capture_bytes body = { file->buffer, 0 };
	uint32_t length;
	int more = is_section ? begin_section(file, head) : get(file, head, 4);

	if (more <= 0)
		return -1;
	length = get32(head, file->little);
	/* Type, length twice, and what was read already. */
	if (length < 12 + (is_section ? 4u : 0) || length % 4 || length > FRAME_MAX)
		return -1;
	body.size = length - 8 - (is_section ? 4 : 0);
	if (get(file, file->buffer, body.size) <= 0)
		return -1;
	body.size -= 4;
	switch (is_section ? 0 : get32(type, file->little)) {
	case NG_INTERFACE:
		on_interface(file, body);
		break;
	case NG_PACKET:
	case NG_PACKET_OLD:
		on_packet(file, body, get32(type, file->little) == NG_PACKET_OLD);
		break;
	default:
		break;
	}
	return 1;
}

static void read_pcapng(struct file *file)
{
	uint8_t type[4] = { 0x0a, 0x0d, 0x0d, 0x0a };
	int more;

	do {
		if (read_block(file, type) < 0) {
			damaged(file, "is damaged, or ends in the middle of a packet");
			return;
		}
	} while ((more = get(file, type, sizeof(type))) > 0);
	if (more < 0)
		cut_short(file);
}

int capture_read_file(struct captures *captures, unsigned number, FILE *stream,
		      struct kymo_err *err)
{
	const char *path = captures->source[number].path;
	struct file *file = calloc(1, sizeof(*file));
	uint8_t magic[4];
	uint32_t big, little;
	int status = 0;

	if (file)
		*file = (struct file){
			.captures = captures, .number = number, .stream = stream,
			.buffer = malloc(FRAME_MAX),
		};
	if (!file || !file->buffer) {
		free(file);
		return err_no_memory(err);
	}
	if (get(file, magic, sizeof(magic)) <= 0)
		memset(magic, 0, sizeof(magic));
	big = get32(magic, false);
	little = get32(magic, true);
	file->little = little == PCAP_MICRO || little == PCAP_NANO;
	if (big == NG_SECTION)
		read_pcapng(file);
	else if (file->little || big == PCAP_MICRO || big == PCAP_NANO)
		read_pcap(file, (file->little ? little : big) == PCAP_NANO);
	else
		status = err_set(err, KYMO_EXIT_INPUT,
				 "%s is not a capture in the format pcap or pcapng; write one with `tcpdump -i any -w FILE udp`", path);
	free(file->buffer);
	free(file);
	return status;
}
