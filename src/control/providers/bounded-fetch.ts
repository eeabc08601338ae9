/**
 * `fetch` for answers of providers: a bounded body, read whole before it is parsed. Time is bounded by the signal that the library of
 * the provider passes, which also ends the reading.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { CustomFetchOptions } from 'openid-client';
import { isPublicAddress } from '../../base/net/public-address.ts';

/** Discovery documents, key sets and profiles have a few KB; the largest public key sets stay below 50. */
const MAX_BODY_BYTES = 512 * 1024;

/** Throws when the body is larger than 512 KB (counted unpacked), and what `fetch` throws. */
export async function boundedFetch(url: string, options: CustomFetchOptions | RequestInit): Promise<Response> {
  const response = await fetch(url, options as RequestInit);
  const parts: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop by the exception cancels the stream, and with it the connection.
  const body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = response.body ?? [];
  for await (const part of body) {
    size += part.length;
    if (size > MAX_BODY_BYTES) throw new TypeError(`the response of ${new URL(url).host} is larger than 512 KB`);
    parts.push(part);
  }
  const { status, statusText, headers } = response;
  return new Response(size === 0 ? null : Buffer.concat(parts), { status, statusText, headers });
}

export type Fetch = typeof boundedFetch;

/** For a provider that was typed into the dashboard, public addresses alone; for one of the settings file, any. */
export function fetchFor({ isPublic = false }: { readonly isPublic?: boolean }): Fetch {
  return isPublic ? publicFetch : boundedFetch;
}

async function publicFetch(url: string, options: CustomFetchOptions | RequestInit): Promise<Response> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host) === 0 ? await lookup(host, { all: true }) : [{ address: host }];
  if (found.every(({ address }) => isPublicAddress(address))) return boundedFetch(url, options);
  throw new Error(
    `${host} has a private address: set edge.allow_private_jwks = true, or name the provider in the settings file`,
  );
}
