/**
 * TXT records of the DNS: proof of a domain's owner. Asks the resolvers of the settings, or those of the system.
 */
import { Resolver } from 'node:dns/promises';
import { AppError, codeOf } from '../../base/errors.ts';

export interface TxtRecords {
  /** Every TXT record of the name, each in one piece; empty when there is none. Throws `unavailable` when the DNS does not say. */
  lookUp(name: string): Promise<readonly string[]>;
}

/** Of one question to one server. */
const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** Of a lookup as a whole, however many servers are asked. Under the time that a browser or a proxy waits for an answer of the API. */
const DEADLINE_MS = 8_000;

/** What the DNS says when there is no such record: no such name (NXDOMAIN), or none of that type. */
const NO_RECORD: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA']);

export class DnsTxtRecords implements TxtRecords {
  readonly #servers: readonly string[];

  /** `servers`: `IP` or `IP:port`, asked in order; empty: the system's. */
  constructor(servers: readonly string[]) {
    this.#servers = servers;
  }

  async lookUp(name: string): Promise<readonly string[]> {
    // One per lookup, so that giving up ends this one alone; and a change of the system's resolvers needs no restart.
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (this.#servers.length > 0) resolver.setServers(this.#servers);
    const deadline = setTimeout(() => resolver.cancel(), DEADLINE_MS);
    try {
      // A record is cut into strings of 255 bytes (RFC 1035 §3.3.14), which mean nothing by themselves.
      return (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
    } catch (error) {
      if (NO_RECORD.has(codeOf(error))) return [];
      throw new AppError('unavailable', `The DNS lookup of ${name} failed. Try again in a minute.`, {
        cause: error,
        retryAfterSeconds: 60,
      });
    } finally {
      clearTimeout(deadline);
    }
  }
}
