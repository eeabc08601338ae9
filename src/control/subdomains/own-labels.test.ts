/** Names under the edge's domain that this server itself stands under: cookies know no ports, so a tunnel there would get log-ins. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '../../base/secret.ts';
import { domains } from '../db/schema.ts';
import type { ControlOptions } from '../open.ts';
import { Plane } from '../core/testing/plane.ts';

const client = { clientId: 'c', clientSecret: new Secret('s') };
const UNDER: Partial<ControlOptions> = {
  edgeDomain: 'Example.com',
  agentsHost: 'Dial.example.com',
  apiUrl: () => 'https://panel.example.com:8443',
  oauth: { google: { ...client, issuer: 'https://id.corp.example.com/realms/a' }, github: null },
};
const OWN = ['panel', 'dial', 'corp'];

test('no tunnel, no reservation and no claim takes a name of the server itself', async (t) => {
  const plane = new Plane(undefined, UNDER);
  t.after(() => plane.close());
  const ann = await plane.person('ann@example.test');
  const token = plane.mint(ann);
  for (const subdomain of OWN) {
    assert.throws(() => plane.create(ann, { subdomain }), { code: 'duplicate_name' }, subdomain);
    assert.throws(() => plane.control.reservedSubdomains.create(ann, subdomain), { code: 'duplicate_name' }, subdomain);
    assert.equal(await plane.refusal(token, { subdomain }), 'duplicate_name', subdomain);
  }
  for (const subdomain of ['id', 'example', 'panels', '8443']) plane.create(ann, { subdomain });
});

test('a tunnel that had the name first leads nowhere once the server has it, and no agent serves it', async (t) => {
  const before = new Plane(undefined, { ...UNDER, apiUrl: () => 'https://api.test' });
  const ann = await before.person('ann@example.test');
  const { row } = before.create(ann, { subdomain: 'panel' });
  const { row: other } = before.create(ann, { subdomain: 'shop' });
  const token = before.mint(ann);
  assert.deepEqual(before.control.tunnels.heldOwnLabels(), []);
  before.control.close();

  const plane = new Plane(before.dataDir, UNDER);
  t.after(() => plane.close());
  assert.deepEqual(plane.control.tunnels.heldOwnLabels(), ['panel']);
  const stopped = new Map(plane.control.tunnels.routes().map((route) => [route.tunnelId, route.stopped]));
  assert.deepEqual([stopped.get(row.id), stopped.get(other.id)], [true, false]);
  assert.equal(await plane.refusal(token, { subdomain: 'panel' }), 'duplicate_name');
  await plane.bound(token, { subdomain: 'shop' });
});

test("a custom domain that became the API's own host leads to no tunnel", async (t) => {
  const plane = new Plane(undefined, { ...UNDER, apiUrl: () => 'https://api.corp.test' });
  t.after(() => plane.close());
  const ann = await plane.person('ann@example.test');
  const { row } = plane.create(ann, { subdomain: 'shop' });
  const { db, clock } = plane.control.store;
  for (const domain of ['api.corp.test', 'shop.corp.test'])
    db.insert(domains)
      .values({
        id: domain,
        orgId: ann.orgId,
        domain,
        verificationToken: domain,
        tunnelId: row.id,
        createdAt: 0,
        verifiedAt: clock.now(),
      })
      .run();
  assert.deepEqual(plane.control.tunnels.routes()[0]?.domains, ['shop.corp.test']);
});
