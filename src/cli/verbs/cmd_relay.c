/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo relay`: receives traces over the network, stores them, and shows them while they grow. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/input/access_options.h"
#include "cli/common/common.h"
#include "relay/server/server.h"
#include "relay/wire/url.h"
#include "relay/wire/wire.h"

struct options {
	struct access_wishes forward_access;
	struct relay_limits limits;
	const char *forward_url, *output, *bind, *datagram, *certificate, *key, *token_file;
	uint64_t control, data, live, minor;
	int64_t expire;
	bool sync, insecure, quiet;
	struct tls_context *tls;
};

static const struct opt opts[] = {
	CLI_OPT_OUTPUT(struct options, "DIR", "where traces go, as HOST/SESSION (default: where kymo record writes them)"),
	{ "control", 0, OPT_U64, offsetof(struct options, control), "PORT", "port for producers (default 5342; 0: any free port)",
	  NULL },
	{ "data", 0, OPT_U64, offsetof(struct options, data), "PORT", "port for their packets (default 5343)", NULL },
	{ "live", 0, OPT_U64, offsetof(struct options, live), "PORT", "port for viewers (default 5344)", NULL },
	{ "forward", 0, OPT_TEXT, offsetof(struct options, forward_url), "URL",
	  "forward all sessions to this relay (net://HOST, nets:// with TLS)", NULL },
	{ "forward-tls-ca", 0, OPT_TEXT, offsetof(struct options, forward_access.ca), "FILE",
	  "trust that relay if its certificate is signed by one in FILE (default: by one that the system trusts)", NULL },
	{ "forward-tls-pin", 0, OPT_TEXT, offsetof(struct options, forward_access.pin), "SHA256",
	  "trust that relay if its certificate has this fingerprint, which it prints", NULL },
	{ "forward-token-file", 0, OPT_TEXT, offsetof(struct options, forward_access.token_file), "FILE",
	  "send that relay the token in FILE", NULL },
	{ "datagram", 0, OPT_TEXT, offsetof(struct options, datagram), "PORT",
	  "also receive packets as datagrams, at this UDP port (udp://; 0: any free port)", NULL },
	{ "bind", 0, OPT_TEXT, offsetof(struct options, bind), "ADDRESS", "listen at this address (default 127.0.0.1)", NULL },
	{ "tls-cert", 0, OPT_TEXT, offsetof(struct options, certificate), "FILE",
	  "use TLS on all ports, with the certificate (and its chain) in this PEM file", NULL },
	{ "tls-key", 0, OPT_TEXT, offsetof(struct options, key), "FILE", "the private key of the certificate, PEM", NULL },
	{ "token-file", 0, OPT_TEXT, offsetof(struct options, token_file), "FILE",
	  "require the token in this file (openssl rand -hex 32 prints one)", NULL },
	{ "insecure", 0, OPT_FLAG, offsetof(struct options, insecure), NULL,
	  "listen on an address that others reach without TLS and token: anybody can read and write traces", NULL },
	{ "sync", 0, OPT_FLAG, offsetof(struct options, sync), NULL,
	  "show a packet only when it is on the disk (fdatasync), so that what a viewer saw survives a power cut", NULL },
	{ "expire", 0, OPT_TIME, offsetof(struct options, expire), "TIME",
	  "give up an incomplete packet after this time: its bytes or its index were lost (default 10s)", NULL },
	{ "max-connections", 0, OPT_U64, offsetof(struct options, limits.connections), "N",
	  "connections of producers and viewers together (default 4096)", NULL },
	{ "max-connections-each", 0, OPT_U64, offsetof(struct options, limits.connections_each), "N",
	  "connections from one address (default: no limit)", NULL },
	{ "max-sessions", 0, OPT_U64, offsetof(struct options, limits.sessions), "N",
	  "sessions that viewers can see; the oldest ended sessions are forgotten first (default 1024)", NULL },
	{ "max-streams", 0, OPT_U64, offsetof(struct options, limits.streams), "N", "streams of a session (default 16384)", NULL },
	{ "max-request", 0, OPT_SIZE, offsetof(struct options, limits.request), "SIZE",
	  "bytes of one request of a producer (default 16M)", NULL },
	{ "max-requests", 0, OPT_SIZE, offsetof(struct options, limits.requests), "SIZE",
	  "bytes of all large requests that are still being received (default 96M)", NULL },
	{ "minor", 0, OPT_U64, offsetof(struct options, minor), "N",
	  "speak version 2.N of LTTng's relay protocol, 4 to 15 (default 15)", NULL },
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

static void say(void *context, const char *text)
{
	char verb[] = "relay";

	(void)context;
	cli_say(verb, text);
}

static void ready(void *context, const struct server_ports *ports)
{
	const struct options *options = context;
	const bool six = strchr(options->bind, ':');
	const char *scheme = options->tls ? six ? "nets6" : "nets" : six ? "net6" : "net";
	char pin[TLS_PIN_TEXT], host[64];

	(void)snprintf(host, sizeof(host), six ? "[%s]" : "%s", options->bind);
	if (options->quiet)
		return;
	printf("producers: %s://%s:%u:%u\nviewers: %s://%s:%u\ntraces: %s\n", scheme, host, ports->control, ports->data,
	       scheme, host, ports->live, options->output);
	if (ports->datagram)
		printf("datagrams: udp%s://%s:%u:%u\n", scheme + 3, host, ports->control, ports->datagram);
	if (options->tls) {
		tls_fingerprint(options->tls, pin);
		printf("certificate: --tls-pin %s\n", pin);
	}
	(void)fflush(stdout);
}

static int check(const struct options *options, struct kymo_err *err)
{
	if (options->control > UINT16_MAX || options->data > UINT16_MAX ||
	    options->live > UINT16_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "invalid port: a port is a number up to 65535");
	if (options->minor < WIRE_MINOR_LEAST || options->minor > WIRE_MINOR)
		return err_set(err, KYMO_EXIT_USAGE, "--minor must be a number from %u to %u", WIRE_MINOR_LEAST, WIRE_MINOR);
	if (options->expire < 0)
		return err_set(err, KYMO_EXIT_USAGE, "--expire cannot be negative");
	if (!options->certificate != !options->key)
		return err_set(err, KYMO_EXIT_USAGE, "--tls-cert and --tls-key require each other");
	if (host_is_loopback(options->bind) || options->insecure ||
	    (options->certificate && options->token_file))
		return 0;
	return err_set(err, KYMO_EXIT_USAGE, "anybody who reaches %s could read and write traces; use TLS and a token (--tls-cert, "
		       "--tls-key, --token-file), or listen at 127.0.0.1 and forward it with ssh -L; --insecure allows it "
		       "anyway", options->bind);
}

static int secure(struct options *options, struct server_options *server, struct kymo_err *err)
{
	if (options->token_file && token_read(options->token_file, &server->token, err) < 0)
		return -1;
	if (!options->certificate)
		return 0;
	options->tls = server->tls = tls_serve(options->certificate, options->key, err);
	return server->tls ? 0 : -1;
}

static int read_datagram_port(const char *text, struct server_options *server, struct kymo_err *err)
{
	uint64_t port;

	if (!text_read_u64(text, &port) || port > UINT16_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "--datagram: invalid port '%s'; a port is a number up to 65535", text);
	server->datagrams = true;
	server->datagram = (uint16_t)port;
	return 0;
}

static int read_forward(const struct options *options, struct forward_options *forward,
			struct access *access, struct kymo_err *err)
{
	if (url_parse(options->forward_url, URL_PRODUCER, &forward->url, err) < 0)
		return -1;
	if (forward->url.datagrams)
		return err_set(err, KYMO_EXIT_USAGE, "--forward %s: sessions are forwarded over TCP; write net:// or nets://", options->forward_url);
	if (access_wish(&options->forward_access, &forward->url, access, err) < 0)
		return -1;
	forward->tls = access->tls;
	forward->token = &access->token;
	return 0;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = {
		.bind = "127.0.0.1", .control = URL_CONTROL_PORT, .data = URL_DATA_PORT, .live = URL_LIVE_PORT,
		.minor = WIRE_MINOR,
	};
	struct server_options server = { .say = say, .ready = ready, .context = &options };
	struct forward_options forward = { 0 };
	struct access access = { 0 };
	char output[CLI_PATH_MAX];
	int rc;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) < 0)
		return -1;
	rc = cli_no_operands(argc, argv, err) < 0 ? -1 : check(&options, err);
	if (rc == 0 && !options.output) {
		rc = cli_trace_dir(output, err);
		options.output = output;
	}
	if (rc == 0)
		rc = secure(&options, &server, err);
	if (rc == 0 && options.forward_url &&
	    (rc = read_forward(&options, &forward, &access, err)) == 0)
		server.forward = &forward;
	if (rc == 0 && options.datagram)
		rc = read_datagram_port(options.datagram, &server, err);
	if (rc == 0) {
		server.output = options.output;
		server.address = options.bind;
		server.control = (uint16_t)options.control;
		server.data = (uint16_t)options.data;
		server.live = (uint16_t)options.live;
		server.minor = (unsigned)options.minor;
		server.sync = options.sync;
		server.limits = options.limits;
		server.half_expires_ns = options.expire;
		rc = server_run(&server, err);
	}
	tls_context_free(options.tls);
	access_free(&access);
	return rc;
}

const struct verb verb_relay = {
	.name = "relay",
	.synopsis = "",
	.summary = "receive traces over the network and show them while they grow",
	.description =
		"Replaces lttng-relayd: receives sessions of LTTng (\"lttng create --live --set-url net://HOST\"), "
		"writes them as CTF with index files below the output directory, and serves live viewers "
		"(\"babeltrace2 -i lttng-live net://HOST/host/NAME/SESSION\"). Any number of viewers can attach to "
		"a session; each sees it from its beginning, also after it has ended.\n\n"
		"A packet is shown only after it and its index are in their files. A packet whose bytes never "
		"arrive is an entry with offset -1 in index/CHANNEL.lost.\n\n"
		"Without --tls-cert anybody who reaches the ports can listen; without --token-file anybody can "
		"read and write traces. If other machines can reach the relay, it requires both. LTTng's own "
		"programs know neither; kymo record, kymo live and other relays do (nets://).\n\n"
		"Ends with Ctrl-C or SIGTERM.",
	.examples =
		"kymo relay -o traces\n"
		"lttng create robot --live --set-url net://127.0.0.1\n"
		"babeltrace2 -i lttng-live net://127.0.0.1/host/$(hostname)/robot\n"
		"kymo relay --bind 0.0.0.0 --tls-cert r.pem --tls-key r.key --token-file token\n",
	.opts = opts,
	.common = "output bind tls-cert tls-key token-file control live forward",
	.run = run,
};
