/**
 * A mail server for tests: real SMTP on loopback, in this process. What it takes is parsed and kept for `nextMail`.
 *
 *   const smtp = await startSmtp({ after });
 *   const harness = await startHarness(`${LOOSE}\n${smtpSettings(smtp)}`);
 *   const mail = await smtp.nextMail('ann@example.com');
 *   mail.code, mail.token: the code and token in the email
 */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { testCertificate } from '../../src/data/fixtures/certificate.ts';
import type { Ends } from './ends.ts';

/** `plain`: TLS is not offered. `starttls`: offered. `tls`: from the start (smtps). */
type Security = 'plain' | 'starttls' | 'tls';

export interface SmtpOptions {
  readonly security?: Security;
  /** Who must log in. `security: 'plain'` lets them do so in the clear. */
  readonly user?: { readonly name: string; readonly password: string };
  /** For a server that comes back on the port that it had: a free one that no other program takes meanwhile (freePort). */
  readonly port?: number;
  /** Answers of the server to a recipient: `{ code: 451, message: 'try later' }`; undefined takes the mail. Asked at each try. */
  readonly refuse?: (to: string) => Refusal | undefined;
  /** The same for the sender. */
  readonly refuseSender?: (from: string) => Refusal | undefined;
  /** Awaited before a mail is taken: holds the sender up. */
  readonly hold?: (to: string) => Promise<void>;
}

export interface Refusal {
  readonly code: number;
  readonly message: string;
}

export interface Mail {
  /** The envelope, lower case. */
  readonly to: string;
  readonly envelopeFrom: string;
  /** Values of the headers, as they came, by name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The code that stands alone on a line of the text, if any. */
  readonly code: string | undefined;
  /** The first link of the text, if any, and what its `token` parameter holds. */
  readonly link: string | undefined;
  readonly token: string | undefined;
  /** Whether it came by TLS, and who had logged in. */
  readonly secure: boolean;
  readonly user: string | undefined;
}

export interface Smtp {
  readonly port: number;
  /** For `mail.smtp_url`, with name and password when there are some. */
  readonly url: string;
  /** Everything taken so far, in order. */
  readonly mails: readonly Mail[];
  /** Recipients of each try, also of those that were refused. */
  readonly tries: readonly string[];
  /** The oldest mail to this address that no call has returned yet; waits for it, 10 s at most. */
  nextMail(to: string): Promise<Mail>;
  /** Resolves at the next try to send to this address, before it is answered. */
  nextTry(to: string): Promise<void>;
  /** Cuts all connections. May be called twice. */
  close(): Promise<void>;
}

const WAIT_MS = 10_000;

/** Lines of settings for a server that sends by this one: a whole `[mail]` table. */
export function smtpSettings(smtp: Pick<Smtp, 'url'>): string {
  return `[mail]\ntransport = "smtp"\nsmtp_url = "${smtp.url}"\nfrom = "Culvert <culvert@example.test>"\n`;
}

export async function startSmtp(ends: Ends, options: SmtpOptions = {}): Promise<Smtp> {
  const { security = 'plain', user } = options;
  const inbox = new Inbox();
  const off = [...(security === 'starttls' ? [] : ['STARTTLS']), ...(user === undefined ? ['AUTH'] : [])];
  const server = new SMTPServer({
    secure: security === 'tls',
    ...(security === 'plain' ? {} : await testCertificate(['localhost', '127.0.0.1'])),
    disabledCommands: off,
    authOptional: user === undefined,
    allowInsecureAuth: security === 'plain',
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 1,
    onAuth: (auth, _session, done) => {
      if (user !== undefined && auth.username === user.name && auth.password === user.password) {
        done(null, { user: user.name });
      } else done(refusal({ code: 535, message: 'wrong user or password' }));
    },
    onMailFrom: ({ address }, _session, done) => {
      const refused = options.refuseSender?.(address);
      done(refused === undefined ? null : refusal(refused));
    },
    onRcptTo: ({ address }, _session, done) => {
      inbox.tried(address);
      const refused = options.refuse?.(address.toLowerCase());
      done(refused === undefined ? null : refusal(refused));
    },
    onData: (stream, session, done) => {
      take(stream, session, options.hold).then(
        (mail) => {
          inbox.add(mail);
          done();
        },
        (error: Error) => done(error),
      );
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  // A client that is cut, or that does not trust the certificate, is no failure of the server.
  server.on('error', () => undefined);
  const { port } = server.server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    return closing;
  };
  ends.after(close);
  const login = user === undefined ? '' : `${encodeURIComponent(user.name)}:${encodeURIComponent(user.password)}@`;
  return {
    port,
    url: `${security === 'tls' ? 'smtps' : 'smtp'}://${login}127.0.0.1:${port}`,
    mails: inbox.mails,
    tries: inbox.tries,
    nextMail: (to) => inbox.next(to),
    nextTry: (to) => inbox.nextTry(to),
    close,
  };
}

class Inbox {
  readonly mails: Mail[] = [];
  readonly tries: string[] = [];
  readonly #unread = new Map<string, Mail[]>();
  readonly #readers = new Map<string, Array<(mail: Mail) => void>>();
  readonly #watchers = new Map<string, Array<() => void>>();

  add(mail: Mail): void {
    this.mails.push(mail);
    const reader = this.#readers.get(mail.to)?.shift();
    if (reader === undefined) this.#unread.set(mail.to, [...(this.#unread.get(mail.to) ?? []), mail]);
    else reader(mail);
  }

  tried(address: string): void {
    const to = address.toLowerCase();
    this.tries.push(to);
    for (const tell of this.#watchers.get(to)?.splice(0) ?? []) tell();
  }

  next(address: string): Promise<Mail> {
    const to = address.toLowerCase();
    const mail = this.#unread.get(to)?.shift();
    if (mail !== undefined) return Promise.resolve(mail);
    return within(`mail to ${to}`, this.mails, (resolve) => {
      this.#readers.set(to, [...(this.#readers.get(to) ?? []), resolve]);
    });
  }

  nextTry(address: string): Promise<void> {
    const to = address.toLowerCase();
    return within(`try to send to ${to}`, this.mails, (resolve) => {
      this.#watchers.set(to, [...(this.#watchers.get(to) ?? []), resolve]);
    });
  }
}

function within<T>(what: string, mails: readonly Mail[], wait: (resolve: (value: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const came = mails.map(({ to, subject }) => `${to}: ${subject}`).join('; ');
      reject(new Error(`no ${what} in ${WAIT_MS} ms; what came: ${came === '' ? 'nothing' : came}`));
    }, WAIT_MS);
    wait((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}

async function take(
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  hold: SmtpOptions['hold'],
): Promise<Mail> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const email = await PostalMime.parse(Buffer.concat(chunks));
  const [recipient, ...others] = session.envelope.rcptTo;
  assert.ok(recipient !== undefined);
  assert.deepEqual(others, [], 'an email has one recipient');
  const to = recipient.address.toLowerCase();
  await hold?.(to);
  const text = email.text ?? '';
  const link = /^https?:\/\/\S+$/m.exec(text)?.[0];
  return {
    to,
    envelopeFrom: session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address,
    headers: new Map(email.headers.map(({ key, value }) => [key, value])),
    from: email.from?.address ?? '',
    subject: email.subject ?? '',
    text,
    html: email.html ?? '',
    code: /^\d{6}$/m.exec(text)?.[0],
    link,
    token: link === undefined ? undefined : (new URL(link).searchParams.get('token') ?? undefined),
    secure: session.secure,
    user: typeof session.user === 'string' ? session.user : undefined,
  };
}

function refusal({ code, message }: Refusal): Error {
  return Object.assign(new Error(message), { responseCode: code });
}
