// group: browser
/** What a page of a tunnel can do to a login of the dashboard below the same domain, in a real browser over https. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { silentLog } from '../../src/base/log.ts';
import { checkServerConfig } from '../../src/config/load.ts';
import { startServer } from '../../src/server/start.ts';
import { FakeNode } from '../../src/control/core/testing/harness.ts';
import { NO_CHROMIUM, openTab, signIn, startChromium } from '../harness/chromium.ts';
import { freePorts } from '../harness/config.ts';
import { newDataFolder } from '../harness/data-folder.ts';
import { inReverse } from '../harness/ends.ts';
import { makeQuickHasher } from '../harness/quick-hasher.ts';

test('planted session: a page of a tunnel neither logs its visitor in as another user nor locks them out', {
  timeout: 120_000,
  skip: NO_CHROMIUM,
}, async (context) => {
  const t = inReverse(context);
  const dataDir = newDataFolder();
  t.after(() => rmSync(dataDir, { recursive: true }));
  const { api: port, https } = await freePorts();
  const dashboard = `https://culvert.example.test:${port}`;
  const { settings } = checkServerConfig(
    `data_dir = "${dataDir}"
[api]
listen = "127.0.0.1:${port}"
tls = true
public_url = "${dashboard}"
[edge]
domain = "example.test"
http_listen = ""
https_listen = "127.0.0.1:${https}"
tcp_ports = ""
[edge.tls]
mode = "self_signed"
[agents]
listen = "127.0.0.1:0"
[limits]
auth_burst = 100`,
    'test.toml',
  );
  const options = { version: '1', log: silentLog, startNode: new FakeNode().start, makeHasher: makeQuickHasher };
  const server = await startServer(settings, options);
  t.after(() => server.close());
  const owner = { email: 'admin@localhost', password: server.firstOwner?.password.reveal() ?? '' };

  const browser = await startChromium(t, ['--host-resolver-rules=MAP *.example.test 127.0.0.1']);
  const newContext = async () => {
    const made = await browser.newContext({ ignoreHTTPSErrors: true });
    t.after(() => made.close());
    return made;
  };
  const attacker = await newContext();
  const desk = await openTab(t, attacker);
  await desk.goto(`${dashboard}/health`);
  const login = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(owner) };
  assert.equal(await desk.evaluate(`fetch('/auth/login', ${JSON.stringify(login)}).then(({ status }) => status)`), 200);
  const theirs = new Map((await attacker.cookies(dashboard)).map(({ name, value }) => [name, value]));
  assert.deepEqual([...theirs.keys()].sort(), ['__Host-qnt_bind', 'qnt_refresh']);

  const victim = await newContext();
  const page = await openTab(t, victim);
  await page.goto(`https://shop.example.test:${port}/health`);
  const plant = (name: string, value: string | undefined, path: string): string =>
    `${name}=${value ?? ''}; Domain=example.test; Path=${path}; Secure`;
  const cookies = [
    ...['/', '/auth', '/auth/', '/auth/refresh', '/app'].map((path) =>
      plant('qnt_refresh', theirs.get('qnt_refresh'), path),
    ),
    ...['', '=', '\u2000'].map((lead) => plant(`${lead}__Host-qnt_bind`, theirs.get('__Host-qnt_bind'), '/')),
  ];
  await page.evaluate(`for (const cookie of ${JSON.stringify(cookies)}) document.cookie = cookie`);
  const planted = (await victim.cookies(`${dashboard}/auth/refresh`)).map(({ name }) => name);
  assert.ok(planted.filter((name) => name === 'qnt_refresh').length >= 4, 'the plant has worked');
  assert.ok(!planted.includes('__Host-qnt_bind'));

  const device = `${dashboard}/app/cli?device_code=${randomBytes(32).toString('base64url')}`;
  await page.goto(device);
  await page.getByLabel('Password').first().waitFor();
  assert.equal(await page.getByText('Logged in as').count(), 0, 'no user is logged in');
  await signIn(page, owner);
  await page.getByText('Logged in as admin@localhost').waitFor();
  for (let reloads = 0; reloads < 3; reloads++) {
    await page.goto(device);
    await page.getByText('Logged in as admin@localhost').waitFor();
  }
});
