/**
 * Certificates by ACME: asked for when a visitor's handshake names a host of a live tunnel, and unasked for custom domains, reserved names and
 * the wildcard; renewed in time; shown by the edge. Called by the link, routes, control/core/jobs.ts and server/certificates/acme.ts. Without
 * `edge.tls.mode = "acme"` nothing of it happens.
 */
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { EdgeCertificate, EdgeChallenge } from '../../plane/certificates.ts';
import type { Store } from '../db/tx.ts';
import { type Actor, allowOperator, asOperator } from '../core/rules/actor.ts';
import type { domains, tunnels } from '../db/schema.ts';
import { recordAudit } from '../core/rules/audit.ts';
import type { Sealer } from '../core/secrets/sealing.ts';
import { changeAuthority, lastDirectory } from './account-rows.ts';
import { Allowance } from './allowance.ts';
import {
  certificateNamed,
  certificatesByEnd,
  certificatesFrom,
  countByState,
  insertCertificate,
  type StoredState,
  updateCertificate,
} from './rows.ts';
import { type CertificateView, NO_CERTIFICATE, type OperatedCertificate, viewOf } from './certificate-view.ts';
import { EdgeAnswers } from './edge-answers.ts';
import { Orders } from './orders.ts';
import { RenewalTimes } from './renewal-times.ts';
import type { AcmeSetup, CertificateEdge } from './setup.ts';
import { Shown } from './shown.ts';
import { type AskedTroubles, type CertificateTrouble, troublesOf } from './troubles.ts';
import { certificateFor, missingNames, orderTermsOf } from './order-terms.ts';

/** Rows that it makes: those of a few organizations with all their domains, which others would wait behind. */
const MAX_MISSING = 500;

/** Looking through thousands of rows holds the loop for milliseconds, and scrapers come every few seconds. */
const ENDS_KEPT_MS = 60_000;

/** Names that the log tells one by one, of those that run out at one time. */
const MAX_SAID = 20;

export interface CertificatesDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  /** Null: `edge.tls.mode` is not "acme". */
  readonly acme: AcmeSetup | null;
  readonly log: Logger;
}

export interface CertificateEnds {
  readonly first: ReadonlyArray<{ readonly name: string; readonly state: StoredState; readonly expiresAt: number }>;
  /** How many more have an end. */
  readonly more: number;
  readonly byState: Readonly<Record<StoredState, number>>;
}

/** What there is in acme mode. */
interface Running {
  readonly setup: AcmeSetup;
  readonly orders: Orders;
  readonly times: RenewalTimes;
}

export class Certificates {
  readonly #deps: CertificatesDeps;
  readonly #running: Running | null;
  /** Null until the data node is there: no edge could answer an authority. */
  #edge: CertificateEdge | null = null;
  readonly #shown: Shown;
  #ends: { readonly at: number; readonly told: CertificateEnds } | undefined;

  constructor(deps: CertificatesDeps) {
    this.#deps = deps;
    const { acme: setup, store, sealer, log } = deps;
    this.#shown = new Shown({ store, sealer });
    if (setup === null) {
      this.#running = null;
      return;
    }
    const { alpnCertificate } = setup;
    const answers = new EdgeAnswers({ alpnCertificate, setChallenges: (list) => this.#setChallenges(list) });
    const allowance = new Allowance(setup);
    const onIssued = (name: string, pair: EdgeCertificate): void => this.#shown.add(name, pair);
    this.#running = {
      setup,
      orders: new Orders({ store, sealer, setup, allowance, answers, onIssued, log }),
      times: new RenewalTimes({ store, setup, log }),
    };
  }

  /** Gives the edge what there is, and from now on what comes. Returns the stop, which ends all orders. */
  attach(edge: CertificateEdge): () => Promise<void> {
    const running = this.#running;
    if (running === null) return async () => {};
    this.#followAuthority(running.setup);
    this.#edge = edge;
    this.#shown.attach(edge);
    running.orders.resume();
    void running.orders.prepareAccount();
    return async () => {
      await running.orders.close();
      this.#edge = null;
      this.#shown.detach();
    };
  }

  /**
   * A visitor's handshake names a host that has no certificate. Resolves when one is there (true) or none will come of waiting (false):
   * the host leads nowhere, or its last attempt failed and the next is not due. Many may ask for one name.
   */
  async want(host: string): Promise<boolean> {
    const running = this.#running;
    if (running === null || this.#edge === null) return false;
    const { store } = this.#deps;
    const { setup, orders } = running;
    const name = certificateFor(host, setup);
    if (this.#shown.has(name)) return true;
    const row = certificateNamed(store.db, name);
    const now = store.clock.now();
    if (row === undefined) {
      const terms = orderTermsOf(store.db, name, { names: setup, now });
      if (terms === undefined) return false;
      const { orgId } = terms;
      // Relaxed: what a power cut undoes is asked for by the next visitor.
      store.inTx((tx) => void insertCertificate(tx, { name, orgId }), { relaxed: true });
    } else if (row.nextAt > now && !orders.isUnderWay(name)) return false;
    await orders.ended(name);
    return this.#shown.has(name);
  }

  /** What the clock does: takes away what ran out, finds names that want one, begins what is due. Called by control/core/jobs.ts. */
  tend(): void {
    const running = this.#running;
    if (running === null || this.#edge === null) return;
    const { store } = this.#deps;
    const now = store.clock.now();
    this.#sayRunOut(running.setup, this.#shown.look());
    const missing = missingNames(store.db, running.setup, { now, limit: MAX_MISSING }).filter(
      ({ name }) => certificateNamed(store.db, name) === undefined,
    );
    if (missing.length > 0) store.inTx((tx) => missing.forEach((one) => void insertCertificate(tx, one)));
    running.orders.pump();
  }

  /** Hears of the authority whether it wants something renewed earlier. Called by control/core/jobs.ts. */
  async askTimes(stopping: AbortSignal): Promise<void> {
    if (this.#running !== null && this.#edge !== null) await this.#running.times.look(this.#shown.names(), stopping);
  }

  /** Of a custom domain that the caller may see; null where certificates do not come by ACME. One that others may have has none. */
  ofDomain({ domain, verifiedAt }: Pick<typeof domains.$inferSelect, 'domain' | 'verifiedAt'>): CertificateView | null {
    return verifiedAt === null && this.#running !== null ? NO_CERTIFICATE : this.#ofHost(domain);
  }

  /** Of the name of a tunnel, likewise; null for a `tcp` one. */
  ofTunnel({ label, protocol }: Pick<typeof tunnels.$inferSelect, 'label' | 'protocol'>): CertificateView | null {
    const running = this.#running;
    return running === null || protocol === 'tcp' ? null : this.#ofHost(`${label}.${running.setup.edgeDomain}`);
  }

  /** Those of an organization that fail or end soon. None where certificates do not come by ACME. */
  troubles(asked: AskedTroubles): readonly CertificateTrouble[] {
    if (this.#running === null) return [];
    const { edgeDomain } = this.#running.setup;
    return troublesOf(this.#deps.store.db, { ...asked, edgeDomain });
  }

  #ofHost(host: string): CertificateView | null {
    const running = this.#running;
    if (running === null) return null;
    const name = certificateFor(host, running.setup);
    const { store } = this.#deps;
    const isUnderWay = running.orders.isUnderWay(name);
    const view = viewOf(certificateNamed(store.db, name), { isUnderWay, now: store.clock.now() });
    // What fails of the wildcard is the operator's, and may tell of its machines.
    return name === host || view.lastError === null
      ? view
      : { ...view, lastError: 'The certificate of the server could not be ordered. Ask the operator for the reason.' };
  }

  /** All of them by name, behind `after`. */
  list(actor: Actor, { after, limit }: { after: string | undefined; limit: number }): readonly OperatedCertificate[] {
    allowOperator(actor);
    return certificatesFrom(this.#deps.store.db, after, limit).map((row) => this.#operated(row));
  }

  /** When certificates end, those that end first, as of a minute ago at the most; one that could not be renewed has ended already. For metrics. */
  endingFirst(actor: Actor, limit: number): CertificateEnds {
    allowOperator(actor);
    return this.ends(limit);
  }

  /** The same for the server's own health checks, which have no owner. */
  ends(limit: number): CertificateEnds {
    const { db, clock } = this.#deps.store;
    if (this.#ends !== undefined && clock.monotonic() - this.#ends.at < ENDS_KEPT_MS) return this.#ends.told;
    const now = clock.now();
    const { rows, withEnd } = certificatesByEnd(db, { now, limit });
    const told = { first: rows, more: withEnd - rows.length, byState: countByState(db, now) };
    this.#ends = { at: clock.monotonic(), told };
    return told;
  }

  /**
   * Asks for it now, whatever its next attempt was to be, or with the next start where no server runs. Throws `conflict` while an order is
   * under way and where certificates do not come by ACME, `not_found` for a name that leads nowhere.
   */
  renew(actor: Actor, name: string): OperatedCertificate {
    allowOperator(actor);
    const running = this.#running;
    if (running === null) {
      throw new AppError('conflict', 'ACME is off on this server. Set edge.tls.mode = "acme" first.');
    }
    const { setup, orders } = running;
    if (orders.isUnderWay(name)) {
      throw new AppError('conflict', `A certificate for ${name} is already being ordered. Wait until it is done.`);
    }
    const { store } = this.#deps;
    store.inTx((tx) => {
      const terms = orderTermsOf(tx.db, name, { names: setup, now: tx.now });
      if (terms === undefined) {
        throw new AppError(
          'not_found',
          `No tunnel uses ${name}, so no certificate was ordered. Create the tunnel first.`,
        );
      }
      insertCertificate(tx, { name, orgId: terms.orgId });
      updateCertificate(tx, name, { nextAt: tx.now });
      recordAudit(tx, asOperator(actor), {
        action: 'certificate.renew',
        resourceType: 'certificate',
        resourceId: name,
      });
    });
    if (this.#edge !== null) orders.pump();
    const row = certificateNamed(store.db, name);
    if (row === undefined) throw new AppError('not_found', `No tunnel uses ${name} now. Create one first.`);
    return this.#operated(row);
  }

  #operated(row: NonNullable<ReturnType<typeof certificateNamed>>): OperatedCertificate {
    const isUnderWay = this.#running?.orders.isUnderWay(row.name) ?? false;
    const { name, failures, lastAttemptAt } = row;
    return { ...viewOf(row, { isUnderWay, now: this.#deps.store.clock.now() }), name, failures, lastAttemptAt };
  }

  /** A certificate that ran out is worse than the default one, which is shown from now on. Its name is asked for on, if it leads anywhere. */
  #sayRunOut(names: AcmeSetup, over: readonly string[]): void {
    const { store, log } = this.#deps;
    if (over.length > MAX_SAID) {
      log.error({ names: over.length }, 'many certificates have expired. Check the clock of this machine');
    }
    for (const name of over.slice(0, MAX_SAID)) {
      if (orderTermsOf(store.db, name, { names, now: store.clock.now() }) === undefined) continue;
      log.error(
        { name },
        'a certificate has expired and could not be renewed; browsers show a warning until it is renewed. Check the clock of this machine',
      );
    }
  }

  /** What an authority for trials issued is worth nothing once the real one is configured. */
  #followAuthority({ directoryUrl }: AcmeSetup): void {
    const { store, log } = this.#deps;
    const last = lastDirectory(store.db);
    if (last === undefined || last === directoryUrl) return;
    const dropped = store.inTx((tx) => changeAuthority(tx, directoryUrl));
    log.info({ from: last, to: directoryUrl, dropped }, 'the certificate authority changed: ordering new certificates');
  }

  async #setChallenges(list: readonly EdgeChallenge[]): Promise<void> {
    await this.#edge?.setChallenges(list);
  }
}
