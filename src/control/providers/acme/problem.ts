/** What an authority says when it refuses (RFC 8555 §6.7, RFC 9457), made into one line that a person may read and an API may show. */
import type { IncomingHttpHeaders } from 'node:http';
import { AcmeError } from './contract.ts';

const PREFIX = 'urn:ietf:params:acme:error:';
/** Authorities quote what they saw at the name, which is untrusted text. */
const MAX_DETAIL = 400;
const MAX_SUBPROBLEMS = 5;
const MAX_RETRY_AFTER_MS = 7 * 24 * 3_600_000;

/** Without control and invisible characters, and cut. */
export function oneLine(text: string, max = MAX_DETAIL): string {
  const plain = text
    .slice(0, max * 4)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return (plain.length > max ? `${plain.slice(0, max)}…` : plain).toWellFormed();
}

export interface Problem {
  /** Without the prefix; undefined when it is no problem of ACME. */
  readonly code: string | undefined;
  readonly text: string;
}

/** Reads a problem document or the `error` of a challenge; undefined when it is neither. */
export function readProblem(value: unknown): Problem | undefined {
  if (!isRecord(value)) return undefined;
  const { type, detail, subproblems } = value;
  const code = typeof type === 'string' && type.startsWith(PREFIX) ? type.slice(PREFIX.length) : undefined;
  const parts = [typeof detail === 'string' ? oneLine(detail) : ''];
  for (const sub of Array.isArray(subproblems) ? subproblems.slice(0, MAX_SUBPROBLEMS) : []) {
    const found = isRecord(sub) && typeof sub['detail'] === 'string' ? oneLine(sub['detail']) : '';
    const name = isRecord(sub) && isRecord(sub['identifier']) ? sub['identifier']['value'] : undefined;
    if (found !== '') parts.push(typeof name === 'string' ? `${oneLine(name)}: ${found}` : found);
  }
  const text = oneLine(parts.filter((part) => part !== '').join('; '));
  if (code === undefined && text === '') return undefined;
  return { code: code !== undefined && /^[a-zA-Z]{1,40}$/.test(code) ? code : undefined, text };
}

/** Retry-After, seconds or a date, as ms from now; at most a week. Null when there is none. */
export function retryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | null {
  const value = headers['retry-after'];
  if (value === undefined) return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

export interface Refusal {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The error of an answer whose status says that it is one. */
export function refusalOf(reply: Refusal, nowMs: number): AcmeError {
  const problem = readProblem(parseJson(reply.body));
  const { host } = new URL(reply.url);
  const said = problem?.text === undefined || problem.text === '' ? `status ${reply.status}` : problem.text;
  return new AcmeError(problem?.code ?? 'bad_answer', `${host} refused: ${said}`, {
    retryAfterMs: retryAfterMs(reply.headers, nowMs),
  });
}

/** Undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
