// group: acme
/** Certificates by ACME on the whole product: a real server, real agents, and pebble as the authority, which looks at the edge itself. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { startOrigin } from '../harness.ts';
import { type AcmeCulvert, DOMAIN, startAcme } from '../harness/acme.ts';
import type { Ends } from '../harness/ends.ts';
import { missing } from '../harness/tools.ts';

const skip = missing('pebble');
/** Pebble's path of orders, as its log has it. */
const ORDERED = /order-plz/;
const SHOP = `shop.${DOMAIN}`;

/** The body of the answer to a request on an open connection, which stays open. */
async function ask(socket: TLSSocket, host: string): Promise<string> {
  let text = '';
  const take = (bytes: Buffer): void => void (text += bytes.toString());
  socket.on('data', take);
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  for (;;) {
    const head = /^HTTP\/1\.1 200 [^]*?content-length: *(\d+)[^]*?\r\n\r\n/i.exec(text);
    if (head !== null && text.length >= head[0].length + Number(head[1])) {
      socket.off('data', take);
      return text.slice(head[0].length);
    }
    await once(socket, 'data');
  }
}

interface Row {
  readonly name: string;
  readonly state: string;
  readonly lastError: string | null;
  readonly failures: number;
  readonly nextAttemptAt: string;
}

async function rows(culvert: AcmeCulvert): Promise<readonly Row[]> {
  return (await culvert.account.call('GET', '/superadmin/certificates')).body as unknown as Row[];
}

function serial(socket: TLSSocket): string | undefined {
  return socket.getPeerX509Certificate()?.serialNumber;
}

async function startShop(t: Ends, acme = '') {
  const culvert = await startAcme(t, { acme });
  const { port } = await startOrigin(t, (_request, response) => {
    response.setHeader('content-length', 5);
    response.end('hello');
  });
  const { url } = await culvert.publish('http', port, { subdomain: 'shop' });
  assert.equal(url, `https://${SHOP}:${culvert.ports.https}`);
  return culvert;
}

for (const challenge of ['http-01', 'tls-alpn-01']) {
  test(`by ${challenge} the first visitors of a new tunnel get a certificate of the authority within the handshake`, {
    skip,
  }, async (t) => {
    const culvert = await startShop(t, `challenge = "${challenge}"`);
    const sockets = await Promise.all(Array.from({ length: 8 }, () => culvert.shake(SHOP)));
    assert.equal(new Set(sockets.map(serial)).size, 1, 'one certificate for all of them');
    for (const socket of sockets) assert.equal(await ask(socket, SHOP), 'hello');
    assert.match(culvert.pebble.log(), ORDERED);
    assert.deepEqual(
      (await rows(culvert)).map(({ name, state }) => [name, state]),
      [[SHOP, 'valid']],
    );
  });
}

test('names that lead nowhere get the stand-in and are never asked for', { skip }, async (t) => {
  const culvert = await startShop(t);
  for (const host of [`none.${DOMAIN}`, DOMAIN, `a.${SHOP}`, 'shop.example.net']) {
    assert.match(await culvert.shown(host), /localhost/, host);
  }
  assert.deepEqual(await rows(culvert), []);
  assert.doesNotMatch(culvert.pebble.log(), ORDERED);
});

test('a restart shows the same certificate without asking, and a renewal cuts no connection', { skip }, async (t) => {
  const culvert = await startShop(t);
  const first = serial(await culvert.shake(SHOP));
  await culvert.restart();
  assert.equal(await culvert.shown(SHOP), `DNS:${SHOP}`);
  const before = await culvert.shake(SHOP);
  assert.equal(serial(before), first);
  // The agent comes back by itself.
  while ((await culvert.account.call('GET', '/connections')).body['length'] === 0) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const open = await culvert.shake(SHOP);
  assert.equal(await ask(open, SHOP), 'hello');
  const asked = await culvert.account.call('POST', `/superadmin/certificates/${SHOP}/renew`);
  assert.equal(asked.status, 200);
  while (serial(await culvert.shake(SHOP)) === first) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(serial(open), first);
  assert.equal(await ask(open, SHOP), 'hello');
  assert.deepEqual(
    culvert.lines.filter((line) => line.startsWith(SHOP)),
    [`${SHOP}: a certificate was issued`, `${SHOP}: a certificate was renewed`],
  );
});

test('a custom domain gets its certificate once it is verified and bound', { skip }, async (t) => {
  const culvert = await startShop(t);
  const { account, dns } = culvert;
  const added = await account.call('POST', '/domains', { domain: 'shop.example.net' });
  const id = String(added.body['id']);
  const record = added.body['dnsRecord'] as { name: string; value: string };
  assert.deepEqual(added.body['certificate'], { state: 'none', expiresAt: null, lastError: null, nextAttemptAt: null });
  dns.txt.set(record.name, [[record.value]]);
  assert.equal((await account.call('POST', `/domains/${id}/verify`)).status, 200);
  assert.match(await culvert.shown('shop.example.net'), /localhost/, 'verified and not bound');
  const tunnels = (await account.call('GET', '/tunnels')).body as unknown as Array<{ id: string }>;
  assert.equal((await account.call('PUT', `/domains/${id}/bind`, { tunnel_id: tunnels[0]?.id })).status, 200);
  const socket = await culvert.shake('shop.example.net');
  assert.equal(await ask(socket, 'shop.example.net'), 'hello');
  const [domain] = (await account.call('GET', '/domains')).body as unknown as Array<{ certificate: Row }>;
  assert.equal(domain?.certificate.state, 'valid');
});

test('acme: the API shows a refusal by the authority, and the next order waits', { skip }, async (t) => {
  const culvert = await startAcme(t, { pebble: { refusedNames: [SHOP] } });
  const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
  await culvert.publish('http', port, { subdomain: 'shop' });
  for (let i = 0; i < 3; i++) assert.match(await culvert.shown(SHOP), /localhost/);
  const [row] = await rows(culvert);
  assert.deepEqual([row?.name, row?.state, row?.failures], [SHOP, 'failed', 1]);
  assert.match(row?.lastError ?? '', /./);
  assert.ok(Date.parse(row?.nextAttemptAt ?? '') > Date.now() + 4 * 60_000);
  const tunnels = (await culvert.account.call('GET', '/tunnels')).body as unknown as Array<{ id: string }>;
  const { body } = await culvert.account.call('GET', `/tunnels/${tunnels[0]?.id}`);
  assert.equal((body['certificate'] as Row).lastError, row?.lastError);
});
