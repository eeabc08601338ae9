/**
 * The life of a backup: a server under writes is backed up, killed, and restored in another folder. What was acknowledged before the backup began
 * must be there, and keys, sealed secrets and the agent's pin must work. Used by backup.test.ts once and by backup-slow.test.ts twenty times.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { codeAt } from '../harness/authenticator.ts';
import { type Account, get, spawnCulvert, startOrigin } from '../harness.ts';
import type { Ends } from '../harness/ends.ts';
import { culvertCommand } from '../harness/spawned.ts';

type Spawned = Awaited<ReturnType<typeof spawnCulvert>>;

const SECRET = 'shared with the sender';

export interface Command {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a `culvert` command that ends by itself. */
export async function runCulvert(folder: string, args: readonly string[]): Promise<Command> {
  const [program = '', ...first] = culvertCommand();
  const child = spawn(program, [...first, ...args], { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder } });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await ended) as [number | null];
  return { code, stdout, stderr };
}

async function ok(folder: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCulvert(folder, args);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** Renames projects without a pause until it is stopped. `done`: how many renames of each were acknowledged; the name tells its number. */
async function writeLoad(account: Account) {
  const slugs = ['one', 'two', 'three'];
  const done = new Map(slugs.map((slug) => [slug, 0]));
  const stopping = new AbortController();
  for (const slug of slugs) {
    const { status, body } = await account.call('POST', '/projects', { name: '0', slug });
    assert.equal(status, 201, JSON.stringify(body));
  }
  const run = async (slug: string): Promise<void> => {
    for (let i = 1; !stopping.signal.aborted; i++) {
      // The server is killed in the middle of it.
      const answer = await account
        .call('PATCH', `/projects/${slug}`, { name: String(i) })
        .catch((error: unknown) => error);
      if (answer instanceof Error) return;
      assert.equal((answer as { status: number }).status, 200, JSON.stringify(answer));
      done.set(slug, i);
    }
  };
  const running = Promise.all(slugs.map(run));
  return {
    done,
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}

const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((total, one) => total + one, 0);

/** Rows of the audit log, one for each rename. */
function renamesIn(folder: string): number {
  const sqlite = new Database(join(folder, 'culvert.db'), { readonly: true, timeout: 5_000 });
  try {
    const rows = sqlite.prepare<[], { n: number }>(
      "SELECT count(*) AS n FROM audit_events WHERE action = 'project.update'",
    );
    return rows.get()?.n ?? 0;
  } finally {
    sqlite.close();
  }
}

async function deliver(culvert: Spawned, receiver: string): Promise<number> {
  const body = '{"a":1}';
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  const { status } = await fetch(`${culvert.apiUrl}/webhooks/${receiver}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-hub-signature-256': signature,
      'x-github-event': 'push',
      'x-github-delivery': String(Math.random()),
      connection: 'close',
    },
    body,
  });
  return status;
}

async function secondFactor(account: Account): Promise<string> {
  const { body } = await account.call('POST', '/auth/mfa/enroll');
  const secret = String(body['secret_base32']);
  const { status } = await account.call('POST', '/auth/mfa/enroll/verify', { code: codeAt(secret, Date.now(), -1) });
  assert.equal(status, 200);
  return secret;
}

async function logInWithCode(culvert: Spawned, secret: string): Promise<string> {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${culvert.apiUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  const challenge = await post('/auth/login', { email: 'admin@localhost', password: culvert.password });
  const done = await post('/auth/login/mfa', {
    challenge_token: challenge['challenge_token'],
    code: codeAt(secret, Date.now()),
  });
  return String(done['access_token']);
}

export interface StoryFigures {
  readonly writes: number;
  readonly backupMs: number;
  readonly restoreMs: number;
}

/** `passphrase`: the backup is encrypted. */
export async function backupStory(t: Ends, passphrase: string | undefined): Promise<StoryFigures> {
  const origin = await startOrigin(t, (_request, response) => response.end('hello'));
  const culvert = await spawnCulvert(t);
  const { account, folder } = culvert;
  const config = join(folder, 'server.toml');
  const file = join(folder, 'shop.culvert');
  const secretFile = join(folder, 'passphrase');
  writeFileSync(secretFile, `${passphrase ?? ''}\n`, { mode: 0o600 });
  const withPassphrase = passphrase === undefined ? [] : ['--passphrase-file', secretFile];
  const receiver = await account.call('POST', '/webhook-receivers', {
    name: 'github',
    validator: 'github',
    secret: SECRET,
  });
  assert.equal(receiver.status, 201, JSON.stringify(receiver.body));
  const agent = culvert.agent(['http', String(origin.port), '--subdomain', 'shop']);
  const url = await agent.printed(/^(http:\S+)$/m);
  const totp = await secondFactor(account);

  const load = await writeLoad(account);
  while (sum(load.done) < 60) await pause(5);
  const before = new Map(load.done);
  const began = performance.now();
  await ok(folder, ['backup', file, '--config', config, ...withPassphrase]);
  const backupMs = performance.now() - began;
  const writes = sum(load.done) - sum(before);
  await culvert.killServer();
  await load.stop();

  const lost = performance.now();
  rmSync(join(folder, 'data'), { recursive: true });
  const elsewhere = join(folder, 'elsewhere');
  rmSync(config);
  const said = await ok(folder, ['restore', file, '--data-dir', elsewhere, '--config', config, ...withPassphrase]);
  assert.match(said, /\b1 tunnel: shop$/m);
  assert.match(said, /Set data_dir = ".*elsewhere" in the settings/);
  writeFileSync(config, readFileSync(config, 'utf8').replace(join(folder, 'data'), elsewhere));
  await culvert.startServer();
  // The agent of before, with its key and its pin.
  const { http } = culvert.ports;
  while ((await get(url, http).catch(() => undefined))?.body !== 'hello') await pause(50);
  const restoreMs = performance.now() - lost;

  assert.equal(await deliver(culvert, String(receiver.body['id'])), 202);
  const token = await logInWithCode(culvert, totp);
  const response = await fetch(`${culvert.apiUrl}/projects`, {
    headers: { authorization: `Bearer ${token}`, connection: 'close' },
  });
  const projects = (await response.json()) as ReadonlyArray<{ readonly slug: string; readonly name: string }>;
  for (const [slug, last] of before) {
    const name = Number(projects.find((project) => project.slug === slug)?.name);
    assert.ok(name >= last, `${slug} was renamed to ${last} before the backup, and is ${name}`);
  }
  assert.ok(renamesIn(elsewhere) >= sum(before), 'every write that was acknowledged before the backup');
  return { writes, backupMs, restoreMs };
}
