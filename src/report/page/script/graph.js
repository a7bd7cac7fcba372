// SPDX-License-Identifier: Apache-2.0
// What talks to what: nodes in layers from left to right, topics as lines between them. The line is
// as wide as the rate, as dark as the latency, and dashed where messages were lost.

const graph_most = 80;

// The nodes that are drawn: those that match the filter, and of too many those with the slowest topics.
function graph_choice(model) {
	const words = search_words(), harm = new Map();
	for (const line of model.lines)
		for (const node of [line.from, line.to])
			harm.set(node, Math.max(harm.get(node) || 0, ...line.topics.map(index => (entities[index].latency || { max: 0 }).max + 1e9 * lost_of(entities[index]))));
	const fits = node => !words.length || words.every(word => D.graph.nodes[node].name.toLowerCase().includes(word));
	const near = new Set(model.nodes.filter(fits));
	if (words.length)
		model.lines.filter(line => near.has(line.from) || near.has(line.to)).forEach(line => near.add(line.from).add(line.to));
	const chosen = new Set([...near].sort((a, b) => harm.get(b) - harm.get(a)).slice(0, graph_most));
	return { nodes: model.nodes.filter(node => chosen.has(node)), lines: model.lines.filter(line => chosen.has(line.from) && chosen.has(line.to)), all: model.nodes.length };
}

function graph_model() {
	const shown = new Map(), lines = new Map(), publishers = new Map();
	const topics = index => entities[index];
	for (const [topic, node] of D.graph.publishers)
		if (!topics(topic).startup && topics(topic).published)
			publishers.set(topic, (publishers.get(topic) || new Set()).add(node));
	for (const [topic, node] of D.graph.subscriptions) {
		for (const from of publishers.get(topic) || []) {
			const key = from + ' ' + node;
			lines.set(key, lines.get(key) || { from, to: node, topics: [] });
			if (!lines.get(key).topics.includes(topic))
				lines.get(key).topics.push(topic);
			shown.set(from, true).set(node, true);
		}
	}
	return { nodes: [...shown.keys()].sort((a, b) => a - b), lines: [...lines.values()] };
}

// Layers: the longest way from a node that receives nothing, without going around in circles.
function graph_layers(model) {
	const out = new Map(model.nodes.map(node => [node, []])), layer = new Map(), state = new Map(), back = new Set();
	model.lines.forEach(line => line.from !== line.to && out.get(line.from).push(line));
	const order = [];
	const visit = node => {
		state.set(node, 1);
		for (const line of out.get(node)) {
			if (state.get(line.to) === 1)
				back.add(line);
			else if (!state.has(line.to))
				visit(line.to);
		}
		state.set(node, 2);
		order.unshift(node);
	};
	const fed = new Set(model.lines.map(line => line.to));
	model.nodes.filter(node => !fed.has(node)).concat(model.nodes).forEach(node => state.has(node) || visit(node));
	model.nodes.forEach(node => layer.set(node, 0));
	for (const node of order)
		for (const line of out.get(node))
			if (!back.has(line))
				layer.set(line.to, Math.max(layer.get(line.to), layer.get(node) + 1));
	const layers = [];
	order.forEach(node => (layers[layer.get(node)] = layers[layer.get(node)] || []).push(node));
	untangle(layers, model.lines, layer);
	return { layers, back };
}

// A few sweeps: each node as near as possible to the middle of its neighbours.
function untangle(layers, lines, layer) {
	const place = new Map();
	const number = () => layers.forEach(nodes => nodes.forEach((node, i) => place.set(node, (i + 0.5) / nodes.length)));
	number();
	for (let sweep = 0; sweep < 8; sweep++) {
		for (const nodes of sweep % 2 ? layers.slice().reverse() : layers) {
			const middle = new Map(nodes.map(node => {
				const near = lines.filter(line => line.from === node || line.to === node)
					.map(line => place.get(line.from === node ? line.to : line.from));
				return [node, near.length ? near.reduce((a, b) => a + b, 0) / near.length : place.get(node)];
			}));
			nodes.sort((a, b) => middle.get(a) - middle.get(b));
			number();
		}
	}
	return layer;
}

function graph_rate(topic) {
	const seconds = ((topic.last || 0) - (topic.first || 0)) / 1e9;
	return seconds > 0 ? (topic.published - 1) / seconds : 0;
}

function lost_of(topic) {
	return (topic.never_received || 0) + (topic.overwritten || 0);
}

// Is there room for a text of this length? Boxes and other texts are not covered; the text without room is in the tooltip.
function graph_room(taken, text, x, y) {
	const one = { x: x - 3.2 * text.length, y: y - 11, width: 6.4 * text.length, height: 14 };
	if (taken.some(other => other.x < one.x + one.width && one.x < other.x + other.width && other.y < one.y + one.height && one.y < other.y + other.height))
		return false;
	taken.push(one);
	return true;
}

function graph_line(line, from, to, most_rate, most_p99, is_back, taken) {
	const topics = line.topics.map(index => entities[index]);
	const rate = Math.max(...topics.map(graph_rate)), p99 = Math.max(...topics.map(topic => topic.latency ? topic.latency.p99 : 0));
	const lost = topics.some(lost_of), width = 1.2 + 5 * Math.sqrt(rate / (most_rate || 1));
	const heat = most_p99 > 1 && p99 > 0 ? Math.log(Math.max(p99, 1e4) / 1e4) / Math.log(Math.max(most_p99, 2e4) / 1e4) : 0;
	const x1 = from.x + from.width, y1 = from.y + 17, x2 = to.x, y2 = to.y + 17, bend = Math.max(40, Math.abs(x2 - x1) / 2);
	const low = Math.max(y1, y2) + 46, label_y = is_back ? low - 16 : (y1 + y2) / 2 - 6;
	const d = is_back ? 'M' + x1 + ' ' + y1 + 'C' + (x1 + 60) + ' ' + low + ' ' + (x2 - 60) + ' ' + low + ' ' + x2 + ' ' + y2
		: 'M' + x1 + ' ' + y1 + 'C' + (x1 + bend) + ' ' + y1 + ' ' + (x2 - bend) + ' ' + y2 + ' ' + x2 + ' ' + y2;
	const text = topics.map(topic => topic.name + ': ' + graph_rate(topic).toPrecision(3) + ' Hz' +
		(topic.latency ? ', usually ' + ns_text(topic.latency.p50) + ', p99 ' + ns_text(topic.latency.p99) : '') +
		(lost_of(topic) ? ', ' + count_text(lost_of(topic)) + ' never received' : '')).join('\n');
	const label = shortened(topics[0].name, 22) + (topics.length > 1 ? ' +' + (topics.length - 1) : '');
	return svg('g', { 'data-tip': text, 'data-go': address(topics[0]), style: 'cursor:pointer', tabindex: 0, role: 'link', 'aria-label': text },
		svg('path', { d, fill: 'none', stroke: 'transparent', 'stroke-width': 14 }),
		svg('path', { d, fill: 'none', stroke: lost ? 'var(--bad)' : 'rgba(var(--heat), ' + (0.3 + 0.7 * heat).toFixed(2) + ')', 'stroke-width': width,
			      'stroke-dasharray': lost ? '7 5' : null, 'marker-end': 'url(#tip-of-line)' }),
		graph_room(taken, label, (x1 + x2) / 2, label_y) && svg('text', { x: (x1 + x2) / 2, y: label_y, 'text-anchor': 'middle',
			      style: 'paint-order:stroke;stroke:var(--panel);stroke-width:4px' }, label));
}

// Of one of several nodes of one name at the same time, also the pid.
function node_process(node) {
	return node.process + (twin_processes().has(node.pid + ' ' + (node.host || '')) && D.graph.nodes.some(other => other !== node && other.name === node.name) ? ' ' + node.pid : '');
}

function node_label(node) {
	return node.name + (node_process(node) === node.process ? '' : ' (' + node_process(node) + ')');
}

function graph_node(node, box) {
	const own = of_kind('callback', true).filter(entity => (entity.name === node.name || entity.name.startsWith(node.name + ' ')) && is_of_process(entity, node));
	const worst = own.slice().sort((a, b) => ((b.duration || {}).max || 0) - ((a.duration || {}).max || 0))[0];
	const text = node.name + '\nprocess ' + node.process + ' ' + node.pid + (node.host ? ' on ' + node.host : '') +
		own.map(entity => '\n' + entity.label + ': p99 ' + ns_text((entity.duration || {}).p99)).slice(0, 8).join('');
	return svg('g', { 'data-tip': text, 'data-go': worst ? address(worst) : null, style: 'cursor:pointer', tabindex: 0, role: 'link', 'aria-label': text },
		svg('rect', { x: box.x, y: box.y, width: box.width, height: 34, rx: 7, fill: 'var(--panel)', stroke: 'var(--faint)' }),
		svg('text', { class: 'strong', x: box.x + box.width / 2, y: box.y + 15, 'text-anchor': 'middle' }, shortened(node.name, Math.floor(box.width / 7.6))),
		svg('text', { x: box.x + box.width / 2, y: box.y + 28, 'text-anchor': 'middle', style: 'font-size:10.5px' }, shortened(node_process(node), Math.floor(box.width / 6.4))));
}

function graph_chart() {
	const model = graph_choice(graph_model());
	if (!model.nodes.length)
		return empty(model.all ? 'No node matches the filter.' : 'No node of the trace publishes what another one receives.');
	const { layers, back } = graph_layers(model), rows = Math.max(...layers.map(nodes => nodes.length));
	const height = Math.max(200, rows * 84 + 40);
	const topics = model.lines.flatMap(line => line.topics).map(index => entities[index]);
	const most_rate = Math.max(...topics.map(graph_rate)), most_p99 = Math.max(...topics.map(topic => topic.latency ? topic.latency.p99 : 0));
	const chart = picture(height, 'Nodes and the topics between them', width => {
		const inner = Math.max(width, layers.length * 210), step = layers.length > 1 ? (inner - 170) / (layers.length - 1) : 0;
		const boxes = new Map();
		layers.forEach((nodes, i) => nodes.forEach((node, k) => boxes.set(node, {
			x: layers.length > 1 ? i * step : inner / 2 - 85, width: Math.min(170, Math.max(110, step - 70 || 170)),
			y: 10 + (k + 0.5) * (height - 40) / nodes.length - 17 })));
		const taken = [...boxes.values()].map(box => ({ x: box.x, y: box.y, width: box.width, height: 34 }));
		return svg('svg', { x: 0, y: 0, width, height, viewBox: '0 0 ' + inner + ' ' + height, preserveAspectRatio: 'xMinYMid meet' },
			svg('defs', {}, svg('marker', { id: 'tip-of-line', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, orient: 'auto', markerUnits: 'userSpaceOnUse' },
				svg('path', { d: 'M0 0L8 4L0 8z', fill: 'var(--faint)' }))),
			model.lines.filter(line => line.from !== line.to).map(line =>
				graph_line(line, boxes.get(line.from), boxes.get(line.to), most_rate, most_p99, back.has(line), taken)),
			model.nodes.map(node => graph_node(D.graph.nodes[node], boxes.get(node))));
	});
	chart.style.minWidth = layers.length * 150 + 'px';
	return figure('', copy_button('copy as kymo export', command('export', '--format svg -o graph.svg')), el('div', { class: 'scroll' }, chart),
		el('p', { class: 'dim small' }, model.all > model.nodes.length ? count_text(model.nodes.length) + ' of ' + count_text(model.all) + ' nodes, those with the slowest topics; the filter above chooses others. ' : '', 'Lines are as wide as the rate and as strong in colour as p99 of the latency; dashed and red: messages were never received. Click goes to the topic, or to the slowest callback of the node.'));
}
