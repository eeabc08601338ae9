/** `parts.js`: makes elements, writes numbers, asks the agent. Whatever is shown is set as text, never as markup. */
export const PARTS_SCRIPT = String.raw`export const at = (id) => document.getElementById(id);

/** An element. Properties of names with a dash are attributes; children are elements or texts. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-') || name === 'role') element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

export function duration(ms) {
  if (ms === null || ms === undefined) return '';
  if (ms < 10) return Math.max(0.1, ms).toFixed(1) + ' ms';
  return ms < 10000 ? Math.round(ms) + ' ms' : (ms / 1000).toFixed(1) + ' s';
}

export function size(bytes) {
  if (bytes < 1000) return bytes + ' B';
  if (bytes < 1e6) return (bytes / 1e3).toFixed(1) + ' kB';
  return (bytes / 1e6).toFixed(1) + ' MB';
}

export const time = (at) => new Date(at).toLocaleTimeString([], { hour12: false });

/** What the status of a request is, in a word and for its colour. */
export function statusOf({ status, state }) {
  if (status > 0 && state !== 'cut') return { text: String(status), kind: String(status)[0] };
  if (state === 'open') return { text: '\u2026', kind: 'open' };
  return { text: status > 0 ? String(status) : 'failed', kind: 'cut' };
}

export function statusMark(request) {
  const { text, kind } = statusOf(request);
  return make('span', { className: 'status', 'data-class': kind }, text);
}

/** The words are read out too, by those who have the page read to them. */
export function say(text) {
  at('said').textContent = text;
}

/** The timer that takes the notice away. */
const notice = { ends: undefined };

export function tell(id, text) {
  clearTimeout(notice.ends);
  at('problem').hidden = at('notice').hidden = true;
  if (text === undefined) return;
  at(id).textContent = text;
  at(id).hidden = false;
  if (id === 'notice') notice.ends = setTimeout(() => { at(id).hidden = true; }, 4000);
}

/** Asks the agent; throws an Error in words for people. */
export async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error('The agent does not respond. Check whether it is still running.');
  }
  const body = answer.status === 204 ? { location: answer.headers.get('location') } : await answer.json();
  if (!answer.ok) throw new Error(body.msg ?? 'The agent responded with status ' + answer.status + '.');
  return body;
}
`;
