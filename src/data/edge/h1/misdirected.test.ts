import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { type TestContext, test } from 'node:test';
import { Http2Visitor } from '../testing/http2-visitor.ts';
import { httpOrigin, Rig, type RigOptions, Wire } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };

async function shops(t: TestContext, options: RigOptions = {}): Promise<Rig> {
  const rig = await Rig.start(t, options);
  const origin = await httpOrigin(t, (request, response) => response.end(request.headers.host));
  await rig.serve('shop', origin.port);
  await rig.serve('shed', origin.port);
  return rig;
}

/** Statuses of requests with these hosts on one connection that was made for `servername`. */
async function statuses(t: TestContext, rig: Rig, servername: string, hosts: readonly string[]): Promise<number[]> {
  const socket = connect({ host: '127.0.0.1', port: rig.httpsPort, servername, rejectUnauthorized: false });
  t.after(() => socket.destroy());
  await once(socket, 'secureConnect');
  const wire = new Wire(socket);
  const all: number[] = [];
  for (const host of hosts) {
    wire.ask('GET /', `Host: ${host}`);
    all.push((await wire.response()).status);
  }
  return all;
}

test(
  'a request for a host that its TLS connection was not made for gets 421, and the connection goes on',
  WITHIN,
  async (t) => {
    const rig = await shops(t);
    const hosts = ['shop.example.test', 'shed.example.test', 'SHOP.example.test:443', 'none.test', 'shop.example.test'];
    assert.deepEqual(await statuses(t, rig, 'shop.example.test', hosts), [200, 421, 200, 421, 200]);
    const visitor = await Http2Visitor.open(t, rig);
    const answers = await Promise.all(hosts.map((host) => visitor.ask({ ':authority': host })));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 421, 200, 421, 200],
    );
    assert.equal(answers[1]?.headers['culvert-error'], 'misdirected_request');
    const { answered, dropped } = rig.node.stats();
    assert.deepEqual([answered['misdirected_request'], dropped['misdirected']], [4, 4]);
  },
);

test('a visitor that names no server is not asked, nor is one without TLS', WITHIN, async (t) => {
  const rig = await shops(t);
  assert.deepEqual(await statuses(t, rig, '', ['shop.example.test', 'shed.example.test']), [200, 200]);
  const wire = await rig.visit();
  wire.ask('GET /', 'Host: shed.example.test');
  assert.equal((await wire.response()).status, 200);
});

test('one connection may ask for every host that its certificate names', WITHIN, async (t) => {
  const rig = await shops(t, { certificateNames: ['*.example.test', 'example.test'] });
  const hosts = ['shop.example.test', 'shed.example.test', 'a.shed.example.test', 'example.com'];
  assert.deepEqual(await statuses(t, rig, 'shop.example.test', hosts), [200, 200, 421, 421]);
  const visitor = await Http2Visitor.open(t, rig);
  assert.equal((await visitor.ask({ ':authority': 'shed.example.test' })).body, 'shed.example.test');
});

test('a proxy that is trusted asks for all hosts by one name', WITHIN, async (t) => {
  const rig = await shops(t, { trustedProxies: ['127.0.0.1'] });
  assert.deepEqual(await statuses(t, rig, 'edge.internal', ['shop.example.test', 'shed.example.test']), [200, 200]);
});

test('a session that is resumed is asked for no other host either', WITHIN, async (t) => {
  const rig = await shops(t);
  for (const [maxVersion, status] of [
    ['TLSv1.3', 421],
    ['TLSv1.2', 200], // OpenSSL does not tell the name of a session of 1.2 that is resumed
  ] as const) {
    const to = { host: '127.0.0.1', port: rig.httpsPort, servername: 'shop.example.test', rejectUnauthorized: false };
    const first = connect({ ...to, maxVersion });
    const [session] = (await once(first, 'session')) as [Buffer];
    first.destroy();
    const socket = connect({ ...to, maxVersion, session });
    t.after(() => socket.destroy());
    await once(socket, 'secureConnect');
    assert.ok(socket.isSessionReused());
    const wire = new Wire(socket);
    wire.ask('GET /', 'Host: shed.example.test');
    assert.equal((await wire.response()).status, status, maxVersion);
  }
});
