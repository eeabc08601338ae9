/**
 * Datagrams of a private network through the whole product: clients' sockets, the server, an agent, and a service that sends each back. By
 * UDP and by the agent's session, over the end of a session, and when another agent takes the network over.
 */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { suite, type TestContext, test } from 'node:test';
import { type Agent, startAgent } from '../../src/agent/agent.ts';
import { makeConnector } from '../../src/agent/connect/connect.ts';
import type { AgentEvent } from '../../src/agent/events.ts';
import { bindDatagrams, connectDatagrams, type DatagramSocket } from '../../src/base/udp/datagrams.ts';
import { silentLog } from '../../src/base/log.ts';
import { type Culvert, startCulvert } from '../harness.ts';

interface Fixture {
  readonly culvert: Culvert;
  readonly network: string;
  readonly port: number;
  readonly service: Service;
}

/** Sends back what it gets. */
interface Service {
  readonly port: number;
  /** By port, in the order in which they came. */
  readonly sources: Set<number>;
}

interface Running {
  readonly agent: Agent;
  readonly events: readonly AgentEvent[];
}

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 30_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`it never came to be: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function fixture(t: TestContext): Promise<Fixture> {
  const free = createSocket('udp4');
  free.bind(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address();
  free.close();
  const culvert = await startCulvert(t, '', `udp_ports = "${port}-${port}"`);
  const made = await culvert.account.call('POST', '/private-networks', { name: 'office', cidr: '10.9.8.0/24' });
  assert.equal(made.status, 201);
  const network = String(made.body['id']);
  const key = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const server = { server_public_key: key.toString('base64'), server_listen_port: 51_820 };
  const put = await culvert.account.call('PUT', `/private-networks/${network}/server`, server);
  assert.deepEqual([put.status, put.body['reserved_udp_port']], [200, port]);
  return { culvert, network, port, service: await serve(t) };
}

async function serve(t: TestContext): Promise<Service> {
  const sources = new Set<number>();
  const socket: DatagramSocket = await bindDatagrams({
    host: '127.0.0.1',
    port: 0,
    onDatagram: (bytes, start, end, address, from) => {
      sources.add(from);
      socket.send(bytes, start, end, from, address);
    },
    onError: () => {}, // a client's socket at the agent that is gone
  });
  t.after(() => socket.close());
  return { port: socket.port, sources };
}

function carry(t: TestContext, { culvert, service }: Fixture, udp = true): Running {
  const connector = makeConnector({ server: new URL(culvert.server.apiUrl), log: silentLog });
  const events: AgentEvent[] = [];
  const target = { text: `127.0.0.1:${service.port}`, hosts: ['127.0.0.1'], port: service.port };
  const agent = startAgent({
    server: culvert.server.apiUrl,
    tunnels: [],
    relays: [{ name: 'vpn', network: 'office', target, udp }],
    identity: { version: '0.0.0-test', os: 'test', hostname: 'harness' },
    token: async () => culvert.token,
    open: connector.open,
    reach: connector.reach,
    log: silentLog,
    onEvent: (event) => events.push(event),
  });
  t.after(async () => {
    agent.destroy();
    await agent.done;
    connector.close();
  });
  return { agent, events };
}

interface Client {
  readonly heard: Buffer[];
  send(bytes: Buffer): void;
}

async function client(t: TestContext, port: number): Promise<Client> {
  const heard: Buffer[] = [];
  const socket = await connectDatagrams({
    host: '127.0.0.1',
    port,
    onDatagram: (bytes, start, end) => heard.push(Buffer.from(bytes.subarray(start, end))),
    onError: () => {}, // the port is not open between two agents
  });
  t.after(() => socket.close());
  return { heard, send: (bytes) => void socket.send(bytes, 0, bytes.length) };
}

const viewOf = ({ agent }: Running) => agent.view().relays[0];
const LENGTHS = [1, 32, 148, 1_200, 1_452, 9_000, 60_000];

suite('a private network through the product', { timeout: 120_000 }, () => {
  for (const way of ['udp', 'stream'] as const) {
    test(`by ${way}: many clients, each with its own answers, whole whatever their length`, async (t) => {
      const all = await fixture(t);
      const running = carry(t, all, way === 'udp');
      await until(() => viewOf(running)?.path === way && viewOf(running)?.state === 'online');
      const clients = await Promise.all(Array.from({ length: 60 }, () => client(t, all.port)));
      for (const length of LENGTHS) {
        for (const [i, one] of clients.entries()) {
          one.send(Buffer.alloc(length, i));
          // Long ones in turn: many at a time are more than the sockets of one test machine have room for.
          if (length > 2_000) await until(() => one.heard.length > LENGTHS.indexOf(length));
        }
        await until(() => clients.every(({ heard }) => heard.length > LENGTHS.indexOf(length)));
      }
      for (const [i, { heard }] of clients.entries()) {
        assert.deepEqual(
          heard.map((bytes) => [bytes.length, bytes.equals(Buffer.alloc(bytes.length, i))]),
          LENGTHS.map((length) => [length, true]),
        );
      }
      assert.equal(all.service.sources.size, clients.length);
      assert.deepEqual([viewOf(running)?.clients, viewOf(running)?.dropped], [clients.length, 0]);
      const { body } = await all.culvert.account.call('GET', `/private-networks/${all.network}/relay`);
      assert.deepEqual([body['online'], body['path'], body['flows']], [true, way, clients.length]);
    });
  }

  test('a session that is cut costs seconds and no socket: WireGuard sees the same clients', async (t) => {
    const all = await fixture(t);
    const running = carry(t, all);
    await until(() => viewOf(running)?.path === 'udp');
    const one = await client(t, all.port);
    one.send(Buffer.from('before'));
    await until(() => one.heard.length === 1);
    const { body } = await all.culvert.account.call('GET', '/connections');
    const [connection] = body as unknown as Array<{ agent_id: string }>;
    await all.culvert.account.call('DELETE', `/connections/${connection?.agent_id}`);
    await until(() => viewOf(running)?.state === 'waiting');
    running.agent.retryNow();
    await until(() => viewOf(running)?.path === 'udp');
    await until(() => {
      one.send(Buffer.from('after'));
      return one.heard.length > 1;
    });
    assert.equal(all.service.sources.size, 1);
  });

  test('a newer agent takes the network over, and clients notice nothing but another source', async (t) => {
    const all = await fixture(t);
    const first = carry(t, all);
    await until(() => viewOf(first)?.path === 'udp');
    const one = await client(t, all.port);
    one.send(Buffer.from('first'));
    await until(() => one.heard.length === 1);
    const second = carry(t, all);
    const { code, message } = await first.agent.done;
    assert.equal(code, 4);
    assert.match(message, /Another agent, on harness.*, took over the private network office/);
    await until(() => viewOf(second)?.path === 'udp');
    await until(() => {
      one.send(Buffer.from('second'));
      return one.heard.length > 1;
    });
    assert.equal(all.service.sources.size, 2);
  });

  test('a network that is deleted ends its agent, and says so', async (t) => {
    const all = await fixture(t);
    const running = carry(t, all);
    await until(() => viewOf(running)?.path === 'udp');
    await all.culvert.account.call('DELETE', `/private-networks/${all.network}`);
    const { code } = await running.agent.done;
    assert.equal(code, 4);
    const event = running.events.find(({ kind }) => kind === 'relay_refused');
    assert.equal(event?.kind === 'relay_refused' && event.code, 'network_deleted');
  });
});
