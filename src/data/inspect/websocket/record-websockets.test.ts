/** Records of WebSockets, from the visitor's bytes to the reports that the control plane gets. Client and service: ws, and raw bytes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import type { RecordedFrame, WebSocketUpdate } from '../../../plane/inspection.ts';
import { httpOrigin, perHead, Rig, type RigOptions, rawOrigin } from '../../edge/testing/rig.ts';
import { testSettings } from '../../fixtures/settings.ts';
import { recordOf } from '../testing.ts';
import { FRAME_LIMITS } from './frame-capture.ts';

const WITHIN = { timeout: 60_000 };
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
const ASK = ['Connection: Upgrade', 'Upgrade: websocket'];

function recording(over: object = {}): Pick<RigOptions, 'inspector'> {
  const { inspector } = testSettings({ cert: '', key: '' });
  assert.ok(inspector);
  return { inspector: { ...inspector, websocketFrames: true, ...over } };
}

async function updatesOf(rig: Rig): Promise<WebSocketUpdate[]> {
  await rig.node.flushInspections();
  return rig.link.inspections.flatMap((batch) => batch.websockets ?? []);
}

/** The last words about WebSockets, once so many have ended. */
async function endsOf(rig: Rig, count: number): Promise<WebSocketUpdate[]> {
  for (;;) {
    const ended = (await updatesOf(rig)).filter(({ isOpen }) => !isOpen);
    if (ended.length === count) return ended;
    await setImmediate();
  }
}

async function endOf(rig: Rig): Promise<WebSocketUpdate> {
  const [end] = await endsOf(rig, 1);
  assert.ok(end);
  return end;
}

/** A service that sends back what it gets, and closes when it hears `close`. */
async function echoing(t: TestContext, options: RigOptions = {}, server: object = {}): Promise<Rig> {
  const rig = await Rig.start(t, options);
  const origin = await httpOrigin(t, (_request, response) => response.end());
  const sockets = new WebSocketServer({ server: origin, ...server });
  t.after(() => sockets.close());
  sockets.on('connection', (socket) =>
    socket.on('message', (data, isBinary) => {
      if (String(data) === 'close') socket.close(4001, 'asked');
      else socket.send(data, { binary: isBinary });
    }),
  );
  await rig.serve('shop', origin.port);
  return rig;
}

async function open(rig: Rig, options: object = {}): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${rig.port}/`, {
    headers: { host: 'shop.example.test' },
    perMessageDeflate: false,
    ...options,
  });
  await once(socket, 'open');
  return socket;
}

async function echo(socket: WebSocket, data: Buffer | string): Promise<void> {
  socket.send(data);
  await once(socket, 'message');
}

function shown({ from, opcode, fragments, size, isCompressed, isTruncated, bytes }: RecordedFrame): unknown[] {
  const marks = [isCompressed ? 'compressed' : '', isTruncated ? 'truncated' : ''].filter((mark) => mark !== '');
  return [from, opcode, fragments, size, Buffer.from(bytes).toString('latin1').slice(0, 20), ...marks];
}

test('WebSocket: its record has duration, bytes and frames both ways, and the close', WITHIN, async (t) => {
  const rig = await echoing(t);
  const socket = await open(rig);
  await echo(socket, 'hello');
  await echo(socket, Buffer.alloc(70_000));
  socket.send('close');
  await once(socket, 'close');
  const { durationMs, ...end } = await endOf(rig);
  const record = await recordOf(rig);
  assert.equal(record.status, 101);
  assert.ok(durationMs > 0 && durationMs < 60_000);
  const { id, tunnelId, orgId } = record;
  assert.deepEqual(end, {
    ...{ id, tunnelId, orgId },
    isOpen: false,
    bytesIn: 6 + 5 + 14 + 70_000 + 6 + 5 + 6 + 7,
    bytesOut: 2 + 5 + 10 + 70_000 + 2 + 7,
    framesIn: 4,
    framesOut: 3,
    isFramed: true,
    closedBy: 'service',
    closeCode: 4001,
    framesLeftOut: 0,
    frames: null,
  });
});

test('WebSocket: the setting of the tunnel goes before that of the server', WITHIN, async (t) => {
  for (const [server, tunnel, expected] of [
    [true, undefined, true],
    [true, false, false],
    [false, true, true],
  ] as const) {
    const rig = await echoing(t, recording({ websocketFrames: server }));
    if (tunnel !== undefined) rig.route('shop', { websocketFrames: tunnel });
    const socket = await open(rig);
    await echo(socket, 'hello');
    socket.terminate();
    const { frames, closedBy, closeCode } = await endOf(rig);
    assert.equal(frames !== null, expected);
    assert.deepEqual([closedBy, closeCode], [null, null]);
  }
});

test('WebSocket: frames are recorded unmasked, fragments joined, with their direction', WITHIN, async (t) => {
  const rig = await echoing(t, recording());
  const socket = await open(rig);
  socket.send('{"a"', { fin: false });
  socket.ping('?');
  socket.send(':1}', { fin: true });
  await once(socket, 'message');
  await echo(socket, Buffer.from([0, 255]));
  await echo(socket, '');
  socket.close(1000, 'bye');
  await once(socket, 'close');
  const { frames, framesIn, framesLeftOut } = await endOf(rig);
  const of = (side: string): unknown[] => (frames ?? []).filter(({ from }) => from === side).map(shown);
  assert.deepEqual(of('visitor'), [
    ['visitor', 9, 1, 1, '?'],
    ['visitor', 1, 2, 7, '{"a":1}'],
    ['visitor', 2, 1, 2, '\0\xff'],
    ['visitor', 1, 1, 0, ''],
    ['visitor', 8, 1, 5, '\x03\xe8bye'],
  ]);
  assert.deepEqual(of('service'), [
    ['service', 10, 1, 1, '?'],
    ['service', 1, 1, 7, '{"a":1}'],
    ['service', 2, 1, 2, '\0\xff'],
    ['service', 1, 1, 0, ''],
    ['service', 8, 1, 5, '\x03\xe8bye'],
  ]);
  assert.equal(framesIn, 6);
  assert.equal(framesLeftOut, 0);
  assert.ok((frames ?? []).every(({ atMs }) => atMs >= 0 && atMs < 60_000));
});

test('WebSocket: compressed messages are recorded as they passed', WITHIN, async (t) => {
  const rig = await echoing(t, recording(), { perMessageDeflate: { threshold: 0 } });
  const socket = await open(rig, { perMessageDeflate: { threshold: 0 } });
  await echo(socket, 'hello hello hello hello');
  socket.terminate();
  const [first] = (await endOf(rig)).frames ?? [];
  assert.deepEqual([first?.isCompressed, first?.isTruncated, first?.opcode], [true, false, 1]);
  assert.ok((first?.size ?? 99) < 23);
  assert.equal(first?.bytes.length, first?.size);
});

test('WebSocket: a long message is truncated, and more than may be kept is counted', WITHIN, async (t) => {
  const rig = await echoing(t, recording());
  const socket = await open(rig);
  await echo(socket, Buffer.alloc(FRAME_LIMITS.bytes + 1, 'x'));
  for (let i = 0; i < FRAME_LIMITS.count; i++) await echo(socket, 'more');
  socket.terminate();
  const { frames, framesIn, framesOut, framesLeftOut } = await endOf(rig);
  assert.ok(frames);
  assert.equal(frames.length, FRAME_LIMITS.count);
  assert.equal(framesIn + framesOut, 2 * (FRAME_LIMITS.count + 1));
  assert.equal(framesLeftOut, framesIn + framesOut - frames.length);
  const [first] = frames;
  assert.deepEqual(
    [first?.size, first?.bytes.length, first?.isTruncated],
    [FRAME_LIMITS.bytes + 1, FRAME_LIMITS.bytes, true],
  );
});

test('WebSocket: all frames together are bounded, and their memory comes back', WITHIN, async (t) => {
  const rig = await echoing(t, recording());
  const socket = await open(rig);
  for (let i = 0; i < 10; i++) await echo(socket, Buffer.alloc(FRAME_LIMITS.bytes));
  socket.terminate();
  const { frames, framesLeftOut } = await endOf(rig);
  assert.ok(frames);
  assert.ok(frames.reduce((sum, { bytes }) => sum + bytes.length, 0) <= FRAME_LIMITS.totalBytes);
  assert.equal(frames.length + framesLeftOut, 20);
  assert.ok(framesLeftOut > 0);
  assert.equal(rig.node.stats().inspector.heldBytes, 0);
});

test('WebSocket: no memory for frames leaves the count and the record', WITHIN, async (t) => {
  // A megabyte, of which an organization has half and frames a quarter: two connections fill that.
  const rig = await echoing(t, recording({ maxMemoryMb: 1, maxBodyBytes: 16 }));
  const sockets = await Promise.all([1, 2, 3].map(() => open(rig)));
  for (const socket of sockets) for (let i = 0; i < 8; i++) await echo(socket, Buffer.alloc(FRAME_LIMITS.bytes));
  for (const socket of sockets) socket.terminate();
  const ends = await endsOf(rig, 3);
  assert.ok(ends.every(({ framesIn, framesOut }) => framesIn === 8 && framesOut === 8));
  const kept = ends.flatMap(({ frames }) => frames ?? []).reduce((sum, { bytes }) => sum + bytes.length, 0);
  assert.ok(kept > 100_000 && kept <= 262_144, String(kept));
  assert.equal(rig.node.stats().inspector.heldBytes, 0);
});

test('WebSocket: another protocol passes, and is counted in bytes alone', WITHIN, async (t) => {
  const rig = await Rig.start(t, recording());
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write(`${SWITCH}SSH-2.0-a\r\n`)),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /', ...ASK);
  await wire.until('SSH-2.0-a');
  wire.send('SSH-2.0-b\r\n');
  await origin.arrived(/SSH-2.0-b\r\n$/);
  wire.socket.destroy();
  const { isFramed, bytesIn, bytesOut, framesIn, framesOut, frames } = await endOf(rig);
  assert.deepEqual([isFramed, bytesIn, bytesOut, framesIn, framesOut, frames], [false, 11, 11, 0, 0, []]);
});

test('WebSocket: bytes that were sent ahead of the answer count', WITHIN, async (t) => {
  const rig = await Rig.start(t, recording());
  const origin = await rawOrigin(t, () => {});
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /', ...ASK);
  wire.send(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]).toString('latin1'));
  await origin.arrived(/\r\n\r\n/);
  origin.sockets[0]?.write(SWITCH);
  await origin.arrived(/hi$/);
  wire.socket.destroy();
  const { frames, bytesIn } = await endOf(rig);
  assert.deepEqual([bytesIn, (frames ?? []).map(shown)], [8, [['visitor', 1, 1, 2, 'hi']]]);
});

test('WebSocket: nothing is reported where requests are not recorded', WITHIN, async (t) => {
  const rig = await echoing(t, { inspector: null });
  const socket = await open(rig);
  await echo(socket, 'hello');
  socket.close();
  await once(socket, 'close');
  assert.deepEqual(await updatesOf(rig), []);
});
