/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of the store. */
#ifndef KYMO_RELAY_STORE_INTERNAL_H
#define KYMO_RELAY_STORE_INTERNAL_H

#include "relay/store/store.h"

#define ENTRY_WORDS	9

enum op { OP_OPEN, OP_WRITE, OP_ENTRY, OP_CUT, OP_READY, OP_SYNC, OP_RELEASE, OP_CLOSE };

struct file_job {
	struct disk_job job;
	enum op op;
	struct store_file *file;
	uint64_t offset;
	size_t size, padding;
	uint64_t range;			/* bytes of the file that may be read from now on */
	struct ctf_sync sync;
	int error;			/* errno */
	store_done *done;
	void *context;
	uint8_t bytes[];
};

/** store_work() - do a job. Context: the disk's thread. */
void store_work(struct disk_job *disk_job);

#endif
