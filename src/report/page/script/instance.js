// SPDX-License-Identifier: Apache-2.0
// One bad instance: threads as rows, what they ran, and the way of the message between them.

function thread_text(index) {
	const thread = D.threads[index];
	if (!thread)
		return 'thread not known';
	return thread.name && thread.name !== thread.process ? thread.process + '/' + thread.name + ' ' + thread.tid
		: thread.process + ' ' + thread.tid;
}

// The rows: threads of the instance in its order, then others that ran something meanwhile.
function instance_rows(instance) {
	if (instance.rows)
		return instance.rows;
	const order = [], busy = new Map();
	const add = thread => {
		if (thread !== undefined && !order.includes(thread))
			order.push(thread);
	};
	instance.hops.filter(hop => !hop.topic).forEach(hop => add(hop.thread));
	instance.parts.filter(part => part.kind === 'queued').forEach(part => add(part.thread));
	for (const run of instance.runs)
		busy.set(run[0], (busy.get(run[0]) || 0) + run[3]);
	[...busy].sort((a, b) => b[1] - a[1]).slice(0, 10).forEach(([thread]) => add(thread));
	return order;
}

function is_own(instance, run) {
	return instance.hops.some(hop => !hop.topic && hop.thread === run[0] && hop.start === run[2]);
}

function is_culprit(instance, run) {
	const entity = entities[run[1]];
	return instance.parts.some(part => part.kind === 'queued' && entity && part.callback === entity.name &&
		part.thread === run[0] && run[2] < part.begin + part.ns + 1e6 && run[2] + run[3] > part.begin);
}

function run_box(instance, run, x, y, height, is_first) {
	const entity = entities[run[1]], own = is_own(instance, run), culprit = !own && is_culprit(instance, run);
	const left = Math.max(x(run[2]), x(x.from)), right = Math.min(x(run[2] + run[3]), x(x.to));
	const width = Math.max(1.5, right - left), label = entity ? entity.label : 'a callback';
	const text = label + '\nran ' + ns_text(run[3]) + ' from ' + at_text(run[2]) + (own ? '\npart of this instance' : culprit ? '\nthis instance waited for it' : '');
	return svg('g', { 'data-tip': text, 'data-go': entity ? address(entity) : null, style: 'cursor:pointer', tabindex: is_first ? 0 : -1, role: 'link', 'aria-label': text.replaceAll('\n', ', ') },
		svg('rect', { x: left, y, width, height, rx: Math.min(2, width / 2),
			      fill: own ? 'var(--run)' : culprit ? 'url(#hatch)' : 'var(--idle)',
			      stroke: culprit ? 'var(--wait)' : own ? 'var(--run)' : 'none' }),
		width > 60 && svg('text', { class: 'strong', x: left + 5, y: y + height / 2 + 4, style: own ? 'fill:#fff' : culprit ? 'paint-order:stroke;stroke:var(--panel);stroke-width:3px' : '' },
			shortened(label, Math.floor((width - 8) / 7))));
}

// Where messages were on their way: from the publish call on one row to the start on another.
function arrows_of(instance, x, row_y, height) {
	const nodes = [];
	instance.hops.forEach((hop, i) => {
		if (hop.topic || hop.publish === undefined || !i)
			return;
		const before = instance.hops.slice(0, i).reverse().find(other => !other.topic);
		const topic = instance.hops[i - 1];
		const from_y = before ? row_y(before.thread) + height : row_y(hop.thread) - 6, to_y = row_y(hop.thread);
		const a = x(hop.publish), b = x(hop.start);
		const up = from_y > to_y;
		const y1 = up ? from_y - height : from_y, y2 = up ? to_y + height : to_y;
		nodes.push(svg('path', { d: 'M' + a + ' ' + y1 + 'C' + (a + b) / 2 + ' ' + y1 + ' ' + (a + b) / 2 + ' ' + y2 + ' ' + b + ' ' + y2,
			fill: 'none', stroke: 'var(--way)', 'stroke-width': 1.8,
			'data-tip': (topic.topic ? topic.name : 'message') + '\npublished ' + at_text(hop.publish) + ', its callback began ' + ns_text(hop.start - hop.publish) + ' later' }),
			svg('circle', { cx: b, cy: y2, r: 3, fill: 'var(--way)' }));
	});
	return nodes;
}

function waits_of(instance, x, row_y, height) {
	return instance.hops.map((hop, i) => {
		const waited = instance.parts.filter(part => part.hop === i && part.kind === 'queued');
		if (hop.topic || !waited.length)
			return null;
		const from = Math.min(...waited.map(part => part.begin)), to = hop.take || hop.start;
		return svg('g', { 'data-tip': waited.map(part => 'waited ' + ns_text(part.ns) + ' for ' + part.callback).join('\n') },
			svg('line', { x1: x(from), x2: x(to), y1: row_y(hop.thread) + height + 5, y2: row_y(hop.thread) + height + 5,
				      stroke: 'var(--wait)', 'stroke-width': 4 }));
	});
}

function preempted_of(instance, x, row_y, height) {
	return (instance.preempted || []).filter(spell => row_y(spell[0]) !== undefined).map(spell =>
		svg('rect', { x: x(spell[1]), y: row_y(spell[0]), width: Math.max(1.5, x(spell[1] + spell[2]) - x(spell[1])), height,
			      fill: 'url(#cut)', 'data-tip': 'could run, but ' + (spell[3] || 'another thread') + ' had the CPU for ' + ns_text(spell[2]) }));
}

// ---- the CPUs meanwhile, with the kernel's events ----

// Those that threads of the instance had longest, at most eight: [{cpu, host, slices}].
function instance_cpus(instance) {
	const cpus = new Map(), hostnames = new Map(D.cpus ? D.cpus.cpus.map(cpu => [cpu.host, cpu.hostname]) : []);
	const own = new Set(instance_rows(instance).map(thread => D.threads[thread] || {}).map(thread => (thread.host || '') + ' ' + thread.tid));
	for (const [cpu, host, thread, from, ns] of instance.cpus || []) {
		const key = host + ' ' + cpu, one = cpus.get(key) || { cpu, host, slices: [], own: 0 };
		const is_own = D.cpus.threads[thread][2] && own.has(hostnames.get(host) + ' ' + D.cpus.threads[thread][1]);
		one.slices.push({ thread, from, ns, is_own });
		one.own += is_own ? Math.min(from + ns, instance.to) - Math.max(from, instance.from) : 0;
		cpus.set(key, one);
	}
	return [...cpus.values()].sort((a, b) => b.own - a.own).slice(0, 8).sort((a, b) => a.host - b.host || a.cpu - b.cpu);
}

function slice_box(slice, x, y, height) {
	const is_traced = D.cpus.threads[slice.thread][2], left = Math.max(x(slice.from), x(x.from)), right = Math.min(x(slice.from + slice.ns), x(x.to));
	const width = Math.max(1, right - left), name = cpu_thread(slice.thread);
	return svg('g', { 'data-tip': name + (is_traced ? '' : ' (not traced)') + '\nhad the CPU for ' + ns_text(slice.ns) + ' from ' + at_text(slice.from) },
		svg('rect', { x: left, y, width, height, rx: Math.min(2, width / 2), fill: slice.is_own ? 'var(--run)' : is_traced ? 'var(--idle)' : 'url(#others)', stroke: is_traced || width < 8 ? 'none' : 'var(--take)' }),
		width > 60 && svg('text', { class: 'strong', x: left + 5, y: y + height / 2 + 4, style: slice.is_own ? 'fill:#fff' : is_traced ? null : 'paint-order:stroke;stroke:var(--panel);stroke-width:3px' }, shortened(name, Math.floor((width - 8) / 7))));
}

function cpus_of(instance, cpus, x, top, left, width) {
	return cpus.map((one, i) => svg('g', {},
		svg('text', { x: left - 10, y: top + i * 28 + 19, 'text-anchor': 'end', 'data-tip': cpu_name(D.cpus.cpus.find(other => other.host === one.host && other.number === one.cpu)) }, 'CPU ' + one.cpu),
		one.slices.map(slice => slice_box(slice, x, top + i * 28 + 6, 18)),
		svg('line', { class: 'grid', x1: left, x2: width - 8, y1: top + (i + 1) * 28, y2: top + (i + 1) * 28 })));
}

function instance_chart(instance, label) {
	const rows = instance_rows(instance), cpus = instance_cpus(instance), row_height = 40, box = 22, top = 12;
	const below = top + rows.length * row_height, height = below + (cpus.length ? 4 + cpus.length * 28 : 0) + 26, bottom = height - 24;
	return picture(height, label || 'Threads around this instance; the table below has its parts', width => {
		const left = width < 640 ? 84 : 168, x = linear(instance.from, instance.to, left, width - 8);
		const row_y = thread => {
			const at = rows.indexOf(thread);
			return at < 0 ? undefined : top + at * row_height + 6;
		};
		const begin = x(instance.begin), end = x(instance.begin + instance.ns);
		const group = svg('g', {}, svg('rect', { class: 'hit', x: left, y: top, width: width - left - 8, height: bottom - top }));
		return [patterns(),
			svg('rect', { x: begin, y: top, width: Math.max(1, end - begin), height: bottom - top, fill: 'var(--accent)', opacity: 0.05 }),
			axis_x(x, bottom, time_ticks(0, instance.to - instance.begin, Math.max(3, width / 160)).map(ns => instance.begin + ns),
				ns => ns === instance.begin ? '0' : tick_text(ns - instance.begin), bottom - top),
			rows.map((thread, i) => svg('g', {},
				svg('text', { x: left - 10, y: row_y(thread) + 15, 'text-anchor': 'end', 'data-tip': thread_text(thread) },
					shortened(thread_text(thread), left < 100 ? 10 : 24)),
				svg('line', { class: 'grid', x1: left, x2: width - 8, y1: top + (i + 1) * row_height, y2: top + (i + 1) * row_height }))),
			group,
			svg('g', { 'data-walk': '' }, instance.runs.filter(run => row_y(run[0]) !== undefined).map((run, i) => run_box(instance, run, x, row_y(run[0]), box, !i))),
			preempted_of(instance, x, row_y, box),
			waits_of(instance, x, row_y, box), arrows_of(instance, x, row_y, box),
			cpus_of(instance, cpus, x, below + 4, left, width),
			crosshair(x, top, bottom, group)];
	});
}

function instance_legend(instance) {
	return el('p', { class: 'legend' },
		el('span', {}, el('i', { class: 'bg-run' }), 'runs of this instance'),
		el('span', {}, el('i', { class: 'bg-wait' }), 'what it waited for'),
		el('span', {}, el('i', { class: 'bg-idle' }), 'other runs'),
		el('span', {}, el('i', { class: 'bg-way' }), 'from the publish call to the start'),
		instance.preempted && el('span', {}, el('i', { class: 'bg-preempted' }), 'could run, another thread had the CPU'),
		instance.cpus && instance.cpus.length && [el('span', {}, el('i', { class: 'bg-idle' }), 'on a CPU: another traced thread'), el('span', {}, el('i', { class: 'bg-others' }), 'on a CPU: a thread that is not traced')],
		instance.cpus_shortest && el('span', {}, 'on a CPU: stretches below ' + ns_text(instance.cpus_shortest) + ' are left out'),
		instance.shortest && el('span', {}, 'runs below ' + ns_text(instance.shortest) + ' are left out'));
}

// "waited for /costmap": a part of an instance in words.
function part_words(instance, part) {
	const hop = instance.hops[part.hop] || {}, before = instance.hops[part.hop - 1] || {};
	const ran = part.callback || hop.name; // what ran within the callback, or that one itself
	switch (part.kind) {
	case 'queued':
		return [hop.name, 'waited for ' + part.callback + (part.group ? ', which held its callback group' + (part.assumed ? ' (assumed)' : '') : ', which held its executor')];
	case 'transport': return [before.topic ? before.name : hop.name, 'on its way'];
	case 'dds': return [before.topic ? before.name : hop.name, 'written and read by the middleware'];
	case 'network': return [before.topic ? before.name : hop.name, 'in the network'];
	case 'cache': return [before.topic ? before.name : hop.name, 'in the cache of the reader'];
	case 'publish': return [before.topic ? before.name : hop.name, 'publishing'];
	case 'take': return [hop.name, 'being received'];
	case 'executing': return [ran, 'ran'];
	case 'late': return [hop.name, 'late, and nothing in the trace held it up'];
	case 'awaited': return [hop.name, 'awaited ' + (part.awaited || 'something')];
	case 'cached': return [hop.name, 'kept until it was published'];
	case 'preempted': return [hop.name, 'preempted by ' + (part.by || 'another thread')];
	case 'blocked': return [ran, 'blocked' + (part.call ? ' in ' + part.call + '()' : '') + (part.by ? ', woken by ' + part.by : '')];
	case 'gil': return [ran, 'waited for Python’s lock' + (part.by ? ', which ' + part.by + ' had' : '')];
	case 'page_fault': return [ran, 'in ' + part.faults + ' page faults'];
	}
	return [hop.name || '', part.kind];
}

function part_bar(instance, part) {
	const x = linear(0, instance.ns, 0, 200);
	return el('td', { style: 'width:210px' }, svg('svg', { viewBox: '0 0 200 12', height: 12, style: 'width:200px', 'aria-hidden': 'true' },
		patterns(), svg('rect', { x: 0, y: 5.5, width: 200, height: 1, fill: 'var(--line)' }),
		svg('rect', { x: x(part.begin - instance.begin), y: 0, width: Math.max(1.5, x(part.ns)), height: 12, rx: 1, fill: fill_of(part.kind) })));
}

// Of chains: what is usual for the same part.
function usual_of(entity, instance, part) {
	const chain = entity.chain, what = { executing: 'run', transport: 'transport', publish: 'publish', take: 'take', cached: 'cached', queued: 'wait', awaited: 'awaited' }[part.kind];
	// Of a run with other runs within it, what is usual is known of the whole alone.
	if (part.kind === 'executing' && instance.parts.some(other => other.kind === 'executing' && other.callback && other.hop === part.hop))
		return null;
	const segment = chain && chain.segments.find(other => other.what === what && other.step === part.hop);
	const resumed = segment && part.kind === 'executing' && chain.segments.find(other => other.what === 'resumed' && other.step === part.hop);
	if (!chain && part.kind === 'executing' && entity.duration)
		return entity.duration.p50;
	return segment ? segment.p50 + (resumed ? resumed.p50 : 0) : null;
}

function parts_table(entity, instance) {
	const columns = [
		{ key: 'name', title: 'who', value: part => part_words(instance, part)[0], cell: part => el('td', { class: 'namecell' }, name_of(part_words(instance, part)[0], 50)) },
		{ key: 'what', title: 'what', value: part => part_words(instance, part)[1], cell: part => el('td', { class: 'namecell' },
			el('i', { class: 'swatch bg-' + swatch_of(part.kind) }), name_of(part_words(instance, part)[1], 90)) },
		{ key: 'ns', title: 'time', number: true, value: part => part.ns, cell: part => ns_cell(part.ns, part.error ? 'may be wrong by ' + ns_text(part.error) : null) },
		ns_column('usual', 'usually', part => usual_of(entity, instance, part)),
		{ key: 'when', title: 'when', value: part => part.begin, cell: part => part_bar(instance, part) },
	];
	return table(columns, instance.parts, { most: 30, label: 'parts of this instance' });
}

function because_note(instance) {
	const notes = instance.because.filter(part => part.kind !== 'executing').slice().sort((a, b) => b.ns - a.ns).slice(0, 3);
	if (!notes.length)
		return null;
	return el('p', {}, 'Meanwhile ', notes.map((part, i) => [i ? '; ' : '', name_of(part.callback || '', 60), ' was ',
		part_words(instance, part)[1], ' for ' + ns_text(part.ns)]), '.');
}

// The sentence: the finding's if it is the same instance, else what took longest above the usual.
function instance_sentence(entity, instance) {
	const finding = D.findings.find(other => other.entity === entity.index && other.at === instance.begin);
	if (finding)
		return finding.cause ? entity.label + ': ' + finding.cause + '.' : finding.text;
	const distribution = entity.latency || entity.duration;
	const longest = instance.parts.slice().sort((a, b) => (b.ns - (usual_of(entity, instance, b) || 0)) - (a.ns - (usual_of(entity, instance, a) || 0)))[0];
	return entity.label + ' took ' + ns_text(instance.ns) + (distribution && entity.runs > 1 ? ', usually ' + ns_text(distribution.p50) : '') +
		(longest ? ': ' + ns_text(longest.ns) + ' of it ' + part_words(instance, longest).join(' ') : '') + '.';
}

function instance_commands(entity, instance) {
	return [entity.ask && copy_button('copy as kymo why', command('why', shell(entity.ask)), 'this instance in a terminal'),
		copy_button('open in Perfetto here', command('open', '--at ' + at_text(instance.begin).replace(' ', '')), 'copies the command that opens Perfetto at this instance')];
}

function instance_panel(entity, instance, is_part) {
	return panel(is_part ? el('h3', {}, instance.fired ? 'The one that fired' : el('a', { href: address(entity, 1) }, 'The worst one' + (steady(entity.latency || entity.duration) ? ' after start-up' : '')), ' ', el('span', { class: 'dim' }, at_text(instance.begin)))
			: el('h2', {}, ns_text(instance.ns), el('span', { class: 'dim' }, ' at ' + at_text(instance.begin))),
		instance_commands(entity, instance),
		el('p', {}, name_of(instance_sentence(entity, instance), 600)),
		D.findings.some(other => other.entity === entity.index && other.cause) ? null : because_note(instance),
		figure('', null, instance_chart(instance), instance_legend(instance)), parts_table(entity, instance));
}
