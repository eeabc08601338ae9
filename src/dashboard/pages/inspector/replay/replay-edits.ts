/** Replay without its form: why it is not possible, the edited request, and its line ends. Pure: tested without a browser. */
import type { Schemas } from '../../../api/types.ts';
import { base64Of, bytesOf, textOf } from '../body/bytes.ts';
import type { Detail } from '../messages.ts';

/** A request that is sent again: what of it can be changed, as text for a form, and the changes as the API takes them. */
interface Draft {
  readonly method: string;
  readonly path: string;
  /** `Name: value`, one a line. */
  readonly headers: string;
  /** Undefined: it is no text, and goes as it was. */
  readonly body: string | undefined;
}

type Edits = Schemas['ReplayEdits'];

/** What the edge itself says to the service, and what frames a message: never sent as it was recorded. As the server has it. */
const EDGE_SAYS =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|http2-settings|proxy-.*|forwarded|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|x-cluster-client-ip|x-original-(url|host)|x-rewrite-url|culvert-(replay|visitor-email))$/;

/**
 * Is the body not, or not all, in the record? Of a request that the edge blocked none is: it had one when its head says so, and over HTTP/2 it may have
 * had one without a word about it.
 */
export function lacksBody(detail: Detail): boolean {
  if (detail.outcome !== 'refused') return detail.request_body_truncated;
  const { method, http_version: version, request_headers: headers } = detail;
  const length = Object.hasOwn(headers, 'content-length') ? headers['content-length'] : undefined;
  if (Object.hasOwn(headers, 'transfer-encoding')) return true;
  if (length !== undefined) return Number(length) !== bytesOf(detail.request_body).length;
  return version === '2' && /^(POST|PUT|PATCH)$/.test(method);
}

export function draftOf(detail: Detail): Draft {
  const body = lacksBody(detail) ? '' : textOf(bytesOf(detail.request_body));
  return {
    method: detail.method,
    path: detail.path,
    headers: ownFields(detail)
      .map(({ name, value }) => `${name}: ${value}`)
      .join('\n'),
    body,
  };
}

/** Only what differs from what was recorded. */
export function editsOf(detail: Detail, draft: Draft): Edits {
  const first = draftOf(detail);
  const headers = draft.headers === first.headers ? undefined : changedHeaders(detail, draft.headers);
  const body = otherBody(draft.body, first.body);
  return {
    ...(draft.method.trim() === first.method ? {} : { method: draft.method.trim() }),
    ...(draft.path.trim() === first.path ? {} : { path: draft.path.trim() }),
    ...(headers === undefined || Object.keys(headers).length === 0 ? {} : { headers }),
    ...(body === undefined ? {} : { body: base64Of(new TextEncoder().encode(body)) }),
  };
}

/** Undefined: it was not changed. So is a part that was left empty: the server says then that it has not the whole one. */
function otherBody(typed: string | undefined, first: string | undefined): string | undefined {
  if (typed === undefined || first === undefined || asTyped(typed) === asTyped(first)) return undefined;
  return withLineEnds(typed, first);
}

/** The line that is no header, or undefined: all are. */
export function brokenLine(headers: string): string | undefined {
  return headers.split('\n').find((line) => line.trim() !== '' && !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+:/.test(line));
}

function ownFields({ request_header_list: fields }: Detail) {
  return fields.filter(({ name }) => !EDGE_SAYS.test(name.toLowerCase().replaceAll('_', '-')));
}

function changedHeaders(detail: Detail, text: string): NonNullable<Edits['headers']> {
  const before = grouped(ownFields(detail));
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const after = grouped(
    lines.map((line) => {
      const at = line.indexOf(':');
      return { name: line.slice(0, at), value: line.slice(at + 1).trim() };
    }),
  );
  const changes = new Map<string, string[] | null>();
  for (const [name, values] of after) if (before.get(name)?.join('\n') !== values.join('\n')) changes.set(name, values);
  for (const name of before.keys()) if (!after.has(name)) changes.set(name, null);
  return Object.fromEntries(changes);
}

function grouped(fields: ReadonlyArray<{ readonly name: string; readonly value: string }>): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { name, value } of fields) {
    const key = name.toLowerCase();
    const values = groups.get(key);
    if (values === undefined) groups.set(key, [value]);
    else values.push(value);
  }
  return groups;
}

/** Line ends as a text area gives them back: it knows LF alone, and a multipart body with that is broken for its service. */
function asTyped(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

/** `typed` with the ends that its lines have in `first`; lines that were changed take those of the lines whose place they have. */
function withLineEnds(typed: string, first: string): string {
  if (!first.includes('\r')) return typed;
  const old = linesOf(first);
  const lines = asTyped(typed).split('\n');
  const most = Math.min(old.length, lines.length);
  let above = 0;
  while (above < most && old[above]?.line === lines[above]) above++;
  let below = 0;
  while (below < most - above && old.at(-1 - below)?.line === lines.at(-1 - below)) below++;
  const lastChanged = old.length - below - 1;
  const placeOf = (at: number): number => {
    if (at < above) return at;
    const fromEnd = lines.length - at;
    return fromEnd <= below + 1 ? old.length - fromEnd : Math.min(at, lastChanged);
  };
  const endOf = (at: number): string => (at === lines.length - 1 ? '' : old[placeOf(at)]?.end || '\r\n');
  return lines.map((line, at) => line + endOf(at)).join('');
}

function linesOf(text: string): ReadonlyArray<{ readonly line: string; readonly end: string }> {
  // Line, end, line, end, …, line
  const pieces = text.split(/(\r\n|\r|\n)/);
  return pieces.flatMap((line, at) => (at % 2 === 0 ? { line, end: pieces[at + 1] ?? '' } : []));
}

/** Undefined: they can, as far as is known. `recording`: undefined while it is asked for. */
export function noReplay(recording: Schemas['Recording'] | undefined, tunnelId: string): string | undefined {
  if (recording === undefined) return undefined;
  if (!recording.replay) return 'Replay is off on this server. Its operator can turn it on: inspector.replay = true.';
  if (recording.replay_tunnels === null || recording.replay_tunnels.includes(tunnelId)) return undefined;
  return 'Replay is not allowed for this tunnel. The operator of this server can add its ID to inspector.replay_allow.';
}
