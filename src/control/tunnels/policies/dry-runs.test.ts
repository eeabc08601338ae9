/** What tried actions (`enforce: false`) of a policy would have refused: stored from the data plane's batches, shown with the policy, gone with it. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { dryRuns } from '../../db/schema.ts';
import type { DryRunEvent } from '../../../plane/events.ts';
import { Plane, START } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, said, Team } from '../../core/testing/team.ts';

let plane: Plane;
let api: PlaneApi;
let ann: Person;
let tunnelId: string;
let sequence: number;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  ann = await new Team(plane, api).person('ann@example.test');
  const made = await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop' });
  tunnelId = String(made.body['id']);
  sequence = 0;
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const path = () => `/tunnels/${tunnelId}/policy`;
const deny = { kind: 'deny', path_prefix: '/admin' };
const tried = { ...deny, enforce: false };

/** Puts a policy; what the data plane gets of it. */
async function put(...actions: object[]): Promise<number> {
  plane.now += 1;
  assert.deepEqual(said(await ann.call('PUT', path(), { actions })), [200]);
  const delta = plane.deltas.at(-1);
  assert.ok(delta?.kind === 'put' && delta.route.policy !== null);
  return delta.route.policy.setAt;
}

/** A report of the data plane. */
function report(event: Partial<DryRunEvent> & { setAt: number }): Promise<void> {
  const sample = { method: 'GET', path: '/admin/users', clientIp: '203.0.113.7', code: 'denied' };
  const base = { kind: 'dry_run', tunnelId, index: 0, action: 'deny', refused: 1, lastAt: START, sample } as const;
  return plane.control.link.report({ node: 'n', sequence: ++sequence, events: [{ ...base, ...event }] });
}

async function shown(): Promise<unknown> {
  return (await ann.call('GET', path())).body['dry_run'];
}

test('each tried action that would refuse is shown, with what it would have refused so far', async () => {
  const header = { kind: 'header_set', name: 'X-A', value: 'a', enforce: false };
  const setAt = await put(deny, header, tried);
  const none = { index: 2, kind: 'deny', would_refuse: 0, last_at: null, sample: null };
  assert.deepEqual(await shown(), [none]);
  await report({ setAt, index: 2, refused: 3 });
  const sample = { method: 'POST', path: '/admin', clientIp: '203.0.113.8', code: 'denied' };
  await report({ setAt, index: 2, refused: 4, lastAt: START + 5_000, sample });
  assert.deepEqual(await shown(), [
    {
      index: 2,
      kind: 'deny',
      would_refuse: 7,
      last_at: '2026-11-21T00:00:05.000Z',
      sample: { method: 'POST', path: '/admin', client_ip: '203.0.113.8', error: 'denied' },
    },
  ]);
});

test('another policy begins at nothing, and what comes late of the one before is dropped', async () => {
  const first = await put(tried);
  await report({ setAt: first, refused: 3 });
  const second = await put(tried);
  assert.notEqual(second, first);
  await report({ setAt: first, refused: 5 });
  assert.deepEqual(await shown(), [{ index: 0, kind: 'deny', would_refuse: 0, last_at: null, sample: null }]);
  await report({ setAt: second, refused: 2 });
  assert.equal((((await shown()) as { would_refuse: number }[])[0] ?? {}).would_refuse, 2);
});

test('nothing of a visitor is kept when the policy goes, or the tunnel', async () => {
  await report({ setAt: await put(tried) });
  assert.equal(rows().length, 1);
  await ann.call('DELETE', path());
  assert.deepEqual(rows(), []);
  assert.deepEqual((await ann.call('GET', path())).body, { id: tunnelId, policy: null, dry_run: [] });

  const setAt = await put(tried);
  await report({ setAt });
  assert.deepEqual(said(await ann.call('DELETE', `/tunnels/${tunnelId}`)), [200]);
  assert.deepEqual(rows(), []);
  await report({ setAt });
  assert.deepEqual(rows(), [], 'a late report brings nothing back');
});

test('a restart of the server loses nothing', async () => {
  await report({ setAt: await put(tried), refused: 9 });
  plane.control.close();
  plane = new Plane(plane.dataDir);
  const actor = await plane.control.sessions.authenticate(ann.token, '192.0.2.1');
  assert.ok(actor !== undefined);
  const { dryRuns: views } = plane.control.policies.get(actor, tunnelId);
  assert.deepEqual(
    views.map(({ wouldRefuse }) => wouldRefuse),
    [9],
  );
});

function rows(): unknown[] {
  return plane.control.store.db.select().from(dryRuns).all();
}
