// group: fuzz
/** Addresses of devices against a model: whatever is enrolled and revoked, in whatever order, each has the lowest that was free. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { networkDevices, privateNetworks } from '../../src/control/db/schema.ts';
import type { UserActor } from '../../src/control/core/rules/actor.ts';
import { AppError } from '../../src/base/errors.ts';
import { aKey } from '../../src/control/networks/testing.ts';
import { Plane } from '../../src/control/core/testing/plane.ts';

let plane: Plane;
let ann: UserActor;
before(async () => {
  plane = new Plane();
  ann = await plane.person('ann@example.test');
});
after(() => plane.close());

/** Of a /28: hosts 2 to 14. */
const LAST_HOST = 14;
type Step =
  | { readonly kind: 'enroll' }
  | { readonly kind: 'again'; readonly nth: number }
  | { readonly kind: 'revoke'; readonly nth: number };
const nth = fc.nat({ max: LAST_HOST });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: 'enroll' } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('again' as const), nth }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('revoke' as const), nth }) },
);

/** Host to the key that has it. */
type Model = Map<number, { readonly key: string; readonly id: string }>;

test('100 sequences of enrolments and revocations give what the model gives', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 1, maxLength: 60 }), (steps) => {
      const { db } = plane.control.store;
      db.delete(networkDevices).run();
      db.delete(privateNetworks).run();
      // As if each sequence were a day of its own.
      plane.now += 2 * 24 * 3_600_000;
      const { id } = plane.control.networks.create(ann, { name: 'n', cidr: '10.80.0.16/28' }).row;
      const model: Model = new Map();
      for (const step of steps) run(step, id, model);
      const listed = plane.control.networkDevices
        .list(ann, id)
        .map(({ row, assignedIp }) => [row.host, assignedIp, row.id]);
      const expected = [...model]
        .sort(([a], [b]) => a - b)
        .map(([host, had]) => [host, `10.80.0.${16 + host}`, had.id]);
      assert.deepEqual(listed, expected);
    }),
    { numRuns: 100, seed: 7 },
  );
});

function run(step: Step, networkId: string, model: Model): void {
  const { networkDevices: devices } = plane.control;
  const picked = step.kind === 'enroll' ? undefined : [...model][step.nth % Math.max(model.size, 1)];
  if (step.kind === 'enroll') {
    const key = aKey();
    const free = Array.from({ length: LAST_HOST - 1 }, (_, i) => i + 2).find((host) => !model.has(host));
    if (free === undefined) {
      assert.throws(
        () => devices.enroll(ann, networkId, { name: 'd', publicKey: key }),
        (error) => error instanceof AppError && error.code === 'network_full',
      );
      return;
    }
    const { device, isNew } = devices.enroll(ann, networkId, { name: 'd', publicKey: key });
    assert.deepEqual([device.row.host, isNew], [free, true]);
    model.set(free, { key, id: device.row.id });
  } else if (picked !== undefined) {
    const [host, { key, id }] = picked;
    if (step.kind === 'again') {
      const { device, isNew } = devices.enroll(ann, networkId, { name: 'other', publicKey: key });
      assert.deepEqual([device.row.id, device.row.host, isNew], [id, host, false]);
    } else {
      devices.revoke(ann, networkId, id);
      model.delete(host);
    }
  }
}
