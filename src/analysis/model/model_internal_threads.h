/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces, streams, processes, threads, and what is in progress on a thread: callbacks, a publish
 * call, a take, a request. A loss of events makes it doubtful. Included by model_internal.h only.
 */
#ifndef KYMO_ANALYSIS_INTERNAL_THREADS_H
#define KYMO_ANALYSIS_INTERNAL_THREADS_H

/* rcl creates this number of services for each lifecycle node. */
#define LIFECYCLE_SERVICES 5u

struct process {
	struct model_process pub;
	int64_t last_ns;		/* of the latest event */
	int64_t linked_ns;		/* the latest time that a group was added to an executor */
	uint64_t losses;                /* how often events of one of its threads were lost */
	/* It has ring buffers, so their events show the path of its messages. */
	bool has_buffers;
	bool sends, receives; /* the trace has dds_send, dds_receive of it */

	/* Services of the latest lifecycle node whose callbacks are not known yet. */
	struct service *waiting[LIFECYCLE_SERVICES];
	unsigned waiting_count;
	struct code *codes; /* model_code.c */
};

/* A run of a callback that has begun on a thread and has not ended. */
struct frame {
	struct callback *callback;
	struct model_instance run; /* what listeners are told; see run_of() for what is set then */
	struct call *call;			/* the service call that the run serves */
	uint64_t call_id;
	struct call *answered; /* the service call whose response the run handles */
	bool doubtful;			/* events of its stream were lost since its start */
	bool has_message;
	struct coroutine *coroutine;         /* that it goes on with; NULL: none is known */
	/* The await that ends it; 0: none. */
	uint64_t coroutine_number, await_number;
	struct model_await await; /* what it waits for */
	struct model_message message;
};

/* A coroutine that waits, or that a frame goes on with. */
struct coroutine {
	struct model_coroutine pub;
	uint64_t number, await_number; /* of the latest await */
	uint32_t process;
	int64_t ended_ns;          /* of the run that ended with it */
	struct model_await waits;  /* what it waits for */
	struct model_await *await; /* pub.await */
	unsigned size;
	struct model_message message; /* pub.message */
	struct call *call;            /* that the first run serves */
	uint64_t call_id;
	struct coroutine *older, *newer; /* those that wait; or (newer) of the free list */
	struct coroutine *next;          /* of all */
};

/* If callbacks are nested deeper than this, the model assumes that their ends were lost. */
#define FRAMES_MAX 32u

#define RECENT_RUNS 4u

struct thread {
	struct model_thread pub;
	struct process *process;
	uint32_t trace, stream;		/* where it was last seen */
	bool many_streams;		/* per-CPU buffers: its events are in several streams */
	unsigned left;			/* runs in progress of callbacks without room */
	uint64_t resumes; /* the callback whose next start goes on after an await; 0: none */
	uint64_t resumed_coroutine, resumed_await; /* the numbers of the two; 0: not known */

	struct frame *frame;		/* callbacks in progress, the outermost first */
	unsigned frame_count, frame_size;

	/* The publish call in progress: rclcpp_publish, rcl_publish, rmw_publish of one message. */
	struct {
		uint64_t message;	/* 0: none */
		int64_t ns, rcl_ns, stamp_ns;
		struct publisher *publisher;
	} publish;
	/* What the message that is about to be written contains. */
	struct {
		uint64_t handle, message; /* 0: none */
		uint64_t size;
		int64_t stamp_ns;
	} content;
	/*
	 * A message that was written and whose source timestamp comes in a later event (CARET on
	 * Humble).
	 */
	struct sent *unstamped;
	uint64_t unstamped_message;

	/* The latest rclcpp_intra_publish: the enqueues after it belong to it. */
	struct {
		uint64_t id;		/* 0: none */
		int64_t ns;
		struct publisher *publisher;
		bool alone;		/* no rmw_publish of the same call yet */
		const struct callback *from;
		uint64_t from_instance;
	} intra;

	/* a message was received, and its callback has not begun yet */
	bool has_taken;
	struct model_message taken;

	bool has_state;			/* the state of its executor is known */
	struct model_executor_interval state;

	/* The client that it sends a request of, and since when; NULL: none. */
	struct {
		struct service *client;
		int64_t ns;
	} sends;
	/* a request was received, and its callback has not begun yet */
	struct call *request;
	uint64_t request_id;
	struct call *
		response; /* a response was received, and the client's callback has not begun yet */
	uint64_t response_id;
	struct service *response_client;
	/* Its latest runs that the executor called, for what a goal waited for; a ring. */
	struct recent_run {
		const struct callback *callback;
		int64_t start_ns, end_ns;
	} recent[RECENT_RUNS];
	unsigned next_recent;
	/* The result of a goal was received, and the executor has not gone on since. */
	struct goal *result_goal;
	uint64_t result_id;
};

/* The members of an event that say whose it is lie together: trace, stream, vpid and vtid. */
#define EVENT_WHOSE offsetof(struct kymo_ctf_event, trace)
#define EVENT_WHOSE_SIZE (offsetof(struct kymo_ctf_event, cpu) - EVENT_WHOSE)

struct stream {
	struct thread *last;		/* of its latest event */
	bool many_threads;
};

/*
 * The largest error of a host's times, compared with times of the other hosts that have this
 * struct.
 */
struct model_clock {
	unsigned points;
	struct clock_point { int64_t ns, error_ns; } point[];
};

struct trace {
	uint32_t host;
	const struct model_clock *clock;	/* NULL: nothing is known */
	const char *hostname;
	int64_t clock_offset_ns;	/* epoch minus trace clock */
	bool known;
	/* When the recorder paused, in order; of them, the first that had not ended at the last
	 * look. */
	struct pause {
		int64_t begin_ns, end_ns;
	} * pause;
	unsigned pauses, pause_at;
};

#endif
