/** RFC 9113 §6: what each kind of frame must hold, and what one that does not is answered with. */
import { FLAG, FRAME, frame, literals, request } from '../../harness/h2-frames.ts';
import { ERROR, type RawClient, SETTING, settingsFrame, Unmet } from '../raw-client.ts';
import {
  answered,
  type Case,
  connectionError,
  continuation,
  data,
  EIGHT,
  expectBytes,
  GET,
  goaway,
  headers,
  MORE,
  OPEN,
  ping,
  pinged,
  POST,
  priority,
  reset,
  section,
  sent,
  streamError,
  windowUpdate,
} from './case.ts';

const { protocol, flowControl, streamClosed, frameSize } = ERROR;
const HALF_HEAD = headers(1, GET, 0);
const HALF_GET = headers(1, GET, FLAG.endStream);
const HALF_POST = headers(1, POST, 0);
const LARGEST_WINDOW = 2 ** 31 - 1;
/** Five bytes, the first of which promises six of padding. */
const OVERPADDED_DATA = frame(FRAME.data, FLAG.endStream | FLAG.padded, 1, '\x06Test');
const OVERPADDED_HEAD = headers(
  1,
  Buffer.concat([Buffer.of(literals(GET).length + 1), literals(GET)]),
  FLAG.endHeaders | FLAG.endStream | FLAG.padded,
);

function setting(id: number, value: number): Buffer {
  return settingsFrame([id, value]);
}

/** Changes the initial window, acknowledged. */
async function setWindow(client: RawClient, ...values: number[]): Promise<void> {
  client.send(settingsFrame(...values.map((value) => [SETTING.window, value] as const)));
  await client.expectSettingsAck();
}

async function pongIsNotAnswered(client: RawClient): Promise<void> {
  const pong = Buffer.from('invalid!');
  client.send(ping(pong, FLAG.ack), ping());
  // The first one that comes is of the second.
  const got = await client.expect('PING', ({ type }) => type === FRAME.ping);
  if (!got.payload.equals(EIGHT)) throw new Unmet('a PING with ACK was answered');
}

async function windowOfOne(client: RawClient): Promise<void> {
  await setWindow(client, 1);
  client.send(headers(1));
  await expectBytes(client, 1, 1);
}

async function lastWindowCounts(client: RawClient): Promise<void> {
  await setWindow(client, 100, 1);
  client.send(headers(1));
  await expectBytes(client, 1, 1);
}

async function windowIsAdjusted(client: RawClient): Promise<void> {
  await setWindow(client, 0);
  client.send(headers(1));
  await setWindow(client, 1);
  await expectBytes(client, 1, 1);
}

async function windowMayBeNegative(client: RawClient): Promise<void> {
  await setWindow(client, 3);
  client.send(headers(1));
  await expectBytes(client, 1, 3);
  await setWindow(client, 2);
  // From -1 to 1.
  client.send(windowUpdate(1, 2));
  await expectBytes(client, 1, 1);
}

export const BODIES: readonly Case[] = [
  ...section(
    'http2/6.1',
    '§6.1',
    ['DATA: stream 0 ends the connection with PROTOCOL_ERROR', connectionError(protocol, data(0))],
    ['DATA: a stream that is not open is STREAM_CLOSED', streamError(streamClosed, headers(1, POST), data(1))],
    [
      'DATA: more padding than bytes ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, headers(1, request('POST', '/', ['content-length', '4']), OPEN), OVERPADDED_DATA),
    ],
  ),
  ...section(
    'http2/6.2',
    '§6.2',
    [
      'HEADERS: PRIORITY before END_HEADERS ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, HALF_HEAD, priority(1), continuation(1, MORE)),
    ],
    [
      'HEADERS: another stream before END_HEADERS ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, HALF_HEAD, headers(3), continuation(1, MORE)),
    ],
    ['HEADERS: stream 0 ends the connection with PROTOCOL_ERROR', connectionError(protocol, headers(0))],
    [
      'HEADERS: more padding than bytes ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, OVERPADDED_HEAD),
    ],
  ),
];

export const CONTROLS: readonly Case[] = [
  ...section(
    'http2/6.3',
    '§6.3',
    ['PRIORITY: stream 0 ends the connection with PROTOCOL_ERROR', connectionError(protocol, priority(0))],
    [
      'PRIORITY: a length other than 5 is FRAME_SIZE_ERROR',
      streamError(frameSize, headers(1), priority(1, Buffer.alloc(4))),
    ],
  ),
  ...section(
    'http2/6.4',
    '§6.4',
    ['RST_STREAM: stream 0 ends the connection with PROTOCOL_ERROR', connectionError(protocol, reset(0))],
    ['RST_STREAM: an idle stream ends the connection with PROTOCOL_ERROR', connectionError(protocol, reset(1))],
    [
      'RST_STREAM: a length other than 4 ends the connection with FRAME_SIZE_ERROR',
      connectionError(frameSize, headers(1, POST, OPEN), frame(FRAME.rst, 0, 1, Buffer.alloc(3))),
    ],
  ),
  ...section(
    'http2/6.5',
    '§6.5',
    [
      'SETTINGS: ACK with entries ends the connection with FRAME_SIZE_ERROR',
      connectionError(frameSize, frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(1))),
    ],
    [
      'SETTINGS: a stream other than 0 ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, frame(FRAME.settings, 0, 1, Buffer.of(0, 3, 0, 0, 0, 100))),
    ],
    [
      'SETTINGS: a length that is no multiple of 6 ends the connection with FRAME_SIZE_ERROR',
      connectionError(frameSize, frame(FRAME.settings, 0, 0, Buffer.of(0, 3, 0, 0, 0, 100, 0, 2))),
    ],
  ),
  ...section(
    'http2/6.5.2',
    '§6.5.2',
    [
      'SETTINGS_ENABLE_PUSH: 2 ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, setting(SETTING.enablePush, 2)),
    ],
    [
      'SETTINGS_INITIAL_WINDOW_SIZE: 2^31 ends the connection with FLOW_CONTROL_ERROR',
      connectionError(flowControl, setting(SETTING.window, LARGEST_WINDOW + 1)),
    ],
    [
      'SETTINGS_MAX_FRAME_SIZE: below 2^14 ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, setting(SETTING.frameSize, 16_383)),
    ],
    [
      'SETTINGS_MAX_FRAME_SIZE: 2^24 ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, setting(SETTING.frameSize, 16_777_216)),
    ],
    ['SETTINGS: an unknown entry is ignored', sent(setting(0xff, 1))],
  ),
  ...section(
    'http2/6.5.3',
    '§6.5.3',
    ['SETTINGS: the last of two equal entries counts', lastWindowCounts],
    [
      'SETTINGS: a frame is acknowledged',
      (client) => {
        client.send(setting(SETTING.enablePush, 0));
        return client.expectSettingsAck();
      },
    ],
  ),
  ...section(
    'http2/6.7',
    '§6.7',
    ['PING: a frame is answered with the same bytes', pinged(ping())],
    ['PING: one with ACK is not answered', pongIsNotAnswered],
    [
      'PING: a stream other than 0 ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, ping(EIGHT, FLAG.none, 1)),
    ],
    [
      'PING: a length other than 8 ends the connection with FRAME_SIZE_ERROR',
      connectionError(frameSize, ping(Buffer.alloc(6))),
    ],
  ),
  ...section('http2/6.8', '§6.8', [
    'GOAWAY: a stream other than 0 ends the connection with PROTOCOL_ERROR',
    connectionError(protocol, goaway(0, '', 1)),
  ]),
];

export const WINDOWS: readonly Case[] = [
  ...section(
    'http2/6.9',
    '§6.9',
    ['WINDOW_UPDATE: 0 for the connection ends it with PROTOCOL_ERROR', connectionError(protocol, windowUpdate(0, 0))],
    [
      'WINDOW_UPDATE: 0 for a stream is PROTOCOL_ERROR',
      streamError(protocol, headers(1, POST, OPEN), windowUpdate(1, 0)),
    ],
    [
      'WINDOW_UPDATE: a length other than 4 ends the connection with FRAME_SIZE_ERROR',
      connectionError(frameSize, frame(FRAME.window, 0, 0, Buffer.of(0, 0, 1))),
    ],
  ),
  ...section(
    'http2/6.9.1',
    '§6.9.1',
    ['flow control: no more bytes are sent than the window has', windowOfOne],
    [
      'flow control: a window of the connection above 2^31-1 ends it with FLOW_CONTROL_ERROR',
      connectionError(flowControl, windowUpdate(0, LARGEST_WINDOW), windowUpdate(0, LARGEST_WINDOW)),
    ],
    [
      'flow control: a window of a stream above 2^31-1 is FLOW_CONTROL_ERROR',
      streamError(
        flowControl,
        headers(1, POST, OPEN),
        windowUpdate(1, LARGEST_WINDOW),
        windowUpdate(1, LARGEST_WINDOW),
      ),
    ],
  ),
  ...section(
    'http2/6.9.2',
    '§6.9.2',
    ['initial window: a change is applied to open streams', windowIsAdjusted],
    ['initial window: a window that a change makes negative is kept so', windowMayBeNegative],
    [
      'initial window: above 2^31-1 it ends the connection with FLOW_CONTROL_ERROR',
      connectionError(flowControl, setting(SETTING.window, LARGEST_WINDOW + 1)),
    ],
  ),
  ...section(
    'http2/6.10',
    '§6.10',
    [
      'CONTINUATION: several frames behind HEADERS are accepted',
      answered(HALF_GET, continuation(1, MORE, 0), continuation(1, MORE)),
    ],
    [
      'CONTINUATION: DATA behind one without END_HEADERS ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, HALF_POST, continuation(1, MORE, 0), data(1)),
    ],
    [
      'CONTINUATION: stream 0 ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, HALF_GET, continuation(0, MORE)),
    ],
    [
      'CONTINUATION: behind HEADERS with END_HEADERS it ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, headers(1, POST, OPEN), continuation(1, MORE)),
    ],
    [
      'CONTINUATION: behind one with END_HEADERS it ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, HALF_POST, continuation(1, MORE), continuation(1, MORE)),
    ],
    [
      'CONTINUATION: behind DATA it ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, HALF_POST, data(1), continuation(1, MORE, 0), continuation(0, MORE)),
    ],
  ),
];
