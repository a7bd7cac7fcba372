// SPDX-License-Identifier: Apache-2.0
// CPUs: strips of how much of each column threads of traced programs had the CPU, and other threads, and above it
// how many threads of traced programs waited; for how long so many of them waited; and how long one waited.

const strip = { height: 46, busy: 26, wait: 10 };

function of_several_hosts() {
	return D.cpus.cpus.some(other => other.host !== D.cpus.cpus[0].host);
}

function cpu_name(cpu) {
	return 'CPU ' + cpu.number + (of_several_hosts() ? ' of ' + shortened(cpu.hostname, 24) : '');
}

function cpu_thread(index) {
	const [name, tid] = D.cpus.threads[index];
	return name + ' ' + tid;
}

function cpu_tip(cpu, at) {
	const column = cpu.columns.find(other => other[0] === at), begin = D.cpus.begin + at * D.cpus.width;
	if (!column)
		return cpu_name(cpu) + '\n' + at_text(begin) + ': idle, or not recorded';
	const [, own, other, waited, ...most] = column, lines = [];
	for (let i = 0; i < most.length; i += 2)
		lines.push(percent_text(most[i + 1] / D.cpus.width) + '  ' + cpu_thread(most[i]) + (D.cpus.threads[most[i]][2] ? '' : ' (not traced)'));
	return cpu_name(cpu) + '\n' + at_text(begin) + ' to ' + at_text(begin + D.cpus.width) + ': ' + percent_text((own + other) / D.cpus.width) + ' seen busy\n' + lines.join('\n') +
		(waited ? '\n' + (waited / D.cpus.width).toPrecision(2) + ' threads of traced programs waited for it on average' : '');
}

// One path for all boxes of a kind: a strip is a few elements, however many columns.
function cpu_path(cpu, x, from, to) {
	return cpu.columns.map(column => {
		const begin = D.cpus.begin + column[0] * D.cpus.width, left = x(begin), right = x(begin + D.cpus.width), low = from(column), high = to(column);
		return low - high > 0.2 ? 'M' + left.toFixed(1) + ' ' + low.toFixed(1) + 'V' + high.toFixed(1) + 'H' + right.toFixed(1) + 'V' + low.toFixed(1) + 'z' : '';
	}).join('');
}

function cpu_strip(cpu, x, top) {
	const bottom = top + strip.wait + strip.busy, up = ns => strip.busy * Math.min(1, ns / D.cpus.width);
	const group = svg('g', {}, svg('rect', { class: 'hit', x: x(x.from), y: top, width: x(x.to) - x(x.from), height: strip.wait + strip.busy }));
	// Three or more waiting threads fill the height.
	const waiting = column => strip.wait * Math.min(1, column[3] / D.cpus.width / 3);
	put(group, [svg('path', { d: cpu_path(cpu, x, () => bottom, column => bottom - up(column[1])), fill: 'var(--run)', 'pointer-events': 'none' }),
		svg('path', { d: cpu_path(cpu, x, column => bottom - up(column[1]), column => bottom - up(column[1] + column[2])), fill: 'url(#others)', 'pointer-events': 'none' }),
		svg('path', { d: cpu_path(cpu, x, () => top + strip.wait, column => top + strip.wait - waiting(column)), fill: 'url(#hatch)', 'pointer-events': 'none' }),
		svg('line', { class: 'grid', x1: x(x.from), x2: x(x.to), y1: bottom, y2: bottom })]);
	group.firstChild.addEventListener('pointermove', event => {
		const ns = x.invert(event.clientX - group.ownerSVGElement.getBoundingClientRect().left);
		group.firstChild.dataset.tip = cpu_tip(cpu, Math.max(0, Math.floor((ns - D.cpus.begin) / D.cpus.width)));
	});
	return group;
}

function cpus_chart() {
	const cpus = D.cpus.cpus, height = cpus.length * strip.height + 34, bottom = height - frame.bottom;
	const chart = picture(height, 'Each CPU over time; the table below has the sums', width => {
		const [x, axis] = time_axis(width, height), group = svg('g', {});
		cpus.forEach((cpu, i) => group.append(svg('text', { x: frame.left - 8, y: i * strip.height + strip.wait + 24, 'text-anchor': 'end', 'data-tip': cpu_name(cpu) }, 'CPU ' + cpu.number),
			cpu_strip(cpu, x, 6 + i * strip.height)));
		return [patterns(), axis, group, crosshair(x, 6, bottom, group)];
	});
	return figure('', null, chart, [el('p', { class: 'legend' }, [['run', 'threads of traced programs'], ['others', 'other threads'], ['wait', 'threads of traced programs that waited for it: full height is three']].map(([kind, words]) =>
		el('span', {}, el('i', { class: 'bg-' + kind }), words)), el('span', {}, 'each column is ' + ns_text(D.cpus.width))),
		el('p', { class: 'dim small' }, 'A recording of traced programs has the switches to and from their threads: an empty stretch is idle, or not recorded.')]);
}

// The sums of a CPU, and what had it most.
function cpu_sums(cpu) {
	const threads = new Map(), sum = index => cpu.columns.reduce((all, column) => all + column[index], 0);
	for (const [, , , , ...most] of cpu.columns)
		for (let i = 0; i < most.length; i += 2)
			threads.set(most[i], (threads.get(most[i]) || 0) + most[i + 1]);
	const most = [...threads].sort((a, b) => b[1] - a[1])[0];
	return { cpu, own: sum(1), other: sum(2), waited: sum(3), most: most ? cpu_thread(most[0]) : '' };
}

function cpus_table() {
	const total = total_ns(), sums = D.cpus.cpus.map(cpu_sums);
	return table([{ key: 'cpu', title: 'CPU', value: row => cpu_name(row.cpu), cell: row => el('td', { class: 'word' }, cpu_name(row.cpu)) },
		share_column('busy', 'seen busy', row => (row.own + row.other) / total), ns_column('own', 'traced programs', row => row.own), ns_column('other', 'other threads', row => row.other),
		ns_column('waited', 'waited for it', row => row.waited, 'summed over threads'), { key: 'most', title: 'had it most', value: row => row.most, cell: row => el('td', { class: 'namecell' }, name_of(row.most, 40)) }],
		sums, { most: 64, label: 'CPUs' });
}

// ---- how many threads waited ----

// The time with no waiting thread, one, two ...; the last one is "so many or more" if there are very many.
function queue_of(cpu) {
	const most = 24, sum = cpu.queue.reduce((all, ns) => all + ns, 0), all = [Math.max(0, total_ns() - sum), ...cpu.queue];
	return all.length <= most ? all : [...all.slice(0, most - 1), all.slice(most - 1).reduce((more, ns) => more + ns, 0)];
}

// A row of bars for each CPU; heights are square roots, and the share is written below each bar.
function queue_chart() {
	const cpus = D.cpus.cpus, rows = cpus.map(queue_of), levels = Math.max(2, ...rows.map(row => row.length)), bar = 34, row_height = bar + 26;
	const height = cpus.length * row_height + 30, bottom = height - 24;
	const many = level => level === 23 ? '23 or more' : String(level);
	const chart = picture(height, 'For how long so many threads waited for each CPU', width => {
		const step = Math.min(90, (width - frame.left - frame.right) / levels), x = level => frame.left + level * step;
		return [patterns(), rows.map((row, i) => svg('g', {}, svg('text', { x: frame.left - 8, y: i * row_height + bar + 4, 'text-anchor': 'end', 'data-tip': cpu_name(cpus[i]) }, 'CPU ' + cpus[i].number),
			svg('line', { class: 'axis', x1: frame.left, x2: x(levels), y1: i * row_height + bar + 6, y2: i * row_height + bar + 6 }),
			row.map((ns, level) => {
				const high = ns ? Math.max(1.5, bar * Math.sqrt(ns / total_ns())) : 0;
				return ns ? svg('g', { 'data-tip': cpu_name(cpus[i]) + '\n' + many(level) + ' waiting: ' + ns_text(ns) + ' (' + percent_text(ns / total_ns()) + ')' },
					svg('rect', { class: 'hit', x: x(level), y: i * row_height + 4, width: step, height: bar + 16 }),
					svg('rect', { x: x(level) + 2, y: i * row_height + bar + 6 - high, width: step - 4, height: high, fill: level ? 'url(#hatch)' : 'var(--idle)' }),
					step > 40 && svg('text', { x: x(level + 0.5), y: i * row_height + bar + 19, 'text-anchor': 'middle' }, percent_text(ns / total_ns()))) : null;
			}))),
			Array.from({ length: levels }, (_, level) => level).filter(level => step > 20 || level % 4 === 0).map(level => svg('text', { class: 'strong', x: x(level + 0.5), y: bottom + 16, 'text-anchor': 'middle' }, String(level) + (level === 23 ? '+' : '')))];
	});
	return figure('How many threads waited for each CPU', query_button(queue_sql()), chart,
		el('p', { class: 'dim small' }, 'Share of the time with no thread of traced programs waiting for the CPU, one, two …; heights are square roots of the shares'));
}

// ---- in SQL ----

const waiting_sql = "state IN ('preempted', 'waiting')";

// Several hosts may have threads of the same number.
function own_sql() {
	return of_several_hosts() ? '(host, tid) IN (SELECT processes.host, threads.tid FROM threads JOIN processes ON processes.id = threads.process_id)' : 'tid IN (SELECT tid FROM threads)';
}

function host_sql() {
	return of_several_hosts() ? 'host, ' : '';
}

function clipped_sql(column, is_begin) {
	return is_begin ? 'max(' + column + ', ' + epoch(D.cpus.begin) + ')' : 'min(' + column + ', ' + epoch(D.end) + ')';
}

// What a strip shows: each spell is cut at the ends of columns.
function strips_sql() {
	const begin = epoch(D.cpus.begin), width = D.cpus.width, next = at => begin + ' + ((' + at + ' - ' + begin + ') / ' + width + ' + 1) * ' + width;
	return "WITH RECURSIVE pieces AS (SELECT " + host_sql() + "cpu_id, CASE WHEN state <> 'running' THEN 2 WHEN " + own_sql() + ' THEN 0 ELSE 1 END AS kind, ' + clipped_sql('start_ns', true) + ' AS a, ' +
		clipped_sql('end_ns') + " AS b FROM thread_states WHERE cpu_id IS NOT NULL AND (state = 'running' OR " + waiting_sql + ' AND ' + own_sql() + ') AND end_ns > ' + begin + ' AND start_ns < ' + epoch(D.end) +
		' UNION ALL SELECT ' + host_sql() + 'cpu_id, kind, ' + next('a') + ', b FROM pieces WHERE ' + next('a') + ' < b) SELECT ' + host_sql() + 'cpu_id, (a - ' + begin + ') / ' + width + ' AS column, ' +
		['own_ns', 'other_ns', 'waited_ns'].map((name, kind) => 'sum((kind = ' + kind + ') * (min(b, ' + next('a') + ') - a)) AS ' + name).join(', ') +
		' FROM pieces GROUP BY ' + host_sql() + 'cpu_id, column ORDER BY ' + host_sql() + 'cpu_id, column';
}

// A wait begins and ends: between two of these times the number of waiting threads stays the same.
function queue_sql() {
	const where = ' FROM thread_states WHERE cpu_id IS NOT NULL AND ' + waiting_sql + ' AND ' + own_sql() + ' AND end_ns > ' + epoch(D.cpus.begin) + ' AND start_ns < ' + epoch(D.end);
	const of = 'PARTITION BY ' + host_sql() + 'cpu_id ORDER BY ns';
	return 'WITH ends AS (SELECT ' + host_sql() + 'cpu_id, ' + clipped_sql('start_ns', true) + ' AS ns, 1 AS more' + where + ' UNION ALL SELECT ' + host_sql() + 'cpu_id, ' + clipped_sql('end_ns') + ', -1' + where +
		'), levels AS (SELECT ' + host_sql() + 'cpu_id, sum(more) OVER (' + of + ') AS waiting, lead(ns) OVER (' + of + ') - ns AS ns FROM ends) SELECT ' + host_sql() +
		'cpu_id, waiting, sum(ns) AS ns FROM levels WHERE waiting > 0 AND ns > 0 GROUP BY ' + host_sql() + 'cpu_id, waiting ORDER BY ' + host_sql() + 'cpu_id, waiting';
}

// thread_states has a row for each thread that had the CPU during a wait: rows without a gap are one wait.
function waits_sql() {
	const of = 'PARTITION BY host, tid ORDER BY start_ns';
	const rows = 'SELECT host, tid, start_ns, end_ns, lag(end_ns) OVER (' + of + ') IS NOT start_ns AS is_first FROM thread_states WHERE cpu_id IS NOT NULL AND ' + waiting_sql + ' AND ' + own_sql();
	const waits = 'SELECT host, tid, start_ns, end_ns, sum(is_first) OVER (' + of + ') AS number FROM (' + rows + ')';
	return bins_sql('duration_ns', '(SELECT min(start_ns) AS start_ns, max(end_ns) - min(start_ns) AS duration_ns FROM (' + waits + ') GROUP BY host, tid, number) WHERE start_ns BETWEEN ' + epoch(D.cpus.begin) + ' AND ' + epoch(D.end));
}

function cpus_panels() {
	if (!D.cpus || !D.cpus.cpus.length)
		return [];
	return [panel('Each CPU over time', query_button(strips_sql()), cpus_chart(), cpus_table()),
		el('div', { class: 'cols' }, panel('', null, queue_chart()),
			D.cpus.wait && panel('', null, dist_chart('How long threads of traced programs waited for a CPU', D.cpus.wait, query_button(waits_sql()))))];
}

function cpus_page() {
	const panels = cpus_panels().concat(table_panels(['preemptions', 'callback-cpu', 'node-cpu', 'process-cpu']));
	return [banner(), panel(el('h2', {}, 'CPUs'), null, panels.length ? el('p', { class: 'dim' }, 'Who took the CPU? From the kernel’s events.')
		: empty('The trace has no events of the kernel’s scheduler; record with --kernel to see who took the CPU.')), ...panels];
}
