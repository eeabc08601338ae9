/** The response to a GET, through the proxy that leads to its host. Used by source.ts. */
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import { addAbortSignal } from 'node:stream';
import type { Outbound } from '../net/outbound/outbound.ts';

const MAX_REDIRECTS = 5;

export interface DownloadMeans {
  readonly outbound: Outbound;
  /** Ends the request, and the body as well. */
  readonly signal: AbortSignal;
}

/** Follows redirects, but none from TLS to plain text. @throws Error for another status than 200, and when there is no response. */
export async function download(from: string, { outbound, signal }: DownloadMeans): Promise<IncomingMessage> {
  let url = new URL(from);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const get = url.protocol === 'https:' ? httpsGet : httpGet;
    const agent = outbound.newAgent(url.protocol);
    const asked = get(url, { agent, signal, headers: { 'accept-encoding': 'identity' } });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    asked.on('error', () => undefined); // from here on the response reports it
    const { statusCode: status = 0, headers } = response;
    if (status === 200) return addAbortSignal(signal, response);
    response.destroy();
    if (status < 301 || status > 308 || headers.location === undefined) throw new Error(`the response is ${status}`);
    const next = new URL(headers.location, url);
    if (!/^https?:$/.test(next.protocol) || (url.protocol === 'https:' && next.protocol !== 'https:')) {
      throw new Error(`${url.host} redirects to ${next.protocol}//`);
    }
    url = next;
  }
  throw new Error('too many redirects');
}
