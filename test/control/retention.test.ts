/**
 * What the tables forget: each kind of row one moment before its time and one moment after it.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { count, eq } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import {
  auditEvents,
  capabilityTokens,
  deviceLogins,
  emailCodes,
  invitations,
  nodeCursors,
  passwordResets,
  refreshTokens,
  restingNames,
  revokedNonces,
  sessions,
  spentOnce,
  tokenSpend,
  tunnels,
} from '../../src/control/db/schema.ts';
import type { UserActor } from '../../src/control/core/rules/actor.ts';
import { Plane, START } from '../../src/control/core/testing/plane.ts';

const DAY = 24 * 3_600_000;

let plane: Plane;
let ann: UserActor;
beforeEach(async () => {
  plane = new Plane();
  ann = await plane.person('ann@example.com');
});
afterEach(() => plane.close());

const rows = (table: SQLiteTable): number => plane.control.store.db.select({ n: count() }).from(table).get()?.n ?? 0;
const sweepAt = (instant: number): void => {
  plane.now = instant;
  plane.control.retention.sweep();
};
/** The table must keep its row up to `last` and lose it a moment later. */
function goesAfter(table: SQLiteTable, last: number): void {
  const others = rows(table) - 1;
  sweepAt(last);
  assert.equal(rows(table), others + 1, 'kept too short');
  sweepAt(last + 1);
  assert.equal(rows(table), others, 'kept too long');
}
const insert = (work: (db: Plane['control']['store']['db']) => { run(): unknown }): void =>
  plane.control.store.inTx(({ db }) => void work(db).run());

test('an e-mail code goes once it has run out', () => {
  const row = { userId: ann.userId, codeMac: 'm', createdAt: START, expiresAt: START + 600_000 };
  insert((db) => db.insert(emailCodes).values(row));
  goesAfter(emailCodes, START + 600_000);
});

test('a reset token goes once it has run out', () => {
  const row = { hash: 'h', userId: ann.userId, createdAt: START, expiresAt: START + 3_600_000 };
  insert((db) => db.insert(passwordResets).values(row));
  goesAfter(passwordResets, START + 3_600_000);
});

test('a spent value goes once it would have run out', () => {
  insert((db) => db.insert(spentOnce).values({ id: 'x', expiresAt: START + 300_000 }));
  goesAfter(spentOnce, START + 300_000);
});

test('the key of a command line goes when its code has run out, the code a day later', () => {
  const login = { userId: ann.userId, orgId: ann.orgId, tokenId: 't', label: 'laptop', approvedAt: START };
  const row = { ...login, codeHash: 'h', sealedWire: 's', expiresAt: START + 600_000 };
  insert((db) => db.insert(deviceLogins).values(row));
  const wire = (): unknown => plane.control.store.db.select().from(deviceLogins).get()?.sealedWire;
  sweepAt(START + 600_000);
  assert.equal(wire(), 's');
  sweepAt(START + 600_001);
  assert.equal(wire(), '');
  goesAfter(deviceLogins, START + 600_000 + DAY);
});

for (const end of ['acceptedAt', 'revokedAt', 'expiresAt'] as const) {
  test(`an invitation goes 30 days after its ${end}`, () => {
    const row = { orgId: ann.orgId, email: 'b@example.com', emailKey: 'b@example.com', role: 'viewer' as const };
    const at = { createdAt: START, expiresAt: START + 365 * DAY, [end]: START + DAY };
    insert((db) => db.insert(invitations).values({ ...row, ...at, id: 'i', tokenHash: 'h', invitedBy: ann.userId }));
    goesAfter(invitations, START + 31 * DAY);
  });
}

test('an audit row goes after a year', () => {
  plane.control.store.inTx(({ db }) => void db.delete(auditEvents).run());
  plane.create(ann);
  assert.equal(rows(auditEvents), 1);
  goesAfter(auditEvents, START + 365 * DAY);
});

test('what a key spent in a month goes a year after it last grew', () => {
  const row = { lineageId: 'a', month: '2026-11', bytes: 1, requests: 1, updatedAt: START };
  insert((db) => db.insert(tokenSpend).values(row));
  goesAfter(tokenSpend, START + 365 * DAY);
});

test('a session goes a week after its end, with its cookies', () => {
  const { store } = plane.control;
  store.inTx(({ db }) => void db.update(sessions).set({ revokedAt: START }).run());
  assert.equal(rows(refreshTokens), 2);
  goesAfter(sessions, START + 7 * DAY);
  assert.equal(rows(refreshTokens), 0);
});

test('retention: an unused session is deleted a week after it expired, a live one stays', async () => {
  sweepAt(START + 30 * DAY - 1);
  assert.equal(rows(sessions), 1);
  goesAfter(sessions, START + 37 * DAY);
});

test('the name of a deleted tunnel rests for a day, its row stays for 30', () => {
  const tunnel = plane.create(ann);
  plane.control.tunnels.delete(ann, tunnel.row.id);
  plane.create(ann);
  assert.equal(rows(tunnels), 2);
  goesAfter(restingNames, START + DAY);
  goesAfter(tunnels, START + 30 * DAY);
});

test('a token goes 30 days after its end, and tunnels that it served stay', async () => {
  const token = plane.mint(ann, { ttlHours: 24 });
  const route = await plane.bound(token, { subdomain: 'shop' });
  goesAfter(capabilityTokens, START + 31 * DAY);
  const row = plane.control.store.db.select().from(tunnels).where(eq(tunnels.id, route.tunnelId)).get();
  assert.equal(row?.tokenId, null);
});

test('a revoked token goes 30 days after it was revoked, its nonce when it would have run out', () => {
  const token = plane.mint(ann, { ttlHours: 2160 });
  plane.control.tokenEnds.revoke(ann, token.row.nonce);
  goesAfter(capabilityTokens, START + 30 * DAY);
  goesAfter(revokedNonces, START + 90 * DAY - 1);
});

test('a master key goes after the tokens that it minted', () => {
  const master = plane.mint(ann, { ttlHours: 1 });
  const child = plane.mint(ann, { ttlHours: 1 });
  insert((db) =>
    db.update(capabilityTokens).set({ parentId: master.row.id }).where(eq(capabilityTokens.id, child.row.id)),
  );
  sweepAt(START + 100 * DAY);
  const left = plane.control.store.db.select({ id: capabilityTokens.id }).from(capabilityTokens).all();
  assert.deepEqual(left, [{ id: master.row.id }]);
  sweepAt(START + 100 * DAY);
  assert.equal(rows(capabilityTokens), 0);
});

test('a node that has been silent for a week is forgotten', () => {
  insert((db) => db.insert(nodeCursors).values({ node: 'n', sequence: 1, updatedAt: START }));
  goesAfter(nodeCursors, START + 7 * DAY);
});

test('a pass takes a bounded batch', () => {
  const many = Array.from({ length: 1_500 }, (_, i) => ({ id: `x${i}`, expiresAt: START }));
  insert((db) => db.insert(spentOnce).values(many));
  sweepAt(START + 1);
  assert.equal(rows(spentOnce), 500);
  sweepAt(START + 1);
  assert.equal(rows(spentOnce), 0);
});
