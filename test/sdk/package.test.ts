/** The package as it is published: built, installed in a project beside the examples of the documentation, which run. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, suite, test } from 'node:test';
import { ROOT } from '../../scripts/test/files.ts';
import { type Culvert, startCulvert } from '../harness.ts';
import type { Ends } from '../harness/ends.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-sdk-'));
const installed = join(folder, 'node_modules/culvert');

/** Runs a module of the project with this Node; stops it with the test. */
function run(
  t: Ends,
  culvert: Culvert,
  code: string,
): { readonly child: ChildProcess; line(pattern: RegExp): Promise<string> } {
  const env = { ...process.env, CULVERT_SERVER: culvert.server.apiUrl, CULVERT_TOKEN: culvert.token, HOME: folder };
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let shown = '';
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      shown += `${line}\n`;
      lines.push(line);
      for (const look of waiting) look();
    });
  }
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = (): void => {
        const found = lines.find((text) => pattern.test(text));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(pattern.exec(found)?.[1] ?? found);
      };
      waiting.add(look);
      child.once('exit', () => setImmediate(() => reject(new Error(`it ended without ${String(pattern)}:\n${shown}`))));
      look();
    });
  return { child, line };
}

suite('the package as it is published', () => {
  before(() => {
    execFileSync(process.execPath, [join(ROOT, 'scripts/build-sdk.mjs'), '--out', installed], { stdio: 'pipe' });
    cpSync(join(ROOT, 'docs/examples'), folder, { recursive: true });
    symlinkSync(join(ROOT, 'node_modules/vite'), join(folder, 'node_modules/vite'));
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    writeFileSync(join(folder, 'index.html'), '<title>shop</title>');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('it has code, types, README and licence, and needs nothing', () => {
    const names = ['LICENSE', 'README.md', 'error.d.ts', 'forward.d.ts', 'index.d.ts', 'index.js', 'listen.d.ts'];
    assert.deepEqual(readdirSync(installed), [...names, 'package.json', 'types.d.ts']);
    const manifest: unknown = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    assert.ok(typeof manifest === 'object' && manifest !== null && !('dependencies' in manifest));
    assert.equal('version' in manifest && manifest.version, version);
  });

  test('its types hold for a strict program', () => {
    mkdirSync(join(folder, 'typed'));
    const types = join(folder, 'node_modules/@types');
    if (!existsSync(types)) symlinkSync(join(ROOT, 'node_modules/@types'), types);
    writeFileSync(
      join(folder, 'typed/app.ts'),
      `import { createServer } from 'node:http';
import { CulvertError, type ErrorCode, forward, listen, type Tunnel } from 'culvert';
const one: Tunnel = await forward({ to: 3000, name: 'shop', signal: AbortSignal.timeout(1000) });
const off: () => void = one.on('request', ({ method, status }) => console.log(method.length, status.toFixed()));
off();
await using two = await listen(createServer());
await listen((request, response) => response.end(request.url));
await listen({ fetch: async () => new Response(two.url) });
try { await one.close(100); } catch (error) { if (error instanceof CulvertError) { const code: ErrorCode = error.code; console.log(code); } }
// @ts-expect-error a target is needed
await forward({ name: 'shop' });
// @ts-expect-error there is no such event
one.on('closed', () => undefined);
`,
    );
    const flags = [
      '--noEmit',
      '--strict',
      '--target',
      'es2024',
      '--lib',
      'es2024,esnext.disposable,dom',
      '--types',
      'node',
    ];
    const how = ['--module', 'nodenext', '--skipLibCheck', 'false'];
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), [...flags, ...how, 'app.ts'], {
      cwd: join(folder, 'typed'),
      encoding: 'utf8',
    });
  });

  test('example: a Vite plugin publishes the development server', async (t) => {
    const culvert = await startCulvert(t);
    const { line } = run(
      t,
      culvert,
      `import { createServer } from 'vite';
       import { culvert } from './vite-plugin.js';
       const server = await createServer({ configFile: false, server: { port: 0, host: '127.0.0.1' }, plugins: [culvert({ name: 'vite' })] });
       await server.listen();`,
    );
    const url = await line(/Public: (http\S+)/);
    const answer = await culvert.get(url);
    assert.equal(answer.status, 200);
    assert.match(answer.body, /<title>shop<\/title>/);
    assert.match(answer.body, /@vite\/client/);
  });

  test('example: a receiver of webhooks', async (t) => {
    const culvert = await startCulvert(t);
    const { child, line } = run(
      t,
      culvert,
      `import { webhookReceiver } from './webhook.js';
       const receiver = await webhookReceiver({ name: 'hooks' });
       const next = receiver.nextWebhook();
       console.log('at ' + receiver.url);
       const { method, url } = await next;
       console.log('got ' + method + ' ' + url);
       await receiver.close();`,
    );
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const url = await line(/^at (\S+)/);
    const got = line(/^got (.*)/);
    assert.equal((await culvert.get(`${url}/orders?id=7`)).status, 204);
    assert.equal(await got, 'GET /orders?id=7');
    assert.equal(await ended, 0, 'nothing keeps the process once the receiver is closed');
  });

  test('example: a preview of a build, until its time is over', async (t) => {
    const culvert = await startCulvert(t);
    mkdirSync(join(folder, 'dist'));
    writeFileSync(join(folder, 'dist/index.html'), '<title>built</title>');
    const { child, line } = run(t, culvert, `process.env.MINUTES = '0.05'; await import('./preview.js');`);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const url = await line(/^(http\S+)/);
    assert.match((await culvert.get(url)).body, /<title>built<\/title>/);
    assert.equal(await ended, 0);
  });
});
