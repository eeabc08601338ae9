/** Tests of what operators set, before or after they save it: an email to themselves, a look at an identity provider. */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import type { Clock } from '../../../base/clock.ts';
import { AppError, messageOf } from '../../../base/errors.ts';
import { writeEmail } from '../../core/mail/email-text.ts';
import { type Actor, asOperator, type OperatorActor } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import type { Store } from '../../db/tx.ts';
import { GithubProvider } from '../../providers/github.ts';
import { MailError } from '../../providers/mail.ts';
import type { Finding } from '../../providers/oauth.ts';
import { OidcProvider } from '../../providers/oidc.ts';
import { smtpMail } from '../../providers/smtp.ts';
import type { InstanceChanges, InstanceService } from './service.ts';

const TEST_MS = 20_000;
/** An email that is read later than this tests nothing. */
const LIFE_SECONDS = 3_600;

interface Deps {
  readonly store: Store;
  readonly settings: InstanceService;
  readonly clock: Clock;
  readonly apiUrl: () => string;
}

export class InstanceTests {
  readonly #deps: Deps;
  #running = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Sends an email with these changes. Throws `invalid_request` without a recipient, `conflict` while another test runs. */
  mail(
    actor: Actor,
    { to, changes }: { readonly to: string | undefined; readonly changes: InstanceChanges },
  ): Promise<Finding> {
    const operator = asOperator(actor);
    const { mail } = this.#deps.settings.preview(actor, changes).settings;
    const address = to ?? (actor.kind === 'user' ? actor.email : undefined);
    if (address === undefined)
      throw new AppError(
        'invalid_request',
        'The test email has no recipient, because no user is logged in. Name one in "to".',
      );
    return this.#run(operator, { name: 'mail', details: { to: address } }, async () => {
      if (mail.transport === 'log') {
        const detail = 'Mail is off: the server writes codes and links to its log. Set mail.transport to "smtp".';
        return { ok: false, detail };
      }
      const transport = smtpMail(mail);
      try {
        const sending = { id: uuidv7(), publicUrl: this.#deps.apiUrl(), lifeSeconds: LIFE_SECONDS };
        await transport.send(writeEmail({ kind: 'test', to: address }, sending), AbortSignal.timeout(TEST_MS));
        return {
          ok: true,
          detail: `${mail.host} accepted an email to ${address}. Check the inbox and the spam folder.`,
        };
      } catch (error) {
        const reason = error instanceof MailError ? error.message : 'no response within 20 seconds';
        return { ok: false, detail: `${mail.host}:${mail.port} did not accept the email: ${reason}` };
      } finally {
        transport.close();
      }
    });
  }

  /** Asks a provider with these changes. Throws `conflict` while another test runs. */
  provider(
    actor: Actor,
    { id, changes }: { readonly id: 'google' | 'github'; readonly changes: InstanceChanges },
  ): Promise<Finding> {
    const operator = asOperator(actor);
    const { google, github } = this.#deps.settings.preview(actor, changes).settings.oauth;
    return this.#run(operator, { name: `oauth.${id}`, details: {} }, async () => {
      const login = { redirectUri: `${this.#deps.apiUrl()}/auth/oauth/${id}/callback`, ...madeUp() };
      if (id === 'google' && google !== null) return new OidcProvider(google, this.#deps.clock).check(login);
      if (id === 'github' && github !== null) return new GithubProvider(github).check(login);
      return { ok: false, detail: `This provider is not set up. Set oauth.${id}.client_id and client_secret.` };
    });
  }

  /** One at a time: each holds a connection to a server that someone has typed in. */
  async #run(
    operator: OperatorActor,
    { name, details }: { readonly name: string; readonly details: Readonly<Record<string, string>> },
    test: () => Promise<Finding>,
  ): Promise<Finding> {
    if (this.#running) throw new AppError('conflict', 'Another test is running. Wait until it has ended.');
    this.#running = true;
    try {
      const found = await test().catch((error: unknown) => ({ ok: false, detail: messageOf(error) }));
      this.#deps.store.inTx((tx) =>
        recordAudit(tx, operator, {
          action: 'instance.test',
          resourceType: 'setting',
          resourceId: name,
          details: { ...details, ok: found.ok },
        }),
      );
      return found;
    } finally {
      this.#running = false;
    }
  }
}

/** Of a login without a user: the provider refuses its code, and says by this that it knows the client. */
function madeUp() {
  const text = () => randomBytes(32).toString('base64url');
  return { state: text(), nonce: text(), verifier: text() };
}
