/** Responses to probes and operators: `/health`, `/ready`, `/superadmin/health`. */
import assert from 'node:assert/strict';
import Database from 'better-sqlite3';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { certificates } from '../db/schema.ts';
import type { NodePulse } from '../../plane/link.ts';
import type { Answer } from '../core/testing/harness.ts';
import { IDLE_NODE } from '../core/testing/idle-node.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';

const DAY = 86_400_000;

interface Shown {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly next?: string;
}

let plane: Plane;
let api: PlaneApi;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane, {
    discovery: () => ({
      version: '1',
      agent_address: 'a:1',
      agent_addresses: ['a:1'],
      edge_domain: 'a',
      api_url: '',
      server_id: '',
    }),
  });
  await look();
});
afterEach(async () => {
  await api.close();
  plane.close();
});

/** Both looks that a server takes every two seconds. */
async function look(): Promise<void> {
  await plane.control.disk.look();
  await plane.control.health.look();
}

const get = (path: string, as?: string): Promise<Answer> => api.call('GET', path, as === undefined ? {} : { as });
const checksOf = (answer: Answer): readonly Shown[] => answer.body['checks'] as readonly Shown[];
const bad = async (path = '/health', as?: string): Promise<readonly string[]> =>
  checksOf(await get(path, as))
    .filter(({ status }) => status !== 'ok')
    .map(({ name, status }) => `${name} ${status}`);

async function superadmin(): Promise<string> {
  const made = await plane.control.accounts.createUser({
    email: 'root@example.test',
    name: '',
    plan: 'free',
    superadmin: true,
  });
  const body = { email: 'root@example.test', password: made.password.reveal() };
  return String((await api.call('POST', '/auth/login', { body })).body['access_token']);
}

test('health: all checks are listed and ok when all is well, and the version is shown', async () => {
  const health = await get('/health');
  assert.equal(health.status, 200);
  assert.deepEqual([health.body['status'], health.body['version']], ['ok', '9.9.9'], health.text);
  assert.deepEqual(
    checksOf(health).map(({ name }) => name),
    [
      ...[
        'database',
        'disk_space',
        'data_node',
        'keys',
        'settings',
        'recording',
        'certificates',
        'mail',
        'jobs',
        'backups',
        'log',
      ],
      ...['file_descriptors', 'agents'],
    ],
  );
  const ready = await get('/ready');
  assert.deepEqual([ready.status, ready.body['status']], [200, 'ready']);
  assert.deepEqual(checksOf(ready), checksOf(health));
});

test('health: probes make no query when they are asked', async (t) => {
  const all = t.mock.method(plane.control.store.db, 'get');
  const select = t.mock.method(plane.control.store.db, 'select');
  for (const path of ['/health', '/ready']) assert.equal((await get(path)).status, 200);
  assert.equal(all.mock.callCount() + select.mock.callCount(), 0);
});

test('ready: 503 with the cause while another program has locked the database, and 200 after it', async () => {
  const other = new Database(join(plane.dataDir, 'culvert.db'));
  other.exec('BEGIN IMMEDIATE');
  await look();
  assert.equal((await get('/ready')).status, 200, 'a lock that was seen once may be over');
  plane.now += 2_000;
  await look();
  const refused = await get('/ready');
  assert.equal(refused.status, 503);
  assert.deepEqual(
    [refused.body['status'], refused.body['error'], refused.body['message']],
    ['unavailable', 'unavailable', 'Another program has locked the database.'],
  );
  const health = await get('/health');
  assert.deepEqual([health.status, health.body['status']], [200, 'degraded']);
  other.exec('ROLLBACK');
  other.close();
  await look();
  assert.equal((await get('/ready')).status, 200);
});

test('ready: 503 while the data node does not respond', async () => {
  const node: { pulse: NodePulse | undefined } = { pulse: undefined };
  plane.control.nodes.attach({ ...IDLE_NODE, pulse: async () => node.pulse });
  await look();
  assert.equal((await get('/ready')).status, 503);
  assert.deepEqual(await bad(), ['data_node fail']);
  node.pulse = { edgeEndsAt: null, agentsEndsAt: null };
  await look();
  assert.equal((await get('/ready')).status, 200);
});

test('health: certificates warn before their end, and those by ACME later than those of files', async () => {
  const pulse: { edgeEndsAt: number | null; agentsEndsAt: number | null } = {
    edgeEndsAt: plane.now + 15 * DAY,
    agentsEndsAt: null,
  };
  plane.control.nodes.attach({ ...IDLE_NODE, pulse: async () => pulse });
  plane.control.store.db
    .insert(certificates)
    .values({ name: 'shop.example.test', nextAt: 0, createdAt: 0, chain: 'x', expiresAt: plane.now + 4 * DAY })
    .run();
  await look();
  assert.deepEqual(await bad(), []);
  plane.now += 2.5 * DAY;
  await look();
  assert.deepEqual(await bad(), ['certificates warn']);
  plane.now += 13 * DAY;
  await look();
  assert.deepEqual(await bad(), ['certificates fail']);
  assert.equal((await get('/ready')).status, 200, 'who has other certificates is served');
});

test('health: a failed job, emails that wait and lost log lines are named, and do not end readiness', async () => {
  const lines = { lost: 3, isLosing: true };
  plane.control.health.start(lines)();
  plane.control.jobTimes.plan('retention', 0);
  plane.control.jobTimes.began('retention', 60_000);
  plane.control.jobTimes.ended('retention', { failed: true });
  assert.deepEqual(await bad(), ['jobs warn', 'log warn']);
  lines.isLosing = false;
  plane.control.jobTimes.began('retention', 120_000);
  plane.control.jobTimes.ended('retention', { failed: false });
  assert.deepEqual(await bad(), []);
  assert.equal((await get('/ready')).status, 200);
});

test('health: file descriptors that run out, and agents of an older version, are named with what to do', async () => {
  const figures = { limit: 10_000, used: 100, lacks: 0 };
  const end = plane.control.health.watch({
    get figures() {
      return figures;
    },
  });
  assert.deepEqual(await bad(), []);
  figures.used = 9_500;
  assert.deepEqual(await bad(), ['file_descriptors warn']);
  figures.used = 10_000;
  assert.deepEqual(await bad(), ['file_descriptors fail']);
  end();
  const agent = { agentId: '', orgId: '', tokenId: '', remoteIp: '', hostname: '', connectedAt: 0 };
  const versions = ['0.0.9', '0.0.9', 'dev', '999.0.0'];
  const connections = () =>
    versions.map((version) => ({ ...agent, version, tunnelIds: [], uninspectedIds: [], networkIds: [] }));
  plane.control.nodes.attach({ ...IDLE_NODE, connections });
  assert.deepEqual(await bad(), ['agents warn']);
  const full = await get('/superadmin/health', await superadmin());
  const shown = checksOf(full).find(({ name }) => name === 'agents');
  assert.match(shown?.detail ?? '', /^2 of 4 agents are older than this server \(\S+\): 0\.0\.9: 2\.$/);
  assert.match(shown?.next ?? '', /^Update the program/);
});

test('health: folders and figures are for operators alone', async () => {
  const other = new Database(join(plane.dataDir, 'culvert.db'));
  const root = await superadmin();
  other.exec('BEGIN IMMEDIATE');
  await look();
  await look();
  for (const path of ['/health', '/ready']) {
    const { text } = await get(path);
    assert.doesNotMatch(text.replace('"version":"9.9.9"', ''), /\/|\d/, text);
  }
  const full = await get('/superadmin/health', root);
  assert.equal(full.status, 200);
  const { detail } = checksOf(full).find(({ name }) => name === 'database') ?? { detail: '' };
  assert.ok(detail.includes(plane.dataDir), detail);
  other.exec('ROLLBACK');
  other.close();
  const ann = await plane.person('ann@example.test');
  assert.equal((await get('/superadmin/health')).status, 401);
  assert.throws(() => plane.control.health.fullReport(ann), { code: 'forbidden' });
});
