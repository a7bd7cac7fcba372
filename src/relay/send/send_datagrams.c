/* SPDX-License-Identifier: Apache-2.0 */
/* Sending datagrams at a pace: a budget of bytes refills with time, and each datagram takes from
 * it. See sender_internal.h. */
#include "relay/send/sender_internal.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

int datagrams_open(struct datagrams *datagrams, const struct sockaddr_storage *relay, uint16_t port,
		   struct kymo_err *err)
{
	struct sockaddr_storage to = *relay;

	if (to.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&to)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)&to)->sin_port = htons(port);
	*datagrams = (struct datagrams){ .fd = socket(to.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) };
	if (datagrams->fd >= 0 &&
	    connect(datagrams->fd, (const struct sockaddr *)&to,
		    to.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					     : sizeof(struct sockaddr_in)) == 0)
		return 0;
	(void)err_set(err, KYMO_EXIT_FAILED, "cannot send datagrams to port %u of the relay: %s", port, strerror(errno));
	datagrams_close(datagrams);
	return -1;
}

static void refill(struct datagrams *datagrams, uint64_t now_ns)
{
	const uint64_t passed = now_ns - datagrams->since_ns;

	datagrams->since_ns = now_ns;
	datagrams->room +=
		passed < 1000000000 ? passed * DATAGRAMS_RATE / 1000000000 : DATAGRAMS_BURST;
	if (datagrams->room > DATAGRAMS_BURST)
		datagrams->room = DATAGRAMS_BURST;
}

bool datagrams_send(struct datagrams *datagrams, struct wire_out *queue, uint64_t now_ns)
{
	size_t at = 0;
	uint32_t size;

	if (datagrams->fd < 0 || queue->failed)
		return false;
	refill(datagrams, now_ns);
	while (at < queue->used) {
		memcpy(&size, queue->bytes + at, sizeof(size));
		if (size + DATAGRAMS_EACH > datagrams->room)
			break;
		if (send(datagrams->fd, queue->bytes + at + sizeof(size), size, MSG_NOSIGNAL) < 0 &&
		    (errno == EAGAIN || errno == ENOBUFS || errno == EINTR))
			break;
		datagrams->room -= size + DATAGRAMS_EACH;
		at += sizeof(size) + size;
	}
	queue->used -= at;
	if (at && queue->used)
		memmove(queue->bytes, queue->bytes + at, queue->used);
	return at;
}

void datagrams_close(struct datagrams *datagrams)
{
	if (datagrams->fd >= 0)
		(void)close(datagrams->fd);
	datagrams->fd = -1;
}
