/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a trace file whose writer was killed: whether the packet that it was writing is
 * complete, and cutting off an incomplete one.
 *
 * A file grows with the bytes that are copied into it, in order, so a packet is complete if the
 * file reaches its end. The dead writer left the place of the packet, which may be wrong or
 * malicious: only regular files of our own user that begin as those of a trace are changed. A
 * complete packet is only cut off by ctf_tail_take_back(), if it is the last one and begins as the
 * writer said.
 *
 * Context of all functions: allocate and block.
 */
#ifndef KYMO_CTF_TAIL_H
#define KYMO_CTF_TAIL_H

#include <stdint.h>

enum ctf_tail {
	CTF_TAIL_NOTHING, /* the file ends before the packet: nothing of it was written, or that
			     part was cut off */
	CTF_TAIL_WHOLE,   /* the packet is complete */
	CTF_TAIL_OTHER,   /* the file has something else there, or is not of a trace; it was not
			     changed */
	CTF_TAIL_GONE,    /* the file does not exist any more, or cannot be opened: -errno in *rc */
};

/* A packet that may be at the end of a stream file. */
struct ctf_tail_packet {
	const char *path;
	uint64_t offset, size;		/* bytes */
	const uint8_t *head;		/* how it begins: packet header and context */
	uint32_t head_size;
};

/**
 * ctf_tail_packet() - find a packet, and cut it off if it is incomplete
 * @cut: bytes that were cut off
 * @rc: 0, or -errno of what failed: with CTF_TAIL_NOTHING, of cutting off
 *
 * A file that is empty then is removed: it is not a stream. The file may be missing if the packet
 * would have been its first, and its directory exists.
 */
enum ctf_tail ctf_tail_packet(const struct ctf_tail_packet *packet, uint64_t *cut, int *rc);

/**
 * ctf_tail_take_back() - cut off a complete packet that is the last in its file
 *
 * Return: 0: the file ends before it now; -errno, -EINVAL: the file is not as described. Then it
 * was not changed.
 */
int ctf_tail_take_back(const struct ctf_tail_packet *packet);

/**
 * ctf_tail_metadata() - cut metadata after its last whole declaration
 * @cut: bytes that were cut off
 * Return: 0; -errno, -EINVAL: not metadata.
 */
int ctf_tail_metadata(const char *path, uint64_t *cut);

#endif
