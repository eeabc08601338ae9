import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeEmail } from './email-text.ts';
import type { Email } from './emails.ts';

const SENDING = { id: 'row', publicUrl: 'https://culvert.example.test', lifeSeconds: 600 };
const to = 'ann@example.com';

const EMAILS: readonly Email[] = [
  { kind: 'verify_email', to, code: '004711' },
  { kind: 'verify_contested', to, code: '004711', token: 'a-b_c', linkSeconds: 3600 },
  { kind: 'already_registered', to },
  { kind: 'password_reset', to, token: 'a-b_c' },
  { kind: 'password_changed', to },
  { kind: 'mfa_changed', to, enabled: true },
  { kind: 'mfa_changed', to, enabled: false },
  { kind: 'mfa_locked', to },
  { kind: 'recovery_code_used', to, left: 1 },
  { kind: 'organization_deleted', to, organization: 'Acme', by: 'bob@example.com' },
  {
    kind: 'domain_lost',
    to,
    organization: 'Acme',
    domain: 'shop.example.com',
    record: '_tunnel-challenge.shop.example.com',
  },
  { kind: 'identity_linked', to, provider: 'GitHub' },
  { kind: 'invitation', to, token: 't/o+k', organization: 'Acme', inviter: 'bob@example.com', role: 'member' },
  { kind: 'alert_confirm', to, token: 't/o+k', organization: 'Acme', by: 'bob@example.com' },
];

for (const email of EMAILS) {
  test(`${email.kind} has a subject, text and HTML, and says what to do if one did not ask for it`, () => {
    const { subject, text, html } = writeEmail(email, SENDING);
    assert.ok(subject.length > 10 && subject.length < 80, subject);
    assert.match(text, /^Hello,\n\n/);
    assert.match(text, /If (it was not you|you did not|you do not know)/);
    assert.match(html, /^<!doctype html>/);
    // Nothing that a mail program would have to load.
    assert.doesNotMatch(html, /<(img|script|link|iframe|style)|url\(|src=/i);
    assert.ok(!/undefined|\[object/.test(text + html));
  });
}

test('a code is in the subject and alone on its line, and how long it works is said', () => {
  const mail = writeEmail({ kind: 'verify_email', to, code: '004711' }, SENDING);
  assert.match(mail.subject, /\b004711\b/);
  assert.match(mail.text, /^004711$/m);
  assert.match(mail.text, /for 10 minutes/);
  assert.equal(mail.code, '004711');
  assert.equal(mail.link, undefined);
});

test('emails: that of a contested address has a code, a link, and the lifetime of each', () => {
  const email = { kind: 'verify_contested', to, code: '004711', token: 'a-b_c', linkSeconds: 3600 } as const;
  const mail = writeEmail(email, SENDING);
  assert.equal(mail.code, '004711');
  assert.equal(mail.link, 'https://culvert.example.test/app/reset?token=a-b_c');
  assert.match(mail.text, /None of these passwords is valid/);
  assert.match(mail.text, /^004711$/m);
  assert.match(mail.text, /for 1 hour\b[^]*for 10 minutes/);
});

test('links lead to the public URL and carry their token', () => {
  const reset = writeEmail({ kind: 'password_reset', to, token: 'a-b_c' }, { ...SENDING, lifeSeconds: 3600 });
  assert.equal(reset.link, 'https://culvert.example.test/app/reset?token=a-b_c');
  assert.ok(reset.text.split('\n').includes(reset.link));
  assert.ok(reset.html.includes(`href="${reset.link}"`));
  assert.match(reset.text, /for 1 hour\b/);
  const email = { kind: 'invitation', to, token: 't/o+k', organization: 'A', inviter: 'B', role: 'admin' } as const;
  const invite = writeEmail(email, { ...SENDING, lifeSeconds: 7 * 24 * 3600 });
  assert.equal(invite.link, 'https://culvert.example.test/app/invite?token=t%2Fo%2Bk');
  assert.match(invite.text, /for 7 days/);
});

test('names can not add headers, lines, markup or links', () => {
  const email: Email = {
    kind: 'invitation',
    to,
    token: 't',
    organization: 'Acme\r\nBcc: eve@example.com\u2028\u202e<img src=x onerror="alert(1)">',
    inviter: "\u001b[31mBob\n\n123456\n\nhttps://evil.example/?a=1&b='2' \ud800",
    role: '</p>',
  };
  const { subject, text, html } = writeEmail(email, SENDING);
  assert.doesNotMatch(subject, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  assert.ok(subject.isWellFormed());
  assert.doesNotMatch(text, /^\d{6}$/m);
  assert.doesNotMatch(text, /https?:\/\/evil/);
  assert.doesNotMatch(text, /[\u2028\u202e\u001b\r]/);
  assert.ok(!html.includes('<img') && !html.includes('onerror="'), html);
  assert.ok(html.includes('&lt;img') && html.includes('&amp;b=&#39;2&#39;') && html.includes('&lt;/p&gt;'));
});

test('a long name is cut between characters', () => {
  const email: Email = { kind: 'identity_linked', to, provider: '😀'.repeat(100) };
  const { subject } = writeEmail(email, SENDING);
  assert.ok(subject.includes(`${'😀'.repeat(64)}…`) && !subject.includes('😀'.repeat(65)));
});
