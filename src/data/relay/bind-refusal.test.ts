/** The message to an agent about a port that the system refuses, by real errors of the system where a test can cause them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindDatagrams } from '../../base/udp/datagrams.ts';
import { bindRefusal } from './bind-refusal.ts';

async function refusalAt(host: string, port: number): Promise<string> {
  try {
    const socket = await bindDatagrams({ host, port, onDatagram: () => {}, onError: () => {} });
    socket.close();
  } catch (error) {
    const { code, message } = bindRefusal(error, host, port);
    assert.equal(code, 'no_port_free', 'a relay tries again');
    return message;
  }
  return assert.fail('the port was bound');
}

test('another program, and how to find it', async (t) => {
  const other = await bindDatagrams({ host: '127.0.0.1', port: 0, onDatagram: () => {}, onError: () => {} });
  t.after(() => other.close());
  const message = await refusalAt('127.0.0.1', other.port);
  assert.match(
    message,
    new RegExp(`UDP port ${other.port} .*: another program uses it.*ss -ulpn sport = :${other.port}`),
  );
});

test('an address that the machine does not have is a matter of udp_host, and of no other program', async () => {
  const message = await refusalAt('192.0.2.1', 30_000);
  assert.match(message, /has the address 192\.0\.2\.1 \(EADDRNOTAVAIL\).*edge\.udp_host/);
  assert.doesNotMatch(message, /another program/);
});

for (const [code, words] of [
  ['EACCES', /\(EACCES\).*above 1023.*CAP_NET_BIND_SERVICE/],
  ['EMFILE', /\(EMFILE\).*LimitNOFILE/],
  ['ENOBUFS', /ENOBUFS.*server log/],
] as const)
  test(`${code} has its own words`, () => {
    const { message } = bindRefusal(Object.assign(new Error('bind'), { code }), '0.0.0.0', 30_000);
    assert.match(message, words);
    assert.doesNotMatch(message, /another program/);
  });
