/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a killed recorder left for a relay: an input is pieces { u8 file, u16 size,
 * bytes } for the files facts, stored, note and segments of packets, of which two names are odd.
 * All that can be read of it is read, and released.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "fuzz_file.h"
#include "relay/send/spool.h"

static char parent[64], folder[128];
static const char *const names[] = { "facts", "stored", "note", "run-0", "run-64", "run-18446744073709551600" };
#define NAMES (sizeof(names) / sizeof(*names))

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	(void)snprintf(parent, sizeof(parent), "%s", fuzz_folder_make());
	(void)snprintf(folder, sizeof(folder), "%s/spool", parent);
	return 0;
}

static void append(const char *name, const uint8_t *bytes, size_t size)
{
	char path[256];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || write_all(fd, bytes, size))
		abort();
	(void)close(fd);
}

static void put(const uint8_t *data, size_t size)
{
	if (mkdir(folder, 0700))
		abort();
	append("facts", NULL, 0);
	append("stored", NULL, 0);
	while (size > 2) {
		const char *name = names[data[0] % NAMES];
		size_t piece = (size_t)(data[1] | data[2] << 8);

		if (piece > size - 3)
			piece = size - 3;
		append(name, data + 3, piece);
		data += 3 + piece;
		size -= 3 + piece;
	}
}

static void read_all_of(struct spool *spool, enum spool_log log, uint64_t at)
{
	const uint64_t end = spool_end(spool, log);
	struct spool_record record;
	void *body = NULL;
	size_t room = 0;

	for (uint64_t next; at < end; at = next) {
		next = spool_read(spool, log, at, &record, &body, &room);
		if (!next)
			break;
		if (next <= at || record.size > SPOOL_BODY_MAX ||
		    (record.size && record.size > room))
			abort();
	}
	free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spool *spool;
	struct spool_stored stored;
	char note[512];

	put(data, size);
	if (spool_adopt(parent, "spool", &spool)) {
		for (unsigned i = 0; i < NAMES; i++) {
			char path[256];

			(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
			(void)unlink(path);
		}
		(void)rmdir(folder);
		return 0;
	}
	spool_noted(spool, note, sizeof(note));
	stored = spool_stored(spool);
	read_all_of(spool, SPOOL_FACTS, 0);
	read_all_of(spool, SPOOL_RUN, stored.position);
	(void)spool_waiting(spool);
	stored.position = spool_end(spool, SPOOL_RUN);
	spool_release(spool, &stored);
	spool_close(spool, false);
	if (access(folder, F_OK) == 0) {
		char command[200];

		(void)snprintf(command, sizeof(command), "rm -r '%s'", folder);
		if (system(command))
			abort();
	}
	return 0;
}
