/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The viewer's side of the live protocol: an input is what a relay sends, in pieces { u16 size,
 * bytes }; a size with its highest bit set is a new connection. What comes of it goes into a trace
 * directory, which is then read.
 */
#include <stdlib.h>
#include <string.h>

#include "live/bound.h"
#include "live/copydir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void quiet(void *context, const char *text)
{
	(void)context;
	(void)text;
}

static int session(void *context, const struct wire_listed_session *listed, struct kymo_err *err)
{
	(void)context, (void)err;
	return strlen(listed->name) > 255;
}

static void look(const struct copydir *copydir, const struct client *client)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	unsigned silent;

	if (kymo_ctf_open(copydir_path(copydir), &reader, NULL))
		return;
	kymo_ctf_growing(reader, true);
	kymo_ctf_until(reader, bound_until(client, reader, INT64_MAX / 2, &silent));
	for (unsigned i = 0; i < 1000 && kymo_ctf_next(reader, &event, NULL) > 0; i++)
		;
	kymo_ctf_close(reader);
}

/* Return: false: the connection is given up. */
static bool give(struct client *client, const uint8_t *bytes, size_t size, int64_t now_ns)
{
	struct wire_out out = { 0 };
	struct kymo_err err;
	const int rc = client_bytes(client, bytes, size, now_ns, &out, &err);

	if (rc == 0)
		(void)client_tick(client, now_ns, &out);
	wire_out_free(&out);
	return rc == 0;
}

static void connect_anew(struct client *client, int64_t now_ns)
{
	struct wire_out out = { 0 };

	client_connected(client, now_ns, &out);
	wire_out_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct client_options options = { NULL, size & 1 ? "s" : NULL, size & 2 };
	struct client_sink sink = { session, copydir_metadata, copydir_bytes, copydir_packet, quiet,
				    NULL };
	struct copydir *copydir;
	struct client *client;
	int64_t now_ns = 0;
	bool news;

	if (copydir_open(NULL, &copydir, NULL) < 0)
		abort();
	sink.context = copydir;
	client = client_new(&options, &sink);
	connect_anew(client, now_ns);
	while (size > 2) {
		const bool anew = data[1] & 0x80;
		size_t piece = (size_t)(data[0] | (data[1] & 0x7f) << 8);

		data += 2;
		size -= 2;
		if (piece > size)
			piece = size;
		now_ns += 100000000;
		if (anew || !give(client, data, piece, now_ns))
			connect_anew(client, now_ns);
		data += piece;
		size -= piece;
	}
	(void)copydir_flush(copydir, &news, NULL);
	look(copydir, client);
	client_free(client);
	copydir_close(copydir);
	return 0;
}
