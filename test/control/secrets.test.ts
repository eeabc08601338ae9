import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startHarness } from '../../src/control/core/testing/harness.ts';

function files(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test('no secret is stored in clear, and every file is private', async () => {
  const h = await startHarness();
  try {
    const password = h.server.firstOwner?.password.reveal() ?? '';
    const login = await h.call('POST', '/auth/login', { body: { email: 'admin@localhost', password } });
    const cookie = /qnt_refresh=([^;]*)/.exec(login.headers.get('set-cookie') ?? '')?.[1] ?? '';
    const token = await h.call('POST', '/tokens', { as: h.owner, body: { name: 'marker-of-this-test' } });
    const apiKey = String(token.body['apiKey']);
    const others = [await h.call('POST', '/tokens/master', { as: h.owner, body: { name: 'factory' } })];
    const master = String(others[0]?.body['apiKey']);
    others.push(await h.call('POST', '/projects/default/tokens', { as: master, body: { name: 'job' } }));
    others.push(await h.call('POST', `/tokens/${String(token.body['nonce'])}/rotate`, { as: h.owner }));
    const wire = Buffer.from(String(token.body['wireBytes']), 'base64');
    const secrets = [
      password,
      cookie,
      String(login.body['access_token']),
      apiKey,
      apiKey.slice(4),
      wire,
      wire.subarray(-64),
      String(token.body['wireBytes']),
      ...others.flatMap(({ body }) => [
        String(body['apiKey']).replace(/^mtk_(master_)?/, ''),
        Buffer.from(String(body['wireBytes']), 'base64').subarray(-64),
      ]),
    ];
    for (const secret of secrets) assert.ok(secret.length >= 20);
    const found = files(h.dataDir);
    assert.ok(found.length >= 5, found.join(' '));
    const all = found.map((file) => ({ file, bytes: readFileSync(file) }));
    assert.ok(
      all.some(({ bytes }) => bytes.includes('marker-of-this-test')),
      'the search finds what is there',
    );
    for (const { file, bytes } of all) {
      for (const secret of secrets) assert.ok(!bytes.includes(secret), `${file} holds a secret`);
      assert.equal(statSync(file).mode & 0o777, 0o600, file);
      // PKCS #8 of Ed25519 begins like this.
      if (!file.endsWith('.key'))
        assert.ok(!bytes.includes(Buffer.from('302e020100300506032b6570', 'hex')), `${file} holds a private key`);
    }
  } finally {
    await h.close();
  }
});
