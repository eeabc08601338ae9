// group: browser
/** What a browser fetches before the dashboard stands: bounded, packed, cached for ever, and nothing besides. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { heading, NO_CHROMIUM, startFixture, type Fixture } from './fixture.ts';

/** Of all that the way in needs, as it comes over the line: the entry with its sheet, and the chunk of the way in. */
const MAX_BYTES = 300_000;

suite('the first load', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
  });

  test('first load: at most 300 KB, and the second visit fetches only the document', async (t) => {
    const page = await fixture.open(t, '/', { as: null });
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
    const first = await transferred(page);
    assert.ok(first.length > 3, 'nothing was fetched');
    const bytes = first.reduce((sum, { size }) => sum + size, 0);
    assert.ok(bytes <= MAX_BYTES, `${bytes} bytes: ${JSON.stringify(first)}`);
    assert.ok(bytes > 50_000, `${bytes} bytes are too few to be true`);
    await page.reload();
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
    const second = (await transferred(page)).filter(({ name, size }) => size > 0 && name.includes('/assets/'));
    assert.deepEqual(second, []);
  });

  test('first load: files are compressed as the client accepts, with equal content', async () => {
    const at = `${fixture.culvert.apiUrl}/app/`;
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

  test('first load: the document names only the code of its page', async (t) => {
    const signedIn = await fixture.open(t, '/');
    await heading(signedIn, 'Overview');
    const cookie = (await signedIn.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
    const someId = '0190a5a4-7b1e-7cc3-98c4-dc0c0c07398f';
    const cases: readonly [string, boolean, string][] = [
      ['', false, 'auth-page'],
      ['tunnels', false, 'auth-page'],
      ['reset', false, 'reset-page'],
      ['invite', true, 'invite-page'],
      ['', true, 'overview-page'],
      ['tunnels', true, 'tunnels-page'],
      [`tunnels/${someId}`, true, 'tunnel-page'],
    ];
    for (const [path, asOwner, expected] of cases) {
      const answer = await fetch(`${fixture.culvert.apiUrl}/app/${path}`, asOwner ? { headers: { cookie } } : {});
      const named = [...(await answer.text()).matchAll(/assets\/([a-z-]+)-[A-Z0-9]{8}\.js/g)].map((match) => match[1]);
      const pages = named.filter((name) => name !== 'chunk' && name !== 'main' && name !== 'start');
      assert.deepEqual(pages, [expected], `/app/${path}`);
    }
  });

  test('first load: the data of the first page is fetched once, before its code arrives', async (t) => {
    const page = await fixture.open(t, '/', { as: null });
    const { email, password } = fixture.owner;
    const data = { email, password };
    assert.equal((await page.request.post(`${fixture.culvert.apiUrl}/auth/login`, { data })).status(), 200);
    const seen: string[] = [];
    const pathOf = (one: { url(): string }): string => new URL(one.url()).pathname;
    page.on('request', (request) => seen.push(`> ${pathOf(request)}`));
    page.on('response', (response) => seen.push(`< ${pathOf(response)}`));
    await page.reload();
    await heading(page, 'Overview');
    assert.deepEqual(
      seen.filter((one) => one === '> /auth/refresh' || one === '> /auth/me'),
      ['> /auth/refresh', '> /auth/me'],
    );
    // The counters do not wait for the account: both were requested together.
    assert.ok(seen.includes('> /metrics') && seen.indexOf('> /metrics') < seen.indexOf('< /auth/me'), seen.join(' '));
  });

  async function transferred(page: Awaited<ReturnType<Fixture['open']>>): Promise<{ name: string; size: number }[]> {
    return page.evaluate(
      "performance.getEntriesByType('resource').map(({ name, transferSize }) => ({ name, size: transferSize }))",
    );
  }
});
