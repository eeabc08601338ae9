/**
 * Sends mail by SMTP: a few connections that are kept for a while, each wait with an end. Decides what a refusal means.
 */
import type { Transporter } from 'nodemailer';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import { MailError, type MailTransport } from './mail.ts';

export interface SmtpOptions {
  readonly host: string;
  readonly port: number;
  /** `from_start` is smtps; `required` refuses a server without STARTTLS; `where_offered` goes on without. */
  readonly tls: 'from_start' | 'required' | 'where_offered';
  /** Whether the server's certificate must be valid for its name. */
  readonly verify: boolean;
  readonly login: { readonly user: string; readonly password: Secret } | undefined;
  /** `name@host`, or `Name <name@host>`. */
  readonly from: string;
}

/** As many as core/mail/mail-delivery.ts has emails under way: none waits inside the pool. */
const CONNECTIONS = 4;
/** Mail servers cut idle connections after a minute or more; ours goes first. */
const IDLE_MS = 30_000;
const CONNECT_MS = 10_000;
/** Between two answers. RFC 5321 §4.5.3.2 allows minutes, too long for a user who waits for a code. */
const SILENCE_MS = 30_000;

export function smtpMail(options: SmtpOptions): MailTransport {
  const from = readSender(options.from);
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  // The library is loaded at the first mail: a server that sends none is not slowed down by it.
  let pool: Promise<Transporter> | undefined;
  let closed = false;
  return {
    send: async (mail, signal) => {
      if (closed) throw new MailError('the server is stopping', { retry: true });
      pool ??= openPool(options);
      const transporter = await pool;
      try {
        await transporter.sendMail({
          // Not as text, either of them: a comma would make two addresses.
          from,
          to: { name: '', address: mail.to },
          subject: mail.subject,
          text: mail.text,
          html: mail.html,
          messageId: `<${mail.id}@${domain}>`,
          // Vacation notices are not answered to us (RFC 3834).
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal,
        });
      } catch (error) {
        throw readFailure(error, from.address);
      }
    },
    close: () => {
      closed = true;
      pool?.then(
        (transporter) => transporter.close(),
        () => undefined,
      );
    },
  };
}

function readSender(from: string): { name: string; address: string } {
  const [, name = '', address = from] = /^(.*)<(.*)>$/.exec(from.trim()) ?? [];
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address };
}

async function openPool({ host, port, tls, verify, login }: SmtpOptions): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    pool: true,
    host,
    port,
    secure: tls === 'from_start',
    requireTLS: tls === 'required',
    tls: { rejectUnauthorized: verify },
    ...(login === undefined ? {} : { auth: { user: login.user, pass: login.password.reveal() } }),
    maxConnections: CONNECTIONS,
    // Tries are counted and spaced by core/mail/mail-delivery.ts alone.
    maxRequeues: 0,
    idleTimeout: IDLE_MS,
    connectionTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/**
 * The steps of SMTP that are about one mail. A refusal in another step is about us: all mails would get it, until the operator acts. That goes
 * for MAIL FROM too: all emails have one sender.
 */
const STEPS_OF_A_MAIL: ReadonlySet<unknown> = new Set(['RCPT TO', 'DATA']);
/** "Log in first", "by TLS only" and their like (RFC 4954, RFC 3207): about us as well, in whatever step. */
const ABOUT_US: ReadonlySet<unknown> = new Set([503, 530, 534, 535, 538]);

interface SmtpFailure {
  readonly responseCode?: unknown;
  readonly response?: unknown;
  readonly command?: unknown;
}

function readFailure(error: unknown, sender: string): MailError {
  const { responseCode, response, command }: SmtpFailure = typeof error === 'object' && error !== null ? error : {};
  const answered = typeof responseCode === 'number';
  const permanent = answered && responseCode >= 500 && STEPS_OF_A_MAIL.has(command) && !ABOUT_US.has(responseCode);
  // Without an answer: the address can't be written into a command.
  const unwritable = !answered && codeOf(error) === 'EENVELOPE';
  const said = answered && typeof response === 'string' ? response : messageOf(error);
  // Once a server has seen the email it may quote it; filters like to. Then the numbers must do.
  if (command === 'MAIL FROM' && answered && responseCode >= 500 && !ABOUT_US.has(responseCode)) {
    const advice = `the mail server does not accept mail from ${sender}: set a mail.from that it accepts`;
    return new MailError(`${oneLine(said)} (at ${command}); ${advice}`, { retry: true, needsOperator: true });
  }
  const told = command === 'DATA' ? (/^\d{3}(?:[ -]\d\.\d+\.\d+)?/.exec(said)?.[0] ?? 'failed') : oneLine(said);
  return new MailError(typeof command === 'string' ? `${told} (at ${command})` : told, {
    retry: !permanent && !unwritable,
  });
}

const MAX_SAID = 200;

function oneLine(said: string): string {
  return said.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').slice(0, MAX_SAID);
}
