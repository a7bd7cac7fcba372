/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kymo recorder that lost its connection, or whose relay was restarted, asks for each stream of
 * its old session which packets are stored; it sends the others in a new session. From then on
 * nothing is accepted for the old session, and bytes behind the last packet that its index has are
 * cut off. So no packet is stored twice.
 *
 * A recorder that sends datagrams also asks which packets were lost, of the old session and of the
 * present one.
 */
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "relay/ingest/ingest_internal.h"
#include "relay/store/store_tree.h"

#define NAMES_MAX	4096u

/*
 * The index @fd has the entries that relays write since 2.8, perhaps with more behind them; *@size:
 * bytes of one. Return: how many; -1: it is not such an index.
 */
static int64_t count_entries(int fd, uint32_t *size)
{
	uint32_t header[CTF_INDEX_HEADER / 4];
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    pread(fd, header, sizeof(header), 0) != sizeof(header) ||
	    be32toh(header[0]) != CTF_INDEX_MAGIC)
		return -1;
	*size = be32toh(header[3]);
	if (*size < CTF_INDEX_LTTNG || *size > sizeof(struct ctf_index_entry))
		return -1;
	return (int64_t)(((uint64_t)st.st_size - sizeof(header)) / *size);
}

/* Reads entry @number of @size bytes, whose numbers stay big-endian. */
static bool read_entry(int fd, uint64_t number, uint32_t size, struct ctf_index_entry *entry)
{
	const off_t at = (off_t)(CTF_INDEX_HEADER + number * size);

	return pread(fd, entry, size, at) == (ssize_t)size;
}

/* Reads the index @fd into @reply; *@end: where the last packet ends in its stream's file. */
static int read_index(int fd, struct wire_stored_reply *reply, uint64_t *end)
{
	struct ctf_index_entry entry;
	uint32_t size;
	const int64_t count = count_entries(fd, &size);

	*end = 0;
	if (count <= 0)
		return (int)count;
	reply->packets = (uint64_t)count;
	if (!read_entry(fd, reply->packets - 1, size, &entry))
		return -1;
	*end = be64toh(entry.offset) + be64toh(entry.packet_size) / 8;
	reply->packet_seq = be64toh(entry.packet_seq_num);
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

#define FILE_PATH_MAX (STORE_PATH_MAX + NAME_MAX + 16)

struct stored_look {
	struct ingest_look look;
	int root;
	char index[FILE_PATH_MAX], stream[FILE_PATH_MAX];
	struct wire_stored_reply reply;
};

static void look_for_stored(struct ingest_look *look)
{
	struct stored_look *stored = (struct stored_look *)look;
	struct wire_stored_reply *reply = &stored->reply;
	int fd = tree_open_file(stored->root, stored->index), rc;
	uint64_t end;

	if (fd < 0) {
		reply->ret = errno == ENOENT || errno == ENOTDIR ? WIRE_OK : WIRE_ERR_UNKNOWN;
		return;
	}
	rc = read_index(fd, reply, &end);
	(void)close(fd);
	if (rc == 0)
		rc = cut(stored->root, stored->stream, end);
	reply->ret = rc < 0 ? WIRE_ERR_UNKNOWN : WIRE_OK;
}

/* Cuts off the session, if this relay knows it. Return: enum wire_ret, or WIRE_NOT_YET. */
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

/* The stream of a session that a request asks about. */
struct asked {
	uint8_t uuid[16];
	const char *session, *channel;
	char directory[STORE_PATH_MAX];	/* of the session and the stream; "": too long, or the channel has a slash */
};

static bool get_asked(struct ingest_call *call, struct asked *asked)
{
	struct wire_stored request;
	const char *path;

	if (!call->ingest->is_ours || !wire_get_stored(call->in, &request) ||
	    request.session_size > NAMES_MAX || request.path_size > NAMES_MAX ||
	    request.channel_size > NAMES_MAX)
		return false;
	asked->session = wire_name(call->in, request.session_size);
	path = wire_name(call->in, request.path_size);
	asked->channel = wire_name(call->in, request.channel_size);
	if (!asked->session || !path || !asked->channel)
		return false;
	memcpy(asked->uuid, request.sessiond_uuid, sizeof(asked->uuid));
	if ((size_t)snprintf(asked->directory, sizeof(asked->directory), "%s/%s", asked->session, path) >= sizeof(asked->directory) ||
	    strchr(asked->channel, '/') || strlen(asked->channel) > NAME_MAX)
		asked->directory[0] = 0;
	return true;
}

/* Return: INGEST_WAITS; -1; 0: @reply says why not. */
static int begin_stored(struct ingest_call *call, struct wire_stored_reply *reply)
{
	const struct relay *relay = call->ingest->relay;
	char index[FILE_PATH_MAX];
	struct stored_look *look;
	struct asked asked;

	if (!get_asked(call, &asked))
		return ingest_malformed(call);
	reply->ret = WIRE_ERR_INVALID;
	if (asked.directory[0])
		reply->ret = end_session(relay, asked.session, asked.uuid);
	if (reply->ret != WIRE_OK)
		return 0;
	(void)snprintf(index, sizeof(index), "%s/index/%s.idx", asked.directory, asked.channel);
	if (!store_path_is_safe(index)) {
		reply->ret = WIRE_ERR_INVALID;
		return 0;
	}
	look = ingest_begin_look(call, sizeof(*look), look_for_stored);
	if (!look)
		return err_no_memory(call->err);
	look->root = relay->store.root;
	memcpy(look->index, index, sizeof(index));
	(void)snprintf(look->stream, sizeof(look->stream), "%s/%s", asked.directory, asked.channel);
	return INGEST_WAITS;
}

int ingest_on_stored(struct ingest_call *call)
{
	struct stored_look *look = (struct stored_look *)call->ingest->look;
	struct wire_stored_reply reply = { 0 };
	int rc;

	if (!look) {
		rc = begin_stored(call, &reply);
		if (rc)
			return rc;
	} else {
		reply = look->reply;
		ingest_end_look(call->ingest);
	}
	wire_put_stored_reply(call->reply, &reply);
	return 0;
}

/* Reads packet numbers of the lost packets in index/CHANNEL.lost, from entry @first on. Return: how
 * many. */
static uint32_t read_lost(int fd, uint64_t first, uint64_t number[WIRE_LOST_MAX])
{
	struct ctf_index_entry entry;
	uint32_t count = 0, size;
	const int64_t all = count_entries(fd, &size);

	while (count < WIRE_LOST_MAX && all > 0 && first < (uint64_t)all - count &&
	       read_entry(fd, first + count, size, &entry))
		number[count++] = be64toh(entry.packet_seq_num);
	return count;
}

struct lost_look {
	struct ingest_look look;
	int root;
	char index[FILE_PATH_MAX]; /* "": an invalid one */
	uint64_t first, number[WIRE_LOST_MAX];
	struct wire_lost_reply reply;
};

static void look_for_lost(struct ingest_look *look)
{
	struct lost_look *lost = (struct lost_look *)look;
	int fd = tree_open_file(lost->root, lost->index);

	lost->reply.ret =
		fd >= 0 || errno == ENOENT || errno == ENOTDIR ? WIRE_OK : WIRE_ERR_UNKNOWN;
	if (fd < 0)
		return;
	lost->reply.count = read_lost(fd, lost->first, lost->number);
	(void)close(fd);
}

static int begin_lost(struct ingest_call *call)
{
	struct wire_lost request;
	struct lost_look *look;
	struct asked asked;

	if (!wire_get_lost(call->in, &request) || !get_asked(call, &asked))
		return ingest_malformed(call);
	look = ingest_begin_look(call, sizeof(*look), look_for_lost);
	if (!look)
		return err_no_memory(call->err);
	look->root = call->ingest->relay->store.root;
	look->first = request.first;
	(void)snprintf(look->index, sizeof(look->index), "%s/index/%s.lost", asked.directory,
		       asked.channel);
	if (asked.directory[0] && store_path_is_safe(look->index))
		return INGEST_WAITS;
	look->reply.ret = WIRE_ERR_INVALID;
	return 0;
}

int ingest_on_lost(struct ingest_call *call)
{
	const struct lost_look *look;
	int rc = call->ingest->look ? 0 : begin_lost(call);

	if (rc)
		return rc;
	look = (const struct lost_look *)call->ingest->look;
	wire_put_lost_reply(call->reply, &look->reply);
	for (uint32_t i = 0; i < look->reply.count; i++)
		wire_add(call->reply, look->number[i], 8);
	ingest_end_look(call->ingest);
	return 0;
}
