/* SPDX-License-Identifier: Apache-2.0 */
/* The relay's datagram port. See datagram.h. */
#include "relay/wire/datagram.h"
#include "relay/server/server_internal.h"

#define SOCKET_BYTES (8 << 20)		/* of the socket's buffer, if the system allows it */

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct server *server = handle->data;

	(void)suggested;
	*buffer = uv_buf_init(server->buffer, sizeof(server->buffer));
}

/* Datagrams that arrive while the disk is too slow are lost, like those that the network loses: nobody waits for them. */
static void on_datagram(uv_udp_t *udp, ssize_t size, const uv_buf_t *buffer, const struct sockaddr *from, unsigned flags)
{
	struct server *server = udp->data;

	if (size <= 0 || !from || flags & UV_UDP_PARTIAL || server->disk_is_full)
		return;
	(void)relay_datagram(&server->relay, (const uint8_t *)buffer->base, (size_t)size);
	server_check_disk(server);
}

uint16_t server_receive(struct server *server, struct kymo_err *err)
{
	uv_udp_t *udp = &server->datagrams;
	struct sockaddr_storage at;
	int size = sizeof(at), bytes = SOCKET_BYTES, rc;

	udp->data = server;
	if (server_address(server, server->options->datagram, &at, err) < 0)
		return 0;
	rc = uv_udp_bind(udp, (struct sockaddr *)&at, 0);
	if (rc == 0)
		rc = uv_udp_recv_start(udp, on_room, on_datagram);
	if (rc == 0)
		rc = uv_udp_getsockname(udp, (struct sockaddr *)&at, &size);
	if (rc == 0) {
		(void)uv_recv_buffer_size((uv_handle_t *)udp, &bytes);
		return server_port(&at);
	}
	(void)err_set(err, KYMO_EXIT_FAILED, "cannot receive datagrams at %s port %u: %s; choose another port with --datagram",
		      server->options->address, server->options->datagram, uv_strerror(rc));
	return 0;
}
