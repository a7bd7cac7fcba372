/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer's own: what the metadata, the open files and the packets of a trace share.
 *
 * Context of all functions: as writer.h.
 */
#ifndef KYMO_CTF_WRITE_WRITER_INTERNAL_H
#define KYMO_CTF_WRITE_WRITER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/points.h"
#include "ctf/format/index.h"
#include "ctf/format/lock.h"
#include "ctf/write/writer.h"

struct ctf_out {
	struct ctf_writer *writer;
	struct ctf_out *prev, *next; /* of all streams */
	unsigned place;              /* in opened.out, when it is open */
	int fd;                      /* -1: not open at the moment */
	enum ctf_class class;
	bool made;       /* the file exists */
	bool torn;       /* it may be longer than length: truncate it first */
	uint64_t length; /* bytes of whole packets */
	uint64_t instance;
	uint64_t packets;
	struct ctf_index index;
	void *stored; /* of the store */
	char name[];
};

struct ctf_writer {
	const struct ctf_store *store; /* NULL: it is a directory */
	int dir_fd;     /* -1: not open at the moment */
	unsigned place; /* in opened.dir, when it is open */
	char *dir;
	dev_t dir_dev; /* which directory that is ... */
	ino_t dir_ino; /* ... since it was opened first; 0: it was not */
	ctf_watch_fn *watch;
	void *watch_context;
	off_t metadata_length;
	ctf_form_fn *form; /* NULL: TSDL */
	char *head;        /* with a form: [head_size] TSDL of everything before the first event */
	size_t head_size;
	uint8_t uuid[16];
	uint64_t bytes;
	uint64_t index_bytes;
	uint64_t next_instance;
	struct ctf_share share;
	uint64_t out_count;
	struct ctf_out *outs;
	bool declared[CTF_CLASS_COUNT][KYMO_POINTS_TABLE];
	bool own_declared[CTF_CLASS_COUNT][KYMO_POINTS_MAX - KYMO_POINTS_TABLE];
};

/* Tells the watcher, if there is one, what is about to be written. */
void writer_announce(const struct ctf_writer *writer, const char *name, uint64_t offset,
		     uint64_t size, const void *head, size_t bytes);

/* Puts a file back to its last good length. Return: 0, or a negative error number. */
int writer_cut(int fd, uint64_t length);

/* Writes the head of the metadata: trace, clock, streams. Return: 0, or a negative error number. */
int writer_metadata_begin(struct ctf_writer *writer, const struct ctf_trace_desc *desc);

/*
 * Opens the directory, unless it is open. Return: its descriptor, which others may take when they
 * need one; -errno; -ENOENT: another directory has its name.
 */
int writer_dir(struct ctf_writer *writer);

/* Closes the directory until it is needed. */
void writer_shut_dir(struct ctf_writer *writer);

/*
 * After a refused open. Return: whether to try again: a descriptor was missing, and a stream or a
 * directory other than that of @writer, which may be NULL, gave its own.
 */
bool writer_frees_descriptor(const struct ctf_writer *writer);

/* Opens the file of @out. With O_APPEND, a torn tail is the only damage that can occur. */
int out_open(struct ctf_out *out);

/* Closes the file of @out until the next packet. */
void out_shut(struct ctf_out *out);

/*
 * Adds @entry; NULL: writes what was added, and returns whether there was something. The file stays
 * open, and locked behind its entries, while descriptors suffice for streams and indexes.
 */
int out_index(struct ctf_out *out, const struct ctf_index_entry *entry);

#endif
