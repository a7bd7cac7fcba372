// SPDX-License-Identifier: Apache-2.0
// Strips of CPUs: how much of each column threads of traced programs had the CPU, and other threads; above it how
// many threads of traced programs waited.

const strip = { height: 46, busy: 26, wait: 10 };

function cpu_name(cpu) {
	return 'CPU ' + cpu.number + (D.cpus.cpus.some(other => other.host !== cpu.host) ? ' of host ' + (cpu.host + 1) : '');
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
		svg('path', { d: cpu_path(cpu, x, column => bottom - up(column[1]), column => bottom - up(column[1] + column[2])), fill: 'var(--take)', 'pointer-events': 'none' }),
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
		cpus.forEach((cpu, i) => group.append(svg('text', { x: frame.left - 8, y: i * strip.height + strip.wait + 24, 'text-anchor': 'end' }, 'CPU ' + cpu.number),
			cpu_strip(cpu, x, 6 + i * strip.height)));
		return [patterns(), axis, group, crosshair(x, 6, bottom, group)];
	});
	return figure('', null, chart, [el('p', { class: 'legend' }, [['run', 'threads of traced programs'], ['take', 'other threads'], ['wait', 'threads of traced programs that waited for it: full height is three']].map(([kind, words]) =>
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
	return table([{ key: 'cpu', title: 'CPU', value: row => cpu_name(row.cpu), cell: row => cpu_name(row.cpu) },
		share_column('busy', 'seen busy', row => (row.own + row.other) / total), ns_column('own', 'traced programs', row => row.own), ns_column('other', 'other threads', row => row.other),
		ns_column('waited', 'waited for it', row => row.waited, 'summed over threads'), { key: 'most', title: 'had it most', value: row => row.most, cell: row => el('td', { class: 'namecell' }, name_of(row.most, 40)) }],
		sums, { most: 64, label: 'CPUs' });
}

function cpus_panels() {
	if (!D.cpus || !D.cpus.cpus.length)
		return [];
	const own = 'tid IN (SELECT tid FROM threads)' + inside('start_ns');
	return [panel('Each CPU over time', query_button("SELECT cpu_id, tid, name, sum(duration_ns) AS ns FROM thread_states WHERE state = 'running'" + inside('start_ns') + ' GROUP BY 1, 2 ORDER BY ns DESC'),
		cpus_chart(), cpus_table()),
		D.cpus.wait && panel('', null, dist_chart('How long threads of traced programs waited for a CPU', D.cpus.wait, query_button(bins_sql('duration_ns', "thread_states WHERE state IN ('preempted', 'waiting') AND " + own))))];
}

function cpus_page() {
	const panels = cpus_panels().concat(table_panels(['preemptions', 'callback-cpu', 'node-cpu', 'process-cpu']));
	return [banner(), panel(el('h2', {}, 'CPUs'), null, panels.length ? el('p', { class: 'dim' }, 'Who took the CPU? From the kernel’s events.')
		: empty('The trace has no events of the kernel’s scheduler; record with --kernel to see who took the CPU.')), ...panels];
}
