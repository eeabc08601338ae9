// group: acme
/** A wildcard certificate by a program of the operator that writes DNS records: the whole product, pebble, and a DNS provider with an API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startOrigin } from '../harness.ts';
import { DOMAIN, startAcme } from '../harness/acme.ts';
import { startDns } from '../harness/dns.ts';
import { startDnsProvider } from '../harness/dns-provider.ts';
import { missing } from '../harness/tools.ts';

test('one certificate for all tunnels comes by the DNS hook, and is there after a restart', {
  skip: missing('pebble', 'curl'),
}, async (t) => {
  const dns = await startDns(t);
  const provider = await startDnsProvider(t, dns);
  const acme = `challenge = "dns-01"\ndns_hook = ${JSON.stringify(provider.hook)}\n`;
  const culvert = await startAcme(t, { dns, acme });
  const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
  await culvert.publish('http', port, { subdomain: 'shop' });

  const names = `DNS:*.${DOMAIN}, DNS:${DOMAIN}`;
  const first = (await culvert.shake(`shop.${DOMAIN}`)).getPeerX509Certificate();
  assert.equal(first?.subjectAltName, names);
  assert.equal((await culvert.shake(DOMAIN)).getPeerX509Certificate()?.serialNumber, first.serialNumber);
  const record = `_acme-challenge.${DOMAIN}`;
  // Two names, one record each, of the same name.
  const actions = [`present ${record}`, `present ${record}`, `cleanup ${record}`, `cleanup ${record}`];
  assert.deepEqual(provider.actions, actions);
  assert.deepEqual([...dns.txt.keys()], []);

  await culvert.restart();
  assert.equal((await culvert.shake(`shop.${DOMAIN}`)).getPeerX509Certificate()?.serialNumber, first.serialNumber);
  assert.deepEqual(provider.actions, actions);
});
