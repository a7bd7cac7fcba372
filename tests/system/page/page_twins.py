#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: one-thread, plain
"""Two processes of one name with nodes of one name, in the page, in Chromium: each has its own callbacks, timer, executor, chains and box in
the graph, with its own numbers, address and commands. A process that is started again is one with the first."""
import json
import os
import shutil
import sys

sys.path.append(os.path.dirname(__file__) + "/../lib")
from lib_browser import Chromium
from lib_test import BUILD, KYMO, answer, check, in_directory, kymo, query, record, ros_domain, run, skip

NODES = "/perception/obstacle_detector", "/perception/costmap"
SCAN, COSTMAP = "/perception/obstacle_detector /scan", "/perception/costmap timer 96 ms"
DRAWN = """({text: document.querySelector('main').innerText.length, title: (document.querySelector('main h2') || {innerText: ''}).innerText,
    odd: (document.querySelector('main').innerText.match(/undefined|NaN|\\[object|Infinity/) || [''])[0],
    missing: document.querySelector('main').innerText.includes('Not in this page')})"""


def made(work, name, command):
    """Return: trace and page of what the robot's programs did."""
    trace, path = os.path.join(work, name), os.path.join(work, name + ".html")
    programs = {program: f"{BUILD}/robot/{program} --domain {ros_domain()} --seconds" for program in ("driver", "perception")}
    record(trace, "-q", "--", "sh", "-c", command.format(**programs))
    kymo("report", trace, "--html", "-o", path)
    return trace, path


def of_kind(browser, kind, name):
    """The entities of this name: label, address, numbers of the processes, and what the page says of each."""
    return browser.value(f"""(byName.get({json.dumps(kind + chr(10) + name)}) || []).map(entity => ({{label: entity.label, at: address(entity), index: entity.index,
        pids: (entity.processes || []).map(index => D.provenance.processes[index].pid), runs: entity.runs, duration: entity.duration || null, wait: entity.wait || null,
        latency: entity.latency || null, cells: ((entity.series || {{}}).runs || (entity.series || {{}}).latency || {{cells: []}}).cells}}))""")


def same_callbacks(browser, trace, name, pids):
    """Each twin has the runs of its process, also over time, and its commands ask for them alone."""
    rows = {row["pid"]: row for row in query(trace, "SELECT pid, count(*) AS runs, max(duration_ns) AS max_ns FROM callback_instances WHERE "
                                             f"callback = '{name}' GROUP BY pid")}
    found = of_kind(browser, "callback", name)
    check(sorted(rows) == pids and sorted(entity["pids"] for entity in found) == [[pid] for pid in pids], name, "has", found, "SQL has", rows)
    for entity in found:
        row = rows[entity["pids"][0]]
        check(entity["label"] == f"{name} (perception {row['pid']})", entity["label"])
        check([entity["runs"], entity["duration"]["max"]] == [row["runs"], row["max_ns"]], entity, row)
        check([sum(cell["count"] for cell in entity["cells"]), max(cell["max"] for cell in entity["cells"])] == [row["runs"], row["max_ns"]],
              "over time:", entity["cells"][:5], row)
        browser.view(entity["at"])
        drawn = browser.value(DRAWN)
        check(drawn["title"].replace("\u200b", "") == entity["label"] and not drawn["odd"], entity["at"], drawn)
        commands = browser.value("[...document.querySelectorAll('main [data-command^=\"kymo query\"]')].map(button => button.dataset.command)")
        check(commands and all(f"pid = {row['pid']}" in command for command in commands), commands)
        asked = json.loads(run("/bin/sh", "-c", commands[0].replace("kymo", KYMO, 1) + " --format json").stdout)["rows"]
        check(sum(list(one.values())[1] for one in asked) == row["runs"], commands[0], asked, row)


def same_chains(browser, trace):
    """As in `kymo flow`: one for each path; its parts and its worst are those of its numbers."""
    told, names = {}, {}
    for row in answer("flow", trace)["chains"]:
        told.setdefault(row["path"], []).append([row["arrived"], row["p50_ns"], row["max_ns"]])
    for name, values in browser.value("byKind.chain.map(chain => [chain.name, [chain.runs, chain.latency.p50, chain.latency.max]])"):
        names.setdefault(name, []).append(values)
    check({name: sorted(values) for name, values in names.items()} == {name: sorted(told[name]) for name in names}, "the chains are", names, told)
    check(any(len(values) > 1 for values in names.values()), "no chain has a twin:", names)
    for label, at, of, total, worst, cells in browser.value("""byKind.chain.map(chain => [chain.label, address(chain), byName.get('chain\\n' + chain.name).length,
            [chain.runs, chain.latency.max], chain.chain.worst[0][1], chain.series.latency.cells])"""):
        check([sum(cell["count"] for cell in cells), max(cell["max"] for cell in cells)] == total, label, cells[:5], total)
        check(browser.value(f"byKind.chain.filter(chain => chain.label === {json.dumps(label)} || address(chain) === {json.dumps(at)}).length") == 1, label, at)
        check(of == 1 or "(perception " in label, label)
        check(worst <= total[1], label, worst, total)
    # Steps and the runs around the worst lead to the process that the chain is of.
    wrong = browser.value("""byKind.chain.filter(chain => chain.label.includes('(perception ')).flatMap(chain => chain.chain.steps
        .map(step => entities[step.entity]).filter(entity => entity && entity.processes && !chain.label.includes('perception ' + D.provenance.processes[entity.processes[0]].pid))
        .map(entity => [chain.label, entity.label]))""")
    check(not wrong, "steps of another process:", wrong)
    wrong = browser.value("""D.instances.concat(D.executors.flatMap(executor => executor.waits)).flatMap(one => one.runs
        .filter(run => entities[run[1]] && entities[run[1]].processes && D.provenance.processes[entities[run[1]].processes[0]].pid !== D.threads[run[0]].pid)
        .map(run => [entities[run[1]].label, D.threads[run[0]]]))""")
    check(not wrong, "runs of another process:", wrong[:3])


def same_executors(browser, pids):
    """Each has its own callbacks and threads; who waited for whom is of one process."""
    found = browser.value("""byKind.executor.filter(entity => entity.name.startsWith('perception:')).map(entity => [entity.label, executor_of(entity).threads.map(thread => D.threads[thread].pid),
        executor_of(entity).callbacks.filter(index => index >= 0 && entities[index].processes).map(index => D.provenance.processes[entities[index].processes[0]].pid)])""")
    check(sorted(threads[0] for _, threads, _ in found) == pids, "executors:", found)
    for label, threads, callbacks in found:
        check(f"(perception {threads[0]})" in label and len(set(threads + callbacks)) == 1, label, threads, callbacks)
    held = browser.value("""of_kind('callback').flatMap(entity => (entity.culprits || []).map(culprit => [entity, culprit_of(entity, culprit)]))
        .filter(pair => pair[0].processes && pair[1]).map(pair => pair.map(entity => entity.processes[0]))""")
    check(held and all(waited == by for waited, by in held), "who waited for whom:", held)
    waited = browser.value(f"byName.get({json.dumps('callback' + chr(10) + COSTMAP)}).map(entity => victims(entity).map(row => row.other.processes[0] === entity.processes[0]))")
    check(all(all(own) for own in waited) and any(waited), "what waited for it:", waited)


def draws(browser, pids):
    """Every address draws; the graph has a box for each process."""
    for at in browser.value("""['#/', '#/chains', '#/graph', '#/callbacks', '#/timers', '#/topics', '#/executors', '#/about', '#/topic/%2Fscan']
            .concat(['callback', 'timer', 'chain', 'executor'].flatMap(kind => byKind[kind].map(entity => address(entity))))"""):
        browser.view(at)
        drawn = browser.value(DRAWN)
        check(drawn["text"] > 10 and not drawn["odd"] and not drawn["missing"], at, drawn)
    browser.view("#/graph")
    tips = browser.value("[...document.querySelectorAll('main svg g[data-tip]')].filter(box => box.querySelector('rect')).map(box => [box.dataset.tip, box.dataset.go])")
    for pid in pids:
        for node in NODES:
            own = [(tip, to) for tip, to in tips if tip.startswith(f"{node}\nprocess perception {pid}")]
            check(len(own) == 1 and all(str(other) not in own[0][0] for other in pids if other != pid), node, pid, "has", own)
            check(browser.value(f"entities.find(entity => address(entity) === {json.dumps(own[0][1])}).label").endswith(f"(perception {pid})"), own)
    browser.view("#/topic/%2Fscan")
    text = browser.value("document.querySelector('main .crumbs').innerText").replace("\u200b", "")
    check(all(f"(perception {pid})" in text for pid in pids), "the ends of /scan are", text)
    browser.view("#/")
    counted = browser.value("[...document.querySelectorAll('main .numbers div')].map(box => box.innerText.split('\\n').map(word => word.trim()))")
    check(["3", "processes"] in counted, "the overview has", counted)
    text = browser.value("document.querySelector('main').innerText").replace("\u200b", "")
    check(text.count("the worst of 4") == 1, "the overview has not one row for four chains of one name:", text)


def main(work):
    if not shutil.which(Chromium.name):
        skip("there is no chromium")
    with Chromium() as browser:
        trace, path = made(work, "twins", "{driver} 4 & {perception} 4 & {perception} 4 & wait")
        pids = sorted(row["pid"] for row in query(trace, "SELECT pid FROM processes WHERE name = 'perception'"))
        browser.show(path)
        check(browser.value("document.documentElement.dataset.ready") == "yes" and len(pids) == 2, browser.errors, pids)
        for name in SCAN, COSTMAP:
            same_callbacks(browser, trace, name, pids)
        timers = of_kind(browser, "timer", COSTMAP)
        check(sorted(timer["pids"] for timer in timers) == [[pid] for pid in pids], timers)
        same_chains(browser, trace)
        same_executors(browser, pids)
        draws(browser, pids)

        trace, path = made(work, "again", "{driver} 5 & ({perception} 2; {perception} 2) & wait")
        browser.show(path)
        runs = query(trace, f"SELECT count(*) AS runs FROM callback_instances WHERE callback = '{SCAN}'")[0]["runs"]
        found = of_kind(browser, "callback", SCAN)
        check([[entity["label"], entity["runs"]] for entity in found] == [[SCAN, runs]], "started again:", found, runs)
        twins = browser.value("entities.filter(entity => entity.processes).map(entity => entity.label)")
        several = browser.value("byKind.chain.filter(chain => byName.get('chain\\n' + chain.name).length > 1).map(chain => chain.label)")
        others = browser.value("byKind.chain.filter(chain => D.chains.find(path => path.entity === chain.index) !== chain.chain).map(chain => chain.label)")
        check(not others, "not the path with the worst:", others)
        check(not twins and not several, "a process that was started again is told apart:", twins, several)
        check(not browser.errors and not browser.requests, browser.errors, browser.requests)


in_directory(main)
