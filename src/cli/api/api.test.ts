/** `culvert api` and `culvert open`: what they ask a server, and what they print. Against a real one: test/flows/cli-manage.test.ts. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loggedInAt, type PlayedServer, playServer, refreshWith } from '../fixtures/played-server.ts';
import { type Program, run, start, tempHome } from '../fixtures/in-process.ts';
import { TUNNEL_ITEM } from '../fixtures/tunnel-item.ts';

const WITHIN = { timeout: 60_000 };

async function asking(
  t: TestContext,
  words: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<{ program: Program; server: PlayedServer }> {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text);
  const program = start(t, words, { home });
  refreshWith(await server.next(), 'cookie-1');
  return { program, server };
}

test('api: a path alone is a GET, and a POST with a body', WITHIN, async (t) => {
  const cases: ReadonlyArray<readonly [words: string[], what: string, body: unknown]> = [
    [['/tunnels?a=b'], 'GET /tunnels?a=b', undefined],
    [['tunnels'], 'GET /tunnels', undefined],
    [['/projects', '--data', '{"slug":"web"}'], 'POST /projects', { slug: 'web' }],
    [['patch', '/projects/web', '--data', '@body.json'], 'PATCH /projects/web', { name: 'Web' }],
    [['DELETE', '/tunnels/t1'], 'DELETE /tunnels/t1', undefined],
  ];
  for (const [words, what, body] of cases) {
    const { program, server } = await asking(t, ['api', ...words], { 'body.json': '{"name":"Web"}' });
    const request = await server.next();
    assert.deepEqual([request.what, request.body], [what, body]);
    assert.equal(request.headers.authorization, 'Bearer access-1');
    request.answer(200, { id: 't1' });
    assert.deepEqual([await program.exit, program.stdout], [0, '{"id":"t1"}\n']);
  }
});

test('api: prints the body of a refusal, and ends with the code of one', WITHIN, async (t) => {
  for (const [status, code] of [
    [400, 2],
    [403, 3],
    [404, 1],
    [409, 4],
    [500, 1],
  ] as const) {
    const { program, server } = await asking(t, ['api', '/tunnels/x']);
    (await server.next()).answer(status, { error: 'e', message: 'Why.' });
    assert.deepEqual([await program.exit, program.stdout], [code, '{"error":"e","message":"Why."}\n']);
    assert.equal(program.stderr, 'culvert: Why.\n');
  }
});

test('api: --include prints status and headers first', WITHIN, async (t) => {
  const { program, server } = await asking(t, ['api', '/tunnels', '--include']);
  (await server.next()).answer(200, [], { 'x-request-id': 'r1' });
  assert.equal(await program.exit, 0);
  assert.match(program.stdout, /^HTTP 200\n(?:.+\n)*x-request-id: r1\n(?:.+\n)*\n\[\]\n$/);
});

test('api: --paginate prints all pages as one list', WITHIN, async (t) => {
  const { program, server } = await asking(t, ['api', '/inspector?limit=1', '--paginate']);
  (await server.next()).answer(200, [1], { link: '<?limit=1&before=1>; rel="next"' });
  const second = await server.next();
  assert.equal(second.what, 'GET /inspector?limit=1&before=1');
  second.answer(200, [2]);
  assert.deepEqual([await program.exit, program.stdout], [0, '[1,2]\n']);
});

test('api: a mistake in the command line sends nothing', WITHIN, async (t) => {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const cases: ReadonlyArray<readonly [string[], RegExp]> = [
    [['GET'], /needs a path/],
    [['FETCH', '/tunnels'], /"FETCH" is no method/],
    [['tunnels', 'list'], /"tunnels" is no method\..*`culvert tunnels` or `culvert api GET \/tunnels`/],
    [['//evil.example/tunnels'], /is not a path of the API/],
    [['GET', '/\\evil.example/tunnels'], /is not a path of the API/],
    [['/tunnels', '--data', '{'], /--data: is not valid JSON/],
    [['/tunnels', '--data', '7'], /must be a JSON object/],
    [['/tunnels', '--data', '@absent'], /absent: can't be read/],
    [['DELETE', '/tunnels/t1', '--paginate'], /--paginate: is for GET/],
  ];
  for (const [words, message] of cases) {
    const { code, stdout, stderr } = await run(['api', ...words], { home });
    assert.deepEqual([code, stdout], [2, ''], words.join(' '));
    assert.match(stderr, message);
  }
  assert.equal(server.count, 0);
});

test('open: prints the page of the tunnel where there is no browser', WITHIN, async (t) => {
  const { program, server } = await asking(t, ['open', 'shop']);
  (await server.next()).answer(200, [TUNNEL_ITEM]);
  assert.deepEqual([await program.exit, program.stdout], [0, `${server.url}/app/tunnels/t1\n`]);
});

test('open: without a tunnel needs no login', WITHIN, async (t) => {
  const options = { home: tempHome(t), env: { DISPLAY: ':0' } };
  const words = ['open', '--server', 'https://example.com/api'];
  const plain = await run([...words, '--no-browser'], options);
  assert.deepEqual([plain.code, plain.stdout], [0, 'https://example.com/api/app/\n'], plain.stderr);
  const json = await run([...words, '--json'], options);
  assert.deepEqual([json.code, json.stdout], [0, '{"url":"https://example.com/api/app/"}\n'], json.stderr);
});
