/* SPDX-License-Identifier: Apache-2.0 */
/* Names that a relay chose become files below the viewer's directory only, each its own file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "live/copydir.h"
#include "place.h"

#define PACKET 16u

struct place {
	char run[PLACE_RUN_SIZE], out[PLACE_RUN_SIZE + 8];
};

static unsigned files, outside;
static size_t out_length;
static const char *out_path;

static int setup(void **state)
{
	struct place *place = place_create(sizeof(*place));

	if (!place)
		return -1;
	(void)snprintf(place->out, sizeof(place->out), "%s/a/out", place->run);
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	return place_destroy(*state);
}

static int look_at(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (kind != FTW_F)
		return 0;
	files++;
	outside += strncmp(path, out_path, out_length) != 0 || path[out_length] != '/';
	return 0;
}

/* What the relay sends of a trace and its stream: metadata and a packet. */
static void receive(struct copydir *copydir, struct live_trace *trace, struct live_stream *stream)
{
	static const uint8_t bytes[PACKET] = { 1 };
	struct kymo_err err;

	stream->trace = trace;
	stream->index.packet_size = stream->index.content_size = 8 * PACKET;
	assert_int_equal(copydir_metadata(copydir, trace, bytes, 4, &err), 0);
	assert_int_equal(copydir_bytes(copydir, stream, 0, bytes, PACKET, &err), 0);
	assert_int_equal(copydir_packet(copydir, stream, true, &err), 0);
}

static void all_is_below_the_directory(void **state)
{
	static char *const paths[] = { "../x", "../../../x", "/x", "x/../../y", "..", ".", "", "/",
				       "x/./y", ".hidden", "ust/uid" };
	static char *const channels[] = { "../c", "../../../c", "/c", "a/b", "..", ".", "",
					  "metadata", "index", "kymo.json", "c" };
	enum { COUNT = COUNT_OF(paths) };
	const struct place *place = *state;
	struct live_trace trace[COUNT] = { 0 };
	struct live_stream stream[COUNT] = { 0 };
	struct copydir *copydir;
	struct kymo_err err;
	char parent[sizeof(place->out)];
	bool news;

	(void)snprintf(parent, sizeof(parent), "%s/a", place->run);
	assert_int_equal(mkdir(parent, 0700), 0);
	assert_int_equal(copydir_open(place->out, &copydir, &err), 0);
	for (unsigned i = 0; i < COUNT; i++) {
		trace[i].path = paths[i];
		stream[i].channel = channels[i];
		receive(copydir, &trace[i], &stream[i]);
	}
	assert_int_equal(copydir_flush(copydir, &news, &err), 0);
	copydir_close(copydir);
	out_path = place->out;
	out_length = strlen(out_path);
	assert_int_equal(nftw(place->run, look_at, 10, FTW_PHYS), 0);
	assert_int_equal(outside, 0);
	/* Metadata, packets and index of each: no file was written twice. */
	assert_int_equal(files, 3 * COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_is_below_the_directory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
