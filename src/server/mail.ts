/**
 * Settings → the delivery of mail. Called by start.ts alone: a process beside the server queues emails and sends none.
 */
import type { Logger } from '../base/log.ts';
import type { Settings } from '../config/schema.ts';
import { readSmtpUrl } from '../config/smtp-url.ts';
import type { ControlPlane } from '../control/open.ts';
import { logMail } from '../control/providers/log-mail.ts';
import type { MailTransport } from '../control/providers/mail.ts';
import { smtpMail } from '../control/providers/smtp.ts';
import { MailDelivery } from '../control/core/mail/mail-delivery.ts';

export interface MailDeps {
  readonly control: Pick<ControlPlane, 'store' | 'outbox'>;
  readonly apiUrl: () => string;
  readonly log: Logger;
}

/** Starts the delivery; returns its stop, which must be awaited before the database closes. */
export function startMail({ mail }: Pick<Settings, 'mail'>, { control, apiUrl, log }: MailDeps): () => Promise<void> {
  const delivery = new MailDelivery({
    store: control.store,
    outbox: control.outbox,
    transport: transportOf(mail, log),
    publicUrl: apiUrl,
    log,
  });
  delivery.start();
  return () => delivery.stop();
}

function transportOf(mail: Settings['mail'], log: Logger): MailTransport {
  if (mail.transport === 'log') return logMail(log);
  const server = mail.smtp_url === null ? undefined : readSmtpUrl(mail.smtp_url.reveal());
  // Both were checked with the file; a wrong answer here would lose mail silently.
  if (server === undefined || mail.from === null)
    throw new Error('mail.transport = "smtp" without mail.smtp_url or mail.from');
  return smtpMail({ ...server, from: mail.from });
}
