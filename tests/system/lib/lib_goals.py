# SPDX-License-Identifier: Apache-2.0
"""For tests about goals of actions: their parts, computed from the rows of the table."""
COUNT, SLOW, HELD = 240, 203, 211       # arguments of tests/rclcpp/actions.cpp
UUID = "a0000000-0000-0000-0000-0000000000{:02x}"


def parts_of(row):
    """Return: {part: ns} of a row of action_goals, as `kymo why` names them, without who held what."""
    answered = min(time for time in (row["accepted_ns"], row["answered_ns"]) if time)
    ends = (("request", row["taken_ns"]), ("accepting", answered), ("queued", row["executing_ns"] or row["canceling_ns"]),
            ("executing", row["canceling_ns"] or row["ended_ns"]), ("canceling", row["canceling_ns"] and row["ended_ns"]),
            ("kept", row["result_sent_ns"]), ("answer", row["result_taken_ns"]))
    parts, at = {}, row["sent_ns"]
    for name, end in ends:
        if end:
            parts[name] = max(end - at, 0)
            at = max(at, end)
    return parts
