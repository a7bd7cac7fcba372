/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a Perfetto trace: packets into blocks, blocks into write(2); facts of the whole
 * trace. */
#include "export/pft/pft_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/io.h"

void pft_fail(struct pft *pft, int error, const char *doing)
{
	if (pft->error)
		return;
	pft->error = error;
	pft->doing = doing;
}

bool pft_failed(const struct pft *pft)
{
	return pft->error || pft->block.failed || pft->fresh.failed;
}

void pft_write(struct pft *pft, const uint8_t *data, size_t size)
{
	int rc;

	if (pft->error)
		return;
	rc = write_all(pft->fd, data, size);
	if (rc < 0)
		pft_fail(pft, -rc, "cannot write");
	else
		pft->totals.bytes += size;
}

/* Threads are worth it for more than some blocks. */
static bool use_threads(struct pft *pft)
{
	if (pft->may_thread && !pft->blocks && pft->totals.bytes >= PFT_BLOCK_BYTES) {
		pft->blocks = pft_blocks_new(pft->level);
		pft->may_thread = false;
	}
	return pft->blocks != NULL;
}

static void write_deflated(struct pft *pft)
{
	struct pft_job *job = pft->job;

	job->raw = pft->block;
	pft_deflate(&pft->zlib, job);
	job->raw = (struct pb){ 0 };
	pft_job_write(pft, job);
}

static void write_block(struct pft *pft, bool deflated)
{
	const size_t size = pft->block.size;

	if (pft->block.failed)
		pft_fail(pft, ENOMEM, "cannot write");
	if (!pft->error && size) {
		if (use_threads(pft))
			pft_blocks_put(pft, !deflated);
		else if (deflated)
			write_deflated(pft);
		else
			pft_write(pft, pft->block.data, size);
	}
	pft->since_restart += size;
	pft->block.size = 0;
	pft->clocks_due = true;
}

void pft_block_end(struct pft *pft)
{
	if (pft->json)
		pft_chrome_flush(pft);
	else
		write_block(pft, pft->level != PFT_LEVEL_NONE);
}

void pft_flush(struct pft *pft)
{
	pft_block_end(pft);
	pft_blocks_drain(pft);
}

void pft_threads(struct pft *pft)
{
	pft->may_thread = pft->level != PFT_LEVEL_NONE;
}

void pft_packet_begin(struct pft *pft)
{
	/* A reader that begins at this block must know the clocks, too. */
	if (pft->clocks_due && pft->clocks_sent)
		pft_clocks(pft, &pft->clocks);
	pb_open(&pft->block, F_PACKET);
}

void pft_packet_of(struct pft *pft, uint32_t machine)
{
	pft_packet_begin(pft);
	pb_uint(&pft->block, F_SEQUENCE, PFT_SEQUENCE_TRACE);
	if (machine)
		pb_uint(&pft->block, F_MACHINE, machine);
}

void pft_packet_end(struct pft *pft)
{
	pb_close(&pft->block);
	pft->totals.packets++;
	if (pft->block.size >= PFT_BLOCK_BYTES)
		pft_block_end(pft);
	if (pft->since_restart >= PFT_RESTART_BYTES &&
	    pft->since_restart >= PFT_RESTART_SHARE * pft->said)
		pft_restart(pft);
}

/* The first packet is not deflated: readers recognise the file by its first bytes. */
void pft_put_uuid(struct pft *pft)
{
	pft->clocks_due = false;	/* not yet */
	pft_packet_begin(pft);
	pb_open(&pft->block, F_TRACE_UUID);
	pb_uint(&pft->block, 1, pft->uuid[0]);
	pb_uint(&pft->block, 2, pft->uuid[1]);
	pb_close(&pft->block);
	pft_packet_end(pft);
	write_block(pft, false);
}

void pft_put_marker(struct pft *pft)
{
	/* The format defines it, so that readers find a packet in the middle of a file. */
	static const uint8_t marker[] = { 0x82, 0x47, 0x7a, 0x76, 0xb2, 0x8d, 0x42, 0xba,
					  0x81, 0xdc, 0x33, 0x32, 0x6d, 0x57, 0xa0, 0x79 };

	pft->clocks_due = false;
	pft_packet_begin(pft);
	pb_bytes(&pft->block, F_SYNCHRONIZATION_MARKER, marker, sizeof(marker));
	pft_packet_end(pft);
	write_block(pft, false);
}

uint64_t pft_identity(const struct pft *pft)
{
	return pft->uuid[0];
}

static void pft_free(struct pft *pft)
{
	pft_tracks_free(pft);
	pft_strings_free(pft);
	pft_blocks_free(pft->blocks);
	if (pft->job)
		pft_job_free(pft->job);
	free(pft->job);
	pb_free(&pft->block);
	pb_free(&pft->fresh);
	pb_free(&pft->facts);
	free(pft->seen);
	free(pft);
}

/* A random number; early in boot it may fail: zero is only less unique. */
static void find_identity(struct pft *pft)
{
	if (getrandom(pft->uuid, sizeof(pft->uuid), GRND_NONBLOCK) != sizeof(pft->uuid))
		memset(pft->uuid, 0, sizeof(pft->uuid));
}

static struct pft *pft_new(int fd)
{
	struct pft *pft = calloc(1, sizeof(*pft));

	if (!pft)
		return NULL;
	pft->fd = fd;
	find_identity(pft);
	pft->text_lost = pft_string(pft, "TRACE DATA LOST");
	pft->text_lost_events = pft_string(pft, "lost_events");
	pft->text_lost_packets = pft_string(pft, "lost_packets");
	pft->text_gap = pft_string(pft, "gap_ns");
	return pft;
}

int pft_open_chrome(struct pft **result, int fd, struct kymo_err *err)
{
	struct pft *pft = pft_new(fd);

	if (pft)
		pft->seen = calloc(PFT_SEEN, sizeof(*pft->seen));
	if (!pft || !pft->seen || pft_chrome_open(pft)) {
		if (pft)
			pft_free(pft);
		return err_no_memory(err);
	}
	*result = pft;
	return 0;
}

int pft_open(struct pft **result, int fd, int level, struct kymo_err *err)
{
	struct pft *pft = pft_new(fd);

	if (!pft)
		return err_no_memory(err);
	pft->level = level;
	pft->job = calloc(1, sizeof(*pft->job));
	if (!pft->job) {
		pft_free(pft);
		return err_no_memory(err);
	}
	if (level != PFT_LEVEL_NONE && deflateInit(&pft->zlib, level) != Z_OK) {
		pft_free(pft);
		return err_set(err, KYMO_EXIT_FAILED, "cannot start compression at level %d", level);
	}
	pft_put_uuid(pft);
	*result = pft;
	return 0;
}

int pft_close(struct pft *pft, struct kymo_err *err)
{
	int result = 0;

	if (pft->json)
		pft_chrome_close(pft);
	else
		pft_flush(pft);
	if (pft->fresh.failed)
		pft_fail(pft, ENOMEM, "cannot write");
	if (pft->error)
		result = err_set(err, KYMO_EXIT_FAILED, "%s: %s", pft->doing, strerror(pft->error));
	if (pft->level != PFT_LEVEL_NONE)
		(void)deflateEnd(&pft->zlib); /* Z_DATA_ERROR: input was left, the error is known */
	pft_free(pft);
	return result;
}

void pft_totals(const struct pft *pft, struct pft_totals *totals)
{
	*totals = pft->totals;
}

void pft_clock(struct pb *pb, unsigned clock, int64_t ns, bool incremental)
{
	pb_open(pb, 1);
	pb_uint(pb, 1, clock);
	pb_uint(pb, 2, (uint64_t)ns);
	if (incremental)
		pb_uint(pb, 3, 1);
	pb_close(pb);
}

void pft_clocks(struct pft *pft, const struct pft_clocks *clocks)
{
	struct pb *pb = &pft->block;

	if (pft->json)
		return;
	pft->clocks_due = false;
	pft_packet_of(pft, 0);
	pb_open(pb, F_CLOCK_SNAPSHOT);
	pft_clock(pb, PFT_CLOCK_MONOTONIC, clocks->monotonic_ns, false);
	if (clocks->boottime_ns)
		pft_clock(pb, PFT_CLOCK_BOOTTIME, clocks->boottime_ns, false);
	if (clocks->realtime_ns)
		pft_clock(pb, PFT_CLOCK_REALTIME, clocks->realtime_ns, false);
	pb_uint(pb, 2, PFT_CLOCK_MONOTONIC);
	pb_close(pb);
	pft_packet_end(pft);
	pft->clocks_sent = true;
	pft->clocks = *clocks;
}

static void fact_begin(struct pft *pft, const char *key)
{
	pft_packet_of(pft, 0);
	pb_open(&pft->block, F_ATTRIBUTES);
	pb_open(&pft->block, 1);
	pb_text(&pft->block, 1, key);
}

static void fact_end(struct pft *pft)
{
	pb_close(&pft->block);
	pb_close(&pft->block);
	pft_packet_end(pft);
}

void pft_fact_text(struct pft *pft, const char *key, const char *value)
{
	if (pft->json) {
		pft_chrome_fact(pft, key, value, 0);
		return;
	}
	fact_begin(pft, key);
	pb_text(&pft->block, 3, value);
	fact_end(pft);
}

void pft_fact_u64(struct pft *pft, const char *key, uint64_t value)
{
	if (pft->json) {
		pft_chrome_fact(pft, key, NULL, value);
		return;
	}
	fact_begin(pft, key);
	pb_uint(&pft->block, 2, value);
	fact_end(pft);
}
