# SPDX-License-Identifier: Apache-2.0
"""A ROS 2 trace read with babeltrace2 into plain objects: every run of a callback with the message
it got, every message with the run that published it. Slow, simple, and independent of kymo."""
import collections

from lib_test import skip


class Run:
    def __init__(self, callback, start, tid, message):
        self.callback, self.start, self.tid, self.message = callback, start, tid, message
        self.end = None
        self.made = []          # publications


class Publication:
    """A message; @is_call: the request or the response of a service, whose topic is the service."""

    def __init__(self, run, node, topic, begin, process, is_call=False):
        self.run, self.node, self.topic, self.begin, self.process, self.is_call = run, node, topic, begin, process, is_call
        self.taken = []         # runs


def needs_bt2():
    try:
        import bt2      # noqa: F401
    except ImportError:
        skip("no python3-bt2")


def gid_of(field):
    """What identifies a client in all events: Cyclone DDS has only the first half of a gid."""
    return bytes(int(byte) for byte in field)[:8]


def events_of(trace):
    import lib_bt2
    for event in lib_bt2.events(trace):
        if "vpid" in event and "vtid" in event:
            yield event.ns(), event.name, event["vpid"], event["vtid"], event.payload()


def as_requests_began(events):
    """The events; a request is sent when its send call begins, where the trace has that."""
    began, result = {}, []
    for ns, name, pid, tid, f in events:
        if name == "ros2_kymo:request_begin":
            began[tid] = ns
        elif name == "ros2:rmw_send_request":
            ns = began.pop(tid, ns)
        result.append((ns, name, pid, tid, f))
    return sorted(result, key=lambda event: event[0])


class Reading:
    """What happened, told by dictionaries."""

    def __init__(self, trace):
        self.runs, self.publications = [], []
        self.node_of = {}                                   # (pid, node handle) -> name
        self.pub, self.pub_rcl = {}, {}                     # rmw, rcl handle -> (node, topic)
        self.sub = {}                                       # rmw handle -> (node, topic, rcl)
        self.sub_rcl = {}                                   # rcl handle -> (node, topic)
        self.object, self.callback_object = {}, {}          # subscription object; callback -> it
        self.timer_node, self.timer_callback = {}, {}
        self.buffer_ipb, self.ipb_object = {}, {}
        self.stack = collections.defaultdict(list)          # tid -> open runs
        self.call, self.intra = {}, {}                      # tid -> publish call going on
        self.sent, self.places = {}, {}
        self.taken = {}                                     # tid -> (delivery, intra, owner)
        self.client, self.gid, self.service = {}, {}, {}    # rmw handle -> (node, service, rcl); a client's gid
        self.service_callback, self.client_rcl = {}, {}     # callback -> rcl handle of the service; rcl handle -> node
        self.service_rcl = {}                               # rcl handle -> node
        self.served = {}                                    # (gid, number) -> run
        for ns, name, pid, tid, f in as_requests_began(events_of(trace)):
            provider, short = name.split(":")
            handler = getattr(self, "on_" + short, None)
            if provider == "ros2" and handler:
                handler(ns, pid, tid, f)

    # objects
    def on_rcl_node_init(self, ns, pid, tid, f):
        space = str(f["namespace"])
        self.node_of[pid, int(f["node_handle"])] = space.rstrip("/") + "/" + str(f["node_name"])

    def on_rcl_publisher_init(self, ns, pid, tid, f):
        who = (self.node_of.get((pid, int(f["node_handle"]))), str(f["topic_name"]))
        self.pub[pid, int(f["rmw_publisher_handle"])] = who
        self.pub_rcl[pid, int(f["publisher_handle"])] = who

    def on_rcl_subscription_init(self, ns, pid, tid, f):
        rcl = int(f["subscription_handle"])
        who = (self.node_of.get((pid, int(f["node_handle"]))), str(f["topic_name"]))
        self.sub[pid, int(f["rmw_subscription_handle"])] = (*who, rcl)
        self.sub_rcl[pid, rcl] = who

    def on_rclcpp_subscription_init(self, ns, pid, tid, f):
        self.object[pid, int(f["subscription"])] = int(f["subscription_handle"])

    def on_rclcpp_subscription_callback_added(self, ns, pid, tid, f):
        self.callback_object[pid, int(f["callback"])] = int(f["subscription"])

    def on_rclcpp_timer_callback_added(self, ns, pid, tid, f):
        self.timer_callback[pid, int(f["callback"])] = int(f["timer_handle"])

    def on_rclcpp_timer_link_node(self, ns, pid, tid, f):
        self.timer_node[pid, int(f["timer_handle"])] = self.node_of.get((pid, int(f["node_handle"])))

    def on_rclcpp_buffer_to_ipb(self, ns, pid, tid, f):
        self.buffer_ipb[pid, int(f["buffer"])] = int(f["ipb"])

    def on_rclcpp_ipb_to_subscription(self, ns, pid, tid, f):
        self.ipb_object[pid, int(f["ipb"])] = int(f["subscription"])

    # services: the callback of a client has the address of its rcl_client_t
    def on_rmw_client_init(self, ns, pid, tid, f):
        self.gid[pid, int(f["rmw_client_handle"])] = gid_of(f["gid"])

    def on_rcl_client_init(self, ns, pid, tid, f):
        node, rcl = self.node_of.get((pid, int(f["node_handle"]))), int(f["client_handle"])
        self.client[pid, int(f["rmw_client_handle"])] = (node, str(f["service_name"]), rcl)
        self.client_rcl[pid, rcl] = node

    def on_rcl_service_init(self, ns, pid, tid, f):
        node, rcl = self.node_of.get((pid, int(f["node_handle"]))), int(f["service_handle"])
        self.service[pid, int(f["rmw_service_handle"])] = (node, str(f["service_name"]), rcl)
        self.service_rcl[pid, rcl] = node

    def on_rclcpp_service_callback_added(self, ns, pid, tid, f):
        self.service_callback[pid, int(f["callback"])] = int(f["service_handle"])

    def on_rmw_send_request(self, ns, pid, tid, f):
        handle = (pid, int(f["rmw_client_handle"]))
        if handle in self.client and handle in self.gid:
            publication = self.publish(ns, pid, tid, self.client[handle][:2], True)
            self.sent["request", self.gid[handle], int(f["sequence_number"])] = (publication, ns)

    def on_rmw_take_request(self, ns, pid, tid, f):
        service = self.service.get((pid, int(f["rmw_service_handle"])))
        key = gid_of(f["client_gid"]), int(f["sequence_number"])
        if service and int(f["taken"]):
            self.taken[tid] = (*self.sent.get(("request", *key), (None, 0)), ns, False, service[2], key)

    def on_rmw_send_response(self, ns, pid, tid, f):
        key, service = (gid_of(f["client_gid"]), int(f["sequence_number"])), self.service.get((pid, int(f["rmw_service_handle"])))
        run = self.served.pop(key, None)
        if run and service:
            publication = Publication(run, *service[:2], ns, pid, True)
            self.publications.append(publication)
            run.made.append(publication)
            self.sent["response", *key] = (publication, ns)

    def on_rmw_take_response(self, ns, pid, tid, f):
        handle = (pid, int(f["rmw_client_handle"]))
        if handle in self.client and int(f["taken"]):
            key = "response", self.gid.get(handle), int(f["sequence_number"])
            self.taken[tid] = (*self.sent.get(key, (None, 0)), ns, False, self.client[handle][2])

    def rcl_of(self, key):
        """The rcl handle of a callback's subscription, service or client."""
        if key in self.service_callback:
            return self.service_callback[key]
        if key in self.client_rcl:
            return key[1]
        return self.object.get((key[0], self.callback_object.get(key)))

    def owner(self, key):
        """(node, what) of a callback (pid, address)."""
        if key in self.timer_callback:
            return self.timer_node.get((key[0], self.timer_callback[key]))
        if key in self.service_callback or key in self.client_rcl:
            return self.service_rcl.get((key[0], self.rcl_of(key)), self.client_rcl.get(key))
        rcl = self.object.get((key[0], self.callback_object.get(key)))
        return self.sub_rcl.get((key[0], rcl), (None, None))[0]

    # publishing
    def publish(self, ns, pid, tid, who, is_call=False):
        run = self.stack[tid][-1] if self.stack[tid] else None
        publication = Publication(run, *who, ns, pid, is_call)
        self.publications.append(publication)
        if run:
            run.made.append(publication)
        return publication

    def on_rclcpp_intra_publish(self, ns, pid, tid, f):
        who = self.pub_rcl.get((pid, int(f["publisher_handle"])))
        if who:
            self.intra[tid] = [self.publish(ns, pid, tid, who), who, True]

    def on_rclcpp_ring_buffer_enqueue(self, ns, pid, tid, f):
        publication = self.intra[tid][0] if tid in self.intra else None
        self.places[pid, int(f["buffer"]), int(f["index"])] = (publication, ns)

    def on_rclcpp_publish(self, ns, pid, tid, f):
        self.call[tid] = (ns, int(f["message"]))

    def on_rcl_publish(self, ns, pid, tid, f):
        if self.call.get(tid, (0, None))[1] != int(f["message"]):
            self.call[tid] = (ns, int(f["message"]))

    def on_rmw_publish(self, ns, pid, tid, f):
        who = self.pub.get((pid, int(f["rmw_publisher_handle"])))
        begin, message = self.call.pop(tid, (ns, None))
        if not who:
            return
        if message != int(f["message"]):
            begin = ns
        intra = self.intra.get(tid)
        if intra and intra[2] and intra[1] == who:
            intra[2] = False
            publication = intra[0]
        else:
            publication = self.publish(begin, pid, tid, who)
        self.sent[who[1], int(f["timestamp"])] = (publication, ns)

    # taking
    def on_rmw_take(self, ns, pid, tid, f):
        sub = self.sub.get((pid, int(f["rmw_subscription_handle"])))
        if sub and int(f["taken"]):
            publication, sent = self.sent.get((sub[1], int(f["source_timestamp"])), (None, 0))
            self.taken[tid] = (publication, sent, ns, False, sub[2])

    def on_rclcpp_ring_buffer_dequeue(self, ns, pid, tid, f):
        key = (pid, int(f["buffer"]), int(f["index"]))
        publication, sent = self.places.pop(key, (None, 0))
        obj = self.ipb_object.get((pid, self.buffer_ipb.get((pid, key[1]))))
        self.taken[tid] = (publication, sent, ns, True, self.object.get((pid, obj)))

    def on_callback_start(self, ns, pid, tid, f):
        key = (pid, int(f["callback"]))
        take = self.taken.pop(tid, None)
        rcl = self.rcl_of(key)
        if take and not (take[3] == bool(int(f["is_intra_process"])) and take[4] == rcl):
            take = None
        self.intra.pop(tid, None)
        run = Run(key, ns, tid, take)
        if take and take[0]:
            take[0].taken.append(run)
        if take and len(take) > 5:
            self.served[take[5]] = run
        self.stack[tid].append(run)
        self.runs.append(run)

    def on_callback_end(self, ns, pid, tid, f):
        self.intra.pop(tid, None)
        stack = self.stack[tid]
        while stack and stack[-1].callback != (pid, int(f["callback"])):
            stack.pop()
        if stack:
            stack.pop().end = ns
