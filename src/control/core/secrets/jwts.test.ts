/** The JWTs of the server: none passes for another, and each has one spelling. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { UserActor } from '../rules/actor.ts';
import { Challenges } from '../../auth/sessions/challenges.ts';
import { Plane } from '../testing/plane.ts';

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
