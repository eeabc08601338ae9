// group: browser
/** From an empty organization to the first live tunnel, by what the page says and nothing else. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Ends, inReverse } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { culvertCommand } from '../harness/spawned.ts';
import { get } from '../harness/visitor.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };

suite('the first tunnel', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
  });

  test('first tunnel: the copied command runs as it is, and the page shows the live tunnel', async (t) => {
    const origin = await startOrigin(t, (_, answer) => answer.end('it works'));
    const page = await fixture.open(t, '/', { context: CLIPBOARD });
    await heading(page, 'Overview');
    await page.getByText('When the command runs, the public URL appears here.').waitFor();
    const before = await page.getByRole('group', { name: 'the command without its key' }).innerText();
    assert.match(before, /^CULVERT_TOKEN='<key>' culvert http 3000 --server http/);
    await noSeriousFinding(page);
    await shoot(page, 'first-tunnel');
    await page.getByLabel('Local port').fill(String(origin.port));
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('group', { name: 'Command with key' }).waitFor();
    await page.getByText('Waiting for the agent').waitFor();
    assert.equal(await focused(page), 'Command with key');
    // The command follows what is typed, with the key that is there.
    await page.getByLabel('Name (optional)').fill('shop');
    const shown = await page.getByRole('group', { name: 'the command', exact: true }).innerText();
    assert.match(
      shown,
      new RegExp(`^CULVERT_TOKEN=mtk_\\S+ culvert http ${origin.port} --subdomain shop --server http`),
    );
    await page.getByRole('button', { name: 'Copy the command', exact: true }).click();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.equal(copied, shown);
    await noSeriousFinding(page);
    await shoot(page, 'first-tunnel-command');

    runInShell(t, fixture, copied);
    await page.getByRole('heading', { name: 'Your tunnel is live' }).waitFor();
    assert.equal(await focused(page), 'Your tunnel is live');
    const link = page.getByRole('link', { name: /^http:\/\/shop\./ });
    const address = (await link.getAttribute('href')) ?? '';
    assert.equal((await get(`${address}/hello?x=<b>`, fixture.culvert.ports.http)).body, 'it works');
    await page.getByText('GET /hello?x=').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'first-tunnel-live');
    await page.getByRole('button', { name: 'Open overview' }).click();
    await page.getByRole('heading', { name: 'Traffic' }).waitFor();
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])',
    );
    assert.doesNotMatch(kept + page.url(), /mtk_/);
  });

  test('account: how to install the agent on another machine', async (t) => {
    const page = await fixture.open(t, '/account');
    // The server of the test runs from source and has no files.
    const download = page.getByRole('link', { name: 'Open the download page' });
    assert.match((await download.getAttribute('href')) ?? '', /\/download\/$/);
    await page.getByText('The server has no file for Linux yet.').waitFor();
  });

  test('first tunnel: a command by login and for Windows, and an invalid name is reported at its field', async (t) => {
    const ann = await fixture.person('ann@example.test');
    const page = await fixture.open(t, '/', { as: ann, context: { viewport: PHONE } });
    await heading(page, 'Overview');
    await page.getByText('Logged in', { exact: true }).click();
    await page.getByText('Windows', { exact: true }).click();
    const command = page.getByRole('group', { name: 'the command', exact: true });
    assert.match(await command.innerText(), /^culvert http 3000 --server 'http/);
    assert.match(
      await page.getByRole('group', { name: 'the command to log in' }).innerText(),
      /^culvert login --server 'http/,
    );
    await page.getByText('TCP', { exact: true }).click();
    await page.getByLabel('Name (optional)').fill('-no-');
    await page.getByText('Use a to z').waitFor();
    assert.match(await command.innerText(), /^culvert tcp 5432 --server 'http/);
    assert.deepEqual(await tokensOf(page), []);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await noSeriousFinding(page);
    await shoot(page, 'first-tunnel-phone');
  });

  test('first tunnel: a viewer is offered no key', async (t) => {
    const bob = await fixture.person('bob@example.test');
    const page = await fixture.open(t, '/', { as: bob });
    await page.getByRole('button', { name: 'Create key' }).waitFor();
    await page.route('**/auth/me', async (route) => {
      const answer = await route.fetch();
      const account = (await answer.json()) as { active_org: object };
      await route.fulfill({ json: { ...account, active_org: { ...account.active_org, role: 'viewer' } } });
    });
    await page.reload();
    await page.getByText("Viewers can't publish services").waitFor();
    assert.equal(await page.getByRole('button', { name: /key/ }).count(), 0);
  });
});

/** What has the keyboard's place, by its name. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
  );
}

/** Names of the keys of the signed-in user. */
async function tokensOf(page: Page): Promise<unknown> {
  return page.evaluate(
    `fetch('/auth/refresh', { method: 'POST' }).then((answer) => answer.json())
      .then(({ access_token }) => fetch('/tokens', { headers: { authorization: 'Bearer ' + access_token } }))
      .then((answer) => answer.json()).then((list) => list.map(({ name }) => name))`,
  );
}

/** Runs a line as a person would type it: `culvert` is in the PATH, and nothing of Culvert's is in the environment. */
function runInShell(t: Ends, { culvert }: Fixture, line: string): void {
  const home = join(culvert.folder, 'visitor-of-the-page');
  mkdirSync(home, { mode: 0o700 });
  const words = culvertCommand().map((word) => `'${word}'`);
  writeFileSync(join(home, 'culvert'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 });
  // A group of its own: ending the shell alone would leave the agent.
  const child = spawn('sh', ['-c', line], {
    cwd: home,
    env: { PATH: `${home}${delimiter}${process.env['PATH']}`, HOME: home, XDG_RUNTIME_DIR: home },
    stdio: 'ignore',
    detached: true,
  });
  const ended = once(child, 'close');
  t.after(async () => {
    if (child.pid !== undefined) process.kill(-child.pid);
    await ended;
  });
}
