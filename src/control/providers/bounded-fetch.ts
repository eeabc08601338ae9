/**
 * `fetch` for answers of providers: a bounded body, read whole before it is parsed. Time is bounded by the signal that the library of
 * the provider passes, which also ends the reading.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { CustomFetchOptions } from 'openid-client';
import { publicLookup } from '../../base/net/outbound/name-lookup.ts';
import { isPublicAddress } from '../../base/net/public-address.ts';

/** Discovery documents, key sets and profiles have a few KB; the largest public key sets stay below 50. */
const MAX_BODY_BYTES = 512 * 1024;

/** Throws when the body is larger than 512 KB (counted unpacked), and what `fetch` throws. */
export async function boundedFetch(url: string, options: CustomFetchOptions | RequestInit): Promise<Response> {
  const response = await fetch(url, options as RequestInit);
  // Leaving the loop by the exception cancels the stream, and with it the connection.
  const body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = response.body ?? [];
  return readWhole(url, body, response);
}

async function readWhole(
  url: string,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { status, statusText, headers }: Pick<Response, 'status' | 'statusText' | 'headers'>,
): Promise<Response> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > MAX_BODY_BYTES) throw new TypeError(`the response of ${new URL(url).host} is larger than 512 KB`);
    parts.push(part);
  }
  return new Response(size === 0 ? null : Buffer.concat(parts), { status, statusText, headers });
}

export type Fetch = typeof boundedFetch;

/** For a provider that was typed into the dashboard, public addresses alone; for one of the settings file, any. */
export function fetchFor({ isPublic = false }: { readonly isPublic?: boolean }): Fetch {
  return isPublic ? publicFetch : boundedFetch;
}

async function publicFetch(url: string, options: CustomFetchOptions | RequestInit): Promise<Response> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host))
    throw new Error(
      `${host} has a private address: set edge.allow_private_jwks = true, or name the provider in the settings file`,
    );
  return lookedUpFetch(url, options, publicLookup);
}

/** `fetch` has no lookup of its own: what one finds now, the connection may not find a moment later. Redirects are not followed. */
export async function lookedUpFetch(
  url: string,
  { signal, ...options }: CustomFetchOptions | RequestInit,
  lookup: LookupFunction,
): Promise<Response> {
  const asked = new Request(url, options as RequestInit);
  const body = Buffer.from(await asked.arrayBuffer());
  const start = new URL(url).protocol === 'http:' ? requestHttp : requestHttps;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { 'user-agent': 'Culvert', ...Object.fromEntries(asked.headers), 'content-length': body.length };
  const request = start(url, {
    method: asked.method,
    headers,
    agent: false,
    lookup,
    ...(signal === undefined || signal === null ? {} : { signal }),
  });
  request.on('response', resolve).on('error', reject).end(body);
  const response = await promise;
  const { statusCode = 0, statusMessage = '', headersDistinct } = response;
  const fields = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return readWhole(url, response, { status: statusCode, statusText: statusMessage, headers: new Headers(fields) });
}
