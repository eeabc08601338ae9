/** Flags that add access control: what is a mistake of their user, and what is sent. */
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
const env = (): NodeJS.ProcessEnv => ({ CULVERT_TOKEN: KEY, CULVERT_SERVER: server.url.href });

const mistakes = [
  [['--allow-cidr', '10.0.0.0/33'], /--allow-cidr: "10\.0\.0\.0\/33" is no IP address and no network such as 10/],
  [['--deny-cidr', 'example.com'], /--deny-cidr: "example\.com" is no IP address/],
  [['--deny-cidr', '10.0.0.1/8'], /--deny-cidr: "10\.0\.0\.1\/8" is no IP address/],
  [['--remote-port', '20001'], /--remote-port: is for tcp tunnels only/],
  [['--domain', 'a b'], /--domain: "a b" is no domain such as shop/],
  [['--ttl', '2'], /--ttl: "2" is no time such as 30m, 2h or 7d/],
  [['--policy', 'absent.json'], /--policy: .*absent\.json cannot be read: there is no such file/],
  [['--allow-cidr', '10.0.0.1,'], /--allow-cidr: "10\.0\.0\.1," has an empty name/],
] as const;
for (const [flags, message] of mistakes) {
  test(`agent flags: ${flags.join(' ')} is a usage error`, async (t) => {
    const { code, stderr } = await run(['http', '3000', ...flags], { home: tempHome(t), env: env() });
    assert.equal(code, 2);
    assert.match(stderr, message);
  });
}

for (const flags of [
  ['--basic-auth', 'ann'],
  ['--basic-auth-file', 'x'],
  ['--policy', 'x'],
  ['--visitor-login', 'example.com'],
  ['--domain', 'shop.example.com'],
]) {
  test(`agent flags: a tcp tunnel refuses ${flags[0]}`, async (t) => {
    const { code, stderr } = await run(['tcp', '22', ...flags], { home: tempHome(t), env: env() });
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`${flags[0]}: is for http and https tunnels only`));
  });
}

test('agent flags: a password in the environment that no tunnel takes is refused, so that none is open by mistake', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'culvert.toml'), '[tunnels.shop]\ntarget = 3000\n');
  const withPassword = { ...env(), CULVERT_BASIC_AUTH: 'ann:pw' };
  for (const [args, message] of [
    [['tcp', '22'], /--basic-auth: CULVERT_BASIC_AUTH is for http and https tunnels only/],
    [['start'], /CULVERT_BASIC_AUTH is set, but no tunnel has basic_auth/],
  ] as const) {
    const { code, stderr } = await run(args, { home, env: withPassword });
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
});

test('agent flags: a server that does not know them ends the agent with 4 and the name of the flag', async (t) => {
  const program = start(t, ['http', '3000', '--allow-cidr', '192.0.2.7'], { home: tempHome(t), env: env() });
  const peer = await server.peer();
  await peer.hear('hello');
  peer.welcome();
  assert.equal(await program.exit, 4);
  assert.match(program.stderr, /does not support --allow-cidr: nothing was published/);
  assert.deepEqual(
    peer.received.map(({ type }) => type).filter((type) => type === 'claim'),
    [],
  );
});

test('agent flags: they may be repeated, and stand in the file with underscores', async (t) => {
  const home = tempHome(t);
  const file = `[tunnels.shop]\ntarget = 3000\nallow_cidr = ["10.0.0.0/8", "192.0.2.7"]\ndeny_cidr = "10.0.0.1"\n`;
  writeFileSync(join(home, 'culvert.toml'), file);
  const flags = ['--allow-cidr', '10.0.0.0/8', '--allow-cidr', '192.0.2.7', '--deny-cidr', '10.0.0.1'];
  for (const args of [['start'], ['http', '3000', ...flags]]) {
    const program = start(t, args, { home, env: env() });
    const peer = await server.peer();
    await peer.hear('hello');
    peer.welcome(['allow_cidr', 'deny_cidr']);
    const { narrow } = await peer.hear('claim');
    assert.deepEqual(narrow, { allow_cidr: ['10.0.0.0/8', '192.0.2.7'], deny_cidr: ['10.0.0.1'] });
    program.signal('SIGTERM');
    await program.exit;
  }
});
