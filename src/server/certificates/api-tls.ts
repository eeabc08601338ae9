/**
 * The certificate that the API's own listener shows (`api.tls`): of those that the edge has, the one for the host of `api.public_url`. Made by
 * start.ts, which tells it of every change.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { ApiListener } from '../../control/core/http/listener/listener.ts';
import type { Certificate } from './certificates.ts';

export class ApiTls {
  readonly #url: () => string;
  #certificate: Certificate | null = null;
  /** A push has a thousand pairs, of which one is new. */
  readonly #fits = new WeakMap<Certificate, boolean>();
  #listener: ApiListener | undefined;

  /** `url`: of the API; asked at each use, for a listener on port 0 learns its own late. */
  constructor(url: () => string) {
    this.#url = url;
  }

  /** Null until there is one. */
  get certificate(): Certificate | null {
    return this.#certificate;
  }

  /** Takes the edge's certificates; the first is the default. */
  use(list: readonly Certificate[]): void {
    const host = new URL(this.#url()).hostname;
    const pair = list.find((one) => this.#isFor(host, one)) ?? list[0];
    if (pair === undefined || pair === this.#certificate) return;
    this.#certificate = pair;
    this.#listener?.setCertificate(pair);
  }

  #isFor(host: string, pair: Certificate): boolean {
    const known = this.#fits.get(pair);
    if (known !== undefined) return known;
    const leaf = new X509Certificate(pair.cert);
    const fits = (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) !== undefined;
    this.#fits.set(pair, fits);
    return fits;
  }

  /** From now on the listener gets what changes. */
  show(listener: ApiListener): void {
    this.#listener = listener;
    if (this.#certificate !== null) listener.setCertificate(this.#certificate);
  }
}
