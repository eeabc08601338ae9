/** Files that a project's culvert.toml names: those of its own folder, unless the user has named the settings file. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
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

const OUTSIDE = [
  ['basic_auth = "ann"\nbasic_auth_file = "../password"', 'basic_auth_file'],
  ['webhook_verify = "github"\nwebhook_secret_file = "../password"', 'webhook_secret_file'],
  ['policy = "../policy.json"', 'policy'],
  ['policy = "link.json"', 'policy'],
  ['policy = "/etc/hostname"', 'policy'],
  ['verify_tls = true\nupstream_cert = "~/me.pem"\nupstream_key = "~/me.key"', 'upstream_cert'],
  ['upstream_cert = "own.json"\nupstream_key = "../me.key"', 'upstream_key'],
  ['upstream_cert = "link.json"\nupstream_key = "own.json"', 'upstream_cert'],
] as const;

/** A home folder with a project in it, whose file has these settings. */
function project(t: Parameters<typeof tempHome>[0], settings: string): { home: string; cwd: string } {
  const home = tempHome(t);
  const cwd = join(home, 'project');
  mkdirSync(join(cwd, 'dist'), { recursive: true });
  writeFileSync(join(home, 'password'), 'ann:pw\n');
  writeFileSync(join(home, 'policy.json'), '{"actions": []}');
  symlinkSync(join(home, 'policy.json'), join(cwd, 'link.json'));
  writeFileSync(join(cwd, 'own.json'), '{"actions": []}');
  writeFileSync(join(cwd, 'culvert.toml'), `[tunnels.shop]\n${settings}\n`);
  return { home, cwd };
}

for (const [settings, key] of OUTSIDE) {
  test(`project file: ${settings.replaceAll('\n', ', ')} is refused, and the message says how to allow it`, async (t) => {
    const { home, cwd } = project(t, `target = 3000\n${settings}`);
    const { code, stderr } = await run(['start'], { home, cwd, env: env() });
    assert.equal(code, 2);
    assert.match(
      stderr,
      new RegExp(`${key}: .* is outside of the project folder\\. To allow it, run culvert start --conf`),
    );
  });
}

test('project file: a folder outside of the project is not published', async (t) => {
  for (const target of ['file:///etc', 'file://..', 'file://dist/../..']) {
    const { home, cwd } = project(t, `target = "${target}"`);
    const { code, stderr } = await run(['start'], { home, cwd, env: env() });
    assert.deepEqual([code, /target: .* is outside of the project folder/.test(stderr)], [2, true], stderr);
  }
});

test('project file: its own files are used, and a file that the user names may name any', async (t) => {
  for (const [settings, args] of [
    ['target = 3000\npolicy = "own.json"', ['start']],
    ['target = "file://dist"', ['start']],
    ['target = "file://."', ['start']],
    ['target = 3000\npolicy = "../policy.json"', ['start', '--config', 'culvert.toml']],
  ] as const) {
    const { home, cwd } = project(t, settings);
    const program = start(t, args, { home, cwd, env: env() });
    const peer = await server.peer();
    await peer.hear('hello');
    peer.welcome(['policy']);
    await peer.hear('claim');
    program.signal('SIGTERM');
    await program.exit;
  }
});
