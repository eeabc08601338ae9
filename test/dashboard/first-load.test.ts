/** What a browser fetches before the dashboard stands: bounded, packed, cached for ever, and nothing besides. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { NO_CHROMIUM, startWorld, type World } from './world.ts';

/** Of all that the way in needs, as it comes over the line: the entry with its sheet, and the chunk of the way in. */
const MAX_BYTES = 300_000;

suite('the first load', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let world: World;
  before(async () => {
    world = await startWorld(ends);
  });

  test('the way in needs at most 300 KB, and the second visit fetches nothing but the document', async (t) => {
    const page = await world.open(t, '/', { as: null });
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    const first = await transferred(page);
    assert.ok(first.length > 3, 'nothing was fetched');
    const bytes = first.reduce((sum, { size }) => sum + size, 0);
    assert.ok(bytes <= MAX_BYTES, `${bytes} bytes: ${JSON.stringify(first)}`);
    assert.ok(bytes > 50_000, `${bytes} bytes are too few to be true`);
    await page.reload();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    const second = (await transferred(page)).filter(({ name, size }) => size > 0 && name.includes('/assets/'));
    assert.deepEqual(second, []);
  });

  test('files come packed as the client takes them, and all ways hold the same', async () => {
    const at = `${world.culvert.apiUrl}/app/`;
    const document = await (await fetch(at)).text();
    const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(document) ?? [];
    const bodies = new Set<string>();
    for (const coding of ['br', 'gzip', 'identity', 'br;q=0, gzip', 'zstd']) {
      const answer = await fetch(at + script, { headers: { 'accept-encoding': coding } });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(answer.headers.get('vary'), 'Accept-Encoding');
      const expected = coding.includes('gzip') ? 'gzip' : coding === 'br' ? 'br' : null;
      assert.equal(answer.headers.get('content-encoding'), expected, coding);
      bodies.add(await answer.text());
    }
    assert.equal(bodies.size, 1);
  });

  async function transferred(page: Awaited<ReturnType<World['open']>>): Promise<{ name: string; size: number }[]> {
    return page.evaluate(
      "performance.getEntriesByType('resource').map(({ name, transferSize }) => ({ name, size: transferSize }))",
    );
  }
});
