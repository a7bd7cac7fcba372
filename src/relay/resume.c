/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorder of kymo's whose connections were cut, or whose relay was begun anew, asks what of its session is
 * stored, stream by stream: the rest it sends in a new session. From that moment on nothing more is taken of the
 * old one, and bytes behind the last packet that its index has are cut off: no packet is there twice.
 */
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "relay/ingest_internal.h"
#include "relay/store_tree.h"

#define NAMES_MAX	4096u

#define ENTRY_WORDS	9u		/* of an index since 2.8: the last is packet_seq_num */

/* What the index @fd has, in @reply; *@end: where the last packet ends in its stream's file. */
static int look_at_index(int fd, struct wire_stored_reply *reply, uint64_t *end)
{
	uint32_t header[CTF_INDEX_HEADER / 4];
	uint64_t entry[ENTRY_WORDS];
	struct stat st;

	*end = 0;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || pread(fd, header, sizeof(header), 0) != sizeof(header) ||
	    be32toh(header[0]) != CTF_INDEX_MAGIC)
		return -1;
	if (be32toh(header[3]) != sizeof(entry))
		return -1;
	reply->packets = ((uint64_t)st.st_size - sizeof(header)) / sizeof(entry);
	if (!reply->packets)
		return 0;
	if (pread(fd, entry, sizeof(entry), (off_t)(sizeof(header) + (reply->packets - 1) * sizeof(entry))) != sizeof(entry))
		return -1;
	*end = be64toh(entry[0]) + be64toh(entry[1]) / 8;
	reply->packet_seq = be64toh(entry[ENTRY_WORDS - 1]);
	return 0;
}

static int cut(int root, const char *path, uint64_t end)
{
	int fd = tree_open_file(root, path), rc;
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	rc = fstat(fd, &st);
	if (rc == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size > end)
		rc = ftruncate(fd, (off_t)end);
	(void)close(fd);
	return rc;
}

static uint32_t look_at_files(const struct relay *relay, const char *directory, const char *channel,
			      struct wire_stored_reply *reply)
{
	char path[STORE_PATH_MAX + NAME_MAX + 16];
	uint64_t end;
	int fd, rc;

	(void)snprintf(path, sizeof(path), "%s/index/%s.idx", directory, channel);
	if (!store_path_is_safe(path))
		return WIRE_ERR_INVALID;
	fd = tree_open_file(relay->store.root, path);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? WIRE_OK : WIRE_ERR_UNKNOWN;
	rc = look_at_index(fd, reply, &end);
	(void)close(fd);
	(void)snprintf(path, sizeof(path), "%s/%s", directory, channel);
	return rc < 0 || cut(relay->store.root, path, end) < 0 ? WIRE_ERR_UNKNOWN : WIRE_OK;
}

/* The session itself, if this relay knows it still. Return: enum wire_ret, or WIRE_NOT_YET. */
static uint32_t end_session(const struct relay *relay, const char *path, const uint8_t uuid[16])
{
	struct relay_session *session = relay->sessions;

	while (session && !(session->path && strcmp(session->path, path) == 0))
		session = session->next;
	if (!session)
		return WIRE_OK;
	if (!session->is_ours || memcmp(session->uuid, uuid, sizeof(session->uuid)) != 0)
		return WIRE_ERR_INVALID;
	if (!session->cut_off)
		relay_cut_off(session);
	return relay_is_written(session) ? WIRE_OK : WIRE_NOT_YET;
}

int ingest_on_stored(struct call *call)
{
	const struct relay *relay = call->ingest->relay;
	const char *session, *path, *channel;
	struct wire_stored_reply reply = { 0 };
	char directory[STORE_PATH_MAX];
	struct wire_stored request;

	if (!call->ingest->is_ours || !wire_get_stored(call->in, &request) || request.session_size > NAMES_MAX ||
	    request.path_size > NAMES_MAX || request.channel_size > NAMES_MAX)
		return ingest_malformed(call);
	session = wire_name(call->in, request.session_size);
	path = wire_name(call->in, request.path_size);
	channel = wire_name(call->in, request.channel_size);
	if (!session || !path || !channel)
		return ingest_malformed(call);
	if ((size_t)snprintf(directory, sizeof(directory), "%s/%s", session, path) >= sizeof(directory) ||
	    strchr(channel, '/') || strlen(channel) > NAME_MAX)
		reply.ret = WIRE_ERR_INVALID;
	else
		reply.ret = end_session(relay, session, request.sessiond_uuid);
	if (reply.ret == WIRE_OK)
		reply.ret = look_at_files(relay, directory, channel, &reply);
	wire_put_stored_reply(call->reply, &reply);
	return 0;
}
