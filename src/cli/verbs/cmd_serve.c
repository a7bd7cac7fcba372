/* SPDX-License-Identifier: Apache-2.0 */
/* kymo serve: windows of the summary over HTTP. */
#include <string.h>

#include "cli/common/common.h"
#include "cli/verbs/incidents/incidents_finish.h"
#include "config/config.h"
#include "serve/serve.h"
#include "serve/serve_rules.h"

#define NOT_GIVEN UINT64_MAX

struct options {
	const char *listen, *certificate, *key, *token_file, *clickhouse, *otlp;
	int64_t window_ns, sample_ns;
	uint64_t series, entities, objects;
	bool all, once, unprotected, quiet, count;
};

static const struct opt opts[] = {
	{ "listen", 'l', OPT_TEXT, offsetof(struct options, listen), "ADDRESS",
	  "where to listen (default 127.0.0.1:9465; port 0: any free one)", NULL },
	{ "window", 0, OPT_TIME, offsetof(struct options, window_ns), "TIME",
	  "length of the windows (default 60s)", NULL },
	{ "count", 'c', OPT_FLAG, offsetof(struct options, count), NULL,
	  "programs that nobody records only count runs and messages, without durations, at a "
	  "small part of the cost",
	  NULL },
	{ "sample", 0, OPT_TIME, offsetof(struct options, sample_ns), "TIME",
	  "record programs that nobody records for TIME of each window; in the rest of it they only "
	  "count",
	  NULL },
	{ "once", '1', OPT_FLAG, offsetof(struct options, once), NULL,
	  "of a complete trace: print what /metrics would answer, and end", NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "also /rosout, /parameter_events and services of parameters", NULL },
	{ "max-series", 0, OPT_U64, offsetof(struct options, series), "COUNT",
	  "at most this many series; more are left out and counted (default 20000)", NULL },
	{ "max-entities", 0, OPT_U64, offsetof(struct options, entities), "COUNT",
	  "at most this many callbacks, topics, chains, ... each; more count together as (other) "
	  "(default 1000)",
	  NULL },
	{ "max-objects", 0, OPT_U64, offsetof(struct options, objects), "COUNT",
	  "know at most this many nodes, topics, publishers, callbacks, threads, ... each in detail; "
	  "runs and publish calls of the others count together as (other) (default 10000)",
	  NULL },
	{ "clickhouse", 0, OPT_TEXT, offsetof(struct options, clickhouse), "URL",
	  "also send each window to this ClickHouse server", NULL },
	{ "otlp", 0, OPT_TEXT, offsetof(struct options, otlp), "URL",
	  "also send each window to this OpenTelemetry collector", NULL },
	{ "tls-cert", 0, OPT_TEXT, offsetof(struct options, certificate), "FILE",
	  "serve HTTPS with this certificate", NULL },
	{ "tls-key", 0, OPT_TEXT, offsetof(struct options, key), "FILE", "and this key", NULL },
	{ "token-file", 0, OPT_TEXT, offsetof(struct options, token_file), "FILE",
	  "only answer requests with the bearer token in FILE", NULL },
	{ "everybody-may-read", 0, OPT_FLAG, offsetof(struct options, unprotected), NULL,
	  "listen beyond this machine without TLS and token: names of nodes and topics, and what "
	  "they do, are public",
	  NULL },
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END,
};

static int check(const struct options *options, int operands, struct kymo_err *err)
{
	if (operands > 1)
		return err_set(err, KYMO_EXIT_USAGE,
			       "name one trace, or none for the programs that run");
	if (options->count && operands)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--count is for programs that run; a trace already has its events");
	if (options->once && !operands)
		return err_set(err, KYMO_EXIT_USAGE, "--once reads a complete trace: kymo serve --once TRACE");
	return 0;
}

/* @context: the first error. */
static void on_wrong(void *context, const char *key, const struct kymo_err *err)
{
	struct kymo_err *first = context;

	(void)key;
	if (!*first->text)
		*first = *err;
}

static int check_rules(const struct options *options, bool has_trace, struct kymo_err *err)
{
	const struct serve_rules rules = { .listen = options->listen,
					   .tls_cert = options->certificate ? options->certificate : "",
					   .tls_key = options->key ? options->key : "",
					   .token_file = options->token_file ? options->token_file : "",
					   .everybody = options->unprotected,
					   .count = options->count,
					   .has_trace = has_trace,
					   .window_ns = options->window_ns,
					   .sample_ns = options->sample_ns,
					   .series = options->series,
					   .entities = options->entities,
					   .objects = options->objects };

	err->text[0] = 0;
	return serve_rules_check(&rules, on_wrong, err) ? -1 : 0;
}

static void print_address(const struct serve_options *serve, unsigned port)
{
	const bool v6 = strchr(serve->address, ':') != NULL;

	fprintf(stderr, "kymo serve: http%s://%s%s%s:%u/metrics\n", serve->tls ? "s" : "",
		v6 ? "[" : "", serve->address, v6 ? "]" : "", port);
}

static void start_silently(const struct serve_options *serve, unsigned port)
{
	(void)serve;
	(void)port;
}

/* What the command line does not say, the configuration file does. */
static int configure(struct options *options, struct config *config, bool has_trace,
		     struct kymo_err *err)
{
	const bool tls = !options->certificate && !options->key;

	if (options->clickhouse && config_set(config, "clickhouse.url", options->clickhouse, err))
		return err_wrap(err, "--clickhouse");
	if (options->otlp && config_set(config, "otlp.url", options->otlp, err))
		return err_wrap(err, "--otlp");
	if (!options->listen)
		options->listen = config->listen;
	if (!options->window_ns)
		options->window_ns = config->window_ns;
	if (!options->sample_ns && !options->count && !has_trace)
		options->sample_ns = config->sample_ns;
	if (!options->series)
		options->series = config->series;
	if (options->entities == NOT_GIVEN)
		options->entities = config->entities;
	if (options->objects == NOT_GIVEN)
		options->objects = config->objects;
	if (tls && *config->tls_cert)
		options->certificate = config->tls_cert;
	if (tls && *config->tls_key)
		options->key = config->tls_key;
	if (!options->token_file && *config->token_file)
		options->token_file = config->token_file;
	options->unprotected |= config->everybody != 0;
	return 0;
}

static int serve_by(struct options options, struct config *config, int argc, char **argv,
		    struct kymo_err *err)
{
	struct serve_options serve = { .version = KYMO_VERSION,
				       .config = config,
				       .say = cli_say,
				       .say_context = (void *)"serve" };
	struct token token = { 0 };
	char address[SERVE_ADDRESS_MAX], incidents[CLI_PATH_MAX];
	int status = -1;

	if (configure(&options, config, argc, err) || check(&options, argc, err) ||
	    check_rules(&options, argc, err) ||
	    serve_rules_address(options.listen, address, &serve.port, err) ||
	    (options.token_file && token_read(options.token_file, &token, err)))
		return -1;
	if (options.certificate) {
		serve.tls = tls_serve(options.certificate, options.key, err);
		if (!serve.tls)
			return -1;
	}
	serve.trace = argc ? argv[0] : NULL;
	serve.address = address;
	if (!serve.trace && incidents_directory(incidents, err) == 0)
		serve.incidents = incidents;
	serve.token = &token;
	serve.window_ns = options.window_ns;
	serve.series_max = (unsigned)options.series;
	serve.entities_max = (unsigned)options.entities;
	serve.objects_max = (unsigned)options.objects;
	serve.all = options.all;
	serve.count = options.count || config->count || options.sample_ns;
	serve.sample_ns = options.sample_ns;
	serve.once = options.once ? stdout : NULL;
	serve.started = options.quiet ? start_silently : print_address;
	status = serve_run(&serve, err);
	tls_context_free(serve.tls);
	return status;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { .entities = NOT_GIVEN, .objects = NOT_GIVEN };
	struct config *config;
	int status;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) || config_read(&config, NULL, err))
		return -1;
	status = serve_by(options, config, argc, argv, err);
	config_free(config);
	return status;
}

const struct verb verb_serve = {
	.name = "serve",
	.synopsis = "[TRACE]",
	.summary = "serve what a robot does as metrics for Prometheus",
	.description =
		"Answers http://127.0.0.1:9465/metrics with counters and histograms of "
		"callbacks, topics, chains and "
		"timers, until it is interrupted. /healthz answers while it works, and / is "
		"a small index. /incidents lists what a flight recorder on this machine kept "
		"(kymo incidents).\n\n"
		"Without TRACE, it reads all programs that were started with \"kymo run\", "
		"as \"kymo top\" does: beside a "
		"recorder, or it takes their events into memory (16 MiB at most) and "
		"forgets them again. A trace that is "
		"being recorded is read as it grows. With --count, programs that nobody records "
		"only count: /metrics has runs and published messages then, and no "
		"histograms. With --sample 10s, these programs are recorded for ten seconds of each "
		"window, at a random time in it, and only count in the rest: histograms have the "
		"values of these ten seconds, at a part of the cost.\n\n"
		"The numbers grow with each window of time (--window). A window is added "
		"some seconds after its end, "
		"when what began in it has ended. Names of nodes, topics, callbacks and "
		"processes are labels; process numbers "
		"and addresses are not.\n\n"
		"The configuration file of the robot (kymo-config(1)) sets what options leave "
		"out, and labels.\n\n"
		"--clickhouse and --otlp send each window on. What cannot be sent waits in "
		"a spool; keys, passwords, limits and certificates are in the "
		"configuration file. With upload.to in that file, complete incidents are "
		"uploaded to a bucket (S3) or a directory; with webhook.url, incident.json of "
		"each is sent there.\n\n"
		"Beyond this machine, kymo serve requires TLS and a token, or "
		"--everybody-may-read. docs/answers/fleet.md lists the "
		"metrics and shows a configuration of Prometheus.",
	.examples =
		"kymo serve\n"
		"kymo serve --count\n"
		"kymo serve --sample 10s\n"
		"kymo serve --window 10s --listen 127.0.0.1:9000\n"
		"kymo serve -l 0.0.0.0:443 --tls-cert r.crt --tls-key r.key --token-file token\n"
		"kymo serve --once TRACE\n"
		"kymo serve --clickhouse http://127.0.0.1:8123\n"
		"kymo serve --otlp http://127.0.0.1:4318\n",
	.opts = opts,
	.run = run,
};
