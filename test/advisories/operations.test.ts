/** What a server and an agent show of themselves on the machine where they run: command lines, files, logs, listeners, and pages of their own. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect, DEFAULT_MIN_VERSION } from 'node:tls';
import { parseTarget } from '../../src/agent/local/target.ts';
import { loadAgentConfig } from '../../src/config/agent.ts';
import { checkServerConfig } from '../../src/config/load.ts';
import { Sealer } from '../../src/control/core/secrets/sealing.ts';
import { TestAgent } from '../../src/data/fixtures/agent.ts';
import { Program } from '../../scripts/quickstart/program.ts';
import { startHarness } from '../../src/control/core/testing/harness.ts';
import { startOrigin } from '../harness.ts';
import { inReverse } from '../harness/ends.ts';
import { culvertCommand, type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';
import { answersIn, request, say } from './fixture.ts';

const WITHIN = { timeout: 120_000 };
const ends = inReverse({ after });
let culvert: SpawnedCulvert;
let folder: string;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'culvert-advisories-'));
  ends.after(() => rmSync(folder, { recursive: true, force: true }));
  culvert = await spawnCulvert(ends);
});

const ask = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(culvert.apiUrl + path, { headers, redirect: 'manual' });
const proc = (pid: number, file: string): string =>
  readFileSync(`/proc/${pid}/${file}`, 'latin1').replaceAll('\0', ' ');
/** Runs a command to its end. */
async function run(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd = folder,
): Promise<{ code: number | null; output: string }> {
  const program = new Program({
    command: culvertCommand(),
    args,
    cwd,
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
  });
  ends.after(() => program.kill());
  return { code: await program.ended(), output: program.output };
}

test(
  'VULN-118896 cloudflared: a key is not taken on the command line, where every user of the machine reads it',
  WITHIN,
  async () => {
    const { code, output } = await run(['http', '3000', '--token', culvert.token, '--server', culvert.apiUrl]);
    assert.equal(code, 2, output);
    assert.ok(!output.includes(culvert.token), 'nor is it said again');
  },
);

test(
  'VULN-143514 cloudflared: the command lines of server and agent, and the environment of the server, hold no secret',
  WITHIN,
  async () => {
    const { port } = await startOrigin(ends, (_request, response) => response.end('hello'));
    const agent = culvert.agent(['http', String(port), '--subdomain', 'shop', '--json']);
    await agent.printed(/"tunnel_online"/);
    for (const pid of [agent.pid, culvert.server.pid])
      assert.ok(!proc(pid, 'cmdline').includes('mtk_'), proc(pid, 'cmdline'));
    assert.doesNotMatch(proc(culvert.server.pid, 'environ'), /mtk_|secret|password/i);
  },
);

test(
  'AUTH-9041 cloudflared: a config file in a cloned folder does not choose the server that gets a key',
  WITHIN,
  () => {
    const project = join(folder, 'cloned');
    const home = join(folder, 'home');
    mkdirSync(project);
    mkdirSync(home);
    writeFileSync(join(folder, 'my-key'), 'mtk_mine', { mode: 0o600 });
    symlinkSync(join(folder, 'my-key'), join(project, 'inside'));
    const env = { HOME: home };
    const load = (text: string, more: NodeJS.ProcessEnv = {}) => {
      writeFileSync(join(project, 'culvert.toml'), text);
      return loadAgentConfig({ flags: {}, env: { ...env, ...more }, cwd: project });
    };
    const evil = 'server = "https://evil.test"\n';
    assert.throws(
      () => load(evil, { CULVERT_TOKEN: 'mtk_mine' }),
      /was not sent, because only a project file sets this server/,
    );
    assert.throws(
      () => load(evil, { CULVERT_TOKEN_FILE: join(folder, 'my-key') }),
      /only a project file sets this server/,
    );
    for (const file of ['../my-key', join(folder, 'my-key'), 'inside', './x/../../my-key', '~/key'])
      assert.throws(() => load(`${evil}token_file = ${JSON.stringify(file)}\n`), /token_file/, file);
    assert.equal(
      load(evil, { CULVERT_TOKEN: 'mtk_mine', CULVERT_SERVER: 'https://mine.test' }).server.host,
      'mine.test',
    );
  },
);

test(
  'TUN-10513 cloudflared: there is no page of the inside of the process, with or without a key',
  WITHIN,
  async () => {
    const bearer = { authorization: `Bearer ${culvert.account.bearer}` };
    for (const path of [
      '/debug/pprof/',
      '/debug/pprof/cmdline',
      '/debug/vars',
      '/debug',
      '/json/list',
      '/env',
      '/.env',
      '/server.toml',
      '/data/seal.key',
      '/actuator/env',
      '/api/debug/pprof/cmdline',
      '/admin',
      '/.git/config',
    ]) {
      for (const headers of [{}, bearer]) {
        const answer = await ask(path, headers);
        assert.ok([404, 401].includes(answer.status), `${path}: ${answer.status}`);
        assert.doesNotMatch(await answer.text(), /mtk_|node |node_modules|--config/, path);
      }
    }
    for (const path of ['/debug/pprof/cmdline', '/metrics'])
      assert.deepEqual(answersIn(await say(culvert.ports.http, request(`GET ${path}`, 'Host: none.localhost'))), [
        '404 tunnel_not_found',
      ]);
  },
);

test('cloudflared 2022.4.0: the log holds no key, password or token that went through the server', WITHIN, async () => {
  const seeds = ['seed-in-query', 'seed-in-path', 'seed-in-cookie', 'seed-in-basic', 'seed-in-body'];
  await ask(`/tunnels?token=${seeds[0]}`, { cookie: `qnt_refresh=${seeds[2]}`, authorization: `Bearer ${seeds[3]}` });
  await ask(`/auth/oauth/google/callback?code=${seeds[0]}&state=${seeds[0]}`);
  await ask(`/${seeds[1]}`);
  await fetch(`${culvert.apiUrl}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'a@example.test', password: seeds[4] }),
  });
  await say(
    culvert.ports.http,
    request(`GET /${seeds[1]}?token=${seeds[0]}`, 'Host: shop.localhost', `Authorization: Basic ${seeds[3]}`),
  );
  await say(
    culvert.ports.http,
    `GET /${seeds[1]} HTTP/1.1\r\nHost: shop.localhost\r\nAuthorization: Bearer ${seeds[3]}\0\r\n\r\n`,
  );
  await new Promise((resolve) => setTimeout(resolve, 100));
  const log = culvert.server.output.replace(/^.*admin@localhost\n\S+$/m, '');
  for (const secret of [...seeds, culvert.token, culvert.account.bearer])
    assert.ok(!log.includes(secret), `${secret}\n${log}`);
});

test(
  'CVE-2023-1314 cloudflared: what a server writes is in its own folder, for its own user alone, whatever the umask',
  WITHIN,
  async () => {
    const data = join(culvert.folder, 'data');
    assert.equal(statSync(data).mode & 0o777, 0o700);
    const before = process.umask(0);
    try {
      const h = await startHarness();
      ends.after(() => h.close());
      for (const place of [data, h.dataDir]) {
        for (const entry of readdirSync(place, { recursive: true, withFileTypes: true })) {
          const { mode } = statSync(join(entry.parentPath, entry.name));
          assert.equal(mode & 0o077, 0, `${entry.name}: ${(mode & 0o777).toString(8)}`);
        }
      }
    } finally {
      process.umask(before);
    }
  },
);

test(
  'GO-2024-3057 NetBird: what is sealed twice is not the same twice, and opens for its own purpose alone',
  WITHIN,
  () => {
    const sealer = new Sealer(Buffer.alloc(32, 1));
    const sealed = new Set(Array.from({ length: 500 }, () => sealer.seal('one', Buffer.from('secret'))));
    assert.equal(sealed.size, 500);
    const nonces = new Set(
      [...sealed].map((text) => Buffer.from(text.slice(3), 'base64url').subarray(0, 12).toString('hex')),
    );
    assert.equal(nonces.size, 500);
    const [text = ''] = sealed;
    assert.throws(() => sealer.open('two', text));
    assert.throws(() => new Sealer(Buffer.alloc(32, 2)).open('one', text));
  },
);

test('NetBird #6812: nothing listens on the network until the settings say so', WITHIN, () => {
  const { settings } = checkServerConfig('', 'empty.toml');
  const hosts = [
    settings.api.listen,
    settings.agents.listen,
    settings.edge.http_listen,
    settings.edge.tcp_host,
    settings.edge.udp_host,
  ].map((at) => (typeof at === 'string' ? at : (at as { host: string } | null)?.host));
  for (const host of hosts) assert.equal(host, '127.0.0.1', JSON.stringify(hosts));
  assert.deepEqual(
    [settings.api.trusted_proxies, settings.api.cors_origins, settings.edge.allow_private_jwks],
    [[], [], false],
  );
});

test(
  'CVE-2024-43798 chisel: a variable that is documented is heard, and one that names nothing stops the start',
  WITHIN,
  async () => {
    const file = join(folder, 'env.toml');
    writeFileSync(file, '[accounts]\nsignup = "none"\n');
    const heard = await run(['config', 'check'], { CULVERT_CONFIG: file });
    assert.deepEqual([heard.code, /env\.toml:2/.test(heard.output)], [2, true], heard.output);
    const key = await run(['http', '1', '--server', culvert.apiUrl], { CULVERT_TOKEN: 'mtk_wrong' });
    assert.equal(key.code, 3, key.output);
  },
);

test(
  'chisel 59e5362: a setting that closes something closes it, and one that is misspelt is none',
  WITHIN,
  async () => {
    const h = await startHarness('[accounts]\nsignup = "closed"\n[limits]\nauth_burst = 1000');
    ends.after(() => h.close());
    const { status } = await h.call('POST', '/auth/signup', {
      body: { email: 'a@example.test', password: 'a long password' },
    });
    assert.equal(status, 403);
    for (const text of [
      '[accounts]\nsign_up = "closed"',
      '[api]\ntrusted_proxy = []',
      'auth = "x"',
      '[edge]\nallow_private_jwks = "no"',
      '[edge.tls]\nmode = "on"',
    ])
      assert.throws(() => checkServerConfig(text, 'x.toml'), /x\.toml:\d/, text);
  },
);

test('GHSA-74m3-9qvm-rp9h zrok: no file of the machine is served, by whatever path', WITHIN, async () => {
  const { port } = new URL(culvert.apiUrl);
  const up = [
    '..',
    '%2e%2e',
    '..%2f..',
    '%2e%2e%2f',
    '..%5c',
    '....//',
    '.%2e',
    '%252e%252e',
    '..;',
    '\\..',
    '%00',
    '__proto__',
    'constructor',
    '%2fetc%2fpasswd',
    '/etc/passwd',
  ];
  for (const base of ['/docs', '/app', '']) {
    for (const step of up) {
      for (const path of [`${base}/${step}/${step}/${step}/etc/passwd`, `${base}/${step}/package.json`]) {
        const text = await say(Number(port), request(`GET ${path}`, 'Host: localhost', 'Connection: close'));
        assert.doesNotMatch(text, /root:x:0|"dependencies"|private key/i, path);
        assert.match(text, /^HTTP\/1\.1 (400|401|404|30\d|200) /, path);
        if (text.startsWith('HTTP/1.1 200'))
          assert.match(text, /\r\ncontent-type: (text\/html|application\/json)/i, path);
      }
    }
  }
  for (const target of ['file:///etc', '/etc', './x', '..', '~', 'C:\\'])
    assert.throws(() => parseTarget(target, 'http'), target);
});

test(
  'class 14 operations: old TLS is refused by the edge and to agents, and so is another version of the wire',
  WITHIN,
  async () => {
    for (const [what, port] of [
      ['edge', culvert.ports.https],
      ['agents', culvert.ports.agents],
    ] as const) {
      for (const version of ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const) {
        const outcome = await new Promise<string>((resolve) => {
          const socket = connect({
            ...{ port, host: '127.0.0.1', rejectUnauthorized: false, minVersion: version, maxVersion: version },
            // Node itself would not offer the old ones otherwise.
            ...{ ciphers: 'DEFAULT@SECLEVEL=0', ALPNProtocols: ['culvert/1', 'http/1.1'] },
          });
          socket.once('secureConnect', () => resolve(socket.getProtocol() ?? ''));
          socket.once('error', () => resolve('refused'));
          socket.once('close', () => resolve('refused'));
          ends.after(() => socket.destroy());
        });
        const isOld = version < DEFAULT_MIN_VERSION;
        if (isOld) assert.equal(outcome, 'refused', `${what} ${version}`);
        else if (what === 'edge') assert.equal(outcome, version);
      }
    }
    for (const version of [0, 2, 99]) {
      const agent = await TestAgent.connect(culvert.ports.agents);
      agent.hello(culvert.token, 'box', version);
      await Promise.race([agent.closed, new Promise((resolve) => setTimeout(resolve, 500))]);
      assert.ok(!agent.heard.some(({ type }) => type === 'welcome'), `version ${version}`);
      agent.destroy();
    }
  },
);

test('class 14 operations: a key file that others may read is not used', WITHIN, async () => {
  const file = join(folder, 'open-key');
  writeFileSync(file, culvert.token);
  chmodSync(file, 0o644);
  const { code, output } = await run(['http', '1', '--server', culvert.apiUrl, '--token-file', file]);
  assert.deepEqual([code, output.includes(culvert.token)], [2, false], output);
  assert.match(output, /chmod 600/);
});
