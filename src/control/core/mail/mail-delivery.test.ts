/** Emails from the outbox to a real mail server, on a clock that the test moves. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readSmtpUrl, type SmtpServer } from '../../../config/smtp-url.ts';
import { outgoingMails } from '../../db/schema.ts';
import { smtpMail } from '../../providers/smtp.ts';
import type { Email } from './emails.ts';
import { MailDelivery } from './mail-delivery.ts';
import { freePort } from '../../../../test/harness/config.ts';
import { type Refusal, type Smtp, type SmtpOptions, startSmtp } from '../../../../test/harness/smtp.ts';
import { Lines } from '../testing/log-lines.ts';
import { Plane } from '../testing/plane.ts';

const SENT = /was sent/;
const AGAIN = /: retrying/;
const REFUSED = /rejected an email/;
const GIVEN_UP = /could not be sent in time/;

class MailFixture {
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

async function open(t: TestContext, options: SmtpOptions = {}): Promise<{ smtp: Smtp; fixture: MailFixture }> {
  const smtp = await startSmtp(t, options);
  return { smtp, fixture: new MailFixture(t, smtp.url) };
}

const USER = { name: 'relay user', password: 'p@ss/word%#' };

for (const [name, options, secure] of [
  ['without TLS to a server that offers none', {}, false],
  ['by STARTTLS where it is offered', { security: 'starttls' }, true],
  ['by STARTTLS with a log-in', { security: 'starttls', user: USER }, true],
  ['by smtps with a log-in', { security: 'tls', user: USER }, true],
] as const) {
  test(`mail delivery: an email goes out ${name}`, async (t) => {
    const { smtp, fixture } = await open(t, options);
    const sent = fixture.lines.next(SENT);
    fixture.code('ann@example.com');
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
    assert.deepEqual(fixture.rows(), []);
  });
}

test('mail delivery: a server with an untrusted certificate gets no mail when certificates are verified', async (t) => {
  const smtp = await startSmtp(t, { security: 'starttls', user: USER });
  const fixture = new MailFixture(t, `${smtp.url}?verify=yes`);
  const again = fixture.lines.next(AGAIN);
  fixture.code('ann@example.com');
  assert.match(String((await again).fields['reason']), /certificate/i);
  assert.deepEqual(smtp.tries, []);
});

test('a password is not sent in the clear to a server that offers no STARTTLS, where that is required', async (t) => {
  const smtp = await startSmtp(t, { user: USER });
  const fixture = new MailFixture(t, smtp.url, { tls: 'required' });
  const again = fixture.lines.next(AGAIN);
  fixture.code('ann@example.com');
  assert.match(String((await again).fields['reason']), /STARTTLS/);
  assert.deepEqual(smtp.tries, []);
});

test('mail delivery: an email that the server can not take now is retried, later and later', async (t) => {
  const answers: Array<Refusal | undefined> = [
    { code: 451, message: '4.7.1 greylisted' },
    { code: 421, message: '4.3.2 too busy' },
    undefined,
  ];
  const { smtp, fixture } = await open(t, { refuse: () => answers.shift() });
  const first = fixture.lines.next(AGAIN);
  fixture.code('ann@example.com');
  assert.match(String((await first).fields['reason']), /451.*greylisted/);
  assert.equal((await first).fields['retryInSeconds'], 5);

  // Not before its time.
  const second = fixture.lines.next(AGAIN);
  fixture.later(4.9);
  fixture.code('bob@example.com');
  answers.unshift(undefined);
  await smtp.nextMail('bob@example.com');
  assert.deepEqual(smtp.tries, ['ann@example.com', 'bob@example.com']);

  fixture.later(0.2);
  assert.equal((await second).fields['retryInSeconds'], 10);
  fixture.later(10);
  assert.equal((await smtp.nextMail('ann@example.com')).code, '123456');
});

test('mail delivery: emails wait for a mail server that is away, and a short-lived one is tried each minute at least', async (t) => {
  const away = await startSmtp(t, { port: await freePort() });
  await away.close();
  const fixture = new MailFixture(t, away.url);
  const waits: unknown[] = [];
  for (let tries = 0; tries < 6; tries += 1) {
    const again = fixture.lines.next(AGAIN);
    if (tries === 0) fixture.code('ann@example.com');
    const { fields } = await again;
    waits.push(fields['retryInSeconds']);
    if (tries < 5) fixture.later(Number(fields['retryInSeconds']));
  }
  assert.deepEqual(waits, [5, 10, 20, 40, 60, 60]);
  const back = await startSmtp(t, { port: away.port });
  fixture.later(60);
  assert.equal((await back.nextMail('ann@example.com')).code, '123456');
});

test('mail delivery: an email refused for good is dropped, and the log says why without the code', async (t) => {
  const { smtp, fixture } = await open(t, { refuse: () => ({ code: 550, message: '5.1.1 no such user' }) });
  const refused = fixture.lines.next(REFUSED);
  fixture.code('absent@example.com');
  const { fields } = await refused;
  assert.match(String(fields['reason']), /550 5.1.1 no such user/);
  assert.equal(fields['to'], 'absent@example.com');
  assert.deepEqual(fixture.rows(), []);
  fixture.later(300);
  fixture.code('absent@example.com');
  await fixture.lines.next(REFUSED);
  assert.equal(smtp.tries.length, 2);
});

test('mail delivery: a mail server that requires a missing login loses no email', async (t) => {
  const smtp = await startSmtp(t, { user: USER });
  const fixture = new MailFixture(t, smtp.url, { login: undefined });
  const again = fixture.lines.next(AGAIN);
  fixture.code('ann@example.com');
  assert.match(String((await again).fields['reason']), /530/);
  assert.equal(fixture.rows().length, 1);
});

test('mail delivery: an email sealed by another key is dropped, and blocks none behind it', async (t) => {
  const { smtp, fixture } = await open(t);
  const dropped = fixture.lines.next(/can.t be read/);
  const { store, outbox } = fixture.plane.control;
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
  const fixture = new MailFixture(t, smtp.url.replace('relay', 'another'));
  const again = fixture.lines.next(AGAIN);
  fixture.code('ann@example.com');
  assert.match(String((await again).fields['reason']), /535/);
  assert.equal(fixture.rows().length, 1);
});

test('mail delivery: an email is dropped when its code expires', async (t) => {
  const { smtp, fixture } = await open(t, { refuse: () => ({ code: 451, message: '4.7.1 try later' }) });
  let wait = 0;
  const ended = fixture.lines.next(GIVEN_UP);
  fixture.code('ann@example.com');
  for (;;) {
    const line = await Promise.race([ended, fixture.lines.next(AGAIN)]);
    if (GIVEN_UP.test(line.message)) break;
    wait = Number(line.fields['retryInSeconds']);
    assert.ok(smtp.tries.length < 30);
    fixture.later(wait);
  }
  assert.deepEqual(fixture.rows(), []);
  assert.ok(smtp.tries.length > 5);
});

test('mail delivery: a sender that the mail server refuses loses no email: the log says what to change, and it is sent after that', async (t) => {
  const answers: Array<Refusal | undefined> = [{ code: 550, message: '5.7.1 sender not allowed' }];
  const { smtp, fixture } = await open(t, { refuseSender: () => answers.shift() });
  const again = fixture.lines.next(AGAIN);
  fixture.code('ann@example.com');
  const { level, fields } = await again;
  assert.equal(level, 'error');
  assert.match(String(fields['reason']), /^550 5.7.1 sender not allowed.*culvert@example.test.*mail\.from/);
  assert.equal(fixture.rows().length, 1);
  fixture.later(5.1);
  assert.equal((await smtp.nextMail('ann@example.com')).code, '123456');
});

test('mail delivery: an email that expired while the server was off is not sent', async (t) => {
  const { smtp, fixture } = await open(t);
  await fixture.delivery.stop();
  fixture.code('ann@example.com');
  fixture.plane.now += 601_000;
  const ended = fixture.lines.next(GIVEN_UP);
  fixture.start();
  await ended;
  fixture.code('bob@example.com');
  await smtp.nextMail('bob@example.com');
  assert.deepEqual(smtp.tries, ['bob@example.com']);
});

test('mail delivery: emails to one user arrive in order', async (t) => {
  const { smtp, fixture } = await open(t, {
    hold: () => new Promise((resolve) => setTimeout(resolve, Math.random() * 20)),
  });
  const codes = Array.from({ length: 20 }, (_, n) => String(100_000 + n));
  for (const code of codes) fixture.code('ann@example.com', code);
  const came: Array<string | undefined> = [];
  for (const _ of codes) came.push((await smtp.nextMail('Ann@example.com')).code);
  assert.deepEqual(came, codes);
});

test('mail delivery: an address on which the mail server stalls delays no other, however many emails wait for it', async (t) => {
  const stalled = Promise.withResolvers<void>();
  const { smtp, fixture } = await open(t, {
    hold: (to) => (to === 'tar@pit.example' ? stalled.promise : Promise.resolve()),
  });
  for (let n = 0; n < 40; n += 1) fixture.code('tar@pit.example');
  await smtp.nextTry('tar@pit.example');
  for (let n = 0; n < 10; n += 1) fixture.code(`p${n}@example.com`);
  for (let n = 0; n < 10; n += 1) await smtp.nextMail(`p${n}@example.com`);
  assert.equal(smtp.tries.filter((to) => to === 'tar@pit.example').length, 1);
  stalled.resolve();
});

test('mail delivery: no email is sent twice when delivery is woken meanwhile', async (t) => {
  const { smtp, fixture } = await open(t);
  for (let n = 0; n < 30; n += 1) {
    fixture.code(`p${n}@example.com`);
    fixture.delivery.wake();
  }
  for (let n = 0; n < 30; n += 1) {
    fixture.delivery.wake();
    await smtp.nextMail(`p${n}@example.com`);
  }
  await fixture.delivery.stop();
  assert.equal(smtp.tries.length, 30);
  assert.deepEqual(fixture.rows(), []);
});

test('what waited at a stop is sent at once after the next start, also what was put off', async (t) => {
  const answers: Array<Refusal | undefined> = [{ code: 451, message: '4.7.1 later' }];
  const { smtp, fixture } = await open(t, { refuse: () => answers.shift() });
  const again = fixture.lines.next(AGAIN);
  fixture.code('bob@example.com');
  await again;
  await fixture.delivery.stop();
  fixture.code('ann@example.com');
  fixture.start();
  assert.equal((await smtp.nextMail('ann@example.com')).code, '123456');
  assert.equal((await smtp.nextMail('bob@example.com')).code, '123456');
});

test('mail delivery: a stop waits for the email under way, so that it is not sent again', async (t) => {
  const gate = Promise.withResolvers<void>();
  const { smtp, fixture } = await open(t, { hold: () => gate.promise });
  fixture.code('ann@example.com');
  await smtp.nextTry('ann@example.com');
  const stopped = fixture.delivery.stop();
  gate.resolve();
  await stopped;
  assert.deepEqual(fixture.rows(), []);
  assert.equal(smtp.mails.length, 1);
});

test('mail delivery: a stop cuts an email on which the mail server stalls; it is sent after the next start', async (t) => {
  let stalls = true;
  const never = new Promise<void>(() => {});
  const { smtp, fixture } = await open(t, { hold: () => (stalls ? never : Promise.resolve()) });
  fixture.code('ann@example.com');
  await smtp.nextTry('ann@example.com');
  await fixture.delivery.stop();
  assert.equal(fixture.rows()[0]?.attempts, 0);
  stalls = false;
  fixture.start();
  await smtp.nextMail('ann@example.com');
});

test('a mail has the same Message-ID at each try', async (t) => {
  const { smtp, fixture } = await open(t);
  await fixture.delivery.stop();
  fixture.code('ann@example.com');
  const [row] = fixture.rows();
  assert.ok(row !== undefined);
  const send = async () => {
    fixture.start();
    const mail = await smtp.nextMail('ann@example.com');
    await fixture.delivery.stop();
    return mail.headers.get('message-id');
  };
  assert.equal(await send(), `<${row.id}@example.test>`);
  // As after a crash between the server's answer and the end of the row.
  fixture.plane.control.store.inTx(({ db }) => db.insert(outgoingMails).values(row).run());
  assert.equal(await send(), `<${row.id}@example.test>`);
});

test('an address can not name a second recipient', async (t) => {
  const { smtp, fixture } = await open(t);
  fixture.code('ann@example.com, eve@example.com');
  fixture.code('bob@example.com');
  await smtp.nextMail('bob@example.com');
  assert.ok(!smtp.tries.includes('eve@example.com'), String(smtp.tries));
});

test('neither the log nor the database ever holds a code, a token or a link', async (t) => {
  const quoting: Array<Refusal | undefined> = [{ code: 451, message: '4.7.1 later' }];
  const { smtp, fixture } = await open(t, {
    refuse: () => quoting.shift(),
    // A filter that quotes what it refuses.
    hold: (to) =>
      to === 'spam@example.com'
        ? Promise.reject(
            Object.assign(new Error('5.7.1 "654321 is your Culvert code" looks like spam'), { responseCode: 554 }),
          )
        : Promise.resolve(),
  });
  const again = fixture.lines.next(AGAIN);
  fixture.code('ann@example.com', '112233');
  await again;
  const refused = fixture.lines.next(REFUSED);
  fixture.code('spam@example.com', '654321');
  assert.match(String((await refused).fields['reason']), /^554 5.7.1/);
  await fixture.delivery.stop();
  fixture.send({ kind: 'password_reset', to: 'bob@example.com', token: 'reset-token-secret' }, 3600);

  const written = JSON.stringify(fixture.lines.all);
  const folder = fixture.plane.dataDir;
  const stored = readdirSync(folder)
    .filter((name) => name.includes('.db') || name.includes('sqlite'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('');
  assert.ok(stored.includes('outgoing_mails'), 'the database was not read');
  for (const secret of ['112233', '654321', 'reset-token-secret', '/app/reset']) {
    assert.ok(!written.includes(secret), `the log holds ${secret}`);
    assert.ok(!stored.includes(secret), `the database holds ${secret}`);
  }
  assert.equal(fixture.rows().length, 2);
  fixture.start();
  assert.equal((await smtp.nextMail('bob@example.com')).token, 'reset-token-secret');
});
