/**
 * `fetch` for answers of providers: a bounded body, read whole before it is parsed. Time is bounded by the signal that the library of
 * the provider passes, which also ends the reading.
 */
import type { CustomFetchOptions } from 'openid-client';

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
