/** The JWTs of the server: none passes for another, and each has one spelling. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { UserActor } from '../rules/actor.ts';
import { Challenges } from '../../auth/sessions/challenges.ts';
import { Plane } from '../testing/plane.ts';
import { RepeatedJwts, signJwt } from './jwts.ts';

const DIGITS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
const HERE = '192.0.2.1';

let plane: Plane;
let ann: UserActor;
/** A token of each kind, and whether one is taken for it. */
let kinds: ReadonlyArray<{ name: string; token: string; isTaken: (token: string) => Promise<boolean> }>;
beforeEach(async () => {
  plane = new Plane();
  ann = await plane.person('ann@example.test');
  const { sessions, operatorTokens, keys, sealer } = plane.control;
  const challenges = new Challenges({ keys, sealer, clock: plane.clock, issuer: () => 'http://api.test' });
  kinds = [
    {
      name: 'access',
      token: (await sessions.switchOrg(ann, ann.orgId)).accessToken,
      isTaken: async (token) => (await sessions.authenticate(token, HERE)) !== undefined,
    },
    {
      name: 'challenge',
      token: await challenges.sign({ id: ann.userId, passwordHash: 'x' }),
      isTaken: async (token) => (await challenges.read(token)) !== undefined,
    },
    {
      name: 'operator',
      token: await operatorTokens.sign('root'),
      isTaken: async (token) => (await operatorTokens.authenticate(token, HERE)) !== undefined,
    },
  ];
});
afterEach(() => plane.close());

test('of all last characters of a signature one is right', async () => {
  for (const { name, token, isTaken } of kinds) {
    const taken = [];
    for (const digit of DIGITS) if (await isTaken(token.slice(0, -1) + digit)) taken.push(digit);
    assert.deepEqual(taken, [token.at(-1)], name);
  }
});

test('a token with something added, in another alphabet, or in other parts is none', async () => {
  for (const { name, token, isTaken } of kinds) {
    const [header = '', payload = '', signature = ''] = token.split('.');
    for (const bent of [
      `${token}=`,
      `${token} `,
      `${token}A`,
      `${token}.`,
      `${header}=.${payload}.${signature}`,
      `${header}.${payload}=.${signature}`,
      `${header}.${payload}`,
      `${header}.${payload}.`,
      '',
    ]) {
      assert.equal(await isTaken(bent), false, `${name} ${bent}`);
    }
    assert.equal(await isTaken(token), true, name);
  }
});

test('no kind passes for another', async () => {
  for (const { name, token } of kinds) {
    for (const other of kinds)
      assert.equal(await other.isTaken(token), other.name === name, `${name} as ${other.name}`);
  }
});

test('a token that was read before is none once it expires, its key is gone, or the server has another name', async () => {
  const { keys } = plane.control;
  let issuer = 'http://api.test';
  const deps = { keys, clock: plane.clock, issuer: () => issuer };
  const kind = { typ: 'test+jwt', audience: 'test', lifeSeconds: 2 * 24 * 3600 };
  const jwts = new RepeatedJwts(deps, kind);
  const read = async (token: string) => (await jwts.read(token))?.sub;
  const fresh = () => signJwt(deps, kind, { sub: 'ann' });

  const renamed = await fresh();
  assert.deepEqual([await read(renamed), await read(renamed)], ['ann', 'ann']);
  issuer = 'http://other.test';
  assert.equal(await read(renamed), undefined);
  issuer = 'http://api.test';

  const expiring = await fresh();
  assert.equal(await read(expiring), 'ann');
  plane.now += kind.lifeSeconds * 1000 - 1000;
  assert.equal(await read(expiring), 'ann');
  plane.now += 1000;
  assert.equal(await read(expiring), undefined);

  const signed = await fresh();
  assert.equal(await read(signed), 'ann');
  keys.rotate({ kind: 'system', orgId: null }, 'access');
  assert.equal(await read(signed), 'ann');
  plane.now += 24 * 3600 * 1000;
  keys.sweep();
  assert.equal(await read(signed), undefined);
});
