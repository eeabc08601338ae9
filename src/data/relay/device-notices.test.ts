/** When the agent of a network is sent its devices, and of which. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RelayDevice } from '../../plane/relays.ts';
import type { Carrier } from './carrier.ts';
import { DeviceNotices } from './device-notices.ts';
import { deviceOf } from './testing.ts';

/** An agent, and what it was sent: names of devices, in parts. */
function listener(): { carrier: Carrier; told: string[] } {
  const told: string[] = [];
  const onDevices = (some: readonly RelayDevice[], isFirst: boolean, isLast: boolean): void => {
    told.push(`${isFirst ? '[' : ''}${some.map(({ deviceId }) => deviceId).join()}${isLast ? ']' : ''}`);
  };
  return { carrier: { onDevices } as unknown as Carrier, told };
}

function mapOf(...devices: RelayDevice[]): Map<string, RelayDevice> {
  return new Map(devices.map((device) => [device.deviceId, device]));
}

test('device notices: an agent gets all devices when it comes, after a change, and when one runs out', () => {
  const notices = new DeviceNotices();
  const { carrier, told } = listener();
  const devices = mapOf(deviceOf('a'), deviceOf('b', 5_000), deviceOf('c', 500));
  notices.sweep(undefined, devices, 1_000);
  notices.sweep(carrier, devices, 1_000);
  notices.sweep(carrier, devices, 2_000);
  assert.deepEqual(told, ['[a,b]']);
  devices.delete('a');
  notices.changed();
  notices.sweep(carrier, devices, 3_000);
  notices.sweep(carrier, devices, 4_999);
  assert.deepEqual(told, ['[a,b]', '[b]']);
  notices.sweep(carrier, devices, 5_000);
  notices.sweep(carrier, devices, 9_000);
  assert.deepEqual(told, ['[a,b]', '[b]', '[]']);
  const other = listener();
  notices.sweep(other.carrier, devices, 9_000);
  assert.deepEqual(other.told, ['[]']);
});

test('device notices: many devices are sent over some sweeps, and a change meanwhile is another notice', () => {
  const notices = new DeviceNotices();
  const { carrier, told } = listener();
  const devices = mapOf(...Array.from({ length: 1_001 }, (_, n) => deviceOf(String(n))));
  notices.sweep(carrier, devices, 0);
  devices.delete('1000');
  notices.changed();
  for (let n = 0; n < 6; n++) notices.sweep(carrier, devices, n);
  assert.deepEqual(
    told.map((part) => [part.startsWith('['), part.split(',').length, part.endsWith(']')]),
    [
      [true, 500, false],
      [false, 500, false],
      [false, 1, true],
      [true, 500, false],
      [false, 500, true],
    ],
  );
  // One that goes in between gets no rest of it.
  notices.changed();
  notices.sweep(carrier, devices, 7);
  notices.sweep(undefined, devices, 8);
  const other = listener();
  notices.sweep(other.carrier, devices, 9);
  assert.equal(other.told[0]?.startsWith('['), true);
});
