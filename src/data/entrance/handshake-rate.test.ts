import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import { TestAgent } from '../fixtures/agent.ts';
import { HandshakeRate } from '../../base/net/handshake-rate.ts';
import { addressKey } from '../../base/net/address-key.ts';
import { until } from '../fixtures/gateway.ts';
import { Rig } from '../edge/testing/rig.ts';

test('handshake rate: an address has its burst and then its rate, another has its own', () => {
  const rate = new HandshakeRate({ perSecond: 2, burst: 3 }, addressKey);
  assert.deepEqual(
    [0, 0, 0, 0, 400, 500, 600].map((nowMs) => rate.take('192.0.2.1', nowMs)),
    [true, true, true, false, false, true, false],
  );
  assert.equal(rate.take('192.0.2.2', 600), true);
  assert.equal(rate.refused, 3);
});

test('handshake rate: addresses of one IPv6 /64 network, and IPv4 in either form, share a rate', () => {
  const rate = new HandshakeRate({ perSecond: 1, burst: 1 }, addressKey);
  assert.equal(rate.take('2001:db8:0:1::1', 0), true);
  assert.equal(rate.take('2001:db8:0:1:ffff::2', 0), false);
  assert.equal(rate.take('2001:db8:0:2::1', 0), true);
  assert.equal(rate.take('::ffff:192.0.2.1', 0), true);
  assert.equal(rate.take('192.0.2.1', 0), false);
});

test('handshake rate: 0 in either number is no limit', () => {
  for (const limits of [
    { perSecond: 0, burst: 1 },
    { perSecond: 1, burst: 0 },
  ]) {
    const rate = new HandshakeRate(limits, addressKey);
    for (let i = 0; i < 1_000; i++) assert.equal(rate.take('192.0.2.1', 0), true);
  }
});

test('handshake rate: 20,000 addresses leave the newest counted', () => {
  const rate = new HandshakeRate({ perSecond: 1, burst: 1 }, addressKey);
  for (let i = 0; i < 20_000; i++) assert.equal(rate.take(`10.0.${i >> 8}.${i & 255}`, 0), true);
  assert.equal(rate.take('10.0.78.31', 0), false);
});

const TWO = { tlsHandshakesPerSecondPerIp: 1, tlsHandshakesBurstPerIp: 2 };

test('TLS handshakes: beyond the burst a connection is cut before its handshake and counted', async (t) => {
  const rig = await Rig.start(t, { limits: TWO });
  for (let i = 0; i < 2; i++) (await rig.visit({ tls: true })).socket.destroy();
  await assert.rejects(rig.visit({ tls: true }));
  assert.equal(rig.node.stats().dropped['tls_rate'], 1);
  // Plain connections cost no handshake.
  const plain = await rig.visit();
  plain.ask('GET /');
  assert.equal((await plain.response()).status, 404);
  plain.socket.destroy();
});

test('TLS handshakes: a trusted proxy, which speaks for many, is exempt', async (t) => {
  const rig = await Rig.start(t, { limits: TWO, trustedProxies: ['127.0.0.0/8'] });
  for (let i = 0; i < 10; i++) (await rig.visit({ tls: true })).socket.destroy();
  assert.equal(rig.node.stats().dropped['tls_rate'], 0);
});

test('agents: an address that shows no key is refused handshakes, agents with one come in', {
  timeout: 120_000,
}, async (t) => {
  const rig = await Rig.start(t);
  const { port } = rig.node.addresses().agents;
  const before = rig.node.stats().load.agents.refused;
  for (let i = 0; i < 220; i++) (await TestAgent.enter(port, 'good')).destroy();
  assert.equal(rig.node.stats().load.agents.refused, before, 'agents with a good key');
  let cut = 0;
  // Side by side: the limit is one per second behind the first two hundred.
  const sockets = Array.from({ length: 260 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  await Promise.all(sockets.map((socket) => once(socket, 'connect').catch(() => undefined)));
  // No TLS: the server ends it and looks at the next. One that leaves by itself before it was looked at would not count.
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\n\r\n');
  await until(() => rig.node.stats().load.agents.refused > before);
  for (const socket of sockets) socket.destroy();
  cut = rig.node.stats().load.agents.refused - before;
  assert.ok(cut > 0 && cut < 260, `${cut} refused`);
});
