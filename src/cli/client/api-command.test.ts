/** Who asks the server when tokens, projects and tunnels are managed, and what a script learns from the exit code. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loggedInAt, type PlayedRequest, playServer, refreshWith } from '../fixtures/played-server.ts';
import { type Program, run, start, tempHome } from '../fixtures/in-process.ts';

const MASTER = 'mtk_master_0123456789abcdefghijABCDEFGHIJ0123456789abc';
const AGENT = 'mtk_0123456789abcdefghijABCDEFGHIJ0123456789abc';
const NONCE = '5f2b1c9e8d7a4f60b3c2d1e0f9a8b7c6';
const TOKEN = {
  id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a20',
  name: 'ci',
  nonce: NONCE,
  kind: 'project',
  tunnelQuota: 5,
  bandwidthLimitMbps: 100,
  allowedSubdomains: ['*'],
  projectSlug: 'shop',
  expiresAt: 4_000_000_000,
  graceEndsAt: null,
  replacedBy: null,
  revoked: false,
  monthlyBudgetUsdCents: null,
  spentUsdCents: 0,
};
const MINTED = { ...TOKEN, apiKey: AGENT, wireBytes: '0oRDoQEnoFhA', subject: 'org:1', signature: 'c2ln' };

/** A person's command, as far as its first question after the refresh. */
async function asking(t: TestContext, ...words: string[]): Promise<{ program: Program; request: PlayedRequest }> {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, words, { home });
  refreshWith(await server.next(), 'cookie-1');
  return { program, request: await server.next() };
}

test('an exit code says what a refusal means', async (t) => {
  const cases: ReadonlyArray<readonly [number, object, number, RegExp]> = [
    [400, { message: 'Bad.', details: [{ path: 'slug', message: 'is long' }] }, 2, /^culvert: Bad\. slug: is long\n$/],
    [401, { message: 'The session is over.' }, 3, /^culvert: The session is over\. Run culvert login --server http/],
    [402, { message: 'Your plan has none. Choose a larger one.' }, 4, /Choose a larger one/],
    [403, { message: 'Your role may not.' }, 3, /^culvert: Your role may not\.\n$/],
    [404, { message: 'No such project.' }, 1, /No such project/],
    [409, { message: 'shop is taken.\u001b[31m' }, 4, /^culvert: shop is taken\.\?\[31m\n$/],
    [429, { message: 'Wait for 12 seconds.' }, 1, /Wait for 12 seconds/],
    [503, { message: 'Not now.' }, 1, /Not now/],
    [308, {}, 2, /redirects\. Use the final URL with --server/],
    [200, { unexpected: true }, 0, /^$/],
  ];
  await Promise.all(
    cases.map(async ([status, body, code, message]) => {
      const { program, request } = await asking(t, 'projects', 'create', 'shop');
      assert.deepEqual(request.body, { slug: 'shop', name: 'shop' });
      request.answer(status, body, { location: 'https://elsewhere.example/' });
      assert.equal(await program.exit, code);
      assert.match(program.stderr, message);
    }),
  );
});

test('master key: manages keys of a project without a login', async (t) => {
  const server = await playServer(t);
  const home = tempHome(t);
  const env = { CULVERT_TOKEN: MASTER, CULVERT_SERVER: server.url };
  const path = `/projects/shop/tokens`;
  const cases: ReadonlyArray<readonly [string[], string, unknown]> = [
    [
      ['mint', 'ci', '--ttl-hours', '2', '--subdomains', 'a, b-*'],
      `POST ${path}`,
      { name: 'ci', ttl_hours: 2, allowed_subdomains: ['a', 'b-*'] },
    ],
    [['rotate', NONCE, '--grace-hours', '1'], `POST ${path}/${NONCE}/rotate`, { graceHours: 1 }],
    [['revoke', NONCE, '--yes'], `DELETE ${path}/${NONCE}`, undefined],
  ];
  for (const [words, what, body] of cases) {
    const program = start(t, ['tokens', ...words, '--project', 'shop'], { home, env });
    const request = await server.next();
    assert.deepEqual([request.what, request.headers.authorization, request.body], [what, `Bearer ${MASTER}`, body]);
    request.answer(200, what.startsWith('DELETE') ? { success: true, revoked: 1 } : MINTED);
    assert.equal(await program.exit, 0, program.stderr);
    assert.ok(!(program.stdout + program.stderr).includes(MASTER));
  }
  const refused = start(t, ['tokens', 'mint', 'ci', '--project', 'shop'], { home, env });
  (await server.next()).answer(401, { message: 'The master key has expired. Create another one.' });
  assert.equal(await refused.exit, 3);
  assert.equal(refused.stderr, 'culvert: The master key has expired. Create another one.\n');
});

test('a key that can not do it is said to be one, before anything is asked', async (t) => {
  const server = await playServer(t);
  const home = tempHome(t);
  writeFileSync(join(home, 'agent-key'), AGENT, { mode: 0o600 });
  const master = { CULVERT_TOKEN: MASTER };
  const cases: ReadonlyArray<readonly [string[], NodeJS.ProcessEnv, number, RegExp]> = [
    [['tokens'], { CULVERT_TOKEN: AGENT }, 3, /the key in CULVERT_TOKEN only opens tunnels\. .* culvert login/],
    [['projects'], { CULVERT_TOKEN_FILE: 'agent-key' }, 3, /the key in CULVERT_TOKEN_FILE only opens tunnels/],
    [
      ['tokens', 'mint', 'ci', '--project', 'shop', '--token-file', 'agent-key'],
      {},
      3,
      /the key in --token-file only opens tunnels/,
    ],
    [['tokens', 'list'], master, 3, /a master key only creates, rotates and revokes keys of a project/],
    [['tokens', 'mint', 'ci'], master, 3, /Name it with --project SLUG/],
    [['tokens', 'mint', 'ci', '--project', 'shop'], {}, 3, /not logged in .* pass a master key with CULVERT_TOKEN/],
    [['tokens', 'revoke', 'ci', '--project', 'shop', '--yes'], master, 2, /"ci" is not a nonce: a master key needs/],
    [['tokens', 'mint', 'ci', '--project', '..'], master, 2, /"\.\." is not a project slug/],
  ];
  await Promise.all(
    cases.map(async ([words, env, code, message]) => {
      const ended = await run(words, { home, env: { ...env, CULVERT_SERVER: server.url } });
      assert.deepEqual([ended.code, ended.stdout], [code, ''], ended.stderr);
      assert.match(ended.stderr, message);
      assert.ok(!ended.stderr.includes(AGENT) && !ended.stderr.includes(MASTER));
    }),
  );
  assert.equal(server.count, 0);
});

test('who has logged in asks as that person, though an agent has its key here', async (t) => {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  // With the server's name or without: an agent's key takes a person to no other server than the one where they are logged in.
  const mint = ['tokens', 'mint', 'ci', '--project', 'shop'];
  for (const [words, env] of [
    [['tunnels', '--json'], { CULVERT_TOKEN: AGENT, CULVERT_SERVER: server.url }],
    [['tunnels', '--json'], { CULVERT_TOKEN: MASTER, CULVERT_SERVER: server.url }],
    [['tunnels', '--json'], { CULVERT_TOKEN: AGENT }],
    [['tokens', '--json'], { CULVERT_TOKEN: MASTER }],
    [['tokens', '--json'], { CULVERT_TOKEN_FILE: 'absent' }],
    [mint, { CULVERT_TOKEN: AGENT }],
  ] as const) {
    const program = start(t, words, { home, env });
    refreshWith(await server.next(), 'cookie-1');
    const request = await server.next();
    assert.equal(request.headers.authorization, 'Bearer access-1');
    request.answer(200, words === mint ? MINTED : []);
    assert.equal(await program.exit, 0, program.stderr);
  }
});

test('who asks at another server than where they are logged in learns where that is', async (t) => {
  const { home } = loggedInAt(t, 'https://culvert.example');
  const { code, stderr } = await run(['tokens', '--server', 'https://other.example'], { home });
  assert.equal(code, 3);
  assert.equal(
    stderr,
    'culvert: not logged in at https://other.example. Run culvert login --server https://other.example, or use --server with a server where you are logged in: https://culvert.example\n',
  );
});

test('no key of the user goes to a server that only a project file names', async (t) => {
  const server = await playServer(t);
  const home = tempHome(t);
  writeFileSync(join(home, 'culvert.toml'), 'server = "https://elsewhere.example"\n');
  const words = ['tokens', 'mint', 'ci', '--project', 'shop'];
  const { code, stderr } = await run(words, { home, env: { CULVERT_TOKEN: MASTER } });
  assert.equal(code, 2);
  assert.match(stderr, /your access key \(CULVERT_TOKEN\) was not sent, because only a project file sets this server/);
  assert.equal(server.count, 0);
});

test('a name that stands for several live tokens is refused with their nonces; ended ones do not count', async (t) => {
  const other = { ...TOKEN, nonce: 'aa2b1c9e8d7a4f60b3c2d1e0f9a8b7c6', projectSlug: null };
  const { program, request } = await asking(t, 'tokens', 'revoke', 'ci', '--yes');
  request.answer(200, [
    TOKEN,
    other,
    { ...TOKEN, nonce: 'bb', revoked: true },
    { ...TOKEN, nonce: 'cc', expiresAt: 1 },
  ]);
  assert.equal(await program.exit, 2);
  assert.match(
    program.stderr,
    /2 valid keys have the name "ci"\. Use a nonce:\n {2}5f2b\w+ {2}project shop, valid until 2096-\S+ \S+\n {2}aa2b\w+ {2}for the whole organization, valid until 2096-\S+ \S+\n$/,
  );
});

test("a project that a person names too is the key's own: no other key is meant, by name or by nonce", async (t) => {
  const wide = { ...TOKEN, nonce: 'aa2b1c9e8d7a4f60b3c2d1e0f9a8b7c6', kind: 'agent', projectSlug: null };
  const path = `/projects/shop/tokens/${NONCE}`;
  const cases: ReadonlyArray<readonly [string[], object[], string | RegExp]> = [
    [['revoke', 'ci', '--yes'], [wide, TOKEN], `DELETE ${path}`],
    [['rotate', 'ci'], [wide, TOKEN], `POST ${path}/rotate`],
    [['revoke', NONCE, '--yes'], [wide, TOKEN], `DELETE ${path}`],
    [['revoke', 'ci', '--yes'], [wide], /there is no valid key "ci" in the project shop\./],
    [['revoke', wide.nonce, '--yes'], [wide, TOKEN], /there is no valid key "aa2b\w+" in the project shop\./],
    [['rotate', 'ci', '--grace-hours', '1'], [wide, { ...TOKEN, projectSlug: 'web' }], /in the project shop\./],
  ];
  for (const [words, listed, wanted] of cases) {
    const server = await playServer(t);
    const { home } = loggedInAt(t, server.url);
    const program = start(t, ['tokens', ...words, '--project', 'shop'], { home });
    refreshWith(await server.next(), 'cookie-1');
    (await server.next()).answer(200, listed);
    if (typeof wanted === 'string') {
      const request = await server.next();
      assert.equal(request.what, wanted);
      request.answer(200, { ...MINTED, success: true, revoked: 1 });
    } else {
      assert.equal(await program.exit, 1, program.stderr);
      assert.match(program.stderr, wanted);
      assert.equal(server.count, 2, 'nothing was asked for');
    }
    await program.exit;
  }
});

test('who revokes what replaced another key learns that the other still works', async (t) => {
  const old = { ...TOKEN, nonce: 'aa2b1c9e8d7a4f60b3c2d1e0f9a8b7c6', graceEndsAt: 3_900_000_000, replacedBy: NONCE };
  const older = { ...old, nonce: 'bb2b1c9e8d7a4f60b3c2d1e0f9a8b7c6', replacedBy: old.nonce };
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, ['tokens', 'revoke', NONCE, '--yes'], { home });
  refreshWith(await server.next(), 'cookie-1');
  (await server.next()).answer(200, [older, TOKEN, old, { ...old, nonce: 'cc', replacedBy: 'dd' }]);
  (await server.next()).answer(200, { success: true, revoked: 1 });
  assert.deepEqual([await program.exit, program.stdout], [0, 'ci: revoked\n']);
  const lines = [old, older].map(
    ({ nonce }) =>
      `The key from before the rotation is valid until 2093-08-01 21:20 UTC. To revoke it: culvert tokens revoke ${nonce}\n`,
  );
  assert.equal(program.stderr, lines.join(''));
});

test('a name means the token that replaced another, for rotation and budget', async (t) => {
  const old = { ...TOKEN, nonce: 'aa2b1c9e8d7a4f60b3c2d1e0f9a8b7c6', graceEndsAt: 3_900_000_000 };
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, ['tokens', 'budget', 'ci', '250'], { home });
  refreshWith(await server.next(), 'cookie-1');
  (await server.next()).answer(200, [TOKEN, old]);
  const request = await server.next();
  assert.deepEqual([request.what, request.body], [`PUT /tokens/${NONCE}/budget`, { monthlyBudgetUsdCents: 250 }]);
  request.answer(200, { success: true, monthlyBudgetUsdCents: 250 });
  assert.equal(await program.exit, 0);
  assert.equal(program.stdout, 'ci: $2.50 a month\n');
});

test('options that mean nothing, or that exclude each other, are usage mistakes, and nothing is minted', async (t) => {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  mkdirSync(join(home, 'folder'));
  writeFileSync(join(home, 'there'), 'something', { mode: 0o600 });
  const mint = (...words: string[]) => ['tokens', 'mint', 'ci', ...words];
  const cases: ReadonlyArray<readonly [string[], RegExp]> = [
    [mint('--ttl-hours', 'x'), /--ttl-hours: "x" is not a whole number/],
    [mint('--ttl-days', '5'), /--ttl-days: is for master keys/],
    [mint('--subdomains', 'a,,b'), /--subdomains: "a,,b" has an empty name/],
    [mint('--master', '--project', 'shop'), /--project: a master key has no project/],
    [mint('--master', '--quota', '1', '--mbps', '1'), /--quota, --mbps: a master key opens no tunnels/],
    [mint('--output-env', '--json'), /choose one/],
    [mint('--output-env', '--save-file', 'x'), /choose one/],
    [mint('--save-file', 'there'), /there: already exists\. Use --force/],
    [mint('--save-file', 'folder'), /folder: is not a file/],
    [mint('--save-file', 'absent/key'), /absent\/key: cannot be written: its folder does not exist\n/],
    [mint('--save-file', '/dev/stdout'), /\/dev\/stdout: is not a file\n/],
    [['tokens', 'budget', 'ci', '1.5'], /the budget, US cents or none: "1\.5" is not a whole number/],
    [['tokens', 'lst'], /there is no command "tokens lst": see culvert tokens --help/],
  ];
  for (const [words, message] of cases) {
    const { code, stdout, stderr } = await run(words, { home });
    assert.deepEqual([code, stdout], [2, ''], words.join(' '));
    assert.match(stderr, message);
  }
  assert.equal(server.count, 0);
});

test('an address that a shell would read otherwise is printed for none', async (t) => {
  const words = ['tokens', 'mint', 'ci', '--project', 'shop', '--output-env', '--server', 'http://127.0.0.1:1/a;b'];
  const { code, stdout, stderr } = await run(words, { home: tempHome(t), env: { CULVERT_TOKEN: MASTER } });
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /the URL http:\/\/127\.0\.0\.1:1\/a;b needs quotes in a shell/);
});

test('an answer of another version is said to be one', async (t) => {
  const { program, request } = await asking(t, 'tokens', 'list');
  request.answer(200, [{ name: 'ci' }]);
  assert.deepEqual([await program.exit, program.stdout], [1, '']);
  assert.match(program.stderr, /^culvert: \S+ sent an unknown response\. Is the server older than this program\?\n$/);
});

test('a server that answers with something else than a key gives none', async (t) => {
  for (const answer of [{}, { ...MINTED, apiKey: 'mtk_x; rm -rf ~' }, { ...MINTED, apiKey: undefined }]) {
    const { program, request } = await asking(t, 'tokens', 'mint', 'ci', '--output-env');
    request.answer(200, answer);
    assert.equal(await program.exit, 1);
    assert.equal(program.stdout, '');
    assert.match(program.stderr, /the response of the server has no valid key/);
  }
});
