/** Why there is no session: a wrong clock and an expired certificate are named as such, over real TLS. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { test } from 'node:test';
import { connectFault, lostBy } from './lost.ts';
import { UnreachableError } from './connect/reachability.ts';
import { testCertificate } from '../data/fixtures/certificate.ts';
import { dialServer } from './connect/dial.ts';

const NOW = Date.UTC(2031, 0, 2, 10, 30);
const failed = (code: string): Error => Object.assign(new Error('raw'), { code });

test('lost: a certificate outside of its dates is reported with the clock that was used', () => {
  const expired = connectFault(failed('CERT_HAS_EXPIRED'), NOW);
  assert.match(
    expired,
    /has expired according to this computer's clock \(2031-01-02 10:30 UTC\)\. Set the clock if it is wrong/,
  );
  assert.match(connectFault(failed('CERT_NOT_YET_VALID'), NOW), /is not valid yet according to this computer's clock/);
  assert.equal(connectFault(failed('ECONNRESET'), NOW), 'raw');
});

test('lost: each cause has a stable word, wherever in the chain it stands', () => {
  const word = (error: unknown): string => lostBy(error).code;
  assert.equal(word(new Error('x', { cause: failed('CERT_HAS_EXPIRED') })), 'certificate_expired');
  assert.equal(word(failed('CERT_NOT_YET_VALID')), 'certificate_not_yet_valid');
  assert.equal(word(failed('DEPTH_ZERO_SELF_SIGNED_CERT')), 'certificate_refused');
  assert.equal(word(failed('ERR_TLS_CERT_ALTNAME_INVALID')), 'certificate_refused');
  const place = { host: 'x', port: 1 };
  assert.equal(word(new UnreachableError('x', place, { cause: failed('ENOTFOUND') })), 'name_not_found');
  assert.equal(word(new UnreachableError('x', place, { cause: failed('ECONNREFUSED') })), 'unreachable');
  assert.equal(word(new Error('answers 404')), 'connect_failed');
});

test('lost: a server whose certificate no authority signed is called refused when it is not pinned', async (t) => {
  const { cert, key } = await testCertificate();
  const server = createServer({ cert, key, ALPNProtocols: ['culvert/1'] }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const error = await dialServer({ host: '127.0.0.1', port, fingerprint: undefined }).catch((cause: unknown) => cause);
  assert.equal(lostBy(error).code, 'certificate_refused');
});
