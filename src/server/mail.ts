/**
 * Settings → the delivery of mail. Called by start.ts alone: a process beside the server queues emails and sends none.
 */
import type { Logger } from '../base/log.ts';
import type { Instance } from '../control/core/instance.ts';
import { MailDelivery } from '../control/core/mail/mail-delivery.ts';
import type { ControlPlane } from '../control/open.ts';
import { logMail } from '../control/providers/log-mail.ts';
import type { MailTransport } from '../control/providers/mail.ts';
import { smtpMail } from '../control/providers/smtp.ts';

export interface MailDeps {
  readonly control: Pick<ControlPlane, 'store' | 'outbox' | 'instance'>;
  readonly apiUrl: () => string;
  readonly log: Logger;
}

/** Starts the delivery; returns its stop, which must be awaited before the database closes. */
export function startMail({ control, apiUrl, log }: MailDeps): () => Promise<void> {
  const { store, outbox, instance } = control;
  const transport = new CurrentTransport(instance, log);
  const delivery = new MailDelivery({ store, outbox, transport, publicUrl: apiUrl, log });
  delivery.start();
  instance.onChange(() => {
    // An email that waits may leave by the new settings.
    if (transport.renew()) delivery.retryAll();
  });
  return () => delivery.stop();
}

/** The transport of the present settings. One that they have replaced ends once its emails under way are sent. */
class CurrentTransport implements MailTransport {
  readonly #instance: Instance;
  readonly #log: Logger;
  #of: string;
  #transport: MailTransport;

  constructor(instance: Instance, log: Logger) {
    this.#instance = instance;
    this.#log = log;
    this.#of = this.#key();
    this.#transport = this.#make();
  }

  send(...mail: Parameters<MailTransport['send']>): Promise<void> {
    return this.#transport.send(...mail);
  }

  /** True when the settings of mail have changed. */
  renew(): boolean {
    const key = this.#key();
    if (key === this.#of) return false;
    this.#of = key;
    this.#transport.close();
    this.#transport = this.#make();
    return true;
  }

  close(): void {
    this.#transport.close();
  }

  #make(): MailTransport {
    const { mail } = this.#instance.now;
    return mail.transport === 'log' ? logMail(this.#log) : smtpMail(mail);
  }

  #key(): string {
    const { mail } = this.#instance.now;
    return JSON.stringify(mail.transport === 'log' ? mail : { ...mail, password: mail.login?.password.reveal() });
  }
}
