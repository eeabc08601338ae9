/** Values and names that one reader takes for what they stand for and another does not: what the corpus puts in one place after the other. */

// biome-ignore format: a table
export const CODINGS = [
  'xchunked', 'chunkedx', 'chunke', 'x', 'identity', 'gzip', 'chunked, identity', 'identity, chunked',
  'gzip, chunked', 'chunked, chunked', 'chunked,', ',chunked', ', chunked', 'chunked;q=1', 'chunked;', '"chunked"',
  "'chunked'", '(x)chunked', 'chunked\x0b', '\x0bchunked', 'chunked\x00', '\x00chunked', 'chun\x00ked',
  'chunked\x0c', 'chunked\x85', 'chunked\xa0', '', ' ', 'chunked ', 'chunked\t', 'chun ked', '\xefchunked',
  'c\xe8unked', 'chunked\r', 'chunked\r\n x', 'x\r\n chunked',
];
// biome-ignore format: a table
export const CODING_NAMES = [
  'Transfer-Encoding ', 'Transfer-Encoding\t', ' Transfer-Encoding', '\tTransfer-Encoding', 'Transfer Encoding',
  'Transfer-Encoding\x00', 'Transfer-Encoding\x0b', '\x00Transfer-Encoding', 'Transfer-\x00Encoding',
  'Transfer-Encoding\xa0', 'X: x\nTransfer-Encoding', 'X: x\rTransfer-Encoding', 'X: x\r\r\nTransfer-Encoding',
  'X: x\n\rTransfer-Encoding', 'Transfer-Encoding\n', 'Transfer-Encoding\r\n ', '"Transfer-Encoding"',
  'Transfer-Encoding: x\r\nTransfer-Encoding',
];
// biome-ignore format: a table
export const LENGTHS = [
  '+5', '-5', '-0', '+0', '0x5', '0X5', '0b101', '5.0', '5e0', '1e1', '5_', '0_5', '5,', ',5', '5, 5', '5,5', '5, 6',
  '5;', '"5"', "'5'", '5 5', '5\t5', '', ' ', '5\x0b', '\x0b5', '5\x00', '\x005', '\xd9\xa5', '\xef\xbc\x95', '\xb2',
  '5\xa0', 'five', 'NaN', '18446744073709551621', '9999999999999999', '1000000000000005',
];
// biome-ignore format: a table
export const LENGTH_NAMES = [
  'Content-Length ', 'Content-Length\t', ' Content-Length', '\tContent-Length', 'Content Length',
  'Content-Length\x00', '\x00Content-Length', 'Content-\x00Length', 'Content-Length\x0b', 'Content-Length\xa0',
  'X: x\nContent-Length', 'X: x\rContent-Length', 'Content-Length\r\n ', 'Content-Length\n',
];
// biome-ignore format: a table
export const SIZES = [
  '0x5', '0X5', '+5', '-5', ' 5', '\t5', '5 ', '5\t', '5\x0b', '5\x00', '\x005', '5,', '5_0', 'g', '', '5h', '"5"',
  '\xb2', '\xd9\xa5', '5 ;a=b', '5\xa0', '000000005', '100000005', '0000000000000005', '00000000000000005',
  '10000000000000005', 'ffffffffffffffff', 'FFFFFFFFFFFFFFFB', '5\n', '5;\n', '5;a\n', '5\r', '5;a="\r\n"',
  '5;a="\n"', '5;a\rb', '5;a\x00b', '5\r\r', '\r\n5', '\n5',
];
// biome-ignore format: a table
export const HOSTS = [
  '', ' ', 'shop.example.test,evil.test', 'shop.example.test, evil.test', 'evil.test,shop.example.test',
  'shop.example.test evil.test', 'shop.example.test\tevil.test', 'evil.test@shop.example.test',
  'shop.example.test@evil.test', 'x:y@shop.example.test', 'shop.example.test/x', 'shop.example.test?x',
  'shop.example.test#x', 'shop.example.test\\x', 'shop.example.test:', 'shop.example.test:x',
  'shop.example.test:80x', 'shop.example.test:80:80', 'shop.example.test:-80', 'shop.example.test:+80',
  'shop.example.test:800000', 'shop.example.test: 80', 'shop.example.test\x00', 'shop.example.test\x00.evil.test',
  'shop%2eexample.test', 'http://shop.example.test', '[shop.example.test]', '[::1', '::1', '[::1]x', '[]', ':80',
  '*', '"shop.example.test"', 'sh\xf6p.example.test',
];
// biome-ignore format: a table
export const VERSIONS = [
  'HTTP/0.9', 'HTTP/1.2', 'HTTP/1.9', 'HTTP/2', 'HTTP/2.0', 'HTTP/3', 'HTTP/11', 'HTTP/1.10', 'HTTP/01.1',
  'HTTP/1.01', 'HTTP/1.1.1', 'HTTP/1,1', 'HTTP/1', 'HTTP/', 'HTTP', 'http/1.1', 'Http/1.1', 'HTTPS/1.1', 'HTTP /1.1',
  'HTTP/ 1.1', 'HTTP/1.1 ', 'HTTP/1.1\t', 'HTTP/1.1\x0b', 'HTTP/1.1\x00', 'HTTP/1.1 HTTP/1.1', 'HTTP/+1.1',
  'HTTP/\xb9.1', ' HTTP/1.1', '\tHTTP/1.1',
];
// biome-ignore format: a table
export const METHODS = [
  'CONNECT', 'connect', 'Connect', '', ' GET', '\tGET', 'G ET', 'GET\t', 'G@T', 'G(T', 'G/T', 'G:T', 'G[T', 'G{T',
  'G\x00T', 'G\x0bT', 'G\xc9T', '"GET"', 'GET\n', '\nGET', '\r\nGET', '\x00GET', '\xef\xbb\xbfGET', 'A'.repeat(33),
];
// biome-ignore format: a table
export const TARGETS = [
  '', 'x', '?x', '../x', '*', '*/', 'shop.example.test:80', 'ftp://shop.example.test/', 'http:/shop.example.test/',
  'http:///', 'http://', 'http://evil.test/', 'http://shop.example.test.evil.test/',
  'http://shop.example.test@evil.test/', 'http://evil.test@shop.example.test/', 'http://shop.example.test:81/',
  'http://shop.example.test#/', '/#x', '/ x', '/\tx', '/\x00', '/\x0b', '/\x7f', '/\r', '/\n', 'javascript:/',
];
// biome-ignore format: a table
export const GUARDED = [
  'host', 'Host', 'content-length', 'Content-Length', 'transfer-encoding', 'x-forwarded-for', 'X-Forwarded-Proto',
  'x-forwarded-anything', 'x_forwarded_host', 'close, host', 'host , close',
];
