/** The header that tells a local TCP service who the visitor is, byte by byte as its specification has it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VisitorAddress } from '../../wire/preamble.ts';
import { proxyHeader } from './proxy-header.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a';
const IPV4: VisitorAddress = { family: 4, bytes: Uint8Array.of(203, 0, 113, 7), port: 0xabcd };
const IPV6: VisitorAddress = { family: 6, bytes: Buffer.from('20010db8000000000000000000000042', 'hex'), port: 443 };
const V6_CLOTHES = '00000000000000000000ffff';

const CASES: ReadonlyArray<readonly [string, VisitorAddress | undefined, string | undefined, string]> = [
  ['IPv4 to IPv4', IPV4, '127.0.0.1', '2111000ccb0071077f000001abcd1538'],
  ['IPv4 to IPv4 in its IPv6 clothes', IPV4, '::ffff:127.0.0.1', '2111000ccb0071077f000001abcd1538'],
  ['IPv6 to IPv6', IPV6, '::1', `2121002420010db8000000000000000000000042${'0'.repeat(31)}101bb1538`],
  [
    'IPv6 to a link-local address with its zone',
    IPV6,
    'fe80::1:2%eth0',
    '2121002420010db8000000000000000000000042fe80000000000000000000000001000201bb1538',
  ],
  ['IPv4 to IPv6', IPV4, '::1', `21210024${V6_CLOTHES}cb007107${'0'.repeat(31)}1abcd1538`],
  ['IPv6 to IPv4', IPV6, '10.0.0.9', `2121002420010db8000000000000000000000042${V6_CLOTHES}0a00000901bb1538`],
  ['a visitor without an address', undefined, '127.0.0.1', '21000000'],
  ['a service that has left already', IPV4, undefined, '21000000'],
];

for (const [name, visitor, remoteAddress, wanted] of CASES) {
  test(`the header: ${name}`, () => {
    assert.equal(proxyHeader(visitor, { remoteAddress, remotePort: 5432 }).toString('hex'), SIGNATURE + wanted);
  });
}
