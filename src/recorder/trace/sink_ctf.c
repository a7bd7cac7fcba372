/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/trace/sink_ctf.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accounts/accounts.h"
#include "recorder/trace/packer.h"
#include "recorder/trace/reserve.h"
#include "recorder/trace/sink_ctf_internal.h"
#include "recorder/trace/trace_dir.h"

/* ---- traces ---- */

static void describe(struct ctf_sink *ctf, uint64_t monotonic, uint64_t realtime)
{
	traces_describe(&ctf->traces, &ctf->desc, basename(ctf->path), ctf->version, monotonic,
			realtime);
}

/* Beside ust/, as LTTng's per-process buffers have it. */
static int begin_another(void *context, const char *name, struct ctf_writer **writer,
			 struct kymo_err *err)
{
	struct ctf_sink *ctf = context;

	return ctf_begin_trace(ctf, &ctf->chunks.now, name, writer, err);
}

/* ---- data ---- */

static struct traces *traces_of(struct sink *sink)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;

	ctf->traces.front_ns =
		ctf->chunks.now.number > 1 ? ctf->chunks.now.begin_ns : sink->start_ns;
	return &ctf->traces;
}

static int sink_ctf_join(struct sink *sink, struct sink_process *at)
{
	return traces_join(traces_of(sink), at);
}

static int sink_ctf_declare(struct sink *sink, struct sink_process *at, enum ctf_class class,
			    unsigned id)
{
	return traces_declare(traces_of(sink), at, class, id);
}

static int sink_ctf_facts(struct sink *sink, struct sink_process *at,
			  const struct sink_facts *facts)
{
	return traces_facts(traces_of(sink), at, facts);
}

static int counted(struct sink *sink, int rc)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;

	ctf->chunks.now.events = ctf->traces.events;
	return rc;
}

static int sink_ctf_packet(struct sink *sink, struct sink_process *at,
			   const struct sink_packet *packet)
{
	return counted(sink, traces_packet(traces_of(sink), at, packet));
}

static int sink_ctf_batch(struct sink *sink, struct sink_process *at,
			  const struct sink_batch *batch)
{
	return counted(sink, traces_batch(traces_of(sink), at, batch));
}

static void sink_ctf_leave(struct sink *sink, struct sink_process *at)
{
	traces_leave(traces_of(sink), at);
}

/* ---- accounts and end ---- */

static int sink_ctf_accounts(struct sink *sink, const char *json, bool last)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	int rc;

	ctf->accounts = strlen(json);
	rc = trace_dir_write(ctf->path, ACCOUNTS_FILE, json, ctf->accounts);
	if (last && (rc == -ENOSPC || rc == -EDQUOT))
		rc = reserve_use(ctf->path, ACCOUNTS_FILE, json, ctf->accounts) == 0 ? 0 : rc;
	if (!last && rc == 0 && !ctf->unreserved)
		ctf->unreserved = !reserve_keep(ctf->path, ACCOUNTS_FILE, ctf->accounts);
	return rc;
}

/* With a limit on the size of all chunks, no list: it would grow without limit, while the chunks of
 * these processes are removed. */
static int sink_ctf_ended(struct sink *sink, const char *json, size_t size)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;

	return ctf->chunks.files.max_size ? 0 :
	       trace_dir_extend(ctf->path, TRACE_DIR_EARLIER, &ctf->earlier, json, size);
}

static void sink_ctf_tell(const struct sink *sink, struct json_object *root)
{
	const struct ctf_sink *ctf = (const struct ctf_sink *)sink;
	struct json_object *earlier;

	if (ctf->earlier && json_object_object_get_ex(root, "earlier", &earlier))
		accounts_put(earlier, ACCOUNTS_EARLIER,
			     &(struct accounts_earlier){ TRACE_DIR_EARLIER, ctf->earlier });
	if (ctf->chunks.dir >= 0)
		chunks_tell(&ctf->chunks, root);
}

static uint64_t sink_ctf_bytes(const struct sink *sink)
{
	return traces_bytes(&((const struct ctf_sink *)sink)->traces);
}

static void sink_ctf_close(struct sink *sink)
{
	struct ctf_sink *ctf = (struct ctf_sink *)sink;
	const bool chunked = ctf->chunks.dir >= 0,
		   beside = ctf->traces.shared && ctf_beside_events(ctf);
	const bool empty =
		!ctf->traces.shared ||
		!(sink_ctf_bytes(sink) || (chunked && (beside || ctf->chunks.now.number > 1)));

	for (unsigned i = 0; i < CTF_BESIDES && ctf->beside[i]; i++)
		ctf->beside[i]->place(ctf->beside[i]->context, NULL);
	if (chunked && !empty && (ctf->traces.news || beside || ctf->chunks.now.number == 1)) {
		ctf_complete_chunk(ctf, sink->end_ns);
	} else {
		ctf_writer_close(ctf->traces.shared);
		if (chunked && !empty)
			chunks_unmake(&ctf->chunks, &ctf->chunks.now);	/* it has nothing new */
	}
	if (ctf->path)
		reserve_end(ctf->path, ACCOUNTS_FILE);
	if (empty && ctf->path)
		trace_dir_remove_empty(ctf->path, ctf->existed);
	if (ctf->chunks.packer && !chunked && (!empty || beside))
		packer_add(ctf->chunks.packer, ctf->path, 0);
	chunks_close(&ctf->chunks);
	if (ctf->dir >= 0)
		(void)close(ctf->dir);
	free(ctf->path);
	free(ctf->rules);
	traces_free(&ctf->traces);
	free(ctf);
}

static const struct sink_place_ops sink_ctf_place_ops = {
	.due = ctf_due,
	.turn = ctf_turn,
	.gone = ctf_gone,
	.beside = ctf_beside,
};

static const struct sink_ops sink_ctf_ops = {
	.kind = "ctf",
	.place = &sink_ctf_place_ops,
	.join = sink_ctf_join,
	.declare = sink_ctf_declare,
	.facts = sink_ctf_facts,
	.packet = sink_ctf_packet,
	.batch = sink_ctf_batch,
	.leave = sink_ctf_leave,
	.accounts = sink_ctf_accounts,
	.ended = sink_ctf_ended,
	.tell = sink_ctf_tell,
	.round = ctf_round,
	.horizon = ctf_horizon,
	.bytes = sink_ctf_bytes,
	.close = sink_ctf_close,
};

int sink_ctf_create(const char *path, const char *version, uint64_t monotonic, uint64_t realtime,
		    const struct sink_files *files, struct sink **sink, struct kymo_err *err)
{
	struct ctf_sink *ctf = calloc(1, sizeof *ctf);
	int rc;

	if (!ctf)
		return err_no_memory(err);
	ctf->sink.ops = &sink_ctf_ops;
	ctf->sink.horizon_every_ns = CTF_POINT_NS;
	ctf->chunks.dir = ctf->dir = -1;
	ctf->traces.begin = begin_another;
	ctf->traces.context = ctf;
	(void)snprintf(ctf->version, sizeof ctf->version, "%s", version);
	rc = trace_dir_make(path, &ctf->existed, &ctf->path, err);
	if (rc == 0)
		describe(ctf, monotonic, realtime);
	if (files && files->rules && *files->rules)
		ctf->desc.rules = ctf->rules = strdup(files->rules);
	if (files)
		ctf->desc.form = files->form;
	if (rc == 0 && files && files->compress) {
		ctf->chunks.packer = packer_start();
		if (!ctf->chunks.packer)
			rc = err_set(err, KYMO_EXIT_FAILED, "cannot start the thread that compresses chunks: %s", strerror(errno));
	}
	if (rc == 0)
		rc = ctf_begin_place(ctf, files, monotonic, realtime, err);
	if (rc < 0) {
		sink_ctf_close(&ctf->sink);
		return -1;
	}
	ctf->sink.name = ctf->path;
	*sink = &ctf->sink;
	return 0;
}
