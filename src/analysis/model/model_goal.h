/* SPDX-License-Identifier: Apache-2.0 */
/* Goals of actions: what kymo's events of rcl_action say, by the goal's id. */
#ifndef KYMO_ANALYSIS_MODEL_GOAL_H
#define KYMO_ANALYSIS_MODEL_GOAL_H

#include <stdbool.h>
#include <stdint.h>

struct model_callback;
struct model_service;
struct model_thread;

/* The services of an action. */
enum model_goal_call { MODEL_GOAL_SEND, MODEL_GOAL_CANCEL, MODEL_GOAL_RESULT, MODEL_GOAL_CALLS };

/* As in action_msgs/msg/GoalStatus. */
enum model_goal_state {
	MODEL_GOAL_UNKNOWN,
	MODEL_GOAL_ACCEPTED,
	MODEL_GOAL_EXECUTING,
	MODEL_GOAL_CANCELING,
	MODEL_GOAL_SUCCEEDED,
	MODEL_GOAL_CANCELED,
	MODEL_GOAL_ABORTED,
	MODEL_GOAL_STATES
};

/* One of the calls about a goal; of several cancel calls, the first that was not refused, else the
 * last. Times that are not in the trace are 0. */
struct model_goal_way {
	int64_t request_ns, request_taken_ns;
	int64_t response_ns, response_taken_ns;
	/* That took the request, and the response; NULL: not in the trace. */
	const struct model_thread *server_thread, *client_thread;
	/* The callback that this thread ran longest of the time between sent and taken, and how
	 * long; of its last few. NULL: none, or only one of the two times is known. */
	struct model_goal_held {
		const struct model_callback *by;
		int64_t ns;
	} request_held, response_held;
	bool is_answered;
	int64_t answer; /* SEND: 1: accepted; CANCEL: 0: accepted; RESULT: enum model_goal_state */
};

/* The feedback of a goal, on one side. */
struct model_goal_feedback {
	uint64_t count;
	int64_t first_ns, last_ns; /* 0: none */
	int64_t gap_ns;            /* the longest time between two; 0: fewer than two */
};

/* If only one of the two processes was recorded, only that half of the goal is known. */
struct model_goal {
	uint64_t id; /* from 1, in order of appearance */
	uint8_t goal_id[16];
	const char *action; /* its name; NULL: not in the trace */
	/* The service "send_goal" of the action, which has the node. NULL: not in the trace. */
	const struct model_service *client, *server;
	const struct model_thread *client_thread; /* that sent it; NULL: not in the trace */
	const struct model_thread *server_thread; /* that took it, else one that worked for it */
	const struct model_callback *from;        /* whose run sent it; NULL: none */
	uint64_t from_instance;
	struct model_goal_way way[MODEL_GOAL_CALLS];
	enum model_goal_state state; /* of the server, the last one */
	int64_t state_ns[MODEL_GOAL_STATES];
	struct model_goal_feedback sent, received; /* received: by the client of this goal */
	/* The executor of the client's thread went on after it took the result; 0: not known. */
	int64_t handled_ns;
	bool is_startup; /* model_startup.h */
};

/* A message of feedback. */
struct model_goal_step {
	uint64_t id; /* of the goal */
	uint8_t goal_id[16];
	const struct model_thread *thread;
	int64_t ns;
	bool is_received; /* by the client of this goal; else: sent */
};

/* Where the time of a goal goes, in this order. */
enum model_goal_part {
	MODEL_GOAL_REQUEST,   /* sent, until the server took it */
	MODEL_GOAL_ACCEPTING, /* until the server has accepted or rejected it */
	MODEL_GOAL_QUEUED,    /* accepted, until it executes, or is canceling before */
	MODEL_GOAL_RUNNING,   /* it executes, until it ended, or until it is canceling */
	MODEL_GOAL_STOPPING,  /* canceling, until it ended */
	MODEL_GOAL_KEPT,      /* it ended, until the server sent the result */
	MODEL_GOAL_ANSWER,    /* the result, or the refusal, until the client took it */
	/* If the server is not in the trace, only these: */
	MODEL_GOAL_ASKING,  /* sent, until the client took the answer */
	MODEL_GOAL_WAITING, /* until the client took the result */
	MODEL_GOAL_PARTS
};

struct model_goal_cut {
	struct model_goal_piece {
		enum model_goal_part part;
		int64_t from_ns, to_ns;
		/* Whose it is; NULL: not in the trace. */
		const struct model_service *of;
		const struct model_thread *thread; /* that it was waiting for; NULL: not known */
		/* The largest error if it is between two hosts; else 0. KYMO_CTF_ERROR_UNKNOWN: it
		 * is, and their clocks cannot be compared. */
		int64_t error_ns;
		struct model_goal_held held; /* REQUEST, ANSWER */
	} piece[MODEL_GOAL_PARTS];
	unsigned pieces;
	int64_t begin_ns, end_ns; /* the pieces are in order, and leave no gap between these */
	bool is_whole;            /* from when the client sent it until it took the result */
};

/**
 * model_goal_cut() - cut a goal into its parts, as far as the trace knows them
 *
 * A time that is earlier than the one before it counts as that one: requests are recorded when the
 * call that sends them returns.
 */
void model_goal_cut(struct model_goal_cut *cut, const struct model_goal *goal);

/** model_goal_part_name() - "request", "accepting", "queued", "executing", "canceling", "kept",
 * "answer", "asking", "waiting". */
const char *model_goal_part_name(enum model_goal_part part);

/** model_goal_is_rejected() - did the server refuse it? */
bool model_goal_is_rejected(const struct model_goal *goal);

/** model_goal_status() - "sent", "rejected", "accepted", "executing", "canceling", "succeeded",
 * "canceled", "aborted": how far the goal is at the end of what is known; NULL: not known. */
const char *model_goal_status(const struct model_goal *goal);

/** model_goal_uuid() - the id of a goal, as programs print it: 32 digits with dashes. @size: at
 * least 37. Return: @buffer. */
const char *model_goal_uuid(const uint8_t goal_id[16], char *buffer, unsigned size);

/** model_goal_end_ns() - when the server ended it; 0: not in the trace, or it has not ended. */
int64_t model_goal_end_ns(const struct model_goal *goal);

/** model_goal_first_ns() - the first time that is known of it. */
int64_t model_goal_first_ns(const struct model_goal *goal);

#endif
