/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What zstd makes of a file in frames, and what it costs: CPU time of the thread, so that a busy
 * machine does not count. usage: bench_pack FILE NAME FRAME LEVEL...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zstd.h>

#define ENOUGH_NS 300000000u	/* of each */

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static char *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	size_t room = 1u << 20;
	char *bytes = malloc(room);

	*size = 0;
	while (file && bytes && !feof(file)) {
		if (*size == room)
			bytes = realloc(bytes, room *= 2);
		if (bytes)
			*size += fread(bytes + *size, 1, room - *size, file);
	}
	if (file)
		fclose(file);
	return bytes;
}

int main(int argc, char **argv)
{
	ZSTD_CCtx *in = ZSTD_createCCtx();
	ZSTD_DCtx *out = ZSTD_createDCtx();
	size_t size, frame = argc > 4 ? strtoul(argv[3], NULL, 0) : 0;
	char *plain = frame ? read_all(argv[1], &size) : NULL, *packed, *again;

	packed = malloc(frame ? ZSTD_compressBound(frame) : 1);
	again = malloc(frame + 1);
	if (!plain || !size || !packed || !again || !in || !out)
		return 2;
	for (int i = 4; i < argc; i++) {
		uint64_t in_ns = 0, out_ns = 0, bytes = 0, smaller = 0;

		ZSTD_CCtx_setParameter(in, ZSTD_c_compressionLevel, atoi(argv[i]));
		ZSTD_CCtx_setParameter(in, ZSTD_c_checksumFlag, 1);
		while (in_ns < ENOUGH_NS) {
			for (size_t at = 0; at < size; at += frame) {
				size_t part = size - at < frame ? size - at : frame;
				uint64_t begin = cpu_ns(), middle;
				size_t got = ZSTD_compress2(in, packed, ZSTD_compressBound(frame),
							    plain + at, part);

				middle = cpu_ns();
				if (ZSTD_decompressDCtx(out, again, frame, packed, got) != part)
					return 1;
				out_ns += cpu_ns() - middle;
				in_ns += middle - begin;
				smaller += got;
				bytes += part;
			}
		}
		printf("%-18s %4zu KiB  level %s  ratio %5.2f  %6.2f ms/MB in  %6.2f ms/MB out\n", argv[2], frame / 1024,
		       argv[i], (double)bytes / (double)smaller, (double)in_ns / (double)bytes,
		       (double)out_ns / (double)bytes);
	}
	return 0;
}
