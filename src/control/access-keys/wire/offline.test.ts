/**
 * An edge of its own, without a database: it believes a wire form by what two public routes answer, the keys and the list of revocations,
 * and must come to the same decision as the server does.
 */
import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { capabilityTokens, organizations, revokedNonces } from '../../db/schema.ts';
import { verifyCwt } from './cwt.ts';
import { readGrant, type WireGrant } from './wire-form.ts';
import { type Key, keyOf, mint, mintMaster } from '../testing.ts';
import { Plane, START } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, Team } from '../../core/testing/team.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  await ann.call('POST', '/projects', { slug: 'web', name: 'Web' });
});
afterEach(async () => {
  await api.close();
  plane.close();
});

interface Listed {
  readonly as_of: number;
  readonly revoked: ReadonlyArray<{ nonce: string; from: number; until: number }>;
}

const listNow = async (): Promise<Listed> => {
  // As old as an answer may be.
  plane.now += SECOND;
  const { status, body, headers } = await api.call('GET', '/.well-known/culvert-revocations');
  assert.equal(status, 200);
  assert.equal(headers.get('cache-control'), 'public, max-age=1');
  return body as unknown as Listed;
};

/** What the wire form grants by the public keys alone. */
async function grantOf({ wireBytes }: Pick<Key, 'wireBytes'>): Promise<WireGrant | undefined> {
  const { keys } = (await api.call('GET', '/.well-known/jwks.json')).body as unknown as {
    keys: ReadonlyArray<{ kid: string; kty: string; crv: string; x: string }>;
  };
  const claims = verifyCwt(Buffer.from(wireBytes, 'base64'), (kid) => {
    const jwk = keys.find((one) => one.kid === kid);
    return jwk === undefined ? undefined : createPublicKey({ key: { ...jwk }, format: 'jwk' });
  });
  return claims === undefined ? undefined : readGrant(claims);
}

async function believes(key: Pick<Key, 'wireBytes'>): Promise<boolean> {
  const grant = await grantOf(key);
  const { revoked } = await listNow();
  const now = plane.now / 1000;
  if (grant === undefined || grant.expiresAt <= now || grant.tunnelQuota === 0) return false;
  return !revoked.some(({ nonce, from }) => (nonce === grant.nonce || nonce === grant.parentNonce) && from <= now);
}

/** Both must say the same; the edge may be a second late. */
async function agree(key: Key): Promise<boolean> {
  const offline = await believes(key);
  const answer = await plane.control.link.admit(key.wireBytes);
  assert.equal(offline, answer.ok, `the edge says ${offline}, the server ${answer.ok}`);
  return offline;
}

const mintBy = async (bearer: string, body: object = {}): Promise<Key> =>
  keyOf(await api.call('POST', '/projects/web/tokens', { as: bearer, body: { name: 'job', ...body } }));

test('the wire form says all that decides about a tunnel', async () => {
  const master = await mintMaster(ann);
  const child = await mintBy(master.apiKey, { allowed_subdomains: ['pr-*'], tunnelQuota: 3, bandwidthLimitMbps: 9 });
  assert.deepEqual(await grantOf(child), {
    orgId: ann.home,
    kind: 'project',
    nonce: child.nonce,
    parentNonce: master.nonce,
    project: { slug: 'web', suffix: '-web' },
    allowedSubdomains: ['pr-*'],
    tunnelQuota: 3,
    bandwidthLimitMbps: 9,
    issuedAt: child.issuedAt,
    expiresAt: child.expiresAt,
  });
});

test('minted, revoked, expired: the edge says what the server says', async () => {
  const [one, two] = [await mint(ann), await mint(ann, { ttlHours: 1 })];
  assert.deepEqual([await agree(one), await agree(two)], [true, true]);
  assert.deepEqual((await listNow()).revoked, []);
  await ann.call('DELETE', `/tokens/${one.nonce}`);
  const at = Math.floor(plane.now / 1000);
  assert.deepEqual([await agree(one), await agree(two)], [false, true]);
  assert.deepEqual((await listNow()).revoked, [{ nonce: one.nonce, from: at, until: one.expiresAt }]);
  plane.now = START + HOUR;
  assert.equal(await agree(two), false);
  plane.now = START + 25 * HOUR;
  const { as_of, revoked } = await listNow();
  assert.deepEqual([as_of, revoked], [plane.now / 1000, []], 'what has run out needs no list');
});

test('of a rotated token the list says when its grace ends', async () => {
  const [old, gone] = [await mint(ann), await mint(ann)];
  const fresh = keyOf(await ann.call('POST', `/tokens/${old.nonce}/rotate`, { graceHours: 1 }));
  keyOf(await ann.call('POST', `/tokens/${gone.nonce}/rotate`));
  assert.deepEqual([await agree(old), await agree(fresh), await agree(gone)], [true, true, false]);
  const listed = (await listNow()).revoked.find(({ nonce }) => nonce === old.nonce);
  assert.deepEqual(listed, { nonce: old.nonce, from: START / 1000 + 3600, until: old.expiresAt });
  plane.now = START + HOUR;
  assert.deepEqual([await agree(old), await agree(fresh)], [false, true]);
  plane.control.tokenEnds.endGraces();
  assert.equal(await agree(old), false);
  assert.equal((await listNow()).revoked.find(({ nonce }) => nonce === old.nonce)?.from, listed?.from);
});

test('a master key stands in the list for all that it minted', async () => {
  const master = await mintMaster(ann);
  const children = [await mintBy(master.apiKey), await mintBy(master.apiKey), await mintBy(master.apiKey)];
  const [early] = children;
  assert.ok(early !== undefined);
  assert.equal(await agree(early), true);
  assert.equal(await agree(master), false, 'its quota is 0');
  await ann.call('DELETE', `/tokens/${early.nonce}`);
  plane.now += SECOND;
  await ann.call('DELETE', `/tokens/${master.nonce}`);
  for (const child of children) assert.equal(await agree(child), false);
  const { revoked } = await listNow();
  assert.deepEqual(
    revoked.map(({ nonce }) => nonce).sort(),
    [early.nonce, master.nonce].sort(),
    'one that ended before it by itself, the others with it',
  );
});

test('a master key that has its grace takes its children along when that is over', async () => {
  const master = await mintMaster(ann);
  const child = await mintBy(master.apiKey, { ttl_hours: 9 });
  keyOf(await ann.call('POST', `/tokens/${master.nonce}/rotate`, { graceHours: 1 }));
  assert.equal(await agree(child), true);
  plane.now = START + HOUR;
  assert.equal(await agree(child), false);
  plane.control.tokenEnds.endGraces();
  assert.equal(await agree(child), false);
});

test('what is revoked while its master key has a grace is refused at once, and so is all when that is cut short', async () => {
  const master = await mintMaster(ann);
  const [one, two] = [await mintBy(master.apiKey, { ttl_hours: 9 }), await mintBy(master.apiKey, { ttl_hours: 9 })];
  keyOf(await ann.call('POST', `/tokens/${master.nonce}/rotate`, { graceHours: 5 }));
  await ann.call('DELETE', `/tokens/${one.nonce}`);
  assert.deepEqual([await agree(one), await agree(two)], [false, true]);
  await ann.call('DELETE', `/tokens/${master.nonce}`);
  assert.deepEqual([await agree(one), await agree(two)], [false, false]);
  plane.now += 2 * HOUR;
  plane.control.retention.sweep();
  assert.deepEqual([await agree(one), await agree(two)], [false, false]);
});

test('tokens of an organization that is suspended are listed for as long as it is', async () => {
  const key = await mint(ann);
  const setApproval = (approvalStatus: 'suspended' | 'approved') =>
    plane.control.store.inTx(
      ({ db }) => void db.update(organizations).set({ approvalStatus }).where(eq(organizations.id, ann.home)).run(),
    );
  setApproval('suspended');
  assert.equal(await agree(key), false);
  setApproval('approved');
  assert.equal(await agree(key), true);
});

test('a token that was signed by a key that has been rotated since is believed', async () => {
  const key = await mint(ann);
  plane.control.keys.rotate({ kind: 'system', orgId: null }, 'capability');
  assert.equal(await agree(key), true);
  assert.equal(await agree(await mint(ann)), true);
});

test('what is revoked is listed until it has run out, long after the token itself is forgotten', async () => {
  const key = await mintMaster(ann, { ttl_days: 365 });
  await ann.call('DELETE', `/tokens/${key.nonce}`);
  plane.now += 200 * 24 * HOUR;
  plane.control.retention.sweep();
  assert.equal(plane.control.store.db.select().from(capabilityTokens).all().length, 0);
  assert.deepEqual(
    (await listNow()).revoked.map(({ nonce }) => nonce),
    [key.nonce],
  );
  plane.now = START + 365 * 24 * HOUR + 1;
  plane.control.retention.sweep();
  assert.equal(plane.control.store.db.select().from(revokedNonces).all().length, 0);
});
