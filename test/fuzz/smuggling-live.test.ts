/**
 * The smuggling corpus through a whole edge (sockets, TLS, multiplexer, agent): to a service that reads strictly and remembers, and to services
 * of several makes with parsers of their own.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rig, type Wire } from '../../src/data/edge/testing/rig.ts';
import { DryEdge } from './dry-edge.ts';
import { noOrigin, startOrigin } from './http-origins.ts';
import { judgeRequest } from './smuggling.ts';
import { CORPUS } from './smuggling-corpus.ts';
import { strictOrigin } from './strict-origin.ts';

const WITHIN = { timeout: 120_000 };

for (const tls of [false, true]) {
  test(
    `the service gets exactly what was accepted, and the visitor an answer for each (${tls ? 'TLS' : 'plain'})`,
    WITHIN,
    async (t) => {
      const origin = await strictOrigin(t);
      const rig = await Rig.start(t);
      await rig.serve('shop', origin.port);
      for (const { name, text, served, statuses } of CORPUS) {
        const wire = await rig.visit({ tls });
        wire.send(text);
        const answers = await statusesOf(wire, statuses.length);
        assert.deepEqual({ served: origin.seen.splice(0), statuses: answers }, { served, statuses }, name);
      }
      assert.deepEqual(origin.faults, []);
    },
  );
}

for (const name of ['node', 'go', 'python', 'nginx'] as const) {
  test(`${name} reads at most one request per head that was accepted`, {
    ...WITHIN,
    skip: noOrigin(name),
  }, async (t) => {
    const origin = await startOrigin(name, t);
    const rig = await Rig.start(t);
    await rig.serve('shop', origin.port);
    const edge = new DryEdge();
    t.after(() => edge.close());
    let accepted = 0;
    let hidden = 0;
    for (const { text, served, statuses } of CORPUS) {
      const wire = await rig.visit();
      wire.send(text);
      await statusesOf(wire, statuses.length);
      judgeRequest(edge, { text, step: 0 });
      accepted += edge.meter.requests;
      hidden += served.filter((one) => one.startsWith('GET /hidden ')).length;
    }
    const seen = origin.take();
    for (const { line, from } of seen) assert.deepEqual(from, ['127.0.0.1'], line);
    assert.ok(seen.filter(({ line }) => line === 'GET /hidden').length <= hidden, 'one that was hidden');
    // At most one per head that was accepted; some refuse an odd method or a broken body before they show it.
    assert.ok(seen.length <= accepted && seen.length > 50, `${seen.length} requests came of ${accepted}`);
  });
}

/** The statuses of what came back, once there are so many. */
async function statusesOf(wire: Wire, count: number): Promise<number[]> {
  const statuses = (): number[] => [...wire.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
  await wire.until(new RegExp(`(?:HTTP/1\\.1 \\d{3} [^]*\r\n\r\n[^]*){${count}}`));
  wire.socket.destroy();
  return statuses();
}
