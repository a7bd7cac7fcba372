# SPDX-License-Identifier: Apache-2.0
"""A HTTP server on loopback, for the length of a `with`, and certificates for it."""
import http.server
import os
import ssl
import threading

from lib_test import run


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


def certificates(directory):
    """An authority and a server's and a robot's certificate. Return: their paths by name."""
    path = {name: os.path.join(directory, name) for name in ("ca.key", "ca.pem", "server.key", "server.pem", "robot.key", "robot.pem")}
    new = "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"
    run(*new, "-keyout", path["ca.key"], "-out", path["ca.pem"], "-subj", "/CN=fleet")
    for who in "server", "robot":
        run(*new, "-keyout", path[who + ".key"], "-out", path[who + ".pem"], "-subj", "/CN=" + who, "-CA", path["ca.pem"],
            "-CAkey", path["ca.key"], "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:false")
    return path


def strict(path):
    """Return: a context of the server, which requires a certificate of the robot (mTLS). `path`: of certificates()."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path["server.pem"], path["server.key"])
    context.load_verify_locations(path["ca.pem"])
    context.verify_mode = ssl.CERT_REQUIRED
    return context
