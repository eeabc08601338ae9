/** Precedence of settings, and the servers that may receive a key. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type AgentConfigInput, type AgentSettings, DEFAULT_SERVER, loadAgentConfig } from './agent.ts';
import { ConfigError } from './toml.ts';

interface Place {
  readonly home: string;
  readonly project: string;
  load(input?: { env?: NodeJS.ProcessEnv; flags?: AgentConfigInput['flags'] }): AgentSettings;
}

/** A home with the user's file, and a project folder with its own. */
function place(t: TestContext, files: { user?: string; project?: string }): Place {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'culvert-config-')));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const project = join(home, 'project');
  mkdirSync(join(home, '.config/culvert'), { recursive: true });
  mkdirSync(project);
  writeFileSync(join(home, 'user.key'), 'x');
  writeFileSync(join(project, 'project.key'), 'x');
  if (files.user !== undefined) writeFileSync(join(home, '.config/culvert/agent.toml'), files.user);
  if (files.project !== undefined) writeFileSync(join(project, 'culvert.toml'), files.project);
  return {
    home,
    project,
    load: ({ env = {}, flags = {} } = {}) => loadAgentConfig({ flags, env: { HOME: home, ...env }, cwd: project }),
  };
}

test('flags > environment > ./culvert.toml > agent.toml > defaults', (t) => {
  const nothing = place(t, {});
  assert.equal(nothing.load().server.href, `${DEFAULT_SERVER}/`);
  assert.equal(nothing.load().token, undefined);
  const { load } = place(t, { user: 'server = "https://user"', project: 'server = "https://project"' });
  const env = { CULVERT_SERVER: 'https://env' };
  assert.equal(load({ env, flags: { server: 'https://flag' } }).server.host, 'flag');
  assert.equal(load({ env }).server.host, 'env');
  assert.equal(load().server.host, 'project');
  assert.equal(place(t, { user: 'server = "https://user"' }).load().server.host, 'user');
});

test('the key: --token-file, CULVERT_TOKEN, CULVERT_TOKEN_FILE, project file, user file', (t) => {
  const { load, home, project } = place(t, {
    user: 'token_file = "~/user.key"',
    project: 'token_file = "project.key"',
  });
  const env = { CULVERT_TOKEN: 'mtk_x', CULVERT_TOKEN_FILE: 'f' };
  assert.deepEqual(load({ env, flags: { tokenFile: 'k' } }).token, {
    kind: 'file',
    path: join(project, 'k'),
    namedBy: '--token-file',
  });
  assert.equal(load({ env }).token?.kind, 'environment');
  assert.deepEqual(load({ env: { CULVERT_TOKEN_FILE: 'f' } }).token, {
    kind: 'file',
    path: join(project, 'f'),
    namedBy: 'CULVERT_TOKEN_FILE',
  });
  const fromProject = load().token;
  assert.equal(fromProject?.kind === 'file' && fromProject.path, join(project, 'project.key'));
  const fromUser = place(t, { user: 'token_file = "~/user.key"' }).load().token;
  assert.match((fromUser?.kind === 'file' && fromUser.path) || '', /user\.key$/);
  assert.ok(home.length > 0);
});

test('tunnels of both files are there; the project wins over the same name', (t) => {
  const { load } = place(t, {
    user: '[tunnels.a]\ntarget = 1\n[tunnels.b]\ntarget = 2',
    project: '[tunnels.b]\ntarget = 3\nprotocol = "tcp"',
  });
  const { tunnels } = load();
  assert.deepEqual([...tunnels.keys()], ['a', 'b']);
  assert.equal(tunnels.get('b')?.target, 3);
  assert.equal(tunnels.get('a')?.protocol, 'http');
});

test('CULVERT_AGENT_CONFIG and --config name the only file', (t) => {
  const { load, home } = place(t, { user: '[tunnels.a]\ntarget = 1', project: '[tunnels.b]\ntarget = 2' });
  const own = join(home, 'own.toml');
  writeFileSync(own, 'server = "https://own"\ntoken_file = "/anywhere"\n[tunnels.c]\ntarget = 3');
  for (const input of [{ env: { CULVERT_AGENT_CONFIG: own } }, { flags: { config: own } }]) {
    const settings = load(input);
    assert.deepEqual([...settings.tunnels.keys()], ['c']);
    assert.equal(settings.server.host, 'own');
    assert.equal(settings.token?.kind === 'file' && settings.token.path, '/anywhere');
  }
});

test('the page: on by itself; one file that switches it off is enough; a tunnel can be left out', (t) => {
  const nothing = place(t, { user: '[tunnels.a]\ntarget = 1' }).load();
  assert.deepEqual([nothing.inspect, nothing.inspectPort, nothing.tunnels.get('a')?.inspect], [true, undefined, true]);
  const off = place(t, { user: 'inspect = false\ninspect_port = 4050', project: 'inspect = true\ninspect_port = 0' });
  assert.deepEqual([off.load().inspect, off.load().inspectPort], [false, 0]);
  const left = place(t, { project: '[tunnels.a]\ntarget = 1\ninspect = false' }).load();
  assert.deepEqual([left.inspect, left.tunnels.get('a')?.inspect], [true, false]);
  assert.throws(() => place(t, { user: 'inspect_port = 65536' }).load(), /agent\.toml:1: inspect_port/);
});

const FOREIGN = 'server = "https://foreign.example"\n';

test('a key of the user is not sent to a server that only the project names', (t) => {
  const { load } = place(t, { user: 'token_file = "~/user.key"', project: FOREIGN });
  for (const env of [{}, { CULVERT_TOKEN: 'mtk_x' }, { CULVERT_TOKEN_FILE: 'f' }]) {
    assert.throws(() => load({ env }), {
      name: 'ConfigError',
      message: /culvert\.toml:1: server: your access key .* was not sent/,
    });
  }
  assert.equal(load({ flags: { tokenFile: 'k' } }).token?.kind, 'file', 'a person who says --token-file means it');
  for (const own of [
    { env: { CULVERT_SERVER: 'https://foreign.example' } },
    { flags: { server: 'https://foreign.example' } },
  ]) {
    assert.equal(load(own).token?.kind, 'file', 'a server that the user names as well is trusted');
  }
  const agreed = place(t, { user: `${FOREIGN}token_file = "~/user.key"`, project: FOREIGN });
  assert.equal(agreed.load().token?.kind, 'file');
});

test('a project file can not name a file of the user as its key, not even by a link', (t) => {
  const absolute = place(t, { project: `${FOREIGN}token_file = "../user.key"` });
  assert.throws(() => absolute.load(), { message: /culvert\.toml:2: token_file: is outside the project folder/ });
  const link = place(t, { project: `${FOREIGN}token_file = "link"` });
  symlinkSync(join(link.home, 'user.key'), join(link.project, 'link'));
  assert.throws(() => link.load(), ConfigError);
  const own = place(t, { project: `${FOREIGN}token_file = "project.key"` });
  assert.equal(own.load().token?.kind, 'file', "the project's own key may go to the project's server");
});

test('a server on this machine is exempt: nothing leaves it', (t) => {
  for (const host of ['http://127.0.0.1:9090', 'http://localhost:1', 'http://[::1]:1']) {
    const { load } = place(t, { project: `server = "${host}"\ntoken_file = "../user.key"` });
    assert.equal(load().token?.kind, 'file');
    assert.equal(load({ env: { CULVERT_TOKEN: 'mtk_x' } }).token?.kind, 'environment');
  }
  const lookalike = place(t, { project: 'server = "http://127.0.0.1.evil.example"' });
  assert.throws(() => lookalike.load({ env: { CULVERT_TOKEN: 'mtk_x' } }), ConfigError);
});

test('a server without a scheme: https, but http for this machine, and the place of a login below the name', (t) => {
  const { load, home } = place(t, {});
  const at = (server: string): string => load({ flags: { server } }).server.href;
  assert.equal(at('example.com'), 'https://example.com/');
  assert.equal(at('example.com:8443'), 'https://example.com:8443/');
  assert.equal(at('localhost:9090'), 'http://localhost:9090/');
  assert.throws(() => at('user@example.com'), ConfigError);
  const login = {
    ...{ label: 'cli', wire_bytes_b64: 'a2V5', refresh_token: 'r', account: 'ann@example.com', organization: 'Acme' },
    expires_at: '2099-01-01T00:00:00.000Z',
  };
  const text = JSON.stringify({ version: 1, logins: { 'https://culvert.example.com': login } });
  writeFileSync(join(home, '.config/culvert/credentials.json'), text, { mode: 0o600 });
  assert.equal(at('example.com'), 'https://culvert.example.com/');
  assert.equal(at('https://example.com'), 'https://example.com/');
});

test("a server's culvert.toml in the folder is left out, and named", (t) => {
  const servers = place(t, { user: 'server = "https://user"', project: 'data_dir = "/var/lib/culvert"\n[edge]\n' });
  const settings = servers.load();
  assert.equal(settings.ignored, join(servers.project, 'culvert.toml'));
  assert.equal(settings.server.host, 'user');
  assert.deepEqual(settings.files, [join(servers.home, '.config/culvert/agent.toml')]);
  assert.equal(place(t, { project: 'server = "https://project"' }).load().ignored, undefined);
  // By name it was meant.
  const file = join(servers.project, 'culvert.toml');
  assert.throws(
    () => servers.load({ flags: { config: file } }),
    new ConfigError(`${file}: is the settings file of a server. Name the file of an agent`),
  );
  // With a key of an agent it is one, and the other key is the mistake.
  const mixed = place(t, { project: 'data_dir = "x"\n[tunnels.web]\ntarget = 1\n' });
  assert.throws(() => mixed.load(), /culvert\.toml:1: data_dir: unknown key/);
});
