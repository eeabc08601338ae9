/** Heads that HTTP/2 could say and HTTP/1.1 could not, or in two ways: refused by whatever reads them. Used by tests alone. */

export type Fields = ReadonlyArray<readonly [string, string]>;

export const GET: Fields = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'shop.example.test'],
  [':path', '/'],
];

export const without = (name: string): Fields => GET.filter(([key]) => key !== name);
export const withPath = (path: string, method = 'GET'): Fields => [
  [':method', method],
  [':scheme', 'https'],
  [':authority', 'shop.example.test'],
  [':path', path],
];

export const REFUSED_HEADS: Readonly<Record<string, Fields>> = {
  'no method': without(':method'),
  'no scheme': without(':scheme'),
  'no path': without(':path'),
  'no host at all': without(':authority'),
  'two methods': [[':method', 'GET'], ...GET],
  'two paths': [[':path', '/'], ...GET],
  'two schemes': [[':scheme', 'https'], ...GET],
  'two authorities': [[':authority', 'shop.example.test'], ...GET],
  'an empty authority': [...without(':authority'), [':authority', '']],
  'two hosts': [...GET, ['host', 'shop.example.test'], ['host', 'shop.example.test']],
  'another host': [...GET, ['host', 'shed.example.test']],
  'a pseudo-field behind a field': [['x', 'y'], ...GET],
  'a pseudo-field behind a cookie': [['cookie', 'y=1'], ...GET],
  'a pseudo-field of responses': [[':status', '200'], ...GET],
  'extended CONNECT': [[':protocol', 'websocket'], ...withPath('/', 'CONNECT')],
  CONNECT: [
    [':method', 'CONNECT'],
    [':authority', 'shop.example.test:443'],
  ],
  'an absolute path': withPath('https://shop.example.test/'),
  'a path without its slash': withPath('admin'),
  'an empty path': withPath(''),
  'a star': withPath('*'),
  'a path with a blank': withPath('/ HTTP/1.1'),
  'a path with a line break': withPath('/ HTTP/1.1\r\nx: y'),
  'a method with a blank': withPath('/', 'GET /x'),
  'a method with a line break': withPath('/', 'GET / HTTP/1.1\r\nhost: a\r\n\r\nGET'),
  'an authority with a line break': [...without(':authority'), [':authority', 'a\r\nx: y']],
  'an authority with user information': [...without(':authority'), [':authority', 'ann@shop.example.test']],
  'a name in upper case': [...GET, ['X-Up', 'y']],
  'a name with a colon': [...GET, ['x:y', 'z']],
  'a name with a line break': [...GET, ['x\r\ny', 'z']],
  'an empty name': [...GET, ['', 'z']],
  'a value with a line break': [...GET, ['x', 'y\r\nz: 1']],
  'a value with a line end': [...GET, ['x', 'y\nz: 1']],
  'a value with an end of the head': [...GET, ['x', 'y\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: a']],
  'a cookie with a line break': [...GET, ['cookie', 'a=1\r\nx: y']],
  'a value with NUL': [...GET, ['x', 'y\0']],
  'te other than trailers': [...GET, ['te', 'trailers, gzip']],
  'two lengths': [...GET, ['content-length', '0'], ['content-length', '0']],
  'a length with a sign': [...GET, ['content-length', '+0']],
  'a length without a body': [...GET, ['content-length', '5']],
  'an unknown expectation': [...GET, ['expect', 'x']],
};
