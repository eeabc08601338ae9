/** Certificates as operators and owners see them over HTTP. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AcmeError } from '../providers/acme/contract.ts';
import { CertificateFixture } from './testing/certificate-fixture.ts';
import { VISIT } from '../core/testing/plane.ts';
import { servePlane } from '../core/testing/plane-api.ts';

const NONE = { state: 'none', expiresAt: null, lastError: null, nextAttemptAt: null };

test('operators list certificates by name and ask for one, owners see theirs, and no other user', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const { plane } = fixture;
  const api = await servePlane(plane);
  t.after(() => api.close());
  const bearerOf = async (email: string, superadmin: boolean): Promise<string> => {
    const made = await plane.control.accounts.createUser({ email, name: '', plan: 'enterprise', superadmin });
    const done = await plane.control.sessions.login({ email, password: made.password.reveal() }, VISIT);
    assert.ok('accessToken' in done);
    return done.accessToken;
  };
  const root = await bearerOf('root@example.test', true);
  const ann = await bearerOf('ann@example.test', false);
  const actor = await plane.control.sessions.authenticate(ann, '192.0.2.1');
  assert.ok(actor !== undefined);
  const tunnel = plane.create(actor, { subdomain: 'shop' }).row;
  const tcp = plane.create(actor, { subdomain: 'port', protocol: 'tcp' }).row;
  fixture.domain(actor, 'shop.example.net', tunnel.id);
  const ofTunnel = async (id: string) => (await api.call('GET', `/tunnels/${id}`, { as: ann })).body['certificate'];
  assert.deepEqual(await ofTunnel(tunnel.id), NONE);
  assert.equal(await ofTunnel(tcp.id), null);
  const { body: domains } = await api.call('GET', '/domains', { as: ann });
  assert.deepEqual((domains as Array<{ certificate: unknown }>)[0]?.certificate, NONE);

  fixture.authority.fault = new AcmeError('connection', 'no server on port 80');
  await fixture.certificates.want('shop.edge.test');
  fixture.authority.fault = undefined;
  await fixture.tend();
  const next = new Date(plane.now + 300_000).toISOString();
  const failed = { state: 'failed', expiresAt: null, lastError: 'no server on port 80', nextAttemptAt: next };
  assert.deepEqual(await ofTunnel(tunnel.id), failed);
  const list = await api.call('GET', '/superadmin/certificates', { as: root });
  assert.deepEqual(
    (list.body as Array<{ name: string; state: string }>).map(({ name, state }) => [name, state]),
    [
      ['shop.edge.test', 'failed'],
      ['shop.example.net', 'valid'],
    ],
  );
  const lastAttemptAt = new Date(plane.now).toISOString();
  assert.deepEqual(list.body[0], { name: 'shop.edge.test', ...failed, failures: 1, lastAttemptAt });
  const page = await api.call('GET', '/superadmin/certificates?limit=1&after=shop.edge.test', { as: root });
  assert.deepEqual(page.body, [list.body[1]]);

  const renew = (name: string, as = root) => api.call('POST', `/superadmin/certificates/${name}/renew`, { as });
  assert.equal((await renew('shop.edge.test', ann)).status, 403);
  assert.deepEqual([(await renew('none.edge.test')).status, (await renew('%2A.edge.test')).status], [404, 404]);
  const gate = Promise.withResolvers<void>();
  fixture.authority.hold = gate.promise;
  const asked = await renew('SHOP.edge.test');
  assert.deepEqual([asked.status, asked.body['state']], [200, 'pending']);
  assert.equal((await renew('shop.edge.test')).status, 409);
  gate.resolve();
  await fixture.settle();
  assert.equal(((await ofTunnel(tunnel.id)) as { state: string }).state, 'valid');
});
