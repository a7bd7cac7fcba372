/* SPDX-License-Identifier: Apache-2.0 */
/* The file, and the thread that writes it: what waits in the sink, and a block at least every
 * FLUSH_MS. */
#include "base/text.h"
#include "recorder/perfetto/perfetto_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "base/thread.h"
#include "recorder/perfetto/perfetto_internal.h"

#define FLUSH_MS 200

bool perfetto_file_is_meant(const char *path)
{
	return text_ends_with(path, ".perfetto-trace") || text_ends_with(path, ".pftrace");
}

/* ---- the functions of the sink ---- */

static void on_begin(void *context, const struct kymo_sink_start *start)
{
	struct perfetto_file *file = context;
	const struct pft_clocks clocks = { .monotonic_ns = (int64_t)start->ns,
					   .realtime_ns = start->realtime_ns };

	pft_clocks(file->pft, &clocks);
}

static int on_packet(void *context, const struct kymo_sink_packet *packet)
{
	struct perfetto_file *file = context;

	perfetto_packet(file, packet);
	return pft_failed(file->pft) ? -1 : 0;
}

static void *write_main(void *context)
{
	struct perfetto_file *file = context;
	uint64_t now;

	(void)pthread_setname_np(pthread_self(), "kymo-perfetto");
	while (kymo_sink_pump(file->sink, FLUSH_MS) > 0) {
		now = (uint64_t)now_ns();
		if (now - file->flushed_ns < FLUSH_MS * 1000000ull)
			continue;
		pft_flush(file->pft);
		file->flushed_ns = now;
	}
	return NULL;
}

/* ---- its life ---- */

static struct perfetto_file *file_new(const char *path)
{
	struct perfetto_file *file = calloc(1, sizeof(*file));
	const struct kymo_sink_options options = {
		.size = sizeof(options),
		.name = path,
		.pump = 1,
		.context = file,
		.begin = on_begin,
		.packet = on_packet,
	};

	if (!file)
		return NULL;
	file->fd = -1;
	file->path = strdup(path);
	file->sink = kymo_sink_create(&options);
	if (file->path && file->sink)
		return file;
	(void)perfetto_file_end(file, NULL);
	return NULL;
}

int perfetto_file_create(const char *path, struct perfetto_file **file, struct kymo_err *err)
{
	struct perfetto_file *made = file_new(path);
	int error;

	*file = NULL;
	if (!made)
		return err_no_memory(err);
	made->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (made->fd < 0) {
		error = errno;
		(void)perfetto_file_end(made, NULL);
		return err_set(err, KYMO_EXIT_FAILED, "cannot create %s: %s%s", path,
			       strerror(error), error == EEXIST ? "; choose another name" : "");
	}
	if (pft_open(&made->pft, made->fd, PFT_LEVEL_DEFAULT, err) < 0) {
		(void)perfetto_file_end(made, NULL);
		return -1;
	}
	*file = made;
	return 0;
}

struct kymo_sink *perfetto_file_sink(struct perfetto_file *file)
{
	return file->sink;
}

int perfetto_file_begin(struct perfetto_file *file, struct kymo_err *err)
{
	const int error = thread_start(&file->thread, write_main, file);

	file->begun = !error;
	return error ? err_set(err, KYMO_EXIT_FAILED, "cannot start the thread that writes %s: %s",
			       file->path, strerror(error))
		     : 0;
}

int perfetto_file_end(struct perfetto_file *file, struct kymo_err *err)
{
	int rc = 0;

	if (!file)
		return 0;
	if (file->begun)
		(void)pthread_join(file->thread, NULL);
	(void)kymo_sink_free(file->sink);
	if (file->pft)
		rc = pft_close(file->pft, err);
	if (file->fd >= 0) {
		if (!err)
			(void)unlink(file->path);
		(void)close(file->fd);
	}
	map_free(&file->tracks);
	free(file->path);
	free(file);
	return rc;
}
