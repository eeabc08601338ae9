// group: build
/**
 * The built executable does the main job in an empty folder with an empty environment: what it needs must be inside it.
 * The build goes to a temporary folder, so that this test and a person may build at the same time.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Program } from '../scripts/quickstart/program.ts';
import { mintKey, startTrialServer } from '../scripts/quickstart/server.ts';
import { startSite } from '../scripts/quickstart/site.ts';
import { visit } from '../scripts/quickstart/visit.ts';
import { neededLibraries } from '../scripts/release/libatomic.mjs';
import { openUsageFile } from '../src/control/db/open.ts';
import { testCertificate } from '../src/data/fixtures/certificate.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'culvert-build-'));
const built = join(folder, 'built');
const program = join(built, 'culvert');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

before(() => {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--out', built], { cwd: root, stdio: 'pipe' });
});

after(() => rmSync(folder, { recursive: true, force: true }));

function emptyFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

test('the build leaves six files, the folders of dashboard, documentation, completion and man page, and nothing of its own', () => {
  const made = [
    'argon2-worker.cjs',
    'backup-worker.cjs',
    'culvert',
    'culvert.mjs',
    'dashboard',
    'data-worker.cjs',
    'docs',
    'share',
    'usage-worker.cjs',
  ];
  assert.deepEqual(readdirSync(built).sort(), made);
  assert.ok(statSync(program).mode & 0o111, 'is executable');
});

for (const [name, command] of [
  ['executable', [program]],
  ['bundle', [process.execPath, join(built, 'culvert.mjs')]],
] as const) {
  test(`the ${name} says which version it is`, () => {
    const [file, ...args] = command;
    const { status, stdout, stderr } = spawnSync(file, [...args, 'version'], {
      env: {},
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    assert.match(stdout, new RegExp(`^culvert ${version.replaceAll('.', '\\.')} `));
    assert.equal(stderr, '');
  });
}

test('the executable needs no libatomic, which a minimal Debian has not', {
  skip: process.platform !== 'linux',
}, () => {
  assert.ok(!neededLibraries(readFileSync(program)).includes('libatomic.so.1'));
});

test('NODE_OPTIONS of the environment runs no code in the executable', () => {
  const hostile = join(folder, 'hostile.cjs');
  writeFileSync(hostile, 'console.log("hostile code ran");');
  const env = { NODE_OPTIONS: `--require ${hostile}` };
  const { stdout, stderr } = spawnSync(program, ['version'], { env, cwd: folder, encoding: 'utf8' });
  assert.doesNotMatch(stdout + stderr, /hostile code ran/);
});

test("certificates that the machine trusts are trusted beside Node's own", async (t) => {
  const tls = await testCertificate();
  const found = { version: '9.9', agent_address: 'localhost:1', edge_domain: 'localhost' };
  const server = createServer(tls, (_request, response) => response.end(JSON.stringify(found))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, tls.cert);
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  const status = (env: Record<string, string>) =>
    new Promise<string>((resolve) =>
      execFile(program, ['status', '--server', url], { env: { HOME: folder, ...env }, cwd: folder }, (_error, stdout) =>
        resolve(stdout),
      ),
    );
  assert.match(await status({ SSL_CERT_FILE: authority }), /online, version 9\.9/);
  assert.doesNotMatch(await status({}), /online/);
});

test('a wrong settings file ends the start with one line and code 2', () => {
  const file = join(folder, 'wrong.toml');
  writeFileSync(file, '[edge]\ndomian = "x"\n');
  const { status, stdout, stderr } = spawnSync(program, ['serve', '--config', file], {
    env: {},
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(status, 2, stderr);
  assert.match(stderr, /wrong\.toml:2: edge\.domian: unknown key/);
  assert.equal(stderr.trim().split('\n').length, 1, stderr);
  assert.equal(stdout, '');
});

test('main job: serve, log in, mint a key, publish a port, visit it, stop', { timeout: 120_000 }, async (t) => {
  const serverFolder = emptyFolder('server');
  const agentFolder = emptyFolder('agent');
  const site = await startSite();
  t.after(() => site.close());
  const server = await startTrialServer(serverFolder, { command: [program], cwd: serverFolder, env: {} });
  t.after(() => server.program.kill());

  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, await mintKey(server), { mode: 0o600 });
  const args = ['http', String(site.port), '--server', server.apiUrl, '--token-file', keyFile];
  const agent = new Program({ command: [program], args, cwd: agentFolder, env: {} });
  t.after(() => agent.kill());
  const publicUrl = await agent.printed(/^(https?:\/\/\S+)$/m);

  // The dashboard is inside too: its page, and every file that the page names.
  const page = await (await fetch(`${server.apiUrl}/app/`)).text();
  const named = [...page.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, file = '']) => file);
  assert.ok(named.length > 2, page);
  for (const file of named) assert.equal((await fetch(`${server.apiUrl}/app/${file}`)).status, 200, file);

  const home = await (await fetch(`${server.apiUrl}/docs/`)).text();
  assert.match(home, /<h1>Culvert documentation<\/h1>/);

  const { status, body } = await visit(publicUrl, server.httpPort);
  assert.equal(status, 200);
  assert.match(body, /<h1>It works\.<\/h1>/);

  assert.equal(await agent.stop(), 0, agent.output);
  const { status: offline } = await visit(publicUrl, server.httpPort);
  assert.equal(offline, 503);
  assert.equal(await server.program.stop(), 0, server.program.output);
  assert.deepEqual(readdirSync(agentFolder), [], 'the agent leaves nothing in the folder where it runs');

  // Its thread has SQLite from inside the executable, too.
  const files = readdirSync(serverFolder, { recursive: true, encoding: 'utf8' });
  const file = files.find((name) => name.endsWith('usage.db'));
  assert.ok(file !== undefined, 'no request was recorded');
  const usage = openUsageFile(join(serverFolder, file));
  t.after(() => usage.close());
  const visits = usage.prepare('SELECT method, target, status FROM records').all();
  assert.deepEqual(visits, [
    { method: 'GET', target: '/', status: 200 },
    { method: 'GET', target: '/', status: 503 },
  ]);
});
