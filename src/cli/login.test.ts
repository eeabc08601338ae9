/** `culvert login` against a server that the test plays: what it says, how often it asks, what makes it give up and what does not. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { checkPhrase, DEVICE_CODE } from '../wire/check-phrase.ts';
import { run, start, tempHome } from './fixtures/program.ts';

const KEY = {
  wire_bytes_b64: '2D3ShEqiAScERGtleTGg',
  label: 'cli-banjo-acorn-flute',
  refresh_token: 'refresh-0123456789',
  account: 'ann@example.test',
  organization: 'Acme',
  expires_at: '2099-01-01T00:00:00.000Z',
};
const PENDING = { error: 'authorization_pending', message: 'Nobody has approved this code yet.' };

interface Question {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly headers: IncomingMessage['headers'];
  readonly at: number;
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
      at: performance.now(),
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

async function loggingIn(t: TestContext, ...more: string[]) {
  const server = await fakeServer(t);
  const home = tempHome(t);
  const program = start(t, ['login', '--server', server.url, ...more], { home });
  return { server, home, program, file: join(home, '.config/culvert/credentials.json') };
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
  const { server, program } = await loggingIn(t, '--json');
  const first = await server.next();
  first.answer(429, { error: 'rate_limited', message: 'Later.' }, { 'retry-after': '1' });
  const second = await server.next();
  assert.ok(second.at - first.at > 900, 'it waits as long as it is told');
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
  const { server } = await loggingIn(t);
  const first = await server.next();
  first.answer(400, PENDING);
  const again = server.next().then(({ at }) => at - first.at);
  assert.ok((await again) > 11_000);
});

test('an answer that can not get better ends it, with its reason', async (t) => {
  const cases: ReadonlyArray<readonly [number, unknown, RegExp]> = [
    [400, { error: 'invalid_request', message: 'wait is too long\u001b[31m' }, /culvert: wait is too long\?\[31m\n/],
    [308, '', /name the server's final address with --server/],
    [404, { error: 'not_found', message: 'There is nothing here.' }, /There is nothing here\./],
    [200, { wire_bytes_b64: 5 }, /sent something that is no key/],
    [403, '<html>', /the server answers 403: is this a Culvert server\?/],
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

test('an expired log-in exits with 3 before it dials; logout of nothing is no mistake', async (t) => {
  const { server, program, home } = await loggingIn(t);
  (await server.next()).answer(200, { ...KEY, expires_at: '2020-02-03T00:00:00.000Z' });
  await program.exit;
  const { code, stderr } = await run(['http', '3000'], { home });
  assert.equal(code, 3);
  assert.equal(stderr, `culvert: Your log-in ended on 2020-02-03. Run culvert login --server ${server.url}\n`);
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
