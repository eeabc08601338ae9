/** What relays cost the key that carries them, what its limits do, and how sessions that carry nothing else end. */
import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import { monthOf } from '../../plane/spend.ts';
import { STREAM_PLEASE } from '../../wire/relay-packets.ts';
import { TestAgent } from '../fixtures/agent.ts';
import { testCertificate, type TestCertificate } from '../fixtures/certificate.ts';
import { startFixture, until, type Fixture } from '../fixtures/gateway.ts';
import { idOf, testGrant, testRelay } from '../fixtures/link.ts';
import { freeUdpPort, TestCarrier, TestClient } from '../fixtures/relay.ts';
import { dataPacket, initiation } from './testing.ts';

let tls: TestCertificate;
before(async () => {
  tls = await testCertificate();
});

interface Carried extends Fixture {
  readonly carrier: TestCarrier;
  readonly client: TestClient;
  /** Of the client. */
  readonly flow: number;
}

/** A network that an agent with this grant carries by UDP, and a client that has proven itself. */
async function carried(t: TestContext, grant: Parameters<typeof testGrant>[1]): Promise<Carried> {
  const fixture = await startFixture(t, { tls, nowMs: null });
  const port = await freeUdpPort();
  fixture.link.change({ kind: 'relay', relay: testRelay('home', port) });
  fixture.link.grants.set('mine', testGrant('token-9', grant));
  const agent = await TestAgent.enter(fixture.port, 'mine');
  t.after(() => agent.destroy());
  const carrier = await TestCarrier.attach(t, agent, 'home');
  await carrier.prove();
  const client = await TestClient.open(t, port);
  client.send(dataPacket(1));
  await until(() => carrier.came.length === 1);
  const flow = carrier.came[0]?.flow as number;
  carrier.send(flow, dataPacket(2));
  await until(() => client.heard.length === 1);
  return Object.assign(fixture, { carrier, client, flow });
}

function settle({ relays }: Fixture): void {
  relays.sweep();
  relays.sweep();
}

const info = ({ relays }: Fixture) => relays.info(idOf('home'));

test('relay charges: what passed is reported for the token and charged, and at the cap it ends', async (t) => {
  // 10 cents a GB: a hundred-thousandth of a cent is 1,000 bytes.
  const budget = { accountId: 'a', month: monthOf(Date.now()), spentCents: 0, capCents: 0.000_01 };
  const fixture = await carried(t, { budgets: [budget] });
  const { carrier, client, flow } = fixture;
  client.send(Buffer.alloc(400));
  carrier.send(flow, Buffer.alloc(400));
  await until(() => client.heard.length === 2 && carrier.came.length === 2);
  settle(fixture);
  await fixture.outbox.flush(5_000);
  const usage = () =>
    fixture.link.batches.flatMap((batch) => batch.events).filter((event) => event.kind === 'relay_usage');
  const [event] = usage();
  assert.deepEqual(event, {
    kind: 'relay_usage',
    networkId: idOf('home'),
    tokenId: 'token-9',
    packetsIn: 2,
    bytesIn: 432,
    packetsOut: 2,
    bytesOut: 432,
  });
  assert.ok(info(fixture), 'not yet');
  carrier.send(flow, Buffer.alloc(200));
  await until(() => client.heard.length === 3);
  fixture.relays.sweep();
  const before = fixture.relays.stats().dropped.budget;
  // Counted by the sweep just now: the next datagram is dropped, and the next sweep ends it.
  fixture.relays.sweep();
  const unbound = await carrier.agent.next('unbound');
  assert.equal(unbound.code, 'budget_exhausted');
  assert.match(unbound.message, /budget/);
  assert.equal(before, 0);
  client.send('late');
  await until(() => fixture.relays.stats().dropped.no_agent === 1);
  await fixture.outbox.flush(5_000);
  assert.equal(
    usage().reduce((sum, { bytesIn, bytesOut }) => sum + bytesIn + bytesOut, 0),
    1_064,
  );
});

test('over the budget datagrams are dropped at once, before the sweep that ends the relay', async (t) => {
  const budget = { accountId: 'a', month: monthOf(Date.now()), spentCents: 0, capCents: 1 };
  const fixture = await carried(t, { budgets: [budget] });
  const { carrier, client, flow } = fixture;
  fixture.link.change({ kind: 'budget', budget: { ...budget, capCents: 0 } });
  client.send('in');
  await until(() => info(fixture)?.dropped.budget === 1);
  carrier.send(flow, 'out');
  await until(() => info(fixture)?.dropped.budget === 2);
  fixture.link.change({ kind: 'budget', budget: { ...budget, capCents: 2 } });
  client.send('in again');
  await until(() => carrier.texts.at(-1) === 'in again');
});

test('over the bandwidth limit datagrams are dropped, and neither direction shuts the other out', async (t) => {
  // 1 Mbps: 125 bytes per millisecond, and 16 KB at once.
  const fixture = await carried(t, { bandwidthLimitMbps: 1 });
  const { carrier, client, flow } = fixture;
  const now = (): NonNullable<ReturnType<typeof info>> => info(fixture) as NonNullable<ReturnType<typeof info>>;
  const settled = (): number => now().dropped.bandwidth + now().packetsIn + now().packetsOut;
  let sent = 0;
  const flood = async (): Promise<{ carried: number; fair: number; most: number }> => {
    const before = now();
    const began = performance.now();
    while (performance.now() - began < 1_000) {
      client.send(Buffer.alloc(1_000));
      carrier.send(flow, Buffer.alloc(1_000));
      sent += 2;
      // No faster than the node takes them: what the system drops is none of ours.
      await until(() => settled() > sent - 102);
    }
    const fair = 125 * (performance.now() - began);
    const { bytesIn, bytesOut } = now();
    const [incoming, outgoing] = [bytesIn - before.bytesIn, bytesOut - before.bytesOut];
    const carried = incoming + outgoing;
    assert.ok(Math.min(incoming, outgoing) > carried / 5, `${incoming} in, ${outgoing} out`);
    return { carried, fair, most: fair + 16_384 + 3 * 4_096 };
  };
  // A busy machine takes from what is carried, and never adds: from below the best of eight seconds counts.
  for (let second = 1; ; second++) {
    const { carried, fair, most } = await flood();
    assert.ok(carried < most, `${carried} of ${most}`);
    if (carried > 0.6 * fair) break;
    assert.ok(second < 8, `${carried} of ${fair}`);
  }
  assert.ok(now().dropped.bandwidth > 100);
});

test('who floods the public port takes no rate from clients, and keeps no new one from shaking hands', async (t) => {
  const fixture = await carried(t, { bandwidthLimitMbps: 5 });
  const { carrier, client } = fixture;
  const { port } = carrier.attached;
  const flooder = await TestClient.open(t, port);
  const serverKey = {
    deviceId: 'server',
    allowedIps: ['10.80.0.2/32'],
    publicKey: Buffer.alloc(32, 9).toString('base64'),
    expiresAt: null,
  };
  // What may be saved up is 62,500 bytes.
  const flood = (): void => {
    for (let i = 0; i < 60; i++) flooder.send(Buffer.alloc(1_200, 7));
    for (let i = 0; i < 20; i++) flooder.send(Buffer.alloc(10, 7));
  };
  for (let i = 0; i < 100; i++) {
    flood();
    client.send(`mine ${i}`);
    await until(() => carrier.texts.at(-1) === `mine ${i}`);
  }
  for (let i = 0; i < 30; i++) {
    const newcomer = await TestClient.open(t, port);
    const message = initiation({ sender: i, to: serverKey });
    flood();
    newcomer.send(message);
    await until(() => carrier.came.at(-1)?.bytes.equals(message) === true);
  }
  assert.ok((info(fixture)?.dropped.bandwidth ?? 0) > 1_000);
});

test('who says that UDP was lost and goes on sending by it is limited all the same', async (t) => {
  const fixture = await carried(t, { bandwidthLimitMbps: 1 });
  const { carrier, flow } = fixture;
  carrier.sendByStream(0, Buffer.from([STREAM_PLEASE]));
  await until(() => info(fixture)?.path === 'stream');
  for (let i = 0; i < 100; i++) carrier.send(flow, Buffer.alloc(1_000));
  await until(() => (info(fixture)?.dropped.bandwidth ?? 0) > 50);
});

test('relay charges: an ended session, or one with a revoked token, carries nothing more', async (t) => {
  const fixture = await carried(t, {});
  const [connection] = fixture.gateway.registry.connections();
  assert.deepEqual(connection?.networkIds, [idOf('home')]);
  fixture.gateway.registry.disconnect(connection?.agentId ?? '', 'because');
  assert.equal(info(fixture), undefined);
  assert.equal((await fixture.carrier.agent.next('bye')).code, 'disconnected');
  const again = await TestAgent.enter(fixture.port, 'mine');
  const carrier = await TestCarrier.attach(t, again, 'home');
  assert.equal(carrier.attached.epoch, fixture.carrier.attached.epoch);
  fixture.link.change({ kind: 'revoke_token', tokenId: 'token-9', message: 'It was revoked.' });
  assert.equal(info(fixture), undefined);
  assert.equal((await again.next('bye')).code, 'unauthorized');
});

test('an agent whose only network was deleted has left for that reason', async (t) => {
  const fixture = await carried(t, {});
  const { agent } = fixture.carrier;
  fixture.link.change({
    kind: 'relay_gone',
    networkId: idOf('home'),
    code: 'network_deleted',
    message: 'It was deleted.',
  });
  await agent.next('unbound');
  agent.control.end();
  await until(() => fixture.gateway.registry.size === 0);
  await fixture.outbox.flush(5_000);
  const end = fixture.link.batches.flatMap((batch) => batch.events).find((event) => event.kind === 'session_end');
  assert.deepEqual([end?.reason, end?.message], ['network_deleted', 'It was deleted.']);
});
