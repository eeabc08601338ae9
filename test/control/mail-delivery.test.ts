/** Emails from the outbox to a real mail server, on a clock that the test moves. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readSmtpUrl, type SmtpServer } from '../../src/config/smtp-url.ts';
import { outgoingMails } from '../../src/control/db/schema.ts';
import { smtpMail } from '../../src/control/providers/smtp.ts';
import type { Email } from '../../src/control/services/mail/emails.ts';
import { MailDelivery } from '../../src/control/services/mail/mail-delivery.ts';
import { type Refusal, type Smtp, type SmtpOptions, startSmtp } from '../harness/smtp.ts';
import { Lines } from './log-lines.ts';
import { Plane } from './plane.ts';

const SENT = /was sent/;
const AGAIN = /trying again/;
const REFUSED = /refused an email/;
const GIVEN_UP = /could not be sent in time/;

class Post {
  readonly plane = new Plane();
  readonly lines = new Lines();
  readonly #server: SmtpServer;
  delivery: MailDelivery;

  constructor(t: TestContext, url: string, changes: Partial<SmtpServer> = {}) {
    const server = readSmtpUrl(url);
    assert.ok(server !== undefined);
    this.#server = { ...server, ...changes };
    this.delivery = this.start();
    t.after(async () => {
      await this.delivery.stop();
      this.plane.close();
    });
  }

  start(): MailDelivery {
    const { store, outbox } = this.plane.control;
    this.delivery = new MailDelivery({
      store,
      outbox,
      transport: smtpMail({ ...this.#server, from: '"Culvert, of Acme" <culvert@example.test>' }),
      publicUrl: () => 'https://culvert.example.test',
      log: this.lines.log,
    });
    this.delivery.start();
    return this.delivery;
  }

  send(email: Email, lifeSeconds = 600): void {
    this.plane.control.store.inTx((tx) => this.plane.control.outbox.post(tx, email, lifeSeconds));
  }

  code(to: string, code = '123456'): void {
    this.send({ kind: 'verify_email', to, code });
  }

  rows(): Array<typeof outgoingMails.$inferSelect> {
    return this.plane.control.store.db.select().from(outgoingMails).all();
  }

  later(seconds: number): void {
    this.plane.now += seconds * 1000;
    this.delivery.wake();
  }
}

async function open(t: TestContext, options: SmtpOptions = {}): Promise<{ smtp: Smtp; post: Post }> {
  const smtp = await startSmtp(t, options);
  return { smtp, post: new Post(t, smtp.url) };
}

const USER = { name: 'relay user', password: 'p@ss/word%#' };

for (const [name, options, secure] of [
  ['without TLS to a server that offers none', {}, false],
  ['by STARTTLS where it is offered', { security: 'starttls' }, true],
  ['by STARTTLS with a log-in', { security: 'starttls', user: USER }, true],
  ['by smtps with a log-in', { security: 'tls', user: USER }, true],
] as const) {
  test(`mail delivery: an email goes out ${name}`, async (t) => {
    const { smtp, post } = await open(t, options);
    const sent = post.lines.next(SENT);
    post.code('ann@example.com');
    const mail = await smtp.nextMail('ann@example.com');
    assert.equal(mail.secure, secure);
    assert.equal(mail.user, 'user' in options ? USER.name : undefined);
    assert.equal(mail.code, '123456');
    assert.match(mail.subject, /123456/);
    assert.match(mail.html, /123456/);
    assert.equal(mail.headers.get('from'), '"Culvert, of Acme" <culvert@example.test>');
    assert.equal(mail.envelopeFrom, 'culvert@example.test');
    assert.equal(mail.headers.get('auto-submitted'), 'auto-generated');
    await sent;
    assert.deepEqual(post.rows(), []);
  });
}

test('mail delivery: a server with an untrusted certificate gets no mail when certificates are verified', async (t) => {
  const smtp = await startSmtp(t, { security: 'starttls', user: USER });
  const post = new Post(t, `${smtp.url}?verify=yes`);
  const again = post.lines.next(AGAIN);
  post.code('ann@example.com');
  assert.match(String((await again).fields['reason']), /certificate/i);
  assert.deepEqual(smtp.tries, []);
});

test('a password is not sent in the clear to a server that offers no STARTTLS, where that is required', async (t) => {
  const smtp = await startSmtp(t, { user: USER });
  const post = new Post(t, smtp.url, { tls: 'required' });
  const again = post.lines.next(AGAIN);
  post.code('ann@example.com');
  assert.match(String((await again).fields['reason']), /STARTTLS/);
  assert.deepEqual(smtp.tries, []);
});

test('mail delivery: an email that the server can not take now is retried, later and later', async (t) => {
  const answers: Array<Refusal | undefined> = [
    { code: 451, message: '4.7.1 greylisted' },
    { code: 421, message: '4.3.2 too busy' },
    undefined,
  ];
  const { smtp, post } = await open(t, { refuse: () => answers.shift() });
  const first = post.lines.next(AGAIN);
  post.code('ann@example.com');
  assert.match(String((await first).fields['reason']), /451.*greylisted/);
  assert.equal((await first).fields['retryInSeconds'], 5);

  // Not before its time.
  const second = post.lines.next(AGAIN);
  post.later(4.9);
  post.code('bob@example.com');
  answers.unshift(undefined);
  await smtp.nextMail('bob@example.com');
  assert.deepEqual(smtp.tries, ['ann@example.com', 'bob@example.com']);

  post.later(0.2);
  assert.equal((await second).fields['retryInSeconds'], 10);
  post.later(10);
  assert.equal((await smtp.nextMail('ann@example.com')).code, '123456');
});

test('mail delivery: emails wait for a mail server that is away, and a short-lived one is tried each minute at least', async (t) => {
  const away = await startSmtp(t);
  await away.close();
  const post = new Post(t, away.url);
  const waits: unknown[] = [];
  for (let tries = 0; tries < 6; tries += 1) {
    const again = post.lines.next(AGAIN);
    if (tries === 0) post.code('ann@example.com');
    const { fields } = await again;
    waits.push(fields['retryInSeconds']);
    if (tries < 5) post.later(Number(fields['retryInSeconds']));
  }
  assert.deepEqual(waits, [5, 10, 20, 40, 60, 60]);
  const back = await startSmtp(t, { port: away.port });
  post.later(60);
  assert.equal((await back.nextMail('ann@example.com')).code, '123456');
});

test('mail delivery: an email refused for good is dropped, and the log says why without the code', async (t) => {
  const { smtp, post } = await open(t, { refuse: () => ({ code: 550, message: '5.1.1 no such user' }) });
  const refused = post.lines.next(REFUSED);
  post.code('absent@example.com');
  const { fields } = await refused;
  assert.match(String(fields['reason']), /550 5.1.1 no such user/);
  assert.equal(fields['to'], 'absent@example.com');
  assert.deepEqual(post.rows(), []);
  post.later(300);
  post.code('absent@example.com');
  await post.lines.next(REFUSED);
  assert.equal(smtp.tries.length, 2);
});

test('mail delivery: a mail server that requires a missing login loses no email', async (t) => {
  const smtp = await startSmtp(t, { user: USER });
  const post = new Post(t, smtp.url, { login: undefined });
  const again = post.lines.next(AGAIN);
  post.code('ann@example.com');
  assert.match(String((await again).fields['reason']), /530/);
  assert.equal(post.rows().length, 1);
});

test('mail delivery: an email sealed by another key is dropped, and blocks none behind it', async (t) => {
  const { smtp, post } = await open(t);
  const dropped = post.lines.next(/can not be read/);
  const { store, outbox } = post.plane.control;
  store.inTx((tx) => {
    outbox.post(tx, { kind: 'verify_email', to: 'ann@example.com', code: '111111' }, 600);
    tx.db.update(outgoingMails).set({ sealedEmail: 's1.AAAA' }).run();
    outbox.post(tx, { kind: 'verify_email', to: 'bob@example.com', code: '222222' }, 600);
  });
  assert.equal((await dropped).level, 'error');
  assert.equal((await smtp.nextMail('bob@example.com')).code, '222222');
});

test('mail delivery: a wrong password for the mail server loses no email', async (t) => {
  const smtp = await startSmtp(t, { security: 'starttls', user: USER });
  const post = new Post(t, smtp.url.replace('relay', 'another'));
  const again = post.lines.next(AGAIN);
  post.code('ann@example.com');
  assert.match(String((await again).fields['reason']), /535/);
  assert.equal(post.rows().length, 1);
});

test('mail delivery: an email is dropped when its code expires', async (t) => {
  const { smtp, post } = await open(t, { refuse: () => ({ code: 451, message: '4.7.1 try later' }) });
  let wait = 0;
  const ended = post.lines.next(GIVEN_UP);
  post.code('ann@example.com');
  for (;;) {
    const line = await Promise.race([ended, post.lines.next(AGAIN)]);
    if (GIVEN_UP.test(line.message)) break;
    wait = Number(line.fields['retryInSeconds']);
    assert.ok(smtp.tries.length < 30);
    post.later(wait);
  }
  assert.deepEqual(post.rows(), []);
  assert.ok(smtp.tries.length > 5);
});

test('mail delivery: a sender that the mail server refuses loses no email: the log says what to change, and it is sent after that', async (t) => {
  const answers: Array<Refusal | undefined> = [{ code: 550, message: '5.7.1 sender not allowed' }];
  const { smtp, post } = await open(t, { refuseSender: () => answers.shift() });
  const again = post.lines.next(AGAIN);
  post.code('ann@example.com');
  const { level, fields } = await again;
  assert.equal(level, 'error');
  assert.match(String(fields['reason']), /^550 5.7.1 sender not allowed.*culvert@example.test.*mail\.from/);
  assert.equal(post.rows().length, 1);
  post.later(5.1);
  assert.equal((await smtp.nextMail('ann@example.com')).code, '123456');
});

test('mail delivery: an email that expired while the server was off is not sent', async (t) => {
  const { smtp, post } = await open(t);
  await post.delivery.stop();
  post.code('ann@example.com');
  post.plane.now += 601_000;
  const ended = post.lines.next(GIVEN_UP);
  post.start();
  await ended;
  post.code('bob@example.com');
  await smtp.nextMail('bob@example.com');
  assert.deepEqual(smtp.tries, ['bob@example.com']);
});

test('mail delivery: emails to one user arrive in order', async (t) => {
  const { smtp, post } = await open(t, {
    hold: () => new Promise((resolve) => setTimeout(resolve, Math.random() * 20)),
  });
  const codes = Array.from({ length: 20 }, (_, n) => String(100_000 + n));
  for (const code of codes) post.code('ann@example.com', code);
  const came: Array<string | undefined> = [];
  for (const _ of codes) came.push((await smtp.nextMail('Ann@example.com')).code);
  assert.deepEqual(came, codes);
});

test('mail delivery: an address on which the mail server stalls delays no other, however many emails wait for it', async (t) => {
  const stalled = Promise.withResolvers<void>();
  const { smtp, post } = await open(t, {
    hold: (to) => (to === 'tar@pit.example' ? stalled.promise : Promise.resolve()),
  });
  for (let n = 0; n < 40; n += 1) post.code('tar@pit.example');
  await smtp.nextTry('tar@pit.example');
  for (let n = 0; n < 10; n += 1) post.code(`p${n}@example.com`);
  for (let n = 0; n < 10; n += 1) await smtp.nextMail(`p${n}@example.com`);
  assert.equal(smtp.tries.filter((to) => to === 'tar@pit.example').length, 1);
  stalled.resolve();
});

test('mail delivery: no email is sent twice when delivery is woken meanwhile', async (t) => {
  const { smtp, post } = await open(t);
  for (let n = 0; n < 30; n += 1) {
    post.code(`p${n}@example.com`);
    post.delivery.wake();
  }
  for (let n = 0; n < 30; n += 1) {
    post.delivery.wake();
    await smtp.nextMail(`p${n}@example.com`);
  }
  await post.delivery.stop();
  assert.equal(smtp.tries.length, 30);
  assert.deepEqual(post.rows(), []);
});

test('what waited at a stop is sent at once after the next start, also what was put off', async (t) => {
  const answers: Array<Refusal | undefined> = [{ code: 451, message: '4.7.1 later' }];
  const { smtp, post } = await open(t, { refuse: () => answers.shift() });
  const again = post.lines.next(AGAIN);
  post.code('bob@example.com');
  await again;
  await post.delivery.stop();
  post.code('ann@example.com');
  post.start();
  assert.equal((await smtp.nextMail('ann@example.com')).code, '123456');
  assert.equal((await smtp.nextMail('bob@example.com')).code, '123456');
});

test('mail delivery: a stop waits for the email under way, so that it is not sent again', async (t) => {
  const gate = Promise.withResolvers<void>();
  const { smtp, post } = await open(t, { hold: () => gate.promise });
  post.code('ann@example.com');
  await smtp.nextTry('ann@example.com');
  const stopped = post.delivery.stop();
  gate.resolve();
  await stopped;
  assert.deepEqual(post.rows(), []);
  assert.equal(smtp.mails.length, 1);
});

test('mail delivery: a stop cuts an email on which the mail server stalls; it is sent after the next start', async (t) => {
  let stalls = true;
  const never = new Promise<void>(() => {});
  const { smtp, post } = await open(t, { hold: () => (stalls ? never : Promise.resolve()) });
  post.code('ann@example.com');
  await smtp.nextTry('ann@example.com');
  await post.delivery.stop();
  assert.equal(post.rows()[0]?.attempts, 0);
  stalls = false;
  post.start();
  await smtp.nextMail('ann@example.com');
});

test('a mail has the same Message-ID at each try', async (t) => {
  const { smtp, post } = await open(t);
  await post.delivery.stop();
  post.code('ann@example.com');
  const [row] = post.rows();
  assert.ok(row !== undefined);
  const send = async () => {
    post.start();
    const mail = await smtp.nextMail('ann@example.com');
    await post.delivery.stop();
    return mail.headers.get('message-id');
  };
  assert.equal(await send(), `<${row.id}@example.test>`);
  // As after a crash between the server's answer and the end of the row.
  post.plane.control.store.inTx(({ db }) => db.insert(outgoingMails).values(row).run());
  assert.equal(await send(), `<${row.id}@example.test>`);
});

test('an address can not name a second recipient', async (t) => {
  const { smtp, post } = await open(t);
  post.code('ann@example.com, eve@example.com');
  post.code('bob@example.com');
  await smtp.nextMail('bob@example.com');
  assert.ok(!smtp.tries.includes('eve@example.com'), String(smtp.tries));
});

test('neither the log nor the database ever holds a code, a token or a link', async (t) => {
  const quoting: Array<Refusal | undefined> = [{ code: 451, message: '4.7.1 later' }];
  const { smtp, post } = await open(t, {
    refuse: () => quoting.shift(),
    // A filter that quotes what it refuses.
    hold: (to) =>
      to === 'spam@example.com'
        ? Promise.reject(
            Object.assign(new Error('5.7.1 "654321 is your Culvert code" looks like spam'), { responseCode: 554 }),
          )
        : Promise.resolve(),
  });
  const again = post.lines.next(AGAIN);
  post.code('ann@example.com', '112233');
  await again;
  const refused = post.lines.next(REFUSED);
  post.code('spam@example.com', '654321');
  assert.match(String((await refused).fields['reason']), /^554 5.7.1/);
  await post.delivery.stop();
  post.send({ kind: 'password_reset', to: 'bob@example.com', token: 'reset-token-secret' }, 3600);

  const written = JSON.stringify(post.lines.all);
  const folder = post.plane.dataDir;
  const stored = readdirSync(folder)
    .filter((name) => name.includes('.db') || name.includes('sqlite'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('');
  assert.ok(stored.includes('outgoing_mails'), 'the database was not read');
  for (const secret of ['112233', '654321', 'reset-token-secret', '/app/reset']) {
    assert.ok(!written.includes(secret), `the log holds ${secret}`);
    assert.ok(!stored.includes(secret), `the database holds ${secret}`);
  }
  assert.equal(post.rows().length, 2);
  post.start();
  assert.equal((await smtp.nextMail('bob@example.com')).token, 'reset-token-secret');
});
