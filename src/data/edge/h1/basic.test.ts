/** HTTP Basic gates at the edge, over real sockets: who gets in, what the service sees, and what becomes of those who guess. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { HeldHasher, quickHash } from '../../../../test/harness/quick-hasher.ts';
import type { BasicGate } from '../../../plane/routes.ts';
import { until } from '../../fixtures/gateway.ts';
import { GUESSES } from '../../policy/password/guesses.ts';
import { httpOrigin, Rig, type RigOptions, type Wire } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };

const gate = (password: string, over: Partial<BasicGate> = {}): BasicGate => ({
  username: 'ann',
  passwordHash: quickHash(password.normalize('NFKC')),
  version: password,
  ...over,
});
const shown = (username: string, password: string): string =>
  `Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** Tunnels `shop` and `shed` in front of a service that says which headers it got. */
async function gated(t: TestContext, more: RigOptions = {}): Promise<{ rig: Rig; wire: Wire; asked: string[] }> {
  const rig = await Rig.start(t, { trustedProxies: ['127.0.0.1'], ...more });
  const asked: string[] = [];
  const origin = await httpOrigin(t, (request, response) => {
    asked.push(request.url ?? '');
    request.resume();
    response.end(JSON.stringify(request.headers));
  });
  await rig.serve('shop', origin.port);
  await rig.serve('shed', origin.port);
  rig.route('shop', { gate: gate('open sesame') });
  return { rig, wire: await rig.visit(), asked };
}

async function ask(wire: Wire, line: string, ...fields: string[]): Promise<string> {
  wire.ask(line, ...fields);
  const { status, head } = await wire.response(line.startsWith('HEAD'));
  return `${status} ${/\r\nculvert-error: (\w+)/.exec(head)?.[1] ?? ''}`.trim();
}

test('who shows no password, or a wrong one, is asked for it; nothing of it reaches the service', WITHIN, async (t) => {
  const { wire, asked } = await gated(t);
  wire.ask('GET /');
  const { status, head } = await wire.response();
  assert.equal(status, 401);
  assert.match(head, /\r\nWWW-Authenticate: Basic realm="shop", charset="UTF-8"\r\n/);
  const right = shown('ann', 'open sesame');
  for (const fields of [
    [shown('ann', 'open barley')],
    [shown('bob', 'open sesame')],
    [shown('', '')],
    ['Authorization: Basic'],
    ['Authorization: Basic !!'],
    [`Authorization: Basic ${Buffer.from('ann').toString('base64')}`],
    [`Authorization: Basic ${Buffer.from([0xff, 0x3a, 0xff]).toString('base64')}`],
    [right.replace('Basic', 'Bearer')],
    [right, right],
    [right.replace('Authorization', 'X-Authorization')],
  ])
    assert.equal(await ask(wire, 'GET /', ...fields), '401 unauthorized', fields.join());
  assert.deepEqual(asked, []);
});

test('basic auth: a wrong password is named as wrong, a missing one is requested', WITHIN, async (t) => {
  const { wire } = await gated(t);
  for (const [fields, says] of [
    [[], /requires a user name and a password/],
    [[shown('ann', 'open barley')], /user name or the password is wrong/],
  ] as const) {
    wire.ask('GET /', ...fields);
    assert.match((JSON.parse((await wire.response()).body) as { message: string }).message, says);
  }
});

test('basic auth: the right password passes, again at once, and is not forwarded', WITHIN, async (t) => {
  const { wire, asked } = await gated(t);
  for (const field of [
    shown('ann', 'open sesame'),
    shown('ann', 'open sesame').replace('Authorization: Basic', 'aUTHORIZATION:bASIC '),
  ]) {
    wire.ask('GET /', field, 'X-Other: 1');
    const { status, body } = await wire.response();
    assert.equal(status, 200);
    const got = JSON.parse(body);
    assert.deepEqual([got['authorization'], got['x-other']], [undefined, '1']);
  }
  assert.equal(asked.length, 2);
});

test('a body that came with the password goes through behind the check', WITHIN, async (t) => {
  const { wire, asked } = await gated(t);
  wire.ask('POST /up', shown('ann', 'open sesame'), 'Content-Length: 5');
  wire.send('hello');
  assert.equal((await wire.response()).status, 200);
  assert.equal(await ask(wire, 'GET /next', shown('ann', 'open sesame')), '200');
  assert.deepEqual(asked, ['/up', '/next']);
});

test('names and passwords are Unicode, however a keyboard writes it', WITHIN, async (t) => {
  const { rig, wire } = await gated(t);
  rig.route('shop', { gate: gate('Schl\u00fcssel', { username: 'J\u00f6rg' }) });
  assert.equal(await ask(wire, 'GET /', shown('Jo\u0308rg', 'Schlu\u0308ssel')), '200');
  assert.equal(await ask(wire, 'GET /', shown('Jorg', 'Schl\u00fcssel')), '401 unauthorized');
});

test(
  'a changed or removed password counts from the next request on, on a connection that is kept',
  WITHIN,
  async (t) => {
    const { rig, wire } = await gated(t);
    // Checked, remembered, and known to the connection.
    for (let i = 0; i < 3; i++) assert.equal(await ask(wire, 'GET /', shown('ann', 'open sesame')), '200');
    rig.route('shop', { gate: gate('new') });
    assert.equal(await ask(wire, 'GET /', shown('ann', 'open sesame')), '401 unauthorized');
    assert.equal(await ask(wire, 'GET /', shown('ann', 'new')), '200');
    rig.route('shop');
    wire.ask('GET /', shown('ann', 'anything'));
    const { status, body } = await wire.response();
    // Without a gate it is the service's business again.
    assert.deepEqual([status, JSON.parse(body)['authorization'] !== undefined], [200, true]);
  },
);

test('a request that waits for its check is asked anew when the password changes meanwhile', WITHIN, async (t) => {
  const hasher = new HeldHasher();
  const { rig, wire, asked } = await gated(t, { makeHasher: () => hasher });
  const other = await rig.visit();
  wire.ask('GET /', shown('ann', 'open sesame'));
  // Read behind the first one: once this is answered, that one is being checked.
  assert.equal(await ask(other, 'GET /'), '401 unauthorized');
  rig.route('shop', { gate: gate('new') });
  hasher.letGo();
  assert.equal((await wire.response()).status, 401);
  assert.deepEqual(asked, []);
});

test("one tunnel's password is none of another's", WITHIN, async (t) => {
  const { rig, wire } = await gated(t);
  rig.route('shed', { gate: gate('barn door', { version: 'open sesame' }) });
  const shed = 'Host: shed.example.test';
  for (let i = 0; i < 3; i++) assert.equal(await ask(wire, 'GET /', shown('ann', 'open sesame')), '200');
  assert.equal(await ask(wire, 'GET /', shown('ann', 'open barley')), '401 unauthorized');
  assert.equal(await ask(wire, 'GET /', shed, shown('ann', 'open sesame')), '401 unauthorized');
  assert.equal(await ask(wire, 'GET /', shed, shown('ann', 'barn door')), '200');
});

test(
  'an address that guesses is refused, with the right password too; others are not, and the same wrong one is no guess',
  WITHIN,
  async (t) => {
    const { wire } = await gated(t);
    const from = (ip: string) => `X-Forwarded-For: ${ip}`;
    // Behind a proxy a connection has many visitors: what one has shown is of no use to the others.
    for (let i = 0; i < 3; i++)
      assert.equal(await ask(wire, 'GET /', from('192.0.2.2'), shown('ann', 'open sesame')), '200');
    for (let i = 0; i < GUESSES; i++) {
      assert.equal(await ask(wire, 'GET /', from('192.0.2.1'), shown('ann', `guess ${i}`)), '401 unauthorized');
      assert.equal(await ask(wire, 'GET /', from('192.0.2.2'), shown('ann', 'stale')), '401 unauthorized');
    }
    wire.ask('GET /', from('192.0.2.1'), shown('ann', 'open sesame'));
    const { status, head } = await wire.response();
    assert.equal(status, 429);
    const wait = Number(/\r\nRetry-After: (\d+)\r\n/.exec(head)?.[1]);
    assert.ok(wait >= 30 && wait <= 60, `Retry-After: ${wait}`);
    assert.equal(await ask(wire, 'GET /', from('192.0.2.2'), shown('ann', 'open sesame')), '200');
    assert.equal(await ask(wire, 'GET /', from('192.0.2.1')), '401 unauthorized');
  },
);

test('a storm of guesses at one tunnel is counted where it is too much, and shuts no other gate', WITHIN, async (t) => {
  const hasher = new HeldHasher();
  const { rig } = await gated(t, { makeHasher: () => hasher });
  rig.route('shed', { gate: gate('barn door') });
  const storm = Array.from({ length: 20 }, async (_, i) => {
    const wire = await rig.visit();
    return ask(wire, 'GET /', `X-Forwarded-For: 192.0.2.${i}`, shown('ann', `guess ${i}`));
  });
  await until(() => rig.node.stats().dropped['password_checks'] === 4);
  const first = await rig.visit();
  const right = shown('ann', 'barn door');
  const answer = ask(first, 'GET /', 'Host: shed.example.test', 'X-Forwarded-For: 198.51.100.1', right);
  // Read behind that one, which is in line by now.
  assert.equal(await ask(await rig.visit(), 'GET /', 'Host: shed.example.test'), '401 unauthorized');
  hasher.letGo();
  assert.equal(await answer, '200');
  const said = await Promise.all(storm);
  assert.equal(said.filter((one) => one === '503 overloaded').length, 4);
});

test(
  'what the policy refuses is not asked for a password, and its headers are set beside the gate',
  WITHIN,
  async (t) => {
    const { rig, wire } = await gated(t);
    const actions = [
      { kind: 'deny' as const, pathPrefix: '/admin', enforce: true },
      { kind: 'header_set' as const, name: 'Authorization', value: 'Bearer inner', enforce: true },
    ];
    rig.route('shop', { gate: gate('open sesame'), policy: { setAt: 0, actions } });
    assert.equal(await ask(wire, 'GET /admin'), '403 denied');
    assert.equal(await ask(wire, 'GET /'), '401 unauthorized');
    wire.ask('GET /', shown('ann', 'open sesame'));
    assert.equal(JSON.parse((await wire.response()).body)['authorization'], 'Bearer inner');
  },
);
