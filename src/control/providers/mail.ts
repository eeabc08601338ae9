/**
 * The way out for mail, as core/mail/mail-delivery.ts sees it. Ways: smtp.ts, log-mail.ts.
 */

/** An email, written out. */
export interface Mail {
  /** The same at each try: a mail that is sent twice differs from two mails. */
  readonly id: string;
  /** One address, without a name. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The code or link of the email, by itself. It is in the text as well. */
  readonly code?: string;
  readonly link?: string;
}

export interface MailTransport {
  /** Resolves once the next server has taken the mail. Rejects with a MailError; when `signal` ends it, with anything. */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
  /** Cuts what is open. May be called twice. */
  close(): void;
}

/** A mail that was not taken. The message is for the operator's log: it holds nothing of the email. */
export class MailError extends Error {
  /** False when the mail server has refused this email for good. */
  readonly retry: boolean;
  /** True when every email would fail like this until the operator of this server acts. */
  readonly needsOperator: boolean;

  constructor(message: string, options: { retry: boolean; needsOperator?: boolean }) {
    super(message);
    this.name = 'MailError';
    this.retry = options.retry;
    this.needsOperator = options.needsOperator ?? false;
  }
}
