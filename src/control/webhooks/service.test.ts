/** Webhook receivers over HTTP: accepted signatures, stored deliveries, and reading them. Signed by the providers' own libraries. */
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign as sign25519 } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, beforeEach, test } from 'node:test';
import { sign as githubSign } from '@octokit/webhooks-methods';
import { eq } from 'drizzle-orm';
import { default as StripeClient } from 'stripe';
import { organizations, webhookDeliveries, webhookReceivers } from '../db/schema.ts';
import { mintMaster } from '../access-keys/testing.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

const SECRET = 'whsec_of the test';
const DAY = 24 * 3600_000;

let plane: Plane;
let api: PlaneApi;
let ann: Person;
let bob: Person;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  const team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  bob = await team.person('bob@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const make = async (validator: string, more: object = {}, by = ann): Promise<string> => {
  const made = await by.call('POST', '/webhook-receivers', { validator, secret: SECRET, name: 'orders', ...more });
  assert.equal(made.status, 201, made.text);
  return String(made.body['id']);
};

interface Said {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function deliver(id: string, body: string | Buffer, headers: Record<string, string>): Promise<Said> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const answer = await fetch(`http://127.0.0.1:${api.port}/webhooks/${id}`, {
    method: 'POST',
    headers,
    body: new Uint8Array(bytes),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const hex = (text: string | Buffer, key = SECRET) => createHmac('sha256', key).update(text).digest('hex');
const generic = (id: string, body: string, more: Record<string, string> = {}) =>
  deliver(id, body, { 'x-signature-256': `sha256=${hex(body)}`, ...more });
const seconds = () => Math.floor(plane.now / 1000);
const read = async (id: string, query = '', by = ann) => {
  const answer = await by.call('GET', `/webhook-receivers/${id}/events${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as ReadonlyArray<Record<string, string> & { headers: Record<string, string> }>;
};
const bodies = async (id: string, query = '') =>
  (await read(id, query)).map((row) => Buffer.from(String(row['body']), 'base64').toString());

test('a receiver is made, shown without its secret, changed and deleted by its organization alone', async () => {
  const made = await ann.call('POST', '/webhook-receivers', { validator: 'github', secret: SECRET, name: ' orders ' });
  assert.equal(made.status, 201);
  const id = String(made.body['id']);
  assert.equal(made.body['url'], `http://api.test/webhooks/${id}`);
  assert.equal(made.body['name'], 'orders');
  assert.ok(!made.text.includes(SECRET));
  assert.deepEqual((await ann.call('GET', '/webhook-receivers')).body, [made.body]);
  assert.deepEqual((await ann.call('GET', `/webhook-receivers/${id}`)).body, made.body);
  assert.deepEqual((await bob.call('GET', '/webhook-receivers')).body, []);
  for (const [method, path, body] of [
    ['GET', ''],
    ['PATCH', '', { name: 'mine' }],
    ['DELETE', ''],
    ['GET', '/events'],
  ] as const)
    assert.deepEqual(said(await bob.call(method, `/webhook-receivers/${id}${path}`, body)), [404, 'not_found']);
  const changed = await ann.call('PATCH', `/webhook-receivers/${id}`, { name: 'invoices', id: 'x', received: 9 });
  assert.deepEqual(changed.body, { ...(made.body as Record<string, unknown>), name: 'invoices' });
  assert.deepEqual(said(await ann.call('DELETE', `/webhook-receivers/${id}`)), [200]);
  assert.deepEqual(said(await ann.call('GET', `/webhook-receivers/${id}`)), [404, 'not_found']);
  const auditLog = (await ann.call('GET', '/events')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  assert.deepEqual(
    auditLog.map((row) => row['action']).filter((action) => String(action).startsWith('webhook')),
    ['webhook_receiver.delete', 'webhook_receiver.update', 'webhook_receiver.create'],
  );
  assert.ok(!JSON.stringify(auditLog).includes(SECRET));
});

test('a secret that is empty or blank, an unknown validator, a missing name: 400', async () => {
  for (const body of [
    { validator: 'github', secret: '', name: 'a' },
    { validator: 'github', secret: ' \t', name: 'a' },
    { validator: 'github', secret: null, name: 'a' },
    { validator: 'github', name: 'a' },
    { validator: 'gitlab', secret: 's', name: 'a' },
    { validator: 'github', secret: 's', name: ' ' },
    { validator: 'github', secret: 's' },
  ])
    assert.deepEqual(said(await ann.call('POST', '/webhook-receivers', body)), [400, 'invalid_request']);
});

test('generic: signed over the bytes as they came, whatever their type', async () => {
  const id = await make('generic_hmac_sha256');
  const body = '{ "a" : 1 }\n\u00e4';
  const taken = await generic(id, body, { 'x-event-type': 'order.paid', 'content-type': 'text/plain' });
  assert.deepEqual(taken, { status: 202, body: { ok: true } });
  const raw = Buffer.from([0, 255, 13, 10, 128]);
  const second = await deliver(id, raw, {
    'x-signature-256': `sha256=${createHmac('sha256', SECRET).update(raw).digest('hex')}`,
  });
  assert.equal(second.status, 202);
  const [first, other] = await read(id);
  assert.equal(Buffer.from(String(first?.['body']), 'base64').toString(), body);
  assert.deepEqual(
    [first?.['event_type'], first?.['delivery_id'], first?.['content_type']],
    ['order.paid', null, 'text/plain'],
  );
  assert.deepEqual(Buffer.from(String(other?.['body']), 'base64'), raw);
});

test('github: as its own library signs', async () => {
  const id = await make('github');
  const body = JSON.stringify({ ref: 'refs/heads/main' });
  const headers = {
    'x-hub-signature-256': await githubSign(SECRET, body),
    'x-github-event': 'push',
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'content-type': 'application/json',
    authorization: 'Bearer of another user',
    cookie: 'a=b',
  };
  assert.equal((await deliver(id, body, headers)).status, 202);
  assert.equal((await deliver(id, body, headers)).status, 202, 'sent again');
  const rows = await read(id);
  assert.equal(rows.length, 1, 'and stored once');
  assert.deepEqual([rows[0]?.['event_type'], rows[0]?.['delivery_id']], ['push', headers['x-github-delivery']]);
  assert.equal(rows[0]?.headers['x-github-event'], 'push');
  assert.deepEqual([rows[0]?.headers['authorization'], rows[0]?.headers['cookie']], [undefined, undefined]);
});

test('slack: by its documented example, with its tolerance and its handshake', async () => {
  const secret = '8f742231b10e8888abcd99yyyzzz85a5';
  const id = await make('slack', { secret });
  // From docs.slack.dev/authentication/verifying-requests-from-slack.
  const example =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
  const signed = {
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    'x-slack-request-timestamp': '1531420618',
    'content-type': 'application/x-www-form-urlencoded',
  };
  const there = plane.now;
  plane.now = 1531420618_000 + 300_000;
  const team = new Team(plane, api);
  assert.equal((await deliver(id, example, signed)).status, 202);
  plane.now += 1_000;
  assert.deepEqual((await deliver(id, example, signed)).body['error'], 'invalid_signature', 'older than five minutes');
  plane.now = there;
  ann = await team.again(ann);

  const slack = (body: string) => {
    const at = String(seconds());
    return deliver(id, body, {
      'x-slack-request-timestamp': at,
      'x-slack-signature': `v0=${hex(`v0:${at}:${body}`, secret)}`,
    });
  };
  const asked = await slack(JSON.stringify({ type: 'url_verification', challenge: '3eZbrw1aBm2rZ' }));
  assert.deepEqual(asked, { status: 200, body: { challenge: '3eZbrw1aBm2rZ' } });
  const event = JSON.stringify({ type: 'event_callback', event_id: 'Ev08MFMKH6', event: { type: 'reaction_added' } });
  assert.equal((await slack(event)).status, 202);
  assert.equal((await slack(event)).status, 202);
  const rows = await read(id);
  assert.deepEqual(
    rows.map((row) => [row['event_type'], row['delivery_id']]),
    [
      [null, null],
      ['reaction_added', 'Ev08MFMKH6'],
    ],
  );
  const unsigned = await deliver(id, JSON.stringify({ type: 'url_verification', challenge: 'x' }), {});
  assert.equal(unsigned.status, 401, 'the handshake is signed too');
});

test('discord: its PING is answered behind the signature, and events with 204', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const secret = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
  const id = await make('discord', { secret });
  const send = async (message: object, at = seconds()): Promise<readonly [number, string]> => {
    const body = JSON.stringify(message);
    const signature = sign25519(null, Buffer.from(`${at}${body}`), privateKey).toString('hex');
    const headers = { 'x-signature-timestamp': String(at), 'x-signature-ed25519': signature };
    const answer = await fetch(`http://127.0.0.1:${api.port}/webhooks/${id}`, { method: 'POST', headers, body });
    return [answer.status, await answer.text()];
  };
  assert.deepEqual(await send({ type: 1 }), [200, '{"type":1}']);
  assert.deepEqual(await send({ type: 0 }), [204, '']);
  assert.equal((await send({ type: 1 }, seconds() - 301))[0], 401);
  assert.equal((await deliver(id, '{"type":1}', {})).status, 401, 'the PING is signed too');
  assert.deepEqual(await read(id), []);
  assert.deepEqual(await send({ type: 1, event: { type: 'ENTITLEMENT_CREATE' } }), [204, '']);
  assert.deepEqual(
    (await read(id)).map((row) => row['event_type']),
    ['ENTITLEMENT_CREATE'],
  );
});

test('twilio: signs the public URL of the receiver, with its query and the form', async () => {
  const id = await make('twilio');
  const url = `http://api.test/webhooks/${id}?a=%20b`;
  const send = async (signed: string): Promise<number> => {
    const signature = createHmac('sha1', SECRET).update(signed).digest('base64');
    const headers = { 'x-twilio-signature': signature, 'content-type': 'application/x-www-form-urlencoded' };
    const body = 'To=%2B1&MessageStatus=sent';
    const to = `http://127.0.0.1:${api.port}/webhooks/${id}?a=%20b`;
    return (await fetch(to, { method: 'POST', headers, body })).status;
  };
  assert.equal(await send(`${url}MessageStatussentTo+1`), 204);
  assert.equal(await send(`${url}MessageStatussentTo+2`), 401);
  assert.equal(await send(`http://127.0.0.1:${api.port}/webhooks/${id}?a=%20bMessageStatussentTo+1`), 401);
  assert.deepEqual(
    (await read(id)).map((row) => row['event_type']),
    ['sent'],
  );
});

test('hub.challenge: is sent back for the verify token of the receiver alone', async () => {
  const made = await ann.call('POST', '/webhook-receivers', { validator: 'github', secret: SECRET, name: 'meta' });
  const token = String(made.body['verify_token']);
  assert.match(token, /^[0-9a-f]{32}$/);
  const other = await ann.call('GET', `/webhook-receivers/${await make('github')}`);
  const ask = async (query: Record<string, string>, id = String(made.body['id'])) => {
    const answer = await fetch(`http://127.0.0.1:${api.port}/webhooks/${id}?${new URLSearchParams(query)}`);
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  const right = { 'hub.mode': 'subscribe', 'hub.verify_token': token, 'hub.challenge': '<b>1158201444' };
  const said = await ask(right);
  assert.deepEqual([said.status, said.text], [200, '<b>1158201444']);
  assert.match(said.headers.get('content-type') ?? '', /^text\/plain/);
  assert.equal(said.headers.get('x-content-type-options'), 'nosniff');
  for (const wrong of ['', token.slice(1), `${token}0`, String(other.body['verify_token'])])
    assert.equal((await ask({ ...right, 'hub.verify_token': wrong })).status, 403, wrong);
  for (const [name, value] of [
    ['hub.mode', 'unsubscribe'],
    ['hub.challenge', ''],
    ['hub.challenge', 'x'.repeat(257)],
  ] as const)
    assert.equal((await ask({ ...right, [name]: value })).status, 400, name);
  assert.equal((await ask({})).status, 400);
  assert.equal((await ask(right, 'x')).status, 404);
  assert.equal((await ask(right, '019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a13')).status, 404);
});

test('several secrets hold at the same time, and a secret that can be none is refused', async () => {
  const id = await make('generic_hmac_sha256', { secret: ['new', 'old'] });
  const send = (secret: string) => deliver(id, '{}', { 'x-signature-256': `sha256=${hex('{}', secret)}` });
  for (const [secret, status] of [
    ['new', 202],
    ['old', 202],
    ['other', 401],
    ['["new","old"]', 401],
  ] as const)
    assert.equal((await send(secret)).status, status, secret);
  assert.equal((await ann.call('PATCH', `/webhook-receivers/${id}`, { secret: 'new' })).status, 200);
  assert.equal((await send('old')).status, 401);
  assert.equal((await send('new')).status, 202);
  for (const body of [
    { secret: [] },
    { secret: ['a', ' '] },
    { secret: ['a', 'b', 'c', 'd', 'e'] },
    { validator: 'discord' },
    { validator: 'standard_webhooks', secret: 'whsec_?' },
  ])
    assert.deepEqual(said(await ann.call('PATCH', `/webhook-receivers/${id}`, body)), [400, 'invalid_request']);
  assert.equal((await send('new')).status, 202, 'nothing has changed');
});

test('stripe: as its own library signs, with its tolerance, and while a secret is rolled', async () => {
  const id = await make('stripe');
  const stripe = new StripeClient('sk_test_x');
  const body = JSON.stringify({ id: 'evt_1QvK', type: 'invoice.paid' });
  const header = (timestamp: number, secret = SECRET) =>
    stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp });
  const send = (signature: string) => deliver(id, body, { 'stripe-signature': signature });
  for (const at of [seconds() - 301, seconds() + 301]) assert.equal((await send(header(at))).status, 401);
  const [, other = ''] = header(seconds(), 'another').split(',');
  const [t = '', right = ''] = header(seconds() - 300).split(',');
  const old = header(seconds() - 300, 'another').split(',')[1] ?? '';
  assert.equal((await send(`${t},${other}`)).status, 401);
  assert.equal((await send(`${t},v0=${right.slice(3)}`)).status, 401, 'no scheme of ours');
  assert.equal((await send(`${t},${old},${right}`)).status, 202);
  const [row] = await read(id);
  assert.deepEqual([row?.['event_type'], row?.['delivery_id']], ['invoice.paid', 'evt_1QvK']);
});

test('a signature that is missing, wrong, cut, of another body or of another secret: 401, and nothing is kept', async () => {
  for (const validator of ['generic_hmac_sha256', 'github', 'slack', 'stripe']) {
    const id = await make(validator);
    const at = String(seconds());
    const right = {
      generic_hmac_sha256: { 'x-signature-256': `sha256=${hex('{}')}` },
      github: { 'x-hub-signature-256': `sha256=${hex('{}')}` },
      slack: { 'x-slack-request-timestamp': at, 'x-slack-signature': `v0=${hex(`v0:${at}:{}`)}` },
      stripe: { 'stripe-signature': `t=${at},v1=${hex(`${at}.{}`)}` },
    }[validator] as Record<string, string>;
    const wrong: Array<Record<string, string>> = [{}];
    for (const [name, value] of Object.entries(right)) {
      const { [name]: _, ...without } = right;
      wrong.push(without, { ...right, [name]: value.slice(0, -1) }, { ...right, [name]: '' });
      wrong.push({ ...right, [name]: value.replaceAll(/[0-9a-f]{64}/g, '0'.repeat(64)) + 'x' });
    }
    for (const headers of wrong) {
      const { status, body } = await deliver(id, '{}', headers);
      assert.deepEqual([status, body['error']], [401, 'invalid_signature'], `${validator} ${JSON.stringify(headers)}`);
    }
    assert.equal((await deliver(id, '{ }', right)).status, 401);
    assert.deepEqual(await read(id), []);
    assert.equal((await deliver(id, '{}', right)).status, 202, validator);
    await ann.call('PATCH', `/webhook-receivers/${id}`, { secret: 'another' });
    assert.equal((await deliver(id, '{}', right)).status, 401, 'the old secret is over');
  }
});

test('names of header fields are the same in any case', async () => {
  const id = await make('github');
  const body = Buffer.from('{"zen":"Keep it logically awesome."}');
  const signature = await githubSign(SECRET, body.toString());
  for (const [i, change] of [(name: string) => name.toUpperCase(), (name: string) => name.toLowerCase()].entries()) {
    const headers = {
      [change('X-Hub-Signature-256')]: signature,
      [change('X-GitHub-Event')]: 'ping',
      [change('X-GitHub-Delivery')]: `delivery ${i}`,
    };
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    const url = `http://127.0.0.1:${api.port}/webhooks/${id}`;
    const sent = request(url, { method: 'POST', headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on('error', reject).end(body);
    assert.equal(await promise, 202);
  }
  // GitHub's first delivery is a ping, which is kept like any other.
  assert.deepEqual(
    (await read(id)).map((row) => row['event_type']),
    ['ping', 'ping'],
  );
});

test('what this server has sent on and gets back is refused, so that nothing goes round', async () => {
  const [first, second] = [await make('generic_hmac_sha256'), await make('generic_hmac_sha256')];
  for (const receiver of [first, second]) {
    const back = await generic(receiver, '{}', { 'Culvert-Webhook-Receiver': first });
    assert.deepEqual([back.status, back.body['error']], [409, 'conflict']);
  }
  assert.deepEqual([await bodies(first), await bodies(second)], [[], []]);
  // Another server's are none of its business.
  const foreign = { 'Culvert-Webhook-Receiver': '0198c0de-0000-7000-8000-000000000000' };
  assert.equal((await generic(first, '{}', foreign)).status, 202);
});

test('of deliveries that come at once each is kept, and one that comes many times is kept once', async () => {
  const id = await make('generic_hmac_sha256');
  const answers = await Promise.all([
    ...Array.from({ length: 40 }, (_, i) => generic(id, `body ${i}`, { 'x-delivery-id': `id ${i}` })),
    ...Array.from({ length: 20 }, () => generic(id, 'the same', { 'x-delivery-id': 'same' })),
  ]);
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
  const rows = await read(id, '?limit=500');
  assert.equal(rows.length, 41);
  assert.equal(new Set(rows.map((row) => row['delivery_id'])).size, 41);
  assert.equal((await ann.call('GET', `/webhook-receivers/${id}`)).body['received'], 41);
});

test('an unknown receiver, a malformed one and a deleted one: 404; a body over 1 MiB: 413', async () => {
  const id = await make('generic_hmac_sha256');
  for (const other of ['019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a13', 'nonsense'])
    assert.equal((await generic(other, '{}')).status, 404);
  const large = 'x'.repeat(1024 * 1024);
  assert.equal((await generic(id, large)).status, 202);
  assert.equal((await generic(id, `${large}x`)).status, 413);
  await ann.call('DELETE', `/webhook-receivers/${id}`);
  assert.equal((await generic(id, '{}')).status, 404);
  assert.equal(plane.control.store.db.select().from(webhookDeliveries).all().length, 0);
});

test('a reader with a cursor gets each delivery once, in order, also when the clock goes back or the cursor is gone', async () => {
  const id = await make('generic_hmac_sha256');
  for (const body of ['1', '2']) await generic(id, body);
  plane.now -= 60_000;
  for (const body of ['3', '4', '5']) await generic(id, body);
  plane.now += 60_000;
  const [first, second] = await read(id, '?limit=2');
  assert.deepEqual(await bodies(id, '?limit=2'), ['1', '2']);
  assert.deepEqual(await bodies(id, `?after=${second?.['id']}&limit=2`), ['3', '4']);
  const all = await read(id);
  assert.deepEqual(await bodies(id, `?after=${all.at(-1)?.['id']}`), []);
  plane.control.store.db
    .delete(webhookDeliveries)
    .where(eq(webhookDeliveries.id, String(first?.['id'])))
    .run();
  assert.deepEqual(await bodies(id, `?after=${first?.['id']}`), ['2', '3', '4', '5']);
  for (const query of ['?after=nonsense', '?limit=0', '?limit=501', '?wait=31', '?wait=x'])
    assert.deepEqual(said(await ann.call('GET', `/webhook-receivers/${id}/events${query}`)), [400, 'invalid_request']);
});

test('the newest come first, page by page, also from one that is gone on', async () => {
  const id = await make('generic_hmac_sha256');
  for (const body of ['1', '2', '3', '4', '5']) await generic(id, body);
  const page = await read(id, '?order=newest&limit=2');
  assert.deepEqual(await bodies(id, '?order=newest&limit=2'), ['5', '4']);
  const last = String(page[1]?.['id']);
  assert.deepEqual(await bodies(id, `?order=newest&limit=2&before=${last}`), ['3', '2']);
  plane.control.store.db.delete(webhookDeliveries).where(eq(webhookDeliveries.id, last)).run();
  assert.deepEqual(await bodies(id, `?order=newest&before=${last}`), ['3', '2', '1']);
  assert.deepEqual(await bodies(id, `?order=newest&before=${String(page[0]?.['id'])}`), ['3', '2', '1']);
  assert.equal((await ann.call('GET', `/webhook-receivers/${id}/events?order=newest&before=x`)).status, 400);
  assert.equal((await bob.call('GET', `/webhook-receivers/${id}/events?order=newest`)).status, 404);
});

test('an answer ends behind the body that makes it large; a brief list has all, and one delivery its body', async () => {
  const id = await make('generic_hmac_sha256');
  const size = 1024 * 1024;
  for (let i = 0; i < 10; i++) await generic(id, String(i).repeat(size));
  assert.equal((await read(id)).length, 8);
  assert.equal((await read(id, '?order=newest')).length, 8);
  const brief = await read(id, '?order=newest&brief=true');
  assert.deepEqual(
    brief.map(({ body, headers, size: length }) => ({ body, headers, length })),
    Array.from({ length: 10 }, () => ({ body: '', headers: {}, length: size })),
  );
  const path = `/webhook-receivers/${id}/events/${brief[9]?.['id']}`;
  const one = (await ann.call('GET', path)).body;
  assert.deepEqual(one, (await read(id, '?limit=1'))[0]);
  assert.equal(Buffer.from(String(one['body']), 'base64').toString(), '0'.repeat(size));
  assert.equal((await bob.call('GET', path)).status, 404);
  assert.equal(
    (await ann.call('GET', `/webhook-receivers/${await make('github')}/events/${brief[9]?.['id']}`)).status,
    404,
  );
});

test('a reader that waits is answered when a delivery comes, and when the server stops', {
  timeout: 20_000,
}, async () => {
  const id = await make('generic_hmac_sha256');
  const waiting = bodies(id, '?wait=30');
  while (plane.control.mailbox.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  await generic(id, 'at last');
  assert.deepEqual(await waiting, ['at last']);
  assert.equal(plane.control.mailbox.waiting, 0);
  const last = (await read(id)).at(-1)?.['id'];
  const again = bodies(id, `?after=${last}&wait=30`);
  while (plane.control.mailbox.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  plane.control.mailbox.endWaits();
  assert.deepEqual(await again, []);
});

test('only so many wait at once: the next is answered without', { timeout: 20_000 }, async () => {
  const id = await make('generic_hmac_sha256');
  const waits = Array.from({ length: 16 }, () => bodies(id, '?wait=30'));
  while (plane.control.mailbox.waiting < 16) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(await bodies(id, '?wait=30'), []);
  await generic(id, 'x');
  for (const wait of waits) assert.deepEqual(await wait, ['x']);
});

test('of one organization only so many wait, and the others still do', { timeout: 20_000 }, async () => {
  const ids = await Promise.all(Array.from({ length: 7 }, () => make('generic_hmac_sha256')));
  const waits = ids.flatMap((id) => Array.from({ length: 16 }, () => bodies(id, '?wait=30')));
  const early = await Promise.race(waits);
  assert.deepEqual(early, [], 'who finds no place is answered');
  while (plane.control.mailbox.waiting < 100) await new Promise((resolve) => setImmediate(resolve));
  const theirs = await make('generic_hmac_sha256', {}, bob);
  const waiting = read(theirs, '?wait=30', bob);
  while (plane.control.mailbox.waiting < 101) await new Promise((resolve) => setImmediate(resolve));
  await generic(theirs, 'x');
  assert.equal((await waiting).length, 1);
  plane.control.mailbox.endWaits();
  await Promise.all(waits);
});

test('webhooks: a member removed while waiting gets no later delivery', { timeout: 20_000 }, async () => {
  const id = await make('generic_hmac_sha256');
  const viv = await new Team(plane, api).member('viv@example.test', ann, 'viewer');
  const as = await new Team(plane, api).acting(viv, ann.home);
  const waiting = api.call('GET', `/webhook-receivers/${id}/events?wait=30`, { as });
  while (plane.control.mailbox.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await ann.call('DELETE', `/orgs/${ann.home}/members/${viv.id}`)).status, 200);
  await generic(id, 'not for viv');
  const answer = await waiting;
  assert.deepEqual(said(answer), [401, 'unauthorized']);
  assert.ok(!answer.text.includes(Buffer.from('not for viv').toString('base64')));
});

test('webhooks: a receiver that is deleted during a wait is not found', { timeout: 20_000 }, async () => {
  const id = await make('generic_hmac_sha256');
  const waiting = ann.call('GET', `/webhook-receivers/${id}/events?wait=30`);
  while (plane.control.mailbox.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  await ann.call('DELETE', `/webhook-receivers/${id}`);
  assert.deepEqual(said(await waiting), [404, 'not_found']);
});

test('a key of an agent or of a project reads the mailbox of its organization, and nothing else', async () => {
  const id = await make('generic_hmac_sha256');
  await generic(id, 'x');
  const minted = (await ann.call('POST', '/tokens', { name: 'agent' })).body;
  const project = (await ann.call('POST', '/projects/default/tokens', { name: 'job' })).body;
  const master = await mintMaster(ann);
  const foreign = (await bob.call('POST', '/tokens', { name: 'agent' })).body;
  const path = `/webhook-receivers/${id}/events`;
  const by = async (as: unknown, at = path) => said(await api.call('GET', at, { as: String(as) }));
  for (const key of [minted['apiKey'], minted['wireBytes'], project['apiKey']]) {
    assert.deepEqual(await by(key), [200]);
    for (const at of ['/webhook-receivers', `/webhook-receivers/${id}`, '/tunnels', '/auth/me'])
      assert.deepEqual(await by(key, at), [401, 'unauthorized'], at);
    const [event] = await read(id);
    const again = await api.call('POST', `${path}/${event?.['id']}/redeliver`, { as: String(key) });
    assert.deepEqual(said(again), [401, 'unauthorized']);
  }
  assert.deepEqual(await by(foreign['apiKey']), [404, 'not_found']);
  for (const other of [master.apiKey, `${String(minted['apiKey'])}x`, 'mtk_', 'mtk_master_'])
    assert.deepEqual(await by(other), [401, 'unauthorized'], other);
  const { db } = plane.control.store;
  db.update(organizations).set({ approvalStatus: 'suspended' }).run();
  assert.deepEqual(await by(minted['apiKey']), [403, 'forbidden']);
  db.update(organizations).set({ approvalStatus: 'approved' }).run();
  const [last] = (await read(id)).slice(-1);
  const waiting = by(minted['apiKey'], `${path}?wait=30&after=${last?.['id']}`);
  while (plane.control.mailbox.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  await ann.call('DELETE', `/tokens/${minted['nonce']}`);
  await generic(id, 'not for a key that was revoked');
  assert.deepEqual(await waiting, [401, 'unauthorized']);
  plane.now += 25 * 3600_000;
  assert.deepEqual(await by(project['apiKey']), [401, 'unauthorized'], 'it has run out');
});

test('all receivers of an organization together keep so much: the oldest of the fullest goes', async () => {
  const [full, small] = [await make('generic_hmac_sha256'), await make('generic_hmac_sha256')];
  for (const body of ['1', '2']) await generic(full, body.repeat(1000));
  await generic(small, 'stays');
  const { db } = plane.control.store;
  const others = await Promise.all(Array.from({ length: 8 }, () => make('generic_hmac_sha256')));
  for (const other of others)
    db.update(webhookReceivers)
      .set({ storedBytes: 32 * 1024 * 1024 - 1000 })
      .where(eq(webhookReceivers.id, other))
      .run();
  const filled = others[0] as string;
  await generic(small, 'fits');
  assert.deepEqual((await bodies(full)).length, 2, 'there is room');
  // Now the fullest is this one.
  db.update(webhookReceivers).set({ storedBytes: 0 }).where(eq(webhookReceivers.id, filled)).run();
  db.update(webhookReceivers)
    .set({ storedBytes: 32 * 1024 * 1024 })
    .where(eq(webhookReceivers.id, full))
    .run();
  await generic(small, 'x'.repeat(9_000));
  assert.deepEqual(await bodies(full), []);
  const rows = db.select().from(webhookReceivers).all();
  assert.equal(rows.find(({ id }) => id === full)?.displaced, 2);
  assert.equal(rows.find(({ id }) => id === small)?.displaced, 0);
  assert.equal((await bodies(small)).length, 3);
});

test('beyond its number or its bytes the oldest deliveries of a receiver go, and are counted', async () => {
  const id = await make('generic_hmac_sha256');
  const other = await make('generic_hmac_sha256');
  await generic(other, 'stays');
  for (let i = 0; i < 3; i++) await generic(id, `${i}`);
  const { db } = plane.control.store;
  const counted = () =>
    db
      .select()
      .from(webhookReceivers)
      .where(eq(webhookReceivers.id, id))
      .all()[0] as typeof webhookReceivers.$inferSelect;
  db.update(webhookReceivers).set({ storedCount: 10_000 }).where(eq(webhookReceivers.id, id)).run();
  await generic(id, 'more');
  assert.deepEqual(await bodies(id), ['1', '2', 'more']);
  assert.deepEqual([counted().displaced, counted().received, counted().storedCount], [1, 4, 10_000]);
  db.update(webhookReceivers)
    .set({ storedCount: 3, storedBytes: 32 * 1024 * 1024 })
    .where(eq(webhookReceivers.id, id))
    .run();
  await generic(id, 'y'.repeat(500));
  assert.deepEqual(
    (await bodies(id)).map((text) => text[0]),
    ['m', 'y'],
    'as many as its bytes take',
  );
  assert.deepEqual(await bodies(other), ['stays']);
});

test('deliveries are kept for as long as the plan keeps requests, and the counters follow', async () => {
  const id = await make('generic_hmac_sha256');
  plane.control.store.db.update(organizations).set({ plan: 'free' }).run();
  await generic(id, 'old');
  plane.now += 7 * DAY;
  await generic(id, 'new');
  plane.control.retention.sweep();
  ann = await new Team(plane, api).again(ann);
  assert.deepEqual(await bodies(id), ['old', 'new']);
  plane.now += 1;
  plane.control.retention.sweep();
  assert.deepEqual(await bodies(id), ['new']);
  const [row] = plane.control.store.db.select().from(webhookReceivers).all();
  assert.deepEqual([row?.storedCount, row?.received, row?.displaced], [1, 2, 0]);
  const [kept] = plane.control.store.db.select().from(webhookDeliveries).all();
  assert.equal(row?.storedBytes, kept?.bytes);
});

test('an organization that goes takes its receivers along', async () => {
  const id = await make('generic_hmac_sha256');
  await generic(id, 'x');
  assert.equal((await ann.call('POST', '/orgs', { name: 'Next' })).status, 201);
  const gone = await ann.call('DELETE', `/orgs/${ann.home}`, { password: ann.password });
  assert.equal(gone.status, 200, gone.text);
  assert.equal((await generic(id, 'y')).status, 404);
});
