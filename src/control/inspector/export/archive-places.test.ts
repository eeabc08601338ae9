import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UserActor } from '../../core/rules/actor.ts';
import { ArchivePlaces, MAX_ARCHIVES_AT_ONCE } from './archive-places.ts';

function person(userId: string, orgId: string): UserActor {
  return {
    ...{ kind: 'user', userId, orgId, email: `${userId}@example.test`, role: 'viewer', approval: 'approved' },
    ...{ superadmin: false, sessionId: 's', ipAddress: '203.0.113.7' },
  };
}

test('an organization has one archive at a time, and so has a person, whose organizations are many', () => {
  const places = new ArchivePlaces();
  const leave = places.enter(person('ann', 'acme'));
  for (const other of [person('ann', 'acme'), person('bob', 'acme'), person('ann', 'other')])
    assert.throws(() => places.enter(other), { code: 'rate_limited', retryAfterSeconds: 2 });
  const another = places.enter(person('bob', 'other'));
  leave();
  leave();
  assert.throws(() => places.enter(person('bob', 'acme')), { code: 'rate_limited' });
  const again = places.enter(person('ann', 'acme'));
  // Given back twice it was one place.
  leave();
  assert.throws(() => places.enter(person('ann', 'acme')), { code: 'rate_limited' });
  again();
  another();
});

test("all organizations have a few at a time; one that is given back is the next one's", () => {
  const places = new ArchivePlaces();
  const leave = Array.from({ length: MAX_ARCHIVES_AT_ONCE }, (_, i) => places.enter(person(`p${i}`, `o${i}`)));
  assert.throws(() => places.enter(person('ann', 'acme')), { code: 'unavailable', retryAfterSeconds: 2 });
  leave[0]?.();
  places.enter(person('ann', 'acme'));
  assert.throws(() => places.enter(person('p0', 'o0')), { code: 'unavailable' });
});
