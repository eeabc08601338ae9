/**
 * What the edge shows: the certificates of the table that are good now. One that ends is shown no more and stays in the table, for it may have
 * been the clock that was wrong; when that goes back, what is good again is shown again, and nothing waits for an instant that was none.
 */
import type { EdgeCertificate } from '../../plane/certificates.ts';
import type { Store } from '../db/tx.ts';
import type { Sealer } from '../core/secrets/sealing.ts';
import { endedNames, firstEnd, lifetimeOf, mistimed, shownCertificates } from './rows.ts';
import { MAX_RETRY_AFTER_MS } from './schedule.ts';
import type { CertificateEdge } from './setup.ts';

/** Clocks are set right by seconds all the time. */
const STEP_MS = 60_000;

export class Shown {
  readonly #store: Store;
  readonly #sealer: Sealer;
  #pairs = new Map<string, EdgeCertificate>();
  #edge: CertificateEdge | null = null;
  /** No certificate ends before: the table, whose rows are large, is not read for nothing. */
  #firstEnd = 0;
  /** By the clock at the last look. */
  #lookedAt = 0;

  constructor(deps: { readonly store: Store; readonly sealer: Sealer }) {
    this.#store = deps.store;
    this.#sealer = deps.sealer;
  }

  /** From now on the edge has what there is. */
  attach(edge: CertificateEdge): void {
    this.#edge = edge;
    this.#begin(MAX_RETRY_AFTER_MS);
  }

  detach(): void {
    this.#edge = null;
  }

  has(name: string): boolean {
    return this.#pairs.has(name);
  }

  names(): string[] {
    return [...this.#pairs.keys()];
  }

  /** One that has just come. */
  add(name: string, pair: EdgeCertificate): void {
    this.#firstEnd = Math.min(this.#firstEnd, lifetimeOf(pair.cert).notAfter);
    this.#pairs.set(name, pair);
    this.#edge?.setCertificates(this.#pairs);
  }

  /** Takes away what has ended, and follows a clock that went back. Returns the names that are shown no more. */
  look(): readonly string[] {
    const now = this.#store.clock.now();
    if (now < this.#lookedAt - STEP_MS) this.#begin(0);
    this.#lookedAt = now;
    if (now < this.#firstEnd) return [];
    const { db } = this.#store;
    this.#firstEnd = firstEnd(db, now);
    const ended = endedNames(db, now).filter((name) => this.#pairs.delete(name));
    if (ended.length > 0) this.#edge?.setCertificates(this.#pairs);
    return ended;
  }

  /** What is good by the clock as it is. No name without a certificate waits for longer than `maxWaitMs`. */
  #begin(maxWaitMs: number): void {
    const now = this.#store.clock.now();
    this.#lookedAt = now;
    this.#store.inTx((tx) => mistimed(tx, maxWaitMs));
    this.#pairs = new Map(shownCertificates(this.#store.db, now, this.#sealer));
    this.#firstEnd = firstEnd(this.#store.db, now);
    this.#edge?.setCertificates(this.#pairs);
  }
}
