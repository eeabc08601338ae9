/** Certificates by ACME on the whole product: a real server, real agents, and pebble as the authority, which looks at the edge itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startOrigin } from '../harness.ts';
import { DOMAIN, startAcme } from '../harness/acme.ts';

test('the first visitor of a new tunnel gets a certificate of the authority within the handshake', async (t) => {
  const culvert = await startAcme(t);
  const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
  const { url } = await culvert.publish('http', port, { subdomain: 'shop' });
  assert.equal(url, `https://shop.${DOMAIN}:${culvert.ports.https}`);
  const socket = await culvert.shake(`shop.${DOMAIN}`);
  assert.equal(socket.getPeerX509Certificate()?.subjectAltName, `DNS:shop.${DOMAIN}`);
});
