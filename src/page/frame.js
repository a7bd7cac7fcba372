// SPDX-License-Identifier: Apache-2.0
// The frame around the views of a page: addresses, navigation, keys, theme. Each kind of page has its own
//   load()          fills D and the entities
//   sections        [address, title, draw(), count() or null] of the bar
//   hidden_views    draw(address) of addresses that are not in the bar
//   entity_pages    the kinds that have addresses; entity_view(entity, rank) draws one
//   home            of a kind of entity: the section it belongs to
//   page_name(), page_facts()

// #/kind/name?of=process&n=rank
function parse(fragment) {
	const [path, search] = fragment.replace(/^#\/?/, '').split('?');
	const words = path.split('/');
	let name = '';
	try {
		name = decodeURIComponent(words.slice(1).join('/'));
	} catch (problem) {
		name = words.slice(1).join('/');
	}
	const more = new URLSearchParams(search || '');
	return { view: words[0] || '', name, of: more.get('of'), rank: parseInt(more.get('n'), 10) || 0 };
}

function content(at) {
	const section = sections.find(other => other[0] === at.view);
	if (section && !at.name)
		return section[2]();
	if (hidden_views[at.view])
		return hidden_views[at.view](at);
	const found = byName.get(at.view + '\n' + at.name) || [];
	const entity = found.find(other => at.of === null || (other.of || '') === at.of);
	if (!entity || !entity_pages[at.view])
		return [panel(el('h2', {}, 'Not in this page'), null, empty('The page has nothing at this address.'), el('a', { href: '#/' }, 'Back to the overview'))];
	return entity_view(entity, at.rank);
}

function show(is_first) {
	const at = parse(location.hash), main = document.querySelector('main');
	main.textContent = '';
	tables_shown.clear();
	cross_lines.clear();
	tip('');
	put(main, content(at));
	const current = home[at.view] === undefined ? at.view : home[at.view];
	document.querySelectorAll('nav a').forEach(link => {
		if (link.dataset.view === current) {
			link.setAttribute('aria-current', 'page');
			link.parentNode.scrollLeft = link.offsetLeft + (link.offsetWidth - link.parentNode.clientWidth) / 2;
		} else {
			link.removeAttribute('aria-current');
		}
	});
	const title = main.querySelector('h2');
	document.title = (at.view && title ? title.textContent + ' · ' : '') + page_name() + ' · kymo';
	document.documentElement.dataset.view = location.hash;
	if (!is_first) {
		scrollTo({ top: 0, behavior: 'instant' });
		main.focus({ preventScroll: true });
	}
}

// ---- the frame ----

function set_theme(theme) {
	document.documentElement.dataset.theme = theme;
	try {
		localStorage.setItem('kymo-theme', theme);
	} catch (problem) {
		// A browser that keeps nothing for files asks the system each time.
	}
}

function first_theme() {
	let kept = null;
	try {
		kept = localStorage.getItem('kymo-theme');
	} catch (problem) {
		kept = null;
	}
	return kept || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
}

function head() {
	const search = el('input', { id: 'search', type: 'search', placeholder: 'filter tables  /', 'aria-label': 'filter the tables of this page', oninput: search_changed });
	return el('header', { class: 'bar' }, el('h1', {}, name_of(page_name(), 120)), el('p', {}, page_facts()),
		el('div', { class: 'tools' }, search,
			el('button', { type: 'button', onclick: () => set_theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'), 'aria-label': 'dark or light' }, '◐'),
			el('button', { type: 'button', onclick: () => print() }, 'print'), el('button', { type: 'button', onclick: help, 'aria-label': 'keys' }, '?')));
}

function navigation() {
	return el('nav', { 'aria-label': 'pages' }, sections.map(([view, title, , count], i) => {
		const number = count();
		return number === 0 ? null : el('a', { href: '#/' + view, 'data-view': view, title: i < 9 ? 'key ' + (i + 1) : null }, title,
			number ? el('small', {}, count_text(number)) : null);
	}));
}

function help() {
	const keys = [['/', 'filter the tables'], ['1 … 9', 'pages, in the order of the bar'], ['↑ ↓', 'rows of a table'], ['← →', 'the instances beside this one; in a chart, its parts'], ['Enter', 'open what is selected'],
		['Esc', 'clear the filter'], ['t', 'dark or light'], ['?', 'this list']];
	const box = el('dialog', { 'aria-label': 'keys' }, el('h2', {}, 'Keys'), el('dl', {}, keys.map(([key, what]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, what)])),
		el('p', { class: 'dim small' }, 'Headings sort their table. Everything that is under the pointer explains itself. The address of the page is what you see: it can be shared with the file.'),
		el('form', { method: 'dialog' }, el('button', {}, 'close')));
	box.addEventListener('close', () => box.remove());
	document.body.append(box);
	box.showModal();
}

// ---- keys ----

function move_row(step) {
	const rows = [...document.querySelectorAll('tr.goes')], at = rows.indexOf(document.activeElement);
	const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + step))];
	if (next)
		next.focus();
	return Boolean(next);
}

function move_instance(rel) {
	const link = document.querySelector('main a[rel=' + rel + ']');
	if (link)
		location.hash = link.getAttribute('href');
	return Boolean(link);
}

// In a chart, left and right go from one of its parts to the next.
function walk(step) {
	const group = document.activeElement && document.activeElement.closest('[data-walk]');
	const parts = group ? [...group.querySelectorAll('[tabindex]')] : [], next = parts[parts.indexOf(document.activeElement) + step];
	if (!next)
		return Boolean(group);
	document.activeElement.setAttribute('tabindex', -1);
	next.setAttribute('tabindex', 0);
	next.focus();
	return true;
}

function on_key(event) {
	const search = document.getElementById('search');
	if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]'))
		return;
	if (event.key === 'Escape') {
		search.value = '';
		search_changed();
		search.blur();
		return;
	}
	if (event.target === search) {
		if (event.key === 'Enter' || event.key === 'ArrowDown')
			move_row(0);
		return;
	}
	const links = [...document.querySelectorAll('nav a')];
	let done = true;
	if (event.key === '/')
		search.focus();
	else if (event.key === '?')
		help();
	else if (event.key === 't')
		set_theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
	else if (event.key >= '1' && event.key <= '9' && links[event.key - 1])
		location.hash = links[event.key - 1].getAttribute('href');
	else if (event.key === 'ArrowDown' || event.key === 'ArrowUp')
		done = move_row(event.key === 'ArrowDown' ? 1 : -1);
	else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight')
		done = walk(event.key === 'ArrowLeft' ? -1 : 1) || move_instance(event.key === 'ArrowLeft' ? 'prev' : 'next');
	else if (event.key === 'Enter' && event.target.closest('[data-go]') && !event.target.closest('a, button'))
		location.hash = event.target.closest('[data-go]').dataset.go;
	else
		done = false;
	if (done)
		event.preventDefault();
}

function on_click(event) {
	const go = event.target.closest('[data-go]');
	if (go && !event.target.closest('a, button, input') && String(getSelection()) === '')
		location.hash = go.dataset.go;
}

function on_point(event) {
	const of = event.target.closest && event.target.closest('[data-tip]');
	if (of)
		tip(of.dataset.tip, event.clientX, event.clientY);
	else
		tip('');
}

function on_focus(event) {
	const of = event.target.closest && event.target.closest('[data-tip]');
	if (!of)
		return;
	const box = of.getBoundingClientRect();
	tip(of.dataset.tip, box.left + box.width / 2, box.bottom);
}

async function start() {
	await load();
	const page = document.getElementById('page');
	page.textContent = '';
	put(page, [el('a', { href: '#main', class: 'skip', onclick: event => { event.preventDefault(); document.querySelector('main').focus(); } }, 'to the content'),
		head(), navigation(), el('main', { id: 'main', tabindex: -1 })]);
	put(document.body, [el('div', { id: 'tip', role: 'tooltip', hidden: true }), el('div', { id: 'toast', role: 'status', hidden: true })]);
	addEventListener('hashchange', () => show(false));
	addEventListener('keydown', on_key);
	addEventListener('click', on_click);
	addEventListener('pointermove', on_point);
	addEventListener('pointerdown', () => tip(''));
	addEventListener('focusin', on_focus);
	show(true);
	document.documentElement.dataset.ready = 'yes';
}

// The last script of a page calls this.
function begin() {
	document.documentElement.dataset.theme = first_theme();
	start().catch(problem => {
		document.documentElement.dataset.ready = 'failed';
		const main = document.querySelector('main');
		main.prepend(el('p', { class: 'banner' }, 'This browser cannot show the page: ' + problem.message + '. Chromium 80, Firefox 113, Safari 16.4 or newer can.'));
		console.error(problem);
	});
}
