/**
 * Looks at the certificate files while the server runs, and hands a renewed pair to its listeners. Made by start.ts.
 *
 * By polling: it sees a rename, a switched symlink anywhere on the path, a copy and a network file system alike, which watchers of
 * folders do not.
 */
import { stat } from 'node:fs/promises';
import { X509Certificate } from 'node:crypto';
import { type Clock, DAY_MS } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { type Certificate, readCertificate } from './certificates.ts';

export interface WatchedPair {
  readonly certFile: string;
  readonly keyFile: string;
  /** What is served now. */
  readonly current: Certificate;
  /** Gets a pair that fits. When it rejects, the old one counts as served and the pair as broken. */
  readonly use: (pair: Certificate) => Promise<void>;
}

export interface CertificateWatchOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Default 5 s. */
  readonly pollMs?: number;
}

const POLL_MS = 5_000;
/** Certbot renews 30 days before the end: a certificate this near to its end has a failing renewal. */
const WARN_MS = 7 * DAY_MS;

export class CertificateWatch {
  readonly #pairs: readonly PairWatch[];
  readonly #timer: NodeJS.Timeout;
  /** The last look: under way, or over. */
  #looking: Promise<void> = Promise.resolve();
  /** A look that has not begun. Who asks meanwhile gets this one: no more than two ever wait for a slow disk. */
  #next: Promise<void> | undefined;

  constructor(pairs: readonly WatchedPair[], options: CertificateWatchOptions) {
    this.#pairs = pairs.map((pair) => new PairWatch(pair, options));
    this.#timer = setInterval(() => void this.look(), options.pollMs ?? POLL_MS);
    this.#timer.unref();
  }

  /** Looks now; resolves when renewed pairs are served. Never rejects: what is wrong is logged and looked at again. */
  look(): Promise<void> {
    this.#next ??= this.#looking = this.#looking.then(async () => {
      this.#next = undefined;
      for (const pair of this.#pairs) await pair.look();
    });
    return this.#next;
  }

  /** Uses nothing any more. Waits for no look: a file system that hangs must not hold up a stop. */
  close(): void {
    clearInterval(this.#timer);
    for (const pair of this.#pairs) pair.closed = true;
  }
}

class PairWatch {
  readonly #pair: WatchedPair;
  readonly #clock: Clock;
  readonly #log: Logger;
  #current: Certificate;
  /** What the files looked like when they were last read; null: read them at the next look. */
  #seen: string | null = null;
  /** What was said of the broken pair, so that it is said once. */
  #complaint: string | null = null;
  #warnedAt = Number.NEGATIVE_INFINITY;
  closed = false;

  constructor(pair: WatchedPair, { clock, log }: CertificateWatchOptions) {
    this.#pair = pair;
    this.#current = pair.current;
    this.#clock = clock;
    this.#log = log.child({ certFile: pair.certFile });
  }

  async look(): Promise<void> {
    const { certFile, keyFile } = this.#pair;
    try {
      // Taken before the read: what changes meanwhile is seen at the next look.
      const seen = `${await markOf(certFile)} ${await markOf(keyFile)}`;
      if (this.closed) return;
      if (seen !== this.#seen) {
        await this.#take(readCertificate(certFile, keyFile));
        this.#seen = seen;
      }
      this.#complaint = null;
    } catch (error) {
      if (this.closed) return;
      this.#seen = null;
      this.#complain(messageOf(error));
    }
    this.#warnOfEnd();
  }

  async #take(pair: Certificate): Promise<void> {
    if (pair.cert === this.#current.cert && pair.key === this.#current.key) return;
    await this.#pair.use(pair);
    this.#current = pair;
    this.#warnedAt = Number.NEGATIVE_INFINITY;
    this.#log.info({ until: endOf(pair).toISOString() }, 'certificate reloaded; open connections are not affected');
  }

  #complain(reason: string): void {
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    this.#log.warn(
      { keyFile: this.#pair.keyFile, reason },
      'the new certificate files are invalid or do not match. The server keeps the previous certificate and reads the files again until they are valid',
    );
  }

  /** Once a day from a week before the end, and when it is over. */
  #warnOfEnd(): void {
    const now = this.#clock.now();
    const end = endOf(this.#current);
    if (end.getTime() - now > WARN_MS || now - this.#warnedAt < DAY_MS) return;
    this.#warnedAt = now;
    const words =
      end.getTime() <= now ? 'the certificate has expired: renew it' : 'the certificate expires soon: renew it';
    this.#log.warn({ until: end.toISOString() }, words);
  }
}

function endOf({ cert }: Certificate): Date {
  return new X509Certificate(cert).validToDate;
}

/** Of the file behind all symlinks. The change time moves with every write and rename, also where the other times are kept. */
async function markOf(file: string): Promise<string> {
  const { dev, ino, size, ctimeMs } = await stat(file);
  return `${dev}:${ino}:${size}:${ctimeMs}`;
}
