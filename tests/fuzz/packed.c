/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a packed stream file: found, read from front to back, and at odd places. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctf/format/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t to[65536];
	struct packed *packed;
	int fd = memfd_create("packed", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || packed_open(fd, &packed, NULL)) {
		close(fd);
		return 0;
	}
	for (uint64_t at = 0; at < packed_size(packed) && at < 16 * sizeof to; at += sizeof to)
		if (packed_read(packed, fd, to, sizeof to, at) < 0)
			break;
	for (size_t i = 0; i < size && i < 16; i++)
		(void)packed_read(packed, fd, to, 1 + data[i], packed_size(packed) * data[i] / 256);
	packed_close(packed);
	close(fd);
	return 0;
}
