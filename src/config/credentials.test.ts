/** The file of `culvert login`: who can read it, that it is replaced whole, and which server gets what is in it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { Secret } from '../base/secret.ts';
import { loadAgentConfig } from './agent.ts';
import { Credentials, type Login } from './credentials.ts';
import { ConfigError } from './toml.ts';

const HERE = new URL('https://tunnel.example.com');
const THERE = new URL('http://127.0.0.1:9090/api');

function loginOf(account: string): Login {
  return {
    label: 'cli-banjo-acorn-flute',
    wire_bytes_b64: new Secret(`wire-of-${account}`),
    refresh_token: new Secret(`refresh-of-${account}`),
    account,
    organization: 'Acme',
    expires_at: '2027-01-01T00:00:00.000Z',
  };
}

function place(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'culvert-login-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const env = { HOME: home };
  const project = join(home, 'project');
  mkdirSync(project);
  return {
    env,
    project,
    credentials: new Credentials(env),
    load: (more: NodeJS.ProcessEnv = {}, server?: string) =>
      loadAgentConfig({ flags: { server }, env: { ...env, ...more }, cwd: project }),
  };
}

test('log-ins are kept per server, in a file and folder of the user alone, and nothing else is left', async (t) => {
  const { credentials } = place(t);
  assert.equal(credentials.of(HERE), undefined);
  await credentials.store(HERE, loginOf('ann'));
  await credentials.store(THERE, loginOf('bob'));
  await credentials.store(new URL('http://127.0.0.1:9090/api/'), loginOf('eve'));
  assert.equal(statSync(credentials.path).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(credentials.path)).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(dirname(credentials.path)), ['credentials.json']);
  assert.equal(credentials.of(HERE)?.account, 'ann');
  assert.equal(credentials.of(THERE)?.wire_bytes_b64.reveal(), 'wire-of-eve');
  assert.equal(credentials.of(new URL('http://127.0.0.1:9090')), undefined);
  await credentials.remove(THERE, loginOf('bob'));
  assert.equal(credentials.of(THERE)?.account, 'eve', 'what took its place stays');
  await credentials.remove(THERE, loginOf('eve'));
  assert.deepEqual(credentials.servers(), ['https://tunnel.example.com']);
  await credentials.remove(HERE, loginOf('ann'));
  assert.ok(!existsSync(credentials.path));
});

test('storing returns the log-in whose place it took', async (t) => {
  const { credentials } = place(t);
  assert.equal(await credentials.store(HERE, loginOf('ann')), undefined);
  assert.equal(await credentials.store(THERE, loginOf('bob')), undefined);
  assert.equal((await credentials.store(HERE, loginOf('eve')))?.account, 'ann');
});

test('log-ins that processes store at the same instant are all kept', async (t) => {
  const { credentials, env } = place(t);
  const [processes, each] = [3, 25];
  const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const children = Array.from({ length: processes }, (_, number) => {
    const script = `
      import { Credentials } from ${module('./credentials.ts')};
      import { Secret } from ${module('../base/secret.ts')};
      const key = new Secret('key');
      const login = { label: 'l', wire_bytes_b64: key, refresh_token: key, account: 'a', organization: 'o', expires_at: '2027-01-01T00:00:00.000Z' };
      process.stdout.write('ready');
      await new Promise((resolve) => process.stdin.once('data', resolve).once('end', resolve));
      const credentials = new Credentials(process.env);
      for (let count = 0; count < ${each}; count += 1) await credentials.store(new URL('https://s' + count + '.p${number}.test'), login);
      process.stdin.destroy();`;
    const args = ['--input-type=module', '-e', script];
    const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    return child;
  });
  const ends = children.map((child) => once(child, 'exit'));
  await Promise.all(children.map(({ stdout }) => once(stdout, 'data')));
  for (const { stdin } of children) stdin.end('go');
  for (const [code] of await Promise.all(ends)) assert.equal(code, 0);
  assert.equal(credentials.servers().length, processes * each);
  assert.deepEqual(readdirSync(dirname(credentials.path)), ['credentials.json']);
});

test('a lock that a dead process left is taken away after its time', async (t) => {
  const { env } = place(t);
  const credentials = new Credentials(env, { abandonedMs: 200, patienceMs: 30_000 });
  await credentials.store(HERE, loginOf('ann'));
  writeFileSync(`${credentials.path}.lock`, '');
  const began = performance.now();
  await credentials.store(THERE, loginOf('bob'));
  assert.ok(performance.now() - began >= 200, 'not before');
  assert.equal(credentials.servers().length, 2);
  assert.deepEqual(readdirSync(dirname(credentials.path)), ['credentials.json']);
});

test('the probe leaves log-ins as they are, and no file where there was none', async (t) => {
  const { credentials } = place(t);
  await credentials.probe();
  assert.ok(!existsSync(credentials.path));
  await credentials.store(HERE, loginOf('ann'));
  const before = readFileSync(credentials.path, 'utf8');
  await credentials.probe();
  assert.equal(readFileSync(credentials.path, 'utf8'), before);
  rmSync(dirname(credentials.path), { recursive: true });
  symlinkSync('nowhere', dirname(credentials.path));
  await assert.rejects(credentials.probe(), (error) => error instanceof ConfigError && /written/.test(error.message));
});

test('what was read shows no secret', async (t) => {
  const { credentials } = place(t);
  await credentials.store(HERE, loginOf('ann'));
  const login = credentials.of(HERE);
  assert.doesNotMatch(inspect(login) + JSON.stringify(login), /wire-of|refresh-of/);
});

test('a file that others can read, or that holds something else, is refused without a word of what it holds', async (t) => {
  const { credentials } = place(t);
  await credentials.store(HERE, loginOf('ann'));
  chmodSync(credentials.path, 0o640);
  assert.throws(
    () => credentials.of(HERE),
    (error) => error instanceof ConfigError && error.message.includes('chmod 600'),
  );
  const whole = readFileSync(credentials.path, 'utf8');
  for (const text of [whole.slice(0, 120), whole.replace('"version": 1', '"version": 2'), '', '[]']) {
    writeFileSync(credentials.path, text);
    chmodSync(credentials.path, 0o600);
    assert.throws(
      () => credentials.of(HERE),
      (error) =>
        error instanceof ConfigError &&
        /remove it and run culvert login/.test(error.message) &&
        !/wire-of/.test(inspect(error)),
    );
  }
});

test('a log-in gives the key when nothing else does, to its own server and no other', async (t) => {
  const { credentials, load } = place(t);
  await credentials.store(HERE, loginOf('ann'));
  assert.deepEqual(load({}, HERE.href).token, { kind: 'login' });
  assert.equal(load({}, 'https://tunnel.example.com:8443').token, undefined);
  assert.equal(load({}, 'http://tunnel.example.com').token, undefined);
  assert.equal(load({ CULVERT_TOKEN: 'mtk_x' }, HERE.href).token?.kind, 'environment');
  assert.equal(load({ CULVERT_TOKEN_FILE: 'x' }, HERE.href).token?.kind, 'file');
});

test("the agent's files come before a log-in", async (t) => {
  const { credentials, load, project } = place(t);
  await credentials.store(HERE, loginOf('ann'));
  writeFileSync(join(dirname(credentials.path), 'agent.toml'), 'token_file = "~/key"\n');
  assert.equal(load({}, HERE.href).token?.kind, 'file');
  // A project alone names the server: the user's key file is not for it, the log-in at that very server is.
  writeFileSync(join(project, 'culvert.toml'), `server = "${HERE.href}"\n`);
  assert.deepEqual(load().token, { kind: 'login' });
  writeFileSync(join(project, 'culvert.toml'), 'server = "https://evil.example"\n');
  assert.throws(() => load(), /was not sent, because only a project file sets this server/);
});

test('the only log-in names the server for those who name neither server nor key', async (t) => {
  const { credentials, load, project } = place(t);
  await credentials.store(HERE, loginOf('ann'));
  assert.equal(load().server.href, HERE.href);
  assert.equal(load({ CULVERT_SERVER: 'https://other' }).server.host, 'other');
  assert.equal(
    load({ CULVERT_TOKEN: 'mtk_x' }).server.host,
    '127.0.0.1:9090',
    'a key of another server must not follow',
  );
  writeFileSync(join(project, 'culvert.toml'), 'server = "https://project"\n');
  assert.equal(load().server.host, 'project');
  rmSync(join(project, 'culvert.toml'));
  await credentials.store(THERE, loginOf('bob'));
  assert.equal(load().server.host, '127.0.0.1:9090');
});
