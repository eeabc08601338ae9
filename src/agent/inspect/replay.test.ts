/** A replay sends a kept request once more to the service, and nowhere else. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { http2Origin, http2Target } from '../http2/testing.ts';
import { proxyHeader } from '../local/proxy-header.ts';
import { parseTarget } from '../local/target.ts';
import { getHead, OK, type PageFixture, type Said, startPageFixture } from './testing.ts';
import { Replays } from './replay.ts';
import { Watch } from './watch.ts';

interface Got {
  readonly line: string;
  readonly headers: readonly string[];
  readonly body: string;
}

async function startService(t: TestContext): Promise<{ port: number; got: Got[]; server: Server }> {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('latin1').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      got.push({ line: `${request.method} ${request.url}`, headers: request.rawHeaders, body });
      if (request.url !== '/silent') response.end('again');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, got, server };
}

const POST = { method: 'POST', headers: { 'content-type': 'application/json' } };

async function latest(fixture: PageFixture): Promise<Record<string, unknown>> {
  const [record] = fixture.page.watch.ring.list(1);
  return (await fixture.ask(`/api/requests/http/${record?.id}`)).body;
}

async function replayLatest(fixture: PageFixture): Promise<Said> {
  const [record] = fixture.page.watch.ring.list(1);
  return fixture.ask('/api/requests/http', { ...POST, body: JSON.stringify({ id: record?.id }) });
}

function replayId(said: Said): string {
  return String(said.headers['location']).split('/').at(-1) ?? '';
}

/** Waits until the record of a replay has its end. */
async function ended(fixture: PageFixture, said: Said): Promise<Record<string, unknown>> {
  const { ring } = fixture.page.watch;
  const id = replayId(said);
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (ring.find(id)?.state !== 'open') resolve();
    };
    ring.watch({ onRecord: look, onCleared: look });
    look();
  });
  return (await fixture.ask(`/api/requests/http/${id}`)).body;
}

test('the same request comes again, marked, with its body in one piece', async (t) => {
  const { port, got } = await startService(t);
  const fixture = await startPageFixture(t, port);
  const head = [
    ...['POST /hook?a=1 HTTP/1.1', 'Host: shop.test', 'X-Sig: t=1,v1=2', 'X-Sig: more', 'Culvert-Replay: planted'],
    ...['Expect: 100-continue', 'Transfer-Encoding: chunked', 'X-Forwarded-For: 192.0.2.7', '', ''],
  ].join('\r\n');
  fixture.pass(`${head}2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n`, OK);
  const original = await latest(fixture);
  const said = await replayLatest(fixture);
  assert.deepEqual([said.status, said.text], [204, ''], 'what ngrok answers');
  const record = await ended(fixture, said);
  assert.deepEqual(got, [
    {
      line: 'POST /hook?a=1',
      headers: [
        ...['Host', 'shop.test', 'X-Sig', 't=1,v1=2', 'X-Sig', 'more', 'X-Forwarded-For', '192.0.2.7'],
        ...['Culvert-Replay', String(original['id']), 'Content-Length', '5', 'Connection', 'close'],
      ],
      body: 'abcde',
    },
  ]);
  assert.deepEqual([record['status'], record['state'], record['replay_of']], [200, 'done', original['id']]);
  const { text } = await fixture.ask('/metrics');
  assert.match(text, /requests_total\{tunnel="shop",status="2xx"\} 1$/m, 'a replay is no request of a visitor');
  // A replay can be replayed.
  assert.equal((await replayLatest(fixture)).status, 204);
});

test('replay: a service over HTTP/2 gets the request on a stream, and its answer is recorded', async (t) => {
  const paths: string[] = [];
  const origin = await http2Origin(t, (stream, headers) => {
    paths.push(`${headers[':method']} ${headers[':path']} ${headers['culvert-replay']}`);
    stream.respond({ ':status': 201 }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end('again');
  });
  const fixture = await startPageFixture(t, 9, { target: http2Target(origin.port) });
  fixture.pass('GET /call HTTP/1.1\r\nHost: shop.test\r\n\r\n', OK);
  const original = await latest(fixture);
  const record = await ended(fixture, await replayLatest(fixture));
  assert.deepEqual(paths, [`GET /call ${String(original['id'])}`]);
  assert.deepEqual([record['status'], record['state']], [201, 'done']);
});

test('what can not be sent again whole is refused, and says why', async (t) => {
  const { port, got } = await startService(t);
  const fixture = await startPageFixture(t, port);
  const refusal = async (head: string, answer = OK): Promise<string> => {
    fixture.pass(head, answer);
    const { can_replay, no_replay_because } = await latest(fixture);
    assert.equal(can_replay, false);
    const said = await replayLatest(fixture);
    assert.equal(said.status, 409);
    assert.ok(String(said.body['msg']).includes(String(no_replay_because)));
    return String(no_replay_because);
  };
  const post = (length: number, body: string): string =>
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`;
  assert.match(await refusal(post(70_000, 'x'.repeat(70_000))), /only part of its body/);
  assert.match(await refusal(post(10, 'x'), 'HTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n'), /incomplete/);
  const upgrade = getHead('/', 'Connection: Upgrade', 'Upgrade: websocket');
  assert.match(
    await refusal(upgrade, 'HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    /protocol/,
  );
  assert.deepEqual(got, []);
});

test('a service that is not there: 502, in the words of the dial', async (t) => {
  const { port, server } = await startService(t);
  const fixture = await startPageFixture(t, port);
  fixture.pass(getHead('/'), OK);
  server.close();
  const said = await replayLatest(fixture);
  assert.equal(said.status, 502);
  assert.match(String(said.body['msg']), /refused the connection/);
  assert.equal((await replayLatest(fixture)).status, 502, 'and its place is free again');
});

test('replay: sixteen run at once, one more must wait, and a stop ends them', async (t) => {
  const { port } = await startService(t);
  const fixture = await startPageFixture(t, port);
  fixture.pass(getHead('/silent'), OK);
  const [record] = fixture.page.watch.ring.list(1);
  const body = JSON.stringify({ id: record?.id });
  const said = [];
  for (let n = 0; n < 17; n++) said.push((await fixture.ask('/api/requests/http', { ...POST, body })).status);
  assert.deepEqual(said, [...Array.from({ length: 16 }, () => 204), 503]);
  fixture.page.close();
  assert.ok(fixture.page.watch.ring.list(17).every(({ state }) => state !== 'open'));
});

test('replay: a service that expects the PROXY header gets a LOCAL one first', async (t) => {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { target, ...rest } = parseTarget(`127.0.0.1:${port}`, 'http', { proxyProtocol: true });
  const watch = new Watch([{ ...rest, name: 'shop', target }], { log: silentLog });
  const replays = new Replays(watch);
  t.after(() => {
    replays.close();
    watch.close();
    server.close();
  });
  const passed = Buffer.from(getHead('/x'));
  watch.joined(target)?.tap?.request(passed, 0, passed.length);
  const record = watch.ring.list(1)[0] ?? assert.fail();
  const [[socket], sent] = await Promise.all([
    once(server, 'connection') as Promise<[Socket]>,
    replays.send(record, target),
  ]);
  assert.ok(sent.ok);
  let got = Buffer.alloc(0);
  for await (const part of socket) {
    got = Buffer.concat([got, part as Buffer]);
    if (got.includes('\r\n\r\n', 16)) break;
  }
  assert.deepEqual(got.subarray(0, 16), proxyHeader(undefined, {}));
  assert.match(got.subarray(16).toString('latin1'), /^GET \/x HTTP\/1\.1\r\n/);
});
