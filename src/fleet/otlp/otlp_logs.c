/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of a window as log records, each with its trace if it has one. */
#include "base/array.h"
#include "fleet/otlp/otlp_internal.h"
#include "summary/findings.h"

enum { SEVERITY_WARN = 13 };

static void put_finding(struct otlp_put *put, const struct summary_finding *finding)
{
	const int64_t at_ns = finding->at_ns ? finding->at_ns : put->end_ns;
	uint8_t trace[OTLP_TRACE_BYTES], span[OTLP_SPAN_BYTES];
	struct pb *pb = put->pb;
	char text[2048];

	pb_open(pb, 2);
	pb_fixed64(pb, 1, (uint64_t)at_ns);
	pb_uint(pb, 2, SEVERITY_WARN);
	pb_text(pb, 3, "WARN");
	pb_open(pb, 5);
	otlp_string(pb, 1, summary_finding_text(put->summary, finding, text, sizeof(text)));
	pb_close(pb);
	otlp_text(pb, 6, "kymo.finding", summary_finding_kind_name(finding->kind));
	otlp_int(pb, 6, "kymo.harm_ns", finding->harm_ns);
	if (finding->entity)
		otlp_entity(pb, 6, finding->entity);
	if (finding->instance && finding->entity->kind == SUMMARY_CHAIN) {
		otlp_trace_id(trace, put, finding->entity, finding->instance);
		otlp_span_id(span, otlp_root(finding->entity, finding->instance));
		pb_bytes(pb, 9, trace, sizeof(trace));
		pb_bytes(pb, 10, span, sizeof(span));
	}
	pb_fixed64(pb, 11, (uint64_t)put->end_ns);
	pb_close(pb);
	put->count++;
}

void otlp_logs(struct otlp_put *put)
{
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	const unsigned count = summary_findings(put->summary, finding, COUNT_OF(finding));

	for (unsigned i = 0; i < count; i++)
		put_finding(put, &finding[i]);
}
