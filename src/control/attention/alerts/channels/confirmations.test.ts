/** Addresses of email channels: members need no confirmation, others get no alert before it. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { DAY_MS, HOUR_MS } from '../../../../base/clock.ts';
import { emailsTo, kindsTo, lastEmail } from '../../../core/testing/outbox.ts';
import { AlertFixture } from '../testing.ts';

const OPS = 'ops@example.test';

let at: AlertFixture;
beforeEach(async () => {
  at = await AlertFixture.start();
});
afterEach(() => at.close());

interface Shown {
  readonly id: string;
  readonly channels: ReadonlyArray<{
    readonly id: string;
    readonly state: string;
    readonly confirm_until: string | null;
  }>;
}
const create = (channels: readonly object[], status = 201) =>
  at.call('POST', '/alerts', { kind: 'tunnel_offline', for_minutes: 1, channels }, status) as unknown as Promise<Shown>;
const email = (to: string) => ({ type: 'email', to });
const states = async () =>
  ((await at.call('GET', '/alerts')) as unknown as readonly Shown[]).map(({ channels }) =>
    channels.map(({ state }) => state).join(),
  );

test('alert addresses: a verified member needs no confirmation', async () => {
  const { channels } = await create([email('Ann@Example.test')]);
  assert.deepEqual(channels[0], { ...channels[0], state: 'active', confirm_until: null });
  assert.deepEqual(
    kindsTo(at.plane, 'Ann@Example.test').filter((kind) => kind === 'alert_confirm'),
    [],
  );
});

test('alert addresses: another one gets no alert and no test until its owner confirms', async () => {
  const shop = await at.tunnel('shop');
  const { id, channels } = await create([email(OPS), email(OPS.toUpperCase())]);
  assert.deepEqual(
    channels.map(({ state }) => state),
    ['pending', 'pending'],
  );
  assert.equal(Date.parse(channels[0]?.confirm_until ?? ''), at.plane.now + 7 * DAY_MS);
  assert.deepEqual(kindsTo(at.plane, OPS), ['alert_confirm'], 'one email, for both');
  const { ok, results } = await at.call('POST', `/alerts/${id}/test`);
  assert.equal(ok, false);
  assert.match(JSON.stringify(results), /not confirmed yet/);
  await at.down(shop);
  await at.pass(2 * 60_000);
  assert.deepEqual(kindsTo(at.plane, OPS), ['alert_confirm']);

  assert.deepEqual(await at.confirm(OPS), { organization: await orgName(), email: OPS });
  assert.deepEqual(await states(), ['active,active']);
  await at.confirm(OPS, 404);
  await at.up(shop);
  await at.pass(2 * 60_000);
  assert.ok(kindsTo(at.plane, OPS).includes('alert'));
  await create([email(OPS)]);
  assert.deepEqual(await states(), ['active,active', 'active'], 'confirmed for the organization');
});

const orgName = async () => ((await at.call('GET', '/auth/me'))['active_org'] as { readonly name: string }).name;

test('alert addresses: a link ends after a week, and when another one is sent; only members ask for one', async () => {
  const { id, channels } = await create([email(OPS)]);
  const [channel] = channels;
  const path = `/alerts/${id}/channels/${channel?.id}/resend`;
  const { token } = lastEmail(at.plane, OPS, 'alert_confirm');
  const resent = (await at.call('POST', path)) as unknown as Shown;
  assert.equal(resent.channels[0]?.state, 'pending');
  const old = await at.api.call('POST', '/alerts/confirm', { body: { token } });
  assert.deepEqual([old.status, old.body['error']], [404, 'not_found']);
  at.plane.now += 7 * DAY_MS;
  await at.confirm(OPS, 404);
  await at.call('POST', path);
  await at.confirm(OPS);
  await at.call('POST', path, undefined, 409);
  const bob = await at.team.person('bob@example.test');
  assert.equal((await bob.call('POST', path)).status, 404);
});

test('alert addresses: emails to one address are bounded, per organization and in a day', async () => {
  const { id, channels } = await create([email(OPS)]);
  const path = `/alerts/${id}/channels/${channels[0]?.id}/resend`;
  for (let sent = 1; sent < 5; sent++) await at.call('POST', path);
  const refused = await at.call('POST', path, undefined, 429);
  assert.match(String(refused['message']), /ops@example\.test has got several confirmation emails/);
  at.plane.now += HOUR_MS;
  await at.call('POST', path);
  const others = Array.from({ length: 10 }, (_, i) => `o${i}`);
  for (let round = 0; round < 9; round++) await create(others.map((name) => email(`${name}.${round}@example.test`)));
  const most = await create(
    others.map((name) => email(`${name}.x@example.test`)),
    429,
  );
  assert.match(JSON.stringify(most), /100 confirmation emails a day/);
});

test('alert addresses: where others used up the emails of an address, the link in its mailbox goes on working', async () => {
  const { id, channels } = await create([email(OPS)]);
  for (let other = 0; other < 6; other++) {
    const person = await at.team.person(`o${other}@example.test`);
    const rule = { kind: 'tunnel_offline', for_minutes: 1, channels: [email(OPS)] };
    const made = await person.call('POST', '/alerts', rule);
    assert.equal(made.status, 201, made.text);
    const [channel] = (made.body as unknown as Shown).channels;
    const path = `/alerts/${String(made.body['id'])}/channels/${channel?.id}/resend`;
    for (let sent = 1; sent < 5; sent++) assert.equal((await person.call('POST', path)).status, 200);
  }
  const emails = emailsTo(at.plane, OPS);
  assert.equal(emails.length, 30, 'the emails of all to one address');
  const again = await at.call('POST', `/alerts/${id}/channels/${channels[0]?.id}/resend`);
  assert.equal((again as unknown as Shown).channels[0]?.state, 'pending');
  assert.equal(emailsTo(at.plane, OPS).length, 30);
  const [first] = emails;
  assert.ok(first?.kind === 'alert_confirm');
  const confirmed = await at.api.call('POST', '/alerts/confirm', { body: { token: first.token } });
  assert.equal(confirmed.status, 200, confirmed.text);
  assert.deepEqual(await states(), ['active']);
});

test('alert addresses: another address in the same channel waits again, and what was queued is dropped', async () => {
  const shop = await at.tunnel('shop');
  const { id, channels } = await create([email('ann@example.test')]);
  await at.down(shop);
  at.plane.now += 60_000;
  for (let n = 0; n < 8; n++) {
    at.plane.now += 10_000;
    await at.plane.control.alertEvaluator.run(new AbortController().signal);
  }
  await at.call('PATCH', `/alerts/${id}`, { channels: [{ id: channels[0]?.id, ...email(OPS) }] });
  await at.look();
  assert.deepEqual(kindsTo(at.plane, OPS), ['alert_confirm']);
  assert.ok(!kindsTo(at.plane, 'ann@example.test').includes('alert'));
  await at.call('PATCH', `/alerts/${id}`, { for_minutes: 2 });
  assert.deepEqual(await states(), ['pending']);
});
