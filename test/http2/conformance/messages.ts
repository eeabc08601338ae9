/** RFC 9113 §7 and §8: error codes, and requests that are malformed. */
import { type Fields, FRAME, frame, literals, request, u32 } from '../../harness/h2-frames.ts';
import { ERROR } from '../raw-client.ts';
import {
  type Case,
  connectionError,
  data,
  GET,
  goaway,
  headers,
  OPEN,
  POST,
  reset,
  type Run,
  section,
  sent,
  streamError,
} from './case.ts';

const { protocol } = ERROR;
const UNKNOWN_CODE = 0xff;

/** A GET with such a head is reset with PROTOCOL_ERROR. */
function malformed(fields: Fields): Run {
  return streamError(protocol, headers(1, fields));
}

function withField(name: string, value: string): Run {
  return malformed([...GET, [name, value]]);
}

function without(name: string): Run {
  return malformed(GET.filter(([known]) => known !== name));
}

function twice(name: string): Run {
  return malformed([...GET, ...GET.filter(([known]) => known === name)]);
}

/** A POST of one byte, by its head, whose body is longer. */
function tooLong(...frames: Buffer[]): Run {
  return streamError(protocol, headers(1, request('POST', '/', ['content-length', '1']), OPEN), ...frames);
}

const PSEUDO_TRAILERS: Fields = [[':method', 'POST']];
const PROMISE = Buffer.concat([u32(3), literals(GET)]);

export const MESSAGES: readonly Case[] = [
  ...section(
    'http2/7',
    '§7',
    [
      'error code: GOAWAY with an unknown one ends the connection as others do',
      (client) => {
        client.send(goaway(UNKNOWN_CODE));
        return client.expectClose();
      },
    ],
    [
      'error code: RST_STREAM with an unknown one ends its stream alone',
      sent(headers(1, POST, OPEN), reset(1, UNKNOWN_CODE)),
    ],
  ),
  ...section('http2/8.1', '§8.1', [
    'trailers: HEADERS without END_STREAM are PROTOCOL_ERROR',
    streamError(protocol, headers(1, POST, OPEN), data(1, 'test', 0), headers(1, [['x-test', 'ok']], OPEN)),
  ]),
  ...section('http2/8.1.2', '§8.2.1', ['field: a name in upper case is PROTOCOL_ERROR', withField('X-TEST', 'ok')]),
  ...section(
    'http2/8.1.2.1',
    '§8.3',
    ['pseudo-field: an unknown one is PROTOCOL_ERROR', withField(':test', 'ok')],
    ['pseudo-field: one of responses is PROTOCOL_ERROR', withField(':status', '200')],
    [
      'pseudo-field: one in trailers is PROTOCOL_ERROR',
      streamError(protocol, headers(1, POST, OPEN), data(1, 'test', 0), headers(1, PSEUDO_TRAILERS)),
    ],
    ['pseudo-field: one behind other fields is PROTOCOL_ERROR', malformed([['x-test', 'ok'], ...GET])],
  ),
  ...section(
    'http2/8.1.2.2',
    '§8.2.2',
    ['field: one of the connection is PROTOCOL_ERROR', withField('connection', 'keep-alive')],
    ['field: TE other than "trailers" is PROTOCOL_ERROR', withField('te', 'trailers, deflate')],
  ),
  ...section(
    'http2/8.1.2.3',
    '§8.3.1',
    [
      'pseudo-field: an empty :path is PROTOCOL_ERROR',
      malformed(GET.map(([name, value]) => [name, name === ':path' ? '' : value])),
    ],
    ['pseudo-field: no :method is PROTOCOL_ERROR', without(':method')],
    ['pseudo-field: no :scheme is PROTOCOL_ERROR', without(':scheme')],
    ['pseudo-field: no :path is PROTOCOL_ERROR', without(':path')],
    ['pseudo-field: :method twice is PROTOCOL_ERROR', twice(':method')],
    ['pseudo-field: :scheme twice is PROTOCOL_ERROR', twice(':scheme')],
    ['pseudo-field: :path twice is PROTOCOL_ERROR', twice(':path')],
  ),
  ...section(
    'http2/8.1.2.6',
    '§8.1.1',
    ['content-length: one frame of DATA that is longer is PROTOCOL_ERROR', tooLong(data(1))],
    ['content-length: several frames of DATA that are longer are PROTOCOL_ERROR', tooLong(data(1, 'test', 0), data(1))],
  ),
  ...section('http2/8.2', '§8.4', [
    'push: PUSH_PROMISE ends the connection with PROTOCOL_ERROR',
    connectionError(protocol, frame(FRAME.pushPromise, 4, 1, PROMISE)),
  ]),
];
