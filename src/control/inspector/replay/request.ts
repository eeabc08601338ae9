/**
 * What is sent when a recorded request is sent again: the head that the service got, without what the edge had put in and says anew, and with
 * what the caller changes. Called by service.ts. Names and values are bytes, one per character (latin1), as in
 * core/rules/recorded-head.ts. The edge checks the head that is made of them as it checks those of visitors.
 */
import { AppError } from '../../../base/errors.ts';
import type { InspectedRequest, TunnelRequest } from '../../../plane/inspection.ts';
import { isSecret, MASK, readHead, type ShownField, valueOf } from '../../core/rules/recorded-head.ts';

/** Changes of the caller, already well-formed; what is left out stays as it was recorded. */
export interface ReplayEdits {
  /** A standard one in any case; any other is sent as it stands here. */
  readonly method?: string | undefined;
  /** In origin form, query included. */
  readonly path?: string | undefined;
  /** By name, in any case: one value or several in place of all that there are; null: none. A new name goes to the end. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | null>> | undefined;
  readonly body?: Uint8Array | undefined;
}

/** What the request says, beside where it goes. */
export type ReplayedParts = Pick<TunnelRequest, 'method' | 'target' | 'fields' | 'body'>;

/**
 * What the edge says to the service, what frames a message, and what belongs to one connection: left out of what is sent, and not to be set.
 * `_` counts as `-`, as it does for many services.
 */
const EDGE_SAYS =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|http2-settings|proxy-.*|forwarded|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|x-cluster-client-ip|x-original-(url|host)|x-rewrite-url|culvert-(replay|visitor-email))$/;

/** Methods are case-sensitive, but one of these in lower case means the standard one. */
const STANDARD = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']);

/** May a caller not set this field? */
export function isSaidByEdge(name: string): boolean {
  return EDGE_SAYS.test(name.toLowerCase().replaceAll('_', '-'));
}

/**
 * Throws `body_truncated` (of the body only a part was kept, or sent) and `conflict` (a masked value has no replacement, or the request has
 * become a connection of another protocol). A request that the edge blocked is sent without the credentials that were not recorded.
 */
export function replayOf(record: InspectedRequest, edits: ReplayEdits): ReplayedParts {
  const { startLine, fields } = readHead(record.requestHead);
  if (record.status === 101 || valueOf(fields, 'upgrade') !== undefined)
    throw new AppError(
      'conflict',
      'A request that upgrades to another protocol (such as WebSocket) cannot be replayed. Send it again from the client.',
    );
  const parts = /^(\S+) (\S+) HTTP\/1\.[01]$/.exec(startLine);
  if (parts === null)
    throw new AppError('conflict', 'The header of this request was not recorded. Replay a newer request.');
  if (edits.body === undefined && !isWhole(record, fields))
    throw new AppError(
      'body_truncated',
      'Only part of the body was recorded. Send the whole body as `body`, or raise inspector.max_body_bytes.',
    );
  checkMasked(record, edits);
  const isBlocked = wasBlocked(record);
  const kept = fields.filter(
    ({ name, value }) => !isSaidByEdge(name) && !(isBlocked && isSecret(name) && value === ''),
  );
  return {
    method: edits.method === undefined ? (parts[1] as string) : meantMethod(edits.method),
    target: edits.path ?? (parts[2] as string),
    fields: edited(kept, edits.headers ?? {}).map(({ name, value }) => [name, value] as const),
    body: edits.body ?? record.requestBody,
  };
}

/** Did the edge block it, so that the service never got it? */
export function wasBlocked({ trace }: Pick<InspectedRequest, 'trace'>): boolean {
  return trace.outcome === 'refused';
}

/** A masked value is gone: what is sent in its place is for the caller to say. */
function checkMasked({ target, trace }: InspectedRequest, edits: ReplayEdits): void {
  const set = new Set(Object.keys(edits.headers ?? {}).map((name) => name.toLowerCase()));
  for (const { side, kind, name } of trace.masked ?? []) {
    if (side !== 'request') continue;
    if (kind === 'header' && !set.has(name) && !isSaidByEdge(name))
      throw masked(`the header ${name}`, '`headers`, or null to omit it');
    if (kind === 'query' && edits.path === undefined && isMaskedQuery(target))
      throw masked(`the query parameter ${name}`, '`path`');
    if ((kind === 'json_path' || kind === 'form') && edits.body === undefined)
      throw masked(`${name} in the body`, '`body`');
  }
}

function isMaskedQuery(target: string): boolean {
  return target.split(/[?&;]/).some((pair) => pair.endsWith(`=${MASK}`));
}

function masked(what: string, where: string): AppError {
  return new AppError(
    'conflict',
    `The value of ${what} was masked when the request was recorded, so it cannot be replayed as it was. Send a value in ${where}.`,
  );
}

function meantMethod(method: string): string {
  const capitals = method.toUpperCase();
  return STANDARD.has(capitals) ? capitals : method;
}

/** The Host of a head, its port included, if it is one of these names, given in lower case. */
export function hostAmong(names: readonly string[], requestHead: Uint8Array): string | undefined {
  const host = valueOf(readHead(requestHead).fields, 'host') ?? '';
  const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  return names.includes(name) ? host : undefined;
}

/** Why the edge gave up a request before its end. */
const BROKEN_OFF: ReadonlySet<string | null> = new Set(['request_timeout', 'bad_request']);

/** Not of a visitor that left in the middle of it; nor, where its length is known, of an answer that came before its end. */
function isWhole(record: InspectedRequest, fields: readonly ShownField[]): boolean {
  const { requestBody, requestBodyTruncated, status, trace } = record;
  const length = valueOf(fields, 'content-length');
  const isOpen = valueOf(fields, 'transfer-encoding') !== undefined;
  if (wasBlocked(record)) return !isOpen && Number(length ?? 0) === requestBody.length && !mayHaveBody(record, length);
  if (requestBodyTruncated) return false;
  if (length !== undefined) return Number(length) === requestBody.length;
  return !isOpen || !(BROKEN_OFF.has(trace.code) || (status === 0 && trace.code === null));
}

/** Over HTTP/2 a body needs no header, and that of a blocked request was not read. */
function mayHaveBody({ trace, method }: InspectedRequest, length: string | undefined): boolean {
  return trace.httpVersion === '2' && length === undefined && /^(POST|PUT|PATCH)$/.test(method);
}

/** What is set stands where the first of its name stood. */
function edited(fields: readonly ShownField[], changes: NonNullable<ReplayEdits['headers']>): ShownField[] {
  const left = new Map(Object.entries(changes).map(([name, values]) => [name.toLowerCase(), { name, values }]));
  const out: ShownField[] = [];
  const changed = new Set(left.keys());
  for (const field of fields) {
    const key = field.name.toLowerCase();
    if (!changed.has(key)) out.push(field);
    else out.push(...listed(field.name, left.get(key)?.values ?? null));
    left.delete(key);
  }
  for (const { name, values } of left.values()) out.push(...listed(name, values));
  return out;
}

function listed(name: string, values: string | readonly string[] | null): ShownField[] {
  if (values === null) return [];
  return (typeof values === 'string' ? [values] : values).map((value) => ({ name, value }));
}
