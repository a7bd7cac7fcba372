/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files that follow messages call of each other:
 *
 *     model_flow.c    through the middleware, from publish to take
 *     model_sent.c    ... what was published and may still be taken
 *     model_intra.c   within a process
 *     model_path.c    step by step, and inside the middleware
 *     model_lost.c    where they are lost
 *     model_content.c their types and sizes
 *     model_links.c   what they cause
 *     model_caret.c   CARET's events
 */
#ifndef KYMO_ANALYSIS_INTERNAL_MESSAGES_H
#define KYMO_ANALYSIS_INTERNAL_MESSAGES_H

#include "analysis/model/model_internal.h"

/* model_flow.c */
/* The handler; CARET records the event under another name. */
void model_rmw_publish(struct model *model, const struct now *now);
struct sent *model_sent_begin(struct model *model, const struct now *now,
			      struct publisher *publisher, bool chained);
void model_sent_finish(struct model *model, struct sent *sent, int64_t source_ns, uint64_t address);
void model_unstamped_flush(struct model *model, struct thread *thread);
void model_take(struct model *model, const struct now *now, struct subscription *subscription,
		int64_t source_ns, uint64_t address);
void model_taken_flush(struct model *model, struct thread *thread);
void model_taken_set(struct model *model, struct thread *thread,
		     const struct model_message *message);

/* model_sent.c */
/* A new message of @publisher; the oldest one is forgotten for it. Return: NULL: no memory. */
struct sent *model_sent_new(struct model *model, struct publisher *publisher);
/* What a listener sees of @sent. */
void model_sent_message(const struct sent *sent, struct model_message *message);
/* @subscription received it. */
void model_sent_taken(struct model *model, struct sent *sent,
		      const struct subscription *subscription);
/* The trace is over: what nobody received is reported. */
void model_sent_forget_all(struct model *model);

/* model_path.c */
/* Fills in message->dds. */
void model_path_taken(const struct model *model, struct model_message *message);

/* What the middleware's events say of a message that @subscription never received. */
struct path_seen {
	bool sends, receives, caches; /* the two processes and the reader have such events */
	bool sent, received, cached;  /* this message has one */
	bool is_whole;		      /* none of this time is forgotten */
};
struct path_seen model_path_seen(const struct model *model, const struct model_message *message,
				 const struct model_subscription *subscription);
void model_publish_step(struct model *model, const struct now *now,
			const struct model_publish_step *step);
void model_take_step(struct model *model, const struct now *now,
		     const struct model_take_step *step);

/* model_lost.c */
void model_lost_qos(struct model *model, const struct process *process, uint64_t rmw_handle,
		    struct model_qos *qos);
enum model_lost model_lost_where(const struct model *model, const struct model_message *message,
				 const struct model_subscription *subscription);
/* It was in the queue, and the subscription took a later one of the same publisher. */
enum model_lost model_lost_in_queue(const struct model_message *message);

/* model_content.c */
/* The type of the messages of a middleware's object, for a new publisher or subscription. */
void model_content_type(struct model *model, const struct process *process, uint64_t rmw_handle,
			struct topic *topic, const char **name, uint64_t *size);
/* @sent is @message, which @thread writes: what it contains. */
void model_content_sent(struct thread *thread, struct sent *sent, uint64_t message);

/* model_links.c */
void model_causes(struct model *model, const struct model_message *message);

/* model_caret.c */
void model_copy_published(struct model *model, const struct process *process,
			  const struct model_message *message);
/* The message of @topic that the write of @now finishes, or NULL. */
struct sent *model_sent_unstamped(struct model *model, const struct now *now,
				  const struct topic *topic, int64_t source_ns);

#endif
