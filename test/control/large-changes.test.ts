/**
 * Deletions and other changes of many rows: what is marked is gone at once, its rows follow in slices, and a crash between two slices leaves nothing
 * undone.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, test } from 'node:test';
import { and, count, eq, isNull } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import {
  auditEvents,
  capabilityTokens,
  memberships,
  pendingWork,
  projects,
  reservedSubdomains,
  restingNames,
  revokedNonces,
  tunnels,
  webhookDeliveries,
} from '../../src/control/db/schema.ts';
import type { Tx } from '../../src/control/db/tx.ts';
import type { UserActor } from '../../src/control/core/rules/actor.ts';
import { SLICE_ROWS } from '../../src/control/core/drains.ts';
import type { MintedToken } from '../../src/control/access-keys/maker.ts';
import { Plane, VISIT } from '../../src/control/core/testing/plane.ts';

const MANY = 3 * SLICE_ROWS + 5;
let plane: Plane;
let ann: UserActor;
beforeEach(async () => {
  plane = new Plane();
  ann = await plane.person('ann@example.test');
  plane.control.organizations.create(ann, 'Another');
});
afterEach(() => plane.close());

interface Fixture {
  readonly labels: readonly string[];
  readonly keys: readonly MintedToken[];
}

const db = () => plane.control.store.db;
const write = (work: (tx: Tx) => void): void => plane.control.store.inTx(work);

/** Many tunnels and keys, straight into their rows. */
function fill(n: {
  tunnels?: number;
  keys?: number;
  projectSlug?: string;
  parent?: MintedToken;
  by?: UserActor;
}): Fixture {
  const actor = n.by ?? ann;
  const labels: string[] = [];
  const keys: MintedToken[] = [];
  if (n.tunnels !== undefined) {
    const first = plane.create(actor, { subdomain: 'first', projectSlug: n.projectSlug }).row;
    labels.push(first.label);
    write((tx) => {
      for (let i = 1; i < (n.tunnels ?? 0); i++) {
        const label = `t${i}-${n.projectSlug ?? 'x'}`;
        labels.push(label);
        tx.db
          .insert(tunnels)
          .values({ ...first, id: uuidv7(), label })
          .run();
      }
    });
  }
  const projectId =
    n.projectSlug === undefined
      ? null
      : (db().select().from(projects).where(eq(projects.slug, n.projectSlug)).get()?.id ?? null);
  if (n.keys !== undefined) {
    const first = plane.mint(actor);
    const parentId = n.parent?.row.id ?? null;
    write((tx) => {
      tx.db.delete(capabilityTokens).where(eq(capabilityTokens.id, first.row.id)).run();
      for (let i = 0; i < (n.keys ?? 0); i++) {
        const row = { ...first.row, id: uuidv7(), nonce: randomBytes(16).toString('hex'), projectId, parentId };
        const stored = {
          ...row,
          keyHash: i === 0 ? first.row.keyHash : randomBytes(32).toString('hex'),
          lineageId: null,
        };
        tx.db.insert(capabilityTokens).values(stored).run();
        keys.push({ ...first, row: stored });
      }
    });
  }
  plane.deltas.length = 0;
  return { labels, keys };
}

function makeProject(slug = 'web'): string {
  plane.projects.create(ann, { slug, name: 'Web' });
  return slug;
}

const undeleted = (): number =>
  db().select({ n: count() }).from(tunnels).where(isNull(tunnels.deletedAt)).get()?.n ?? 0;
const unrevoked = (): number =>
  db().select({ n: count() }).from(capabilityTokens).where(isNull(capabilityTokens.revokedAt)).get()?.n ?? 0;
const pending = (): number => db().select({ n: count() }).from(pendingWork).get()?.n ?? 0;
const audited = (action: typeof auditEvents.$inferSelect.action) =>
  db().select().from(auditEvents).where(eq(auditEvents.action, action)).all();
const settled = () => plane.control.drains.settled();
const admit = async (key: MintedToken): Promise<string> => {
  const answer = await plane.control.link.admit(key.apiKey);
  return answer.ok ? 'ok' : answer.code;
};

/** The largest number of rows of a table that one transaction changed while `work` and what follows it ran. */
async function largestSlice(rows: () => number, work: () => unknown): Promise<number> {
  const { store } = plane.control;
  const inTx = store.inTx.bind(store);
  let largest = 0;
  store.inTx = ((step: Parameters<typeof inTx>[0], options: Parameters<typeof inTx>[1]) => {
    const before = rows();
    try {
      return inTx(step, options);
    } finally {
      largest = Math.max(largest, before - rows());
    }
  }) as typeof store.inTx;
  try {
    await work();
    await settled();
  } finally {
    store.inTx = inTx;
  }
  return largest;
}

/** A server that was killed here, and starts again. */
function restart(): void {
  plane.control.close();
  plane = new Plane(plane.dataDir, { clock: plane.clock });
}

test('project deletion: tunnels, keys and routes are gone when it is answered, before their rows are', async () => {
  const { labels, keys } = fill({ tunnels: MANY, keys: MANY, projectSlug: makeProject() });
  const gone = plane.projects.delete(ann, 'web');
  assert.deepEqual(gone, { deletedTunnels: MANY, revokedTokens: MANY });
  assert.ok(undeleted() > 0 && unrevoked() > 0, 'rows follow');
  assert.deepEqual(plane.control.tunnels.list(ann), []);
  assert.deepEqual(plane.control.tunnels.routes(), []);
  const [key] = keys;
  assert.ok(key !== undefined);
  assert.equal(await admit(key), 'unauthorized');
  assert.equal(await plane.refusal(key, { subdomain: 'shop' }), 'unauthorized');
  assert.deepEqual([...new Set(plane.control.tokens.list(ann).map(({ isRevoked }) => isRevoked))], [true]);
  const id =
    db()
      .select()
      .from(tunnels)
      .where(eq(tunnels.label, labels.at(-1) ?? ''))
      .get()?.id ?? '';
  assert.throws(() => plane.control.tunnels.get(ann, id), { code: 'not_found' });
  await settled();
  assert.deepEqual([undeleted(), unrevoked(), pending()], [0, 0, 0]);
});

test('project deletion: agents get the end of keys before tunnels, of each once, some per turn of the loop', async () => {
  fill({ tunnels: MANY, keys: MANY, projectSlug: makeProject() });
  plane.projects.delete(ann, 'web');
  await settled();
  while (plane.deltas.length < 2 * MANY) await new Promise((resolve) => setImmediate(resolve));
  const kinds = plane.deltas.map(({ kind }) => kind);
  assert.deepEqual(kinds, [...Array(MANY).fill('revoke_token'), ...Array(MANY).fill('remove')]);
  const versions = plane.deltas.map(({ version }) => version);
  assert.deepEqual(
    versions,
    [...versions.keys()].map((i) => (versions[0] ?? 0) + i),
  );
});

test('project deletion: one transaction changes a bounded number of rows, and each gets its audit row at the instant of the answer', async () => {
  fill({ tunnels: MANY, keys: MANY, projectSlug: makeProject() });
  const at = plane.now;
  const largest = await largestSlice(
    () => undeleted() + unrevoked(),
    () => {
      plane.projects.delete(ann, 'web');
      plane.now += 5_000;
    },
  );
  assert.ok(largest <= SLICE_ROWS, `${largest} rows in one transaction`);
  for (const [action, n] of [
    ['tunnel.delete', MANY],
    ['token.revoke', MANY],
    ['project.delete', 1],
  ] as const) {
    const rows = audited(action);
    assert.equal(rows.length, n, action);
    assert.deepEqual(
      [...new Set(rows.map((row) => `${row.at} ${row.actorLabel} ${row.ipAddress}`))],
      [`${at} ann@example.test 192.0.2.1`],
    );
  }
  const instants = db()
    .select()
    .from(restingNames)
    .all()
    .map(({ deletedAt }) => deletedAt);
  assert.deepEqual([instants.length, ...new Set(instants)], [MANY, at]);
});

test('project deletion: its figures say that rows follow, since when, and how many are done', async () => {
  fill({ tunnels: MANY, keys: MANY, projectSlug: makeProject() });
  const { drains } = plane.control;
  assert.deepEqual(drains.stats(), { waiting: 0, oldestMs: 0, rows: 0 });
  plane.projects.delete(ann, 'web');
  plane.now += 5_000;
  assert.deepEqual(drains.stats(), { waiting: 1, oldestMs: 5_000, rows: SLICE_ROWS });
  await settled();
  assert.deepEqual(drains.stats(), { waiting: 0, oldestMs: 0, rows: 2 * MANY });
});

test('project deletion: a crash between two slices is made up for after the next start', async () => {
  const { keys } = fill({ tunnels: MANY, keys: MANY, projectSlug: makeProject() });
  plane.projects.delete(ann, 'web');
  restart();
  assert.ok(undeleted() > 0 && unrevoked() > 0 && pending() === 1);
  const { routes } = await plane.control.link.snapshot();
  assert.deepEqual(routes, []);
  assert.equal(await admit(keys[0] as MintedToken), 'unauthorized');
  plane.control.drains.wake();
  await new Promise((resolve) => setTimeout(resolve, 1));
  restart();
  plane.control.drains.wake();
  await settled();
  assert.deepEqual([undeleted(), unrevoked(), pending()], [0, 0, 0]);
  assert.deepEqual([audited('tunnel.delete').length, audited('token.revoke').length], [MANY, MANY]);
});

test("project deletion: a name is the organization's own again at once, and blocked for others for a day", async () => {
  const bob = await plane.person('bob@example.test');
  const { labels } = fill({ tunnels: MANY, projectSlug: makeProject() });
  const last = labels.at(-1) ?? '';
  plane.projects.delete(ann, 'web');
  assert.throws(() => plane.create(bob, { subdomain: last }), { code: 'duplicate_name' });
  assert.equal(plane.create(ann, { subdomain: last }).row.label, last);
  await settled();
  assert.equal(undeleted(), 1);
  assert.equal(audited('tunnel.delete').length, MANY);
  assert.throws(() => plane.create(bob, { subdomain: labels.at(-2) ?? '' }), { code: 'duplicate_name' });
});

test('organization deletion: all that it has is gone at once, and every row in the end', async () => {
  const { control } = plane;
  const bob = await plane.person('bob@example.test');
  const { labels, keys } = fill({ tunnels: MANY, keys: MANY });
  const receiver = control.receivers.create(ann, {
    name: 'in',
    validator: 'generic_hmac_sha256',
    secrets: ['secret-secret-secret'],
    forward: null,
  });
  const network = control.networks.create(ann, { name: 'office', cidr: '10.7.0.0/24' });
  write((tx) => {
    for (let i = 0; i < MANY; i++) {
      const name = { id: uuidv7(), orgId: ann.orgId, subdomain: `r${i}`, createdAt: 0 };
      tx.db.insert(reservedSubdomains).values(name).run();
      const delivery = {
        id: uuidv7(),
        receiverId: receiver.id,
        receivedAt: 0,
        headers: {},
        body: Buffer.alloc(8),
        bytes: 8,
      };
      tx.db
        .insert(webhookDeliveries)
        .values({ ...delivery, remoteIp: '192.0.2.1' })
        .run();
    }
  });
  assert.deepEqual(await control.organizations.delete(ann, ann.orgId), { deletedTunnels: MANY, revokedTokens: MANY });
  assert.ok(pending() > 0);
  assert.deepEqual(control.tunnels.routes(), []);
  assert.equal(await admit(keys[0] as MintedToken), 'unauthorized');
  const incoming = { headers: {}, body: Buffer.alloc(0), url: '', remoteIp: '192.0.2.1' };
  assert.throws(() => control.mailbox.receive(receiver.id, incoming), { code: 'not_found' });
  assert.throws(() => plane.create(bob, { subdomain: 'r1' }), { code: 'duplicate_name' });
  assert.throws(() => plane.create(bob, { subdomain: labels.at(-1) ?? '' }), { code: 'duplicate_name' });
  await settled();
  assert.equal(pending(), 0);
  assert.deepEqual([undeleted(), unrevoked()], [0, 0]);
  assert.equal(db().select().from(reservedSubdomains).all().length, 0);
  assert.equal(db().select().from(webhookDeliveries).all().length, 0);
  const entries = ['webhook_receiver.delete', 'network.delete', 'org.delete'] as const;
  assert.deepEqual(
    entries.map((action) => audited(action).length),
    [1, 1, 1],
  );
  assert.equal(audited('reserved_subdomain.delete').length, MANY);
  assert.throws(() => control.networks.get({ ...ann }, network.row.id), { code: 'not_found' });
});

test('organization deletion: the session of a member whose turn has not come goes on elsewhere at its next refresh', async () => {
  const { control } = plane;
  const made = await control.accounts.createUser({
    email: 'zoe@example.test',
    name: '',
    plan: 'free',
    superadmin: false,
  });
  write((tx) => {
    tx.db.insert(memberships).values({ orgId: ann.orgId, userId: made.id, role: 'member', createdAt: 0 }).run();
  });
  const done = await control.sessions.login({ email: 'zoe@example.test', password: made.password.reveal() }, VISIT);
  assert.ok('accessToken' in done);
  assert.equal(done.activeOrg.id, ann.orgId);
  // As it is between the mark and the turn of this member.
  write((tx) => void tx.db.run(`UPDATE organizations SET deleted_at = 1 WHERE id = '${ann.orgId}'`));
  const caller = { isOwnPage: false, isGone: () => false };
  const swapping = control.refresh.swap(done.refreshToken, VISIT, caller);
  const { accessToken } = await swapping;
  const actor = await control.sessions.authenticate(accessToken, '192.0.2.1');
  assert.ok(actor !== undefined && actor.orgId !== ann.orgId);
});

test('master key: what it minted is revoked at once when it is, in slices, and one entry of the revocation list stands for all', async () => {
  makeProject();
  const master = plane.control.masterKeys.mint(ann, { name: 'ci', ttlDays: 30 });
  const { keys } = fill({ keys: MANY, projectSlug: 'web', parent: master });
  let ended = 0;
  const largest = await largestSlice(unrevoked, async () => {
    ended = plane.control.tokenEnds.revoke(ann, master.row.nonce);
    assert.equal(await admit(keys[0] as MintedToken), 'unauthorized');
  });
  assert.equal(ended, MANY + 1);
  assert.ok(largest <= SLICE_ROWS + 1, `${largest} rows in one transaction`);
  assert.deepEqual([unrevoked(), pending()], [0, 0]);
  const listed = db()
    .select()
    .from(revokedNonces)
    .all()
    .filter(({ minterId }) => minterId !== master.row.id);
  assert.deepEqual(
    listed.map(({ nonce }) => nonce),
    [master.row.nonce],
  );
  const entries = audited('token.revoke').map(({ details }) => details?.['parent'] ?? 'itself');
  assert.deepEqual(Map.groupBy(entries, (of) => of).size, 2);
});

test('master key: rotated with a grace, all that it minted ends with the grace, in slices', async () => {
  makeProject();
  const master = plane.control.masterKeys.mint(ann, { name: 'ci', ttlDays: 30 });
  const { keys } = fill({ keys: MANY, projectSlug: 'web', parent: master });
  plane.control.rotation.rotate(ann, master.row.nonce, 2);
  assert.equal(await admit(keys[0] as MintedToken), 'ok');
  await settled();
  const ends = db().select().from(capabilityTokens).where(eq(capabilityTokens.parentId, master.row.id)).all();
  assert.deepEqual([...new Set(ends.map(({ graceEndsAt }) => graceEndsAt))], [plane.now + 2 * 3_600_000]);
});

test('member: keys of one who was removed open nothing at once, and no new one is minted that would end with them', async () => {
  const bob = await plane.person('bob@example.test');
  const join = (): void =>
    write((tx) => {
      tx.db.insert(memberships).values({ orgId: ann.orgId, userId: bob.userId, role: 'admin', createdAt: 0 }).run();
    });
  join();
  const there = plane.control.organizations.actorIn(bob, ann.orgId);
  const { keys } = fill({ keys: MANY, by: there });
  const own = plane.mint(bob);
  assert.equal(plane.control.members.remove(ann, { orgId: ann.orgId, userId: bob.userId }), MANY);
  assert.equal(await admit(keys[0] as MintedToken), 'unauthorized');
  assert.equal(await admit(own), 'ok', 'a key in another organization goes on working');
  join();
  assert.throws(() => plane.mint(there), { code: 'unavailable', retryAfterSeconds: 1 });
  await settled();
  assert.equal(await admit(plane.mint(there)), 'ok');
});

test('plan change: many tunnels get their ends in slices, and two changes in their order, also behind a crash', async () => {
  fill({ tunnels: MANY });
  const operator = { kind: 'operator', userId: null, label: 'root', ipAddress: '', orgId: null } as const;
  const largest = await largestSlice(
    () => db().select({ n: count() }).from(tunnels).where(isNull(tunnels.expiresAt)).get()?.n ?? 0,
    () => plane.control.operatorOrgs.setPlan(operator, ann.orgId, 'free'),
  );
  assert.ok(largest > 0 && largest <= SLICE_ROWS, `${largest} rows in one transaction`);
  plane.control.operatorOrgs.setPlan(operator, ann.orgId, 'pro');
  plane.control.operatorOrgs.setPlan(operator, ann.orgId, 'free');
  assert.ok(pending() === 2);
  restart();
  plane.control.drains.wake();
  await settled();
  const ends = db().select({ at: tunnels.expiresAt }).from(tunnels).where(isNull(tunnels.deletedAt)).all();
  assert.deepEqual([...new Set(ends.map(({ at }) => at))], [plane.now + 3_600_000]);
  assert.equal(pending(), 0);
});

test('organizations take turns: a small deletion does not wait for a large one of another organization', async () => {
  const bob = await plane.person('bob@example.test');
  fill({ tunnels: 10 * SLICE_ROWS, projectSlug: makeProject() });
  plane.projects.create(bob, { slug: 'small', name: 'Small' });
  const first = plane.create(bob, { subdomain: 'b0', projectSlug: 'small' }).row;
  write((tx) => {
    for (let i = 1; i < SLICE_ROWS + 5; i++)
      tx.db
        .insert(tunnels)
        .values({ ...first, id: uuidv7(), label: `b${i}` })
        .run();
  });
  plane.projects.delete(ann, 'web');
  plane.projects.delete(bob, 'small');
  const left = (orgId: string): number =>
    db()
      .select({ n: count() })
      .from(tunnels)
      .where(and(eq(tunnels.orgId, orgId), isNull(tunnels.deletedAt)))
      .get()?.n ?? 0;
  while (left(bob.orgId) > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.ok(left(ann.orgId) > 0);
  await settled();
  assert.equal(left(ann.orgId), 0);
});

test('queries: rows of tunnels and keys are found by the conditions that know of marks', () => {
  const found = (text: string, allowed: readonly string[]): string[] =>
    globSync('src/control/**/*.ts')
      .filter((file) => !file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes(text))
      .map((file) => file.slice('src/control/'.length))
      .filter((file) => !allowed.includes(file));
  // Of those: rows that are being drained, a label or a port that is not free yet.
  const draining = ['db/gone.ts', 'tunnels/service.ts', 'tunnels/rows.ts', 'subdomains/free-names.ts'];
  assert.deepEqual(found('isNull(tunnels.deletedAt)', draining), []);
  assert.deepEqual(found('isNull(capabilityTokens.revokedAt)', ['db/gone.ts', 'access-keys/ends/service.ts']), []);
});
