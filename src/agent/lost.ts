/**
 * Why an agent has no session: a stable word for scripts and a text for people, out of the error of a connect. A wrong clock and an expired
 * certificate are named as what they are. Used by connect's parts for the text and by waiting.ts for the word.
 */
import { codeOf, messageOf } from '../base/errors.ts';
import type { RefusalCode } from '../wire/messages.ts';
import { ProxyError } from '../base/net/outbound/proxy.ts';
import { CaptivePortalError } from './connect/captive-portal.ts';
import { UnreachableError } from './connect/reachability.ts';

export type LostCode =
  | RefusalCode // the server said it
  | 'connection_lost' // without a word
  | 'unreachable'
  | 'name_not_found'
  | 'certificate_expired' // by this computer's clock
  | 'certificate_not_yet_valid' // by this computer's clock
  | 'certificate_refused' // another name, or no authority that is trusted here
  | 'clock_differs' // the server calls a key expired that is not by this computer's clock
  | 'proxy_refused' // by the proxy on the way
  | 'captive_portal' // the network wants a login first
  | 'connect_failed';

export interface Lost {
  readonly code: LostCode;
  readonly message: string;
}

/** The longest chain of causes that is looked at. */
const MAX_CAUSES = 5;
const NO_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME']);
/** Node's names for what OpenSSL finds wrong with a chain, besides its dates. */
const REFUSED = /^(?:ERR_TLS_CERT_ALTNAME_INVALID|CERT_\w+|\w*SELF_SIGNED_CERT\w*|UNABLE_TO_(?:GET|VERIFY)_\w+)$/;

/** What the error of a connect was about. */
export function lostBy(error: unknown): Lost {
  return { code: lostCode(error), message: messageOf(error) };
}

function lostCode(error: unknown): LostCode {
  if (error instanceof CaptivePortalError) return 'captive_portal';
  if (error instanceof ProxyError) return 'proxy_refused';
  for (const code of codesOf(error)) {
    if (code === 'CERT_HAS_EXPIRED') return 'certificate_expired';
    if (code === 'CERT_NOT_YET_VALID') return 'certificate_not_yet_valid';
    if (REFUSED.test(code)) return 'certificate_refused';
    if (NO_NAME.has(code)) return 'name_not_found';
  }
  return error instanceof UnreachableError ? 'unreachable' : 'connect_failed';
}

function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  let at = error;
  for (let depth = 0; depth < MAX_CAUSES && at instanceof Error; depth++, at = at.cause) {
    const code = codeOf(at);
    if (code !== undefined) codes.push(code);
  }
  return codes;
}

/** Why a connection failed, in words; for the dates of a certificate it gives the clock that was used. */
export function connectFault(cause: unknown, nowMs: number): string {
  const clock = `this computer's clock (${clockText(nowMs)})`;
  switch (codeOf(cause)) {
    case 'CERT_HAS_EXPIRED':
      return `the server's certificate has expired according to ${clock}. Set the clock if it is wrong. If it is right, renew the certificate`;
    case 'CERT_NOT_YET_VALID':
      return `the server's certificate is not valid yet according to ${clock}. Set the clock if it is wrong. If it is right, replace the certificate`;
    default:
      return messageOf(cause);
  }
}

/** `2031-01-01 10:00 UTC`. */
export function clockText(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
