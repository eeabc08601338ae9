/** The API document against operations that succeed only behind an email, a code, an identity provider, payments, a certificate authority or a release. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Secret } from '../../src/base/secret.ts';
import { CertificateFixture } from '../../src/control/certificates/testing/certificate-fixture.ts';
import { Plane } from '../../src/control/core/testing/plane.ts';
import { servePlane } from '../../src/control/core/testing/plane-api.ts';
import { openBillingFixture } from '../../src/control/billing/testing.ts';
import { Team } from '../../src/control/core/testing/team.ts';
import { Browser } from '../harness/browser.ts';
import { newDataFolder } from '../harness/data-folder.ts';
import { inReverse } from '../harness/ends.ts';
import { OIDC_CLIENT, startOidc } from '../harness/oidc.ts';
import { makeFakeRelease } from '../release/fake-release.ts';
import { BEHIND, BEHIND_OTHERS, type Request, successFaults } from './behind.ts';
import type { NamedOperation } from './document.ts';
import { ApiTester } from './tester.ts';

let tester: ApiTester;
before(async () => {
  tester = await ApiTester.start();
});
after(() => tester.close());

function operationOf({ operations }: ApiTester, name: string): NamedOperation {
  const found = operations.find((one) => one.name === name);
  assert.ok(found !== undefined, name);
  return found;
}

const checked = new Set<string>();

/** Sends the request with this access token; what the document says otherwise. */
async function check(on: ApiTester, name: string, request: Request, token = ''): Promise<readonly string[]> {
  const operation = operationOf(on, name);
  checked.add(name);
  const sent = { method: operation.method, params: {}, query: {}, headers: {}, body: undefined, ...request };
  return successFaults(on, operation, await on.send(operation, sent, { person: { token } }));
}

test('API document: an operation behind a code, an email or another request succeeds as documented', async () => {
  const faults: string[] = [];
  for (const [name, prepare] of Object.entries(BEHIND)) {
    tester.forget();
    const caller = await tester.caller();
    const request = { ...tester.fitting(operationOf(tester, name), caller), ...(await prepare(tester, caller)) };
    faults.push(...(await check(tester, name, request, caller.person.token)));
  }
  assert.deepEqual(faults, []);
});

test('API document: logins of users and visitors with an identity provider succeed as documented', async (t) => {
  const ends = inReverse(t);
  const oidc = await startOidc(ends);
  oidc.people.set('ann', { email: 'ann@example.test', email_verified: true, name: 'Ann' });
  let url = '';
  const google = { clientId: OIDC_CLIENT.id, clientSecret: new Secret(OIDC_CLIENT.secret), issuer: oidc.issuer };
  const plane = new Plane(undefined, { apiUrl: () => url, oauth: { google, github: null } });
  ends.after(() => plane.close());
  const api = await servePlane(plane, { publicUrl: () => url });
  ends.after(() => api.close());
  url = `http://127.0.0.1:${api.port}`;
  const on = await ApiTester.over(plane, api);
  const owner = await new Team(plane, api).person('owner@example.test');
  const tunnelId = String((await owner.call('POST', '/tunnels', { localPort: 3000 })).body['id']);
  const lists = { allowed_domains: ['example.test'], allowed_emails: [] };
  assert.equal((await owner.call('PUT', `/tunnels/${tunnelId}/edge-auth`, lists)).status, 200);

  const params = { provider: 'google' };
  const query = { tunnel_id: tunnelId, nonce: 'n'.repeat(43) };
  const returned = async (start: string, callback: string): Promise<Request> => {
    oidc.register(`${url}${callback}`);
    const browser = new Browser();
    const back = await oidc.logIn(browser, `${url}${start}`, 'ann');
    const cookie = [...browser.cookies(url)].map(([name, value]) => `${name}=${value}`).join('; ');
    return { query: Object.fromEntries(back.searchParams), headers: { cookie } };
  };
  oidc.register(`${url}/auth/oauth/google/callback`);
  assert.deepEqual(
    [
      await check(on, 'GET /auth/oauth/{provider}/start', { params }),
      await check(on, 'POST /auth/oauth/{provider}/start', { params, body: { return_to: '/app/' } }),
      await check(on, 'GET /auth/oauth/{provider}/callback', {
        params,
        ...(await returned('/auth/oauth/google/start', '/auth/oauth/google/callback')),
      }),
      await check(on, 'GET /edge-auth/start', { query }),
      await check(
        on,
        'GET /edge-auth/callback',
        await returned(`/edge-auth/start?${new URLSearchParams(query)}`, '/edge-auth/callback'),
      ),
    ].flat(),
    [],
  );
});

test('API document: an event of the payment provider is received as documented', async (t) => {
  const { stripe, plane, api } = await openBillingFixture(inReverse(t));
  const on = await ApiTester.over(plane, api);
  const { body: raw, signature } = stripe.event('invoice.paid', { id: 'in_1', object: 'invoice' });
  const headers = { 'stripe-signature': signature };
  assert.deepEqual(await check(on, 'POST /billing/webhook', { raw, headers }), []);
});

test('API document: an operator renews a certificate as documented', async (t) => {
  const ends = inReverse(t);
  const fixture = await CertificateFixture.open(ends);
  const { plane } = fixture;
  const api = await servePlane(plane);
  ends.after(() => api.close());
  const on = await ApiTester.over(plane, api);
  const { person } = await on.caller();
  const { body } = await person.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop' });
  assert.equal(body['subdomain'], 'shop');
  await fixture.certificates.want('shop.edge.test');
  await fixture.tend();
  const params = { name: 'shop.edge.test' };
  assert.deepEqual(await check(on, 'POST /superadmin/certificates/{name}/renew', { params }, person.token), []);
});

test('API document: a file of a release is sent as documented', async (t) => {
  const ends = inReverse(t);
  const dataDir = newDataFolder();
  const releasesDir = join(dataDir, 'releases');
  const { key } = makeFakeRelease(join(releasesDir, '1.2.3'));
  const plane = new Plane(dataDir, { releases: { releasesDir, program: { version: '1.2.3', key: key.publicKey } } });
  ends.after(() => plane.close());
  const api = await servePlane(plane);
  ends.after(() => api.close());
  const on = await ApiTester.over(plane, api);
  assert.deepEqual(await check(on, 'GET /download/{file}', { params: { file: 'get.sh' } }), []);
});

test('API document: every operation that needs another service was sent here', () => {
  assert.deepEqual(
    BEHIND_OTHERS.filter((name) => !checked.has(name)),
    [],
  );
});
