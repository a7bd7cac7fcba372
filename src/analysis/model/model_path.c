/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of a message inside the middleware: when it was given to the network, received, and put
 * into the cache of a reader. kymo records these events of CycloneDDS and Fast DDS:
 *
 *     rmw_publish ─▶ dds_send          on any thread of the publisher's process
 *                    dds_receive ─▶ dds_cached(reader) ─▶ rmw_take     in the receiver's process
 *
 * The idea: they have the source timestamp of the message, and come before its take. So the latest
 * ones are kept in two rings: dds_send and dds_receive by (source timestamp, process), dds_cached
 * by (source timestamp, gid of the reader), which is the gid of the subscription. If two writers
 * have messages of the same nanosecond for a process, the process's entry is not used.
 */
#include <string.h>

#include "analysis/model/model_internal_messages.h"

#define WAYS_MAX 16384u

/* A message in one process; or in the cache of one reader: then it has only `cached_ns`. */
struct path_way {
	uint64_t key, scope;
	int64_t sent_ns, received_ns, cached_ns; /* 0: not seen */
	uint8_t writer[16];
	bool doubtful;
};

struct ways {
	struct path_way way[WAYS_MAX];
	unsigned next;
	int64_t forgotten_ns; /* the latest time of an event that is no longer here */
};

#define ANY 0u			  /* in place of a source timestamp: the reader has had an event */
#define SCOPE_READER (1ull << 63) /* differs from the numbers of processes */

static uint64_t scope_of_reader(const uint8_t gid[16])
{
	uint64_t words[2];

	memcpy(words, gid, sizeof(words));
	return (words[0] * 0x9e3779b97f4a7c15ull ^ words[1]) | SCOPE_READER;
}

static int64_t latest_ns(const struct path_way *way)
{
	int64_t ns = way->sent_ns;

	if (way->received_ns > ns)
		ns = way->received_ns;
	return way->cached_ns > ns ? way->cached_ns : ns;
}

static struct path_way *way_at(struct model *model, int64_t source_ns, uint64_t scope)
{
	struct path_way *way;

	if (source_ns <= 0)
		return NULL;
	way = map_get(&model->ways, (uint64_t)source_ns, scope);
	if (way)
		return way;
	if (!model->way_ring)
		model->way_ring = model_alloc(model, sizeof(*model->way_ring));
	if (!model->way_ring)
		return NULL;
	way = &model->way_ring->way[model->way_ring->next++ % WAYS_MAX];
	if (way->key && latest_ns(way) > model->way_ring->forgotten_ns)
		model->way_ring->forgotten_ns = latest_ns(way);
	if (way->key && map_get(&model->ways, way->key, way->scope) == way)
		map_del(&model->ways, way->key, way->scope);
	*way = (struct path_way){ .key = (uint64_t)source_ns, .scope = scope };
	if (map_put(&model->ways, way->key, scope, way))
		model->out_of_memory = true;
	return way;
}

static bool is_gid(const struct kymo_ctf_value *value)
{
	return value->present && value->size >= 16;
}

static bool is_zero(const uint8_t gid[16])
{
	static const uint8_t zero[16];

	return !memcmp(gid, zero, sizeof(zero));
}

/* Fast DDS names the writer of both events, CycloneDDS that of dds_receive. */
static void note_writer(struct path_way *way, const struct kymo_ctf_value *gid)
{
	const uint8_t *bytes = (const uint8_t *)gid->bytes;

	if (!is_gid(gid) || is_zero(bytes))
		return;
	if (is_zero(way->writer))
		memcpy(way->writer, bytes, sizeof(way->writer));
	else if (memcmp(way->writer, bytes, sizeof(way->writer)) != 0)
		way->doubtful = true;
}

static void on_dds_send(struct model *model, const struct now *now)
{
	ARGS(dds_send, now->event);
	struct path_way *way = way_at(model, args->source_timestamp.i, now->process->pub.index);

	if (!way)
		return;
	now->process->sends = true;
	note_writer(way, &args->writer);
	if (!way->sent_ns)
		way->sent_ns = now->ns;
}

static void on_dds_receive(struct model *model, const struct now *now)
{
	ARGS(dds_receive, now->event);
	struct path_way *way = way_at(model, args->source_timestamp.i, now->process->pub.index);

	if (!way)
		return;
	now->process->receives = true;
	note_writer(way, &args->writer);
	if (!way->received_ns)
		way->received_ns = now->ns;
}

static void on_dds_cached(struct model *model, const struct now *now)
{
	ARGS(dds_cached, now->event);
	static struct path_way reports;
	struct path_way *way;
	uint64_t scope;

	if (!is_gid(&args->reader))
		return;
	scope = scope_of_reader((const uint8_t *)args->reader.bytes);
	if (!map_get(&model->ways, ANY, scope) && map_put(&model->ways, ANY, scope, &reports))
		model->out_of_memory = true;
	way = way_at(model, args->source_timestamp.i, scope);
	if (way && !way->cached_ns)
		way->cached_ns = now->ns;
}

/*
 * When the reader at @scope had @message; 0: not known. The middleware calls dds_cached after it
 * gave its lock back, so another thread can take the message before: then it was in the cache for
 * no time.
 */
static int64_t cached_ns(const struct model *model, const struct model_message *message,
			 uint64_t scope)
{
	const struct path_way *way = map_get(&model->ways, (uint64_t)message->source_ns, scope);

	if (way && way->cached_ns < message->take_ns)
		return way->cached_ns;
	return way || map_get(&model->ways, ANY, scope) ? message->take_ns : 0;
}

static const struct path_way *way_of(const struct model *model, const struct model_message *message,
				const struct model_process *process)
{
	const struct path_way *way =
		process ? map_get(&model->ways, (uint64_t)message->source_ns, process->index)
			: NULL;

	return way && !way->doubtful ? way : NULL;
}

void model_path_taken(const struct model *model, struct model_message *message)
{
	const struct model_gid *gid = &message->subscription->gid;
	const struct path_way *way;

	if (!model->way_ring || message->source_ns <= 0 || gid->size < 16)
		return;
	message->dds.cached_ns = cached_ns(model, message, scope_of_reader(gid->bytes));
	if (!message->dds.cached_ns)
		return;
	way = way_of(model, message, message->subscription->process);
	if (way && way->received_ns <= message->dds.cached_ns)
		message->dds.received_ns = way->received_ns;
	way = message->publisher ? way_of(model, message, message->publisher->process) : NULL;
	/* Before it was sent, it cannot be received: else the clocks of two hosts differ too
	 * much. */
	if (way && way->sent_ns >= message->send_ns && message->dds.received_ns &&
	    way->sent_ns <= message->dds.received_ns)
		message->dds.sent_ns = way->sent_ns;
}

struct path_seen model_path_seen(const struct model *model, const struct model_message *message,
				 const struct model_subscription *subscription)
{
	const struct model_process *from = message->publisher->process, *to = subscription->process;
	struct path_seen seen = { 0 };
	const struct path_way *sent, *received;
	uint64_t reader;

	if (!model->way_ring || message->source_ns <= 0 || subscription->gid.size < 16)
		return seen;
	reader = scope_of_reader(subscription->gid.bytes);
	sent = map_get(&model->ways, (uint64_t)message->source_ns, from->index);
	received = map_get(&model->ways, (uint64_t)message->source_ns, to->index);
	seen.is_whole = message->publish_ns > model->way_ring->forgotten_ns &&
			!(sent && sent->doubtful) && !(received && received->doubtful);
	seen.sends = ((const struct process *)from)->sends;
	seen.receives = ((const struct process *)to)->receives;
	seen.caches = map_get(&model->ways, ANY, reader);
	seen.sent = sent && sent->sent_ns;
	seen.received = received && received->received_ns;
	seen.cached = map_get(&model->ways, (uint64_t)message->source_ns, reader);
	return seen;
}

static void add(struct model_dds_cut *cut, enum model_dds_part part, int64_t from_ns, int64_t to_ns)
{
	cut->piece[cut->pieces].part = part;
	cut->piece[cut->pieces].from_ns = from_ns;
	cut->piece[cut->pieces++].to_ns = to_ns;
}

void model_dds_cut(struct model_dds_cut *cut, const struct model_dds *dds, int64_t send_ns,
		   int64_t take_ns)
{
	*cut = (struct model_dds_cut){ 0 };
	if (!dds->cached_ns || dds->cached_ns < send_ns || dds->cached_ns > take_ns) {
		add(cut, MODEL_DDS_UNSPLIT, send_ns, take_ns);
		return;
	}
	if (dds->sent_ns) {
		add(cut, MODEL_DDS_WRITE, send_ns, dds->sent_ns);
		add(cut, MODEL_DDS_NETWORK, dds->sent_ns, dds->received_ns);
		add(cut, MODEL_DDS_READ, dds->received_ns, dds->cached_ns);
	} else if (dds->is_local) {
		add(cut, MODEL_DDS_WRITE, send_ns, dds->cached_ns);
	} else if (dds->received_ns >= send_ns) {
		add(cut, MODEL_DDS_UNSPLIT, send_ns, dds->received_ns);
		add(cut, MODEL_DDS_READ, dds->received_ns, dds->cached_ns);
	} else {
		add(cut, MODEL_DDS_UNSPLIT, send_ns, dds->cached_ns);
	}
	add(cut, MODEL_DDS_CACHE, dds->cached_ns, take_ns);
}

const char *model_dds_part_name(enum model_dds_part part)
{
	static const char *const names[] = {
		[MODEL_DDS_WRITE] = "dds_write", [MODEL_DDS_NETWORK] = "network",
		[MODEL_DDS_READ] = "dds_read",   [MODEL_DDS_CACHE] = "cache",
		[MODEL_DDS_UNSPLIT] = "unsplit",
	};

	return names[part];
}

/* ---- each single event in the life of a message, for listeners that need it ---- */

void model_publish_step(struct model *model, const struct now *now,
			const struct model_publish_step *step)
{
	struct model_publish_step whole = *step;

	whole.thread = &now->thread->pub;
	whole.ns = now->ns;
	EMIT(model, publish_step, &whole);
}

void model_take_step(struct model *model, const struct now *now, const struct model_take_step *step)
{
	struct model_take_step whole = *step;

	whole.thread = &now->thread->pub;
	whole.ns = now->ns;
	EMIT(model, take_step, &whole);
}

static void on_rcl_take(struct model *model, const struct now *now)
{
	ARGS(rcl_take, now->event);

	model_take_step(model, now, &(struct model_take_step){
		.layer = MODEL_LAYER_RCL, .address = args->message.u, .taken = true });
}

static void on_rclcpp_take(struct model *model, const struct now *now)
{
	ARGS(rclcpp_take, now->event);

	model_take_step(model, now, &(struct model_take_step){
		.layer = MODEL_LAYER_RCLCPP, .address = args->message.u, .taken = true });
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(rcl_take),
	ON(rclcpp_take),
	ON(dds_send),
	ON(dds_receive),
	ON(dds_cached),
};

const struct model_part model_path = { .handlers = handlers };
