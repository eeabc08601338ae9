/** RFC 7541: blocks that can not be decoded, each of which ends the connection with COMPRESSION_ERROR (RFC 9113 §4.3). */
import { literals } from '../../harness/h2-frames.ts';
import { codedString, fromBits, huffmanCode, indexed, literal, string, tableSize } from '../hpack.ts';
import { ERROR, SETTING } from '../raw-client.ts';
import { type Case, connectionError, GET, headers, type Run, section } from './case.ts';

const BLOCK = literals(GET);
/** Beyond the static table and an empty dynamic one. */
const NO_ENTRY = 126;
const DEFAULT_TABLE = 4_096;
const END_OF_STRING = '1'.repeat(30);

/** A GET whose block ends with this. */
function ending(...bytes: Buffer[]): Run {
  return connectionError(ERROR.compression, headers(1, Buffer.concat([BLOCK, ...bytes])));
}

/** A field with a value in this code. */
function coded(code: Buffer): Run {
  return ending(Buffer.of(0), string('x-test'), codedString(code));
}

export const HPACK: readonly Case[] = [
  ...section(
    'hpack/2.3.3',
    'RFC 7541 §2.3.3',
    ['index: a field beyond the tables is an error', ending(indexed(NO_ENTRY))],
    ['index: a name beyond the tables is an error', ending(literal('add', NO_ENTRY, 'value'))],
  ),
  ...section('hpack/4.2', 'RFC 7541 §4.2', ['table size: one at the end of a block is an error', ending(tableSize(1))]),
  ...section(
    'hpack/5.2',
    'RFC 7541 §5.2',
    [
      'Huffman code: more than 7 bits of padding are an error',
      coded(Buffer.concat([huffmanCode('test'), Buffer.of(255)])),
    ],
    ['Huffman code: padding of zeroes is an error', coded(huffmanCode('test', '0'))],
    ['Huffman code: the end-of-string symbol is an error', coded(Buffer.concat([fromBits(END_OF_STRING + '00101')]))],
  ),
  ...section('hpack/6.1', 'RFC 7541 §6.1', ['index: 0 is an error', ending(Buffer.of(0x80))]),
  ...section('hpack/6.3', 'RFC 7541 §6.3', [
    'table size: one above SETTINGS_HEADER_TABLE_SIZE is an error',
    async (client) => {
      const most = client.settings.get(SETTING.tableSize) ?? DEFAULT_TABLE;
      client.send(headers(1, Buffer.concat([tableSize(most + 1), BLOCK])));
      await client.expectConnectionError(ERROR.compression);
    },
  ]),
];
