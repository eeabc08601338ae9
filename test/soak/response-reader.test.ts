/** The soak's own eyes: a reader that took half a response for a whole one would prove nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResponseReader } from './response-reader.ts';

const RESPONSES =
  'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello' +
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nx: y\r\n\r\n' +
  'HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n' +
  'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nto the end';

function read(parts: readonly string[]): { bodies: string[]; reader: ResponseReader } {
  const bodies: string[] = [];
  let body = '';
  const reader = new ResponseReader({
    onHead: () => undefined,
    onBody: (bytes) => (body += bytes.toString()),
    onComplete: () => {
      bodies.push(body);
      body = '';
    },
  });
  for (const part of parts) reader.feed(Buffer.from(part));
  return { bodies, reader };
}

test('responses are read the same however the bytes are cut, and are whole only at their end', () => {
  for (let cut = 1; cut < RESPONSES.length; cut++) {
    const { bodies, reader } = read([RESPONSES.slice(0, cut), RESPONSES.slice(cut)]);
    assert.deepEqual(bodies, ['hello', 'abcde', ''], `cut at ${cut}`);
    reader.end();
    assert.deepEqual(bodies, ['hello', 'abcde', '', 'to the end']);
  }
});

test('an end in the middle completes nothing', () => {
  for (const half of ['content-length: 5\r\n\r\nhell', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n']) {
    const { bodies, reader } = read([`HTTP/1.1 200 OK\r\n${half}`]);
    reader.end();
    assert.deepEqual(bodies, []);
  }
});

test('what is no response is an error', () => {
  for (const wrong of [
    'HTTP/1.1 200 OK\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabcd\r\n',
    'garbage\r\n\r\n',
  ]) {
    assert.throws(() => read([wrong]), wrong);
  }
});
