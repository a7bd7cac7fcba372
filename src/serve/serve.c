/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of `kymo serve`; see serve.h. */
#include "serve/serve.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "fleet/push/push.h"
#include "fleet/upload/upload.h"
#include "serve/serve_http.h"
#include "serve/serve_incidents.h"
#include "serve/serve_metrics.h"
#include "serve/serve_source.h"

#define READ_MS 200      /* between two looks, with windows of less than four seconds */
#define READ_MOST_MS 500 /* with longer ones: what is kept in memory has room for this time */
#define READ_PARTS 20    /* of a window */
#define AGAIN_MS 1u
#define NOTE_MS 3000

struct serve {
	const struct serve_options *options;
	struct serve_source *source;
	struct serve_metrics *metrics;
	struct push *push; /* NULL: windows go nowhere else */
	struct upload *upload; /* NULL: incidents stay here */
	struct upload *webhook; /* NULL: nobody is told */
	struct serve_http *http;
	struct serve_incidents incidents;
	uv_loop_t loop;
	uv_timer_t timer;
	uv_signal_t signals[3];
	uint64_t windows;
	bool is_over, is_left; /* a window was over, or something was left out, and it was said */
	uint64_t noted_ms; /* since when the source has a note; 0: it has none */
	bool is_said;      /* the note */
	int status;
	struct kymo_err *err;
};

/* Once: the first window that is over the limit. */
static void say_over(struct serve *serve, const struct summary *summary)
{
	const struct serve_options *options = serve->options;
	char text[256];

	if (!summary->over || serve->is_over || !options->say)
		return;
	serve->is_over = true;
	snprintf(text, sizeof(text),
		 "windows name at most %u callbacks, %u topics, %u chains, ...; all that came "
		 "later count together as (other); a higher --max-entities "
		 "(serve.max-entities) names more of them",
		 options->entities_max, options->entities_max, options->entities_max);
	options->say(options->say_context, text);
}

/* Once: the first window in which the model had no room for something. */
static void say_left(struct serve *serve, const struct summary *summary)
{
	const struct serve_options *options = serve->options;
	char text[320];

	if ((!summary->left_objects && !summary->left_events) || serve->is_left || !options->say)
		return;
	serve->is_left = true;
	snprintf(text, sizeof(text),
		 "windows have details of at most %u nodes, %u topics, %u publishers, ...; of all "
		 "that came later, they only count runs and publish calls, as (other); a higher "
		 "--max-objects (serve.max-objects) has room for more, and takes more memory",
		 options->objects_max, options->objects_max, options->objects_max);
	options->say(options->say_context, text);
}

static int on_window(void *context, const struct summary *summary, int64_t begin_ns,
		     int64_t length_ns, struct kymo_err *err)
{
	struct serve *serve = context;

	serve->windows++;
	say_over(serve, summary);
	say_left(serve, summary);
	push_window(serve->push, summary, begin_ns, length_ns);
	return serve_metrics_add(serve->metrics, summary, begin_ns + length_ns)
		       ? err_no_memory(err)
		       : 0;
}

/* ---- pages ---- */

static const char index_page[] =
	"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>kymo serve</title>\n"
	"<h1>kymo serve</h1>\n<p>Windows of %g s so far: %" PRIu64 ".</p>\n<ul>\n"
	"<li><a href=\"/metrics\">/metrics</a>: for Prometheus</li>\n"
	"<li><a href=\"/incidents\">/incidents</a>: what a flight recorder kept, as JSON</li>\n"
	"<li><a href=\"/healthz\">/healthz</a>: answers 200 while kymo serve "
	"works</li>\n</ul></html>\n";

static int page(void *context, const char *path, const char *accept, FILE *out, const char **type)
{
	struct serve *serve = context;
	const bool open = strstr(accept, "application/openmetrics-text") != NULL;

	if (!strcmp(path, "/metrics")) {
		*type = open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			     : "text/plain; version=0.0.4; charset=utf-8";
		serve_incidents_count(&serve->incidents);
		serve_metrics_put(serve->metrics, &serve->incidents, serve->push, serve->upload,
				  serve->webhook, open, out);
		return 200;
	}
	if (!strcmp(path, "/incidents") && serve->incidents.directory) {
		*type = "application/json";
		serve_incidents_put(&serve->incidents, out);
		return 200;
	}
	if (!strcmp(path, "/healthz")) {
		fputs("ok\n", out);
		return 200;
	}
	if (strcmp(path, "/") != 0)
		return 404;
	*type = "text/html; charset=utf-8";
	fprintf(out, index_page, (double)serve->options->window_ns / 1e9, serve->windows);
	return 200;
}

/* ---- the loop ---- */

static void stop(struct serve *serve)
{
	serve_http_end(serve->http);
	if (!uv_is_closing((uv_handle_t *)&serve->timer))
		uv_close((uv_handle_t *)&serve->timer, NULL);
	for (unsigned i = 0; i < 3; i++)
		if (!uv_is_closing((uv_handle_t *)&serve->signals[i]))
			uv_close((uv_handle_t *)&serve->signals[i], NULL);
}

static void on_signal(uv_signal_t *signal, int number)
{
	(void)number;
	stop(signal->data);
}

static uint64_t read_ms(const struct serve *serve)
{
	const int64_t ms = serve->options->window_ns / 1000000 / READ_PARTS;

	return (uint64_t)(ms < READ_MS ? READ_MS : ms > READ_MOST_MS ? READ_MOST_MS : ms);
}

/* Once, until the reason is gone. While one recorder follows another, there is a reason for a
 * moment. */
static void say_note(struct serve *serve)
{
	const char *note = serve_source_note(serve->source);

	if (!*note) {
		serve->noted_ms = 0;
		serve->is_said = false;
		return;
	}
	if (!serve->noted_ms)
		serve->noted_ms = uv_now(&serve->loop);
	if (serve->is_said || !serve->options->say ||
	    uv_now(&serve->loop) < serve->noted_ms + NOTE_MS)
		return;
	serve->options->say(serve->options->say_context, note);
	serve->is_said = true;
}

static void on_read(uv_timer_t *timer)
{
	struct serve *serve = timer->data;
	const int more = serve_source_read(serve->source, serve->err);

	if (more < 0) {
		serve->status = -1;
		stop(serve);
		return;
	}
	say_note(serve);
	(void)uv_timer_start(timer, on_read, more ? AGAIN_MS : read_ms(serve), 0);
}

static void begin(struct serve *serve)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	(void)uv_timer_init(&serve->loop, &serve->timer);
	serve->timer.data = serve;
	(void)uv_timer_start(&serve->timer, on_read, 0, 0);
	for (unsigned i = 0; i < 3; i++) {
		(void)uv_signal_init(&serve->loop, &serve->signals[i]);
		serve->signals[i].data = serve;
		(void)uv_signal_start(&serve->signals[i], on_signal, numbers[i]);
	}
}

static int run_loop(struct serve *serve, struct kymo_err *err)
{
	const struct serve_options *options = serve->options;
	const struct serve_http_options http = { options->address, options->port, options->tls,
						 options->token,   page,          serve };
	const struct push_options push = { options->config, options->version, options->say,
					   options->say_context, options->incidents };
	struct upload_options upload = { options->config, options->incidents, false, options->say,
					 options->say_context };
	struct upload_options webhook = upload;
	int status;

	if (uv_loop_init(&serve->loop))
		return err_no_memory(err);
	(void)signal(SIGPIPE, SIG_IGN);
	webhook.webhook = true;
	if (push_begin(&serve->push, &push, err) || upload_begin(&serve->upload, &upload, err) ||
	    upload_begin(&serve->webhook, &webhook, err)) {
		upload_end(serve->upload);
		push_end(serve->push);
		(void)uv_loop_close(&serve->loop);
		return -1;
	}
	status = serve_http_begin(&serve->http, &serve->loop, &http, err);
	if (serve->http) {
		begin(serve);
		if (status)
			stop(serve);
		else
			options->started(options, serve_http_port(serve->http));
		(void)uv_run(&serve->loop, UV_RUN_DEFAULT);
	}
	(void)uv_loop_close(&serve->loop);
	serve_http_free(serve->http);
	/* The window that has just begun is sent, too: the next kymo serve sends the rest of it. */
	if (serve->push && !status && !serve->status)
		status = serve_source_end(serve->source, err);
	upload_end(serve->upload);
	upload_end(serve->webhook);
	push_end(serve->push);
	return status ? status : serve->status;
}

/* Without a server: read all, and print. */
static int run_once(struct serve *serve, struct kymo_err *err)
{
	int more;

	do
		more = serve_source_read(serve->source, err);
	while (more > 0 || (more == 0 && !serve_source_is_over(serve->source)));
	if (more < 0)
		return -1;
	serve_metrics_put(serve->metrics, &serve->incidents, NULL, NULL, NULL, false,
			  serve->options->once);
	return fflush(serve->options->once) ? err_set(err, KYMO_EXIT_FAILED, "cannot write the output") : 0;
}

int serve_run(const struct serve_options *options, struct kymo_err *err)
{
	struct serve serve = { .options = options,
			       .err = err,
			       .incidents = { .directory = options->incidents } };
	const struct serve_source_options source = { .trace = options->trace,
						     .version = options->version,
						     .counts = options->count,
						     .sample_ns = options->sample_ns,
						     .window_ns = options->window_ns,
						     .entities_max = options->entities_max,
						     .objects_max = options->objects_max,
						     .take = on_window,
						     .context = &serve };
	const struct serve_metrics_options metrics = { options->series_max, options->all,
						       options->version, options->config };
	int status = -1;

	serve.metrics = serve_metrics_new(&metrics);
	if (!serve.metrics)
		return err_no_memory(err);
	if (!serve_source_open(&serve.source, &source, err))
		status = options->once ? run_once(&serve, err) : run_loop(&serve, err);
	serve_source_close(serve.source);
	serve_metrics_free(serve.metrics);
	return status ? -1 : KYMO_EXIT_OK;
}
