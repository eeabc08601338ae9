/** Which server gets the key that a program gives, and the way there. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connectionOf } from './settings.ts';

const TOKEN = 'mtk_not_a_real_key_0123456789';

/** The program runs in a folder with this settings file. */
function inFolder(t: TestContext, text: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-sdk-'));
  writeFileSync(join(folder, 'culvert.toml'), text);
  const [before, home, proxy] = [process.cwd(), process.env['HOME'], process.env['HTTPS_PROXY']];
  process.chdir(folder);
  process.env['HOME'] = folder;
  t.after(() => {
    process.chdir(before);
    for (const [name, value] of Object.entries({ HOME: home, HTTPS_PROXY: proxy })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(folder, { recursive: true });
  });
}

test('settings: a server that only ./culvert.toml names does not get the key of the program', (t) => {
  inFolder(t, 'server = "https://evil.test"\n');
  assert.throws(() => connectionOf({ token: TOKEN }), /access key [^]* was not sent/);
  assert.equal(connectionOf({ token: TOKEN, server: 'https://evil.test' }).server.href, 'https://evil.test/');
});

test('settings: the program goes through the proxy of its environment', async (t) => {
  inFolder(t, '');
  process.env['HTTPS_PROXY'] = 'http://proxy.test:3128';
  const { token, outbound } = connectionOf({ token: TOKEN, server: 'https://culvert.test' });
  assert.equal(await token(), TOKEN);
  assert.equal(outbound.proxyFor({ host: 'culvert.test', port: 443 })?.host, 'proxy.test');
  process.env['HTTPS_PROXY'] = 'nonsense://';
  assert.throws(() => connectionOf({ token: TOKEN, server: 'https://culvert.test' }), { code: 'usage' });
});
