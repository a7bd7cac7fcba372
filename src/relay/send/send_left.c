/* SPDX-License-Identifier: Apache-2.0 */
/* Sending the spools that other recorders left. See send_sink_internal.h. */
#include "relay/send/send_sink_internal.h"

#include <dirent.h>
#include <string.h>

/* Return: bytes of the spool; 0: it is not ours to send. */
static uint64_t begin(struct send_left *left, const char *parent, const char *name,
		      const struct sender_options *like)
{
	struct sender_options options = *like;
	char relay[URL_HOST_MAX + 16];
	struct sender_left *note = &left->item[left->count].note;
	struct spool *spool;
	struct kymo_err err;

	if (spool_adopt(parent, name, &spool) < 0)
		return 0;
	sender_relay(&like->url, relay);
	options.left = note;
	options.send.host = note->host;
	options.send.session = note->session;
	if (!sender_left(spool, note) || strcmp(note->relay, relay) != 0 ||
	    sender_start(spool, &options, &left->item[left->count].sender, &err) < 0) {
		spool_close(spool, true);
		return 0;
	}
	left->item[left->count++].spool = spool;
	return spool_end(spool, SPOOL_FACTS) + spool_waiting(spool);
}

uint64_t send_left_begin(struct send_left *left, const char *parent,
			 const struct sender_options *like)
{
	DIR *list = opendir(parent);
	struct dirent *entry;
	uint64_t bytes = 0;

	while (list && left->count < SEND_LEFT_MAX && (entry = readdir(list)))
		if (entry->d_name[0] != '.')
			bytes += begin(left, parent, entry->d_name, like);
	if (list)
		(void)closedir(list);
	return bytes;
}

static void end(struct send_left *left, unsigned number, uint64_t patience_ns)
{
	struct sender_rest rest;

	sender_finish(left->item[number].sender, patience_ns, &rest);
	left->lost_packets += rest.lost_packets;
	left->lost_events += rest.lost_events;
	spool_unstored_add(&left->unstored, &rest.unstored);
	spool_close(left->item[number].spool, !rest.is_stored);
}

void send_left_poll(struct send_left *left)
{
	unsigned kept = 0;

	/* Senders point to their notes: an element does not move while its sender exists. */
	for (unsigned i = 0; i < left->count; i++) {
		if (!left->item[i].sender)
			continue;
		if (sender_has_ended(left->item[i].sender)) {
			end(left, i, 0);
			left->item[i].sender = NULL;
		} else {
			kept = i + 1;
		}
	}
	left->count = kept;
}

void send_left_leave(struct send_left *left, uint64_t patience_ns)
{
	for (unsigned i = 0; i < left->count; i++)
		if (left->item[i].sender)
			sender_end(left->item[i].sender, patience_ns);
}

void send_left_end(struct send_left *left, uint64_t patience_ns)
{
	send_left_leave(left, patience_ns);
	for (unsigned i = 0; i < left->count; i++)
		if (left->item[i].sender)
			end(left, i, patience_ns);
	left->count = 0;
}
