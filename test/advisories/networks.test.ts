/** Faults of others that had private networks before us. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { test } from 'node:test';
import { checkServerConfig } from '../../src/config/load.ts';
import { Handshake } from '../../src/data/relay/handshake/handshake.ts';
import { FlowBudget } from '../../src/data/relay/flow-budget.ts';
import { FlowFilter } from '../../src/data/relay/flow-filter.ts';
import { dataPacket, initiation } from '../../src/data/relay/testing.ts';
import {
  encodeSigned,
  HELLO_BYTES,
  NONCE_BYTES,
  RELAY_KEY_BYTES,
  RELAY_KIND,
  RELAY_TOKEN_BYTES,
} from '../../src/wire/relay-packets.ts';
import { serverFixture } from './fixture.ts';

const WITHIN = { timeout: 120_000 };
const fixture = serverFixture();
let made = 0;

const publicKey = (): string => randomBytes(32).toString('base64');

/** A network with a server and one device: their ids. */
async function network(): Promise<{ path: string; device: string; port: number }> {
  const { ann } = fixture();
  const name = `net-${++made}`;
  const { body } = await ann.call('POST', '/private-networks', { name, cidr: '10.80.0.0/24' });
  const path = `/private-networks/${String(body['id'])}`;
  const server = await ann.call('PUT', `${path}/server`, { server_public_key: publicKey(), server_listen_port: 51820 });
  assert.equal(server.status, 200, JSON.stringify(server.body));
  const enrolled = await ann.call('POST', `${path}/devices`, { name: 'phone', public_key: publicKey() });
  assert.equal(enrolled.status, 201, JSON.stringify(enrolled.body));
  const device = enrolled.body['device'] as { id: string };
  return { path, device: `${path}/devices/${device.id}`, port: Number(server.body['reserved_udp_port']) };
}

test('NetBird STUN: no port is open before an agent carries a network', WITHIN, async () => {
  const { port } = await network();
  assert.equal(checkServerConfig('', 'x.toml').settings.edge.udp_host, '127.0.0.1');
  const socket = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, resolve);
  });
  socket.close();
});

test('NetBird STUN: an unproven peer gets no more bytes than it sent, from handshake or service', WITHIN, () => {
  const token = randomBytes(RELAY_TOKEN_BYTES);
  const key = randomBytes(RELAY_KEY_BYTES);
  const handshake = new Handshake({ token, key, nowMs: 0 });
  const hello = encodeSigned({ kind: RELAY_KIND.hello, token, key, body: randomBytes(NONCE_BYTES), size: HELLO_BYTES });
  const { answer } = handshake.onPacket(hello, 0, hello.length, '192.0.2.1', 9, 0);
  assert.ok(answer !== undefined && answer.length <= hello.length);
  for (const kind of Object.values(RELAY_KIND)) {
    const forged = encodeSigned({
      kind,
      token,
      key: randomBytes(32),
      body: randomBytes(NONCE_BYTES),
      size: HELLO_BYTES,
    });
    assert.equal(handshake.onPacket(forged, 0, forged.length, '192.0.2.1', 9, 0).answer, undefined, String(kind));
  }

  const filter = new FlowFilter({ orgId: 'org', budget: new FlowBudget(0), nowMs: 0, serverKey: publicKey });
  const question = initiation({ sender: 7 });
  const flow = filter.fromClient(question, 0, question.length, '192.0.2.1', 9, 0);
  assert.ok(flow !== undefined);
  const long = Buffer.alloc(question.length + 1, 'x');
  assert.equal(filter.fromServer(flow.number, long, 0, long.length, 0), undefined);
  const unasked = dataPacket(7, 1_024);
  assert.equal(filter.fromServer(flow.number, unasked, 0, unasked.length, 0), undefined);
  assert.equal(filter.drop, 'unproven');
});

test(
  'wg-easy #2669: no address or name is taken that a shell or a configuration could read as more',
  WITHIN,
  async () => {
    const { ann } = fixture();
    const { path, device } = await network();
    for (const cidr of ['10.0.0.0/24; id', '$(id)', '10.0.0.0/24\nPostUp = id', '`id`', '10.0.0.0/24 ', '10.0.0.1/24'])
      assert.equal((await ann.call('POST', '/private-networks', { name: 'x', cidr })).status, 400, cidr);
    const name = 'x\nPostUp = id';
    assert.equal((await ann.call('POST', '/private-networks', { name, cidr: '10.0.0.0/24' })).status, 400);
    assert.equal((await ann.call('POST', `${path}/devices`, { name, public_key: publicKey() })).status, 400);
    assert.equal((await ann.call('PATCH', device, { name })).status, 400);
    for (const evil of ['10.9.0.0/24\nPostUp = id', '$(id)', '10.9.0.0/24, ::/0'])
      assert.equal((await ann.call('PATCH', device, { extra_allowed_ips: [evil] })).status, 400, evil);
    assert.equal((await ann.call('PATCH', path, { dns: ['10.80.0.1\nPostUp = id'] })).status, 400);
    const endpoint = { server_public_key: publicKey(), server_listen_port: 51820, public_endpoint: 'a:1\nPostUp = id' };
    assert.equal((await ann.call('PUT', `${path}/server`, endpoint)).status, 400);
    const named = await ann.call('PATCH', device, { name: 'x # PostUp = id' });
    assert.equal(named.status, 200, JSON.stringify(named.body));
    for (const config of [`${path}/server-config`, `${device}/config`])
      for (const line of String((await ann.call('GET', config)).body['config']).split('\n'))
        assert.doesNotMatch(line, /^\s*(Pre|Post)(Up|Down)/i);
  },
);

test('wg-easy #2661: no link gives out the configuration of a network', WITHIN, async () => {
  const { ann, ask } = fixture();
  const { path, device } = await network();
  for (const config of [`${path}/server-config`, `${device}/config`]) {
    assert.equal((await ann.call('GET', config)).status, 200);
    for (const query of ['', `?token=${ann.bearer}`, `?access_token=${ann.bearer}`, '?key=1'])
      assert.equal((await ask('GET', `${config}${query}`)).status, 401, config);
  }
});
