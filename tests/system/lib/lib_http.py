# SPDX-License-Identifier: Apache-2.0
"""A HTTP server on loopback, for the length of a `with`."""
import http.server
import threading


class Server(http.server.ThreadingHTTPServer):
    """Answers with `handler`, by TLS if there is a `context`. `address`: such as http://127.0.0.1:8080"""

    def __init__(self, handler, context=None):
        super().__init__(("127.0.0.1", 0), handler)
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.address = f"http{'s' if context else ''}://127.0.0.1:{self.server_port}"
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def __exit__(self, *what):
        self.shutdown()
        self.thread.join()
        super().__exit__(*what)

    def handle_error(self, request, client_address):
        """A client that cuts the connection is part of the tests."""
