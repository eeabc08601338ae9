import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLastOwner, mayTouch, roleOf, rolesUpTo } from '../../src/dashboard/pages/members/roles.ts';

test('a role is given up to one’s own', () => {
  assert.deepEqual(rolesUpTo('admin'), ['viewer', 'member', 'admin']);
  assert.deepEqual(rolesUpTo('owner'), ['viewer', 'member', 'admin', 'owner']);
});

test('roles: admins change all but owners, members change none', () => {
  const touched = (me: 'viewer' | 'member' | 'admin' | 'owner') =>
    (['viewer', 'member', 'admin', 'owner'] as const).filter((other) => mayTouch({ me, other }));
  assert.deepEqual(touched('owner'), ['viewer', 'member', 'admin', 'owner']);
  assert.deepEqual(touched('admin'), ['viewer', 'member', 'admin']);
  assert.deepEqual(touched('member'), []);
  assert.deepEqual(touched('viewer'), []);
});

test('the last owner is known as such', () => {
  const [ann, bob] = [
    { user_id: 'ann', role: 'owner' },
    { user_id: 'bob', role: 'admin' },
  ];
  assert.equal(isLastOwner([ann, bob], 'ann'), true);
  assert.equal(isLastOwner([ann, bob], 'bob'), false);
  assert.equal(isLastOwner([ann, { ...bob, role: 'owner' }], 'ann'), false);
});

test('a role that is not known counts as the weakest', () => {
  assert.equal(roleOf('emperor'), 'viewer');
});
