/* SPDX-License-Identifier: Apache-2.0 */
/* The page around a job, which is data: see open_handover.h. */
#include "cli/verbs/open/open_handover.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json_text.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>kymo</title>\n"
	"<style>\n"
	"html, body { height: 100%; margin: 0; font: 16px/1.5 system-ui, sans-serif }\n"
	"iframe { position: fixed; inset: 0; width: 100%; height: 100%; border: 0 }\n"
	"#box { position: fixed; left: 50%; top: 30%; transform: translateX(-50%); max-width: 40em;\n"
	"  padding: 1em 1.5em; background: #fff; color: #222; border: 1px solid #888; z-index: 1 }\n"
	"#box[hidden] { display: none }\n"
	"</style>\n</head>\n<body>\n"
	"<iframe id=\"ui\" title=\"Perfetto UI\" allow=\"clipboard-write; fullscreen\"></iframe>\n"
	"<div id=\"box\" role=\"status\"><span id=\"say\">Loading the trace …</span>\n"
	"<a id=\"save\" hidden>Save the trace as a file</a></div>\n"
	"<noscript>This page needs JavaScript to hand the trace to the Perfetto UI.</noscript>\n"
	"<script type=\"application/json\" id=\"job\">";

/* The trace goes to the window of the UI only: both its source and its origin are checked. */
static const char tail[] =
	"</script>\n<script>\n"
	"'use strict';\n"
	"const job = JSON.parse(document.getElementById('job').textContent);\n"
	"const base = location.pathname.replace(/\\/$/, ''), file = base + '/' + job.file;\n"
	"const ui = new URL(job.ui || '/', location.href);\n"
	"const [frame, box, say, save] = ['ui', 'box', 'say', 'save'].map((id) => document.getElementById(id));\n"
	"let trace = null, ready = false, sent = false;\n"
	"\n"
	"function tell(text, isProblem) {\n"
	"  say.textContent = text;\n"
	"  save.hidden = !isProblem;\n"
	"  box.hidden = !text;\n"
	"}\n"
	"\n"
	"function hand() {\n"
	"  if (!trace || !ready || sent) return;\n"
	"  sent = true;\n"
	"  clearInterval(pings);\n"
	"  clearTimeout(patience);\n"
	"  frame.contentWindow.postMessage({ perfetto: { buffer: trace, title: job.title, fileName: job.file,\n"
	"    downloadable: true } }, ui.origin);\n"
	"  trace = null;\n"
	"  tell('');\n"
	"  frame.focus();\n"
	"}\n"
	"\n"
	"const hash = [];\n"
	"if (job.begin) hash.push('visStart=' + job.begin, 'visEnd=' + job.end);\n"
	"if (job.pins.length) hash.push('startupCommands=' + encodeURIComponent(JSON.stringify(\n"
	"  job.pins.map((pattern) => ({ id: 'dev.perfetto.PinTracksByRegex', args: [pattern] })))));\n"
	"ui.hash = '!/' + (hash.length ? '?' + hash.join('&') : '');\n"
	"document.title = job.title;\n"
	"save.href = file;\n"
	"save.download = job.file;\n"
	"window.addEventListener('message', (event) => {\n"
	"  if (event.source !== frame.contentWindow || event.origin !== ui.origin || event.data !== 'PONG') return;\n"
	"  ready = true;\n"
	"  hand();\n"
	"});\n"
	"const pings = setInterval(() => frame.contentWindow.postMessage('PING', '*'), 100);\n"
	"const patience = setTimeout(() => {\n"
	"  if (!ready) tell(`The Perfetto UI at ${ui.origin} does not answer. Is there a connection to it? ` +\n"
	"    'Without one, name a folder with a UI: kymo open --ui DIR. ', true);\n"
	"}, 20000);\n"
	"/* kymo ends when this connection does: when the tab is closed. */\n"
	"const alive = new EventSource(base + '/alive');\n"
	"fetch(file).then((answer) => {\n"
	"  if (!answer.ok) throw new Error(`status ${answer.status}`);\n"
	"  return answer.arrayBuffer();\n"
	"}).then((buffer) => {\n"
	"  trace = buffer;\n"
	"  if (!ready) tell(`Waiting for the Perfetto UI at ${ui.origin} …`);\n"
	"  hand();\n"
	"}).catch((error) => tell(`The trace could not be loaded: ${error.message}. Does kymo open still run? `, true));\n"
	"frame.src = ui.href;\n"
	"</script>\n</body>\n</html>\n";

/* JSON inside of a script element: no "<" may end it. */
static void put_escaped(struct json_text *page, const struct json_text *job)
{
	for (size_t i = 0; i < job->size; i++)
		if (job->text[i] == '<')
			json_text_raw(page, "\\u003c", 6);
		else
			json_text_raw(page, &job->text[i], 1);
}

/* Times are texts: they have 61 bits, and numbers of browsers 53. */
static void put_time(struct json_text *job, const char *key, int64_t ns)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%lld", (long long)ns);
	json_text_string(job, key, text);
}

int open_handover(const char *ui, const char *title, const char *name, const struct open_view *view,
		  char **page, size_t *size, struct kymo_err *err)
{
	struct json_text text = { 0 }, job = { .one_line = true };

	json_text_open(&job, NULL, '{');
	json_text_string(&job, "ui", ui);
	json_text_string(&job, "title", title);
	json_text_string(&job, "file", name);
	if (view->has_window) {
		put_time(&job, "begin", view->begin_ns);
		put_time(&job, "end", view->end_ns);
	}
	json_text_open(&job, "pins", '[');
	for (unsigned i = 0; i < view->pins; i++)
		json_text_string(&job, NULL, view->pin[i]);
	json_text_close(&job, ']');
	json_text_close(&job, '}');
	json_text_raw(&text, head, sizeof(head) - 1);
	put_escaped(&text, &job);
	json_text_raw(&text, tail, sizeof(tail) - 1);
	free(job.text);
	if (job.failed || text.failed) {
		free(text.text);
		return err_no_memory(err);
	}
	*page = text.text;
	*size = text.size;
	return 0;
}
