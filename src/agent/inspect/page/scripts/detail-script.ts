/** `detail.js`: one request with everything that is known of it. */
import { EDGE_FAULTS } from '../../../../base/codes/edge-faults.ts';

const { local_timeout: TIMEOUT, local_unreachable: UNREACHABLE } = EDGE_FAULTS;

export const DETAIL_SCRIPT = String.raw`import { forgetBodies, showBody } from './bodies.js';
import { curlCommand } from './curl.js';
import { ask, at, duration, make, say, size, statusMark, tell, time } from './parts.js';

const TIMEOUT = ${JSON.stringify(TIMEOUT)};
const UNREACHABLE = ${JSON.stringify(UNREACHABLE)};

/** What is shown, and what the page does about it. */
const now = { id: undefined, onClose: () => {}, onReplayed: () => {}, urlOf: () => undefined };

export function wire(parts) {
  Object.assign(now, parts);
}

/** Loads and shows a request. One that was chosen meanwhile wins. */
export async function showDetail(id, { focus = false } = {}) {
  now.id = id;
  let request;
  try {
    request = await ask('api/requests/http/' + encodeURIComponent(id));
  } catch (error) {
    if (now.id === id) tell('problem', error.message);
    return;
  }
  if (now.id !== id) return;
  tell();
  draw(request);
  if (focus) at('detail').focus();
}

export function hideDetail() {
  now.id = undefined;
  forgetBodies();
  at('shown').hidden = true;
  at('shown').replaceChildren();
  at('none-chosen').hidden = false;
}

/** For keys: presses the button of this name, where there is one. */
export function press(id) {
  const button = document.getElementById(id);
  if (button !== null && !button.disabled) button.click();
}

function draw(request) {
  forgetBodies();
  at('none-chosen').hidden = true;
  at('shown').hidden = false;
  at('shown').replaceChildren(
    make('h1', {}, request.method, ' ', make('span', { className: 'target' }, request.path)),
    actions(request),
    facts(request),
    ...timing(request),
    message('Request', request.request_headers, request.request_body, request.request.proto),
    ...answer(request),
  );
  at('detail').scrollTop = 0;
}

function actions(request) {
  const back = make('button', { type: 'button', id: 'back', className: 'back' }, 'Back');
  back.addEventListener('click', () => now.onClose());
  const replay = make('button', { type: 'button', id: 'replay', className: 'main', disabled: !request.can_replay }, 'Replay');
  if (!request.can_replay) replay.title = 'This request can\'t be replayed: ' + request.no_replay_because;
  replay.addEventListener('click', () => void replayNow(request, replay));
  const copy = make('button', { type: 'button', id: 'copy' }, 'Copy as curl');
  copy.addEventListener('click', () => void copyNow(request));
  return make('div', { className: 'actions' }, back, replay, copy);
}

async function replayNow(request, button) {
  button.disabled = true;
  try {
    const made = await ask('api/requests/http', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ id: request.id }),
    });
    now.onReplayed(made.location.split('/').pop());
    say('Sent again');
  } catch (error) {
    tell('problem', error.message);
  } finally {
    button.disabled = false;
  }
}

async function copyNow(request) {
  const raw = Uint8Array.fromBase64(request.request.raw);
  const kept = request.request_body.kept;
  const request_raw_body = raw.subarray(raw.length - kept).toBase64();
  const { command, left } = curlCommand({ ...request, request_raw_body }, now.urlOf(request.tunnel) ?? 'http://localhost');
  const remarks = [
    request.request_body.kept < request.request_body.size ? 'the body is incomplete' : '',
    left.length > 0 ? 'without ' + left.join(', ') : '',
  ].filter((remark) => remark !== '');
  try {
    await navigator.clipboard.writeText(command);
    tell('notice', ['Copied', ...remarks].join('; ') + '.');
    say('Copied');
  } catch {
    tell('problem', 'The browser blocked copying.');
  }
}

function facts(request) {
  const { at: when, duration_ms, first_byte_ms, request_size, response_size, remote_addr, tunnel, replay_of, state, fault } = request;
  const rows = [
    ['Status', statusMark(request)],
    ['Time', time(when)],
    ['Duration', state === 'open' ? 'in progress' : duration(duration_ms)],
    ['First byte', first_byte_ms === null ? '' : duration(first_byte_ms)],
    ['Sent', request_size > 0 ? size(request_size) : ''],
    ['Received', request.response === null || fault !== null ? '' : size(response_size)],
    ['Visitor', remote_addr],
    ['Tunnel', tunnel],
    ['Replay of', replay_of === null ? '' : replay_of.slice(0, 8)],
  ].filter(([, value]) => value !== '');
  return make('dl', { className: 'facts' }, ...rows.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))));
}

/** How much of the time the service took until its first byte. */
function timing({ duration_ms, first_byte_ms }) {
  if (duration_ms === null || first_byte_ms === null || duration_ms <= 0) return [];
  const waited = make('span', { className: 'waited' });
  const rest = make('span', { className: 'rest' });
  waited.style.width = (100 * first_byte_ms) / duration_ms + '%';
  rest.style.flexGrow = '1';
  const title = duration(first_byte_ms) + ' until the first byte, ' + duration(duration_ms - first_byte_ms) + ' for the rest';
  return [make('div', { className: 'timing', title, role: 'img', 'aria-label': title }, waited, rest)];
}

function answer(request) {
  if (request.fault !== null) {
    const { cause, fix } = request.status === TIMEOUT.status ? TIMEOUT : UNREACHABLE;
    const text = cause.slice(0, -1) + ': ' + request.fault + '. The visitor got status ' + request.status + '. ' + fix;
    return [make('p', { className: 'unreached' }, text)];
  }
  if (request.response !== null) {
    return [message('Response', request.response_headers, request.response_body, request.response.proto + ' ' + request.response.status)];
  }
  const text = request.state === 'open' ? 'No response yet.' : 'The connection closed without a response.';
  return [make('p', { className: 'quiet' }, text)];
}

function message(title, headers, body, line) {
  const rows = headers.map(([name, value]) => make('tr', {}, make('th', { scope: 'row' }, name), make('td', {}, value)));
  return make(
    'section',
    { className: 'message', 'aria-label': title },
    make('div', { className: 'head' }, make('h2', {}, title), make('span', { className: 'quiet' }, line)),
    make('table', {}, make('tbody', {}, ...rows)),
    ...showBody(body),
  );
}
`;
