/* SPDX-License-Identifier: Apache-2.0 */
/* A job of the loop's thread (store.c) for the disk's thread (store_work.c). */
#ifndef KYMO_RELAY_STORE_INTERNAL_H
#define KYMO_RELAY_STORE_INTERNAL_H

#include "relay/store/store.h"

enum store_op { OP_OPEN, OP_WRITE, OP_ENTRY, OP_CUT, OP_READY, OP_SYNC, OP_RELEASE, OP_CLOSE };

struct store_job {
	struct disk_job job;
	enum store_op op;
	struct store_file *file;
	uint64_t offset;
	size_t size, padding;
	uint64_t range; /* bytes of the file that may be read from now on */
	struct ctf_sync sync;
	int error; /* errno */
	store_done *done;
	void *context;
	uint8_t bytes[];
};

/* Does a job, of struct store_job. Context: the disk's thread; blocks. */
void store_work(struct disk_job *job);

#endif
