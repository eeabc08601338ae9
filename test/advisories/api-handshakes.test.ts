/** A TLS handshake costs as much as a hundred requests: with `api.tls` an address has a rate of them at the API, as at the edge. */
import assert from 'node:assert/strict';
import { connect as connectTcp } from 'node:net';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { OpenAPIHono } from '@hono/zod-openapi';
import { NetworkSet } from '../../src/base/net/addr.ts';
import { silentLog } from '../../src/base/log.ts';
import type { ApiEnv } from '../../src/control/core/http/context.ts';
import { listenApi } from '../../src/control/core/http/listener/listener.ts';
import { testCertificate } from '../../src/data/fixtures/certificate.ts';

/** Of so many connections one after the other: which had a handshake. */
async function shake(port: number, from: string, times: number): Promise<boolean[]> {
  const done: boolean[] = [];
  for (let i = 0; i < times; i++) {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const tcp = connectTcp({ port, host: '127.0.0.1', localAddress: from }).on('error', () => resolve(false));
    const socket = connect({ socket: tcp, rejectUnauthorized: false });
    socket.on('secureConnect', () => resolve(true)).on('error', () => resolve(false));
    done.push(await promise);
    socket.destroy();
  }
  return done;
}

test('class 11 resource exhaustion: an address has its share of TLS handshakes with the API, and takes none of others', async (t) => {
  const warnings: object[] = [];
  let now = 0;
  const api = await listenApi(
    new OpenAPIHono<ApiEnv>(),
    { host: '127.0.0.1', port: 0 },
    {
      tls: await testCertificate(['localhost']),
      exempt: new NetworkSet(['127.0.0.3']),
      handshakes: { perSecond: 1, burst: 3 },
      monotonic: () => now,
      log: { ...silentLog, warn: (fields: object) => void warnings.push(fields) },
    },
  );
  t.after(() => api.close());
  const { port } = api.address;
  assert.deepEqual(await shake(port, '127.0.0.1', 5), [true, true, true, false, false]);
  assert.deepEqual(await shake(port, '127.0.0.2', 3), [true, true, true]);
  // A proxy speaks for many.
  assert.deepEqual(await shake(port, '127.0.0.3', 5), Array(5).fill(true));
  assert.deepEqual(warnings, [{ source: '127.0.0.1', max_per_second: 1, leftOut: 0 }], 'told once');
  now = 1_000;
  assert.deepEqual(await shake(port, '127.0.0.1', 2), [true, false]);
});
