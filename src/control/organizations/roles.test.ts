/**
 * Who may do what: the table once more, written as people read it. What is not in it is denied, so a new permission fails here until a developer
 * has said who may do it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Actor,
  type Approval,
  allow,
  allowOperator,
  can,
  hasRole,
  ROLES,
  type Role,
  THINGS,
  type UserActor,
  VERBS,
} from '../core/rules/actor.ts';

// biome-ignore format: a table
const MAY: Readonly<Record<string, readonly Role[]>> = {
  'account.read':        ['viewer', 'member', 'admin', 'owner'],
  'account.change':      ['viewer', 'member', 'admin', 'owner'],
  'organization.read':   ['viewer', 'member', 'admin', 'owner'],
  'organization.change': [                    'admin', 'owner'],
  'organization.delete': [                             'owner'],
  'member.read':         ['viewer', 'member', 'admin', 'owner'],
  'member.change':       [                    'admin', 'owner'],
  'member.delete':       [                    'admin', 'owner'],
  'invitation.read':     ['viewer', 'member', 'admin', 'owner'],
  'invitation.create':   [                    'admin', 'owner'],
  'invitation.delete':   [                    'admin', 'owner'],
  'event.read':          ['viewer', 'member', 'admin', 'owner'],
  'tunnel.read':         ['viewer', 'member', 'admin', 'owner'],
  'tunnel.create':       [          'member', 'admin', 'owner'],
  'tunnel.change':       [          'member', 'admin', 'owner'],
  'tunnel.start':        [          'member', 'admin', 'owner'],
  'tunnel.delete':       [          'member', 'admin', 'owner'],
  'token.read':          ['viewer', 'member', 'admin', 'owner'],
  'token.create':        [          'member', 'admin', 'owner'],
  'token.delete':        [          'member', 'admin', 'owner'],
  'token.change':        [          'member', 'admin', 'owner'],
  'master_key.create':   [                    'admin', 'owner'],
  'master_key.change':   [                    'admin', 'owner'],
  'master_key.delete':   [                    'admin', 'owner'],
  'project.create':      [          'member', 'admin', 'owner'],
  'project.change':      [          'member', 'admin', 'owner'],
  'project.delete':      [          'member', 'admin', 'owner'],
  'reserved_subdomain.read':   ['viewer', 'member', 'admin', 'owner'],
  'reserved_subdomain.create': [          'member', 'admin', 'owner'],
  'reserved_subdomain.delete': [          'member', 'admin', 'owner'],
  'domain.read':         ['viewer', 'member', 'admin', 'owner'],
  'domain.create':       [          'member', 'admin', 'owner'],
  'domain.change':       [          'member', 'admin', 'owner'],
  'domain.delete':       [          'member', 'admin', 'owner'],
  'webhook_receiver.read':   ['viewer', 'member', 'admin', 'owner'],
  'webhook_receiver.create': [          'member', 'admin', 'owner'],
  'webhook_receiver.change': [          'member', 'admin', 'owner'],
  'webhook_receiver.delete': [          'member', 'admin', 'owner'],
  'network.read':        ['viewer', 'member', 'admin', 'owner'],
  'network.create':      [          'member', 'admin', 'owner'],
  'network.change':      [          'member', 'admin', 'owner'],
  'network.delete':      [          'member', 'admin', 'owner'],
  'network_device.read':   ['viewer', 'member', 'admin', 'owner'],
  'network_device.create': [          'member', 'admin', 'owner'],
  'network_device.change': [          'member', 'admin', 'owner'],
  'network_device.delete': [          'member', 'admin', 'owner'],
  'metric.read':         ['viewer', 'member', 'admin', 'owner'],
  'record.read':         ['viewer', 'member', 'admin', 'owner'],
  'record.create':       [          'member', 'admin', 'owner'],
  'record.delete':       [          'member', 'admin', 'owner'],
  'metric_key.read':     ['viewer', 'member', 'admin', 'owner'],
  'metric_key.create':   [                    'admin', 'owner'],
  'metric_key.delete':   [                    'admin', 'owner'],
  'alert.read':          ['viewer', 'member', 'admin', 'owner'],
  'alert.create':        [          'member', 'admin', 'owner'],
  'alert.change':        [          'member', 'admin', 'owner'],
  'alert.delete':        [          'member', 'admin', 'owner'],
  'billing.read':        ['viewer', 'member', 'admin', 'owner'],
  'billing.change':      [                             'owner'],
  'billing.create':      [                             'owner'],
  'project.read':        ['viewer', 'member', 'admin', 'owner'],
  'connection.read':     ['viewer', 'member', 'admin', 'owner'],
  'connection.delete':   [          'member', 'admin', 'owner'],
};

const NOT_IN: Readonly<Record<Approval, readonly string[]>> = {
  approved: [],
  pending: [
    'tunnel.create',
    'tunnel.start',
    'token.create',
    'master_key.create',
    'reserved_subdomain.create',
    'domain.create',
    'webhook_receiver.create',
    'network.create',
    'network_device.create',
    'invitation.create',
    'alert.create',
    'alert.change',
    'billing.create',
  ],
  suspended: [
    'tunnel.create',
    'tunnel.start',
    'token.create',
    'master_key.create',
    'reserved_subdomain.create',
    'domain.create',
    'webhook_receiver.create',
    'network.create',
    'network_device.create',
    'invitation.create',
    'alert.create',
    'alert.change',
    'billing.create',
    'member.change',
    'member.delete',
    'organization.delete',
  ],
};
const APPROVALS = Object.keys(NOT_IN) as readonly Approval[];

function person(role: Role, approval: Approval = 'approved', superadmin = false): UserActor {
  return {
    kind: 'user',
    userId: 'u',
    email: 'ann@example.test',
    orgId: 'o',
    role,
    approval,
    superadmin,
    sessionId: 's',
    ipAddress: '192.0.2.1',
  };
}
const MACHINES: readonly Actor[] = [
  { kind: 'token', tokenId: 't', name: 'ci', orgId: 'o' },
  { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress: '127.0.0.1' },
  { kind: 'system', orgId: 'o' },
];

test('roles: every permission is allowed to exactly the roles of the table, in an organization of each approval status', () => {
  const known = new Set<string>();
  for (const thing of THINGS) {
    for (const verb of VERBS) {
      const permission = `${thing}.${verb}`;
      known.add(permission);
      for (const role of ROLES) {
        for (const approval of APPROVALS) {
          const expected = (MAY[permission]?.includes(role) ?? false) && !NOT_IN[approval].includes(permission);
          assert.equal(can(person(role, approval), verb, thing), expected, `${permission} by ${role}, ${approval}`);
          // To run the server gives no role in an organization.
          assert.equal(
            can(person(role, approval, true), verb, thing),
            expected,
            `${permission} by a superadmin as ${role}`,
          );
        }
      }
      for (const actor of MACHINES) assert.equal(can(actor, verb, thing), false, `${permission} by ${actor.kind}`);
    }
  }
  assert.deepEqual(
    Object.keys(MAY).filter((permission) => !known.has(permission)),
    [],
  );
});

test('each role may do what those before it may', () => {
  for (const [permission, roles] of Object.entries(MAY)) {
    assert.deepEqual(roles, ROLES.slice(ROLES.length - roles.length), permission);
  }
  for (const [i, role] of ROLES.entries()) {
    assert.deepEqual(
      ROLES.filter((other) => hasRole(person(role), other)),
      ROLES.slice(0, i + 1),
    );
  }
});

test('a refusal is forbidden, and says whether the role or the organization is in the way', () => {
  assert.throws(() => allow(person('viewer'), 'create', 'tunnel'), { code: 'forbidden', message: /role/ });
  assert.throws(() => allow(person('owner', 'pending'), 'create', 'tunnel'), { code: 'forbidden', message: /pending/ });
  for (const actor of MACHINES) assert.throws(() => allow(actor, 'read', 'tunnel'), { code: 'forbidden' });
  assert.doesNotThrow(() => allow(person('member'), 'create', 'tunnel'));
});

test('roles: operators are superadmins and holders of the data folder', () => {
  for (const role of ROLES) {
    assert.throws(() => allowOperator(person(role)), { code: 'forbidden' }, role);
    assert.doesNotThrow(() => allowOperator(person(role, 'suspended', true)));
  }
  const passed = MACHINES.filter((actor) => {
    try {
      allowOperator(actor);
      return true;
    } catch {
      return false;
    }
  });
  assert.deepEqual(
    passed.map(({ kind }) => kind),
    ['operator'],
  );
});
