/** The client of one ACME authority: the methods of `CertificateAuthority`, put together from the other files of this folder. */
import { messageOf } from '../../../base/errors.ts';
import {
  type AcmeAccount,
  AcmeError,
  type AcmeOptions,
  type AcmeOrder,
  type CertificateAuthority,
  type IssuedCertificate,
} from './contract.ts';
import { bindExternalAccount, newAccountKey, readAccountKey } from './account-key.ts';
import { readObject } from './answers.ts';
import { issueCertificate } from './order.ts';
import { oneLine } from './problem.ts';
import { fetchRenewalTime, type RenewalQuestion, renewalIdOf } from './renewal.ts';
import { fetchDirectory, Session } from './session.ts';
import { Transport } from './transport.ts';

/** Of asking when to renew what is there already. */
const SUGGESTION_MS = 10_000;
/** Of one stretch of talk with the authority; an order has three, and waits for its solver in between. */
const PATIENCE_MS = 90_000;

export class AcmeAuthority implements CertificateAuthority {
  readonly #options: AcmeOptions;
  readonly #patienceMs: number;

  constructor(options: AcmeOptions, patienceMs = PATIENCE_MS) {
    this.#options = options;
    this.#patienceMs = patienceMs;
  }

  register(of: { key?: string; email: string | null; signal: AbortSignal }): Promise<AcmeAccount> {
    const { eab, clock, directoryUrl } = this.#options;
    const signal = this.#patience(of.signal);
    return this.#visit(async (transport) => {
      const key = await readAccountKey(of.key ?? newAccountKey());
      const session = await Session.open(transport, { directoryUrl, key, kid: undefined, clock, signal });
      const { newAccount, needsExternalAccount } = session.directory;
      if (needsExternalAccount && eab === null) {
        const advice = 'set acme.eab_kid and acme.eab_hmac_key to the values from its operator';
        throw new AcmeError('externalAccountRequired', `the authority requires an external account: ${advice}`);
      }
      const reply = await session.post(
        newAccount,
        {
          // The operator who configures an authority has read its terms: Culvert's own text says so beside the setting.
          termsOfServiceAgreed: true,
          ...(of.email === null ? {} : { contact: [`mailto:${of.email}`] }),
          ...(eab === null ? {} : { externalAccountBinding: await bindExternalAccount(eab, key, newAccount) }),
        },
        signal,
      );
      const { status } = readObject(reply, 'account');
      if (status !== 'valid') {
        throw new AcmeError(
          'unauthorized',
          `the authority reports the account status "${oneLine(String(status), 40)}", so a new account is needed`,
        );
      }
      return { accountUrl: session.locationOf(reply), key: key.pem };
    });
  }

  issue(account: AcmeAccount, order: AcmeOrder): Promise<IssuedCertificate> {
    const { clock, log, directoryUrl } = this.#options;
    const patience = (): AbortSignal => this.#patience(order.signal);
    return this.#visit(async (transport) => {
      const signal = patience();
      const key = await readAccountKey(account.key);
      const session = await Session.open(transport, { directoryUrl, key, kid: account.accountUrl, clock, signal });
      const { renewalInfo } = session.directory;
      const knowsReplaced = renewalInfo !== null && order.replaces !== undefined;
      const replaces = knowsReplaced ? await renewalIdOf(order.replaces) : undefined;
      const issued = await issueCertificate({
        session,
        accountUrl: account.accountUrl,
        thumbprint: key.thumbprint,
        order,
        replaces,
        clock,
        log,
        patience,
      });
      const soon = AbortSignal.any([order.signal, AbortSignal.timeout(SUGGESTION_MS)]);
      const question = { renewalInfo, cert: issued.chain, clock, signal: soon };
      return { ...issued, renewAt: await this.#firstRenewal(transport, question) };
    });
  }

  renewalTime(cert: string, given: AbortSignal): Promise<number | null> {
    const { clock, directoryUrl } = this.#options;
    const signal = this.#patience(given);
    return this.#visit(async (transport) => {
      const { renewalInfo } = await fetchDirectory(transport, { directoryUrl, clock, signal });
      return fetchRenewalTime(transport, { renewalInfo, cert, clock, signal });
    });
  }

  /** Null when it is not known: the certificate is there, and nothing that is said about its end takes it away. */
  async #firstRenewal(transport: Transport, question: RenewalQuestion): Promise<number | null> {
    try {
      const renewAt = await fetchRenewalTime(transport, question);
      // A certificate of this minute that should be renewed at once would be for ever.
      return renewAt !== null && renewAt > question.clock.now() ? renewAt : null;
    } catch (error) {
      this.#options.log.warn({ error: messageOf(error) }, 'the authority did not say when to renew a certificate');
      return null;
    }
  }

  #patience(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, AbortSignal.timeout(this.#patienceMs)]);
  }

  async #visit<T>(work: (transport: Transport) => Promise<T>): Promise<T> {
    const transport = await Transport.open(this.#options.directoryUrl, this.#options.caFile);
    try {
      return await work(transport);
    } finally {
      transport.close();
    }
  }
}
