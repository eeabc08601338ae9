/** What a relay says of a way by UDP that its own system does not give it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { bindDatagrams } from '../../base/udp/datagrams.ts';
import { codeOf } from '../../base/errors.ts';
import { RELAY_KEY_BYTES, RELAY_TOKEN_BYTES } from '../../wire/relay-packets.ts';
import { FakeTime } from '../fixtures/fake-channel.ts';
import { until } from './fixtures/until.ts';
import { UdpPath } from './udp-path.ts';

interface Fixture {
  readonly time: FakeTime;
  readonly troubles: Array<string | undefined>;
  readonly silent: string[];
  readonly thrown: Error[];
}

function pathTo(t: TestContext, to: { remote: string; host: string; port: number }): Fixture {
  const time = new FakeTime();
  const fixture: Fixture = { time, troubles: [], silent: [], thrown: [] };
  const path = new UdpPath({
    ...to,
    keys: { token: randomBytes(RELAY_TOKEN_BYTES), key: randomBytes(RELAY_KEY_BYTES) },
    clock: time,
    schedule: time,
    owner: {
      onUp: () => assert.fail('no server is there'),
      onSilent: (why) => void fixture.silent.push(why),
      onPacket: () => {},
      onLost: () => {},
      onForeign: () => {},
      onTrouble: (error) => void fixture.troubles.push(codeOf(error)),
      onThrow: (error) => void fixture.thrown.push(error),
    },
  });
  t.after(() => path.close());
  return fixture;
}

async function silence({ time, silent }: Fixture): Promise<string> {
  for (let second = 0; second < 6; second++) await time.advance(1_000);
  assert.equal(silent.length, 1);
  return silent[0] as string;
}

test('udp path: an unreachable address is reported with the error of the system', async (t) => {
  // Sending to all is a right that the socket does not ask for.
  const fixture = pathTo(t, { remote: '255.255.255.255', host: '255.255.255.255', port: 9 });
  await until(() => fixture.troubles.includes('EACCES'));
  assert.equal(await silence(fixture), 'no UDP response from 255.255.255.255:9 (EACCES)');
  assert.deepEqual(fixture.thrown, []);
});

test('udp path: an unknown name is reported beside an address that does not answer', async (t) => {
  const deaf = await bindDatagrams({ host: '127.0.0.1', port: 0, onDatagram: () => {}, onError: () => {} });
  t.after(() => deaf.close());
  // No name can have an empty part: no resolver is asked.
  const fixture = pathTo(t, { remote: '127.0.0.1', host: 'no..name', port: deaf.port });
  await until(() => fixture.troubles.length > 0);
  assert.equal(
    await silence(fixture),
    `no UDP response from 127.0.0.1:${deaf.port} (${fixture.troubles[0]} for no..name)`,
  );
  assert.deepEqual(fixture.thrown, []);
});
