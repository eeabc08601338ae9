// from source: it looks for the path of a source in the stack of a fault
/** Records of requests that ended badly; no bytes get into another request's record. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { HALVES, NO_RESPONSES } from '../edge/testing/hostile-responses.ts';
import { HostileRig } from '../edge/testing/hostile-agent.ts';
import { httpOrigin, perHead, rawOrigin, Rig } from '../edge/testing/rig.ts';
import { rounds } from '../../base/testing.ts';
import { type Logger, silentLog } from '../../base/log.ts';
import { until } from '../fixtures/gateway.ts';
import type { InspectedRequest } from '../../plane/inspection.ts';
import { recordOf, recordsOf, textOf } from './testing.ts';

const WITHIN = { timeout: 30_000 };
const HALF = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf ';

const end = ({ status, trace }: InspectedRequest): unknown[] => [status, trace.outcome, trace.code];
const isOver = (rig: Rig) => (): boolean => rig.node.stats().inspector.waiting > 0;

// biome-ignore format: a table
const FAULTS: ReadonlyArray<[name: string, answer: (socket: Socket) => void, end: [number, string, string | null], head: string, body: string]> = [
  ['closes without an answer', (socket) => socket.end(), [502, 'failed', 'local_closed'], '', ''],
  ['resets without an answer', (socket) => socket.resetAndDestroy(), [502, 'failed', 'local_closed'], '', ''],
  ['answers nonsense', (socket) => socket.write('220 mail.example ESMTP\r\n'), [502, 'failed', 'local_bad_response'], '', ''],
  ['answers a head that is none', (socket) => socket.write('HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'), [502, 'failed', 'local_bad_response'], 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', ''],
  ['switches without being asked', (socket) => socket.write('HTTP/1.1 101 Ha\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'), [502, 'failed', 'local_bad_response'], 'HTTP/1.1 101 Ha\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n', ''],
  ['ends in the middle', (socket) => socket.end(HALF), [200, 'failed', 'local_closed'], HALF.slice(0, -5), 'half '],
];
for (const [name, answer, told, head, body] of FAULTS)
  test(`a service that ${name}`, WITHIN, async (t) => {
    const rig = await Rig.start(t);
    const origin = await rawOrigin(t, perHead(answer));
    await rig.serve('shop', origin.port);
    const wire = await rig.visit();
    wire.ask('POST /', 'Content-Length: 5');
    wire.send('apple');
    await until(isOver(rig));
    const record = await recordOf(rig);
    assert.deepEqual(end(record), told);
    assert.equal(textOf(record.requestBody), 'apple');
    assert.equal(textOf(record.responseHead), head);
    assert.equal(textOf(record.responseBody), body);
    assert.notEqual(record.trace.agentId, null);
    assert.equal(record.trace.firstByteMs === null, head === '');
  });

test('a service that frames its body badly, once its answer has begun', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write(`${head}4\r\nhalf\r\n`)),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /');
  await wire.until('half');
  origin.sockets[0]?.write('x');
  await wire.closed;
  const record = await recordOf(rig);
  assert.deepEqual(end(record), [200, 'failed', 'local_bad_response']);
  assert.deepEqual([textOf(record.responseHead), textOf(record.responseBody)], [head, 'half']);
});

test('a service that is not there, one that is silent, and a request that stands still', WITHIN, async (t) => {
  const rig = await Rig.start(t, { limits: { localTimeoutSeconds: 1, bodyIdleTimeoutSeconds: 1 } });
  const silent = await rawOrigin(t, () => {});
  await rig.serve('shop', 1);
  await rig.serve('shed', silent.port);
  for (const [fields, status] of [
    [['Host: shop.example.test'], 502],
    [['Host: shed.example.test'], 504],
    [['Host: shed.example.test', 'Content-Length: 9'], 408],
  ] as const) {
    const wire = await rig.visit();
    wire.ask('GET /', ...fields);
    assert.equal((await wire.response()).status, status);
  }
  assert.deepEqual((await recordsOf(rig)).map(end), [
    [502, 'failed', 'local_unreachable'],
    [504, 'failed', 'local_timeout'],
    [408, 'failed', 'request_timeout'],
  ]);
});

test('a body that is framed badly ends its record with what came of it', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(t, () => {});
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('POST /', 'Transfer-Encoding: chunked');
  wire.send('5\r\napple\r\n');
  await origin.arrived(/apple/);
  wire.send('nonsense');
  assert.equal((await wire.response()).status, 400);
  const record = await recordOf(rig);
  assert.deepEqual([...end(record), textOf(record.requestBody)], [400, 'failed', 'bad_request', 'apple']);
});

test('a visitor that leaves, before or in the middle of its answer', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => head.startsWith('GET /half') && socket.write(HALF)),
  );
  await rig.serve('shop', origin.port);
  for (const path of ['/half', '/silent']) {
    const wire = await rig.visit();
    wire.ask(`GET ${path}`);
    if (path === '/half') await wire.until('half ');
    else await until(() => origin.texts.some((text) => text.includes('/silent')));
    wire.socket.resetAndDestroy();
    await until(isOver(rig));
    const [record] = (await recordsOf(rig)).slice(-1);
    assert.deepEqual(end(record as InspectedRequest), path === '/half' ? [200, 'failed', null] : [0, 'failed', null]);
  }
});

test('a tunnel that is stopped in the middle of an answer is what ended it', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write(HALF)),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /');
  await wire.until('half ');
  rig.route('shop', { stopped: true });
  await wire.closed;
  assert.deepEqual(end(await recordOf(rig)), [200, 'failed', 'tunnel_offline']);
});

test('an agent that breaks HTTP puts nothing into the records of others', WITHIN, async (t) => {
  let answer = '';
  let then: string | undefined;
  let count = 0;
  const hostile = await HostileRig.start(t, (line) => {
    line.say(answer);
    if (then === 'end') line.stream.end();
    else if (then === 'reset') line.stream.reset();
  });
  for (const [name, text, ends] of [...NO_RESPONSES.map(([a, b]) => [a, b, ''] as const), ...HALVES]) {
    answer = text;
    then = ends;
    const wire = await hostile.rig.visit();
    wire.ask('GET /');
    await until(() => hostile.rig.node.stats().inspector.waiting > 0);
    wire.socket.destroy();
    const records = await recordsOf(hostile.rig);
    assert.equal(records.length, ++count, name);
    assert.equal(records.at(-1)?.trace.outcome, 'failed', name);
    await hostile.goesOn();
    const all = await recordsOf(hostile.rig);
    for (const own of all.slice(count))
      assert.doesNotMatch(textOf(own.responseHead) + textOf(own.responseBody), /evil/, name);
    count = all.length;
  }
});

test('records of many visitors at once hold the bytes of their own request, and no others', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await httpOrigin(t, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      response.setHeader('X-Mark', String(request.headers['x-mark']));
      response.setHeader('Content-Length', body.length).end(body);
    });
  });
  await rig.serve('shop', origin.port);
  const each = rounds(8, 20);
  const visitors = Array.from({ length: 20 }, async (_, visitor) => {
    const wire = await rig.visit({ tls: visitor % 2 === 1 });
    for (let at = 0; at < each; at++) {
      const mark = `${visitor}-${at};`;
      const body = mark.repeat(1 + ((visitor * 37 + at * 911) % 8_000));
      wire.ask(
        `POST /${mark}`,
        `X-Mark: ${mark}`,
        `Content-Length: ${body.length}`,
        `X-Fill: ${randomBytes(at * 40).toString('hex')}`,
      );
      for (let from = 0; from < body.length; from += 10_007) {
        wire.send(body.slice(from, from + 10_007));
        await new Promise(setImmediate);
      }
      assert.equal((await wire.response()).body, body);
    }
  });
  await Promise.all(visitors);
  const records = await recordsOf(rig);
  assert.equal(records.length, 20 * each);
  for (const record of records) {
    const mark = record.target.slice(1);
    assert.match(textOf(record.requestHead), new RegExp(`^POST /${mark} HTTP/1\\.1\\r\\n[^]*X-Mark: ${mark}\\r\\n`));
    assert.match(textOf(record.responseHead), new RegExp(`^HTTP/1\\.1 200 OK\\r\\nX-Mark: ${mark}\\r\\n`));
    for (const body of [record.requestBody, record.responseBody])
      assert.equal(textOf(body).replaceAll(mark, '').length < mark.length, true, mark);
    assert.equal(record.requestSize, record.responseSize);
  }
});

test(
  'a fault of the recorder, wherever in a request, costs the visitor nothing and is said once',
  WITHIN,
  async (t) => {
    const said: string[] = [];
    const log = {
      ...silentLog,
      child: () => silentLog,
      error: (_fields: object, words: string) => said.push(words),
    } as unknown as Logger;
    const rig = await Rig.start(t, { log });
    const origin = await httpOrigin(t, (request, response) => {
      request.resume().on('end', () => response.setHeader('Content-Length', 4).end('pear'));
    });
    await rig.serve('shop', origin.port);
    rig.route('shed');
    const real = Buffer.allocUnsafeSlow.bind(Buffer);
    let calls = 0;
    let fails = Number.POSITIVE_INFINITY;
    t.mock.method(Buffer, 'allocUnsafeSlow', (size: number) => {
      if (/data\/inspect\/(draft|kept-head|body-capture)/.test(new Error('who').stack ?? '') && ++calls === fails)
        throw new Error('no memory');
      return real(size);
    });
    const ask = async (host: string): Promise<string> => {
      const wire = await rig.visit();
      wire.ask('POST /', `Host: ${host}.example.test`, 'Content-Length: 5');
      wire.send('apple');
      const { status, body } = await wire.response();
      wire.socket.destroy();
      return `${status} ${body.slice(0, 4)}`;
    };
    assert.equal(await ask('shop'), '200 pear');
    // The heads and the bodies.
    assert.equal(calls, 4);
    for (fails = 1; fails <= 4; fails++) {
      calls = 0;
      assert.equal(await ask('shop'), '200 pear');
    }
    fails = 1;
    calls = 0;
    assert.match(await ask('shed'), /^503 /);
    fails = 0;
    assert.equal(await ask('shop'), '200 pear');
    await until(() => rig.node.stats().inspector.dropped['failed'] === 5);
    assert.equal((await recordsOf(rig)).length, 2);
    assert.equal(rig.node.stats().inspector.heldBytes, 0);
    assert.deepEqual(said, ['could not record a request']);
  },
);
