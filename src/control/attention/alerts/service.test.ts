/** Alert rules over HTTP: what they may say, what of them is shown, who may change them, and what goes with what. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { count } from 'drizzle-orm';
import {
  alertChannels,
  alertIncidents,
  alertMessages,
  alertRules,
  knownAddresses,
  webhookDeliveries,
  webhookForwards,
} from '../../db/schema.ts';
import { AlertFixture } from './testing.ts';

let at: AlertFixture;
beforeEach(async () => {
  at = await AlertFixture.start();
});
afterEach(() => at.close());

type Shown = Readonly<Record<string, unknown>> & {
  readonly channels: ReadonlyArray<Readonly<Record<string, unknown>>>;
};
const EMAIL = [{ type: 'email', to: 'ops@example.test' }];
const create = (more: object, status = 201) =>
  at.call(
    'POST',
    '/alerts',
    { kind: 'tunnel_offline', for_minutes: 5, channels: EMAIL, ...more },
    status,
  ) as Promise<Shown>;
const list = async () => (await at.call('GET', '/alerts')) as unknown as readonly Shown[];

test('alerts: a rule is shown as it was made, with the usual threshold of its kind', async () => {
  const shop = await at.tunnel('shop');
  const made = await create({ kind: 'error_rate', scope: { tunnel_id: shop }, for_minutes: 10 });
  const { id, channels, created_at, updated_at, ...rest } = made;
  assert.deepEqual(rest, {
    kind: 'error_rate',
    scope: { tunnel_id: shop },
    threshold: 0.05,
    for_minutes: 10,
    quiet_hours: null,
    enabled: true,
    state: 'ok',
    incidents: [],
  });
  assert.deepEqual(
    channels.map(({ type, to, last_sent_at, last_error, failing_since }) => [
      type,
      to,
      last_sent_at,
      last_error,
      failing_since,
    ]),
    [['email', 'ops@example.test', null, null, null]],
  );
  assert.deepEqual(await list(), [made]);
  assert.ok(typeof id === 'string' && typeof created_at === 'string' && created_at === updated_at);
});

test('alerts: the audit log has the changed fields, and no secret of a channel', async () => {
  const slack = (key: string) => ({ type: 'slack', url: at.taker.url(`/services/${key}`) });
  const { id, channels } = await create({ channels: [slack('secret-2')] });
  const again = [{ ...slack('secret-3'), id: channels[0]?.['id'] }];
  await at.call('PATCH', `/alerts/${String(id)}`, { for_minutes: 7, channels: again });
  await at.call('PATCH', `/alerts/${String(id)}`, { channels: EMAIL });
  const log = (await at.call('GET', '/events')) as unknown as ReadonlyArray<Shown & { readonly changes: unknown }>;
  const shown = `slack ${new URL(at.taker.url('/')).origin}/…`;
  assert.deepEqual(
    log.filter(({ action }) => action === 'alert.update').map(({ resourceName, changes }) => [resourceName, changes]),
    [
      ['tunnel_offline', [{ field: 'channels', from: shown, to: 'email ops@example.test' }]],
      [
        'tunnel_offline',
        [
          { field: 'for_minutes', from: 5, to: 7 },
          { field: 'channels', from: null, to: 'changed' },
        ],
      ],
    ],
  );
  assert.doesNotMatch(JSON.stringify(log), /secret-/);
});

test('alerts: a rule that makes no sense is refused with the field and the reason', async () => {
  const refused = async (more: object): Promise<string> => {
    const { error, message, details } = await create(more, 400);
    assert.equal(error, 'invalid_request', String(message));
    const [first] = details as ReadonlyArray<{ path: string; message: string }>;
    return `${first?.path}: ${first?.message}`;
  };
  const channel = (one: object) => refused({ channels: [one] });
  assert.match(await refused({ kind: 'cpu' }), /^kind: /);
  assert.match(await refused({ for_minutes: 0 }), /^for_minutes: /);
  assert.match(await refused({ for_minutes: 1441 }), /^for_minutes: /);
  assert.match(await refused({ channels: [] }), /^channels: /);
  assert.match(await refused({ threshold: 1 }), /^threshold: tunnel_offline rules have no threshold/);
  assert.match(await refused({ kind: 'error_rate', threshold: 5 }), /^threshold: .*a share of requests: 0 to 1/);
  assert.match(await refused({ kind: 'budget', threshold: 101 }), /^threshold: .*percent of the budget: 1 to 100/);
  const tunnel_id = await at.tunnel('shop');
  assert.match(await refused({ kind: 'budget', scope: { tunnel_id } }), /^scope\.tunnel_id: .*whole organization/);
  const quiet = (hours: object) => refused({ quiet_hours: { from: '22:00', to: '07:00', time_zone: 'UTC', ...hours } });
  assert.match(await quiet({ time_zone: 'Mars/Base' }), /^quiet_hours\.time_zone: /);
  assert.match(await quiet({ from: '25:00' }), /^quiet_hours\.from: .*time of day/);
  assert.match(await quiet({ to: '22:00' }), /^quiet_hours\.to: /);
  assert.match(await channel({ type: 'sms', to: '1' }), /^channels\.0\.type: /);
  assert.match(await channel({ type: 'slack' }), /^channels\.0\.url: is required/);
  assert.match(await channel({ type: 'slack', url: 'ftp://x.test/' }), /^channels\.0\.url: must start with https/);
  assert.match(await channel({ type: 'email', url: 'https://x.test/' }), /^channels\.0\.url: is not a field of email/);
  assert.match(await channel({ type: 'email', to: 'ops' }), /^channels\.0\.to: /);
  assert.match(await channel({ type: 'webhook', url: 'https://x.test/', secret: 'short' }), /^channels\.0\.secret: /);
  await create({ scope: { tunnel_id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10' } }, 404);
  assert.equal((await list()).length, 0);
});

test('alerts: private addresses and plain HTTP are refused unless edge.allow_private_jwks is set', async (t) => {
  const strict = await AlertFixture.start({ allowPrivateJwks: false });
  t.after(() => strict.close());
  for (const url of [
    'http://hooks.example.test/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://localhost/',
    'https://10.0.0.1/',
  ]) {
    const channels = [{ type: 'webhook', url }];
    const { message } = await strict.call('POST', '/alerts', { kind: 'certificate', for_minutes: 1, channels }, 400);
    assert.match(String(message), /channels\.0\.url must (lead to a public address|start with https)/, url);
  }
});

test('alerts: a token that is kept goes to no other server', async () => {
  const made = await create({
    channels: [
      { type: 'ntfy', url: 'https://ntfy.example.test/ops', token: 'secret-3' },
      { type: 'pagerduty', routing_key: 'secret-4' },
    ],
  });
  const [ntfy, pager] = made.channels;
  const change = async (channels: readonly object[], status: number) =>
    String((await at.call('PATCH', `/alerts/${made['id']}`, { channels }, status))['message']);
  const elsewhere = at.taker.url('/taken');
  assert.match(
    await change([{ ...pick(ntfy), url: elsewhere }], 400),
    /^channels\.0\.token must be entered again: with the new url, it is sent to another server/,
  );
  assert.match(await change([{ ...pick(pager), url: elsewhere }], 400), /^channels\.0\.routing_key must be entered/);
  await change([{ ...pick(ntfy), url: 'https://ntfy.example.test/other' }], 200);
  await change([{ ...pick(ntfy), url: elsewhere, token: null }], 200);
  assert.equal((await at.call('POST', `/alerts/${made['id']}/test`))['ok'], true);
  assert.equal(at.taker.taken.at(-1)?.headers.authorization, undefined);
});
const pick = (channel: Readonly<Record<string, unknown>> | undefined) => ({
  id: channel?.['id'],
  type: channel?.['type'],
});

test('alerts: secrets are never shown again, and stay where a change leaves them out', async () => {
  const made = await create({
    channels: [
      { type: 'webhook', url: at.taker.url('/hook?key=secret-1') },
      { type: 'slack', url: at.taker.url('/services/secret-2') },
      { type: 'ntfy', url: at.taker.url('/topic'), token: 'secret-3' },
      { type: 'pagerduty', routing_key: 'secret-4', url: at.taker.url('/pd') },
    ],
  });
  assert.match(String(made.channels[0]?.['secret']), /^whsec_/, 'the one that the server made, once');
  const [shown] = await list();
  assert.ok(shown !== undefined);
  assert.doesNotMatch(JSON.stringify(shown), /secret/);
  const stored = at.plane.control.store.db.select().from(alertChannels).all();
  assert.doesNotMatch(JSON.stringify(stored), /secret-|whsec_/);
  // As an editor sends back what it was given.
  const channels = shown.channels.map(({ id, type, url }) => ({ id, type, url }));
  const changed = (await at.call('PATCH', `/alerts/${shown['id']}`, { channels, for_minutes: 7 })) as Shown;
  assert.equal(changed['for_minutes'], 7);
  assert.doesNotMatch(JSON.stringify(changed), /secret/);
  const { ok } = await at.call('POST', `/alerts/${shown['id']}/test`);
  assert.equal(ok, true);
  assert.deepEqual(at.taker.taken.map(({ path }) => path).sort(), [
    '/hook?key=secret-1',
    '/pd',
    '/pd',
    '/services/secret-2',
    '/topic',
  ]);
  assert.equal(at.taker.taken.find(({ path }) => path === '/topic')?.headers.authorization, 'Bearer secret-3');
  const foreign = [{ id: shown['id'], type: 'ntfy' }];
  await at.call('PATCH', `/alerts/${shown['id']}`, { channels: foreign }, 400);
});

test('alerts: a viewer sees rules and changes none; another organization sees none', async () => {
  const { id } = await create({});
  const viewer = await at.team.member('viv@example.test', at.ann, 'viewer');
  const as = await at.team.acting(viewer, at.ann.home);
  const call = (method: string, path: string, body?: object) =>
    at.api.call(method, path, { as, ...(body === undefined ? {} : { body }) });
  assert.equal((await call('GET', '/alerts')).status, 200);
  assert.equal((await call('GET', '/alerts/history')).status, 200);
  for (const [method, path, body] of [
    ['POST', '/alerts', { kind: 'certificate', for_minutes: 1, channels: EMAIL }],
    ['PATCH', `/alerts/${id}`, { for_minutes: 1 }],
    ['POST', `/alerts/${id}/test`],
    ['DELETE', `/alerts/${id}`],
  ] as const)
    assert.equal((await call(method, path, body)).status, 403, `${method} ${path}`);
  const bob = await at.team.person('bob@example.test');
  assert.deepEqual((await bob.call('GET', '/alerts')).body, []);
  assert.equal((await bob.call('DELETE', `/alerts/${id}`)).status, 404);
});

test('alerts: an organization has fifty rules', async () => {
  for (let n = 0; n < 50; n++) await create({});
  const { error, message } = await create({}, 409);
  assert.deepEqual([error, /50 alert rules/.test(String(message))], ['conflict', true]);
});

test('alerts: a rule goes with its tunnel, and all rules with their organization', async () => {
  const shop = await at.tunnel('shop');
  await create({ scope: { tunnel_id: shop } });
  await at.rule({ kind: 'tunnel_offline' });
  at.connections = [
    {
      ...{ agentId: 'a', orgId: at.ann.home, tokenId: 't', remoteIp: '198.51.100.7', hostname: 'h', version: '1' },
      ...{ connectedAt: 0, tunnelIds: [], uninspectedIds: [], networkIds: [] },
    },
  ];
  await at.rule({ kind: 'new_address' });
  await at.pass(6 * 60_000);
  at.taker.status = 500;
  const api = await at.tunnel('orders');
  await at.down(api);
  await at.pass(120_000);
  const rows = (): number[] =>
    [alertRules, alertChannels, alertIncidents, alertMessages, knownAddresses].map(
      (table) => at.plane.control.store.db.select({ n: count() }).from(table).get()?.n ?? 0,
    );
  assert.deepEqual(rows(), [3, 3, 1, 1, 1]);
  await at.call('DELETE', `/tunnels/${shop}`);
  assert.equal((await list()).length, 2);
  await at.call('POST', '/orgs', { name: 'Elsewhere' }, 201);
  await at.call('DELETE', `/orgs/${at.ann.home}`);
  assert.deepEqual(rows(), [0, 0, 0, 0, 0]);
});

test('alerts: webhook receivers, budgets and certificates fire by what needs attention', async () => {
  const receiver = { validator: 'generic_hmac_sha256', secret: 'x', name: 'orders' };
  const { id } = await at.call('POST', '/webhook-receivers', receiver, 201);
  await at.rule({ kind: 'webhook_failing' });
  const delivery = (sequence: number, state: 'failed' | 'delivered'): void => {
    const { store } = at.plane.control;
    const common = { sequence, receiverId: String(id) };
    store.inTx(({ db, now }) => {
      db.insert(webhookDeliveries)
        .values({ ...common, id: String(sequence), receivedAt: now, headers: {}, body: Buffer.alloc(0), bytes: 0 })
        .run();
      db.insert(webhookForwards)
        .values({ ...common, place: sequence, state, attempts: 3, lastStatus: 500 })
        .run();
    });
  };
  delivery(1, 'failed');
  await at.pass(2 * 60_000);
  assert.deepEqual(at.said(), ['alert.fired: Webhook receiver orders is failing']);
  delivery(2, 'delivered');
  await at.pass(60_000);
  assert.deepEqual(at.said(), ['alert.recovered: Webhook receiver orders is no longer failing']);
});
