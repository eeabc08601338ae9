/** An agent with a good key can send control messages by the thousand: they have a rate, and repeats cost nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rig } from '../../src/data/edge/testing/rig.ts';
import { testGrant } from '../../src/data/fixtures/link.ts';
import { HEADER_BYTES, TYPE, writeHeader } from '../../src/mux/frame.ts';
import { encodeLine } from '../../src/wire/lines.ts';

const WITHIN = { timeout: 60_000 };

test('agent messages: a flood of watch is read at the rate, and the session goes on', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  rig.link.grants.set('good', testGrant('token-1', { tunnelQuota: 1 }));
  const agent = await rig.serve('shop', 9);
  const flood = Buffer.concat(
    Array.from({ length: 140 }, (_, i) => encodeLine({ type: 'watch', requests: i % 2 === 0 })),
  );
  agent.control.write(flood);
  // Behind the flood: answered when it has been read, 20 a second.
  agent.send({ type: 'claim', ref: 7, protocol: 'http', target: '9', localPort: 9, subdomain: 'shed' });
  assert.equal((await agent.next('bound')).ref, 7);
  assert.notEqual(rig.node.stats().dropped['agent_messages'], 0);
});

test('agent messages: what waits is bounded by the window of the control stream', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const agent = await rig.serve('shop', 9);
  const line = encodeLine({ type: 'unbind', slot: 60_000 });
  let sent = 0;
  // The stream takes a megabyte beyond its window and then fails its user: stop when it says so.
  while (agent.control.write(line) && sent < 4 << 20) sent += line.length;
  assert.ok(sent <= 300_000, `${sent} bytes were taken`);
  assert.equal(agent.session.closed, false);
});

test('agent messages: a repeated claim is answered the same, and the control plane is not asked', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const agent = await rig.serve('shop', 9);
  const claim = { type: 'claim', protocol: 'http', target: '9', localPort: 9, subdomain: 'shed' } as const;
  agent.send({ ...claim, ref: 1_000 });
  const first = await agent.next('bound');
  const asked = rig.link.questions.length;
  for (let ref = 1_001; ref <= 1_050; ref++) agent.send({ ...claim, ref });
  for (let ref = 1_001; ref <= 1_050; ref++) assert.deepEqual(await agent.next('bound'), { ...first, ref });
  assert.equal(rig.link.questions.length, asked);
  // Another target is another claim.
  agent.send({ ...claim, target: '10', ref: 2_000 });
  assert.notEqual((await agent.next('bound')).slot, first.slot);
  assert.equal(rig.link.questions.length, asked + 1);
});

test('agent messages: claims that are sent together for one name ask the control plane once', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const agent = await rig.serve('shop', 9);
  const asked = rig.link.questions.length;
  const claim = { type: 'claim', protocol: 'http', target: '9', localPort: 9, subdomain: 'shed' } as const;
  for (let ref = 1; ref <= 20; ref++) agent.send({ ...claim, ref });
  const slots = new Set<number>();
  for (let ref = 1; ref <= 20; ref++) slots.add((await agent.next('bound')).slot);
  assert.equal(slots.size, 1);
  assert.equal(rig.link.questions.length, asked + 1);
});

test('agent messages: one that is nested too deep ends the session before it is parsed', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const agent = await rig.serve('shop', 9);
  agent.control.write(Buffer.from(`{"type":"watch","requests":true,"x":${'['.repeat(30_000)}${']'.repeat(30_000)}}\n`));
  assert.equal((await agent.next('bye')).code, 'protocol_error');
  await agent.closed;
});

/** `bytes` on a stream, in a frame for each. */
function crumbs(streamId: number, bytes: Buffer): Buffer {
  const size = HEADER_BYTES + 1;
  const out = Buffer.alloc(bytes.length * size);
  for (let i = 0; i < bytes.length; i++) {
    writeHeader(out, i * size, TYPE.data, 0, streamId, 1);
    out[i * size + HEADER_BYTES] = bytes[i] as number;
  }
  return out;
}

// 3 MB of frames took 40 s of the thread that serves visitors: each byte that waited was an object in a queue of 240,000.
test(
  'agent messages: a flood in frames of one byte each costs milliseconds and stalls no visitor',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    rig.link.grants.set('good', testGrant('token-1', { tunnelQuota: 1 }));
    const agent = await rig.serve('shop', 9);
    const padded = Buffer.from(`{"type":"watch",${' '.repeat(59_000)}"requests":true}\n`);
    const claim = { type: 'claim', ref: 7, protocol: 'http', target: '9', localPort: 9, subdomain: 'shed' };
    const { user } = process.cpuUsage();
    const burst = Array.from({ length: 120 }, () => encodeLine({ type: 'watch', requests: true }));
    const all = Buffer.concat([...burst, padded, padded, padded, padded, encodeLine(claim)]);
    agent.socket.write(crumbs(agent.control.id, all));
    assert.equal((await agent.next('bound')).ref, 7);
    const ms = process.cpuUsage({ user, system: 0 }).user / 1_000;
    assert.ok(ms < 3_000, `${ms} ms of the processor`);
  },
);
