/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the model, each beginning with its public part, and what is on its way between
 * them: messages that can still be received, calls that are not over. A part of model_internal.h.
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
	int64_t collected_ns;		/* when its collector became known; 0: not yet */
};

/* What an executor keeps its groups in: static executors, all of Jazzy. */
struct collector {
	struct executor *executor;	/* NULL: not in the trace yet */
};

struct group {
	struct model_callback_group pub;
	struct collector *collector;	/* NULL: it was added to the executor itself */
};

/* A group that an rcl handle is in. */
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
	struct thread *thread;
	const struct callback *from;
	uint64_t from_instance;
	bool taken;
	bool also_intra;		/* the same call served subscriptions of its process */
};

/*
 * How many messages of a publisher are remembered until they are taken: twice what publisher
 * and subscriptions can queue, and not less than what socket buffers may hold.
 */
#define SENT_MIN 256u
#define SENT_MAX 8192u

struct publisher {
	struct model_publisher pub;
	struct topic *topic;
	struct sent *sent;		/* ring of sent_size places */
	unsigned sent_size, sent_next;
	int64_t last_taken_ns;		/* publish time of its latest message that was taken */
	struct link_end *links;		/* list: the links it is in */
};

struct subscription {
	struct model_subscription pub;
	struct topic *topic;
	struct subscription *next;	/* of the topic */
	bool has_intra;			/* it also has a ring buffer */
	bool linked;			/* `latest` is wanted */
	struct {			/* run of its callback */
		const struct callback *callback;
		uint64_t id;		/* 0: none yet */
		uint64_t message_id;
		int64_t start_ns, end_ns;	/* end 0: it goes on */
	} latest;
};

struct link {
	struct model_link pub;
	struct subscription **subscription;
	uint64_t *used;			/* per publisher and subscription: the latest run it had as cause */
};

/* A publisher's place in a link. */
struct link_end {
	struct link_end *next;
	struct link *link;
	unsigned at;			/* which of the link's publishers it is */
};

/* rclcpp's Subscription and SubscriptionIntraProcess: what callbacks hang on. */
struct subscription_object {
	struct model_subscription_object pub;
	struct subscription *subscription;	/* NULL: rclcpp_subscription_init not seen yet */
	struct callback *callback;		/* NULL: callback_added not seen yet */
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
};

struct callback {
	struct model_callback pub;
	bool registered;		/* rclcpp_callback_register seen */
};

/* Who calls: a client by its gid. The number is the scope of its calls in the `calls` map. */
struct caller {
	uint64_t number;
	uint8_t gid[16];
	struct caller *next;		/* of the same first eight bytes */
	struct service *client;		/* NULL: not seen */
};

/* A call that is not over. */
struct call {
	struct model_call pub;
	uint64_t scope;
	bool running;			/* its callback has begun and not ended */
	bool answered;			/* its response was received */
	struct call *next, *previous;	/* of the open ones, oldest first; or of the free ones (next) */
};

/* More calls than this are not kept open: the oldest one is given up. */
#define CALLS_MAX 16384u

/* A message of the same process by its address, and what it was copied from (CARET on Humble). */
struct copy {
	uint64_t address;		/* 0: the entry is free */
	const struct process *process;
	struct model_message message;
};
#define COPIES_MAX 4096u

/* A link that a user named. */
struct rule {
	struct rule *next;
	struct model_rule pub;
};

/* A message in a ring buffer. */
struct place {
	struct model_message message;
	uint64_t index;			/* within the buffer */
	struct place *next, *previous;	/* of the buffer, or of the free ones */
};

/* More messages than this cannot lie in one buffer; a damaged trace may say so. */
#define PLACES_MAX 65536u

struct buffer {
	uint64_t number;		/* scope of its keys in the `places` map */
	int64_t born_ns;
	struct place *places;
	unsigned place_count;
	struct subscription_object *object;	/* NULL: unknown */
};

#endif
