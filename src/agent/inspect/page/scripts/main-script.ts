/** `main.js`: joins the parts: the live feed, the keys, the address. */
export const MAIN_SCRIPT = String.raw`import { hideDetail, press, showDetail, wire } from './detail.js';
import { add, choose, chosenId, replaceAll, requestOf, showTunnelNames, step, whenChosen } from './list.js';
import { ask, at, make, tell } from './parts.js';

/** As the agent said them last. */
const told = { tunnels: [] };

function open(id, { focus = false } = {}) {
  choose(id);
  document.body.dataset.view = 'detail';
  if (location.hash !== '#' + id) history.replaceState(null, '', '#' + id);
  void showDetail(id, { focus });
}

function close() {
  const row = document.querySelector('.row[aria-current=true]');
  choose(undefined);
  document.body.dataset.view = 'list';
  history.replaceState(null, '', location.pathname);
  hideDetail();
  row?.focus();
}

whenChosen((id) => open(id, { focus: matchMedia('(max-width: 48rem)').matches }));
wire({
  onClose: close,
  onReplayed: (id) => open(id),
  urlOf: (name) => told.tunnels.find((tunnel) => tunnel.name === name)?.public_url,
});

at('clear').addEventListener('click', () => {
  ask('api/requests/http', { method: 'DELETE' }).catch((error) => tell('problem', error.message));
});

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target instanceof HTMLInputElement;
  if (event.key === 'Escape') {
    if (typing && at('filter').value !== '') {
      at('filter').value = '';
      at('filter').dispatchEvent(new Event('input'));
    } else close();
  } else if (typing && event.key !== 'ArrowDown') return;
  else if (event.key === '/') at('filter').focus();
  else if (event.key === 'ArrowDown' || event.key === 'j') {
    if (!typing && event.key === 'ArrowDown' && inDetail(event)) return;
    step(1);
  } else if (event.key === 'ArrowUp' || event.key === 'k') {
    if (event.key === 'ArrowUp' && inDetail(event)) return;
    step(-1);
  } else if (event.key === 'r') press('replay');
  else if (event.key === 'c') press('copy');
  else return;
  event.preventDefault();
});

/** There the arrows scroll. */
const inDetail = (event) => at('detail').contains(event.target);

function showFacts(facts) {
  const { tunnels } = facts;
  told.tunnels = tunnels;
  at('state').textContent = facts.cause === null || facts.state === 'online' ? facts.state : facts.state + ': ' + facts.cause;
  at('state').dataset.state = facts.state;
  showTunnelNames(tunnels.length > 1);
  at('tunnels').replaceChildren(...tunnels.map(tunnelItem));
}

function tunnelItem({ name, public_url, target, fault }) {
  const isLink = public_url !== null && /^https?:\/\//.test(public_url);
  const link = isLink ? make('a', { href: public_url, target: '_blank', rel: 'noopener noreferrer' }, public_url) : (public_url ?? name);
  const parts = [link, ' \u2192 ' + target];
  if (fault !== null) parts.push(make('span', { className: 'fault' }, ' (' + fault + ')'));
  return make('li', {}, ...parts);
}

function listen() {
  const feed = new EventSource('api/events');
  const on = (name, run) => feed.addEventListener(name, ({ data }) => run(JSON.parse(data)));
  on('facts', (facts) => {
    tell();
    showFacts(facts);
  });
  on('list', replaceAll);
  on('request', (request) => {
    const before = requestOf(request.id);
    add(request);
    if (request.id === chosenId() && before?.state === 'open') void showDetail(request.id);
  });
  on('cleared', () => {
    replaceAll([]);
    close();
  });
  feed.addEventListener('error', () => {
    at('state').textContent = 'the agent does not respond';
    at('state').dataset.state = 'away';
  });
}

document.body.dataset.view = 'list';
listen();
if (/^#[0-9a-f-]{36}$/.test(location.hash)) open(location.hash.slice(1));
addEventListener('hashchange', () => {
  if (/^#[0-9a-f-]{36}$/.test(location.hash)) open(location.hash.slice(1));
});
`;
