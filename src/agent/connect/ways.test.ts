import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { AgentAddress } from './discovery.ts';
import { addressesOf, dialFirst, wayName, Ways } from './ways.ts';

const OWN: AgentAddress = { host: 'agents.example', port: 7443, fingerprint: undefined };
const HTTPS: AgentAddress = { host: 'culvert.example', port: 443, fingerprint: undefined };
const DOCUMENT = { version: '1', agent_address: 'agents.example:7443', edge_domain: 'example' };
const never = new AbortController().signal;

/** A connection that notes its end. */
function fakeSocket() {
  const socket = { destroyed: false, destroy: () => (socket.destroyed = true) };
  return socket as unknown as TLSSocket & { destroyed: boolean };
}

test('ways: the announced addresses come first, then port 443 of the API', () => {
  const of = (server: string, more: object = {}): string[] =>
    addressesOf({ ...DOCUMENT, ...more }, new URL(server)).map(wayName);
  assert.deepEqual(of('https://culvert.example:8443'), ['agents.example:7443', 'culvert.example:443']);
  assert.deepEqual(of('http://127.0.0.1:9090'), ['agents.example:7443']);
  const both = { agent_addresses: ['agents.example:7443', 'culvert.example:443'] };
  assert.deepEqual(of('https://culvert.example', both), both.agent_addresses);
  assert.deepEqual(of('https://[2001:db8::1]'), ['agents.example:7443', '[2001:db8::1]:443']);
});

test('ways: the one on which the server took the key is tried first from then on, in the next run too', () => {
  let kept: string | undefined;
  const store = { read: () => kept, keep: (address: string) => (kept = address) };
  const ways = new Ways(store);
  assert.deepEqual(ways.order([OWN, HTTPS]), [OWN, HTTPS]);
  ways.proven(HTTPS);
  assert.equal(kept, 'culvert.example:443');
  assert.deepEqual(new Ways(store).order([OWN, HTTPS]), [HTTPS, OWN]);
  ways.failed(HTTPS, [HTTPS, OWN]);
  assert.deepEqual(ways.order([OWN, HTTPS]), [OWN, HTTPS], 'a connection that came to nothing');
});

test('dialing: an address that does not respond is left for the next after 300 ms', async () => {
  const begun: number[] = [];
  const at = performance.now();
  const socket = fakeSocket();
  let given: AbortSignal | undefined;
  const won = await dialFirst([OWN, HTTPS], never, (address, signal) => {
    begun.push(performance.now() - at);
    given = signal;
    return address === HTTPS ? Promise.resolve(socket) : new Promise(() => undefined);
  });
  assert.deepEqual([won.address, won.socket === socket, socket.destroyed], [HTTPS, true, false]);
  assert.ok((begun[1] ?? 0) >= 290, String(begun));
  assert.equal(given?.aborted, true, 'the other attempt ends');
});

test('dialing: an address that refuses is left at once, and a late connection is closed', async () => {
  const dialing = dialFirst([OWN, HTTPS], never, (address) =>
    address === OWN ? Promise.reject(new Error('refused')) : Promise.resolve(fakeSocket()),
  );
  // No timer comes before the end of this turn.
  const refused = await Promise.race([dialing, new Promise<undefined>((resolve) => setImmediate(resolve, undefined))]);
  assert.equal(refused?.address, HTTPS);
  const late = fakeSocket();
  const slow = Promise.withResolvers<TLSSocket>();
  await dialFirst([OWN, HTTPS], never, (address) => (address === OWN ? slow.promise : Promise.resolve(fakeSocket())));
  slow.resolve(late);
  await slow.promise;
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(late.destroyed, true);
});

test('dialing: when no address works, the first one says why', async () => {
  const dial = (address: AgentAddress) => Promise.reject(new Error(wayName(address)));
  await assert.rejects(dialFirst([HTTPS, OWN], never, dial), /culvert\.example:443/);
});
