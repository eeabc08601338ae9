/** A custom domain from its first to its last request: real server, real agent, a DNS server that tests may write in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Account, startCulvert, startOrigin } from '../harness.ts';
import { startDns } from '../harness/dns.ts';

const NAME = 'shop.example.net';

test('domain: a verified and bound one reaches the service until it is unbound, and no other organization can take it', async (t) => {
  const dns = await startDns(t);
  const culvert = await startCulvert(t, `[dns]\nresolvers = ["${dns.address}"]`);
  const { account } = culvert;
  const { port } = await startOrigin(t, (request, response) =>
    response.end(`${request.headers.host} ${request.headers['x-forwarded-host']}`),
  );
  await culvert.publish('http', port, { subdomain: 'shop' });
  const tunnels = (await account.call('GET', '/tunnels')).body as unknown as Array<{ id: string }>;
  const visit = async () => {
    const { status, code, body } = await culvert.get(`http://${NAME}/`);
    return status === 200 ? body : [status, code];
  };
  const NOWHERE = [404, 'tunnel_not_found'];

  const added = await account.call('POST', '/domains', { domain: NAME });
  assert.equal(added.status, 201);
  const id = String(added.body['id']);
  const record = added.body['dnsRecord'] as { name: string; value: string };
  assert.equal((await account.call('POST', `/domains/${id}/verify`)).status, 400);
  dns.txt.set(record.name, [[record.value]]);
  assert.equal((await account.call('POST', `/domains/${id}/verify`)).body['verified'], true);
  assert.deepEqual(await visit(), NOWHERE, 'verified and not bound');
  const bound = await account.call('PUT', `/domains/${id}/bind`, { tunnel_id: tunnels[0]?.id });
  assert.equal(bound.status, 200);
  assert.equal(await visit(), `${NAME} ${NAME}`, 'with the Host that the visitor sent');

  const other = await account.call('POST', '/superadmin/users', { email: 'eve@example.test' });
  const eve = await Account.logIn(account.apiUrl, 'eve@example.test', String(other.body['password']));
  const taken = await eve.call('POST', '/domains', { domain: NAME });
  assert.deepEqual([taken.status, taken.body['error']], [409, 'duplicate_name']);
  assert.equal((await eve.call('DELETE', `/domains/${id}/bind`)).status, 404);
  assert.equal(await visit(), `${NAME} ${NAME}`);

  assert.equal((await account.call('DELETE', `/domains/${id}/bind`)).status, 200);
  assert.deepEqual(await visit(), NOWHERE);
});
