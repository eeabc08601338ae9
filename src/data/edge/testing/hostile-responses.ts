/** What hostile services and agents send in place of a response, for visitors of both versions of HTTP. `evil` must never reach one. Used by tests alone. */

/** A response of these lines, without its body. */
export const ok = (...lines: string[]): string =>
  `HTTP/1.1 200 OK\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;

/** What is no response, by name. */
// biome-ignore format: a table
export const NO_RESPONSES: ReadonlyArray<readonly [string, string]> = [
  ['a length and chunks', `${ok('Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
  ['chunks and a length', `${ok('Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n`],
  ['two lengths', `${ok('Content-Length: 5', 'Content-Length: 50')}evil!`],
  ['a list of lengths', `${ok('Content-Length: 5, 50')}evil!`],
  ['a length with a sign', `${ok('Content-Length: +5')}evil!`],
  ['a length beyond numbers', `${ok('Content-Length: 99999999999999999')}evil!`],
  ['another coding', ok('Transfer-Encoding: gzip, chunked')],
  ['chunked twice', ok('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')],
  ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a chunk that is none at once', `${ok('Transfer-Encoding: chunked')}evil`],
  ['a response split by LF', ok('X: a\n\nHTTP/1.1 200 OK\nSet-Cookie: evil=1')],
  ['a response split by CR', ok('X: a\r\rHTTP/1.1 200 OK\rSet-Cookie: evil=1')],
  ['a field split by LF', ok('X: a\nSet-Cookie: evil=1')],
  ['NUL in a field', ok('X: a\0Set-Cookie: evil=1')],
  ['a folded length', ok('Content-Length: 5', ' evil')],
  ['a space before the colon', ok('Content-Length : 0')],
  ['Connection that names the length', ok('Connection: content-length', 'Content-Length: 5')],
  ['101 without a request for it', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ['too many interim responses', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(17)],
  ['an interim response without end', `HTTP/1.1 103 Early Hints\r\nLink: ${'a'.repeat(140_000)}`],
  ['too many fields', ok(...Array.from({ length: 257 }, (_, i) => `X${i}: evil`))],
  ['a head without end', `HTTP/1.1 200 OK\r\nX: ${'evil'.repeat(35_000)}`],
  ['a request', 'GET / HTTP/1.1\r\nHost: calm.example.test\r\n\r\n'],
  ['HTTP/2', '\0\0\0\x04\0\0\0\0\0'],
  ['HTTP/0.9', '<html>evil</html>'],
];

/** Half responses, each with `half` in its body, and what their agent does then. */
// biome-ignore format: a table
export const HALVES: ReadonlyArray<readonly [string, string, 'end' | 'reset' | 'stays']> = [
  ['less than the length, and an end', `${ok('Content-Length: 50')}half`, 'end'],
  ['less than the length, and a reset', `${ok('Content-Length: 50')}half`, 'reset'],
  ['a chunk without its end, and an end', `${ok('Transfer-Encoding: chunked')}4\r\nhalf`, 'end'],
  ['chunks without the last, and an end', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n`, 'end'],
  ['chunks without the last, and a reset', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n`, 'reset'],
  ['no length, and a reset', `${ok()}half`, 'reset'],
  ['a chunk that is none', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\nevil\r\n`, 'stays'],
  ['a chunk that is longer', `${ok('Transfer-Encoding: chunked')}4\r\nhalfevil\r\n0\r\n\r\n`, 'stays'],
  ['chunk extensions without end', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n1;${'evil'.repeat(5_000)}`, 'stays'],
  ['trailers without end', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n0\r\n${'X: evil\r\n'.repeat(2_000)}`, 'stays'],
  ['a trailer that is none', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n0\r\nevil\r\n\r\n`, 'stays'],
  ['a trailer that is split', `${ok('Transfer-Encoding: chunked')}4\r\nhalf\r\n0\r\nX: a\nevil: b\r\n\r\n`, 'stays'],
];
