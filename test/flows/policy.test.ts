/** A traffic policy on the whole product: put by the API, carried out at the edge from the next request on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCulvert, startOrigin } from '../harness.ts';

test('what a policy refuses never reaches the service, and what it sets does', async (t) => {
  const culvert = await startCulvert(t);
  const asked: string[] = [];
  const origin = await startOrigin(t, (request, response) => {
    asked.push(request.url ?? '');
    response.end(String(request.headers['x-tenant']));
  });
  const { url } = await culvert.publish('http', origin.port, { subdomain: 'shop' });
  const [tunnel] = (await culvert.account.call('GET', '/tunnels')).body as unknown as Array<{ id: string }>;
  const path = `/tunnels/${tunnel?.id}/policy`;
  assert.equal((await culvert.get(`${url}/admin`)).status, 200);

  const policy = {
    actions: [
      { kind: 'deny', path_prefix: '/admin' },
      { kind: 'header_set', name: 'X-Tenant', value: 'blue' },
      { kind: 'rate_limit', requests_per_minute: 1, per_client_ip: true },
    ],
  };
  assert.equal((await culvert.account.call('PUT', path, policy)).status, 200);
  const denied = await culvert.get(`${url}/shop/..%2fadmin`);
  assert.deepEqual([denied.status, denied.code], [403, 'denied']);
  const passed = await culvert.get(`${url}/shop`);
  assert.deepEqual([passed.status, passed.body], [200, 'blue']);
  const limited = await culvert.get(`${url}/shop`);
  assert.deepEqual([limited.status, limited.code], [429, 'rate_limited']);
  assert.deepEqual(asked, ['/admin', '/shop']);

  assert.equal((await culvert.account.call('DELETE', path)).status, 200);
  assert.equal((await culvert.get(`${url}/admin`)).body, 'undefined');
});

test('policy: a JWT check without keys accepts members of the tunnel’s organization, and hides their tokens from the service', async (t) => {
  const culvert = await startCulvert(t);
  const origin = await startOrigin(t, (request, response) => response.end(String(request.headers.authorization)));
  const { url } = await culvert.publish('http', origin.port, { subdomain: 'shop' });
  const { account } = culvert;
  const [tunnel] = (await account.call('GET', '/tunnels')).body as unknown as Array<{ id: string }>;
  const policy = { actions: [{ kind: 'jwt_validation' }] };
  assert.equal((await account.call('PUT', `/tunnels/${tunnel?.id}/policy`, policy)).status, 200);
  const elsewhere = await account.call('POST', '/orgs', { name: 'Elsewhere' });
  const switched = await account.call('POST', '/auth/switch-org', { org_id: elsewhere.body['id'] });
  assert.equal(switched.status, 200);
  for (const bearer of [undefined, 'a.b.c', culvert.token, String(switched.body['access_token'])]) {
    const refused = await culvert.get(url, bearer);
    assert.deepEqual([refused.status, refused.code], [401, 'invalid_token']);
  }
  // Once decided later, once at once.
  for (let i = 0; i < 2; i++) {
    const passed = await culvert.get(url, account.bearer);
    assert.deepEqual([passed.status, passed.body], [200, 'undefined']);
  }
});
