/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events in the life of the objects, and the listener that receives them; see model.h. The
 * structs are valid during the listener's call only.
 */
#ifndef KYMO_ANALYSIS_MODEL_LISTENER_H
#define KYMO_ANALYSIS_MODEL_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model_entities.h"
#include "analysis/model/model_goal.h"
#include "analysis/model/model_lost.h"

/* A message inside the middleware; 0: not in the trace. */
struct model_dds {
	int64_t sent_ns;	/* given to the network; only with the two others */
	int64_t received_ns;	/* by the receiving process */
	int64_t cached_ns;	/* in the cache of the subscription's reader */
	bool is_local;		/* publisher and subscription are in one process */
	bool is_through;	/* it came through the middleware */
};

/* A message, from its publication to its callback. */
struct model_message {
	/* Number of the publication, from 1; 0: publication not in the trace. */
	uint64_t id;
	const struct model_publisher *publisher;	/* NULL: not in the trace */
	const struct model_topic *topic;	/* NULL: unknown */
	const struct model_thread *publish_thread;	/* NULL: not in the trace */
	/* The callback whose run published it; NULL: none or unknown. */
	const struct model_callback *from;
	uint64_t from_instance;			/* id of that run; 0: none or unknown */
	int64_t publish_ns;	/* start of the publish call; 0: not in the trace */
	int64_t rcl_ns;		/* rcl_publish; 0: not in the trace */
	/* rmw_publish, or the enqueue of an intra-process message; 0: not in the trace (yet) */
	int64_t send_ns;
	int64_t source_ns;	/* source timestamp: the publisher's wall clock; 0: none */
	/*
	 * In the message's header, recorded by kymo and by some versions of CARET's rclcpp; 0: not
	 * in the trace.
	 */
	int64_t stamp_ns;
	uint64_t size;          /* bytes, serialized; 0: not in the trace */
	bool is_intra;		/* it passed through a ring buffer of the same process */
	/*
	 * Of the message object: in published() the publisher's object, in taken() and in instances
	 * the receiver's; 0: unknown.
	 */
	uint64_t address;

	/* The receiving side. */
	const struct model_subscription *subscription;	/* NULL: unknown */
	const struct model_thread *take_thread;
	struct model_dds dds;
	int64_t take_ns;	/* rmw_take, or the dequeue; 0: not yet received */
	/* the callback that received it; NULL: none (yet) */
	const struct model_callback *callback;
	int64_t callback_ns;	/* start of the callback; 0: none */
	uint64_t to_instance;	/* id of that callback run; 0: none */
	enum model_lost lost;	/* in dropped(), MODEL_DROP_UNTAKEN */
};

/**
 * model_message_age() - the time from the stamp in the header of a received message to the start of
 * its callback, or to its take if it has no callback
 * @age_ns: set to it; below zero if the clocks of two hosts differ
 *
 * Return: false: the message has no stamp, was not received, or the two are more than a day apart:
 * then the stamp is of another clock, as that of a simulation or of a recording that is played.
 */
bool model_message_age(const struct model_message *message, int64_t *age_ns);

/* The parts of the time from rmw_publish to rmw_take. */
enum model_dds_part {
	MODEL_DDS_WRITE,	/* until the network has the first part of the message */
	MODEL_DDS_NETWORK,	/* until the receiving process has it */
	MODEL_DDS_READ,		/* until it is in the cache of the reader */
	MODEL_DDS_CACHE,	/* until it is taken */
	MODEL_DDS_UNSPLIT,	/* the trace does not say more of this time */
	MODEL_DDS_PARTS
};

struct model_dds_cut {
	struct {
		enum model_dds_part part;
		int64_t from_ns, to_ns;
	} piece[MODEL_DDS_PARTS];
	unsigned pieces;
};

/**
 * model_dds_cut() - cut the time from @send_ns to @take_ns of a message at what is known of its
 * path; the pieces are in order and leave no gap. Within a process it passes no network.
 */
void model_dds_cut(struct model_dds_cut *cut, const struct model_dds *dds, int64_t send_ns,
		   int64_t take_ns);

/** model_dds_part_name() - "dds_write", "network", "dds_read", "cache", "unsplit". */
const char *model_dds_part_name(enum model_dds_part part);

/* What a coroutine waits for; the numbers are those of ros2_kymo:callback_await. */
enum model_awaited {
	MODEL_AWAITED_UNKNOWN,
	MODEL_AWAITED_FUTURE,
	MODEL_AWAITED_RESPONSE, /* of a service */
	MODEL_AWAITED_TASK,
	MODEL_AWAITED_SLEEP,
	MODEL_AWAITED_GOAL,   /* the answer whether a server accepts a goal */
	MODEL_AWAITED_RESULT, /* of a goal */
	MODEL_AWAITED_KINDS
};

/* The time from the end of one run of a coroutine to the start of the next one. */
struct model_await {
	int64_t begin_ns, end_ns;
	enum model_awaited what;
	const struct model_service *client; /* RESPONSE; NULL: not known */
	const struct model_callback *task;  /* TASK; NULL: not known */
	const struct model_thread *thread;  /* where it goes on */
	uint64_t instance;                  /* the run that goes on */
};

/**
 * model_awaited_text() - "the response of /add", "the task node.count", "a sleep"; "" if it is not
 * known. Return: @buffer.
 */
const char *model_awaited_text(const struct model_await *await, char *buffer, unsigned size);

/*
 * A callback of rclpy that awaits: it is called once, and has a run for each time that it gets the
 * thread.
 */
struct model_coroutine {
	uint64_t id; /* of the first run */
	const struct model_callback *callback;
	/* Of the first run, as in struct model_instance. */
	const struct model_thread *thread;
	int64_t start_ns, due_ns;
	bool is_startup;
	const struct model_message *message;
	uint64_t call;
	/* Its awaits that are over, in order. */
	const struct model_await *await;
	unsigned awaits;
};

/* One run of a callback. */
struct model_instance {
	uint64_t id;		/* from 1, in order of start */
	const struct model_callback *callback;
	const struct model_thread *thread;
	int64_t start_ns;
	int64_t duration_ns;	/* -1 in unfinished() */
	/*
	 * Of a timer: when it should have started, a period after its previous run; 0: unknown, or
	 * it follows the time of a simulation, or events were lost or the recorder paused since.
	 */
	int64_t due_ns;
	/*
	 * From the end of the previous run of this callback to this start; -1: unknown, because it
	 * is the first one, the previous one is not over, or events were lost or the recorder
	 * paused meanwhile.
	 */
	int64_t idle_ns;
	bool is_intra;
	bool is_startup; /* see model_is_startup() */
	/* A coroutine that goes on after an await: no message, request or expiry of a timer called
	 * it. Then there are no due_ns, idle_ns and message. */
	bool is_resumed;
	/* In instance(): it ends with an await, and its coroutine goes on in another run. */
	bool awaits;
	/* Of a run that awaits or is resumed; NULL: none, or its earlier runs are not known. */
	const struct model_coroutine *coroutine;
	/* 0: the executor called it; 1: it began inside another callback, ... */
	unsigned depth;
	/* The message that it was called with; NULL: none or unknown. */
	const struct model_message *message;
	uint64_t call;		/* id of the service call that it serves; 0: none or unknown */
	uint64_t
		answered; /* id of the service call whose response it handles; 0: none or unknown */
	/* publish calls inside this run, without those inside nested runs */
	unsigned published;
	uint64_t parent;	/* id of the run in which it began; 0: depth is 0 */
};

/* One recorded event in the life of a message, on the publishing or on the receiving side. */
enum model_layer {
	MODEL_LAYER_RCLCPP,
	MODEL_LAYER_RCL,
	MODEL_LAYER_RMW,
	/* rclcpp_intra_publish; for takes: the dequeue from a ring buffer */
	MODEL_LAYER_INTRA,
	MODEL_LAYER_DDS,	/* CARET's dds_bind_addr_to_stamp; not for takes */
};

struct model_publish_step {
	enum model_layer layer;
	const struct model_thread *thread;
	int64_t ns;
	uint64_t address;	/* of the message object */
	/* rcl (RCL, INTRA) or rmw (RMW) publisher as recorded; 0: not in the trace */
	uint64_t handle;
	/* NULL: not in the trace, or a publisher of the middleware itself */
	const struct model_publisher *publisher;
	int64_t source_ns;	/* RMW from Jazzy on, DDS; 0: not in the trace */
};

struct model_take_step {
	enum model_layer layer;
	const struct model_thread *thread;
	int64_t ns;
	uint64_t address;	/* of the message object; 0: not in the trace */
	/* rmw subscription (RMW) as recorded, or ring buffer (INTRA); 0: not in the trace */
	uint64_t handle;
	const struct model_subscription *subscription;	/* RMW, INTRA; NULL: unknown */
	int64_t source_ns;	/* RMW; 0: unknown */
	bool taken;		/* RMW: did the take return a message? The other layers: true */
};

/*
 * A service call, from its request to its response. Traces of kymo have its events, and those of
 * LTTng from tracetools 8.5 on. If only one of the two processes was recorded, only that half of
 * the call is known. Times that are not in the trace are 0.
 */
struct model_call {
	uint64_t id;			/* from 1, in order of appearance */
	const struct model_service *client, *service;	/* NULL: not in the trace */
	struct model_gid gid;		/* of the client; size 0 when not in the trace */
	int64_t sequence;
	const struct model_thread *client_thread, *service_thread;
	/* The callback whose run sent the request; NULL: none. */
	const struct model_callback *from;
	uint64_t from_instance;
	int64_t request_ns;		/* its send call began; else rmw_send_request */
	int64_t request_taken_ns;	/* rmw_take_request */
	/* The callback that served the request; NULL: not in the trace. */
	const struct model_callback *callback;
	uint64_t instance;		/* id of that callback run; 0: not in the trace */
	int64_t callback_start_ns, callback_end_ns;
	int64_t response_ns;		/* rmw_send_response */
	int64_t source_ns;		/* source timestamp of the response */
	int64_t response_taken_ns;	/* rmw_take_response */
	const struct model_thread *response_thread;	/* the thread that received the response */
	/* The client's callback that handled the response; NULL: not in the trace. */
	const struct model_callback *response_callback;
	uint64_t response_instance; /* id of that callback run; 0: not in the trace */
	int64_t response_start_ns, response_end_ns;
};

/* One event of a call, at the time when it happened. Later events of the call are not known yet. */
enum model_call_event {
	MODEL_CALL_REQUEST,
	MODEL_CALL_REQUEST_TAKEN,
	MODEL_CALL_RESPONSE,
	MODEL_CALL_RESPONSE_TAKEN,
};

struct model_call_step {
	enum model_call_event what;
	const struct model_call *call;
	const struct model_thread *thread;
	int64_t ns;
};

/* A thread waited for Python's global interpreter lock, without a gap until end_ns. */
struct model_gil_wait {
	const struct model_thread *thread;
	int64_t start_ns, end_ns;
	int32_t tid; /* of the thread that released or took the lock then; 0: the wait goes on */
	const struct model_thread *by; /* that thread; NULL: no event of it is in the trace */
};

/* A lifecycle node was in one state for some time. */
struct model_state {
	const struct model_state_machine *machine;	/* NULL: unknown */
	const struct model_node *node;			/* NULL: unknown */
	const char *label;		/* stays valid */
	/* of the first state: when the node was created; 0: unknown */
	int64_t start_ns;
	/* 0: the node was still in this state when the trace ended */
	int64_t end_ns;
};

/* The states of an executor's thread. */
enum model_executor_state {
	MODEL_EXECUTOR_GET_NEXT_READY,
	MODEL_EXECUTOR_WAIT_FOR_WORK,
	MODEL_EXECUTOR_EXECUTE,		/* known for timers and subscriptions only */
};

struct model_executor_interval {
	const struct model_thread *thread;
	enum model_executor_state state;
	int64_t start_ns;
	int64_t end_ns;			/* 0: unknown: events were lost, or the trace ended */
	int64_t timeout_ns;		/* WAIT_FOR_WORK: the limit of the wait; -1: no limit */
	uint64_t handle;		/* EXECUTE: rcl timer or subscription */
	const struct model_timer *timer;		/* EXECUTE: one of these two, */
	const struct model_subscription *subscription;	/* or neither when unknown */
};

/* By an indirect link, a run of a subscription's callback is a cause of a publication. */
struct model_cause {
	const struct model_link *link;
	const struct model_message *message;		/* the publication */
	const struct model_subscription *subscription;
	const struct model_callback *callback;
	uint64_t instance;		/* id of the callback's latest run before the publication */
	int64_t start_ns;		/* of that run */
	int64_t end_ns;			/* 0: that run has not ended */
	uint64_t message_id;		/* the message that the run was called with; 0: unknown */
	/* This publisher's first publication since the start of that run. */
	bool first;
};

/* CARET's clock recorder: at time @ns the simulation's clock showed @sim_ns. */
struct model_sim_time {
	const struct model_process *process;
	int64_t ns;
	int64_t sim_ns;
};

struct model_transition {
	const struct model_node *node;		/* NULL: unknown state machine */
	const struct model_state_machine *machine;	/* NULL: unknown */
	uint64_t handle;			/* of the state machine, as recorded */
	const struct model_thread *thread;
	int64_t ns;
	const char *start, *goal;
};

struct model_loss {
	uint32_t trace, stream;
	/* NULL: the stream does not belong to one known thread */
	const struct model_thread *thread;
	int64_t begin_ns, end_ns;
	uint64_t events, packets;
	/* The lost events are the kernel's: that trace has no events of programs. */
	bool is_elsewhere;
};

/* Any member may be NULL. */
struct model_listener {
	/* A callback returned. In order of end. */
	void (*instance)(void *context, const struct model_instance *instance);
	/*
	 * The end of a callback is not in the trace (exception, deferred response, lost event, end
	 * of the trace).
	 */
	void (*unfinished)(void *context, const struct model_instance *instance);
	/*
	 * An rmw_publish, or a rclcpp_intra_publish (is_intra). A publish call that uses both paths
	 * is reported twice with the same id: intra-process first.
	 */
	void (*published)(void *context, const struct model_message *message);
	/* A message was received. If it has a callback, that callback is just starting. */
	void (*taken)(void *context, const struct model_message *message);
	/* A message can no longer be received, or it has left the window. */
	void (*dropped)(void *context, const struct model_message *message, enum model_drop why);
	void (*transition)(void *context, const struct model_transition *transition);
	void (*loss)(void *context, const struct model_loss *loss);

	/* The model computes the following only if a listener has the function. */

	/* A callback begins; duration_ns is -1. */
	void (*started)(void *context, const struct model_instance *instance);
	/*
	 * Each event in the life of a message, in order of the trace; publications by the
	 * middleware itself are included.
	 */
	void (*publish_step)(void *context, const struct model_publish_step *step);
	void (*take_step)(void *context, const struct model_take_step *step);
	/*
	 * A call is over: its response was received, or the model does not wait for the response
	 * any more.
	 */
	void (*call)(void *context, const struct model_call *call);
	/*
	 * Each event of a call. The event of the take of a request may come before the event of its
	 * sending.
	 */
	void (*call_step)(void *context, const struct model_call_step *step);
	/* A lifecycle node left a state; at the end of the trace: the state that it is still in. */
	void (*state)(void *context, const struct model_state *state);
	void (*executor)(void *context, const struct model_executor_interval *interval);
	/* Called right after published() of the same message, once per link and subscription. */
	void (*cause)(void *context, const struct model_cause *cause);
	void (*sim_time)(void *context, const struct model_sim_time *sim_time);
	/* A goal of an action ended some time ago, or the trace is over. */
	void (*goal)(void *context, const struct model_goal *goal);
	/* Feedback of a goal was sent, or its client received it. */
	void (*goal_step)(void *context, const struct model_goal_step *step);
	/* In order of the end. */
	void (*gil_wait)(void *context, const struct model_gil_wait *wait);
};

#endif
