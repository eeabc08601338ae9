/** An authority in this process: signs what it is asked for, unless a test holds it back or lets it fail. The clock is the test's. */
import { once } from 'node:events';
import {
  type AcmeAccount,
  AcmeError,
  type AcmeOrder,
  type CertificateAuthority,
  type ChallengeAnswer,
  type IssuedCertificate,
} from '../../providers/acme/contract.ts';
import { DAY_MS } from '../../../base/clock.ts';
import { makeTestCa, type TestCa } from '../../../../test/harness/ca.ts';

export class FakeAuthority implements CertificateAuthority {
  readonly orders: AcmeOrder[] = [];
  registered = 0;
  /** Orders under way. */
  active = 0;
  /** What orders fail with. */
  fault: Error | undefined;
  /** Orders wait for this, with their answers published. */
  hold: Promise<unknown> | undefined;
  lifetimeMs = 90 * DAY_MS;
  /** What it suggests with a certificate, and when it is asked later. */
  renewAt: number | null = null;
  laterRenewAt: number | null = null;
  readonly #ca: TestCa;
  now: () => number = Date.now;

  private constructor(ca: TestCa) {
    this.#ca = ca;
  }

  static async open(): Promise<FakeAuthority> {
    return new FakeAuthority(await makeTestCa());
  }

  /** The names of all orders so far. */
  get asked(): string[] {
    return this.orders.map(({ names }) => names.join(','));
  }

  async register(): Promise<AcmeAccount> {
    return { accountUrl: `https://ca.test/account/${++this.registered}`, key: `account key ${this.registered}` };
  }

  async issue(_account: AcmeAccount, order: AcmeOrder): Promise<IssuedCertificate> {
    this.orders.push(order);
    this.active++;
    try {
      return await this.#issue(order);
    } finally {
      this.active--;
    }
  }

  async #issue(order: AcmeOrder): Promise<IssuedCertificate> {
    const { names, challenge: type, solver, signal } = order;
    const answers = names.map(
      (name, index): ChallengeAnswer => ({
        type,
        name: name.replace('*.', ''),
        token: `token-${this.orders.length}-${index}`,
        keyAuthorization: `authorization of ${name}`,
        txtValue: `digest of ${name}`,
      }),
    );
    try {
      for (const answer of answers) await solver.publish(answer, signal);
      if (this.hold !== undefined) await Promise.race([this.hold, once(signal, 'abort')]);
      if (signal.aborted) throw new AcmeError('aborted', 'the order was broken off');
      if (this.fault !== undefined) throw this.fault;
    } finally {
      for (const answer of answers) await solver.withdraw(answer);
    }
    const notAfter = this.now() + this.lifetimeMs;
    const { cert, key } = await this.#ca.issue({
      names,
      notBefore: new Date(this.now()),
      notAfter: new Date(notAfter),
    });
    return { chain: cert, key, notAfter, renewAt: this.renewAt };
  }

  async renewalTime(): Promise<number | null> {
    return this.laterRenewAt;
  }
}
