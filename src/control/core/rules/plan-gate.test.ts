import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../base/errors.ts';
import type { Plan } from './plans.ts';
import { type BillingMode, type Feature, requireEntitlement, requireRoom } from './plan-gate.ts';

/** What is said, or undefined when the gate is open. */
function refused(ask: () => void): string | undefined {
  try {
    ask();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'upgrade_required', String(error));
    return error.message;
  }
}
const feature = (plan: Plan, wanted: Feature, mode: BillingMode = 'mock') =>
  refused(() => requireEntitlement(plan, wanted, mode));
const room = (plan: Plan, used: number, mode: BillingMode = 'mock') =>
  refused(() => requireRoom(plan, { quota: 'reservedSubdomains', used }, mode));

test('Free alone has no master keys and no identity checks', () => {
  for (const wanted of ['masterKeys', 'edgeAuth'] as const) {
    assert.match(feature('free', wanted) ?? '', /^The Free plan does not include .*\. Use Pro, Team or Enterprise\./);
    for (const plan of ['pro', 'team', 'enterprise'] as const) assert.equal(feature(plan, wanted), undefined);
  }
});

test('reserved names: none on Free, five on Pro, and no limit above', () => {
  assert.match(
    room('free', 0) ?? '',
    /^The Free plan includes no reserved subdomains\. For more, use Pro, Team or Enterprise/,
  );
  assert.equal(room('pro', 4), undefined);
  assert.match(room('pro', 5) ?? '', /^The Pro plan includes 5 reserved subdomains\. For more, use Team or Enterprise/);
  assert.equal(room('team', 1_000_000), undefined);
  assert.equal(room('enterprise', 1_000_000), undefined);
});

test('after a step down, more names than the plan has are as good as all that it has', () => {
  assert.match(room('free', 40) ?? '', /use Team or Enterprise/);
});

test('the way to another plan is the one that this server has', () => {
  assert.match(feature('free', 'masterKeys', 'mock') ?? '', /owner .*at no charge.*POST \/billing\/checkout-session/);
  assert.match(feature('free', 'masterKeys', 'stripe') ?? '', /owner of the organization can change the plan: POST/);
  assert.match(feature('free', 'masterKeys', 'none') ?? '', /Ask the operator/);
});
