/**
 * The response for an error of the edge: one code, one status, one page, one counter. The code is in the `culvert-error` header and in the
 * body. Statuses and texts: base/codes/edge-faults.ts.
 */

import { STATUS_CODES } from 'node:http';
import { EDGE_FAULTS, type FaultCode } from '../../base/codes/edge-faults.ts';
import { type FaultPage, faultPage } from './fault-page.ts';

/** Where a page leads on. */
const NEXT: Readonly<Partial<Record<FaultCode, FaultPage['next']>>> = {
  sign_in_failed: { path: '/', words: 'Open the site again' },
  sign_out: { path: '/.culvert/sign-out', words: 'Log out', posts: true },
  signed_out: { path: '/', words: 'Log in again' },
};

/** Why the edge or the policy of a tunnel refuses a request. */
export interface EdgeRefusal {
  readonly code: FaultCode;
  readonly detail?: string;
  /** Header fields that the answer has besides. */
  readonly fields?: readonly string[];
}

export interface FaultAnswer {
  readonly code: FaultCode;
  /** Words instead of the code's own message; escaped in HTML. */
  readonly detail?: string | undefined;
  /** Header fields besides. */
  readonly fields?: readonly string[] | undefined;
  readonly html: boolean;
  /** W3C trace id of the request; '' or left out: it has none. */
  readonly traceId?: string | undefined;
  /** The request was HEAD: length without body. */
  readonly head: boolean;
  readonly close: boolean;
}

/** What an answer says, in any version of HTTP: `fields` as `Name: value`. */
export interface FaultParts {
  readonly status: number;
  readonly reason: string;
  readonly fields: readonly string[];
  readonly body: Buffer;
}

export function faultParts(answer: Omit<FaultAnswer, 'head' | 'close'>): FaultParts {
  const { status, title, visitor } = EDGE_FAULTS[answer.code];
  const reason = STATUS_CODES[status] ?? '';
  const words = answer.detail ?? visitor;
  if (answer.code === 'acme_challenge') return plainParts(words);
  if (answer.code === 'webhook_challenge') return challengeParts(words);
  const body = Buffer.from(
    answer.html
      ? faultPage({ status, title, words, code: answer.code, next: NEXT[answer.code], traceId: answer.traceId })
      : `${JSON.stringify(status < 400 ? { message: words } : { error: answer.code, message: words, ...traceOf(answer) })}\n`,
  );
  const fields = [
    `Content-Type: ${answer.html ? 'text/html; charset=utf-8' : 'application/json'}`,
    `Content-Length: ${body.length}`,
    `culvert-error: ${answer.code}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    ...(answer.html ? ["Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'"] : []),
    ...(status === 503 && answer.code !== 'budget_exhausted' ? ['Retry-After: 5'] : []),
    ...(answer.fields ?? []),
  ];
  return { status, reason, fields, body };
}

function traceOf({ traceId = '' }: Pick<FaultAnswer, 'traceId'>): { readonly trace_id?: string } {
  return traceId === '' ? {} : { trace_id: traceId };
}

function plainParts(text: string): FaultParts {
  const body = Buffer.from(text);
  const fields = [
    'Content-Type: application/octet-stream',
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
  ];
  return { status: 200, reason: 'OK', fields, body };
}

/** JSON for a sender that checks the URL; one that wants no body gets none. */
function challengeParts(json: string): FaultParts {
  const body = Buffer.from(json);
  if (body.length === 0) return { status: 204, reason: 'No Content', fields: ['Cache-Control: no-store'], body };
  const fields = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Cache-Control: no-store'];
  return { status: 200, reason: 'OK', fields, body };
}

/** The whole response as bytes of HTTP/1.1. */
export function faultResponse(answer: FaultAnswer): Buffer {
  const { status, reason, fields, body } = faultParts(answer);
  const close = answer.close ? ['Connection: close'] : [];
  const head = Buffer.from([`HTTP/1.1 ${status} ${reason}`, ...fields, ...close, '', ''].join('\r\n'));
  return answer.head ? head : Buffer.concat([head, body]);
}

/** How often each fault was answered, for metrics. */
export class FaultCounters {
  readonly #counts = new Map<FaultCode, number>();

  add(code: FaultCode): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
  }

  get(code: FaultCode): number {
    return this.#counts.get(code) ?? 0;
  }

  /** All of them, those that never came with 0. */
  counts(): Readonly<Record<FaultCode, number>> {
    const codes = Object.keys(EDGE_FAULTS) as FaultCode[];
    return Object.fromEntries(codes.map((code) => [code, this.get(code)])) as Record<FaultCode, number>;
  }
}
