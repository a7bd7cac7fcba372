// SPDX-License-Identifier: Apache-2.0
// Tables that sort, filter and are walked through by keys.
//   columns: { key, title, number, value(row), cell(row), hint }; a cell is a node or a text

function ns_cell(ns, note) {
	if (ns === null || ns === undefined)
		return el('td', { class: 'n' }, '–');
	const [value, unit] = ns_parts(ns);
	return el('td', { class: 'n', 'data-v': ns, title: note || (count_text(ns) + ' ns') }, value,
		  el('span', { class: 'unit' }, unit));
}

// error(row): how wrong the value may be, where it compares the clocks of two hosts.
function ns_column(key, title, value, hint, error) {
	return { key, title, number: true, value, hint, cell: row => {
		const ns = value(row), wrong = error && ns !== undefined && error(row);
		if (wrong && ns <= wrong)
			return el('td', { class: 'n', title: 'the clocks of the hosts may be wrong by ' + ns_text(wrong) }, within_text(ns, wrong));
		return ns_cell(ns, wrong ? ns_text(ns) + ', may be wrong by ' + ns_text(wrong) : null);
	} };
}

function count_column(key, title, value, hint, is_bad) {
	return { key, title, number: true, value, hint, cell: row => {
		const count = value(row);
		return el('td', { class: is_bad && count ? 'n bad' : 'n', 'data-v': count }, count_text(count));
	} };
}

function name_column(title, value, link) {
	return { key: 'name', title, value, cell: row =>
		el('td', { class: 'namecell' }, link ? el('a', { href: link(row) }, name_of(value(row), 80)) : name_of(value(row), 80)) };
}

function share_column(key, title, value) {
	return { key, title, number: true, value, cell: row => {
		const share = value(row);
		return el('td', { class: 'n' }, share === null || share === undefined ? '–' : percent_text(share));
	} };
}

// A bar on a common logarithmic axis: usually to p99, and a mark where the worst is.
function range_column(rows, value) {
	const all = rows.map(value).filter(Boolean);
	const low = Math.max(1, Math.min(...all.map(d => d.p50 || d.min || 1))), high = Math.max(...all.map(d => d.max), low * 2);
	return { key: 'range', title: 'usually … p99 … worst', value: row => (value(row) || { max: 0 }).max, cell: row => {
		const d = value(row);
		if (!d)
			return el('td', { class: 'range' });
		const x = logarithmic(low, high, 2, 148);
		return el('td', { class: 'range' }, svg('svg', { viewBox: '0 0 150 14', height: 14, role: 'img',
			'aria-label': ns_text(d.p50) + ', ' + ns_text(d.p99) + ', ' + ns_text(d.max) },
			svg('line', { x1: x(d.p50), x2: x(d.max), y1: 7, y2: 7, stroke: 'var(--faint)' }),
			svg('rect', { x: x(d.p50), y: 3, width: Math.max(2, x(d.p99) - x(d.p50)), height: 8, rx: 2, fill: 'var(--run)' }),
			svg('path', { d: 'M' + x(d.max) + ' 1v12', stroke: 'var(--ink)', 'stroke-width': 2 })));
	} };
}

function compare(a, b) {
	if (typeof a === 'string' || typeof b === 'string')
		return String(a ?? '').localeCompare(String(b ?? ''), undefined, { numeric: true });
	return (a ?? -Infinity) - (b ?? -Infinity);
}

function matches(columns, row, words) {
	const text = columns.filter(column => !column.number).map(column => String(column.value(row) ?? '')).join(' ').toLowerCase();
	return words.every(word => text.includes(word));
}

const tables_shown = new Set();

// A table of rows, by column `sort` at first, `most` rows until more are asked for. go(row): its address. note: below it.
function table(columns, rows, options) {
	const o = Object.assign({ most: 20, sort: null, go: null, label: '', note: null }, options);
	const state = { column: columns.find(column => column.key === o.sort) || null, up: false, most: o.most };
	const body = el('tbody', {}), more = el('div', { class: 'more' }), head = el('tr', {});
	const root = el('div', {}, el('div', { class: 'scroll' },
		el('table', { 'aria-label': o.label || null, class: columns.length > 11 ? 'many' : null }, el('thead', {}, head), body)), more,
		o.note && el('p', { class: 'dim small' }, o.note));
	const heads = columns.map(column => {
		const button = el('button', { type: 'button', title: column.hint || 'sort', onclick: () => {
			state.up = state.column === column ? !state.up : !column.number;
			state.column = column;
			draw();
		} }, column.title);
		const cell = el('th', { class: column.number ? 'n' : null, scope: 'col' }, button);
		head.append(cell);
		return cell;
	});
	function draw() {
		const words = search_words();
		let shown = rows.filter(row => !words.length || matches(columns, row, words));
		if (state.column)
			shown = shown.slice().sort((a, b) => (state.up ? 1 : -1) * compare(state.column.value(a), state.column.value(b)));
		columns.forEach((column, i) => {
			if (column === state.column)
				heads[i].setAttribute('aria-sort', state.up ? 'ascending' : 'descending');
			else
				heads[i].removeAttribute('aria-sort');
		});
		body.textContent = '';
		for (const row of shown.slice(0, state.most)) {
			const line = el('tr', { class: o.go ? 'goes' : null, tabindex: o.go ? 0 : null, 'data-go': o.go ? o.go(row) : null },
				columns.map(column => {
					const cell = column.cell(row);
					return cell instanceof Node && cell.nodeName === 'TD' ? cell : el('td', { class: column.number ? 'n' : null }, cell);
				}));
			body.append(line);
		}
		more.textContent = '';
		if (!shown.length)
			put(more, [empty(words.length ? 'Nothing matches “' + words.join(' ') + '”.' : 'Nothing.')]);
		if (shown.length > state.most)
			put(more, [el('button', { type: 'button', onclick: () => { state.most = Infinity; draw(); } },
				'show all ' + count_text(shown.length))]);
	}
	root.draw = draw;
	tables_shown.add(root);
	draw();
	return root;
}

function search_words() {
	const box = document.getElementById('search');
	return box ? box.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
}

function search_changed() {
	tables_shown.forEach(root => root.isConnected ? root.draw() : tables_shown.delete(root));
}
