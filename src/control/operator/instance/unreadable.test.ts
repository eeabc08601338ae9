/** A secret of the dashboard that can't be decrypted: the server starts without it, says so, and takes a new one. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { inReverse } from '../../../../test/harness/ends.ts';
import { makeQuickHasher } from '../../../../test/harness/quick-hasher.ts';
import { startServer } from '../../../server/start.ts';
import { callerOf, FakeNode, LOOSE, startHarness } from '../../core/testing/harness.ts';
import { Lines } from '../../core/testing/log-lines.ts';
import { openDatabase } from '../../db/open.ts';

const ends = inReverse({ after });

test('instance: secrets that can not be decrypted stop no start, and turn off what needs them', async () => {
  const h = await startHarness(LOOSE, 'allow_private_jwks = true');
  ends.after(() => h.close());
  const set = (settings: object) => h.call('PATCH', '/superadmin/instance', { as: h.owner, body: { settings } });
  const first = await set({
    'server.name': 'Tunnels of Ann',
    'oauth.github.client_id': 'id',
    'oauth.github.client_secret': 'secret',
    'mail.transport': 'smtp',
    'mail.smtp_url': 'smtp://mail.example.test',
    'mail.from': 'a@example.test',
  });
  assert.equal(first.status, 200, first.text);
  const { firstOwner } = h.server;
  await h.server.close();
  const sqlite = openDatabase(h.dataDir);
  sqlite.prepare("UPDATE instance_settings SET sealed_value = 's1.AAAA' WHERE sealed_value IS NOT NULL").run();
  sqlite.close();

  const lines = new Lines();
  const again = await startServer(h.settings, {
    version: '9.9.9',
    log: lines.log,
    startNode: new FakeNode().start,
    makeHasher: makeQuickHasher,
  });
  ends.after(() => again.close());
  const call = callerOf(again.apiUrl);
  const errors = lines.all.filter(({ level, message }) => level === 'error' && /can't be decrypted/.test(message));
  assert.deepEqual(errors.map(({ fields }) => fields['key']).sort(), ['mail.smtp_url', 'oauth.github.client_secret']);
  assert.match(errors[0]?.message ?? '', /enter it again in the dashboard .* or restore the seal\.key/);
  const offered = async () => (await call('GET', '/auth/providers')).body;
  const { providers, mail, name } = await offered();
  assert.deepEqual([providers, mail, name], [[], 'off', 'Tunnels of Ann']);

  const login = { email: firstOwner?.email, password: firstOwner?.password.reveal() };
  const as = String((await call('POST', '/auth/login', { body: login })).body['access_token']);
  const titles = async () =>
    ((await call('GET', '/attention', { as })).body as unknown as ReadonlyArray<Record<string, unknown>>)
      .filter(({ object }) => (object as { id: string }).id === 'settings')
      .map(({ detail }) => String(detail));
  assert.match((await titles()).join(), /mail\.smtp_url.*oauth\.github\.client_secret|oauth\.github.*mail\.smtp_url/);
  const change = async (settings: object): Promise<void> => {
    const { status, text } = await call('PATCH', '/superadmin/instance', { as, body: { settings } });
    assert.equal(status, 200, text);
  };
  await change({ 'server.name': 'Another' });
  await change({ 'oauth.github.client_secret': 'a new one' });
  assert.equal(((await offered())['providers'] as unknown[]).length, 1);
  await change({ 'mail.smtp_url': null, 'mail.transport': null, 'mail.from': null });
  assert.deepEqual(await titles(), []);
});
