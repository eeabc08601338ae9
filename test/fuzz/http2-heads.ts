/** What holds for each head that the HTTP/2 engine and the parser behind it accept: it is one request, and nothing in it is read in two ways. */
import assert from 'node:assert/strict';
import { Head, parseRequestHead } from '../../src/http1/head.ts';
import { USUAL_LIMITS } from '../../src/http1/head-limits.ts';
import type { RequestHead } from '../../src/http2/types.ts';

const MOST_BYTES = 32_768 + 256;
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
/** Method and target without blanks and controls, each line a name in lower case and a value without ends of lines. */
const HEAD = new RegExp(
  `^${TOKEN} [^\\x00-\\x20\\x7f]+ HTTP/1\\.1\\r\\n((?:[!#$%&'*+\\-.^_\`|~0-9a-z]+: [^\\x00-\\x08\\x0a-\\x1f\\x7f]*\\r\\n)*)\\r\\n$`,
);
/** At most once in a head. */
const SINGLE = ['host', 'content-length', 'transfer-encoding', 'cookie', 'connection', 'upgrade'];
const OF_THE_CONNECTION = ['keep-alive', 'proxy-connection', 'http2-settings'];

const parsed = new Head({ ...USUAL_LIMITS, fields: 1_000 });

/** The edge takes it: the parser reads all of it as one request, and as many lines as were written. */
export function isTaken({ bytes, start, end, lines }: RequestHead): boolean {
  return parseRequestHead(bytes, start, end, parsed) === end && parsed.lineCount === lines;
}

/** Throws where a rule is broken. Answers what the head says of its body's length; -1: nothing. */
export function checkHead(head: RequestHead, isWhole: boolean): number {
  const text = head.bytes.toString('latin1', head.start, head.end);
  assert.ok(text.length <= MOST_BYTES, `a head of ${text.length} bytes`);
  const lines = HEAD.exec(text)?.[1];
  assert.ok(lines !== undefined, `no head: ${JSON.stringify(text.slice(0, 1_000))}`);
  const fields = lines.split('\r\n').slice(0, -1);
  assert.equal(fields.length, head.lines, 'as many lines as were written');
  const names = fields.map((line) => line.slice(0, line.indexOf(':')));
  for (const name of SINGLE) assert.ok(names.filter((one) => one === name).length <= 1, `${name} twice`);
  for (const name of OF_THE_CONNECTION) assert.ok(!names.includes(name), `the field ${name}`);
  // Services that speak HTTP/2 are asked for trailers by it.
  for (const line of fields) assert.ok(!line.startsWith('te:') || line === 'te: trailers', line);
  if (!head.isWebsocket) assert.ok(!names.includes('connection') && !names.includes('upgrade'), 'an upgrade');
  const length = /^content-length: (.*)$/m.exec(lines)?.[1]?.trim();
  const isChunked = lines.includes('transfer-encoding: chunked\r\n');
  assert.equal(names.includes('transfer-encoding'), isChunked);
  assert.ok(!isChunked || length === undefined, 'two lengths');
  if (isWhole) assert.ok(!isChunked && !(Number(length ?? 0) > 0), 'a body that does not come');
  return length === undefined || !/^\d+$/.test(length) ? -1 : Number(length);
}
