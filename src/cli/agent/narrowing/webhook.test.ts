/** `--webhook-verify`: where secrets come from, and what is a mistake of the user. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { FakeServer } from '../../../agent/fixtures/fake-server.ts';
import { run, start, tempHome } from '../../fixtures/in-process.ts';

const KEY = 'mtk_0123456789abcdefghijABCDEFGHIJ0123456789abc';
let server: FakeServer;
before(async () => {
  server = await FakeServer.start();
});
after(() => server.close());
const env = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  CULVERT_TOKEN: KEY,
  CULVERT_SERVER: server.url.href,
  ...more,
});
const SECRET = { CULVERT_WEBHOOK_SECRET: 's3cret' };
const SVIX = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const mistakes = [
  [['--webhook-verify', 'github'], {}, /--webhook-verify: has no secret\. Use --webhook-secret-file FILE or CULVERT_W/],
  [['--webhook-verify', 'magic'], SECRET, /--webhook-verify: "magic" is none of generic_hmac_sha256, github/],
  [['--webhook-verify', 'github:hunter2'], SECRET, /--webhook-verify: takes the kind alone: generic_hmac_sha256, git/],
  [['--webhook-verify', 'discord'], SECRET, /CULVERT_WEBHOOK_SECRET must be the public key of the Discord app/],
  [['--webhook-secret-file', 'x'], {}, /--webhook-secret-file: needs the kind of sender: add --webhook-verify KIND/],
  [['--webhook-verify', 'github', '--webhook-secret-file', 'absent'], {}, /absent cannot be read: there is no such/],
  [['--webhook-verify', 'github', '--webhook-secret-file', 'empty'], {}, /empty has no secret/],
  [[], SECRET, /--webhook-verify: is missing, and CULVERT_WEBHOOK_SECRET is set\. Add --webhook-verify KIND/],
] as const;
for (const [flags, more, message] of mistakes) {
  test(`webhook verification: ${flags.join(' ')} is a usage error`, async (t) => {
    const home = tempHome(t);
    writeFileSync(join(home, 'empty'), '\n \n');
    const { code, stderr } = await run(['http', '3000', ...flags], { home, env: env(more) });
    assert.equal(code, 2);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /hunter2|s3cret/);
  });
}

test('webhook verification: four secrets at most', async (t) => {
  const home = tempHome(t);
  const flags = ['--webhook-verify', 'github', '--webhook-secret-file', 'secrets'];
  writeFileSync(join(home, 'secrets'), '1\n2\n3\n4\n5\n');
  const { code, stderr } = await run(['http', '3000', ...flags], { home, env: env({}) });
  assert.equal(code, 2);
  assert.match(stderr, /secrets has more than 4 secrets/);
});

test('webhook verification: not for tcp, nor may a secret be left over', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'culvert.toml'), '[tunnels.shop]\ntarget = 3000\n');
  for (const [args, more, message] of [
    [['tcp', '22', '--webhook-verify', 'github'], {}, /--webhook-verify: is for http and https tunnels only/],
    [['tcp', '22'], SECRET, /--webhook-verify: CULVERT_WEBHOOK_SECRET is for http and https tunnels only/],
    [['start'], SECRET, /CULVERT_WEBHOOK_SECRET is set, but no tunnel has webhook_verify/],
  ] as const) {
    const { code, stderr } = await run(args, { home, env: env(more) });
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
});

test('webhook verification: a server that does not know it gets no claim, and no secret', async (t) => {
  const program = start(t, ['http', '3000', '--webhook-verify', 'github'], { home: tempHome(t), env: env(SECRET) });
  const peer = await server.peer();
  await peer.hear('hello');
  peer.welcome(['allow_cidr', 'basic_auth']);
  assert.equal(await program.exit, 4);
  assert.match(program.stderr, /does not support --webhook-verify: nothing was published/);
  assert.doesNotMatch(JSON.stringify(peer.received), /s3cret/);
});

test('webhook verification: one secret a line, from a file or the environment', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'secrets'), 'new\r\nold\n');
  const file = '[tunnels.shop]\ntarget = 3000\nwebhook_verify = "github"\nwebhook_secret_file = "secrets"\n';
  writeFileSync(join(home, 'culvert.toml'), file);
  const flags = ['--webhook-verify', 'github', '--webhook-secret-file', 'secrets'];
  for (const [args, more, wanted] of [
    [['start'], {}, { kind: 'github', secrets: ['new', 'old'] }],
    [['http', '3000', ...flags], {}, { kind: 'github', secrets: ['new', 'old'] }],
    [
      ['http', '3000', '--webhook-verify', 'svix'],
      { CULVERT_WEBHOOK_SECRET: SVIX },
      { kind: 'standard_webhooks', secrets: [SVIX] },
    ],
  ] as const) {
    const program = start(t, args, { home, env: env(more) });
    const peer = await server.peer();
    await peer.hear('hello');
    peer.welcome(['webhook_verify']);
    assert.deepEqual((await peer.hear('claim')).narrow, { webhook_verify: wanted });
    program.signal('SIGTERM');
    await program.exit;
    assert.doesNotMatch(program.stderr + program.stdout, /whsec_|\bold\b/);
  }
});
