/** The command that connects an agent, and the progress to the first tunnel: without a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstState, isHere } from '../../src/dashboard/pages/overview/first-state.ts';
import {
  agentCommand,
  hasKeyFile,
  keyPlaceholder,
  loginCommand,
  nameInProject,
  startCommandLine,
  withKey,
} from '../../src/dashboard/parts/connect/agent-command.ts';
import { installFor } from '../../src/dashboard/parts/connect/install-command.ts';
import { tunnel } from './made-up.ts';

const server = new URL('https://culvert.example.com:8443/api/');

test('agent command: holds only what the agent needs', () => {
  const shop = { protocol: 'http', localPort: 3000, subdomain: 'shop', project: 'web', server } as const;
  assert.equal(
    agentCommand(shop, 'posix'),
    'culvert http 3000 --subdomain shop --project web --server https://culvert.example.com:8443/api',
  );
  const bare = new URL('http://127.0.0.1:9090/');
  for (const [protocol, expected] of [
    ['http', 'culvert http 22 --server http://127.0.0.1:9090'],
    ['websocket', 'culvert http 22 --server http://127.0.0.1:9090'],
    ['https', 'culvert https 22 --server http://127.0.0.1:9090'],
    ['tcp', 'culvert tcp 22 --server http://127.0.0.1:9090'],
  ] as const)
    assert.equal(agentCommand({ protocol, localPort: 22, subdomain: '', server: bare }, 'posix'), expected);
  assert.equal(loginCommand(server, 'posix'), 'culvert login --server https://culvert.example.com:8443/api');
});

test('agent command: the key is in the environment, for either shell', () => {
  const command = agentCommand({ protocol: 'http', localPort: 3000, server }, 'powershell');
  assert.equal(command, "culvert http 3000 --server 'https://culvert.example.com:8443/api'");
  assert.equal(withKey(command, 'mtk_a-b_C', 'powershell'), `$env:CULVERT_TOKEN = 'mtk_a-b_C'; ${command}`);
  assert.equal(withKey('culvert http 1', 'mtk_a-b_C', 'posix'), 'CULVERT_TOKEN=mtk_a-b_C culvert http 1');
});

test('agent command: special characters of a shell are quoted', () => {
  const sly = { protocol: 'http', localPort: 1, subdomain: "a'; rm -rf ~ $(x)", server } as const;
  assert.match(agentCommand(sly, 'posix'), /--subdomain 'a'\\''; rm -rf ~ \$\(x\)' --server/);
  assert.match(agentCommand(sly, 'powershell'), /--subdomain 'a''; rm -rf ~ \$\(x\)' --server/);
});

test('start command: the words of the last agent as a line, with the name of its key', () => {
  const words = ['culvert', 'http', '3000', '--subdomain', 'shop', '--policy', 'my rules.json'];
  const key = { name: 'ci deploy', is_login: false, is_valid: true };
  const line = startCommandLine({ words }, { server, shell: 'posix' });
  assert.equal(
    withKey(line, keyPlaceholder({ key }), 'posix'),
    "CULVERT_TOKEN='<key ci deploy>' culvert http 3000 --subdomain shop --policy 'my rules.json' --server https://culvert.example.com:8443/api",
  );
  assert.match(
    startCommandLine({ words }, { server, shell: 'powershell' }),
    /^culvert http 3000 --subdomain shop --policy 'my/,
  );
  assert.equal(keyPlaceholder({ key: { ...key, is_valid: false } }), '<key>');
  assert.equal(keyPlaceholder(null), '<key>');
});

test('start command: a new key takes the place of a key file', () => {
  const words = ['culvert', 'start', 'web', '--token-file', '/run/key', '--config', 'a.toml'];
  const lineWith = (hasKey: boolean): string => startCommandLine({ words }, { server, shell: 'posix', hasKey });
  assert.ok(hasKeyFile({ words }));
  assert.match(lineWith(false), /^culvert start web --token-file \/run\/key --config a\.toml --server/);
  assert.match(lineWith(true), /^culvert start web --config a\.toml --server/);
});

test('key scope: the name without the suffix of its project', () => {
  assert.equal(nameInProject('shop-web', 'web'), 'shop');
  assert.equal(nameInProject('shop', 'web'), 'shop');
  assert.equal(nameInProject('shop-web', undefined), 'shop-web');
  assert.equal(nameInProject('-web', 'web'), '-web');
});

test('install: the program is downloaded from the server, unless it is this machine', () => {
  assert.ok(['http://localhost:1', 'http://127.0.0.1', 'http://[::1]:2'].every((url) => isHere(new URL(url))));
  assert.ok(!isHere(server));
});

test('first tunnel: waiting ends with an agent, then with its newest live tunnel', () => {
  const connections = [{ remote_ip: '192.0.2.1' }];
  assert.deepEqual(firstState({ tunnels: [], connections: [] }), { kind: 'waiting' });
  assert.deepEqual(firstState({ tunnels: [tunnel({ online: false })], connections }), {
    kind: 'connected',
    whence: '192.0.2.1',
  });
  const old = tunnel({ subdomain: 'old', createdAt: '2026-01-01T00:00:00.000Z' });
  const young = tunnel({ subdomain: 'young', createdAt: '2026-01-02T00:00:00.000Z' });
  assert.deepEqual(firstState({ tunnels: [old, young], connections }), { kind: 'live', tunnel: young });
});

test('install command: the one for the system of the browser, and none for a phone', () => {
  const install = { linux: 'curl …', macos: 'curl …', windows: null };
  assert.deepEqual(installFor({ install }, 'Mozilla/5.0 (X11; Linux x86_64)'), { name: 'Linux', command: 'curl …' });
  assert.deepEqual(installFor({ install }, 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)'), { name: 'Windows' });
  assert.equal(installFor({ install }, 'Mozilla/5.0 (Linux; Android 15; Pixel 9)'), undefined);
});
