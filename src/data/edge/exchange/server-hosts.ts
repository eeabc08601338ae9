/**
 * Hosts at the edge that are the server's own and no tunnel's: of the API, and the bare domain, which leads there. TLS connections that name one
 * go to the API (api-relay.ts). What comes another way is answered here. Asked by dispatch.ts behind the routing table, so that a request for a
 * tunnel pays nothing for it.
 */
import type { Head } from '../../../http1/head.ts';
import type { EdgeRefusal } from '../../faults/fault.ts';
import type { Exchange } from './exchange.ts';
import { withoutPort } from './forwarded.ts';
import { HttpsRedirect } from './https-redirect.ts';

const MISDIRECTED: EdgeRefusal = {
  code: 'misdirected_request',
  detail: 'This host is served on connections of its own. Open a new one whose TLS server name is this host.',
};

export class ServerHosts {
  readonly #hosts: ReadonlySet<string>;
  readonly #toHttps: HttpsRedirect;

  /** `hosts`: lower case. `httpsPort`: of the API's public URL. */
  constructor(hosts: readonly string[], httpsPort: number) {
    this.#hosts = new Set(hosts);
    this.#toHttps = new HttpsRedirect(() => httpsPort);
  }

  /** `host`: a TLS server name, or a Host with or without port. */
  has(host: string): boolean {
    return this.#hosts.has(plain(withoutPort(host)));
  }

  /** Of a request that no tunnel takes; null: the host is none of the server's. */
  refusal(
    bytes: Buffer,
    head: Head,
    { exchange, isHttps }: { exchange: Exchange; isHttps: boolean },
  ): EdgeRefusal | null {
    if (!this.has(bytes.toString('latin1', head.hostStart, head.hostEnd))) return null;
    return isHttps ? MISDIRECTED : this.#toHttps.refusal(bytes, head, exchange);
  }
}

function plain(name: string): string {
  const lower = name.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return lower.endsWith('.') ? lower.slice(0, -1) : lower;
}
