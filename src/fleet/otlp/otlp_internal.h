/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the three requests share.
 *
 * Context of all functions: as otlp.h. Out of memory shows in struct pb.
 */
#ifndef KYMO_FLEET_OTLP_INTERNAL_H
#define KYMO_FLEET_OTLP_INTERNAL_H

#include "fleet/otlp/otlp.h"

#define OTLP_SPAN_BYTES 8
#define OTLP_TRACE_BYTES 16

struct otlp_put {
	struct pb *pb;
	const struct otlp_of *of;
	const struct summary *summary;
	int64_t begin_ns, end_ns;
	unsigned count;
};

/* A KeyValue as field @field of the open message; empty texts are left out. */
void otlp_text(struct pb *pb, uint32_t field, const char *key, const char *value);
void otlp_int(struct pb *pb, uint32_t field, const char *key, int64_t value);
void otlp_bool(struct pb *pb, uint32_t field, const char *key, bool value);
/* A string that is UTF-8 whatever @value is. */
void otlp_string(struct pb *pb, uint32_t field, const char *value);
/* What an entity is known by. */
void otlp_entity(struct pb *pb, uint32_t field, const struct summary_entity *entity);

/* A number that is the same wherever the texts and the number are; never 0. */
uint64_t otlp_hash(const char *text, const char *more, int64_t number);
void otlp_trace_id(uint8_t id[OTLP_TRACE_BYTES], const struct otlp_put *put,
		   const struct summary_entity *entity, const struct summary_instance *instance);
void otlp_span_id(uint8_t id[OTLP_SPAN_BYTES], uint64_t hash);
/* The span of the whole instance. */
uint64_t otlp_root(const struct summary_entity *entity, const struct summary_instance *instance);

void otlp_metrics(struct otlp_put *put);
void otlp_traces(struct otlp_put *put);
void otlp_logs(struct otlp_put *put);

#endif
