/** A folder as a website, over connections in memory: what is found, what is never found, and in which form it is sent. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { Folder, type FolderOptions } from './folder.ts';

const BIG = Buffer.alloc(3_000_000, 'culvert ');

interface Site {
  readonly root: string;
  readonly outside: string;
}

function site(t: TestContext): Site {
  const place = mkdtempSync(join(tmpdir(), 'culvert-folder-'));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const root = join(place, 'root');
  const outside = join(place, 'root-of-others');
  for (const folder of [root, outside, join(root, 'sub'), join(root, '.git'), join(root, '.well-known')])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(outside, 'secret.txt'), 'secret');
  writeFileSync(join(root, 'page.txt'), 'hello');
  writeFileSync(join(root, 'big.bin'), BIG);
  writeFileSync(join(root, '.env'), 'secret');
  writeFileSync(join(root, '.git/config'), 'secret');
  writeFileSync(join(root, '.well-known/security.txt'), 'contact');
  writeFileSync(join(root, 'sub/index.html'), '<p>sub');
  return { root, outside };
}

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const open = (root: string, more: Partial<FolderOptions> = {}): Folder =>
  new Folder({ root, spa: false, listing: true, ...more });

async function begin(
  folder: Folder,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<IncomingMessage> {
  const outgoing = request({ path, method, headers, createConnection: () => folder.connect() });
  outgoing.end();
  const answered = once(outgoing, 'response');
  outgoing.on('error', () => {}); // of a connection that is cut: the response fails too
  const [response] = (await answered) as [IncomingMessage];
  return response;
}

async function get(folder: Folder, path: string, how?: Parameters<typeof begin>[2]): Promise<Got> {
  const response = await begin(folder, path, how);
  return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) };
}

test('folder: a file has type, length, version and date, and HEAD sends them alone', async (t) => {
  const folder = open(site(t).root);
  const { status, headers, body } = await get(folder, '/page.txt?v=1');
  assert.equal(status, 200);
  assert.equal(body.toString(), 'hello');
  assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
  assert.equal(headers['content-length'], '5');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.match(headers.etag ?? '', /^"[^"]+"$/);
  const head = await get(folder, '/page.txt', { method: 'HEAD' });
  assert.deepEqual([head.status, head.body.length, head.headers['content-length']], [200, 0, '5']);
  assert.equal(head.headers.etag, headers.etag);
  const large = await get(folder, '/big.bin');
  assert.equal(Buffer.compare(large.body, BIG), 0);
  assert.equal(large.headers['content-type'], 'application/octet-stream');
});

test('folder: other methods are refused, with the ones that work', async (t) => {
  const { status, headers } = await get(open(site(t).root), '/page.txt', { method: 'DELETE' });
  assert.deepEqual([status, headers.allow], [405, 'GET, HEAD']);
});

test('folder: a version that the client has is not sent again', async (t) => {
  const { root } = site(t);
  const folder = open(root);
  const { headers } = await get(folder, '/page.txt');
  const etag = headers.etag ?? '';
  const modified = headers['last-modified'] ?? '';
  for (const [name, value, status] of [
    ['if-none-match', etag, 304],
    ['if-none-match', `"x", W/${etag}`, 304],
    ['if-none-match', '*', 304],
    ['if-none-match', '"x"', 200],
    ['if-modified-since', modified, 304],
    ['if-modified-since', 'Thu, 01 Jan 1970 00:00:00 GMT', 200],
    ['if-modified-since', 'yesterday', 200],
    ['if-match', etag, 200],
    ['if-match', `W/${etag}`, 412],
    ['if-unmodified-since', 'Thu, 01 Jan 1970 00:00:00 GMT', 412],
  ] as const) {
    const got = await get(folder, '/page.txt', { headers: { [name]: value } });
    assert.equal(got.status, status, `${name}: ${value}`);
    if (status !== 200) assert.equal(got.body.length, 0);
  }
  writeFileSync(join(root, 'page.txt'), 'HELLO');
  assert.equal((await get(folder, '/page.txt', { headers: { 'if-none-match': etag } })).body.toString(), 'HELLO');
});

test('folder: ranges, and parts of the version that the client has alone', async (t) => {
  const { root } = site(t);
  const old = new Date('2020-01-01T00:00:00Z');
  utimesSync(join(root, 'page.txt'), old, old);
  const folder = open(root);
  const whole = await get(folder, '/page.txt');
  const ask = (range: string, more: Record<string, string> = {}): Promise<Got> =>
    get(folder, '/page.txt', { headers: { range, ...more } });
  for (const [range, status, body, place] of [
    ['bytes=1-3', 206, 'ell', 'bytes 1-3/5'],
    ['bytes=3-', 206, 'lo', 'bytes 3-4/5'],
    ['bytes=-2', 206, 'lo', 'bytes 3-4/5'],
    ['bytes=-99', 206, 'hello', 'bytes 0-4/5'],
    ['bytes=4-99', 206, 'o', 'bytes 4-4/5'],
    ['bytes=5-', 416, '', 'bytes */5'],
    ['bytes=-0', 416, '', 'bytes */5'],
    // Several, and what is none: the whole file.
    ['bytes=0-0,2-2', 200, 'hello', undefined],
    ['bytes=3-1', 200, 'hello', undefined],
    ['lines=1-2', 200, 'hello', undefined],
    ['bytes=-', 200, 'hello', undefined],
  ] as const) {
    const got = await ask(range);
    assert.deepEqual([got.status, got.body.toString(), got.headers['content-range']], [status, body, place], range);
  }
  const { etag = '', 'last-modified': modified = '' } = whole.headers;
  assert.equal((await ask('bytes=1-1', { 'if-range': etag })).status, 206);
  assert.equal((await ask('bytes=1-1', { 'if-range': `W/${etag}` })).status, 200);
  assert.equal((await ask('bytes=1-1', { 'if-range': '"x"' })).status, 200);
  assert.equal((await ask('bytes=1-1', { 'if-range': modified })).status, 206);
  assert.equal((await ask('bytes=1-1', { 'if-range': 'Thu, 02 Jan 2020 00:00:00 GMT' })).status, 200);
  const head = await get(folder, '/page.txt', { method: 'HEAD', headers: { range: 'bytes=1-3' } });
  assert.equal(head.status, 200);
  const middle = await get(folder, '/big.bin', { headers: { range: 'bytes=1000000-2999999' } });
  assert.equal(Buffer.compare(middle.body, BIG.subarray(1_000_000)), 0);
});

test('folder: nothing outside is found, and nothing hidden', async (t) => {
  const { root, outside } = site(t);
  symlinkSync(outside, join(root, 'out'));
  symlinkSync(join(outside, 'secret.txt'), join(root, 'out.txt'));
  symlinkSync('.env', join(root, 'env.txt'));
  symlinkSync('loop', join(root, 'loop'));
  symlinkSync('page.txt', join(root, 'same.txt'));
  mkdirSync(join(root, 'sub/.well-known'));
  writeFileSync(join(root, 'sub/.well-known/x'), 'secret');
  const folder = open(root);
  const paths = [
    '/../root-of-others/secret.txt',
    '/%2e%2e/root-of-others/secret.txt',
    '/..%2froot-of-others%2fsecret.txt',
  ];
  paths.push(
    '/sub/../../root-of-others/secret.txt',
    '/..\\root-of-others\\secret.txt',
    '/..%5croot-of-others',
    '/%00page.txt',
  );
  paths.push(
    '/out/secret.txt',
    '/out/',
    '/out.txt',
    '/env.txt',
    '/loop',
    '/.env',
    '/.git/config',
    '/%2egit/config',
    '/.git/',
  );
  paths.push(
    '//page.txt',
    '/sub//index.html',
    '/./page.txt',
    '/page.txt/',
    '/page.txt/x',
    '/sub/.well-known/x',
    `/${'x'.repeat(5_000)}`,
  );
  for (const path of paths) {
    const { status, body } = await get(folder, path);
    assert.equal(status, 404, path);
    assert.ok(!body.includes('secret'), path);
  }
  for (const path of ['/%', '/%ff', '/%e0%80']) assert.equal((await get(folder, path)).status, 400, path);
  // A link that stays inside is the file.
  assert.equal((await get(folder, '/same.txt')).body.toString(), 'hello');
  assert.equal((await get(folder, '/.well-known/security.txt')).body.toString(), 'contact');
});

test('folder: the page of a folder escapes names, and leaves out what is not found', async (t) => {
  const { root, outside } = site(t);
  const odd = `<img src=x onerror='a'>"&.txt`;
  writeFileSync(join(root, odd), 'odd');
  writeFileSync(join(root, 'javascript:alert(1)'), '');
  symlinkSync(outside, join(root, 'out'));
  const folder = open(root);
  const { status, headers, body } = await get(folder, '/');
  const text = body.toString();
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/html; charset=utf-8');
  assert.match(String(headers['content-security-policy']), /^default-src 'none'/);
  assert.ok(!text.includes('<img') && text.includes('&lt;img'), text);
  assert.match(text, /<a href="\.\/javascript%3Aalert\(1\)">/);
  assert.match(text, /<a href="\.\/sub\/">sub\/<\/a>/);
  assert.match(text, /big\.bin<\/a><\/td><td>3\.0 MB<\/td><td>\d{4}-\d\d-\d\d \d\d:\d\d<\/td>/);
  for (const hidden of ['.env', '.git', '"./out/"']) assert.ok(!text.includes(hidden), hidden);
  const [, href = ''] = /<a href="\.\/(%3Cimg[^"]*)">/.exec(text) ?? [];
  assert.equal((await get(folder, `/${href.replaceAll('&#39;', "'")}`)).body.toString(), 'odd');
  assert.equal((await get(open(root, { listing: false }), '/')).status, 404);
});

test('folder: index.html comes first, behind a path with a slash', async (t) => {
  const folder = open(site(t).root, { listing: false });
  assert.equal((await get(folder, '/sub/')).body.toString(), '<p>sub');
  const { status, headers } = await get(folder, '/sub?a=1');
  assert.deepEqual([status, headers.location], [302, './sub/?a=1']);
});

test('folder: with spa a page of the app is index.html, and a script that is not there is not found', async (t) => {
  const { root } = site(t);
  writeFileSync(join(root, 'index.html'), '<p>app');
  const folder = open(root, { spa: true });
  const html = { headers: { accept: 'text/html,*/*;q=0.8' } };
  for (const path of ['/', '/orders/7', '/orders/']) assert.equal((await get(folder, path)).body.toString(), '<p>app');
  assert.equal((await get(folder, '/users/ann.lee', html)).body.toString(), '<p>app');
  assert.equal((await get(folder, '/missing.js')).status, 404);
  for (const path of ['/.env', '/../x', '/%2e%2e/x']) assert.equal((await get(folder, path, html)).status, 404, path);
  assert.equal((await get(folder, '/page.txt')).body.toString(), 'hello');
});

test('folder: a compressed copy that is not older goes to clients that take it', async (t) => {
  const { root } = site(t);
  writeFileSync(join(root, 'app.js'), 'plain');
  writeFileSync(join(root, 'app.js.br'), 'brotli');
  writeFileSync(join(root, 'app.js.gz'), 'gzip');
  const folder = open(root);
  const ask = (accept: string): Promise<Got> => get(folder, '/app.js', { headers: { 'accept-encoding': accept } });
  const best = await ask('gzip, br');
  assert.deepEqual([best.body.toString(), best.headers['content-encoding']], ['brotli', 'br']);
  assert.deepEqual(
    [best.headers.vary, best.headers['content-type']],
    ['Accept-Encoding', 'text/javascript; charset=utf-8'],
  );
  assert.equal((await ask('gzip, br;q=0')).body.toString(), 'gzip');
  const plain = await ask('identity');
  assert.deepEqual([plain.body.toString(), plain.headers.vary], ['plain', 'Accept-Encoding']);
  assert.notEqual(plain.headers.etag, best.headers.etag);
  const old = new Date('2020-01-01');
  utimesSync(join(root, 'app.js.br'), old, old);
  assert.equal((await ask('br')).body.toString(), 'plain');
});

test('folder: a slow reader holds a file back, and beyond the limit requests wait or are refused', async (t) => {
  const { root } = site(t);
  const folder = new Folder({ root, spa: false, listing: true }, { open: 1, waiting: 1 });
  const slow = await begin(folder, '/big.bin');
  const waiting = get(folder, '/page.txt');
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await get(folder, '/page.txt')).status, 503);
  // The reader leaves: its file is closed.
  slow.destroy();
  assert.equal((await waiting).body.toString(), 'hello');
  assert.equal((await get(folder, '/page.txt')).status, 200);
});

test('folder: a file that becomes shorter is cut off, not ended', async (t) => {
  const { root } = site(t);
  const folder = open(root);
  const response = await begin(folder, '/big.bin');
  truncateSync(join(root, 'big.bin'), 1_000_000);
  await assert.rejects(buffer(response), { code: 'ECONNRESET' });
});

test('folder: one connection carries one request after another', async (t) => {
  const folder = open(site(t).root);
  const socket = folder.connect();
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  for (const path of ['/page.txt', '/sub/', '/none']) socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  while (!text.includes('Not found')) await once(socket, 'data');
  assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 3);
  socket.end();
  await once(socket, 'close');
});

test('folder: a large folder shows its first 1000 entries and says so', async (t) => {
  const { root } = site(t);
  for (let i = 0; i < 1_005; i++) writeFileSync(join(root, `sub/${i}.txt`), '');
  rmSync(join(root, 'sub/index.html'));
  const text = (await get(open(root), '/sub/')).body.toString();
  assert.equal(text.match(/<tr><td>/g)?.length, 1_001);
  assert.match(text, /Only 1000 entries are shown\./);
});
