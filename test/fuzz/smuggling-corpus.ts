/**
 * Every known way to have two readers of HTTP/1.1 disagree about where a request ends or which host it is for, by its class, with what the edge
 * makes of it: the requests that the service gets, and the statuses that the visitor gets. A fuzzer's find is added here as a line.
 */
import {
  CODINGS,
  CODING_NAMES,
  GUARDED,
  HOSTS,
  LENGTHS,
  LENGTH_NAMES,
  METHODS,
  SIZES,
  TARGETS,
  VERSIONS,
} from './smuggling-values.ts';

export interface CorpusCase {
  /** Class, and the case in it. */
  readonly name: string;
  /** What the visitor writes, latin1; then it ends. */
  readonly text: string;
  /** Method, target and body of each request that the service gets, with a space between them. */
  readonly served: readonly string[];
  /** Of the answers, in order. */
  readonly statuses: readonly number[];
}

const HOST = 'Host: shop.example.test';
/** What a smuggler wants to be read as a request: with a claim that only the edge may make. */
export const HIDDEN = `GET /hidden HTTP/1.1\r\n${HOST}\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n`;
const HEX = HIDDEN.length.toString(16);

const request = (line: string, ...fields: string[]): string => `${[line, ...fields].join('\r\n')}\r\n\r\n`;
/** A POST with these lines behind Host. */
const post = (...fields: string[]): string => request('POST / HTTP/1.1', HOST, ...fields);
const get = (...fields: string[]): string => request('GET / HTTP/1.1', HOST, ...fields);
const CHUNKED = 'Transfer-Encoding: chunked';
const HELLO = '5\r\nhello\r\n0\r\n\r\n';

type Row = readonly [name: string, text: string, served: readonly string[], statuses: readonly number[]];

/** Refused with 400; nothing is served. */
const no = (name: string, text: string): Row => [name, text, [], [400]];
/** Served as exactly one request with that body. */
const one = (name: string, text: string, body = '', line = 'POST /'): Row => [name, text, [`${line} ${body}`], [200]];
/** Served as one request, and what follows is refused. */
const then = (name: string, text: string, body = '', line = 'POST /'): Row => [
  name,
  text,
  [`${line} ${body}`],
  [200, 400],
];
const GET = 'GET /';
const NEXT = `${GET}hidden `;

const PARTS = '--x\r\nContent-Length: 999\r\nTransfer-Encoding: chunked\r\n\r\n--x--\r\n';

/** Each entry of `list` in the same place. */
const each = (list: readonly string[], make: (entry: string) => Row): Row[] =>
  list.map((entry) => {
    const [name, ...rest] = make(entry);
    return [`${name} ${JSON.stringify(entry)}`, ...rest];
  });

// biome-ignore format: a table
const ROWS: readonly Row[] = [
  no('CL.TE: the length first', post(`Content-Length: ${5 + HIDDEN.length}`, CHUNKED) + `0\r\n\r\n${HIDDEN}`),
  no('CL.TE: the coding first', post(CHUNKED, `Content-Length: ${5 + HIDDEN.length}`) + `0\r\n\r\n${HIDDEN}`),
  no('CL.TE: both are right', post('Content-Length: 15', CHUNKED) + HELLO),
  no('CL.TE: length 0', post('Content-Length: 0', CHUNKED) + HELLO),
  no('TE.CL: a request in a chunk', post(CHUNKED, 'Content-Length: 4') + `${HEX}\r\n${HIDDEN}\r\n0\r\n\r\n`),
  one('TE.TE: another case', post('transfer-encoding: CHUNKED') + HELLO, 'hello'),
  one('TE.TE: behind a tab', post('Transfer-Encoding:\tchunked') + HELLO, 'hello'),
  one('TE.TE: behind nothing', post('Transfer-Encoding:chunked') + HELLO, 'hello'),
  no('TE.TE: twice', post(CHUNKED, CHUNKED) + HELLO),
  no('TE.TE: and another', post(CHUNKED, 'Transfer-Encoding: x') + HELLO),
  no('TE.TE: another one first', post('Transfer-Encoding: x', CHUNKED) + HELLO),
  ...each(CODINGS, (coding) => no('TE.TE: the coding', post(`Transfer-Encoding: ${coding}`) + HELLO)),
  ...each(CODING_NAMES, (name) => no('TE.TE: the name', post(`${name}: chunked`) + HELLO)),
  one('TE.TE: with an underscore it is no name of HTTP, and not forwarded', post('Transfer_Encoding: chunked', 'Content-Length: 5') + 'hello', 'hello'),
  one('TE.TE: TE is no coding', post('TE: chunked', 'Content-Length: 5') + 'hello', 'hello'),
  one('TE.TE: a name that only ends so', post('X-Transfer-Encoding: chunked', 'Content-Length: 5') + 'hello', 'hello'),
  no('CL.CL: different', post('Content-Length: 5', 'Content-Length: 6') + 'hello'),
  no('CL.CL: equal', post('Content-Length: 5', 'Content-Length: 5') + 'hello'),
  no('CL.CL: one in another case', post('Content-Length: 5', 'content-length: 0') + 'hello'),
  ...each(LENGTHS, (length) => no('CL: the value', post(`Content-Length: ${length}`) + 'hello')),
  ...each(LENGTH_NAMES, (name) => no('CL: the name', post(`${name}: 5`) + 'hello')),
  one('CL: zeros in front', post('Content-Length: 000000000000005') + 'hello', 'hello'),
  one('CL: white space around', post('Content-Length: \t5\t ') + 'hello', 'hello'),
  then('CL: with an underscore it is none, and what follows is no request', post('Content_Length: 5') + 'hello world\r\n\r\n'),
  one('CL.0: a request as the body of a POST', post(`Content-Length: ${HIDDEN.length}`) + HIDDEN, HIDDEN),
  one('CL.0: of a GET', get(`Content-Length: ${HIDDEN.length}`) + HIDDEN, HIDDEN, GET),
  one('CL.0: of an OPTIONS *', request('OPTIONS * HTTP/1.1', HOST, `Content-Length: ${HIDDEN.length}`) + HIDDEN, HIDDEN, 'OPTIONS *'),
  one('CL.0: in chunks', get(CHUNKED) + `${HEX}\r\n${HIDDEN}\r\n0\r\n\r\n`, HIDDEN, GET),
  one('CL.0: in a chunk beside others', post(CHUNKED) + `1\r\nx\r\n${HEX}\r\n${HIDDEN}\r\n0\r\n\r\n`, `x${HIDDEN}`),
  one('CL.0: with Expect', post('Expect: 100-continue', `Content-Length: ${HIDDEN.length}`) + HIDDEN, HIDDEN),
  ['0.CL: nothing, and a request of its own', post('Content-Length: 0') + HIDDEN, ['POST / ', NEXT], [200, 200]],
  ['0.CL: with Expect', post('Expect: 100-continue', 'Content-Length: 0') + HIDDEN, ['POST / ', NEXT], [200, 200]],
  ['0.CL: no length at all', post() + HIDDEN, ['POST / ', NEXT], [200, 200]],
  ['pipelined: three in a row', get() + HIDDEN + get(), [`${GET} `, NEXT, `${GET} `], [200, 200, 200]],
  one('pipelined: behind Connection: close', get('Connection: close') + HIDDEN, '', GET),
  one('pipelined: behind HTTP/1.0', request('GET / HTTP/1.0', HOST) + HIDDEN, '', GET),
  then('pipelined: an empty line between', get() + `\r\n${HIDDEN}`, '', GET),
  then('pipelined: half a line between', get() + `X${HIDDEN.slice(3)}\0`.replace('/hidden', '/hid den'), '', GET),
  ['upgrade: refused, and what was sent ahead is a request', get('Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: x') + HIDDEN, [`${GET} `, NEXT], [200, 200]],
  one('upgrade: h2c with its settings', get('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'), '', GET),
  one('upgrade: h2c beside websocket', get('Connection: Upgrade', 'Upgrade: h2c, websocket'), '', GET),
  one('upgrade: h2c and websocket in two lines', get('Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: h2c'), '', GET),
  one('upgrade: TLS', get('Connection: Upgrade', 'Upgrade: TLS/1.2, HTTP/1.1'), '', GET),
  ['upgrade: a body', post('Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 5') + 'hello' + HIDDEN, ['POST / hello', NEXT], [200, 200]],
  no('upgrade: prior knowledge of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'),
  ...['\n', '\r', '\n\r', '\r\r\n', ' \r\n\n', '\0\r\n', '\x0b\n', '\x85', '\x0c\r\n\r'].flatMap((end): Row[] => {
    const shown = JSON.stringify(end);
    return [
      no(`line ends: request line ${shown}`, `POST / HTTP/1.1${end}${HOST}\r\nContent-Length: 5\r\n\r\nhello`),
      no(`line ends: Host ${shown}`, `POST / HTTP/1.1\r\n${HOST}${end}Content-Length: 5\r\n\r\nhello`),
      no(`line ends: a length ${shown}`, `POST / HTTP/1.1\r\n${HOST}\r\nContent-Length: 5${end}\r\nhello`),
      no(`line ends: chunk data ${shown}`, `${post(CHUNKED)}5\r\nhello${end}0\r\n\r\n`),
    ];
  }),
  no('line ends: LF alone', `GET / HTTP/1.1\n${HOST}\n\n`),
  no('line ends: LF LF in a value', get('X: x\n\nGET /hidden HTTP/1.1')),
  no('folded: a value', get('X: x', ' y')),
  no('folded: by a tab', get('X: x', '\ty')),
  no('folded: the first line', request('GET / HTTP/1.1', ' X: x', HOST)),
  no('folded: the coding', post('Transfer-Encoding:', ' chunked') + HELLO),
  no('folded: the length', post('Content-Length:', ' 5') + 'hello'),
  no('folded: Host', request('GET / HTTP/1.1', 'Host:', ' shop.example.test')),
  no('field: no colon', get('X')),
  no('field: no name', get(': x')),
  no('field: a space in the name', get('X Y: z')),
  no('field: a name beyond ASCII', get('X\xe9: z')),
  no('field: NUL in a value', get('X: a\0b')),
  no('field: a control in a value', get('X: a\x01b')),
  no('field: DEL in a value', get('X: a\x7fb')),
  no('field: the request line again', `GET / HTTP/1.1\r\nGET / HTTP/1.1\r\n${HOST}\r\n\r\n`),
  one('field: an empty value', get('X:'), '', GET),
  one('field: CR LF in words', get('X: %0d%0aTransfer-Encoding: chunked'), '', GET),
  ...each(SIZES, (size) => no('chunk: the size', `${post(CHUNKED)}${size}\r\nhello\r\n0\r\n\r\n`)),
  one('chunk: zeros in front', post(CHUNKED) + '00000005\r\nhello\r\n0\r\n\r\n', 'hello'),
  one('chunk: an extension', post(CHUNKED) + '5;a=b\r\nhello\r\n0;c\r\n\r\n', 'hello'),
  one('chunk: an extension with a quoted size', post(CHUNKED) + `5;a="${HEX}"\r\nhello\r\n0\r\n\r\n`, 'hello'),
  one('chunk: the last with many zeros', post(CHUNKED) + '5\r\nhello\r\n00000000\r\n\r\n', 'hello'),
  no('chunk: shorter than it says', post(CHUNKED) + `6\r\nhello\r\n0\r\n\r\n${HIDDEN}`),
  no('chunk: longer than it says', post(CHUNKED) + '4\r\nhello\r\n0\r\n\r\n'),
  no('chunk: two other bytes behind the data', post(CHUNKED) + `5\r\nhelloXX${HEX}\r\n0\r\n\r\n`),
  no('chunk: an extension that ends with LF', post(CHUNKED) + `2;\nxx\r\n${HEX}\r\n0\r\n\r\n${HIDDEN}\r\n0\r\n\r\n`),
  no('chunk: nothing where a size should be', post(CHUNKED) + '5\r\nhello\r\n\r\n'),
  no('chunk: extensions without end', post(CHUNKED) + `5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`),
  one('trailers: what frames is left out', post(CHUNKED) + '5\r\nhello\r\n0\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\nHost: evil.test\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n', 'hello'),
  no('trailers: LF alone', post(CHUNKED) + `5\r\nhello\r\n0\r\nX: 1\n\r\n${HIDDEN}`),
  no('trailers: folded', post(CHUNKED) + '5\r\nhello\r\n0\r\nX: 1\r\n 2\r\n\r\n'),
  no('trailers: no field', post(CHUNKED) + `5\r\nhello\r\n0\r\n${HIDDEN}`),
  no('trailers: a space before the colon', post(CHUNKED) + '5\r\nhello\r\n0\r\nX : 1\r\n\r\n'),
  no('trailers: LF for the empty line', post(CHUNKED) + `5\r\nhello\r\n0\r\n\n${HIDDEN}`),
  no('trailers: without end', post(CHUNKED) + `0\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`),
  one('Expect: twice', post('Expect: 100-continue', 'Expect: 100-Continue', 'Content-Length: 5') + 'hello', 'hello'),
  one('Expect: of a GET without a body', get('Expect: 100-continue'), '', GET),
  no('Expect: y 100-continue', post('Expect: y 100-continue', 'Content-Length: 5') + 'hello'),
  no('Expect: something else', post('Expect: 100-continued', 'Content-Length: 5') + 'hello'),
  no('Expect: a list', post('Expect: 100-continue, x', 'Content-Length: 5') + 'hello'),
  no('Expect: nothing', post('Expect:', 'Content-Length: 5') + 'hello'),
  no('HTTP/0.9: a target alone', 'GET /\r\n\r\n'),
  no('HTTP/0.9: with lines', `GET /\r\n${HOST}\r\n\r\n`),
  no('HTTP/1.0: a coding', request('POST / HTTP/1.0', HOST, CHUNKED) + HELLO),
  no('HTTP/1.0: no Host', request('GET / HTTP/1.0')),
  one('HTTP/1.0: a length', request('POST / HTTP/1.0', HOST, 'Content-Length: 5') + 'hello', 'hello'),
  ['HTTP/1.0: kept', request('GET / HTTP/1.0', HOST, 'Connection: keep-alive') + HIDDEN, [`${GET} `, NEXT], [200, 200]],
  one('HTTP/1.0: no upgrade', request('GET / HTTP/1.0', HOST, 'Connection: Upgrade', 'Upgrade: websocket'), '', GET),
  ...each(VERSIONS, (version) => no('version:', `GET / ${version}\r\n${HOST}\r\n\r\n`)),
  ...each(METHODS, (method) => no('method:', `${method} / HTTP/1.1\r\n${HOST}\r\n\r\n`)),
  one('method: lower case is another', request('get / HTTP/1.1', HOST), '', 'get /'),
  one('method: odd and allowed', request("!#$%&'*+-.^_`|~ / HTTP/1.1", HOST), '', "!#$%&'*+-.^_`|~ /"),
  one('method: almost HEAD', request('HEAT / HTTP/1.1', HOST, 'Content-Length: 5') + 'hello', 'hello', 'HEAT /'),
  ...each(TARGETS, (target) => no('target:', `GET ${target} HTTP/1.1\r\n${HOST}\r\n\r\n`)),
  one('target: absolute', request('GET http://shop.example.test/x?y HTTP/1.1', HOST), '', 'GET /x?y'),
  one('target: absolute in other case', request('GET HTTP://SHOP.example.TEST/ HTTP/1.1', HOST), '', GET),
  one('target: absolute without a path', request('GET https://shop.example.test?y HTTP/1.1', HOST), '', 'GET /?y'),
  one('target: two slashes', request('GET //evil.test/ HTTP/1.1', HOST), '', 'GET //evil.test/'),
  one('target: another address in it', request('GET /http://evil.test/ HTTP/1.1', HOST), '', 'GET /http://evil.test/'),
  one('target: a request in it', request('GET /%20HTTP/1.1%0d%0aHost:%20evil.test HTTP/1.1', HOST), '', 'GET /%20HTTP/1.1%0d%0aHost:%20evil.test'),
  no('Host: none', request('GET / HTTP/1.1')),
  no('Host: two', request('GET / HTTP/1.1', HOST, 'Host: evil.test')),
  no('Host: two equal', request('GET / HTTP/1.1', HOST, HOST)),
  no('Host: the second behind others', request('GET / HTTP/1.1', HOST, 'X: 1', 'hOsT: evil.test')),
  ...each(HOSTS, (host) => no('Host:', request('GET / HTTP/1.1', `Host: ${host}`))),
  one('Host: a port', request('GET / HTTP/1.1', `${HOST}:8080`), '', GET),
  one('Host: other case and a dot', request('GET / HTTP/1.1', 'HOST: SHOP.Example.Test.'), '', GET),
  ['Host: unknown', request('GET / HTTP/1.1', 'Host: evil.test') + HIDDEN, [NEXT], [404, 200]],
  ['Host: unknown, with a body', request('POST / HTTP/1.1', 'Host: evil.test', `Content-Length: ${HIDDEN.length}`) + HIDDEN, [], [404]],
  ...each(GUARDED, (name) => no('Connection:', get(`Connection: ${name}`))),
  no('Connection: no list', get('Connection: a b')),
  no('Connection: a quote', get('Connection: "close"')),
  one('Connection: a name of the visitor’s own', get('Connection: x-own, close', 'X-Own: 1'), '', GET),
  one('Connection: cookies', get('Connection: cookie, close', 'Cookie: a=b'), '', GET),
  one('Connection: a length with an underscore is none', post('Connection: content_length', 'Content-Length: 5') + 'hello', 'hello'),
  one('Connection: nothing', get('Connection: , ,'), '', GET),
  one('claims: all of them', get('X-Forwarded-For: 6.6.6.6', 'X_Forwarded_For: 6.6.6.6', 'X-Forwarded-Host: evil.test', 'Forwarded: for=6.6.6.6', 'X-Real-IP: 6.6.6.6', 'X-Client-IP: 6.6.6.6'), '', GET),
  one('multipart: a part with a length of its own', post('Content-Type: multipart/form-data; boundary=x', `Content-Length: ${PARTS.length}`) + PARTS, PARTS),
  one('multipart: the boundary is a request', post(`Content-Type: multipart/form-data; boundary="GET /hidden HTTP/1.1"`, `Content-Length: ${HIDDEN.length}`) + HIDDEN, HIDDEN),
  one('multipart: in chunks that cut the boundary', post('Content-Type: multipart/form-data; boundary=xy', CHUNKED) + '3\r\n--x\r\n3\r\ny--\r\n0\r\n\r\n', '--xy--'),
];

export const CORPUS: readonly CorpusCase[] = ROWS.map(([name, text, served, statuses]) => ({
  name,
  text,
  served,
  statuses,
}));
