/* SPDX-License-Identifier: Apache-2.0 */
/* An input as a file with a path, for readers that open one; and a directory for several. */
#ifndef KYMO_FUZZ_FILE_H
#define KYMO_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

struct fuzz_file {
	int fd;
	char path[32];
};

/* Its file is in memory only. */
static inline struct fuzz_file fuzz_file_open(const void *data, size_t size)
{
	struct fuzz_file file = { .fd = memfd_create("fuzz", MFD_CLOEXEC) };

	if (file.fd < 0 || write(file.fd, data, size) != (ssize_t)size)
		abort();
	(void)snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return file;
}

__attribute__((unused)) static char fuzz_folder[64];

static inline void fuzz_folder_remove(void)
{
	char command[96];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", fuzz_folder);
	(void)!system(command);
}

/* A directory in memory, for this process alone, which is removed at its end. */
static inline const char *fuzz_folder_make(void)
{
	(void)snprintf(fuzz_folder, sizeof(fuzz_folder), "/dev/shm/kymo-fuzz-XXXXXX");
	if (!mkdtemp(fuzz_folder) || atexit(fuzz_folder_remove))
		abort();
	return fuzz_folder;
}

static inline void fuzz_file_close(const struct fuzz_file *file)
{
	(void)close(file->fd);
}

#endif
