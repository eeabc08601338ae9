/** `list.js`: the list of requests, newest first, and its filter. */
export const LIST_SCRIPT = String.raw`import { at, duration, make, size, statusMark, statusOf, time } from './parts.js';

const MAX_ROWS = 500;
/** By id, oldest first. */
const requests = new Map();
const rows = new Map();
const now = { chosen: undefined, isDrawing: false, severalTunnels: false, onChoose: () => {} };
const fresh = new Set();

export function whenChosen(run) { now.onChoose = run; }
export const chosenId = () => now.chosen;
export const requestOf = (id) => requests.get(id);

export function showTunnelNames(several) {
  if (several === now.severalTunnels) return;
  now.severalTunnels = several;
  for (const request of requests.values()) put(request);
  drawSoon();
}

/** All that there is, newest first. */
export function replaceAll(list) {
  requests.clear();
  rows.clear();
  for (const request of list.toReversed()) put(request);
  drawSoon();
}

export function add(request) {
  if (!requests.has(request.id)) fresh.add(request.id);
  put(request);
  while (requests.size > MAX_ROWS) {
    const [oldest] = requests.keys();
    requests.delete(oldest);
    rows.delete(oldest);
  }
  drawSoon();
}

export function choose(id) {
  rows.get(now.chosen)?.firstChild.setAttribute('aria-current', 'false');
  now.chosen = id;
  rows.get(now.chosen)?.firstChild.setAttribute('aria-current', 'true');
}

/** The request above (-1) or below (1) the chosen one among those that are shown. */
export function step(by) {
  const shown = [...at('requests').children];
  if (shown.length === 0) return;
  const place = shown.findIndex((row) => row.dataset.id === now.chosen);
  const next = shown[Math.min(shown.length - 1, Math.max(0, place + by))];
  next.firstChild.focus();
  now.onChoose(next.dataset.id);
}

function put(request) {
  requests.set(request.id, request);
  const row = rows.get(request.id) ?? make('li');
  row.dataset.id = request.id;
  const { method, path, tunnel, state, fault, duration_ms, response_size, replay_of } = request;
  const took = state === 'open' ? 'in progress' : duration(duration_ms);
  const more = [time(request.at), state === 'open' ? '' : fault ?? size(response_size), now.severalTunnels ? tunnel : '', replay_of === null ? '' : 'replay'];
  const parts = [
    statusMark(request),
    make('span', { className: 'what', title: path }, make('span', { className: 'method' }, method), ' ', path),
    make('span', { className: 'took' }, took),
    make('span', { className: 'more' }, more.filter((part) => part !== '').join(' \u00b7 ')),
  ];
  let button = row.firstChild;
  if (button === null) {
    button = make('button', { type: 'button', className: 'row' });
    button.addEventListener('click', () => now.onChoose(request.id));
    row.append(button);
  }
  button.setAttribute('aria-current', String(request.id === now.chosen));
  button.setAttribute('aria-label', method + ' ' + path + ', ' + statusOf(request).text + ', ' + (fault === null ? '' : fault + ', ') + took);
  button.replaceChildren(...parts);
  rows.set(request.id, row);
}

/** Each word must fit: a method, a status or its class, or a part of the path or the tunnel's name. */
function matcher(text) {
  const words = text.trim().split(/\s+/).filter((word) => word !== '');
  return (request) => words.every((word) => fits(word, request));
}

function fits(word, { method, path, tunnel, status, state }) {
  if (/^[1-5]xx$/i.test(word)) return String(status)[0] === word[0];
  if (/^[1-5]\d\d$/.test(word) && status === Number(word)) return true;
  if (/^[A-Z]{3,10}$/.test(word)) return method === word || path.includes(word);
  const low = word.toLowerCase();
  return path.toLowerCase().includes(low) || tunnel.toLowerCase().includes(low) || method.toLowerCase() === low || state === low || statusOf({ status, state }).text === low;
}

export function drawSoon() {
  if (now.isDrawing) return;
  now.isDrawing = true;
  requestAnimationFrame(draw);
}

function draw() {
  now.isDrawing = false;
  const matches = matcher(at('filter').value);
  const wanted = [...requests.values()].filter(matches).reverse().map(({ id }) => rows.get(id));
  const list = at('requests');
  const keep = new Set(wanted);
  for (const row of [...list.children]) if (!keep.has(row)) row.remove();
  let after = list.firstChild;
  for (const row of wanted) {
    if (row === after) after = after.nextSibling;
    else list.insertBefore(row, after);
  }
  for (const id of fresh) rows.get(id)?.firstChild.setAttribute('data-fresh', '');
  fresh.clear();
  at('empty').hidden = requests.size > 0;
  document.body.toggleAttribute('data-empty', requests.size === 0);
  at('no-match').hidden = requests.size === 0 || wanted.length > 0;
  const all = requests.size + (requests.size === 1 ? ' request' : ' requests');
  at('count').textContent = requests.size === 0 ? '' : wanted.length === requests.size ? all : wanted.length + ' of ' + all;
  at('count').hidden = requests.size === 0;
  at('clear').disabled = requests.size === 0;
}

at('filter').addEventListener('input', drawSoon);
`;
