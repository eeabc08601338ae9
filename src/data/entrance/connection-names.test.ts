import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { ConnectionNames } from './connection-names.ts';

/** A connection whose visitor gave this server name, with a certificate that names `shop.example.test` alone. */
const namesOf = (servername: string | false): ConnectionNames =>
  new ConnectionNames({
    servername,
    getX509Certificate: () => ({ checkHost: (name: string) => (name === 'shop.example.test' ? name : undefined) }),
  } as unknown as TLSSocket);

test('a connection is asked for the name that its visitor gave, and for those of its certificate', () => {
  const names = namesOf('Other.example.test.');
  for (const host of ['other.example.test', 'OTHER.example.test.', 'shop.example.test', 'SHOP.example.test'])
    assert.ok(names.allow(host), host);
  assert.ok(!names.allow('third.example.test'));
});

test('where no name was given, or an address for one, there is nothing to compare with', () => {
  for (const given of [false, '', '127.0.0.1', '::1'] as const)
    assert.ok(namesOf(given).allow('any.example.test'), String(given));
});
