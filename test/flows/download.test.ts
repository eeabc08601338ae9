/** The download page on a real server, with a release of small programs: what is offered, what is refused, and how it is sent. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openReleaseKey, signFiles } from '../../scripts/release/keys.ts';
import type { Logger } from '../../src/base/log.ts';
import { silentLog } from '../../src/base/log.ts';
import { checkServerConfig } from '../../src/config/load.ts';
import { startInThisThread } from '../../src/server/data-node.ts';
import { startServer } from '../../src/server/start.ts';
import { configText, freePorts } from '../harness/config.ts';
import { fillDataFolder } from '../harness/data-folder.ts';
import { inReverse } from '../harness/ends.ts';
import { makeQuickHasher } from '../harness/quick-hasher.ts';
import { changeByte, makeFakeRelease } from '../release/fake-release.ts';

const VERSION = '1.2.3';
const LINUX = `culvert-${VERSION}-linux-x64.tar.gz`;
const key = openReleaseKey(undefined);

interface Site {
  readonly url: string;
  /** The folder of the server's own version. */
  readonly kept: string;
  readonly logged: string[];
}

interface Wishes {
  readonly releaseKey?: string | null;
  readonly isEmpty?: boolean;
}

async function start(context: TestContext, wishes: Wishes = {}): Promise<Site> {
  const t = inReverse(context);
  const folder = mkdtempSync(join(tmpdir(), 'culvert-download-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const releases = join(folder, 'releases');
  const kept = join(releases, VERSION);
  if (wishes.isEmpty !== true) makeFakeRelease(kept, { version: VERSION, key });
  const toml = `releases_dir = "${releases}"`;
  const { settings } = checkServerConfig(
    `${toml}\n${configText({ folder, ports: await freePorts(), toml: '', edge: '' })}`,
    'test.toml',
  );
  fillDataFolder(settings.data_dir);
  const logged: string[] = [];
  const server = await startServer(settings, {
    version: VERSION,
    log: keeping(logged),
    startNode: startInThisThread,
    makeHasher: makeQuickHasher,
    program: { version: VERSION, key: wishes.releaseKey === undefined ? key.publicKey : wishes.releaseKey },
  });
  t.after(() => server.close());
  return { url: server.apiUrl, kept, logged };
}

/** A log that keeps its errors. */
function keeping(lines: string[]): Logger {
  const log: Logger = {
    ...silentLog,
    error: (_: object, message: string) => void lines.push(message),
    child: () => log,
  };
  return log;
}

const BROWSERS = {
  linux: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  macos: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15',
  windows: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36',
  phone: 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36',
};

async function page(url: string, browser: keyof typeof BROWSERS = 'linux'): Promise<string> {
  const response = await fetch(`${url}/download/`, { headers: { 'user-agent': BROWSERS[browser] } });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  return response.text();
}

/** Of `(your system)`. */
const firstSystem = (html: string): string | undefined => /<h2>(\w+)(?: \(your system\))?<\/h2>/.exec(html)?.[1];

test('download page: names version, commands, sizes and sums, for the system of the browser first', async (t) => {
  const { url, kept } = await start(t);
  const redirect = await fetch(`${url}/download`, { redirect: 'manual' });
  assert.deepEqual([redirect.status, redirect.headers.get('location')], [302, '/download/']);
  const html = await page(url);
  assert.match(html, /Install Culvert 1\.2\.3/);
  assert.ok(html.includes(`curl -fsSL ${url}/download/get.sh | sudo sh -s -- --from ${url}/download`));
  assert.ok(html.includes(`(irm ${url}/download/install.ps1))) -From ${url}/download`));
  assert.ok(html.includes(`culvert login ${url}`));
  const sum = new RegExp(`^(\\w+)  ${LINUX}$`, 'm').exec(readFileSync(join(kept, 'SHA256SUMS'), 'utf8'))?.[1] ?? '-';
  assert.ok(html.includes(sum));
  assert.ok(!html.includes('releases fetch'), 'nothing is missing');
  assert.deepEqual(
    await Promise.all(
      (['linux', 'macos', 'windows', 'phone'] as const).map(async (one) => firstSystem(await page(url, one))),
    ),
    ['Linux', 'macOS', 'Windows', 'Linux'],
  );
  assert.ok(!(await page(url, 'phone')).includes('your system'));
  assert.ok((await (await fetch(`${url}/api/download/`)).text()).includes(sum), 'also below /api');
});

test('download: a file goes out whole, with length, checksum as ETag, and 304 for one that is known', async (t) => {
  const { url, kept } = await start(t);
  for (const name of [LINUX, 'get.sh', 'SHA256SUMS', 'SHA256SUMS.sig']) {
    const response = await fetch(`${url}/download/${name}`);
    assert.equal(response.status, 200, name);
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.deepEqual(bytes, readFileSync(join(kept, name)), name);
    assert.equal(response.headers.get('content-length'), String(bytes.length), name);
    const etag = response.headers.get('etag') ?? '';
    assert.match(etag, /^"[0-9a-f]{64}"$/);
    const again = await fetch(`${url}/download/${name}`, { headers: { 'if-none-match': etag } });
    assert.deepEqual([again.status, await again.text()], [304, '']);
    const head = await fetch(`${url}/download/${name}`, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(bytes.length)]);
  }
  assert.match((await fetch(`${url}/download/get.sh`)).headers.get('content-type') ?? '', /^text\/plain/);
});

test('download: a changed byte is not offered and is logged once; the page names the command that fetches it', async (t) => {
  const { url, kept, logged } = await start(t);
  assert.ok((await page(url)).includes(LINUX));
  const good = readFileSync(join(kept, LINUX));
  changeByte(join(kept, LINUX));
  for (const name of ['linux-arm64.tar.gz']) rmSync(join(kept, `culvert-${VERSION}-${name}`));
  assert.equal((await fetch(`${url}/download/${LINUX}`)).status, 404);
  const html = await page(url);
  assert.ok(!html.includes(LINUX));
  assert.match(html, /no file for Linux yet.*sudo culvert admin releases fetch --all-platforms/);
  assert.deepEqual(logged.length, 1, logged.join('\n'));
  assert.match(logged[0] ?? '', /linux-x64\.tar\.gz is not the signed file/);
  // The next one comes by a rename.
  writeFileSync(join(kept, 'part'), good);
  renameSync(join(kept, 'part'), join(kept, LINUX));
  assert.equal((await fetch(`${url}/download/${LINUX}`)).status, 200);
});

test('download: a list with another signature or of another version offers nothing', async (t) => {
  const { url, kept, logged } = await start(t);
  const sums = readFileSync(join(kept, 'SHA256SUMS'));
  changeByte(join(kept, 'SHA256SUMS'));
  assert.equal((await fetch(`${url}/download/${LINUX}`)).status, 404);
  assert.equal((await fetch(`${url}/download/SHA256SUMS`)).status, 404);
  assert.match(logged.join('\n'), /signature of SHA256SUMS/);
  writeFileSync(join(kept, 'SHA256SUMS'), sums);
  assert.equal((await fetch(`${url}/download/${LINUX}`)).status, 200);
  rmSync(kept, { recursive: true });
  makeFakeRelease(kept, { version: '1.2.2', key });
  assert.equal((await fetch(`${url}/download/culvert-1.2.2-linux-x64.tar.gz`)).status, 404);
  assert.match(logged.join('\n'), /of version 1\.2\.2/);
});

test('download: no name leads out of the release, and no link is followed', async (t) => {
  const { url, kept } = await start(t);
  const secret = join(kept, '..', 'secret.txt');
  writeFileSync(secret, 'secret');
  writeFileSync(join(kept, 'other.txt'), 'not of the release');
  rmSync(join(kept, 'get.sh'));
  symlinkSync(secret, join(kept, 'get.sh'));
  const real = join(kept, '..', LINUX);
  renameSync(join(kept, LINUX), real);
  symlinkSync(real, join(kept, LINUX)); // the right bytes, behind a link
  for (const path of [
    'get.sh',
    LINUX,
    'other.txt',
    '..%2fsecret.txt',
    '%2e%2e/secret.txt',
    '..%5csecret.txt',
    '.%00/get.sh',
    `..%2f${VERSION}%2fculvert.pub`,
    '%2fetc%2fpasswd',
    '__proto__',
    'constructor',
  ]) {
    assert.equal(await rawStatus(url, `/download/${path}`), 404, path);
  }
  assert.equal(await rawStatus(url, '/download/../../secret.txt'), 404);
  assert.equal(await rawStatus(url, '/download/culvert.pub'), 200);
  renameSync(kept, `${kept}.real`);
  symlinkSync(`${kept}.real`, kept);
  assert.equal(await rawStatus(url, '/download/culvert.pub'), 404, 'the folder of a version is no link');
});

/** As it is written: `fetch` takes `..` out of a path. */
async function rawStatus(url: string, path: string): Promise<number> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return Number(head.toString().split(' ')[1]);
}

test('download: a client that does not read holds back the server', async (t) => {
  const { url, kept } = await start(t);
  // More than the system buffers for a connection.
  const bytes = randomBytes(24_000_000);
  const files = new Map([[LINUX, bytes]]);
  signFiles(files, key);
  for (const [name, content] of files) writeFileSync(join(kept, name), content);
  const whole = await fetch(`${url}/download/${LINUX}`);
  assert.ok(Buffer.from(await whole.arrayBuffer()).equals(bytes));
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  t.after(() => socket.destroy());
  socket.write(`GET /download/${LINUX} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  await sleep(500);
  // What the server has not read yet, it can't send any more.
  truncateSync(join(kept, LINUX), 0);
  let received = 0;
  socket.on('data', (piece: Buffer) => (received += piece.length)).resume();
  socket.on('error', () => {}); // its end is looked at below
  await once(socket, 'close');
  assert.ok(received > 0 && received < bytes.length / 2, `${received} bytes were read for a client that takes none`);
});

test('download list: what programs read, and a build from source that offers nothing', async (t) => {
  const { url } = await start(t);
  const list = (await (await fetch(`${url}/download/release.json`)).json()) as {
    version: string;
    is_release: boolean;
    missing: string[];
    files: Array<{ platform: string | null }>;
    install: { linux: string | null };
  };
  assert.deepEqual([list.version, list.is_release, list.missing], [VERSION, true, []]);
  assert.equal(list.files.filter(({ platform }) => platform !== null).length, 5);
  assert.match(list.install.linux ?? '', /get\.sh/);
  const source = await start(t, { releaseKey: null });
  assert.match(await page(source.url), /built from source/);
  assert.equal((await fetch(`${source.url}/download/${LINUX}`)).status, 404);
  const empty = await start(t, { isEmpty: true });
  assert.match(await page(empty.url), /no file for Linux yet/);
  assert.deepEqual(empty.logged, [], 'an empty folder is no fault');
});
