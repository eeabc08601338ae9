/** How commands use the session of a login: each refresh token once, the new one kept first, several commands side by side. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { Outbound } from '../../base/net/outbound/outbound.ts';
import { Credentials } from '../../config/credentials.ts';
import { ConfigError } from '../../config/toml.ts';
import { loggedInAt, type PlayedServer, playServer, refreshWith } from '../fixtures/played-server.ts';
import { run, start, tempHome } from '../fixtures/in-process.ts';
import { run as runProcess, start as startProcess } from '../fixtures/program.ts';
import { processIo } from '../terminal/io.ts';
import { openSession } from './session.ts';

const BUSY = { error: 'unauthorized', message: 'Send it again.', retry_after_seconds: 1 };
const OVER = { error: 'unauthorized', message: 'The session is over. Log in again.' };

test('the new refresh token is kept before anything else is asked, and the access token is kept nowhere', async (t) => {
  const server = await playServer(t);
  const { home, file, refreshToken } = loggedInAt(t, server.url);
  const program = startProcess(t, ['tokens', 'list', '--json'], { home });
  const refresh = await server.next();
  assert.deepEqual([refresh.what, refresh.headers.cookie], ['POST /auth/refresh', 'qnt_refresh=cookie-0']);
  refreshWith(refresh, 'cookie-1', 'access-secret');
  const list = await server.next();
  assert.deepEqual([list.what, list.headers.authorization], ['GET /tokens', 'Bearer access-secret']);
  assert.equal(list.headers.cookie, undefined);
  assert.equal(refreshToken(), 'cookie-1');
  assert.ok(!readFileSync(file, 'utf8').includes('access-secret'));
  assert.ok(!readFileSync(`/proc/${program.child.pid}/cmdline`, 'utf8').includes('access-secret'));
  list.answer(200, []);
  assert.equal(await program.exit, 0);
  assert.deepEqual([program.stdout, program.stderr], ['[]\n', '']);
  assert.deepEqual(readdirSync(dirname(file)), ['credentials.json']);
});

/** Plays the sessions of a real server: each cookie is good once. Serves `GET /tokens` until `count` of them were asked for. */
async function serveSessions(server: PlayedServer, count: number): Promise<string[]> {
  const shown: string[] = [];
  let good = 'qnt_refresh=cookie-0';
  for (let lists = 0; lists < count; ) {
    const request = await server.next();
    if (request.what === 'GET /tokens') {
      lists += 1;
      request.answer(200, []);
      continue;
    }
    shown.push(request.headers.cookie ?? '');
    assert.equal(request.headers.cookie, good, 'a cookie that was swapped ends the session');
    good = `qnt_refresh=cookie-${shown.length}`;
    refreshWith(request, `cookie-${shown.length}`);
  }
  return shown;
}

test('commands that run side by side show each refresh token once', async (t) => {
  const server = await playServer(t);
  const { home, refreshToken } = loggedInAt(t, server.url);
  const count = 6;
  const served = serveSessions(server, count);
  const ends = await Promise.all(
    Array.from({ length: count }, () => runProcess(['tokens', 'list', '--json'], { home })),
  );
  for (const { code, stderr } of ends) assert.deepEqual([code, stderr], [0, '']);
  assert.equal(new Set(await served).size, count);
  assert.equal(refreshToken(), `cookie-${count}`);
});

test('a log-out beside another command ends the session that there is by then', async (t) => {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const list = start(t, ['tokens', 'list', '--json'], { home });
  const refresh = await server.next();
  const logout = start(t, ['logout'], { home });
  refreshWith(refresh, 'cookie-1');
  (await server.next()).answer(200, []);
  assert.equal(await list.exit, 0);
  (await server.next()).answer(200, {});
  const end = await server.next();
  assert.deepEqual([end.what, end.headers.cookie], ['POST /auth/logout', 'qnt_refresh=cookie-1']);
  end.answer(200, {});
  assert.equal(await logout.exit, 0);
});

test('told to try again, it shows what the file has by then', async (t) => {
  const server = await playServer(t);
  const { home, file } = loggedInAt(t, server.url);
  const pauses: number[] = [];
  const pause = async (ms: number) => void pauses.push(ms);
  const program = start(t, ['tokens', 'list', '--json'], { home, pause });
  const first = await server.next();
  // Another machine with the same home was faster.
  writeFileSync(file, readFileSync(file, 'utf8').replace('cookie-0', 'cookie-theirs'));
  first.answer(401, BUSY, { 'retry-after': '1' });
  const again = await server.next();
  assert.equal(again.headers.cookie, 'qnt_refresh=cookie-theirs');
  assert.deepEqual(pauses, [1_000]);
  refreshWith(again, 'cookie-2');
  (await server.next()).answer(200, []);
  assert.equal(await program.exit, 0);
});

test('a session that is over, and no login at all, exit with 3 and the command that helps', async (t) => {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, ['tokens'], { home });
  (await server.next()).answer(401, OVER);
  assert.equal(await program.exit, 3);
  assert.equal(
    program.stderr,
    `culvert: Your login at ${server.url} has ended. Run culvert login --server ${server.url}\n`,
  );
  const absent = await run(['projects', '--server', server.url], { home: tempHome(t) });
  assert.deepEqual([absent.code, absent.stdout], [3, '']);
  assert.equal(absent.stderr, `culvert: not logged in at ${server.url}. Run culvert login --server ${server.url}\n`);
  assert.equal(server.count, 1);
});

test('a server that never gets ready to swap is not asked for ever', async (t) => {
  const server = await playServer(t);
  const { home, refreshToken } = loggedInAt(t, server.url);
  const program = start(t, ['tunnels'], { home });
  void program.exit.then(() => server.next().then((request) => request.drop()));
  for (let tries = 0; tries < 5; tries += 1) (await server.next()).answer(401, BUSY, { 'retry-after': '0' });
  assert.equal(await program.exit, 1);
  assert.match(program.stderr, /other commands are using this login\. Try again/);
  assert.equal(refreshToken(), 'cookie-0');
});

test('Ctrl-C between the swap and the file loses no session', async (t) => {
  const server = await playServer(t);
  const { home, refreshToken } = loggedInAt(t, server.url);
  const program = start(t, ['tokens'], { home });
  const refresh = await server.next();
  program.signal('SIGINT');
  program.signal('SIGTERM');
  refreshWith(refresh, 'cookie-1');
  assert.equal(await program.exit, 130, program.stderr);
  assert.equal(refreshToken(), 'cookie-1');
  assert.equal(server.count, 1);
});

test('where the new token could not be kept, the session is not touched', async (t) => {
  const server = await playServer(t);
  const { home, file } = loggedInAt(t, server.url);
  mkdirSync(`${file}.lock`); // a lock that can't be taken away
  const credentials = new Credentials({ HOME: home }, { abandonedMs: 100, patienceMs: 30_000 });
  await assert.rejects(
    openSession(processIo(), new URL(server.url), { credentials, outbound: new Outbound() }),
    (error) => error instanceof ConfigError && /credentials\.json: cannot be written/.test(error.message),
  );
  assert.equal(server.count, 0);
});

test('a connection that breaks is said, and the login stays', async (t) => {
  const server = await playServer(t);
  const { home, refreshToken } = loggedInAt(t, server.url);
  const program = start(t, ['tokens'], { home });
  (await server.next()).drop();
  assert.equal(await program.exit, 1);
  assert.match(program.stderr, /^culvert: 127\.0\.0\.1:\d+: /);
  assert.equal(refreshToken(), 'cookie-0');
});

test('an access token that ran out while a person thought is asked for once more', async (t) => {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, ['projects', 'delete', 'shop', '--yes'], { home });
  refreshWith(await server.next(), 'cookie-1', 'access-1');
  const project = { slug: 'shop', name: 'Shop', isDefault: false, createdAt: '2026-11-21', tunnels: 0, tokens: 0 };
  (await server.next()).answer(200, project);
  (await server.next()).answer(401, OVER);
  const refresh = await server.next();
  assert.equal(refresh.headers.cookie, 'qnt_refresh=cookie-1');
  refreshWith(refresh, 'cookie-2', 'access-2');
  const again = await server.next();
  assert.deepEqual([again.what, again.headers.authorization], ['DELETE /projects/shop', 'Bearer access-2']);
  again.answer(200, { success: true, deletedTunnels: 0, revokedTokens: 0 });
  assert.equal(await program.exit, 0);
});
