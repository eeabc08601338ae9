/** What the access log hears of requests and connections, over real sockets. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { freePort } from '../../../test/harness/config.ts';
import type { AccessEntry } from '../../plane/access-log.ts';
import { Http2Visitor } from '../edge/testing/http2-visitor.ts';
import { httpOrigin, perHead, rawOrigin, Rig } from '../edge/testing/rig.ts';
import { until } from '../fixtures/gateway.ts';
import { idOf, testRoute } from '../fixtures/link.ts';
import { recordOf } from '../inspect/testing.ts';

const WITHIN = { timeout: 120_000 };
const ALL = { accessLog: { sample: 1, isWhole: false } };
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = `00-${TRACE}-b7ad6b7169203331-00`;

/** The first `count` entries, once they are there. */
async function entries(rig: Rig, count: number): Promise<AccessEntry[]> {
  await until(() => rig.link.accessEntries.length >= count);
  assert.equal(rig.link.accessEntries.length, count);
  return rig.link.accessEntries;
}

test('access log: a forwarded request with its tunnel, key, sizes and times', WITHIN, async (t) => {
  const rig = await Rig.start(t, ALL);
  const origin = await httpOrigin(t, (request, response) => {
    request.resume().on('end', () => response.end('hello'));
  });
  const agent = await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('POST /a?b=c', 'User-Agent: test/1', 'Referer:  https://else.test/x', 'Content-Length: 5');
  wire.send('apple');
  const { head, body } = await wire.response();
  const record = await recordOf(rig);
  const [entry] = await entries(rig, 1);
  assert.ok(entry !== undefined);
  const { id, at, traceId, bytesIn, durationMs, upstreamMs, agentId, ...rest } = entry;
  assert.deepEqual(rest, {
    kind: 'http',
    tunnelId: idOf('shop'),
    orgId: 'org',
    label: 'shop',
    tokenId: 'token-1',
    remoteIp: '127.0.0.1',
    method: 'POST',
    target: '/a?b=c',
    host: 'shop.example.test',
    scheme: 'http',
    httpVersion: '1.1',
    userAgent: 'test/1',
    referer: 'https://else.test/x',
    status: 200,
    outcome: 'forwarded',
    code: null,
    bytesOut: head.length + body.length,
    isSampled: true,
  });
  assert.equal(id, record.id, 'it is found in the inspector by its request id');
  assert.equal(traceId, record.trace.traceId);
  assert.match(traceId, /^[0-9a-f]{32}$/);
  assert.ok(bytesIn > 100 && upstreamMs !== null && upstreamMs <= durationMs && Date.now() - at < 60_000);
  assert.ok(agentId !== null && agent !== undefined);
});

test('access log: a blocked request says why, and one for an unknown host has no tunnel', WITHIN, async (t) => {
  const rig = await Rig.start(t, ALL);
  rig.route('shop', { maintenance: '' });
  const wire = await rig.visit();
  wire.ask('GET /', `traceparent: ${PARENT}`);
  const { status, body } = await wire.response();
  assert.equal(status, 503);
  assert.equal(JSON.parse(body).trace_id, TRACE, 'the fault names the trace');
  wire.ask('GET /', 'Host: nothing.example.test', 'Accept: text/html');
  const page = await wire.response();
  const [blocked, unknown] = await entries(rig, 2);
  assert.deepEqual(
    [blocked?.outcome, blocked?.code, blocked?.status, blocked?.traceId, blocked?.tokenId, blocked?.upstreamMs],
    ['refused', 'maintenance', 503, TRACE, null, null],
  );
  assert.deepEqual([unknown?.tunnelId, unknown?.orgId, unknown?.code], [null, null, 'tunnel_not_found']);
  assert.ok(page.body.includes(`Trace ${unknown?.traceId}`));
});

test(
  'access log: off, nothing is reported and no trace begins; an exporting organization has its own',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const seen: IncomingHttpHeaders[] = [];
    const origin = await httpOrigin(t, (request, response) => {
      seen.push(request.headers);
      response.end();
    });
    await rig.serve('shop', origin.port);
    const ask = async (...fields: string[]): Promise<void> => {
      const wire = await rig.visit();
      wire.ask('GET /', ...fields);
      assert.equal((await wire.response()).status, 200);
      wire.socket.destroy();
    };
    await ask('traceparent: nonsense', 'tracestate: a=1');
    assert.deepEqual([seen[0]?.['traceparent'], seen[0]?.['tracestate']], ['nonsense', 'a=1'], 'passed on as it came');
    await ask();
    assert.equal(seen[1]?.['traceparent'], undefined);
    rig.link.change({ kind: 'exporting_orgs', orgIds: ['another', 'org'] });
    await ask();
    const [entry] = await entries(rig, 1);
    assert.equal(String(seen[2]?.['traceparent']).split('-')[1], entry?.traceId);
    assert.equal(entry?.isSampled, false, 'the access log of the server is off');
  },
);

test('trace: a valid traceparent passes through, an invalid one is replaced with its tracestate', WITHIN, async (t) => {
  const rig = await Rig.start(t, ALL);
  const heads: string[] = [];
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => {
      heads.push(head);
      socket.write('HTTP/1.1 204 No Content\r\n\r\n');
    }),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  const ask = async (...fields: string[]): Promise<string[]> => {
    wire.ask('GET /', ...fields);
    await wire.response(true);
    return (heads.at(-1) ?? '').split('\r\n').filter((line) => /^trace/i.test(line));
  };
  const own = [`Traceparent: ${PARENT}`, 'tracestate: a=1'];
  assert.deepEqual(await ask(...own), own);
  const bad = await ask('traceparent: 00-1-2-3', 'tracestate: a=1');
  assert.match(bad.join(), /^traceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  const twice = await ask(...own, `traceparent: ${PARENT}`);
  assert.match(twice.join(), /^traceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  const ids = (await entries(rig, 3)).map(({ traceId }) => traceId);
  assert.deepEqual(ids, [TRACE, bad[0]?.split('-')[1], twice[0]?.split('-')[1]]);
});

test('trace and access log: HTTP/2 as HTTP/1.1', WITHIN, async (t) => {
  for (const http2 of ['own', 'node'] as const) {
    const rig = await Rig.start(t, { ...ALL, http2 });
    const origin = await httpOrigin(t, (request, response) => response.end(request.headers['traceparent']));
    await rig.serve('shop', origin.port);
    const visitor = await Http2Visitor.open(t, rig);
    assert.equal((await visitor.ask({ ':path': '/own', traceparent: PARENT })).body, PARENT);
    const begun = (await visitor.ask({ ':path': '/begun' })).body;
    rig.route('shop', { stopped: true });
    const refused = await visitor.ask({ ':path': '/refused', traceparent: PARENT });
    assert.equal(JSON.parse(refused.body).trace_id, TRACE);
    const told = await entries(rig, 3);
    assert.deepEqual(
      told.map(({ target, httpVersion, scheme, status, traceId }) => [target, httpVersion, scheme, status, traceId]),
      [
        ['/own', '2', 'https', 200, TRACE],
        ['/begun', '2', 'https', 200, begun.split('-')[1]],
        ['/refused', '2', 'https', 503, TRACE],
      ],
    );
    assert.ok(told.every(({ bytesOut }) => bytesOut > 0));
  }
});

test('access log: an upgraded connection has its entry at its end, with all of its bytes', WITHIN, async (t) => {
  const rig = await Rig.start(t, ALL);
  const origin = await rawOrigin(t, (socket, text) => {
    if (text.endsWith('\r\n\r\n'))
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    else socket.write('x'.repeat(1_000));
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /ws', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13');
  await wire.until('\r\n\r\n');
  wire.send('hello');
  await wire.until('x'.repeat(1_000));
  assert.equal(rig.link.accessEntries.length, 0);
  wire.socket.destroy();
  const [entry] = await entries(rig, 1);
  assert.deepEqual([entry?.status, entry?.outcome], [101, 'forwarded']);
  assert.ok((entry?.bytesOut ?? 0) > 1_000 && (entry?.bytesIn ?? 0) > 100);
});

test('access log: a response that its visitor did not wait for', WITHIN, async (t) => {
  const rig = await Rig.start(t, ALL);
  const origin = await rawOrigin(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /');
  await wire.until('half');
  wire.socket.resetAndDestroy();
  const [cut] = await entries(rig, 1);
  assert.deepEqual([cut?.status, cut?.outcome, cut?.code], [200, 'failed', null]);
});

test('access log: a connection of a tcp tunnel, and one that its policy blocks', WITHIN, async (t) => {
  const rig = await Rig.start(t, ALL);
  const origin = await rawOrigin(t, (socket, text) => socket.end(text.toUpperCase()));
  const port = await freePort();
  const over = { protocol: 'tcp', subdomain: '', tcpPort: port } as const;
  rig.route('db', over);
  await rig.serve('db', origin.port, 'http', { protocol: 'tcp' });
  const visit = async (): Promise<void> => {
    const socket = connect(port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.on('close', resolve));
    // The blocked one is reset, perhaps before it is connected.
    socket.on('error', () => undefined);
    socket.resume().end('hello');
    await closed;
  };
  await visit();
  await entries(rig, 1);
  const policy = { setAt: 0, actions: [{ kind: 'ip_deny', networks: ['127.0.0.1'], enforce: true } as const] };
  rig.link.change({ kind: 'put', route: testRoute('db', { ...over, policy }) });
  await visit();
  const [served, blocked] = await entries(rig, 2);
  const shown = (entry: AccessEntry | undefined) =>
    [entry?.kind, entry?.host, entry?.outcome, entry?.code, entry?.bytesIn, entry?.bytesOut] as const;
  assert.deepEqual(shown(served), ['tcp', String(port), 'forwarded', null, 5, 5]);
  assert.deepEqual(shown(blocked), ['tcp', String(port), 'refused', 'denied', 0, 0]);
  assert.equal(served?.tokenId, 'token-1');
});

test('access log: a sample of none tells nothing, traces begin all the same', WITHIN, async (t) => {
  const rig = await Rig.start(t, { accessLog: { sample: 0, isWhole: false } });
  const origin = await httpOrigin(t, (request, response) => response.end(request.headers['traceparent']));
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /');
  assert.match((await wire.response()).body, /^00-/);
  await rig.node.close();
  assert.deepEqual(rig.link.accessEntries, []);
  assert.deepEqual(rig.node.stats().access, { sent: 0, dropped: 0, waiting: 0 });
});
