// SPDX-License-Identifier: Apache-2.0
// A flame graph: which spans or functions, inside which, took the time. The width of a frame is its time, what is
// below a frame ran inside it. A click or Enter zooms, arrows walk, the filter of the page marks names.

const flame_row = 19;
const flame_counted = { spans: 'spans', functions: 'calls', samples: 'samples' };

// Frames with the frame around each, those inside each, and where each begins.
function flame_of(what) {
	const data = (D.flames || []).find(flame => flame.what === what);
	if (!data)
		return null;
	if (data.all)
		return data;
	const open = [];
	data.all = data.frames.map(([depth, label, total, self, count], index) => {
		const around = depth ? open[depth - 1] : null;
		const frame = { index, depth, label, total, self, count, around, inside: [], begin: around ? around.next : 0, next: around ? around.next : 0 };
		if (around) {
			around.inside.push(frame);
			around.next += total;
		}
		open[depth] = frame;
		return frame;
	});
	data.rows = 1 + Math.max(...data.all.map(frame => frame.depth));
	return data;
}

function flame_hue(label) {
	let hash = 7;
	for (const c of label.split(':')[0])
		hash = (hash * 31 + c.codePointAt(0)) % 3600;
	return hash % 360;
}

// The page of a span: a label is "category:name".
function flame_entity(frame) {
	return (byName.get('span\n' + frame.label) || byName.get('loop\n' + frame.label) || [])[0];
}

function flame_words(flame, frame) {
	const of = flame_counted[flame.what];
	return frame.label + '\n' + ns_text(frame.total) + ', ' + percent_text(frame.total / flame.all[0].total) + ' of all; ' + ns_text(frame.self) + ' in itself' +
		(frame.count ? '\n' + count_text(frame.count) + ' ' + of + (frame.depth > 1 && of !== 'samples' ? ', each ' + ns_text(frame.total / frame.count) : '') : '');
}

function flame_is_marked(frame, words) {
	return words.length > 0 && words.every(word => frame.label.toLowerCase().includes(word));
}

// What share of the time the marked frames took: a frame inside a marked one does not count again.
function flame_marked_text(flame, words) {
	if (!words.length)
		return '';
	let ns = 0, found = 0;
	const visit = (frame, counted) => {
		const marked = flame_is_marked(frame, words);
		found += marked;
		if (marked && !counted)
			ns += frame.total;
		frame.inside.forEach(inner => visit(inner, counted || marked));
	};
	visit(flame.all[0], false);
	return count_text(found) + ' frames match the filter: ' + ns_text(ns) + ', ' + percent_text(ns / flame.all[0].total) + ' of the time.';
}

// The frames that are drawn when `zoom` is as wide as the picture: those around it, and those inside of half a pixel or more.
function flame_boxes(zoom, width) {
	const boxes = [], scale = width / Math.max(1, zoom.total);
	for (let around = zoom.around; around; around = around.around)
		boxes.unshift({ frame: around, x: 0, width, is_around: true });
	const visit = frame => {
		boxes.push({ frame, x: (frame.begin - zoom.begin) * scale, width: frame.total * scale });
		frame.inside.forEach(inner => inner.total * scale >= 0.5 && visit(inner));
	};
	visit(zoom);
	return boxes;
}

function flame_box(flame, state, box, words) {
	const frame = box.frame, y = frame.depth * flame_row, marked = flame_is_marked(frame, words);
	const is_name = frame.depth > 1, room = Math.floor((box.width - 8) / 6.9) - marked;
	return svg('g', { class: 'frame' + (frame === state.at ? ' at' : '') + (marked ? ' marked' : '') + (box.is_around ? ' around' : ''),
			  'data-frame': frame.index, 'data-tip': flame_words(flame, frame) },
		svg('rect', { x: box.x, y, width: Math.max(0.5, box.width - 0.6), height: flame_row - 1, rx: 2,
			      style: is_name ? '--hue:' + flame_hue(frame.label) : null, class: is_name ? 'named' : null }),
		room > 2 && svg('text', { x: box.x + 4, y: y + 13.5 }, (marked ? '▸' : '') + shortened(frame.label, room)));
}

// One graph with its state: `zoom` is as wide as the picture, `at` is what keys move.
function flame_chart(flame, begin) {
	const state = { zoom: flame.all[begin] || flame.all[0], at: flame.all[begin] || flame.all[0] };
	const said = el('p', { class: 'flame-said', 'aria-live': 'polite' }), found = el('p', { class: 'dim small' });
	const chart = picture(flame.rows * flame_row + 2, 'Flame graph; the table below has its numbers', width =>
		flame_boxes(state.zoom, width).map(box => flame_box(flame, state, box, search_words())));
	const whole = el('button', { type: 'button', class: 'quiet', onclick: () => go(flame.all[0], true) }, 'whole graph');
	function draw() {
		said.textContent = '';
		const entity = flame_entity(state.at), [name, ...facts] = flame_words(flame, state.at).split('\n');
		put(said, [el('strong', {}, name_of(name, 120)), ' ' + facts.join(' · '), entity && [' · ', el('a', { href: address(entity) }, 'its page')]]);
		found.textContent = flame_marked_text(flame, search_words());
		whole.hidden = state.zoom === flame.all[0];
		chart.redraw();
	}
	function go(frame, is_zoom) {
		if (!frame)
			return;
		state.at = frame;
		let around = frame;
		while (around && around !== state.zoom)
			around = around.around;
		if (is_zoom || !around)
			state.zoom = frame;
		if (parse(location.hash).view === 'flame') {
			history.replaceState(null, '', '#/flame/' + flame.what + (state.zoom.index ? '.' + state.zoom.index : ''));
			document.documentElement.dataset.view = location.hash;
		}
		draw();
	}
	const beside = step => {
		const all = state.at.around ? state.at.around.inside : [state.at];
		return all[all.indexOf(state.at) + step];
	};
	const widest = () => state.at.inside.reduce((best, inner) => !best || inner.total > best.total ? inner : best, null);
	const keys = { ArrowDown: () => go(widest()), ArrowUp: () => go(state.at.around), ArrowLeft: () => go(beside(-1)), ArrowRight: () => go(beside(1)),
		       Enter: () => go(state.at, true), Backspace: () => go(state.zoom.around, true), Escape: () => go(flame.all[0], true) };
	const place = el('div', { class: 'flame', tabindex: 0, role: 'group',
				  'aria-label': 'Flame graph. Arrows walk, Enter zooms, Backspace goes one out, Escape shows the whole graph.',
				  onkeydown: event => {
					  if (!keys[event.key] || event.target !== place || event.ctrlKey || event.metaKey || event.altKey)
						  return;
					  keys[event.key]();
					  event.preventDefault();
					  event.stopPropagation();
				  },
				  onclick: event => {
					  const box = event.target.closest('[data-frame]');
					  if (box)
						  go(flame.all[box.dataset.frame], true);
				  } }, chart);
	const root = el('div', { class: 'flame-figure' }, said, place, found);
	root.draw = draw;
	tables_shown.add(root);
	draw();
	return [root, whole];
}

// The same numbers as a table: each name, with its time in itself and with what ran inside.
function flame_sums(flame) {
	const sums = new Map();
	const visit = (frame, around) => {
		const name = frame.label, sum = sums.get(name) || { name, self: 0, total: 0, count: 0 };
		if (frame.depth > 1) {
			sums.set(name, sum);
			sum.self += frame.self;
			sum.count += frame.count;
			// A function that calls itself: only the outermost call.
			sum.total += around.has(name) ? 0 : frame.total;
		}
		const inner_around = around.has(name) ? around : new Set(around).add(name);
		frame.inside.forEach(inner => visit(inner, inner_around));
	};
	visit(flame.all[0], new Set());
	return [...sums.values()];
}

function flame_table(flame) {
	const all = flame.all[0].total || 1;
	return table([name_column('name', sum => sum.name), ns_column('self', 'in itself', sum => sum.self, 'without what ran inside'),
		share_column('share', 'of all', sum => sum.self / all), ns_column('total', 'with inside', sum => sum.total),
		count_column('count', flame_counted[flame.what], sum => sum.count)],
		flame_sums(flame), { most: 15, sort: 'self', label: 'flame graph of ' + flame.what });
}

const flame_titles = { spans: 'Where the time of spans went', functions: 'Where the time of functions went', samples: 'Where the CPU time of functions went' };

function flame_commands(flame) {
	if (flame.what !== 'spans')
		return copy_button('copy as kymo report', command('report', flame.what === 'samples' ? '--section functions' : '--section profile'));
	return [query_button('SELECT category || \':\' || name AS name, sum(self_ns) AS self_ns, count(*) AS count FROM spans WHERE duration_ns IS NOT NULL' + inside('begin_ns') + ' GROUP BY 1 ORDER BY 2 DESC'),
		copy_button('copy as kymo export', command('export', '--format flamegraph -o flame.svg'))];
}

function flame_panel(what, begin, is_short) {
	const flame = flame_of(what);
	if (!flame)
		return null;
	const [chart, whole] = flame_chart(flame, begin || 0);
	return panel(is_short ? el('h3', {}, el('a', { href: '#/flame/' + what }, flame_titles[what])) : el('h2', {}, flame_titles[what]), [whole, flame_commands(flame)],
		el('p', { class: 'dim small' }, 'As wide as its time; what is below a frame ran inside it. Click zooms, a click on a frame above goes back; the filter above marks names.' + (what === 'spans' ? ' Sleeps of loops are left out.' : '')),
		chart, flame.left_out ? el('p', { class: 'dim small' }, count_text(flame.left_out) + ' shorter frames are left out.') : null, is_short ? null : flame_table(flame));
}

// #/flame/spans.17: frame 17 is as wide as the picture.
function flame_page(at) {
	const [what, frame] = (at.name || '').split('.'), some = (D.flames || []).map(flame => flame.what).filter(other => !what || other === what);
	return [banner(), some.length ? some.map(one => flame_panel(one, Number(frame) || 0)) : panel(el('h2', {}, 'Flame graph'), null, empty('The trace has no spans of kymo.h and no functions.'))];
}
