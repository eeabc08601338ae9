import assert from 'node:assert/strict';
import { createHash, createHmac, generateKeyPairSync, sign as sign25519 } from 'node:crypto';
import { test } from 'node:test';
import { sign as githubSign, verify as githubVerify } from '@octokit/webhooks-methods';
import { default as StripeClient } from 'stripe';
import { WEBHOOK_KINDS, type WebhookKind } from './kinds.ts';
import type { SignatureFault } from './scheme.ts';
import { describe, findFault, secretProblem } from './validators.ts';

const SECRET = 'whsec_test';
const KEYS = generateKeyPairSync('ed25519');
const PUBLIC_DER = KEYS.publicKey.export({ format: 'der', type: 'spki' });
const PUBLIC_KEY = PUBLIC_DER.subarray(-32).toString('hex');
const NOW = Date.UTC(2026, 10, 21, 9, 0, 0);
const AT = NOW / 1000;
const BODY = `{"id":"evt_1","type":"order.paid","note":"\u00e4 b","webhookTimestamp":${NOW}}`;
const BODY_HASH = createHash('sha256').update(BODY).digest('hex');
const URL = `https://api.example.com/webhooks/1?bodySHA256=${BODY_HASH}`;

const hex = (text: string | Buffer, key = SECRET): string => createHmac('sha256', key).update(text).digest('hex');
const stripe = new StripeClient('sk_test_x');
const stripeHeader = (timestamp = AT, payload = BODY): string =>
  stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET, timestamp });

const signed25519 = (message: string): Buffer => sign25519(null, Buffer.from(message), KEYS.privateKey);
const ED25519 = {
  'x-signature-timestamp': String(AT),
  'x-signature-ed25519': signed25519(`${AT}${BODY}`).toString('hex'),
};
const SVIX_KEY = Buffer.alloc(24, 7);
const v1 = (id: string, at = AT, key = SVIX_KEY): string =>
  `v1,${createHmac('sha256', key).update(`${id}.${at}.${BODY}`).digest('base64')}`;

/** Where it is another than SECRET. */
const SECRETS: Readonly<Partial<Record<WebhookKind, string>>> = {
  standard_webhooks: `whsec_${SVIX_KEY.toString('base64')}`,
  discord: PUBLIC_KEY,
  generic_ed25519: PUBLIC_KEY,
};
const secretOf = (kind: WebhookKind): string => SECRETS[kind] ?? SECRET;

/** What a sender of each kind shows for BODY; GitHub and Stripe by their own libraries, all others also in vectors.test.ts. */
const SIGNED: Readonly<Record<WebhookKind, Readonly<Record<string, string>>>> = {
  generic_hmac_sha256: { 'x-signature-256': `sha256=${hex(BODY)}` },
  github: { 'x-hub-signature-256': await githubSign(SECRET, BODY) },
  slack: { 'x-slack-request-timestamp': String(AT), 'x-slack-signature': `v0=${hex(`v0:${AT}:${BODY}`)}` },
  stripe: { 'stripe-signature': stripeHeader() },
  standard_webhooks: { 'webhook-id': 'msg_1', 'webhook-timestamp': String(AT), 'webhook-signature': v1('msg_1') },
  shopify: { 'x-shopify-hmac-sha256': createHmac('sha256', SECRET).update(BODY).digest('base64') },
  twilio: { 'x-twilio-signature': createHmac('sha1', SECRET).update(URL).digest('base64') },
  discord: ED25519,
  linear: { 'linear-signature': hex(BODY) },
  generic_ed25519: ED25519,
};

interface Given {
  readonly body?: Buffer;
  readonly secret?: string;
  readonly secrets?: readonly string[];
  readonly now?: number;
  readonly url?: string;
}

function faultOf(
  validator: WebhookKind,
  headers: Readonly<Record<string, string>>,
  { body = Buffer.from(BODY), secret = secretOf(validator), secrets = [secret], now = NOW, url = URL }: Given = {},
): SignatureFault | null {
  return findFault(validator, { headers, body, url }, { secrets, now });
}

function passes(validator: WebhookKind, headers: Readonly<Record<string, string>>, given: Given = {}): boolean {
  return faultOf(validator, headers, given) === null;
}

for (const validator of WEBHOOK_KINDS) {
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
    for (const secret of flips(Buffer.from(secretOf(validator)))) {
      // The same key: hex has two cases.
      if (secret.toString('latin1').toLowerCase() === PUBLIC_KEY) continue;
      refuses(passes(validator, signed, { secret: secret.toString('latin1') }), 'secret');
    }
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
    // A signature has 28 characters at least: SHA-1 in base64.
    assert.ok(tried > 8 * (BODY.length + 28));
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
  const all = Object.assign({}, ...WEBHOOK_KINDS.map((validator) => SIGNED[validator])) as Record<string, string>;
  for (const validator of WEBHOOK_KINDS) {
    const own = Object.keys(SIGNED[validator]);
    const others = Object.fromEntries(Object.entries(all).filter(([name]) => !own.includes(name)));
    assert.equal(passes(validator, others), false, validator);
    assert.ok(passes(validator, all), validator);
  }
});

const TOLERANCE: Readonly<Partial<Record<WebhookKind, number>>> = {
  slack: 300,
  stripe: 300,
  standard_webhooks: 300,
  discord: 300,
  generic_ed25519: 300,
  linear: 60,
};
const TIME_FIELDS: Readonly<Partial<Record<WebhookKind, string>>> = {
  slack: 'x-slack-request-timestamp',
  standard_webhooks: 'webhook-timestamp',
  discord: 'x-signature-timestamp',
  generic_ed25519: 'x-signature-timestamp',
};

test('validators: a time before or behind the tolerance is refused, by what was signed', () => {
  for (const [kind, most] of Object.entries(TOLERANCE) as Array<[WebhookKind, number]>)
    for (const [seconds, expected] of [
      [0, null],
      [most, null],
      [-most, null],
      [most + 1, 'signature_too_old'],
      [-most - 1, 'signature_too_old'],
      [86_400, 'signature_too_old'],
    ] as const) {
      const now = NOW + seconds * 1000;
      assert.equal(faultOf(kind, SIGNED[kind], { now }), expected, `${kind} ${seconds}`);
      // An old signature under a new time.
      const field = TIME_FIELDS[kind];
      if (field === undefined) continue;
      assert.equal(passes(kind, { ...SIGNED[kind], [field]: String(now / 1000) }, { now }), seconds === 0, kind);
    }
  for (const seconds of [0, 86_400]) {
    const now = NOW + seconds * 1000;
    const renewed = (SIGNED.stripe['stripe-signature'] ?? '').replace(`t=${AT}`, `t=${now / 1000}`);
    assert.equal(passes('stripe', { 'stripe-signature': renewed }, { now }), seconds === 0);
  }
});

test('validators: a time in another form is refused, though it is what was signed', () => {
  for (const time of ['', '-1', '1e9', `${AT}.5`, ` ${AT}`, `${AT} `, '9'.repeat(13), 'NaN', '0x10']) {
    const slack = {
      'x-slack-request-timestamp': time,
      'x-slack-signature': `v0=${hex(`v0:${time}:${BODY}`)}`,
    };
    assert.equal(faultOf('slack', slack), 'signature_missing', time);
    const ed25519 = {
      'x-signature-timestamp': time,
      'x-signature-ed25519': signed25519(`${time}${BODY}`).toString('hex'),
    };
    for (const kind of ['discord', 'generic_ed25519'] as const)
      assert.equal(faultOf(kind, ed25519), 'signature_missing', time);
    const svix = { ...SIGNED.standard_webhooks, 'webhook-timestamp': time };
    assert.equal(faultOf('standard_webhooks', svix), 'signature_missing', time);
  }
  for (const time of [`"${NOW}"`, 'null', '[1]']) {
    const body = Buffer.from(`{"webhookTimestamp":${time}}`);
    assert.equal(faultOf('linear', { 'linear-signature': hex(body) }, { body }), 'signature_missing', time);
  }
});

test('Linear: only the time in the signed body counts', () => {
  const now = NOW + 3600_000;
  const headers = { ...SIGNED.linear, 'linear-timestamp': String(now) };
  assert.equal(faultOf('linear', headers, { now }), 'signature_too_old');
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
  for (const validator of WEBHOOK_KINDS) {
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
  assert.equal(faultOf('slack', { ...SIGNED.slack, 'x-slack-request-timestamp': 'now' }), 'signature_missing');
  assert.equal(faultOf('stripe', { 'stripe-signature': `t=${AT},v0=${'0'.repeat(64)}` }), 'signature_missing');
});

test('Standard Webhooks: any of several v1 signatures is enough, up to eight; Svix has other names', () => {
  const wrong = v1('msg_2');
  const shows = (...parts: string[]) =>
    passes('standard_webhooks', { ...SIGNED.standard_webhooks, 'webhook-signature': parts.join(' ') });
  for (let place = 0; place < 8; place++) {
    const parts = Array<string>(8).fill(wrong);
    parts[place] = v1('msg_1');
    assert.ok(shows(...parts), `place ${place}`);
  }
  assert.ok(shows('v1a,xyz', 'v2,abc', v1('msg_1')), 'of other versions');
  assert.equal(shows(...Array<string>(8).fill(wrong), v1('msg_1')), false, 'the ninth is not looked at');
  assert.equal(shows(v1('msg_1').replace('v1,', 'v1a,')), false);
  const svix = { 'svix-id': 'msg_1', 'svix-timestamp': String(AT), 'svix-signature': v1('msg_1') };
  assert.ok(passes('standard_webhooks', svix));
  // Names of one kind: the id of one with the signature of the other is none.
  const mixed = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(AT), 'svix-signature': v1('msg_1') };
  assert.equal(faultOf('standard_webhooks', mixed), 'signature_missing');
  assert.ok(passes('standard_webhooks', SIGNED.standard_webhooks, { secret: SVIX_KEY.toString('base64') }));
});

test('Standard Webhooks: a public key verifies v1a signatures, and no v1', () => {
  const secret = `whpk_${PUBLIC_DER.subarray(-32).toString('base64')}`;
  const signature = `v1a,${signed25519(`msg_1.${AT}.${BODY}`).toString('base64')}`;
  const headers = { ...SIGNED.standard_webhooks, 'webhook-signature': `v1,x ${signature}` };
  assert.equal(faultOf('standard_webhooks', headers, { secret }), null);
  assert.equal(faultOf('standard_webhooks', headers, { secret, body: Buffer.from('{}') }), 'signature_wrong');
  assert.equal(faultOf('standard_webhooks', SIGNED.standard_webhooks, { secret }), 'signature_missing');
});

test('Twilio: a body that no signature covers is refused', () => {
  const signature = (text: string) => createHmac('sha1', SECRET).update(text).digest('base64');
  const url = 'https://api.example.com/webhooks/1';
  const form = 'application/x-www-form-urlencoded; charset=utf-8';
  const of = (body: string, signed: string, type: string = form) =>
    faultOf(
      'twilio',
      { 'x-twilio-signature': signature(signed), 'content-type': type },
      { url, body: Buffer.from(body) },
    );
  assert.equal(of('b=2&a=1', `${url}a1b2`), null);
  assert.equal(of('b=2&a=1', url), 'signature_wrong');
  assert.equal(of('{"a":1}', url, 'application/json'), 'signature_wrong');
  assert.equal(of('', url, 'application/json'), null);
  // With and without the port that goes without saying.
  assert.equal(of('', url.replace('.com/', '.com:443/')), null);
  const many = Array.from({ length: 1_001 }, () => 'a=1').join('&');
  assert.equal(of(many, `${url}a1`), 'signature_wrong');
});

test('Ed25519: a public key is hex, base64 or PEM', () => {
  const pem = KEYS.publicKey.export({ format: 'pem', type: 'spki' });
  const keys = [
    PUBLIC_KEY,
    PUBLIC_KEY.toUpperCase(),
    PUBLIC_DER.subarray(-32).toString('base64'),
    PUBLIC_DER.toString('base64'),
    pem,
  ];
  for (const secret of keys) {
    assert.equal(secretProblem('generic_ed25519', secret), null, secret);
    assert.ok(passes('generic_ed25519', SIGNED.generic_ed25519, { secret }), secret);
  }
  assert.equal(secretProblem('discord', PUBLIC_KEY), null);
});

test('validators: a secret that can be none of its sender has a problem', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cases: ReadonlyArray<readonly [WebhookKind, string]> = [
    ['discord', SECRET],
    ['discord', PUBLIC_KEY.slice(1)],
    ['generic_ed25519', SECRET],
    ['generic_ed25519', publicKey.export({ format: 'pem', type: 'spki' })],
    ['standard_webhooks', 'whsec_'],
    ['standard_webhooks', 'whsec_not base64'],
    ['standard_webhooks', 'whpk_AAAA'],
  ];
  for (const [kind, secret] of cases) assert.match(secretProblem(kind, secret) ?? '', /^must be /, `${kind} ${secret}`);
  for (const kind of WEBHOOK_KINDS) assert.equal(secretProblem(kind, secretOf(kind)), null, kind);
});

test('validators: each of several secrets holds, and no other', () => {
  for (const kind of WEBHOOK_KINDS) {
    const other = kind === 'standard_webhooks' ? `whsec_${'A'.repeat(32)}` : '0'.repeat(64);
    for (const secrets of [
      [secretOf(kind), other],
      [other, secretOf(kind)],
    ])
      assert.equal(faultOf(kind, SIGNED[kind], { secrets }), null, kind);
    assert.equal(faultOf(kind, SIGNED[kind], { secrets: [other, other] }), 'signature_wrong', kind);
    assert.equal(faultOf(kind, SIGNED[kind], { secrets: [] }), 'signature_wrong', kind);
  }
});

test('validators: a check of the address has its response, and a delivery the one that its sender wants', () => {
  const said = (kind: WebhookKind, body: object, headers = {}) =>
    describe(kind, { headers, url: URL, body: Buffer.from(JSON.stringify(body)) });
  assert.deepEqual(said('slack', { type: 'url_verification', challenge: 'c' }).challenge, {
    status: 200,
    body: { challenge: 'c' },
  });
  assert.deepEqual(said('discord', { type: 1, id: '7' }).challenge, { status: 200, body: { type: 1 } });
  assert.deepEqual(said('discord', { type: 0 }).challenge, { status: 204, body: null });
  const event = said('discord', { type: 1, event: { type: 'ENTITLEMENT_CREATE' } });
  assert.deepEqual(
    [event.challenge, event.eventType, event.accepted],
    [null, 'ENTITLEMENT_CREATE', { status: 204, body: null }],
  );
  const interaction = said('discord', { type: 2, id: '7' });
  assert.deepEqual([interaction.challenge, interaction.deliveryId, interaction.accepted.status], [null, '7', 202]);
  const linear = said('linear', { type: 'Issue', action: 'create' }, { 'linear-delivery': 'd1' });
  assert.deepEqual([linear.eventType, linear.deliveryId, linear.accepted.status], ['Issue.create', 'd1', 200]);
  assert.deepEqual(said('twilio', {}).accepted, { status: 204, body: null });
  assert.deepEqual(said('shopify', {}, { 'x-shopify-topic': 'orders/paid', 'x-shopify-webhook-id': 'w1' }), {
    eventType: 'orders/paid',
    deliveryId: 'w1',
    challenge: null,
    accepted: { status: 202, body: { ok: true } },
  });
  const svix = said('standard_webhooks', { type: 'user.created' }, { 'svix-id': 'm', 'svix-signature': 'v1,' });
  assert.deepEqual([svix.eventType, svix.deliveryId], ['user.created', 'm']);
  // Only those of its own sender.
  assert.equal(said('github', { type: 'url_verification', challenge: 'c' }).challenge, null);
  assert.equal(said('generic_ed25519', { type: 1 }).challenge, null);
});

test('webhooks: of a body that is nested too deep nothing is read, whatever its type', () => {
  const deep = (levels: number): Buffer => Buffer.from(`{"type":"x","a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
  assert.equal(
    describe('stripe', { headers: { 'content-type': 'text/plain' }, url: URL, body: deep(31) }).eventType,
    'x',
  );
  for (const validator of ['slack', 'stripe', 'standard_webhooks', 'discord', 'linear'] as const)
    assert.equal(
      describe(validator, { headers: { 'content-type': 'text/plain' }, url: URL, body: deep(500_000) }).eventType,
      null,
    );
});
