// SPDX-License-Identifier: Apache-2.0
// What all pages have: data, elements, units and commands. All text comes from traces of anybody: it is only
// ever set as text (textContent, attributes by setAttribute), never as markup.
'use strict';

// ---- the data: one object ----

let D = null;
const entities = [];
const byKind = {};
const byName = new Map();

async function unpacked() {
	const text = document.getElementById('data').textContent;
	const raw = atob(text);
	const bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
	return JSON.parse(await new Response(stream).text());
}

// An entity of the page: it has an address.
function add_entity(entity) {
	entity.index = entities.length;
	entity.label = entity.label || entity.name;
	entities.push(entity);
	(byKind[entity.kind] = byKind[entity.kind] || []).push(entity);
	const key = entity.kind + '\n' + entity.name;
	byName.set(key, (byName.get(key) || []).concat([entity]));
	return entity;
}

// ---- elements ----

function put(node, children) {
	for (const child of children) {
		if (child === null || child === undefined || child === false)
			continue;
		if (Array.isArray(child))
			put(node, child);
		else
			node.append(child instanceof Node ? child : document.createTextNode(String(child)));
	}
	return node;
}

function set(node, attributes) {
	for (const key in attributes || {}) {
		const value = attributes[key];
		if (value === null || value === undefined || value === false)
			continue;
		if (key.startsWith('on'))
			node.addEventListener(key.slice(2), value);
		else
			node.setAttribute(key, value === true ? '' : value);
	}
	return node;
}

function el(tag, attributes, ...children) {
	return put(set(document.createElement(tag), attributes), children);
}

function svg(tag, attributes, ...children) {
	return put(set(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes), children);
}

// Long names lose their middle, and have the rest in their title.
function shortened(text, most) {
	text = visible(text);
	if (text.length <= most)
		return text;
	const head = Math.ceil((most - 1) / 2);
	return text.slice(0, head) + '…' + text.slice(text.length - (most - 1 - head));
}

// Characters that terminals and browsers obey, or that reorder the text around them, are shown as what they are.
function visible(text) {
	return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
		c => '\\x' + c.codePointAt(0).toString(16).padStart(2, '0'));
}

function name_of(text, most) {
	const shown = arrows(shortened(text, most || 90));
	return el('bdi', { title: shown === arrows(text) ? null : shortened(text, 1000) }, breakable(shown));
}

// Where a narrow column may break a name: before / and after _ . : and such, not in 5 ms and 13.0 ms; within a word after 20 characters.
function breakable(text) {
	if (text.length <= 12)
		return text;
	return text.match(/\d+(?:\.\d+)? [mun]?s\b|\s+|\/*[^\s\/_.:,-]{0,20}[_.:,-]*/gu).filter(Boolean).map((piece, i) =>
		[i ? el('wbr') : null, / ./.test(piece) ? el('span', { class: 'together' }, piece) : piece]);
}

function arrows(text) {
	return text.replaceAll(' -> ', ' → ').replaceAll(' ~> ', ' ⇝ ');
}

// ---- units: as kymo's own tables have them ----

const time_units = [[1, 'ns'], [1e3, 'us'], [1e6, 'ms'], [1e9, 's'], [60e9, 'min'], [3600e9, 'h']];

function ns_parts(ns) {
	const value = Math.abs(ns);
	let i = 0;
	while (i + 1 < time_units.length && value / time_units[i + 1][0] >= 1 - 0.5e-3) {
		if (time_units[i][0] === 1e9 && value < 600e9)
			break;
		i++;
	}
	const shown = value / time_units[i][0];
	const decimals = i === 0 || shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
	return [(ns < 0 ? '-' : '') + shown.toFixed(decimals), time_units[i][1]];
}

function ns_text(ns) {
	return ns === null || ns === undefined ? '–' : ns_parts(ns).join(' ');
}

function count_text(value) {
	return value === null || value === undefined ? '–' : String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

// What is not longer than the error of two clocks is no number.
function within_text(ns, error) {
	return error && ns <= error ? '<' + ns_text(error) : ns_text(ns);
}

function percent_text(share) {
	const value = 100 * share;
	return (value >= 99.95 || value === 0 ? value.toFixed(0) : value >= 9.95 ? value.toFixed(1)
		: value.toPrecision(2)) + ' %';
}

function at_text(ns) {
	return '+' + (ns / 1e9).toFixed(3) + ' s';
}

// ---- addresses: the fragment is the view ----

function address(entity, rank) {
	const twins = byName.get(entity.kind + '\n' + entity.name) || [];
	const more = [];
	if (twins.length > 1)
		more.push('of=' + encodeURIComponent(entity.of || ''));
	if (rank !== undefined)
		more.push('n=' + rank);
	return '#/' + entity.kind + '/' + encodeURIComponent(entity.name) +
		(more.length ? '?' + more.join('&') : '');
}

function entity_link(entity, most) {
	return el('a', { href: address(entity) }, name_of(entity.label, most));
}

// ---- commands ----

function shell(text) {
	return /^[A-Za-z0-9_.\/:=@%+,-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

function sql_text(text) {
	return "'" + text.replaceAll("'", "''") + "'";
}

let toast_timer = 0;

function toast(what, text) {
	const box = document.getElementById('toast');
	box.textContent = '';
	put(box, [what, text && el('code', {}, text)]);
	box.hidden = false;
	clearTimeout(toast_timer);
	toast_timer = setTimeout(() => { box.hidden = true; }, 6000);
}

async function copy(text) {
	let copied = false;
	try {
		await navigator.clipboard.writeText(text);
		copied = true;
	} catch (problem) {
		const area = el('textarea', { 'aria-hidden': 'true' });
		area.value = text;
		document.body.append(area);
		area.select();
		copied = document.execCommand('copy');
		area.remove();
	}
	toast(copied ? 'Copied:' : 'Copy this:', text);
}

// A button that copies a command; `data-command` is what it copies. Without a command there is no button.
function copy_button(label, text, title) {
	if (!text)
		return null;
	return el('button', { class: 'quiet', type: 'button', title: title || text, 'data-command': text,
			      onclick: () => copy(text) }, label);
}

// ---- tooltips: of whatever has data-tip, by mouse and by keyboard ----

function tip(text, x, y) {
	const box = document.getElementById('tip');
	if (!text) {
		box.hidden = true;
		return;
	}
	box.textContent = visible(text);
	box.hidden = false;
	const rect = box.getBoundingClientRect();
	box.style.left = Math.max(4, Math.min(x + 14, innerWidth - rect.width - 8)) + 'px';
	box.style.top = (y + 18 + rect.height > innerHeight ? y - rect.height - 10 : y + 18) + 'px';
}

// ---- blocks ----

function panel(title, tools, ...children) {
	return el('section', { class: 'panel' },
		(title || tools) && el('header', {}, typeof title === 'string' ? el('h3', {}, title) : title,
		   tools && el('span', { class: 'right' }, tools)),
		...children);
}

function figure(title, tools, chart, legend) {
	return el('figure', {}, (title || tools) && el('figcaption', {}, typeof title === 'string' ? el('h3', {}, title) : title,
				   tools && el('span', { class: 'right' }, tools)),
		  el('div', { class: 'chart' }, chart), legend);
}

function empty(text) {
	return el('p', { class: 'empty' }, text);
}

function numbers(pairs) {
	return el('div', { class: 'numbers' }, pairs.filter(Boolean).map(([what, value, raw]) =>
		el('div', {}, el('b', { 'data-v': raw }, value), el('span', {}, what))));
}
