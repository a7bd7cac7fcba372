#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# needs: plain, long
"""Pages of `kymo report --html` in real browsers: no error, no request; every page of the bar draws; the numbers are those of
`kymo report --format json`; the commands that charts copy give the numbers of the chart; clicks and keys work."""
import functools
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(__file__) + "/../lib")
import lib_picture
from lib_browser import Chromium, browsers
from lib_sched import beside
from lib_test import BUILD, KYMO, SHARED, SOURCE, TESTS, answer, callback_name, check, existing, kymo, private, query, record, record_robot, report, ros_domain, run, skip

# All addresses of a page: the bar, and the first MOST of each kind of entity and instance.
ADDRESSES = """(() => {
    const first = kind => of_kind(kind).slice(0, MOST).map(entity => address(entity));
    return [...document.querySelectorAll('nav a')].map(link => link.getAttribute('href'))
        .concat(Object.keys(entity_pages).flatMap(first), ['#/findings', '#/nowhere/else', '#/topic/%E0%A4%A'],
                D.instances.slice(0, MOST).map(one => address(entities[one.entity], 1)),
                D.chains.slice(0, 1).filter(chain => chain.worst.length > 1).map(chain => address(entities[chain.entity], 2)));
})()"""
# Goes to each address inside of the page, without a question to the browser for each, and says where something is wrong.
WALK = """(async addresses => {
    const wrong = [], frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
    for (const to of addresses) {
        location.hash = to;
        while (document.documentElement.dataset.view !== location.hash)
            await new Promise(done => setTimeout(done, 0));
        await frame();
        const drawn = DRAWN;
        if (drawn.text <= 10 || drawn.undrawn || drawn.odd || drawn.wide > 0 || drawn.inside.length)
            wrong.push([to, drawn]);
    }
    return wrong;
})(ADDRESSES)"""
AT_ONCE = 6     # addresses that the browser walks before it answers: it has five minutes, also on a busy machine
DRAWN = """({text: document.querySelector('main').innerText.length,
    undrawn: [...document.querySelectorAll('main svg[height]')].filter(svg => svg.getBoundingClientRect().width && !svg.firstChild).length,
    inside: innerWidth < 1200 ? [] : [...document.querySelectorAll('main .scroll')].filter(box => box.scrollWidth > box.clientWidth).map(box => box.innerText.slice(0, 60)),
    odd: (document.querySelector('main').innerText.match(/undefined|NaN|\\[object|Infinity/) || [''])[0],
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth})"""


def page(trace, path, *options):
    run(KYMO, "report", trace, "--html", "--force", "-o", path, *options)
    return path


def walk(browser, what, addresses=ADDRESSES, most=2):
    """Each address of the page: something is drawn, and nothing is wider than the window; on a screen, no table either."""
    every, wrong = browser.value(addresses.replace("MOST", str(most))), []
    for at in range(0, len(every), AT_ONCE):
        wrong += browser.value(WALK.replace("DRAWN", DRAWN).replace("ADDRESSES", json.dumps(every[at:at + AT_ONCE])))
    check(len(every) > 3 and not wrong, browser.name, what, len(every), "addresses:", wrong[:3])


def quiet(browser, what):
    check(not browser.errors, browser.name, what, "wrote to the console:", browser.errors[:3])
    check(not browser.requests, browser.name, what, "asked for", browser.requests[:3])
    browser.errors.clear()
    browser.requests.clear()


def rows(browser, view, label):
    """Return: the rows of a table: its first cell, and the numbers as they are in the page's data."""
    browser.view(view)
    browser.value("document.querySelectorAll('.more button').forEach(button => button.click())")
    return {row[0]: row[1] for row in browser.value(f"""[...document.querySelectorAll('table[aria-label={json.dumps(label)}] tbody tr')].map(row =>
        [row.cells[0].innerText.trim(), [...row.querySelectorAll('[data-v]')].map(cell => Number(cell.dataset.v))])""")}


@functools.lru_cache(None)
def reported(trace):
    """What `kymo report` says, for each browser."""
    return report(trace, status=(0, 6))


def same_numbers(browser, what, trace):
    """What tables show is what the report says, to the nanosecond."""
    told, shown = reported(trace), rows(browser, "#/callbacks", "callbacks")
    names = [callback_name(row) for row in told.get("callbacks", [])]
    compared = 0
    for row in told.get("callbacks", []):
        name = callback_name(row)
        if not row["node"] or not row["count"] or names.count(name) > 1 or name not in shown:
            continue
        compared += 1
        check(shown[name][:4] == [row["count"], row["p50_ns"], row["p99_ns"], row["max_ns"]], browser.name, what, name, shown[name], row)
    shown = rows(browser, "#/topics", "topics")
    for row in told.get("topics", []):
        if row["topic"] in shown and row["latency_count"]:
            compared += 1
            # What is not longer than the error of two clocks is no number.
            told_numbers = [row["published"]] + [row[key] for key in ("latency_p50_ns", "latency_p99_ns", "latency_max_ns") if row[key] is not None]
            check(shown[row["topic"]][:len(told_numbers)] == told_numbers, browser.name, what, row["topic"], shown[row["topic"]], row)
    findings = browser.value("D.findings.map(finding => [finding.text, finding.worst, finding.command])")
    check([finding[:2] for finding in findings] == [[row["text"], row["worst_ns"]] for row in told["findings"]], what, findings, told["findings"])
    check(browser.value("[D.events, D.lost_events]") == [told["events"], told["lost_events"]], what)
    return compared


def same_chains(browser, what, trace):
    told = {row["path"]: row for row in answer("flow", trace, status=(0, 6)).get("chains", [])}
    over_time = "(cells => [cells.reduce((sum, cell) => sum + cell.count, 0), Math.min(...cells.map(cell => cell.min)), Math.max(...cells.map(cell => cell.max))])(chain.series.latency.cells)"
    for name, count, d, cells in browser.value(f"of_kind('chain', true).map(chain => [chain.name, chain.runs, chain.latency, {over_time}])"):
        row = told.get(name)
        if check(row, what, name, "is not in kymo flow") and not row["error_ns"]:
            check([count, d["p50"], d["p99"], d["max"]] == [row["arrived"], row["p50_ns"], row["p99_ns"], row["max_ns"]], what, name, d, row)
            check(cells == [row["arrived"], row["min_ns"], row["max_ns"]], what, name, "over time has", cells, row)
    return len(told)


def same_sparks(browser):
    """The small pictures in tables have the longest of each part of the trace as the series have it, and say it in words."""
    begin, end = browser.value("[D.begin, D.end]")
    latency = "((entity.series || {}).latency || {cells: []}).cells.map(cell => [entity.series.latency.origin + (cell.at + 0.5) * entity.series.latency.width, cell.max])"
    cells = {"chains": latency, "topics": latency,
             "callbacks": "entity.series.runs.cells.map(cell => [entity.series.runs.origin + (cell.at + 0.5) * entity.series.runs.width, cell.max])"}
    for view, of in cells.items():
        browser.view("#/" + view)
        drawn = browser.value(f"""(() => {{ const by = new Map(entities.map(entity => [address(entity), entity]));
            return [...document.querySelectorAll('tr[data-go]')].map(row => {{ const entity = by.get(row.dataset.go), paths = row.querySelectorAll('td.spark path');
                return [entity.name, paths.length ? paths[1].getAttribute('d') : '', paths.length ? row.querySelector('td.spark title').textContent : '', {of}]; }}); }})()""")
        check(drawn and any(path for _, path, _, _ in drawn), browser.name, view, "has no small pictures")
        for name, path, said, values in drawn:
            longest = {}
            for at, ns in values:
                part = min(119, max(0, int((at - begin) / (end - begin) * 120)))
                longest[part] = max(longest.get(part, 0), ns)
            high = max(longest.values(), default=1)
            told = [(part + 0.5, min(18, 19 - 18 * (ns / high) ** 0.5)) for part, ns in sorted(longest.items())]
            shown_points = [tuple(float(number) for number in re.match(r"([\d.]+) 19V([\d.]+)$", point).groups()) for point in path.split("M")[1:]]
            check(len(told) == len(shown_points) and all(x == part and abs(y - top) < 0.006 for (x, y), (part, top) in zip(shown_points, told)), view, name, shown_points[:4], told[:4])
            check(not told or browser.value(f"ns_text({high})") in said, view, name, said, high)


def same_verdicts(browser, directory):
    """What was expected: in words, the numbers are the report's, and a callback shows its budget."""
    demo, lists, path = os.path.join(SHARED, "data", "caret-demo"), os.path.join(directory, "expected.csv"), os.path.join(directory, "expected.html")
    if not existing(demo):
        return
    with open(lists, "w", encoding="utf-8") as file:
        file.write("^/filter_node$,subscription_callback,/topic1,13\n/sensor,timer_callback,100000000,10\n/topic3,10\n/nowhere,1\ntarget,response_time,all,100\n")
    words = [os.path.join(demo, "ctf"), "--architecture", os.path.join(demo, "architecture.yaml"), "--expect", lists]
    run(KYMO, "report", *words, "--html", "-q", "-o", path, status=5)
    verdicts = {"FAILED": "broken", "NOT_MEASURED": "could not be judged", "PASS": "held"}
    told = [[verdicts[row["result"]], row["object"] or row["source"], row["what"], row["expected"], row["mean"], max(row["burst_lower"], row["burst_upper"]), row["count"]]
            for result in verdicts for row in answer("report", *words, status=5)["validation"] if row["result"] == result]
    browser.show(path)
    shown_rows = browser.value("""[...document.querySelectorAll('table[aria-label=expectations] tbody tr')].map(row => { const cells = [...row.cells], number = at => cells[at].dataset.v === undefined ? null : Number(cells[at].dataset.v);
        return [cells[0].innerText, cells[1].innerText.replace(' → ', ' -> '), cells[2].innerText, number(4), number(5), number(7), number(8)]; })""")
    check(shown_rows == told and len({row[0] for row in told}) == 3, "verdicts:", shown_rows, told)
    heading = browser.value("document.querySelector('table[aria-label=expectations]').closest('section').querySelector('h3').innerText")
    check(heading == "Expectations: 2 broken, 1 could not be judged, 3 held", heading)
    browser.view(browser.value("address(byName.get('callback\\n/sensor_dummy_node timer 100 ms')[0])"))
    browser.wait("[...document.querySelectorAll('main figure svg text')].some(text => text.textContent === 'budget 100 ms')")
    walk(browser, "expectations", most=1)
    quiet(browser, "expectations")


BUDGETS = """
chains:
  /scan -> /cmd_vel: latency p99 <= 1 ns
callbacks:
  /control/controller timer 1 ms:
    - duration p50 <= 1 s
    - rate >= 1 Hz
  /perception/costmap timer 96 ms: duration p99.9 <= 20 s
  /nobody /scan: rate >= 1 Hz
topics:
  /scan: [latency max <= 10 s, lost <= 90 %]
timers:
  /control/controller timer 1 ms: late p50 <= 3 s
services:
  /set_mode: latency p99 <= 5 s
loss: messages <= 90 %
"""


def same_budgets(browser, directory, robot):
    """Budgets of a file: the page has the verdicts, values and bounds of kymo check, and leads to what they are about."""
    budgets, path = os.path.join(directory, "budgets.yaml"), os.path.join(directory, "budgets.html")
    with open(budgets, "w", encoding="utf-8") as file:
        file.write(BUDGETS)
    told = answer("check", "-c", budgets, robot, status=5)["budgets"]
    check({row["verdict"] for row in told} == {"violated", "not known", "kept"} and len(told) > 9, "verdicts:", told)
    run(KYMO, "report", robot, "--html", "--check", budgets, "--force", "-q", "-o", path, status=5)
    browser.show(path)
    check(browser.value("D.tables.budgets") == told, "the page has other budgets:", browser.value("D.tables.budgets")[:2], told[:2])
    shown_rows = browser.value("""[...document.querySelectorAll('table[aria-label=budgets] tbody tr')].map(row => [row.cells[0].innerText, row.cells[2].innerText, row.cells[3].dataset.v, row.cells[4].dataset.v, (row.cells[1].querySelector('a') || {hash: ''}).hash])""")
    number = lambda value: None if value is None else float(value)
    check([[*row[:2], number(row[2]), number(row[3])] for row in shown_rows] == [[row["verdict"], row["budget"], row["value"], row["bound"]] for row in told], "the table has", shown_rows, told)
    for row, (_, _, _, _, link) in zip(told, shown_rows):
        entity = f"(byName.get({json.dumps(row['kind'] + chr(10) + str(row['name']))}) || [])[0]"
        check(link == browser.value(f"{entity} ? address({entity}) : ''"), row, "leads to", link)
    heading = browser.value("document.querySelector('table[aria-label=budgets]').closest('section').querySelector('h3').innerText")
    counts = [sum(row["verdict"] == word for row in told) for word in ("violated", "not known", "kept")]
    check(heading == "Budgets: {} violated, {} not known, {} kept".format(*counts), heading)
    browser.view(browser.value("address(byName.get('timer\\n/control/controller timer 1 ms')[0])"))
    browser.wait("[...document.querySelectorAll('main figure svg text')].some(text => text.textContent === 'budget 3.00 s')")
    check(browser.value("document.querySelectorAll('main table[aria-label=budgets] tbody tr').length") == 1, "a timer does not have its budget")
    walk(browser, "budgets", most=1)
    quiet(browser, "budgets")
    done = run(KYMO, "report", robot, "--check", budgets, status=2)
    check("kymo check" in done.stderr, done.stderr)
    summary = os.path.join(KEPT, "robot.summary")
    run(KYMO, "report", summary, "--html", "--check", budgets, "--force", "-o", path + ".html", status=5)
    browser.show(path + ".html")
    check(browser.value("D.tables.budgets") == answer("check", "-c", budgets, summary, status=5)["budgets"], "the page of a summary has", browser.value("D.tables.budgets"))
    quiet(browser, "budgets of a summary")


def asked(command):
    """Return: rows that a copied command gives."""
    done = run("/bin/sh", "-c", command + " --format json", env=dict(os.environ, PATH=os.path.join(BUILD, "bin") + ":" + os.environ["PATH"]))
    return json.loads(done.stdout)["rows"]


def same_queries(browser, kind, name, charts):
    """The commands that charts of an entity copy give the numbers that these charts show."""
    browser.view(browser.value(f"address(byName.get({json.dumps(kind + chr(10) + name)})[0])"))
    found = browser.value("[...document.querySelectorAll('main figure [data-command^=\"kymo query\"]')].map(button => button.dataset.command)")
    entity = f"byName.get({json.dumps(kind + chr(10) + name)})[0]"
    check(len(found) == len(charts), kind, name, found)
    for command, chart in zip(found, charts):
        shown = browser.value({
            "bins": "bins_of({0}.{1}).map(bin => [bin.low, bin.count])",
            "columns": "{0}.series.{1}.cells.map(cell => [cell.at, cell.count, cell.min, cell.max])",
            "heat": "heat_cells({0}.heat).map(cell => [cell.column, cell.row, cell.count])",
        }[chart.split(" ")[0]].format(entity, chart.split(" ")[-1]))
        told = [list(row.values()) for row in asked(command)]
        check(shown and shown == told, kind, name, command, shown[:5], told[:5])


def same_span_queries(browser, trace, path):
    """Those of a span, of a loop and of the flame graph, of all of the trace and of a part of it."""
    browser.show(path)
    half = browser.value("(D.begin + D.end) / 2e9")
    for window in [], ["--begin", f"+{half:.3f}s"]:
        if window:
            browser.show(page(trace, path + ".html", *window))
        same_queries(browser, "span", "cyclic:plan", ["bins duration", "columns spans"])
        same_queries(browser, "loop", "cyclic:loop", ["bins latency", "bins duration", "columns spans"])
        browser.view("#/flame")
        sums = browser.value("flame_sums(flame_of('spans')).map(sum => [sum.name, sum.self, sum.count])")
        told = [list(row.values()) for row in asked(browser.value("document.querySelector('main [data-command^=\"kymo query\"]').dataset.command"))]
        check(sums and sorted(sums) == sorted(row for row in told if not row[0].endswith("_sleep")), "the flame graph has", sums, "not", told)


def same_cpu_queries(browser, directory):
    """Those of the CPUs, of all of the trace and of a part of it; and the CPUs around an instance."""
    given_traces = existing(os.path.join(SHARED, "data", "ros2-traces", "pair_basic_st", "ctf"))
    if not given_traces:
        return
    trace, _ = beside(os.path.dirname(given_traces[0]), os.path.join(directory, "beside"), 7, query)
    for window in [], ["--begin", "+0.5s", "--end", "+0.9s"]:
        browser.show(page(trace, os.path.join(directory, "beside.html"), *window), "#/cpus")
        commands = browser.value("[...document.querySelectorAll('main [data-command^=\"kymo query\"]')].map(button => button.dataset.command)")
        shown = browser.value("""[D.cpus.cpus.flatMap(cpu => cpu.columns.map(column => [cpu.number, ...column.slice(0, 4)])),
            D.cpus.cpus.flatMap(cpu => cpu.queue.map((ns, i) => [cpu.number, i + 1, ns]).filter(row => row[2])), bins_of(D.cpus.wait).map(bin => [bin.low, bin.count])]""")
        check(len(commands) == len(shown), "the CPUs copy", commands)
        for command, rows_shown in zip(commands, shown):
            told = [list(row.values()) for row in asked(command)]
            check(rows_shown and rows_shown == told, command, rows_shown[:5], told[:5])
    browser.view(browser.value("address(entities[D.instances[0].entity], 1)"))
    names = browser.value("[...document.querySelectorAll('main figure svg text')].map(text => text.textContent).filter(text => /^CPU \\d/.test(text))")
    check(names == sorted(names) and names, "an instance has the CPUs", names)
    check(browser.value("D.instances.some(instance => instance_cpus(instance).some(cpu => cpu.own > 0))"), "no CPU had a thread of an instance")
    bar, row = browser.value("""(() => { const row = D.tables['callback-cpu'][0], entity = of_kind('callback', true).find(other => cpu_panel(other));
        return [entity && cpu_panel(entity).innerText, row]; })()""")
    check(bar and "on a CPU" in bar, "no callback has a bar of its CPU time", bar, row)
    walk(browser, "CPUs")
    quiet(browser, "CPUs")
    browser.value("D.threads.forEach(thread => thread.host = 'another')")
    check(browser.value("D.instances.every(instance => instance_cpus(instance).every(cpu => !cpu.own))"), "threads of another host count as the instance's")


def same_waits(browser):
    """The time lines of executors have the runs that their commands give, and arrows walk through them."""
    waits = browser.value("""D.executors.flatMap(executor => executor.waits.map(wait => [wait_sql(wait), query(wait_sql(wait)),
        wait.runs.map(run => [D.threads[run[0]].tid, epoch(run[2]), run[3]]), wait_blocked(wait), Math.max(...wait.parts.map(part => part.ns))]))""")
    check(waits, "no executor has a wait")
    for _, command, shown, blocked, _ in waits:
        told = [[row["tid"], str(row["start_ns"]), row["duration_ns"]] for row in asked(command)]
        check(blocked > 0 and sorted(shown) == sorted(told), command, shown[:3], told[:3])
    browser.view("#/executors")
    browser.value("document.querySelector('[data-walk] > g').focus()")
    browser.key("ArrowRight", 39)
    check(browser.value("document.activeElement === document.querySelectorAll('[data-walk] > g')[1]"), "right does not go to the next run")
    check(browser.value("document.getElementById('tip').innerText.includes('ran')"), "a run does not say what it is")


def same_services(browser, trace):
    """The calls of services: as the report has them, and each of the longest as a query has it."""
    told = [row for row in report(trace, "service-calls")["service-calls"] if row["total_count"]]
    shown = browser.value("of_kind('service', true).map(entity => [entity.name, entity.latency, entity.chain.calls.served])")
    check(len(told) == len(shown) == 1, told, shown)
    for key in "count", "p50", "p99", "max":
        column = f"_{key}_ns" if key != "count" else "_count"
        check([shown[0][1][key], shown[0][2][key]] == [told[0]["total" + column], told[0]["callback" + column]], shown, told)
    rows_told = {row["id"]: row for row in query(trace, "SELECT * FROM service_calls WHERE duration_ns IS NOT NULL")}
    calls = browser.value("of_kind('service', true)[0].chain.calls.worst.map(call => [epoch(call[0]), ...call.slice(1)])")
    check(len(calls) == len(rows_told) and [call[1] for call in calls] == sorted((row["duration_ns"] for row in rows_told.values()), reverse=True), "calls", len(calls))
    for begin, total, number, _, _, _, handled, *parts in calls:
        row = rows_told[number]
        check([begin, total, sum(parts)] == [str(row["request_ns"]), row["duration_ns"], row["duration_ns"]], number, parts, row)
        # The event of a request comes after its write: on a busy machine, the service is faster. Parts are between request and response.
        ends = [row["request_ns"]]
        for key in ("request_taken_ns", "callback_start_ns", "callback_end_ns", "response_ns", "response_taken_ns"):
            ends.append(min(max(row[key], ends[-1]), row["response_taken_ns"]))
        check([parts[0] + parts[1], *parts[2:5], parts[5] + parts[6]] == [b - a for a, b in zip(ends, ends[1:])], number, parts, row)
        check(handled == (-1 if row["response_callback_duration_ns"] is None else row["response_callback_duration_ns"]), handled, row)
    handled = ["bins chain.calls.handled"] if browser.value("!!of_kind('service', true)[0].chain.calls.handled") else []
    same_queries(browser, "service", told[0]["service"], ["bins latency", "bins chain.calls.served", *handled])


def words_of_parts(browser):
    """The page has words and a fill for each kind of part that `kymo why` knows."""
    with open(os.path.join(SOURCE, "src", "analysis", "why", "why_parts.c"), encoding="utf-8") as file:
        kinds = re.findall(r'\[WHY_[A-Z_]+\] = "(\w+)"', file.read())
    plain = browser.value(f"{json.dumps(kinds)}.filter(kind => !segment_words[kind] || part_words({{hops: [{{name: 'a'}}, {{name: 'b'}}]}}, {{kind, hop: 1, call: 'read'}})[1] === kind)")
    check(len(kinds) >= 14 and not plain, "no words for", plain, kinds)


def flame_keys(browser, path):
    """Keys walk and zoom, the zoom is in the address, the filter marks, a click goes back."""
    browser.show(path, "#/flame")
    browser.value("document.querySelector('.flame').focus()")
    for _ in range(2):
        browser.key("ArrowDown", 40)
    browser.key("Enter", 13, "\r")
    browser.wait("location.hash === '#/flame/spans.2' && document.querySelectorAll('.frame.around').length === 2")
    check("cyclic:loop" in browser.value("document.querySelector('.flame-said').innerText"), browser.name, "the flame graph does not say where it is")
    browser.value("(() => { const box = document.getElementById('search'); box.value = 'PLAN'; search_changed(); })()")
    check(browser.value("document.querySelectorAll('.frame.marked').length") == 1, browser.name, "the filter does not mark frames")
    browser.value("document.querySelector('.flame .frame rect').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    browser.wait("!document.querySelector('.frame.around')")
    browser.show(path, "#/flame/spans.2")
    browser.wait("document.querySelectorAll('.frame.around').length === 2")


def shown(browser, condition):
    """Wait until an address that fulfils @condition is drawn: it changes a moment before the page does."""
    browser.wait(f"({condition}) && document.documentElement.dataset.view === location.hash")


def clicks_and_keys(browser):
    browser.view("#/callbacks")
    browser.key("/", 191, "/")
    check(browser.value("document.activeElement.id") == "search", browser.name, "/ does not go to the filter")
    for letter in "costmap":
        browser.key(letter, ord(letter.upper()), letter)
    names = browser.value("[...document.querySelectorAll('tbody tr')].map(row => row.cells[0].innerText)")
    check(names and all("costmap" in name for name in names), browser.name, "the filter shows", names)
    browser.key("Enter", 13, "\r")
    browser.key("Enter", 13, "\r")
    shown(browser, "location.hash.startsWith('#/callback/')")
    browser.key("Escape", 27)
    browser.key("?", 191, "?")
    browser.wait("document.querySelector('dialog[open]') !== null")
    browser.key("Escape", 27)
    browser.wait("document.querySelector('dialog[open]') === null")
    browser.key("1", 49, "1")
    shown(browser, "location.hash === '#/'")
    dark = browser.value("document.documentElement.dataset.theme")
    browser.key("t", 84, "t")
    check(browser.value("document.documentElement.dataset.theme") != dark, browser.name, "t changes nothing")
    box = browser.value("(() => { const at = document.querySelector('.finding a') || document.querySelector('main .panel a'); at.scrollIntoView({block: 'center', behavior: 'instant'}); const box = at.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()")
    browser.click(*box)
    shown(browser, "/^#\\/(chain|callback|timer|topic)/.test(location.hash)")
    browser.view("#/callbacks")
    head = browser.value("(() => { document.querySelector('th:nth-child(2) button').click(); return document.querySelector('th:nth-child(2)').getAttribute('aria-sort'); })()")
    counts = browser.value("[...document.querySelectorAll('tbody tr')].map(row => Number(row.cells[1].dataset.v))")
    check(head == "descending" and counts == sorted(counts, reverse=True), browser.name, "not sorted:", head, counts)


def sizes(browser, pages):
    """On a tablet, on a telephone and on paper (A4 without its margins) nothing is wider than the page either."""
    for path in pages:
        browser.show(path)
        for what, width in (("800 wide", 800), ("400 wide", 400), ("print", 718))[path != pages[0]:]:
            browser.ask("Emulation.setEmulatedMedia", media="print" if what == "print" else "")
            browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
            walk(browser, what + " " + path, most=1)
    browser.ask("Emulation.setEmulatedMedia", media="")
    browser.ask("Emulation.clearDeviceMetricsOverride")


def narrow(browser, path):
    """On a telephone the bar shows where one is, and names break between their parts."""
    browser.ask("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    browser.show(path)
    browser.view("#/about")
    shown_at = browser.value("(() => { const box = document.querySelector('nav a[aria-current]').getBoundingClientRect(); return [box.left, box.right]; })()")
    check(0 <= shown_at[0] and shown_at[1] <= 390, "narrow: Provenance is in the bar at", shown_at)
    pieces = browser.value("name_of('/perception/obstacle_detector timer 25 ms').innerHTML.replace(/<.?span[^>]*>/g, '').split('<wbr>')")
    check(pieces == ["/perception", "/obstacle_", "detector", " ", "timer", " ", "25 ms"], "a name breaks into", pieces)
    pieces = browser.value("name_of('began 13.0 ms late, in 5 runs').innerHTML.replace(/<.?span[^>]*>/g, '').split('<wbr>')")
    check("13.0 ms" in pieces and "5" in pieces, "a time breaks into", pieces)
    browser.ask("Emulation.clearDeviceMetricsOverride")


def made(directory):
    """Traces of our own: the robot, a program with loops, an empty one, a damaged one, and names that are markup, reorder text
    or have 6,000 characters."""
    def at(name):
        return os.path.join(directory, name)
    environment = private(directory, KYMO_RING_SIZE="2M")
    record_robot(at("robot"), 3)
    record(at("cyclic"), "--", os.path.join(BUILD, "cyclic", "cyclic"), "--seconds", "1", env=environment)
    for name in ("empty", "damaged"):
        run("cp", "-r", at("robot"), at(name))
        for stream in streams(at(name)):
            with open(stream, "r+b") as file:
                file.truncate(os.path.getsize(stream) * 2 // 3 + 1)
    for stream in streams(at("empty")):
        os.unlink(stream)
    record(at("calls"), "--", os.path.join(TESTS, "service_calls"), "100", env=environment)
    record(at("hostile"), "--", os.path.join(TESTS, "hostile_names"), env=environment)
    return [at(name) for name in ("robot", "cyclic", "empty", "damaged", "hostile", "calls")]


def two_hosts(directory):
    """The robot's driver on one host, the rest on another. Return: [a folder with a trace of each]; []: it cannot be."""
    unshare = ["unshare", "--time", "--uts", "--fork", "--kill-child"] + (["--map-root-user"] if os.getuid() else [])
    if run(*unshare, "--monotonic", "5", "hostname", "probe", status=None).returncode:
        print("skipped in part: two hosts need host names and clocks of their own")
        return []
    domain, running = str(ros_domain()), []
    os.mkdir(os.path.join(directory, "hosts"))
    for host, ahead, programs in ("near", "1000", ["driver"]), ("far", "0", ["control", "perception"]):
        for program in programs:
            trace = os.path.join(directory, "hosts", program)
            command = [KYMO, "record", "-o", trace, "--", os.path.join(BUILD, "robot", program), "--domain", domain, "--seconds", "3"]
            running.append(subprocess.Popen(
                [*unshare, "--monotonic", ahead, "sh", "-c", 'hostname "$1"; shift; exec "$@"', "sh", host, *command], stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True, env=dict(os.environ, KYMO_DIR=os.path.join(directory, program + ".dir"), KYMO_RING_SIZE="2M")))
    for process in running:
        told = process.communicate(timeout=300)[1]
        assert process.returncode == 0, told
    return [os.path.join(directory, "hosts")]


def streams(trace):
    return [os.path.join(base, name) for base, _, files in os.walk(trace) for name in files
            if name not in ("metadata", "kymo.json") and not name.endswith(".idx")]


def given():
    folder = os.path.join(SHARED, "data", "ros2-traces")
    names = ("pair_basic_st", "pair_pipeline_mt", "pair_intra", "pair_lifecycle", "pair_components", "many_contexts",
             "discarded", "rotated_files", "streamed_relayd", "caret_runtime")
    return existing(*(os.path.join(folder, name, "ctf") for name in names), os.path.join(SHARED, "data", "caret-demo", "ctf"))


# Addresses of a comparison: the bar, and two of each kind.
COMPARED = """[...document.querySelectorAll('nav a')].map(link => link.getAttribute('href'))
    .concat(Object.values(byKind).flatMap(all => all.slice(0, 2).map(entity => address(entity))), ['#/nowhere/else'])"""


def comparisons(directory, robot, hostile):
    """Pages of `kymo diff --html`: the robot and itself, the robot and a program with other names. Return: [(page, JSON of the same)]."""
    made_of = []
    for number, (base, new) in enumerate(((robot, robot), (robot, hostile))):
        path = os.path.join(directory, f"diff{number}.html")
        words = ("diff", base, new, "--anyway", "--with-losses")
        run(KYMO, *words, "--html", "-o", path, status=(0, 5, 6))
        made_of.append((path, answer(*words, "--values", status=(0, 5, 6))))
    return made_of


def look_compared(browser, pages):
    for path, told in pages:
        browser.show(path)
        check(browser.value("facts") == told, browser.name, path, "has other numbers than kymo diff --format json --values")
        walk(browser, path, COMPARED)
        if told["metrics"]:
            browser.view("#/metrics")
            shown = browser.value("[...document.querySelectorAll('table[aria-label=metrics] tbody tr')].map(row => [row.cells[3].innerText, Number(row.cells[4].dataset.v), Number(row.cells[5].dataset.v)])")
            check(shown == [[row["metric"], row["base"], row["new"]] for row in told["metrics"]][:200], path, "the table has", shown[:3])
        browser.view("#/only")
        names = browser.value("[...document.querySelectorAll('main tbody .namecell')].length")
        check(names == min(60, len(told["appeared"])) + min(60, len(told["gone"])), path, "lists", names, "names")
    quiet(browser, "comparisons")


# Views of the page of tests/fixtures/page/robot.summary; the last one is dark.
PICTURES = {"overview": "#/", "chain": "address(of_kind('chain')[0])", "callbacks": "#/callbacks", "callback": "address(of_kind('callback')[0])", "dark": "#/chains"}
KEPT = os.path.join(SOURCE, "tests", "fixtures", "page")


def pages_of_summary(directory):
    """Return: the page of the kept summary, and that of its comparison with itself."""
    summary, pages = os.path.join(KEPT, "robot.summary"), [os.path.join(directory, name) for name in ("summary.html", "summaries.html")]
    run(KYMO, "report", "--html", summary, "-o", pages[0])
    run(KYMO, "diff", "--html", "robot.summary", "robot.summary", "-o", pages[1], cwd=KEPT)
    return pages


def look_summary(browser, pages):
    """A page of a summary's file: its numbers, and no place that needs a trace."""
    told = answer("report", os.path.join(KEPT, "robot.summary"))
    browser.show(pages[0])
    walk(browser, "summary")
    check(browser.value("D.findings.map(finding => finding.text)") == [row["text"] for row in told["findings"]], "summary: other findings")
    shown = rows(browser, "#/callbacks", "callbacks")
    for row in told["callbacks"]:
        check(shown.get(row["name"], [])[1:4] == [row[key] for key in ("duration_p50_ns", "duration_p99_ns", "duration_max_ns")], "summary:", row, shown.get(row["name"]))
    check(browser.value("document.querySelectorAll('main [data-command]').length") == 0, "a summary's page copies commands that need a trace")
    quiet(browser, "summary")


def look_pictures(browser, pages, is_written=False):
    """Pages of what is always the same look as they did: `page.py --write` keeps new pictures."""
    browser.show(pages[0])
    for name, view in [*PICTURES.items(), ("diff", "#/")]:
        if name == "diff":
            browser.show(pages[1])
        browser.value(f"set_theme({json.dumps('dark' if name == 'dark' else 'light')})")
        browser.view(view if view.startswith("#") else browser.value(view))
        picture, kept = lib_picture.taken(browser), os.path.join(KEPT, name + ".png")
        if is_written:
            lib_picture.write(kept, picture)
            continue
        far, tile = lib_picture.shares_far(picture, lib_picture.read(kept))
        if not check(far <= lib_picture.MOST_FAR and tile <= lib_picture.MOST_FAR_TILE,
                     f"{kept}: {100 * far:.1f} % of the picture looks otherwise, {100 * tile:.0f} % of a part of it; if that is right: page.py --write"):
            lib_picture.write(os.path.join(os.environ.get("KYMO_PICTURES", os.path.dirname(pages[0])), name + ".png"), picture)


def look(kind, traces, pages, own, compared_pages):
    robot = own[0]
    with kind() as browser:
        compared = 0
        for trace, path in zip(traces, pages):
            browser.show(path)
            check(browser.value("document.documentElement.dataset.ready") == "yes", browser.name, trace, browser.errors)
            walk(browser, trace, most=2 if trace in own and browser.name == "chromium" else 1)
            compared += same_numbers(browser, trace, trace)
            quiet(browser, trace)
        check(compared > 10, browser.name, "compared only", compared, "rows")
        browser.show(pages[traces.index(robot)])
        check(same_chains(browser, "robot", robot), "the robot has no chains")
        same_sparks(browser)
        if browser.name == "chromium":
            same_queries(browser, "callback", "/perception/costmap timer 96 ms", ["bins duration", "columns runs"])
            same_queries(browser, "topic", "/scan", ["heat", "bins latency", "bins gap", "columns latency"])
            same_queries(browser, "timer", "/perception/costmap timer 96 ms", ["bins wait"])
            # A busy machine starts the robot late, so the window is a share of what it did.
            length = browser.value("D.end - D.begin") / 1e9
            browser.show(page(robot, pages[0] + ".html", "--begin", f"+{0.45 * length:.3f}s", "--end", f"+{0.95 * length:.3f}s"))
            same_queries(browser, "topic", "/scan", ["heat", "bins latency", "bins gap", "columns latency"])
            same_queries(browser, "callback", "/perception/costmap timer 96 ms", ["bins duration", "columns runs"])
            browser.show(pages[0])
            words_of_parts(browser)
            same_waits(browser)
            same_services(browser, robot)
            browser.show(pages[5])
            same_services(browser, own[5])
            same_cpu_queries(browser, os.path.dirname(pages[0]))
            same_verdicts(browser, os.path.dirname(pages[0]))
            same_budgets(browser, os.path.dirname(pages[0]), robot)
            same_span_queries(browser, own[1], pages[traces.index(own[1])])
            narrow(browser, pages[traces.index(robot)])
            sizes(browser, [pages[0], pages[1], *pages[3:5], pages[len(own)]] + existing(os.path.join(os.path.dirname(pages[0]), "beside.html")))
            browser.show(pages[traces.index(robot)])
        clicks_and_keys(browser)
        flame_keys(browser, pages[traces.index(own[1])])
        quiet(browser, "keys")
        look_compared(browser, compared_pages)
        if browser.name == "chromium":
            of_summary = pages_of_summary(os.path.dirname(pages[0]))
            look_summary(browser, of_summary)
            look_pictures(browser, of_summary)


def main(directory):
    own, other = made(directory), two_hosts(directory) + given()
    traces = own + other
    pages = [page(trace, os.path.join(directory, f"{number}.html")) for number, trace in enumerate(traces)]
    compared_pages = comparisons(directory, own[0], own[4])
    found = browsers()
    if not found:
        skip("no browser: it needs chromium and firefox-esr")
    for kind in found:
        look(kind, traces, pages, own, compared_pages)


with tempfile.TemporaryDirectory(prefix="kymo-page-") as private_directory:
    if sys.argv[1:] == ["--write"]:
        with Chromium() as chromium:
            look_pictures(chromium, pages_of_summary(private_directory), True)
    else:
        main(private_directory)
