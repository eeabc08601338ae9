import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { sign as githubSign, verify as githubVerify } from '@octokit/webhooks-methods';
import { default as StripeClient } from 'stripe';
import { describe, findFault, type SignatureFault, VALIDATORS, type Validator } from './validators.ts';

const SECRET = 'whsec_test';
const NOW = Date.UTC(2026, 10, 21, 9, 0, 0);
const AT = NOW / 1000;
const BODY = '{"id":"evt_1","type":"order.paid","note":"\u00e4 b"}';

const hex = (text: string | Buffer, key = SECRET): string => createHmac('sha256', key).update(text).digest('hex');
const stripe = new StripeClient('sk_test_x');
const stripeHeader = (timestamp = AT, payload = BODY): string =>
  stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET, timestamp });

/** What a sender of each kind shows for BODY; GitHub and Stripe by their own libraries. */
const SIGNED: Readonly<Record<Validator, Readonly<Record<string, string>>>> = {
  generic_hmac_sha256: { 'x-signature-256': `sha256=${hex(BODY)}` },
  github: { 'x-hub-signature-256': await githubSign(SECRET, BODY) },
  slack: { 'x-slack-request-timestamp': String(AT), 'x-slack-signature': `v0=${hex(`v0:${AT}:${BODY}`)}` },
  stripe: { 'stripe-signature': stripeHeader() },
};

interface Given {
  readonly body?: Buffer;
  readonly secret?: string;
  readonly now?: number;
}

function faultOf(
  validator: Validator,
  headers: Readonly<Record<string, string>>,
  { body = Buffer.from(BODY), secret = SECRET, now = NOW }: Given = {},
): SignatureFault | null {
  return findFault(validator, { headers, body, remoteIp: '192.0.2.1' }, { secret, now });
}

function passes(validator: Validator, headers: Readonly<Record<string, string>>, given: Given = {}): boolean {
  return faultOf(validator, headers, given) === null;
}

for (const validator of VALIDATORS) {
  const signed = SIGNED[validator];

  test(`${validator}: what the sender signed passes, and each single bit of body, signature and secret is needed`, () => {
    assert.ok(passes(validator, signed));
    const flips = (bytes: Buffer) =>
      [...bytes.keys()].flatMap((i) =>
        Array.from({ length: 8 }, (_, bit) => {
          const other = Buffer.from(bytes);
          other[i] = (other[i] ?? 0) ^ (1 << bit);
          return other;
        }),
      );
    let tried = 0;
    const refuses = (is: boolean, what: string): void => {
      tried += 1;
      assert.equal(is, false, what);
    };
    for (const body of flips(Buffer.from(BODY))) refuses(passes(validator, signed, { body }), body.toString('latin1'));
    for (const secret of flips(Buffer.from(SECRET)))
      refuses(passes(validator, signed, { secret: secret.toString('latin1') }), 'secret');
    for (const [name, value] of Object.entries(signed)) {
      for (const changed of flips(Buffer.from(value))) {
        const text = changed.toString('latin1');
        refuses(passes(validator, { ...signed, [name]: text }), `${name}: ${text}`);
      }
      const variants = ['', ' ', value.slice(1), value.slice(0, -1), `${value}0`, `x${value}`, value.toUpperCase()];
      for (const text of variants.filter((other) => other !== value))
        refuses(passes(validator, { ...signed, [name]: text }), `${name}: ${text}`);
      const { [name]: _, ...without } = signed;
      refuses(passes(validator, without), `without ${name}`);
    }
    assert.ok(tried > 8 * (BODY.length + 64));
  });

  test(`${validator}: a body that is cut, longer, empty or encoded otherwise is another one`, () => {
    const whole = Buffer.from(BODY);
    for (const body of [
      whole.subarray(0, -1),
      whole.subarray(1),
      Buffer.concat([whole, Buffer.from('\n')]),
      Buffer.alloc(0),
      Buffer.from(BODY, 'latin1'),
      Buffer.from(BODY, 'utf16le'),
      Buffer.from(JSON.stringify(JSON.parse(BODY), null, 1)),
    ])
      assert.equal(passes(validator, signed, { body }), false, body.toString('latin1'));
  });
}

test('a signature of one kind is none of another', () => {
  const all = Object.assign({}, ...VALIDATORS.map((validator) => SIGNED[validator])) as Record<string, string>;
  for (const validator of VALIDATORS) {
    const own = Object.keys(SIGNED[validator]);
    const others = Object.fromEntries(Object.entries(all).filter(([name]) => !own.includes(name)));
    assert.equal(passes(validator, others), false, validator);
    assert.ok(passes(validator, all), validator);
  }
});

test('Slack and Stripe: five minutes before and behind, by what was signed, and a time that is none is refused', () => {
  for (const [seconds, expected] of [
    [0, true],
    [300, true],
    [-300, true],
    [301, false],
    [-301, false],
    [86_400, false],
  ] as const) {
    const now = NOW + seconds * 1000;
    assert.equal(passes('slack', SIGNED.slack, { now }), expected, `slack ${seconds}`);
    assert.equal(passes('stripe', SIGNED.stripe, { now }), expected, `stripe ${seconds}`);
    // An old signature under a new time.
    const fresh = { ...SIGNED.slack, 'x-slack-request-timestamp': String(now / 1000) };
    assert.equal(passes('slack', fresh, { now }), seconds === 0);
    const renewed = (SIGNED.stripe['stripe-signature'] ?? '').replace(`t=${AT}`, `t=${now / 1000}`);
    assert.equal(passes('stripe', { 'stripe-signature': renewed }, { now }), seconds === 0);
  }
  for (const time of ['', '-1', '1e9', `${AT}.5`, ` ${AT}`, `${AT} `, '9'.repeat(13), 'NaN', '0x10']) {
    const slack = {
      'x-slack-request-timestamp': time,
      'x-slack-signature': `v0=${hex(`v0:${time}:${BODY}`)}`,
    };
    assert.equal(passes('slack', slack), false, time);
  }
});

test('Stripe: any of several v1 signatures is enough, up to eight, and no other scheme', () => {
  const right = `v1=${hex(`${AT}.${BODY}`)}`;
  const wrong = `v1=${'0'.repeat(64)}`;
  const shows = (...parts: string[]) => passes('stripe', { 'stripe-signature': [`t=${AT}`, ...parts].join(',') });
  for (let place = 0; place < 8; place++) {
    const parts = Array<string>(8).fill(wrong);
    parts[place] = right;
    assert.ok(shows(...parts), `place ${place}`);
  }
  assert.equal(shows(...Array<string>(8).fill(wrong), right), false, 'the ninth is not looked at');
  assert.equal(shows(right.replace('v1=', 'v0=')), false);
  assert.equal(shows(right.replace('v1=', 'v11=')), false);
  assert.equal(passes('stripe', { 'stripe-signature': right }), false, 'without a time');
  // As its own library reads it.
  const header = `t=${AT},${wrong},${right}`;
  assert.ok(stripe.webhooks.signature?.verifyHeader(BODY, header, SECRET, 300, undefined, NOW));
});

test('a secret of the sender with characters beyond ASCII signs as in its own library', async () => {
  const secret = 'gehörtö 鍵';
  const signature = await githubSign(secret, BODY);
  assert.ok(await githubVerify(secret, BODY, signature));
  assert.ok(passes('github', { 'x-hub-signature-256': signature }, { secret }));
});

test('validators: a refusal names its cause: no signature, another secret, another time', () => {
  for (const validator of VALIDATORS) {
    assert.equal(faultOf(validator, {}), 'signature_missing', validator);
    assert.equal(faultOf(validator, SIGNED[validator], { secret: 'another' }), 'signature_wrong', validator);
    assert.equal(faultOf(validator, SIGNED[validator], { body: Buffer.from('{}') }), 'signature_wrong', validator);
    for (const name of Object.keys(SIGNED[validator]))
      assert.equal(
        faultOf(validator, { ...SIGNED[validator], [name]: '' }),
        'signature_missing',
        `${validator} ${name}`,
      );
  }
  for (const validator of ['slack', 'stripe'] as const)
    for (const now of [NOW + 301_000, NOW - 301_000])
      assert.equal(faultOf(validator, SIGNED[validator], { now }), 'signature_too_old', validator);
  assert.equal(faultOf('slack', { ...SIGNED.slack, 'x-slack-request-timestamp': 'now' }), 'signature_missing');
  assert.equal(faultOf('stripe', { 'stripe-signature': `t=${AT},v0=${'0'.repeat(64)}` }), 'signature_missing');
});

test('webhooks: of a body that is nested too deep nothing is read, whatever its type', () => {
  const deep = (levels: number): Buffer => Buffer.from(`{"type":"x","a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
  assert.equal(
    describe('stripe', { headers: { 'content-type': 'text/plain' }, remoteIp: '192.0.2.1', body: deep(31) }).eventType,
    'x',
  );
  for (const validator of ['slack', 'stripe'] as const)
    assert.equal(
      describe(validator, { headers: { 'content-type': 'text/plain' }, remoteIp: '192.0.2.1', body: deep(500_000) })
        .eventType,
      null,
    );
});
