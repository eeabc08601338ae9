import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENTITLEMENTS, PLANS as SERVER_PLANS, PLAN_NAMES as SERVER_NAMES } from '../../src/control/core/rules/plans.ts';
import { presentEntitlements } from '../../src/control/billing/entitlements-schemas.ts';
import {
  FEATURES,
  INCLUDED,
  paidText,
  PLAN_NAMES,
  PLANS,
  subscriptionText,
  webAddress,
} from '../../src/dashboard/pages/billing/plans.ts';

test('plan table: equals the plans of the server', () => {
  assert.deepEqual(PLANS, SERVER_PLANS);
  assert.deepEqual(PLAN_NAMES, SERVER_NAMES);
  for (const plan of SERVER_PLANS) {
    assert.deepEqual({ plan, ...INCLUDED[plan] }, presentEntitlements(plan, ENTITLEMENTS[plan]));
  }
});

test('plan table: features as text', () => {
  const said = (plan: 'free' | 'team' | 'enterprise') => FEATURES.map(({ say }) => say(INCLUDED[plan]));
  assert.deepEqual(said('free'), ['1 h', '7 days', 'none', 'no', 'no']);
  assert.deepEqual(said('team'), ['7 d', '90 days', 'unlimited', 'yes', 'yes']);
  assert.equal(said('enterprise')[0], 'unlimited');
});

test('checkout: redirects only to web pages', () => {
  assert.equal(webAddress('https://pay.example/c?x=1'), 'https://pay.example/c?x=1');
  assert.equal(
    webAddress('http://127.0.0.1:9090/billing/mock-checkout?token=a.b'),
    'http://127.0.0.1:9090/billing/mock-checkout?token=a.b',
  );
  for (const bad of ['javascript:alert(1)', 'data:text/html,x', '/billing', '', 'file:///etc/passwd']) {
    assert.equal(webAddress(bad), undefined, bad);
  }
});

test('subscription: text with payment and next date', () => {
  const end = '2026-12-21T12:00:00.000Z';
  const of = (cancels: boolean) =>
    subscriptionText({ billing_cycle: 'monthly', current_period_end: end, cancel_at_period_end: cancels });
  assert.equal(of(false), 'Billed monthly; renews on 2026-12-21.');
  assert.equal(of(true), 'Billed monthly; ends on 2026-12-21 and does not renew.');
  const bare = { billing_cycle: null, current_period_end: null, cancel_at_period_end: false };
  assert.equal(subscriptionText(bare), '');
  assert.equal(subscriptionText({ ...bare, current_period_end: end }), 'Renews on 2026-12-21.');
  assert.match(paidText({ mode: 'none' }), /operator/);
});
