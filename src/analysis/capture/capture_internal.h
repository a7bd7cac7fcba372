/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of analysis/capture: file -> frame -> datagram -> packets of RTPS. */
#ifndef KYMO_ANALYSIS_CAPTURE_INTERNAL_H
#define KYMO_ANALYSIS_CAPTURE_INTERNAL_H

#include "analysis/capture/capture.h"
#include "base/map.h"

/* Bytes that must be known to exist before each read. */
struct capture_bytes {
	const uint8_t *at;
	size_t size;
};

/* A captured frame. The bytes are those that were kept of it. */
struct capture_frame {
	int64_t ns;
	unsigned link;		/* LINKTYPE_... */
	struct capture_bytes data;
	uint32_t wire_bytes;	/* its length before it was cut off */
};

struct capture_source {
	char *path;
	char *host;                /* NULL: not given */
	int64_t first_ns, last_ns; /* of its frames; 0: none */
	uint64_t frames, cut,
		foreign; /* cut off inside a submessage; of a link that is not known */
	unsigned foreign_link;
	const char *damage;	/* NULL: none */
};

struct captures {
	struct capture_packet *packet;
	uint64_t count, size;
	struct capture_source source[CAPTURE_FILES_MAX];
	unsigned sources;
	struct map seen;	/* (writer, number, part), file -> number of the packet + 1 */
	struct map copies;	/* (writer, number, part), (file, destination) -> how many */
	struct map destinations;	/* destination, file -> any pointer */
	struct map asked;	/* writer -> time of the last request + 1 */
	struct map stamps;	/* source timestamp -> any pointer */
	char **warning;
	unsigned warnings, warnings_size;
	bool failed;		/* no memory */
};

/* capture_file.c: Return: 0, or -1 with @err: not a capture. */
int capture_read_file(struct captures *captures, unsigned file, FILE *stream, struct kymo_err *err);

/* capture_frame.c */
void capture_frame(struct captures *captures, unsigned file, const struct capture_frame *frame);

/* capture_rtps.c: a datagram of UDP. @packet has its time, addresses, size and file. */
void capture_datagram(struct captures *captures, const struct capture_packet *packet,
		      struct capture_bytes payload);

/* captures.c */
/* captures_copies() - how many copies of @packet to its destination @file has; -1: it has no packet
 * to there. */
int64_t captures_copies(const struct captures *captures, const struct capture_packet *packet,
			unsigned file);
void capture_add(struct captures *captures, const struct capture_packet *packet);

static inline uint16_t get16(const uint8_t *at, bool little)
{
	return little ? (uint16_t)(at[0] | at[1] << 8) : (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t get32(const uint8_t *at, bool little)
{
	return little ? (uint32_t)get16(at + 2, true) << 16 | get16(at, true) :
			(uint32_t)get16(at, false) << 16 | get16(at + 2, false);
}

/* Drops the first @count of @bytes. Return: false: there are not so many. */
static inline bool skip(struct capture_bytes *bytes, size_t count)
{
	if (bytes->size < count)
		return false;
	bytes->at += count;
	bytes->size -= count;
	return true;
}

#endif
