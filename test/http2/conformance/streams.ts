/** RFC 9113 §3 to §5: the preface, frames as such, states of streams, errors, extensions. */
import { FLAG, FRAME, frame, literals } from '../../harness/h2-frames.ts';
import { ERROR, PREFACE, isAck, type RawClient, SETTING, settingsFrame, Unmet } from '../raw-client.ts';
import {
  type Case,
  connectionError,
  continuation,
  data,
  dependency,
  EIGHT,
  fresh,
  GET,
  headers,
  MORE,
  OPEN,
  ping,
  pinged,
  POST,
  priority,
  reset,
  type Run,
  section,
  sent,
  streamError,
  UNKNOWN,
  WHOLE,
  windowUpdate,
} from './case.ts';

/** The frames, behind a stream that both sides have ended, end the connection. */
function onClosedStream(codes: number[], ...frames: Buffer[]): Run {
  return async (client) => {
    client.send(headers(1));
    await client.expectEnd(1);
    client.send(...frames);
    await client.expectConnectionError(...codes);
  };
}

async function serverPreface(client: RawClient): Promise<void> {
  client.send(PREFACE, settingsFrame([SETTING.window, 65_535]));
  const got = await client.expect('SETTINGS', ({ type }) => type === FRAME.settings);
  if (isAck(got)) throw new Unmet('the acknowledgement came before the settings');
}

async function tooManyStreams(client: RawClient): Promise<void> {
  const most = client.settings.get(SETTING.maxStreams);
  if (most === undefined) throw new Unmet('the server announces no SETTINGS_MAX_CONCURRENT_STREAMS');
  // Responses that can't be sent keep their streams open.
  client.send(settingsFrame([SETTING.window, 0]));
  for (let i = 0; i <= most; i++) client.send(headers(2 * i + 1));
  await client.expectStreamError(2 * most + 1, ERROR.protocol, ERROR.refusedStream);
}

const { protocol, streamClosed, frameSize, compression } = ERROR;
const HALF_HEAD = headers(1, GET, 0);
const LARGE_HEAD = headers(1, Buffer.concat([literals(GET), literals([['x-dummy', 'x'.repeat(16_384)]])]));
const ODD_PING = frame(FRAME.ping, 0x16, 0, EIGHT);
const RESERVED_PING = Buffer.from(ODD_PING).fill(0x80, 5, 6);

export const CONNECTIONS: readonly Case[] = [
  ...fresh(
    'http2/3.5',
    '§3.4',
    ['preface: the settings of the server come first', serverPreface],
    [
      'preface: another one closes the connection',
      (client) => {
        client.send(Buffer.from('INVALID CONNECTION PREFACE\r\n\r\n'));
        return client.expectClose();
      },
    ],
  ),
  ...section(
    'http2/4.1',
    '§4.1',
    ['frame: an unknown type is ignored', sent(UNKNOWN)],
    ['frame: an undefined flag is ignored', pinged(ODD_PING)],
    ['frame: the reserved bit is ignored', pinged(RESERVED_PING)],
  ),
  ...section(
    'http2/4.2',
    '§4.2',
    [
      'frame size: DATA of 2^14 bytes is accepted',
      async (client) => {
        client.send(headers(1, POST, OPEN), data(1, Buffer.alloc(16_384, 'x')));
        await client.expectHeaders(1);
      },
    ],
    [
      'frame size: DATA of more than SETTINGS_MAX_FRAME_SIZE is FRAME_SIZE_ERROR',
      streamError(frameSize, headers(1, POST, OPEN), data(1, Buffer.alloc(16_385, 'x'))),
    ],
    [
      'frame size: HEADERS of more than SETTINGS_MAX_FRAME_SIZE end the connection with FRAME_SIZE_ERROR',
      connectionError(frameSize, LARGE_HEAD),
    ],
  ),
  ...section(
    'http2/4.3',
    '§4.3',
    [
      'header block: one that can not be decoded ends the connection with COMPRESSION_ERROR',
      connectionError(compression, headers(1, Buffer.of(0x40))),
    ],
    [
      'header block: PRIORITY in the middle ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, HALF_HEAD, priority(1), continuation(1, MORE)),
    ],
    [
      'header block: HEADERS of another stream in the middle end the connection with PROTOCOL_ERROR',
      connectionError(protocol, HALF_HEAD, headers(3), continuation(1, MORE)),
    ],
  ),
];

const STATES = section(
  'http2/5.1',
  '§5.1',
  ['idle stream: DATA ends the connection with PROTOCOL_ERROR', connectionError(protocol, data(1))],
  ['idle stream: RST_STREAM ends the connection with PROTOCOL_ERROR', connectionError(protocol, reset(1))],
  [
    'idle stream: WINDOW_UPDATE ends the connection with PROTOCOL_ERROR',
    connectionError(protocol, windowUpdate(1, 100)),
  ],
  [
    'idle stream: CONTINUATION ends the connection with PROTOCOL_ERROR',
    connectionError(protocol, continuation(1, literals(GET))),
  ],
  ['half-closed (remote) stream: DATA is STREAM_CLOSED', streamError(streamClosed, headers(1), data(1))],
  ['half-closed (remote) stream: HEADERS are STREAM_CLOSED', streamError(streamClosed, headers(1), headers(1))],
  [
    'half-closed (remote) stream: CONTINUATION is STREAM_CLOSED or PROTOCOL_ERROR',
    streamError([streamClosed, protocol], headers(1), continuation(1, literals(GET))),
  ],
  [
    'closed stream: DATA behind RST_STREAM is STREAM_CLOSED',
    streamError(streamClosed, headers(1, GET, OPEN), reset(1), data(1)),
  ],
  [
    'closed stream: HEADERS behind RST_STREAM are STREAM_CLOSED',
    streamError(streamClosed, headers(1, GET, OPEN), reset(1), headers(1)),
  ],
  [
    'closed stream: CONTINUATION behind RST_STREAM is STREAM_CLOSED or PROTOCOL_ERROR',
    streamError([streamClosed, protocol], headers(1, GET, OPEN), reset(1), continuation(1, MORE)),
  ],
  [
    'closed stream: DATA behind END_STREAM ends the connection with STREAM_CLOSED',
    onClosedStream([streamClosed], data(1)),
  ],
  [
    'closed stream: HEADERS behind END_STREAM end the connection with STREAM_CLOSED',
    onClosedStream([streamClosed], headers(1)),
  ],
  [
    'closed stream: CONTINUATION behind END_STREAM ends the connection with STREAM_CLOSED or PROTOCOL_ERROR',
    onClosedStream([streamClosed, protocol], continuation(1, MORE)),
  ],
);

const INVALID_PING = ping(EIGHT, FLAG.none, 3);

export const STREAMS: readonly Case[] = [
  ...STATES,
  ...section(
    'http2/5.1.1',
    '§5.1.1',
    ['stream number: an even one ends the connection with PROTOCOL_ERROR', connectionError(protocol, headers(2))],
    [
      // The higher number has closed the lower ones too (§5.1.1).
      'stream number: one below the last ends the connection with PROTOCOL_ERROR or STREAM_CLOSED',
      connectionError([protocol, streamClosed], headers(5), headers(3)),
    ],
  ),
  ...section('http2/5.1.2', '§5.1.2', [
    'concurrency: a stream beyond SETTINGS_MAX_CONCURRENT_STREAMS is refused',
    tooManyStreams,
  ]),
  ...section(
    'http2/5.3.1',
    'RFC 7540 §5.3.1',
    [
      'dependency: HEADERS that depend on themselves are PROTOCOL_ERROR',
      streamError(protocol, headers(1, Buffer.concat([dependency(1), literals(GET)]), WHOLE | FLAG.priority)),
    ],
    [
      'dependency: PRIORITY that depends on itself is PROTOCOL_ERROR',
      streamError(protocol, priority(1, dependency(1))),
    ],
  ),
  ...section('http2/5.4.1', '§5.4.1', [
    'connection error: the TCP connection is closed',
    (client) => {
      client.send(INVALID_PING);
      return client.expectClose();
    },
  ]),
  ...section(
    'http2/5.5',
    '§5.5',
    ['extension: an unknown frame is ignored', sent(UNKNOWN)],
    [
      'extension: an unknown frame in a header block ends the connection with PROTOCOL_ERROR',
      connectionError(protocol, headers(1, GET, FLAG.endStream), UNKNOWN),
    ],
  ),
];
