/** What each endpoint accepts: frames of all kinds in the states that allow them. */
import { FLAG, FRAME, frame, literals, request } from '../../harness/h2-frames.ts';
import { indexed, integer, literal, staticName, tableSize } from '../hpack.ts';
import { isAck, PREFACE, type RawClient, SETTING, settingsFrame, Unmet } from '../raw-client.ts';
import {
  answered,
  type Case,
  continuation,
  data,
  dependency,
  EIGHT,
  expectAlive,
  fresh,
  GET,
  goaway,
  headers,
  OPEN,
  ping,
  POST,
  priority,
  reset,
  type Run,
  section,
  sent,
  WHOLE,
  windowUpdate,
} from './case.ts';

const USER_AGENT = staticName('user-agent');

/** A GET whose block also holds these representations. */
function withField(...more: Buffer[]): Run {
  return answered(headers(1, Buffer.concat([literals(GET), ...more])));
}

async function firstIsSettings(client: RawClient): Promise<void> {
  client.send(PREFACE, settingsFrame([SETTING.window, 65_535]));
  const first = await client.next();
  if (typeof first === 'string' || first.type !== FRAME.settings || isAck(first))
    throw new Unmet(`the first frame is ${JSON.stringify(first)}`);
}

/** A response that can't be sent yet, as the stream's window is 0; then what `between` sends, and a window of one byte. */
function behindClosedWindow(...between: Buffer[]): Run {
  return async (client) => {
    client.send(settingsFrame([SETTING.window, 0]), headers(1), ...between, windowUpdate(1, 1));
    await client.expectData(1);
  };
}

async function priorityOnClosedStream(client: RawClient): Promise<void> {
  client.send(headers(1));
  await client.expectEnd(1);
  client.send(priority(1));
  await expectAlive(client);
}

async function settingsAreAcknowledged(client: RawClient): Promise<void> {
  const { tableSize: table, enablePush, maxStreams, window, frameSize, headList } = SETTING;
  client.send(
    settingsFrame(
      [table, 4_096],
      [enablePush, 1],
      [maxStreams, 100],
      [window, 65_535],
      [frameSize, 16_384],
      [headList, 100],
    ),
  );
  await client.expectSettingsAck();
}

async function goawayEnds(client: RawClient): Promise<void> {
  client.send(goaway(0, 'leaving'));
  await client.expectClose();
}

const WHOLE_BLOCK = literals(GET);
const PADDED_DATA = frame(FRAME.data, FLAG.endStream | FLAG.padded, 1, '\x06testpadded');
const PADDED_HEAD = Buffer.concat([Buffer.of(8), WHOLE_BLOCK, Buffer.alloc(8)]);

const FRAMES: readonly Case[] = [
  ...section(
    'generic/3.1',
    '§6.1',
    ['DATA: a frame is accepted', answered(headers(1, POST, OPEN), data(1))],
    ['DATA: several frames are accepted', answered(headers(1, POST, OPEN), data(1, 'test', 0), data(1))],
    ['DATA: padding is accepted', answered(headers(1, POST, OPEN), PADDED_DATA)],
  ),
  ...section(
    'generic/3.2',
    '§6.2',
    ['HEADERS: a frame is accepted', answered(headers(1))],
    ['HEADERS: padding is accepted', answered(headers(1, PADDED_HEAD, WHOLE | FLAG.padded))],
    [
      'HEADERS: priority is accepted',
      answered(headers(1, Buffer.concat([dependency(0), WHOLE_BLOCK]), WHOLE | FLAG.priority)),
    ],
  ),
  ...section(
    'generic/3.3',
    '§6.3',
    ['PRIORITY: weight 1 is accepted', answered(priority(1, dependency(0, 0)), headers(1))],
    ['PRIORITY: weight 256 is accepted', answered(priority(1, dependency(0, 255)), headers(1))],
    ['PRIORITY: a dependency is accepted', answered(priority(3, dependency(1, 0)), headers(1))],
    ['PRIORITY: an exclusive dependency is accepted', answered(priority(1, dependency(0, 0, true)), headers(1))],
    ['PRIORITY: a lower stream may open behind one for an idle stream', answered(priority(3), headers(1))],
  ),
  ...section('generic/3.4', '§6.4', ['RST_STREAM: a frame is accepted', sent(headers(1, GET, OPEN), reset(1))]),
  ...section('generic/3.5', '§6.5', ['SETTINGS: all known entries are acknowledged', settingsAreAcknowledged]),
  ...section('generic/3.7', '§6.7', [
    'PING: a frame is answered with the same bytes',
    (client) => {
      client.send(ping());
      return client.expectPong(EIGHT);
    },
  ]),
  ...section('generic/3.8', '§6.8', ['GOAWAY: a frame ends the connection', goawayEnds]),
  ...section(
    'generic/3.9',
    '§6.9',
    ['WINDOW_UPDATE: a frame for the connection is accepted', sent(windowUpdate(0, 1))],
    ['WINDOW_UPDATE: a frame for a stream is accepted', answered(headers(1), windowUpdate(1, 1))],
  ),
  ...section(
    'generic/3.10',
    '§6.10',
    [
      'CONTINUATION: a frame is accepted',
      answered(headers(1, WHOLE_BLOCK.subarray(0, 5), FLAG.endStream), continuation(1, WHOLE_BLOCK.subarray(5))),
    ],
    [
      'CONTINUATION: several frames are accepted',
      answered(
        headers(1, WHOLE_BLOCK.subarray(0, 5), FLAG.endStream),
        continuation(1, WHOLE_BLOCK.subarray(5, 10), 0),
        continuation(1, WHOLE_BLOCK.subarray(10)),
      ),
    ],
  ),
];

const MESSAGES = section(
  'generic/4',
  '§8.1',
  ['GET is answered', answered(headers(1))],
  ['HEAD is answered', answered(headers(1, request('HEAD')))],
  ['POST is answered', answered(headers(1, POST, OPEN), data(1))],
  [
    'POST with trailers is answered',
    answered(
      headers(1, request('POST', '/', ['trailer', 'x-test']), OPEN),
      data(1, 'test', 0),
      headers(1, [['x-test', 'ok']]),
    ),
  ],
);

/** A literal with each kind of name and of text. */
const LITERALS = [
  ['a known name', USER_AGENT, false],
  ['a known name and the Huffman code', USER_AGENT, true],
  ['a new name', 'x-test', false],
  ['a new name and the Huffman code', 'x-test', true],
] as const;

const HPACK = section(
  'generic/5',
  'RFC 7541 §6',
  [
    'HPACK: an indexed field of the dynamic table is accepted',
    withField(literal('add', 'x-first', 'one'), indexed(62)),
  ],
  ...(['add', 'none', 'never'] as const).flatMap((indexing) =>
    LITERALS.map(
      ([what, name, isHuffman]) =>
        [
          `HPACK: a literal (index: ${indexing}) with ${what} is accepted`,
          withField(literal(indexing, name, 'value', isHuffman)),
        ] as const,
    ),
  ),
  ['HPACK: a table size is accepted', answered(headers(1, Buffer.concat([tableSize(0), WHOLE_BLOCK])))],
  [
    'HPACK: several table sizes are accepted',
    answered(headers(1, Buffer.concat([tableSize(0), integer(0x20, 5, 4_096), WHOLE_BLOCK]))),
  ],
);

export const GENERIC: readonly Case[] = [
  ...fresh('generic/1', '§3.4', ['the first frame of the server is SETTINGS', firstIsSettings]),
  ...section(
    'generic/2',
    '§5.1',
    ['idle stream: PRIORITY is accepted', sent(priority(1))],
    ['half-closed (remote) stream: WINDOW_UPDATE is accepted', behindClosedWindow()],
    ['half-closed (remote) stream: PRIORITY is accepted', behindClosedWindow(priority(1))],
    ['half-closed (remote) stream: RST_STREAM is accepted', sent(headers(1), reset(1))],
    ['closed stream: PRIORITY is accepted', priorityOnClosedStream],
  ),
  ...FRAMES,
  ...MESSAGES,
  ...HPACK,
];
