/** `npm run quickstart` does what docs/quickstart.md shows: each URL that it prints is there. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Program } from '../scripts/quickstart/program.ts';
import { startTrialServer } from '../scripts/quickstart/server.ts';
import { tempHome } from '../src/cli/fixtures/program.ts';
import { inReverse } from './harness/ends.ts';
import { culvertCommand } from './harness/spawned.ts';

const root = new URL('..', import.meta.url).pathname;
const script = new URL('../scripts/quickstart.ts', import.meta.url).pathname;

test('quickstart: publishes a website and prints the URL of the local inspector', { timeout: 240_000 }, async (t) => {
  const quickstart = new Program({ command: [process.execPath, script], args: [] });
  t.after(() => quickstart.stop());
  const page = await quickstart.printed(/(http:\S+) +local inspector|no port is free for the local inspector/m);
  await quickstart.printed(/^Press Ctrl-C/m);
  // Twenty agents on this machine have taken all its ports: it has said so.
  if (!page.startsWith('http')) return;
  // What it shows can be typed as it stands.
  const shown = await quickstart.printed(/^ {3}npm run -s culvert -- (http 3000 .*) {3}# /m);
  const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { scripts: { culvert: string } };
  // Not by npm itself: the shell that it starts does not pass a signal on.
  const agent = new Program({ command: scripts.culvert.split(' '), args: shown.split(' '), cwd: root });
  t.after(() => agent.stop());
  await agent.printed(/^http:\S+\.localhost:\d+$/m);
  const { requests } = (await (await fetch(`${page}/api/requests/http`)).json()) as { requests: { uri: string }[] };
  assert.equal(requests.length, 1, 'the visit that it made itself is on the page');
  assert.equal(await quickstart.stop(), 0);
});

test('quickstart: of two that start at once each has ports of its own', { timeout: 120_000 }, async (context) => {
  const t = inReverse(context);
  const start = async () => {
    const folder = tempHome(context);
    const server = await startTrialServer(folder, {
      command: culvertCommand(),
      cwd: folder,
      env: {},
    });
    t.after(() => server.program.stop());
    return server;
  };
  const [one, other] = await Promise.all([start(), start()]);
  assert.notEqual(one.apiUrl, other.apiUrl);
  assert.notEqual(one.httpPort, other.httpPort);
});
