#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain, kernel
"""`kymo report --realtime`: what callbacks and spans allocate, wait for and fault is what tests/tools/costs.c does in each of them,
and the exit status says whether those that are named do any of it. Of nodes, processes and single runs (SQL) it is the same."""
import os
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_kernel import lossless_tasks, with_tracefs
from lib_test import BUILD, answer, query, record, report, skip, until_lossless

COSTS = os.path.join(BUILD, "tests", "costs")
ROUNDS, PAGES, SPAN = 20, 2048, "control:step"
HOLDER = "holder:hold"
# By callback: malloc, realloc, calloc, posix_memalign, aligned_alloc, reallocarray of 2 s.
BYTES = 1000 + 2000 + 2000 + 1000 + 1024 + 3000


def recorded(directory, *options, program=(COSTS, str(ROUNDS))):
    trace = os.path.join(directory, "".join(options) or "plain")
    return trace, record(trace, *options, "--", *program, input="go\n").stderr


def realtime(trace, *names, status=0):
    """Return: {(what, period in s, or category:name of a span): row}, and what was looked at."""
    told = answer("report", trace, "--section", "realtime", *(x for n in names for x in ("--realtime", n)), status=status)
    return {(r["what"], r["callback"] if r["kind"] == "span" else int(r["callback"].split()[-2])): r for r in told["realtime"]}, \
        told["looked_at"]


def runs(trace):
    return query(trace, "SELECT * FROM callback_costs ORDER BY id")


def check_sums(trace, rows, has_faults):
    """What callbacks, single runs, nodes, the process and the section memory say of one trace."""
    single = runs(trace)
    assert len(single) == 6 * ROUNDS and len({r["id"] for r in single}) == 6 * ROUNDS, len(single)
    for period in range(1, 7):
        of = [r for r in single if r["callback"] == f"/costly timer {period} s"]
        for what, column in (("allocation", "allocations"), ("free", "frees"), ("lock", "lock_waits"), ("page_fault", "page_faults")):
            if what == "page_fault" and not has_faults:
                assert all(r["page_faults"] is None and r["major_faults"] is None for r in of), of
                continue
            row = rows.get((what, period))
            assert sum(r[column] for r in of) == (row["times"] if row else 0), (what, period, row)
            assert max(r[column] for r in of) == (row["most"] if row else 0), (what, period, row)
    many = [r for r in single if r["callback"] == "/costly timer 2 s"]
    assert all((r["allocations"], r["allocated_bytes"], r["frees"], r["growth_bytes"], r["peak_bytes"]) == (6, BYTES, 6, 0, 3000)
               for r in many), many
    assert sum(r["lock_ns"] for r in single) == rows["lock", 5]["lock_ns"], single
    node, = report(trace, "node-costs")["node-costs"]
    assert node["node"] == "/costly", node
    for column in ("allocations", "allocated_bytes", "frees", "growth_bytes", "lock_waits", "lock_ns", "page_faults"):
        assert node[column] == (sum(r[column] for r in single) if single[0][column] is not None else None), (column, node)
    process, = report(trace, "process-costs")["process-costs"]
    memory = next(r for r in report(trace, "memory")["memory"] if r["what"] == "process")
    assert (process["allocations"], process["allocated_bytes"], process["frees"], process["growth_bytes"], process["peak_bytes"]) == \
        (memory["allocations"], memory["allocated_bytes"], memory["frees"] + memory["unknown_frees"], memory["now_bytes"],
         memory["most_bytes"]), (process, memory)
    # The spans are in no callback.
    assert process["allocations"] >= node["allocations"] + ROUNDS and process["lock_waits"] >= ROUNDS, (process, node)
    assert process["page_faults"] is None or process["page_faults"] >= node["page_faults"], (process, node)


def check_nested(directory):
    """Inside of each other: for all in which it happens; of nodes for the innermost only, also if it did not return."""
    trace, _ = recorded(directory, "--malloc", program=[os.path.join(BUILD, "tests", "nested_costs")])
    single = runs(trace)
    told = {r["callback"]: (r["runs"], r["times"], r["bytes"]) for r in report(trace, "realtime")["realtime"]}
    assert told == {"/outer timer 1 s": (5, 25, 5 * 11111), "nested:outer": (5, 20, 5 * 11110), "/inner timer 2 s": (5, 10, 5 * 11000),
                    "nested:inner": (5, 5, 5 * 10000)}, told
    begin_ns = single[0]["start_ns"] + 1
    late = answer("report", trace, "--section", "realtime", "--section", "node-costs", "--node", "/inner", "--begin",
                  f"{begin_ns // 10**9}.{begin_ns % 10**9:09}")
    assert {r["callback"]: r["runs"] for r in late["realtime"]} == {"/inner timer 2 s": 5, "nested:inner": 5, "nested:outer": 5}, late
    assert [r["node"] for r in late["node-costs"]] == ["/inner"], late
    late = answer("report", trace, "--section", "realtime", "--section", "node-costs", "--begin",
                  f"{begin_ns // 10**9}.{begin_ns % 10**9:09}")
    assert next(r["runs"] for r in late["realtime"] if r["callback"] == "/outer timer 1 s") == 4, late
    assert {r["node"]: r["allocations"] for r in late["node-costs"]} == {"/outer": 12, "/inner": 11}, late
    nodes = {r["node"]: (r["allocations"], r["allocated_bytes"]) for r in report(trace, "node-costs")["node-costs"]}
    assert nodes == {"/outer": (15, 5 * 111), "/inner": (11, 5 * 11000 + 100000)}, nodes
    assert [(r["id"], r["allocated_bytes"], r["parent_id"]) for r in single[:2]] == [(1, 11111, None), (2, 11000, 1)], single[:2]
    assert len(single) == 10, single


def main(directory):
    if not os.path.exists(os.path.join(BUILD, "lib", "libkymo-malloc.so")):
        skip("libkymo-malloc is not built with a sanitizer")
    trace, said = recorded(directory, "--malloc", "--kernel=if-possible")
    lossless_tasks("of the kernel's events were lost" in said, said, faults=True)
    rows, text = realtime(trace)
    rows = {k: r for k, r in rows.items() if k[1] != HOLDER}		# a page fault, maybe
    assert {k for k in rows if k[0] != "page_fault"} == {("allocation", 2), ("free", 2), ("allocation", 3), ("lock", 5),
                                                            ("allocation", SPAN), ("free", SPAN)}, rows.keys()
    assert all(r["runs"] == ROUNDS and r["node"] == (None if k[1] == SPAN else "/costly") and r["process"] == "costs"
               for k, r in rows.items()), rows
    many, leak, lock = rows["allocation", 2], rows["allocation", 3], rows["lock", 5]
    span = rows["allocation", SPAN]
    assert (span["times"], span["most"], span["bytes"], span["growth_bytes"], span["peak_bytes"]) == \
        (ROUNDS, 1, 1000 * ROUNDS, 0, 1000), span
    assert rows["free", SPAN]["times"] == ROUNDS, rows
    assert (many["times"], many["most"], many["in_runs"], many["bytes"], many["growth_bytes"], many["peak_bytes"]) == \
        (6 * ROUNDS, 6, ROUNDS, BYTES * ROUNDS, 0, 3000), many
    assert (leak["times"], leak["bytes"], leak["growth_bytes"], leak["peak_bytes"]) == (ROUNDS, 333 * ROUNDS, 333 * ROUNDS, 333), leak
    assert lock["times"] == ROUNDS and lock["lock_ns"] > 0, lock
    assert lock["holder"] == f"holder ({lock['holder_tid']}) in {HOLDER}" and lock["holder_tid"] != lock["tid"], lock
    assert all(r["holder"] is None and r["holder_tid"] is None for k, r in rows.items() if k[0] != "lock"), rows
    kernel = "recording without them" not in said
    if kernel:
        # Whose a fault is, is told by who was on that CPU: beside a switch, one may count for another thread.
        faults = rows["page_fault", 4]
        assert faults["most"] > PAGES - 20 and faults["times"] > PAGES * ROUNDS // 10 - 40, rows
    assert text == "allocations, mutexes" + (", page faults" if kernel else ""), text
    check_sums(trace, rows, kernel)
    realtime(trace, "/costly timer 3 s", status=5)
    assert set(realtime(trace, "/costly timer 5 s", "/costly timer 6 s", status=5)[0]) >= {("lock", 5)}
    realtime(trace, "/nobody", status=5)
    assert set(realtime(trace, "control:*", status=5)[0]) == {k for k in rows if k[1] == SPAN}
    realtime(trace, "step", status=5)
    if not any(k[1] == 6 for k in rows):
        realtime(trace, "/costly timer 6 s")
    check_nested(directory)
    plain, _ = recorded(directory)
    rows, text = realtime(plain, "/costly timer 3 s", status=5)
    assert not rows and text == "nothing", (rows, text)
    assert not report(plain, "node-costs")["node-costs"] and not report(plain, "process-costs")["process-costs"]
    assert all(r["allocations"] is None and r["lock_ns"] is None and r["page_faults"] is None for r in runs(plain))


if __name__ == "__main__":
    with_tracefs(__file__)
    until_lossless(main, 30)       # the counters of perf_event_open(2) often lack a few faults
