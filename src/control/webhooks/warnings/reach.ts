/** Whether senders can reach a receiver at all, by its address alone: no request is made. Pure. */
import { isIP, isIPv4 } from 'node:net';
import { isPublicAddress } from '../../../base/net/public-address.ts';

export const REACH_CODES = ['url_local', 'url_private', 'url_http'] as const;

export interface Warning<Code extends string> {
  readonly code: Code;
  /** For users: what is wrong, and what to do. */
  readonly message: string;
}

/** Top-level names that no public name server answers for: RFC 2606, 6761, 6762, 8375, and ICANN's `internal`. */
const PRIVATE_NAMES = /\.(local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa|test|example|invalid)$/;
const NEXT = 'Set api.public_url to an address on the internet, or send test events from here.';

/** `url`: `api.public_url`. Null: nothing is known to be wrong. */
export function reachWarning(url: string): Warning<(typeof REACH_CODES)[number]> | null {
  const { protocol, hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1' || isLoopback4(host))
    return { code: 'url_local', message: `Senders can't reach ${host}, an address of this machine. ${NEXT}` };
  if (isPrivate(host))
    return { code: 'url_private', message: `Senders on the internet can't reach the private address ${host}. ${NEXT}` };
  if (protocol === 'https:') return null;
  const who = 'Slack, Stripe, Shopify and others deliver to HTTPS only';
  return { code: 'url_http', message: `The address does not use HTTPS. ${who}. Set api.public_url to an https URL.` };
}

function isPrivate(host: string): boolean {
  if (isIP(host) !== 0) return !isPublicAddress(host);
  return !host.includes('.') || PRIVATE_NAMES.test(host);
}

function isLoopback4(host: string): boolean {
  return isIPv4(host) && host.startsWith('127.');
}
