/**
 * Orders at the authority: a few at a time, those whose turn has come, each to its certificate or to its next attempt. What is known stands
 * in the table before an order begins, so that a server which falls over in the middle of it again and again does not ask each time.
 */
import { HOUR_MS } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { EdgeCertificate } from '../../plane/certificates.ts';
import type { Store, Tx } from '../db/tx.ts';
import {
  type AcmeAccount,
  AcmeError,
  type ChallengeSolver,
  type IssuedCertificate,
} from '../providers/acme/contract.ts';
import type { Sealer } from '../core/secrets/sealing.ts';
import { findAccount, forgetAccount, storeAccount } from './account-rows.ts';
import type { Allowance, Hold } from './allowance.ts';
import {
  certificateNamed,
  type CertificateRow,
  deleteCertificate,
  isGood,
  lifetimeOf,
  resumeInterrupted,
  sealedPair,
  updateCertificate,
} from './rows.ts';
import { isFull, isFullForNew, OrderQueue, type Running, type Waiting, waitingNames } from './order-queue.ts';
import { type Population, populationOf } from './precedence.ts';
import { firstRenewalOf, waitAfter } from './schedule.ts';
import type { AcmeSetup } from './setup.ts';
import { type OrderTerms, orderTermsOf } from './order-terms.ts';
import { given } from '../../base/given.ts';

/** Names that one call looks at; each comes from a table, and most may turn out to be held. */
const MAX_LOOKS = 64;
/** A new account is made no more often than this: authorities count those too. */
const NEW_ACCOUNT_MS = HOUR_MS;
/** How long the number of those who share is good. */
const POPULATION_MS = 60_000;
/** Holds are said in the log no more often than this. */
const SAY_MS = 60_000;
/** An order that takes longer than this has no end: its place is worth more. A DNS hook may take minutes. */
const ORDER_MS = 15 * 60_000;
/** What a stop waits for answers to be taken back. */
const STOP_MS = 3_000;
/** How often an unused certificate is looked at again. */
const UNUSED_MS = 12 * HOUR_MS;
/** Of an error, as it is kept. */
const MAX_ERROR = 500;
/** Stands in a row while its order runs. */
const INTERRUPTED = 'The server stopped during the last order.';
/** How often in a row an interrupted order begins again at the start. From then on it waits as after a failure. */
const MAX_RESUMED = 3;
const LAST_FAILURE = ' The last order failed: ';

export interface OrdersDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly setup: AcmeSetup;
  readonly allowance: Allowance;
  /** Answers http-01 and tls-alpn-01. */
  readonly answers: ChallengeSolver;
  /** A certificate is stored. */
  readonly onIssued: (name: string, pair: EdgeCertificate) => void;
  readonly log: Logger;
}

/** No order now: the name is not due any more (`done`), or it is another organization's than its row said, and stands in its line from now on. */
type NoOrder = 'done' | 'moved';

interface Order {
  readonly row: CertificateRow;
  readonly terms: OrderTerms;
  /** What is shown is good. */
  readonly isRenewal: boolean;
}

export class Orders {
  readonly #deps: OrdersDeps;
  readonly #running = new Map<
    string,
    { readonly of: Waiting; readonly work: Promise<void>; readonly beganAt: number }
  >();
  readonly #queue = new OrderQueue();
  /** None of those that wait has a place, as long as no order ends or grows slow: a new name is looked at alone. */
  #isStuck = false;
  #population: { readonly of: Population; readonly at: number } | undefined;
  /** Who waits for a name that is under way or stands in line. */
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();
  readonly #stopping = new AbortController();
  #account: Promise<AcmeAccount> | undefined;
  /** When an account was given up last, on the monotonic clock. */
  #forgotAt = -Infinity;
  /** Since the log last said that names are held, on the monotonic clock, and how many were since. */
  #saidAt = -Infinity;
  #held = 0;

  constructor(deps: OrdersDeps) {
    this.#deps = deps;
  }

  isUnderWay(name: string): boolean {
    return this.#running.has(name);
  }

  /**
   * Makes those due that a kill or a power cut has interrupted, unless they were that often: what ends the server may be the order. To be called
   * once, before the first order begins.
   */
  resume(): void {
    const { store, log } = this.#deps;
    const resumed = store.inTx((tx) => resumeInterrupted(tx, MAX_RESUMED));
    if (resumed > 0) log.info({ orders: resumed }, 'resuming certificate orders that the last shutdown interrupted');
  }

  /** Begins what is due, as far as there is room; what ends makes room for the next. */
  pump(): void {
    this.#isStuck = this.#look() === 'stuck';
  }

  /** Begins what has a place, or of that `only` this name. */
  #look(only?: string): 'stuck' | 'done' {
    const { store, setup } = this.#deps;
    if (this.#stopping.signal.aborted || isFull(this.#places())) return 'stuck';
    const except = [...this.#running.keys()];
    const of = { now: store.clock.now(), ranks: setup, except, ...given({ only }) };
    const waiting = new Set(waitingNames(store.db, of));
    if (waiting.size === 0) return 'done';
    const population = this.#populationNow();
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const next = this.#queue.next([...waiting], { running: this.#places(), population });
      if (next === undefined) return waiting.size > 0 ? 'stuck' : 'done';
      waiting.delete(next);
      this.#begin(next, population);
    }
    return 'done';
  }

  #populationNow(): Population {
    const { store, setup } = this.#deps;
    const now = store.clock.monotonic();
    if (this.#population === undefined || now - this.#population.at >= POPULATION_MS)
      this.#population = { of: populationOf(store.db, setup), at: now };
    return this.#population.of;
  }

  /** Resolves when the order for this name, which is due or under way, has ended either way. Never rejects. */
  ended(name: string): Promise<void> {
    let waiter = this.#waiting.get(name);
    if (waiter === undefined) {
      waiter = Promise.withResolvers();
      this.#waiting.set(name, waiter);
    }
    if (!this.#isStuck) this.pump();
    else if (!isFullForNew(this.#places())) this.#look(name);
    return waiter.promise;
  }

  /** Ends all orders; they are begun anew by the next start. Resolves when their answers are taken back, or after some seconds. */
  async close(): Promise<void> {
    this.#stopping.abort();
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, STOP_MS);
    await Promise.race([Promise.all([...this.#running.values()].map(({ work }) => work)), patience.promise]);
    clearTimeout(timer);
    for (const name of [...this.#waiting.keys()]) this.#tell(name);
  }

  #places(): readonly Running[] {
    const now = this.#deps.store.clock.monotonic();
    return [...this.#running.values()].map(({ of, beganAt }) => ({ ...of, ms: now - beganAt }));
  }

  #begin(next: Waiting, population: Population): void {
    const { name } = next;
    const order = this.#deps.store.inTx((tx) => this.#prepare(tx, next, population));
    if (order === 'moved') return;
    if (order === 'done') return this.#tell(name);
    const work = this.#run(next, order).then(() => {
      this.#running.delete(name);
      this.#tell(name);
      this.#pumpOn();
    });
    this.#running.set(name, { of: next, work, beganAt: this.#deps.store.clock.monotonic() });
  }

  /** Behind an order, where a fault has no caller. The job comes by anyhow. */
  #pumpOn(): void {
    try {
      this.pump();
    } catch (error) {
      this.#deps.log.error({ err: error }, 'could not start the next certificate order');
    }
  }

  #tell(name: string): void {
    this.#waiting.get(name)?.resolve();
    this.#waiting.delete(name);
  }

  #prepare(tx: Tx, next: Waiting, population: Population): Order | NoOrder {
    const { name } = next;
    const { setup, allowance } = this.#deps;
    const row = certificateNamed(tx.db, name);
    if (row === undefined) return 'done';
    const terms = orderTermsOf(tx.db, name, { names: setup, now: tx.now });
    if (terms === undefined) {
      // It is not needed any more. A valid one is served until it expires, for its tunnel may come back.
      if (isGood(row, tx.now)) updateCertificate(tx, name, { nextAt: tx.now + UNUSED_MS });
      else deleteCertificate(tx, name);
      return 'done';
    }
    if (terms.orgId !== row.orgId) {
      updateCertificate(tx, name, { orgId: terms.orgId });
      return 'moved';
    }
    if (!isGood(row, tx.now)) {
      const isNewName = row.lastAttemptAt === null;
      const hold = allowance.take(tx.db, { of: next, terms, isNewName, population, now: tx.now });
      if (hold !== null) {
        updateCertificate(tx, name, { nextAt: hold.until, lastError: errorOf(row, hold) });
        this.#sayHeld(name, hold);
        return 'done';
      }
    }
    updateCertificate(tx, name, {
      lastAttemptAt: tx.now,
      lastError: INTERRUPTED,
      interruptions: row.interruptions + 1,
      nextAt: tx.now + waitAfter(row.failures + 1, null),
      ...(row.lastAttemptAt === null ? { createdAt: tx.now } : {}),
    });
    return { row, terms, isRenewal: isGood(row, tx.now) };
  }

  #sayHeld(name: string, { reason, until }: Hold): void {
    const { store, log } = this.#deps;
    this.#held++;
    const now = store.clock.monotonic();
    if (now - this.#saidAt < SAY_MS) return;
    log.warn({ name, held: this.#held, next: new Date(until).toISOString() }, reason);
    this.#saidAt = now;
    this.#held = 0;
  }

  async #run({ name, ownerId }: Waiting, order: Order): Promise<void> {
    const { store, sealer, onIssued, log } = this.#deps;
    try {
      const issued = await this.#issue(order);
      const pair = { cert: issued.chain, key: issued.key };
      const lifetime = lifetimeOf(issued.chain);
      store.inTx((tx) => {
        const chances = { now: tx.now, chance: Math.random() };
        updateCertificate(tx, name, {
          ...sealedPair(name, pair, sealer),
          expiresAt: lifetime.notAfter,
          nextAt: firstRenewalOf(lifetime, issued.renewAt, chances),
          failures: 0,
          lastError: null,
          interruptions: 0,
        });
        tx.onCommit(() => onIssued(name, pair));
      });
      void this.#toDisk(name);
      const until = new Date(lifetime.notAfter).toISOString();
      log.info({ name, until }, order.isRenewal ? 'a certificate was renewed' : 'a certificate was issued');
    } catch (error) {
      this.#failed({ name, ownerId }, error);
    }
  }

  async #issue({ row, terms, isRenewal }: Order): Promise<IssuedCertificate> {
    const { setup, answers } = this.#deps;
    const solver = terms.challenge === 'dns-01' ? setup.dns : answers;
    if (solver === null) throw new AcmeError('challenge_failed', 'There is no hook that publishes DNS records.');
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(ORDER_MS)]);
    const account = await this.#accountOf();
    const { names, challenge } = terms;
    return setup.authority.issue(account, {
      names,
      challenge,
      solver,
      signal,
      ...(isRenewal && row.chain !== null ? { replaces: row.chain } : {}),
    });
  }

  /** Makes the account before the first order: what is wrong in the settings of the authority is found out at the start. Never rejects. */
  async prepareAccount(): Promise<void> {
    try {
      await this.#accountOf();
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const { directoryUrl } = this.#deps.setup;
      this.#deps.log.error(
        { directory: directoryUrl, reason: messageOf(error) },
        'could not create an account at the certificate authority, so no certificates can be issued. Check the settings in [acme]. The next order will retry',
      );
    }
  }

  #forgetAccount(tx: Tx): void {
    const { store, setup } = this.#deps;
    const now = store.clock.monotonic();
    if (now - this.#forgotAt < NEW_ACCOUNT_MS) return;
    this.#forgotAt = now;
    forgetAccount(tx, setup.directoryUrl);
    this.#account = undefined;
  }

  /** One account for all orders. */
  #accountOf(): Promise<AcmeAccount> {
    this.#account ??= this.#openAccount().catch((error: unknown) => {
      this.#account = undefined;
      throw error;
    });
    return this.#account;
  }

  async #openAccount(): Promise<AcmeAccount> {
    const { store, sealer, setup, log } = this.#deps;
    const { directoryUrl, email, authority } = setup;
    const known = findAccount(store.db, directoryUrl, sealer);
    if (known !== undefined) return known;
    const account = await authority.register({ email, signal: this.#stopping.signal });
    this.#stopping.signal.throwIfAborted();
    store.inTx((tx) => storeAccount(tx, { directoryUrl, account, sealer }));
    void this.#toDisk(directoryUrl);
    const { accountUrl } = account;
    log.info({ directory: directoryUrl, accountUrl }, 'created an account at the certificate authority');
    return account;
  }

  /** Authorities count what they issue: a power cut must not take it, and nothing else may wait for the disk for long. Never rejects. */
  async #toDisk(name: string): Promise<void> {
    const { store, log } = this.#deps;
    try {
      await store.durable();
    } catch (error) {
      log.warn(
        { name, reason: messageOf(error) },
        'the disk did not confirm data from the certificate authority; it may be lost in a power failure',
      );
    }
  }

  #failed({ name, ownerId }: Pick<Waiting, 'name' | 'ownerId'>, error: unknown): void {
    const { store, allowance, log } = this.#deps;
    const isStop = this.#stopping.signal.aborted;
    if (!(error instanceof AcmeError) && !isStop)
      log.error({ name, err: error }, 'internal error during a certificate order');
    const reason =
      error instanceof AcmeError
        ? error.message.slice(0, MAX_ERROR)
        : 'The server had an internal error. The reason is in its log.';
    try {
      store.inTx((tx) => {
        const row = certificateNamed(tx.db, name);
        if (row === undefined) return;
        if (isStop) return updateCertificate(tx, name, { nextAt: tx.now, lastError: null, interruptions: 0 });
        if (error instanceof AcmeError && error.code === 'accountDoesNotExist') this.#forgetAccount(tx);
        if (!isGood(row, tx.now)) allowance.failed(ownerId, tx.now);
        const failures = row.failures + 1;
        const nextAt = tx.now + waitAfter(failures, error instanceof AcmeError ? error.retryAfterMs : null);
        updateCertificate(tx, name, { failures, nextAt, lastError: reason, interruptions: 0 });
        const next = new Date(nextAt).toISOString();
        log.warn({ name, reason, failures, next }, 'certificate order failed; retrying later');
      });
    } catch (fault) {
      // The row says already when to try again.
      if (!isStop) log.error({ name, reason: messageOf(fault) }, 'could not store the result of a certificate order');
    }
  }
}

/** Why a name is held, and what its last order failed with, which its owner can mend meanwhile. */
function errorOf({ failures, lastError }: CertificateRow, { reason }: Hold): string {
  const failed = failures > 0 ? lastError?.split(LAST_FAILURE).at(-1) : undefined;
  return (failed === undefined ? reason : `${reason}${LAST_FAILURE}${failed}`).slice(0, MAX_ERROR);
}
