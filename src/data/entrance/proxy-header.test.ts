import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { proxyHeader } from '../../agent/local/proxy-header.ts';
import { plainIp } from '../../base/net/addr.ts';
import { crc32c } from '../../base/bytes/crc32c.ts';
import { type ProxyFault, type Proxied, readProxyHeader } from './proxy-header.ts';
import { visitorAddress } from './visitor-address.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a';
const V4 = 'c6336407 c0000201 a1b2 01bb';
const V6 = '20010db8000000000000000000000007 20010db8000000000000000000000001 a1b2 01bb';
const MAPPED = '00000000000000000000ffffc6336407 20010db8000000000000000000000001 a1b2 01bb';
const ANN: Proxied = { ip: '198.51.100.7', port: 0xa1b2, secure: false };

function header(command: string, family: string, rest: string, length?: number): Buffer {
  const body = Buffer.from(rest.replaceAll(' ', ''), 'hex');
  const head = Buffer.from(`${SIGNATURE}${command}${family}0000`, 'hex');
  head.writeUInt16BE(length ?? body.length, 14);
  return Buffer.concat([head, body]);
}

/** A header with a right checksum. */
function checked(rest: string): Buffer {
  const made = header('21', '11', `${rest} 030004 00000000`);
  made.writeUInt32BE(crc32c(made), made.length - 4);
  return made;
}

// biome-ignore format: a table
const GOOD: ReadonlyArray<readonly [what: string, header: Buffer, from: Proxied | null]> = [
  ['TCP over IPv4', header('21', '11', V4), ANN],
  ['TCP over IPv6', header('21', '21', V6), { ...ANN, ip: '2001:db8::7' }],
  ['IPv4 in IPv6 clothes', header('21', '21', MAPPED), ANN],
  ['what looks like IPv4 in IPv6 and is not', header('21', '21', V6.replace('20010db8000000000000000000000007', `${'0'.repeat(24)}c6336407`)), { ...ANN, ip: '::c633:6407' }],
  ['LOCAL', header('20', '00', ''), null],
  ['LOCAL with what must be ignored', header('20', '11', V4), null],
  ['LOCAL of an unknown family', header('20', 'ff', 'ffffff'), null],
  ['unspecified', header('21', '00', ''), null],
  ['unspecified with what must be ignored', header('21', '00', 'ffff'), null],
  ['an unknown TLV, and padding', header('21', '11', `${V4} e00003 414243 040000`), ANN],
  ['TLS taken off', header('21', '11', `${V4} 200005 01 00000000`), { ...ANN, secure: true }],
  ['plain, said by the TLV of TLS', header('21', '11', `${V4} 200005 00 00000000`), ANN],
  ['a checksum that is right', checked(V4), ANN],
  ['the longest', header('21', '11', `${V4} e003f1 ${'00'.repeat(1_009)}`), ANN],
];

// biome-ignore format: a table
const BAD: ReadonlyArray<readonly [what: string, bytes: Buffer, fault: ProxyFault]> = [
  ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\n'), 'no_header'],
  ['one byte of something else', Buffer.from('G'), 'no_header'],
  ['a TLS handshake', Buffer.from('160301', 'hex'), 'no_header'],
  ['a signature with a wrong last byte', Buffer.from('0d0a0d0a000d0a515549540b', 'hex'), 'no_header'],
  ['blank lines', Buffer.from('\r\n\r\n\r\n'), 'no_header'],
  ['version 1', Buffer.from('PROXY TCP4 198.51.100.7 192.0.2.1 41394 443\r\n'), 'version_1'],
  ['the beginning of version 1', Buffer.from('PROXY '), 'version_1'],
  ['another version', header('31', '11', V4), 'malformed'],
  ['another command', header('22', '11', V4), 'malformed'],
  ['another command, and no more yet', header('22', '11', '').subarray(0, 13), 'malformed'],
  ['datagrams over IPv4', header('21', '12', V4), 'malformed'],
  ['datagrams over IPv6', header('21', '22', V6), 'malformed'],
  ['a Unix socket', header('21', '31', '00'.repeat(216)), 'malformed'],
  ['a family without protocol', header('21', '10', V4), 'malformed'],
  ['a protocol without family', header('21', '01', V4), 'malformed'],
  ['too short for its family', header('21', '11', V4.slice(0, -2)), 'malformed'],
  ['IPv6 with the length of IPv4', header('21', '21', V4), 'malformed'],
  ['too long', header('21', '11', V4, 1_025), 'malformed'],
  ['too long to be skipped', header('20', '00', '', 65_535), 'malformed'],
  ['half a TLV head', header('21', '11', `${V4} e000`), 'malformed'],
  ['a TLV that goes beyond the header', header('21', '11', `${V4} e00004 414243`), 'malformed'],
  ['a checksum that is wrong', header('21', '11', `${V4} 030004 00000001`), 'malformed'],
  ['a checksum of another length', header('21', '11', `${V4} 030002 0000`), 'malformed'],
];

for (const [what, bytes, from] of GOOD) {
  test(`${what}: who it is, wherever the header is cut, and what is behind it is left`, () => {
    for (let cut = 0; cut < bytes.length; cut++)
      assert.equal(readProxyHeader(bytes.subarray(0, cut)), 'more', `${cut} bytes`);
    for (const behind of ['', 'G', 'GET / HTTP/1.1\r\n\r\n']) {
      const read = readProxyHeader(Buffer.concat([bytes, Buffer.from(behind)]));
      assert.deepEqual(read, { size: bytes.length, from });
    }
  });
}

for (const [what, bytes, fault] of BAD) {
  test(`${what}: refused, and never taken for a header before`, () => {
    assert.deepEqual(readProxyHeader(bytes), { fault });
    for (let cut = 0; cut < bytes.length; cut++) {
      const read = readProxyHeader(bytes.subarray(0, cut));
      assert.ok(read === 'more' || 'fault' in read, `${cut} bytes`);
    }
  });
}

test('every byte that is changed under a checksum is found', () => {
  const right = checked(`${V4} e00003 414243`);
  const typeOfChecksum = right.length - 7;
  for (let at = 0; at < right.length; at++) {
    // Of another type it is no checksum any more.
    if (at === typeOfChecksum) continue;
    const wrong = Buffer.from(right);
    wrong[at] = (wrong[at] as number) ^ 0x10;
    const read = readProxyHeader(wrong);
    // A length that grew asks for more, and never gets another answer than a refusal once that is there.
    const settled = read === 'more' ? readProxyHeader(Buffer.concat([wrong, Buffer.alloc(2_048)])) : read;
    assert.ok(settled !== 'more' && 'fault' in settled, `byte ${at}: ${JSON.stringify(settled)}`);
  }
});

test('the checksum is that of the standard', () => {
  // RFC 3720, B.4.
  assert.equal(crc32c(Buffer.alloc(32)), 0x8a9136aa);
  assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283);
});

test('what the agent writes for a service is read as it was meant, and nothing at random is read at all', () => {
  const v4 = fc.ipV4();
  const v6 = fc.ipV6().map((ip) => new URL(`http://[${ip}]`).hostname.slice(1, -1));
  const port = fc.integer({ min: 0, max: 65_535 });
  fc.assert(
    fc.property(fc.oneof(v4, v6), port, fc.oneof(v4, v6), port, (ip, from, remoteAddress, remotePort) => {
      const written = proxyHeader(visitorAddress(ip, from), { remoteAddress, remotePort });
      const read = readProxyHeader(written);
      assert.deepEqual(read, { size: written.length, from: { ip: plainIp(ip), port: from, secure: false } });
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 2_000 }), fc.boolean(), (bytes, signed) => {
      const start = signed ? Buffer.from(`${SIGNATURE}21`, 'hex') : Buffer.alloc(0);
      const read = readProxyHeader(Buffer.concat([start, bytes]));
      if (read === 'more') assert.ok(start.length + bytes.length < 1_040);
      else if ('size' in read) assert.ok(signed && read.size <= start.length + bytes.length);
    }),
  );
});
