/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three ports of the relay: an input is pieces { u8 connection, u16 size, bytes } for two
 * control connections, two data connections and two viewers, each given up when it is refused; and
 * for datagrams, whose cookie is 1, and for the token.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "relay/ingest/ingest.h"
#include "relay/store/store_tree.h"
#include "relay/wire/token.h"
#include "relay/viewer/viewer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CONNECTIONS 8

static char name[32];			/* of the directory of this process, below /dev/shm */
static int parent = -1;

struct fuzz {
	struct relay relay;
	struct ingest *ingest[2];
	struct intake *intake[2];
	struct viewer *viewer[2];
};

static void quiet(void *context, const char *text)
{
	(void)context;
	(void)text;
}

static void wake(void *context)
{
	(void)context;
}

static int64_t now_ns(void)
{
	static int64_t now;

	return now += 1000000000;
}

/* Return: 0; -1: close the connection. */
static int to_ingest(struct ingest *ingest, const uint8_t *bytes, size_t size, struct wire_out *out)
{
	struct kymo_err err;
	int rc = ingest_bytes(ingest, bytes, size, out, &err);

	while (rc == 0 && ingest_looks(ingest)) {
		ingest_look(ingest);
		rc = ingest_bytes(ingest, NULL, 0, out, &err);
	}
	return rc;
}

static void to_viewer(struct fuzz *fuzz, unsigned which, const uint8_t *bytes, size_t size,
		      struct wire_out *out)
{
	struct viewer_read *read;
	struct kymo_err err;
	int rc;

	if (!fuzz->viewer[which])
		return;
	rc = viewer_bytes(fuzz->viewer[which], bytes, size, out, &read, &err);
	while (rc == 0 && (read || viewer_waits(fuzz->viewer[which]))) {
		if (read) {
			viewer_do_read(read);
			viewer_has_read(fuzz->viewer[which], out);
		}
		wire_out_free(out);
		rc = viewer_bytes(fuzz->viewer[which], NULL, 0, out, &read, &err);
	}
	if (rc < 0) {
		viewer_free(fuzz->viewer[which]);
		fuzz->viewer[which] = NULL;
	}
}

static void give(struct fuzz *fuzz, unsigned connection, const uint8_t *bytes, size_t size)
{
	const unsigned which = connection & 1;
	const struct token token = { TOKEN_MIN, "0123456789abcdef" };
	struct wire_out out = { 0 };
	struct kymo_err err;
	size_t used;

	if (!size)
		return;			/* as no socket gives it */
	if (connection / 2 == 0 && fuzz->ingest[which] &&
	    to_ingest(fuzz->ingest[which], bytes, size, &out) < 0) {
		ingest_free(fuzz->ingest[which]);
		fuzz->ingest[which] = NULL;
	} else if (connection / 2 == 1 && fuzz->intake[which] &&
		   intake_bytes(fuzz->intake[which], bytes, size, &err) < 0) {
		intake_free(fuzz->intake[which]);
		fuzz->intake[which] = NULL;
	} else if (connection == 6) {
		for (struct relay_session *session = fuzz->relay.sessions; session;
		     session = session->next)
			session->cookie = 1;
		(void)relay_datagram(&fuzz->relay, bytes, size);
		relay_expire_datagrams(&fuzz->relay);
	} else if (connection == 7) {
		if (token_check(&token, bytes, size, &used, &out, &err) == TOKEN_WELCOME &&
		    used > size)
			abort();
	} else if (connection / 2 == 2) {
		to_viewer(fuzz, which, bytes, size, &out);
	}
	wire_out_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz *fuzz = calloc(1, sizeof(*fuzz));
	struct relay *relay = &fuzz->relay;
	unsigned pieces = 0;

	if (parent < 0) {
		(void)snprintf(name, sizeof(name), "kymo-fuzz-%d", getpid());
		parent = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (!fuzz || mkdirat(parent, name, 0700) < 0)
		abort();
	relay->store.root = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	relay->store.root_path = name;
	relay->store.say = relay->say = quiet;
	relay->store.disk = disk_start(wake, NULL);
	relay->now_ns = now_ns;
	relay->datagram_port = 1;
	relay_init(relay);
	for (unsigned i = 0; i < 2; i++) {
		fuzz->ingest[i] = ingest_new(relay, WIRE_MINOR);
		fuzz->intake[i] = intake_new(relay);
		fuzz->viewer[i] = viewer_new(relay, WIRE_MINOR);
	}
	while (size > 3 && pieces++ < 256) {
		size_t piece = (size_t)(data[1] | data[2] << 8);

		if (piece > size - 3)
			piece = size - 3;
		give(fuzz, data[0] % CONNECTIONS, data + 3, piece);
		data += 3 + piece;
		size -= 3 + piece;
		disk_drain(relay->store.disk);
		relay_expire(relay);
	}
	for (unsigned i = 0; i < 2; i++) {
		ingest_free(fuzz->ingest[i]);
		intake_free(fuzz->intake[i]);
		viewer_free(fuzz->viewer[i]);
	}
	disk_drain(relay->store.disk);
	relay_free(relay);
	disk_stop(relay->store.disk);
	(void)close(relay->store.root);
	(void)tree_remove(parent, name);
	free(fuzz);
	return 0;
}
