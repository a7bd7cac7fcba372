/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the model, each beginning with its public part, and open messages and calls:
 * messages that can still be received, calls that are not over. Included by model_internal.h only.
 */
#ifndef KYMO_ANALYSIS_INTERNAL_OBJECTS_H
#define KYMO_ANALYSIS_INTERNAL_OBJECTS_H

struct node {
	struct model_node pub;
};

struct context {
	struct model_context pub;
};

struct executor {
	struct model_executor pub;
	bool constructed;
	int64_t collected_ns; /* time of the event that names its collector; 0: none yet */
	struct executor *before; /* at the same address, older; NULL: none */
	struct executor *collected_before; /* had its collector before it, by collected_ns */
};

/*
 * The object in which an executor keeps its groups: static executors, and all executors of Jazzy.
 */
struct collector {
	struct executor *executor;	/* the latest one; NULL: not in the trace yet */
};

/* What a group was added to, and when. */
struct group_link {
	struct collector *collector;	/* NULL: to the executor directly */
	uint64_t executor;		/* then its address */
	int64_t ns;			/* 0: not added yet */
};

struct group {
	struct model_callback_group pub;
	struct group_link link, link_before;	/* the latest two */
	const struct model_node *node;	/* of its first member; NULL: not known */
	int64_t since_ns;		/* what is older is of the group before */
	struct group *before;		/* at the same address, older; NULL: none */
};

/* The membership of an rcl handle in a group. */
struct member {
	struct group *group;
	int64_t ns;
};

struct gid {
	struct model_gid gid;
	int64_t ns;
};

struct state_machine {
	struct model_state_machine pub;
	struct node *node;
	const char *label;		/* of the state it is in; NULL: no transition seen */
	int64_t since_ns;
};

struct topic {
	struct model_topic pub;
	struct subscription *subscriptions;	/* list */
	uint64_t depth_max;
};

/* A message that can still be received. */
struct sent {
	uint64_t id;			/* 0: the entry is free */
	struct publisher *publisher;
	int64_t source_ns, publish_ns, rcl_ns, send_ns, stamp_ns;
	uint64_t size;
	struct thread *thread;
	const struct callback *from;
	uint64_t from_instance;
	/* The subscriptions that received it: a bit per ordinal, the first 64 here. */
	uint64_t taken;
	uint64_t *taken_more; /* taken_words of them; the memory stays with the place */
	unsigned taken_words;
	/* The same publish call also reached subscriptions of its process. */
	bool also_intra;
};

/*
 * How many messages of a publisher are remembered until they are received: twice the sum of what
 * publisher and subscriptions can queue, and not fewer than socket buffers may hold.
 */
#define SENT_MIN 256u
#define SENT_MAX 8192u
#define SENT_BLOCK 16u /* places that are allocated at once, when the first of them is needed */

struct publisher {
	struct model_publisher pub;
	struct topic *topic;
	struct sent **sent; /* ring of sent_size places, in blocks; a block may be NULL */
	unsigned sent_size, sent_next;
	struct link_end *links;		/* list: the links that name it */
};

struct subscription {
	struct model_subscription pub;
	struct topic *topic;
	struct subscription *next;	/* in the list of the topic */
	unsigned ordinal;               /* on the topic, from 0 */
	int64_t gone_ns; /* when its handle became another subscription's; 0: not seen */
	bool has_intra;			/* it also has a ring buffer */
	bool linked;			/* a link needs `latest` */
	struct {			/* the latest run of its callback */
		const struct callback *callback;
		uint64_t id;		/* 0: none yet */
		uint64_t message_id;
		int64_t start_ns, end_ns;	/* end_ns 0: it has not ended */
	} latest;
};

struct message_link {
	struct model_link pub;
	struct subscription **subscription;
	/* Per publisher and subscription: the latest run that was used as a cause. */
	uint64_t *used;
};

/* A publisher's place in a link. */
struct link_end {
	struct link_end *next;
	struct message_link *link;
	unsigned at;			/* index among the link's publishers */
};

/* rclcpp's Subscription and SubscriptionIntraProcess; callbacks belong to these objects. */
struct subscription_object {
	struct model_subscription_object pub;
	struct subscription *subscription;	/* NULL: no rclcpp_subscription_init yet */
	struct callback *callback;		/* NULL: no callback_added yet */
	int64_t linked_ns;		/* of rclcpp_subscription_init */
	int64_t buffered_ns;		/* of rclcpp_ipb_to_subscription */
};

struct timer {
	struct model_timer pub;
	struct callback *callback;
};

struct service {
	struct model_service pub;
	uint64_t node_handle;
	bool has_callback;
	bool answers_wait; /* of a client: its responses are handled later, in tasks, as in rclpy */
	int64_t first_result_ns; /* of an action's client: of its first goal; 0: none yet */
	/* Of a client: the threads that send a request now, the latest of them; the number of the
	 * latest request, and of one that the service had before its rmw_send_request; 0: none. */
	unsigned senders;
	struct thread *sender;
	int64_t last_sent, early;
};

struct callback {
	struct model_callback pub;
	bool registered;		/* rclcpp_callback_register was read */
	int64_t started_ns;             /* its latest start; 0: none */
	uint64_t losses;                /* of its process, at that start */
	int64_t ended_ns;               /* its latest end; 0: none, or not in the trace */
	unsigned open; /* runs in progress; a reentrant callback may have several */
};

/*
 * The client side of calls: a client, identified by its gid. The number is the scope of its calls
 * in the `calls` map.
 */
struct caller {
	uint64_t number;
	uint8_t gid[16];
	struct caller *next;		/* the next caller with the same first eight bytes */
	struct service *client;		/* NULL: not in the trace */
};

/* A call that is not over. */
struct call {
	struct model_call pub;
	uint64_t scope;
	bool running;			/* its callback has begun and not ended */
	bool answered;			/* its response was received */
	bool waits;                     /* the client's callback may begin */
	bool handled;                   /* the client's callback runs */
	/* List of open calls, oldest first; or list of free entries (next). */
	struct call *next, *previous;
};

/* At most this number of calls is kept open; beyond it the model gives up the oldest call. */
#define CALLS_MAX 16384u

/*
 * A message of the same process by its address, and the message that it was copied from (CARET on
 * Humble).
 */
struct copy {
	uint64_t address;		/* 0: the entry is free */
	const struct process *process;
	struct model_message message;
};
#define COPIES_MAX 4096u

/* A link that the user named. */
struct rule {
	struct rule *next;
	struct model_rule pub;
};

/* A message in a ring buffer. */
struct place {
	struct model_message message;
	uint64_t index;			/* within the buffer */
	struct place *next, *previous;	/* list of the buffer, or list of free entries */
};

/* A buffer cannot hold more messages than this; a damaged trace may claim more. */
#define PLACES_MAX 65536u

struct buffer {
	uint64_t number;		/* scope of its keys in the `places` map */
	int64_t born_ns;
	struct place *places;
	unsigned place_count;
	struct subscription_object *object;	/* NULL: unknown */
};

/* Where a call of a goal is found: (number and call, who) in the map `goal_calls`. */
struct goal_key {
	uint64_t key, scope; /* both 0: none */
};

/* A goal of an action. */
struct goal {
	struct model_goal pub;
	bool over;      /* it was reported */
	int64_t end_ns; /* 0: it has not ended */
	struct end {
		const struct process *process; /* NULL: not known yet */
		uint64_t handle;
		struct goal_key call[MODEL_GOAL_CALLS];
	} client, server;
	/* List of open goals, or of those that ended (next), oldest first; or of free entries. */
	struct goal *next, *previous;
};

/* At most this number of goals is kept; beyond it the model reports the oldest one. */
#define GOALS_MAX 4096u
/* The ids of so many goals that were reported are remembered. */
#define GOALS_OVER 1024u

#endif
