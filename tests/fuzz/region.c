/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that lies in its shared memory: an input is pieces { u16 page, u16 offset, u8 size,
 * bytes } that are written into a sound region with an init log and two rings, while a session
 * reads from it. Size 0 lets the session poll; offset 0xffff also shortens the file to this page.
 * The process is this one, or, with the highest bit of the first byte, one that has died. kymo must
 * read the trace.
 */
#include <dirent.h>
#include <string.h>

#include "producer.h"

#include "base/shared_map.h"
#include "fuzz_file.h"
#include "kymo/ctf.h"
#include "recorder/runtime/status.h"
#include "recorder/session/session.h"

static char run[64], trace[128];
static pid_t dead;

static void quiet(void *context, const char *text)
{
	(void)context;
	if (!*text)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	shared_map_guard();
	(void)snprintf(run, sizeof(run), "%s", fuzz_folder_make());
	(void)snprintf(trace, sizeof(trace), "%s/trace", run);
	dead = producer_dead_pid();
	return 0;
}

/* All files below @fd, which is closed; folders are at most @depth deep. */
static void clear(int fd, unsigned depth)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && unlinkat(fd, entry->d_name, 0)) {
			if (depth)
				clear(openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				      depth - 1);
			(void)unlinkat(fd, entry->d_name, AT_REMOVEDIR);
		}
	if (dir)
		(void)closedir(dir);
}

static void look(void *context, const struct process_status *status)
{
	(void)context, (void)status;
}

static void show_status(void)
{
	struct rundir dir;
	struct kymo_err err;

	if (rundir_open(&dir, run, false, &err))
		abort();
	(void)status_read(&dir, look, NULL, NULL, &err);
	rundir_close(&dir);
}

static void read_trace(void)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	struct kymo_err err;

	if (kymo_ctf_open(trace, &reader, &err))
		return;		/* nothing was recorded */
	while (kymo_ctf_next(reader, &event, &err) > 0)
		;
	kymo_ctf_close(reader);
}

/* Through the file: what is behind its end is not mapped here either. */
static void lie(int fd, struct session *session, const uint8_t *data, size_t size)
{
	while (size >= 5) {
		const unsigned page = (unsigned)(data[0] | data[1] << 8) % PRODUCER_PAGES,
			       offset = (unsigned)(data[2] | data[3] << 8);
		size_t piece = data[4] < size - 5 ? data[4] : size - 5;

		if (offset == 0xffff && ftruncate(fd, (off_t)page * KYMO_PAGE))
			abort();
		if (piece > KYMO_PAGE - offset % KYMO_PAGE)
			piece = KYMO_PAGE - offset % KYMO_PAGE;
		if (piece && pwrite(fd, data + 5, piece,
				    (off_t)page * KYMO_PAGE + offset % KYMO_PAGE) != (ssize_t)piece)
			abort();
		if (!piece && session)
			(void)session_poll(session);
		data += 5 + piece;
		size -= 5 + piece;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session_options options = { .runtime_dir = run, .output = trace, .version = "0.1.0", .say = quiet };
	struct producer producer;
	struct session *session = NULL;
	struct kymo_err err;
	int fd;

	if (!size)
		return 0;
	if (*data & 128)
		producer_open_as(&producer, run, dead, 1, "9-1.region");
	else
		producer_open(&producer, run);
	fd = open(producer.path, O_RDWR | O_CLOEXEC);
	producer.region->state = KYMO_STATE_RECORD;
	memset(producer_page(&producer, KYMO_ENABLE_PAGE), 1, KYMO_PAGE);
	for (unsigned i = 0; i < 300; i++)
		producer_event(&producer, i % 2, i);
	producer_init(&producer, 1, "symbol");
	producer_init(&producer, 2, "other");
	if (*data & 1)
		lie(fd, NULL, data + 1, size - 1);
	show_status();
	if (session_begin(&options, &session, &err))
		abort();
	(void)session_poll(session);
	lie(fd, session, data + 1, size - 1);
	(void)session_end(session, &err);
	session_free(session);
	read_trace();
	producer_close(&producer);
	(void)close(fd);
	clear(open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 3);
	return 0;
}
