/**
 * Names of hosts that a stranger has chosen, looked up without a thread: `dns.lookup` waits for one of the pool that the whole process shares, and a
 * name server that does not answer held all of them. The connection itself looks up by this, so that what was checked is what is connected to.
 */
import { type LookupAddress, lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../public-address.ts';

const TIMEOUT_MS = 1_500;
const TRIES = 2;

/** Public addresses alone: an address that a name has a moment later gains nothing. */
export const publicLookup: LookupFunction = (host, options, callback) => {
  addressesOf(host).then(
    (found) => {
      const allowed = found.filter(({ address }) => isPublicAddress(address));
      if (allowed.length === 0) callback(notPublic(host), '');
      else answer(allowed, options, callback);
    },
    (error: NodeJS.ErrnoException) => callback(error, ''),
  );
};

/** Any address; what no name server knows may stand in the machine's own list of hosts. */
export const anyLookup: LookupFunction = (host, options, callback) => {
  addressesOf(host).then(
    (found) => answer(found, options, callback),
    () => lookup(host, options, callback),
  );
};

export function notPublic(host: string): Error {
  return new Error(`${host} is not a public address, and edge.allow_private_jwks is not set`);
}

/** IPv4 first: not every server has a way to the other. Rejects when there is none of either kind. */
async function addressesOf(host: string): Promise<LookupAddress[]> {
  // RFC 6761 §6.3: no name server is asked for it.
  if (/^(.+\.)?localhost\.?$/i.test(host)) return [{ address: '127.0.0.1', family: 4 }];
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = [
    ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 })),
    ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 })),
  ];
  if (found.length > 0) return found;
  throw four.status === 'rejected' ? four.reason : new Error(`${host} can't be resolved`);
}

function answer(
  found: readonly LookupAddress[],
  { all }: { all?: boolean | undefined },
  callback: Parameters<LookupFunction>[2],
): void {
  const [first] = found;
  if (all === true) callback(null, [...found]);
  else if (first !== undefined) callback(null, first.address, first.family);
}
