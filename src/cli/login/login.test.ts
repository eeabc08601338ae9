/** `culvert login` against a server that the test plays: what it says, how often it asks, what makes it give up and what does not. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { checkPhrase, DEVICE_CODE } from '../../wire/check-phrase.ts';
import { run, start, tempHome } from '../fixtures/in-process.ts';

const KEY = {
  wire_bytes_b64: '2D3ShEqiAScERGtleTGg',
  label: 'cli-banjo-acorn-flute',
  refresh_token: 'refresh-0123456789',
  account: 'ann@example.test',
  organization: 'Acme',
  expires_at: '2099-01-01T00:00:00.000Z',
};
const PENDING = { error: 'authorization_pending', message: 'This code is not approved yet.' };

interface Question {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly headers: IncomingMessage['headers'];
  answer(status: number, body: unknown, headers?: Record<string, string>): void;
}

/** A server whose answers to POST are given by the test, in the order in which the questions come. */
async function fakeServer(t: TestContext) {
  const asked: Question[] = [];
  const wanted: Array<(question: Question) => void> = [];
  const onPost = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const length = Number(request.headers['content-length'] ?? 0);
    const body = length === 0 ? {} : ((await json(request)) as Record<string, unknown>);
    const question: Question = {
      path: request.url ?? '',
      body,
      headers: request.headers,
      answer: (status, answer, headers = {}) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
      },
    };
    const next = wanted.shift();
    if (next === undefined) asked.push(question);
    else next(question);
  };
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      void onPost(request, response);
      return;
    }
    const found = { version: '9.9', agent_address: '127.0.0.1:1', edge_domain: 'localhost' };
    response.writeHead(request.url === '/.well-known/culvert' ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return {
    url: `http://127.0.0.1:${address.port}`,
    next: (): Promise<Question> => {
      const question = asked.shift();
      return question === undefined ? new Promise((resolve) => wanted.push(resolve)) : Promise.resolve(question);
    },
  };
}

/** Pauses between requests end immediately; `pauses` records them. */
async function loggingIn(t: TestContext, ...more: string[]) {
  const server = await fakeServer(t);
  const home = tempHome(t);
  const pauses: number[] = [];
  const pause = async (ms: number) => void pauses.push(ms);
  const program = start(t, ['login', '--server', server.url, ...more], { home, pause });
  return { server, home, program, pauses, pause, file: join(home, '.config/culvert/credentials.json') };
}

test('it makes a code, says address and phrase on standard error, waits with it, and keeps what comes', async (t) => {
  const { server, program, file } = await loggingIn(t);
  const question = await server.next();
  assert.equal(question.path, '/auth/cli/token');
  assert.match(String(question.headers['user-agent']), /^culvert on \S+$/);
  const { device_code, ...rest } = question.body;
  assert.match(String(device_code), DEVICE_CODE);
  assert.deepEqual(rest, { wait: 25, session: true });
  assert.ok(program.stderr.includes(`  ${server.url}/app/cli?device_code=${String(device_code)}\n`));
  assert.ok(program.stderr.includes(`  ${checkPhrase(String(device_code))}\n`));
  question.answer(200, KEY);
  assert.equal(await program.exit, 0);
  assert.equal(program.stdout, '');
  assert.match(program.stderr, /Logged in at http:\/\/127\.0\.0\.1:\d+ as ann@example\.test, organization Acme\./);
  assert.match(program.stderr, /^Next: culvert http 3000$/m);
  for (const secret of [KEY.wire_bytes_b64, KEY.refresh_token]) assert.ok(!program.stderr.includes(secret));
  const kept = JSON.parse(readFileSync(file, 'utf8')) as { logins: Record<string, unknown> };
  assert.deepEqual(kept.logins, { [server.url]: KEY });
});

test('what a server or a proxy says while it is busy, away or broken does not end it', async (t) => {
  const { server, program, pauses } = await loggingIn(t, '--json');
  const first = await server.next();
  first.answer(429, { error: 'rate_limited', message: 'Later.' }, { 'retry-after': '60' });
  const second = await server.next();
  const [told = 0] = pauses;
  assert.ok(told > 30_000 && told <= 60_000, `it waits as long as the server asks: ${told} ms`);
  assert.equal(second.body['device_code'], first.body['device_code']);
  second.answer(502, '<html>bad gateway</html>', { 'content-type': 'text/html' });
  (await server.next()).answer(200, KEY);
  assert.equal(await program.exit, 0);
  const events = program.stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { event: string }).event);
  assert.deepEqual(events, ['login_started', 'login_retrying', 'logged_in']);
  assert.equal(program.stderr, '');
});

test('a question that is answered early is not asked again at once: the person needs the limit for themselves', async (t) => {
  const { server, pauses } = await loggingIn(t);
  (await server.next()).answer(400, PENDING);
  await server.next();
  const [early = 0] = pauses;
  assert.ok(early > 6_000 && early <= 12_000, `${early} ms`);
});

test('an answer that can not get better ends it, with its reason', async (t) => {
  const cases: ReadonlyArray<readonly [number, unknown, RegExp]> = [
    [400, { error: 'invalid_request', message: 'wait is too long\u001b[31m' }, /culvert: wait is too long\?\[31m\n/],
    [308, '', /redirects\. Use the final URL with --server/],
    [404, { error: 'not_found', message: 'There is nothing here.' }, /There is nothing here\./],
    [200, { wire_bytes_b64: 5 }, /its response has no valid key/],
    [403, '<html>', /the server responded with 403\. Is this a Culvert server\?/],
  ];
  await Promise.all(
    cases.map(async ([status, body, message]) => {
      const { server, program, file } = await loggingIn(t);
      (await server.next()).answer(status, body, { location: 'https://elsewhere.example/' });
      assert.equal(await program.exit, 1);
      assert.match(program.stderr, message);
      assert.ok(!existsSync(file));
    }),
  );
});

test('Ctrl-C exits with 130 and keeps nothing', async (t) => {
  const { server, program, file } = await loggingIn(t);
  await server.next();
  program.signal('SIGINT');
  assert.equal(await program.exit, 130);
  assert.ok(!existsSync(file));
});

test('a server that is not there, or is no Culvert server, is said before anything else', async (t) => {
  const home = tempHome(t);
  const away = await run(['login', '--server', 'http://127.0.0.1:1'], { home });
  assert.equal(away.code, 1);
  assert.match(away.stderr, /ECONNREFUSED/);
  assert.doesNotMatch(away.stderr, /device_code/);
});

test('an expired login exits with 3 before it dials; logout of nothing is no mistake', async (t) => {
  const { server, program, home } = await loggingIn(t);
  (await server.next()).answer(200, { ...KEY, expires_at: '2020-02-03T00:00:00.000Z' });
  await program.exit;
  const { code, stderr } = await run(['http', '3000'], { home });
  assert.equal(code, 3);
  assert.equal(stderr, `culvert: Your login expired on 2020-02-03. Run culvert login --server ${server.url}\n`);
  const other = await run(['logout', '--server', 'http://127.0.0.1:1', '--json'], { home });
  assert.equal(other.code, 0);
  assert.deepEqual(Object.keys(JSON.parse(other.stdout) as object), [
    'event',
    'at',
    'server',
    'account',
    'revoked',
    'problem',
  ]);
});

test('logout shows the server the key and the session, and forgets both', async (t) => {
  const { server, program, home, file } = await loggingIn(t);
  (await server.next()).answer(200, KEY);
  await program.exit;
  const logout = start(t, ['logout'], { home });
  const key = await server.next();
  assert.deepEqual([key.path, key.body], ['/auth/cli/logout', { wire_bytes_b64: KEY.wire_bytes_b64 }]);
  key.answer(401, { error: 'unauthorized', message: 'It was over.' });
  const session = await server.next();
  assert.deepEqual([session.path, session.headers['cookie']], ['/auth/logout', `qnt_refresh=${KEY.refresh_token}`]);
  session.answer(200, { status: 'logged_out' });
  assert.equal(await logout.exit, 0);
  assert.ok(!existsSync(file));
});

const NEXT = { ...KEY, wire_bytes_b64: 'bmV4dCBrZXk=', label: 'cli-next-key-here', refresh_token: 'refresh-next' };

/** Logged in with KEY, and at it again: the server holds the question of the second login. */
async function loggingInAgain(t: TestContext, ...more: string[]) {
  const { server, program, home, file, pauses, pause } = await loggingIn(t);
  (await server.next()).answer(200, KEY);
  await program.exit;
  const again = start(t, ['login', '--server', server.url, ...more], { home, pause });
  return { server, home, file, again, pauses, question: await server.next() };
}

test('another login at the same server ends key and session of the one before', async (t) => {
  const { server, file, again, pauses, question } = await loggingInAgain(t);
  question.answer(200, NEXT);
  const key = await server.next();
  assert.deepEqual([key.path, key.body], ['/auth/cli/logout', { wire_bytes_b64: KEY.wire_bytes_b64 }]);
  // The login itself may have used up what the limit allows.
  key.answer(429, { error: 'rate_limited', message: 'Later.' }, { 'retry-after': '1' });
  const patient = await server.next();
  assert.deepEqual([patient.path, patient.body], ['/auth/cli/logout', { wire_bytes_b64: KEY.wire_bytes_b64 }]);
  assert.deepEqual(pauses, [1_000]);
  patient.answer(200, { status: 'logged_out' });
  const session = await server.next();
  assert.deepEqual([session.path, session.headers['cookie']], ['/auth/logout', `qnt_refresh=${KEY.refresh_token}`]);
  session.answer(200, {});
  assert.equal(await again.exit, 0);
  assert.doesNotMatch(again.stderr, /previous login/);
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')).logins, { [server.url]: NEXT });
});

test('a key before that an agent of this machine runs with is left alone, and named', async (t) => {
  const { server, home, again, question } = await loggingInAgain(t);
  const record = { bootId: null, startedAt: 0, version: '1', server: `${server.url}/`, state: 'online', tunnels: [] };
  const agent = { pid: process.pid, loginLabel: KEY.label, ...record };
  mkdirSync(join(home, 'run/culvert'), { recursive: true });
  writeFileSync(join(home, `run/culvert/agent-${process.pid}.json`), JSON.stringify(agent));
  question.answer(200, NEXT);
  assert.equal(await again.exit, 0);
  assert.match(
    again.stderr,
    new RegExp(`key of your previous login, ${KEY.label}, is valid until 2099-01-01: restart`),
  );
  assert.match(
    again.stderr,
    new RegExp(`pid ${process.pid}\\), then revoke it: culvert tokens revoke ${KEY.label} --server http`),
  );
});

test('a key before that the server does not end is named, and the new login stands', async (t) => {
  const { server, again, question } = await loggingInAgain(t, '--json');
  question.answer(200, NEXT);
  (await server.next()).answer(503, { error: 'unavailable', message: 'Not now.' });
  assert.equal(await again.exit, 0);
  const events = again.stdout.trimEnd().split('\n');
  const { at, ...left } = JSON.parse(events.at(-1) ?? '') as Record<string, unknown>;
  assert.ok(at);
  const { label, expires_at } = KEY;
  assert.deepEqual(left, { event: 'key_left', server: server.url, label, expires_at, agents: [], cause: 'Not now.' });
});

test('where no key can be kept, none is asked for', async (t) => {
  const server = await fakeServer(t);
  const home = tempHome(t);
  mkdirSync(join(home, '.config'));
  symlinkSync('nowhere', join(home, '.config/culvert'));
  const { code, stderr } = await run(['login', '--server', server.url], { home });
  assert.equal(code, 2);
  assert.match(stderr, /credentials\.json: cannot be written/);
  assert.doesNotMatch(stderr, /device_code/);
});

test('a key that can not be kept after all is ended on the server, or named when that fails', async (t) => {
  const cases: ReadonlyArray<readonly [number, RegExp]> = [
    [200, /was not written by culvert login.*; the new key was revoked\n/],
    [503, /the new key is still valid \(Not now\.\): revoke cli-banjo-acorn-flute at http/],
  ];
  for (const [status, message] of cases) {
    const { server, program, file } = await loggingIn(t);
    const question = await server.next();
    writeFileSync(file, 'not ours', { mode: 0o600 });
    question.answer(200, KEY);
    const key = await server.next();
    assert.deepEqual([key.path, key.body], ['/auth/cli/logout', { wire_bytes_b64: KEY.wire_bytes_b64 }]);
    key.answer(status, { message: 'Not now.' });
    if (status === 200) (await server.next()).answer(200, {});
    assert.equal(await program.exit, 2);
    assert.match(program.stderr, message);
    assert.equal(readFileSync(file, 'utf8'), 'not ours');
  }
});

test('status and logout say what is wrong with a file of logins, beside all else that they know', async (t) => {
  const { server, program, home, file } = await loggingIn(t);
  (await server.next()).answer(200, KEY);
  await program.exit;
  writeFileSync(file, 'not ours');
  const named = ['--server', server.url];
  const shown = await run(['status', ...named], { home });
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /^server .* online, version 9\.9$/m);
  assert.match(shown.stdout, /^login {3}\S+credentials\.json: .* was not written by culvert login/m);
  assert.match(shown.stdout, /^agents {2}none/m);
  const { login, login_problem } = JSON.parse((await run(['status', ...named, '--json'], { home })).stdout) as Record<
    string,
    unknown
  >;
  assert.equal(login, null);
  assert.match(String(login_problem), /was not written by culvert login/);
  // Without a server named, the file can't name it either.
  assert.match((await run(['status'], { home })).stdout, /^login .* was not written by culvert login/m);
  const logout = await run(['logout', ...named], { home });
  assert.equal(logout.code, 1);
  assert.match(logout.stderr, /was not written by culvert login.*\nno key was revoked: /);
  const json = JSON.parse((await run(['logout', ...named, '--json'], { home })).stdout) as Record<string, unknown>;
  assert.equal(json['revoked'], false);
  assert.match(String(json['problem']), /was not written by culvert login/);
  assert.equal(readFileSync(file, 'utf8'), 'not ours');
});

test('status says that a login was ended on the server, and keeps what holds', async (t) => {
  const { server, program, home } = await loggingIn(t);
  (await server.next()).answer(200, KEY);
  await program.exit;
  const named = ['--server', server.url];
  const holds = start(t, ['status', ...named], { home });
  const renewal = await server.next();
  assert.equal(renewal.path, '/auth/refresh');
  renewal.answer(200, { access_token: 'a' }, { 'set-cookie': 'qnt_refresh=refresh-next; Path=/' });
  assert.equal(await holds.exit, 0);
  assert.match(holds.stdout, /^login {3}ann@example.test, organization Acme {2}until 2099-01-01$/m);

  const ended = start(t, ['status', ...named, '--json'], { home });
  (await server.next()).answer(401, { error: 'unauthorized', message: 'x' });
  assert.equal(await ended.exit, 0);
  const { login_problem: problem } = JSON.parse(ended.stdout) as { login_problem: string };
  assert.match(problem, /^Your login at \S+ has ended. Run culvert login --server/);
});

test('JSON holds nothing that a terminal obeys, and the value all the same', async (t) => {
  const { server, program, home } = await loggingIn(t, '--json');
  const organization = 'Ac\u009b31mme\u202e!';
  (await server.next()).answer(200, { ...KEY, organization });
  await program.exit;
  const status = start(t, ['status', '--json'], { home });
  (await server.next()).answer(401, { error: 'unauthorized', message: 'x' });
  await status.exit;
  for (const text of [program.stdout, status.stdout]) {
    assert.doesNotMatch(text, /[\u0080-\u009f\u202e]/);
    assert.ok(text.includes('Ac\\u009b31mme\\u202e!'));
  }
  assert.equal((JSON.parse(status.stdout) as { login: { organization: string } }).login.organization, organization);
  assert.equal(status.stdout.includes(server.url), true);
});
