/**
 * Asks the authority from time to time when it wants its certificates renewed (RFC 9773): it says so earlier than it did at first when it is
 * about to revoke them. Called by control/core/jobs.ts.
 */
import { HOUR_MS } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Store } from '../db/tx.ts';
import { certificateNamed, lifetimeOf, updateCertificate } from './rows.ts';
import { renewalOf } from './schedule.ts';
import type { AcmeSetup } from './setup.ts';

/** How often one certificate is asked about; the authority may revoke within a day of its word. */
const EVERY_MS = 12 * HOUR_MS;
/** Of one pass, which comes every ten minutes: some 1,400 certificates in a round. */
const BATCH = 20;

export class RenewalTimes {
  readonly #deps: { readonly store: Store; readonly setup: AcmeSetup; readonly log: Logger };
  /** Name to when it was asked about. A restart asks anew. */
  #asked = new Map<string, number>();

  constructor(deps: { readonly store: Store; readonly setup: AcmeSetup; readonly log: Logger }) {
    this.#deps = deps;
  }

  /** Asks about a batch of these names, the longest unasked first. An authority that does not answer is asked again in the next round. */
  async look(names: readonly string[], stopping: AbortSignal): Promise<void> {
    const { store, log } = this.#deps;
    const now = store.clock.now();
    // Names that are shown no more are forgotten.
    this.#asked = new Map(names.map((name) => [name, this.#asked.get(name) ?? 0]));
    const due = [...this.#asked]
      .filter(([, at]) => at <= now - EVERY_MS || at > now)
      .sort(([, one], [, other]) => one - other);
    for (const [name] of due.slice(0, BATCH)) {
      if (stopping.aborted) return;
      this.#asked.set(name, now);
      try {
        await this.#ask(name, stopping);
      } catch (error) {
        log.debug({ name, reason: messageOf(error) }, 'the authority did not say when to renew a certificate');
      }
    }
  }

  async #ask(name: string, stopping: AbortSignal): Promise<void> {
    const { store, setup, log } = this.#deps;
    const chain = certificateNamed(store.db, name)?.chain ?? null;
    if (chain === null) return;
    const suggested = await setup.authority.renewalTime(chain, stopping);
    if (suggested === null || stopping.aborted) return;
    const nextAt = renewalOf(lifetimeOf(chain), suggested, Math.random());
    store.inTx((tx) => {
      const row = certificateNamed(tx.db, name);
      // It may have been renewed meanwhile; and what fails has a time of its own.
      if (row === undefined || row.chain !== chain || row.failures > 0 || row.nextAt <= nextAt) return;
      updateCertificate(tx, name, { nextAt });
      tx.onCommit(() =>
        log.info(
          { name, at: new Date(nextAt).toISOString() },
          'the authority asks for an earlier renewal of a certificate',
        ),
      );
    });
  }
}
