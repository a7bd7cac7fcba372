/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a trace file whose writer was killed: is the packet that it was writing there, and
 * cutting off what there is of it when it is not whole.
 *
 * A file grows with the bytes that are copied into it, in order, so a packet is whole when the file
 * reaches its end. Where to look was said by the dead writer and may be wrong or meant to harm: only
 * regular files of one's own that begin as a trace's do are touched, and what is whole is only cut by
 * ctf_tail_take_back(): the last packet, which has to begin as it is said to.
 *
 * Context of all functions: allocate and block.
 */
#ifndef KYMO_CTF_TAIL_H
#define KYMO_CTF_TAIL_H

#include <stdint.h>

enum ctf_tail {
	CTF_TAIL_NOTHING,	/* the file ends before the packet: nothing of it was written, or what was is cut off */
	CTF_TAIL_WHOLE,		/* the packet is there */
	CTF_TAIL_OTHER,		/* something else is there, or the file is none of a trace; it was not touched */
	CTF_TAIL_GONE,		/* there is no such file any more, or it cannot be opened: -errno in *rc */
};

/* A packet that may be at the end of a stream file. */
struct ctf_tail_packet {
	const char *path;
	uint64_t offset, size;		/* bytes */
	const uint8_t *head;		/* how it begins: packet header and context */
	uint32_t head_size;
};

/**
 * ctf_tail_packet() - look for a packet, and cut off what there is of it if that is not all
 * @cut: bytes that were cut off
 * @rc: 0, or -errno of what could not be done: with CTF_TAIL_NOTHING, of the cut
 *
 * A file that is empty then is removed: it is no stream. The file may be missing if the packet would
 * have been its first and its directory is there.
 */
enum ctf_tail ctf_tail_packet(const struct ctf_tail_packet *packet, uint64_t *cut, int *rc);

/**
 * ctf_tail_take_back() - cut a packet off that is whole, and the last in its file
 *
 * Return: 0: the file ends before it now; -errno, -EINVAL when it is not as said: it was not touched.
 */
int ctf_tail_take_back(const struct ctf_tail_packet *packet);

/**
 * ctf_tail_metadata() - cut metadata after its last whole declaration
 * @cut: bytes that were cut off
 * Return: 0; -errno, -EINVAL when it is none.
 */
int ctf_tail_metadata(const char *path, uint64_t *cut);

#endif
