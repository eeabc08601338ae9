/** `/docs/` as it comes over HTTP. The pages in a browser: test/dashboard/docs-site.test.ts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readPages } from '../../../scripts/docs/pages.ts';
import { type Harness, startHarness } from '../core/testing/harness.ts';

let h: Harness;
before(async () => {
  h = await startHarness();
});
after(() => h.close());

const SLUGS = [...readPages().map(({ slug }) => slug), 'changelog', 'security-policy'];

test('docs site: every page is public and runs no code but its own, also under /api', async () => {
  for (const base of ['', '/api']) {
    for (const slug of SLUGS) {
      const page = await h.call('GET', `${base}/docs/${slug}`);
      assert.equal(page.status, 200, slug);
      assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8', slug);
      assert.equal(page.headers.get('x-frame-options'), 'DENY', slug);
      assert.equal(page.headers.get('x-content-type-options'), 'nosniff', slug);
      assert.equal(page.headers.get('cache-control'), 'public, max-age=300', slug);
      const policy = (page.headers.get('content-security-policy') ?? '').split('; ');
      for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
        assert.ok(policy.includes(part), `${slug}: ${part}`);
      assert.doesNotMatch(policy.join(), /unsafe|https?:|\*/, slug);
      assert.doesNotMatch(page.text, /<script>|<style|style=|\son\w+=|(?:src|action)="https?:/, slug);
    }
  }
});

test('docs site: every link and every file of a page is there', async () => {
  const known = new Map<string, Promise<{ status: number; text: string }>>();
  const fetched = async (path: string): Promise<{ status: number; text: string }> => {
    let found = known.get(path);
    if (found === undefined) known.set(path, (found = h.call('GET', path)));
    return found;
  };
  const wrong: string[] = [];
  for (const slug of SLUGS) {
    const here = new URL(`/docs/${slug}`, h.server.apiUrl);
    const { text } = await fetched(here.pathname);
    for (const [, target = ''] of text.matchAll(/(?:href|src|data-index)="([^"]+)"/g)) {
      const url = new URL(target, here);
      if (url.origin !== here.origin || url.protocol === 'data:') continue;
      const found = await fetched(url.pathname);
      const anchor = decodeURIComponent(url.hash.slice(1));
      if (found.status !== 200 || (anchor !== '' && !found.text.includes(`id="${anchor}"`)))
        wrong.push(`/docs/${slug}: ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('docs site: assets may be kept forever, pages are no assets, and other names give 404', async () => {
  const { text } = await h.call('GET', '/docs/');
  const assets = Array.from(text.matchAll(/"(assets\/[^"]+)"/g), ([, name = '']) => name);
  assert.equal(assets.length, 3);
  for (const name of assets) {
    const file = await h.call('GET', `/docs/${name}`);
    assert.equal(file.status, 200, name);
    assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable', name);
  }
  const others = ['/docs/nothing', '/docs/index', '/docs/constructor', '/docs/files.json', '/docs/install.html'];
  const files = ['index.html', 'install.html', 'files.json', 'constructor', '..%2ffiles.json', 'nothing.css'];
  for (const path of [...others, ...files.map((name) => `/docs/assets/${name}`)])
    assert.equal((await h.call('GET', path)).status, 404, path);
});

test('docs site: /docs and /docs/api lead to the pages', async () => {
  for (const path of ['/docs', '/docs/api']) {
    const answer = await fetch(`${h.server.apiUrl}${path}`, { redirect: 'manual' });
    assert.equal(answer.status, 302, path);
    assert.equal(answer.headers.get('location'), `${path}/`);
  }
});
