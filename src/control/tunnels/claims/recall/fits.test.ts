/** The commands that are kept: those of honest agents, as they make their claims, and no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTarget } from '../../../../agent/local/target.ts';
import { targetText } from '../../../../agent/local/route-spec.ts';
import type { AgentCommand } from '../../../../wire/agent-command.ts';
import { fittingCommand } from './fits.ts';

type Claimed = Parameters<typeof fittingCommand>[0];

const CLAIM: Claimed = { protocol: 'http', target: 'localhost:3000', localPort: 3000 };

function isKept(
  command: AgentCommand,
  claimed: Partial<Claimed> = {},
  flags: Parameters<typeof fittingCommand>[1] = null,
): boolean {
  return fittingCommand({ ...CLAIM, ...claimed, command }, flags) === command;
}

// biome-ignore format: one command per line
const HONEST: ReadonlyArray<readonly [name: 'http' | 'https' | 'tcp', ...targets: readonly string[]]> = [
  ['http', '3000', ' 03000', ':3000', 'NAS.local:8080', '[::1]:80', '[FE80::1%1]:80', '10.0.0.1:80', 'localhost:443'],
  ['http', 'http://localhost', 'HTTP://Nas:80/', 'https://nas', 'HTTPS://nas:8443', 'ws://nas:81', 'wss://nas', 'http://bücher.test:81', 'http://[0:0::1]:81'],
  ['http', 'unix:/run/app.sock', 'unix:/run/app.sock:/base:/x', 'unix:///run/a:b.sock'],
  ['https', '8443', 'https://nas', 'http://nas:8443', 'http://nas', 'unix:/run/app.sock', '[::1]:443'],
  ['tcp', '22', 'nas:22', 'tcp://Nas.local:22', 'tcp://[::1]:22', 'unix:/run/app.sock'],
];
for (const [name, ...targets] of HONEST)
  for (const target of targets)
    test(`fitting command: culvert ${name} ${target} is kept`, () => {
      const { protocol, target: local } = parseTarget(target, name);
      const text = targetText({ target: local });
      assert.ok(isKept({ name, target }, { protocol, target: text, localPort: local.port }), text);
      assert.equal(isKept({ name, target }, { protocol, target: text, localPort: 9 }), false);
    });

test('fitting command: folders, WebSockets and tunnels of a settings file are kept', () => {
  const folder = { target: 'folder site', localPort: 80 };
  assert.ok(isKept({ name: 'files', target: '../site' }, folder));
  assert.ok(isKept({ name: 'files', target: 'file:///srv/site' }, folder));
  assert.ok(isKept({ name: 'http', target: 'file:///srv/site' }, folder));
  assert.ok(isKept({ name: 'http', target: '3000' }, { protocol: 'websocket' }));
  assert.ok(isKept({ name: 'start', target: 'db' }, { protocol: 'tcp', target: 'localhost:5432', localPort: 5432 }));
});

// biome-ignore format: one command per line
const FOREIGN: ReadonlyArray<readonly [command: AgentCommand, over?: Partial<Claimed>]> = [
  [{ name: 'tcp', target: '5432' }],
  [{ name: 'tcp', target: '3000' }],
  [{ name: 'https', target: '3000' }],
  [{ name: 'http', target: '3000' }, { protocol: 'tcp' }],
  [{ name: 'http', target: '3000' }, { protocol: 'https', target: 'https://localhost:3000' }],
  [{ name: 'http', target: 'https://localhost:3000' }],
  [{ name: 'http', target: '5432' }],
  [{ name: 'http', target: '5432' }, { target: 'localhost:5432' }],
  [{ name: 'http', target: 'db.local:3000' }],
  [{ name: 'http', target: 'unix:/run/docker.sock' }],
  [{ name: 'http', target: 'unix:/run/docker.sock' }, { target: 'unix:/run/app.sock', localPort: 80 }],
  [{ name: 'http', target: 'nonsense' }, { target: 'nonsense' }],
  [{ name: 'files', target: '/etc' }],
  [{ name: 'files', target: '/etc' }, { target: 'localhost:80', localPort: 80 }],
  [{ name: 'files', target: '/etc' }, { protocol: 'tcp', target: 'folder etc', localPort: 1 }],
  [{ name: 'http', target: 'file:///etc' }],
  [{ name: 'http', target: '3000', lists: { route: ['/db=5432'] } }],
  [{ name: 'http', target: '3000', lists: { route: ['/a=1', '/b=2'] } }, { routes: [{ path: '/a' }, { path: '/' }] }],
  [{ name: 'http', target: '3000' }, { routes: [{ path: '/a' }, { path: '/' }] }],
  [{ name: 'http', target: '3000', texts: { subdomain: 'docs' } }, { subdomain: 'shop' }],
  [{ name: 'http', target: '3000', texts: { project: 'web' } }],
  [{ name: 'http', target: '3000', texts: { domain: 'shop.example.com' } }],
  [{ name: 'start', target: 'web', texts: { domain: 'shop.example.com' } }],
  [{ name: 'tcp', target: '22', texts: { 'remote-port': '20001' } }, { protocol: 'tcp', target: 'localhost:22', localPort: 22 }],
];
test('fitting command: one of another tunnel is not kept', () => {
  for (const [command, over] of FOREIGN) assert.equal(isKept(command, over), false, JSON.stringify([command, over]));
  assert.equal(fittingCommand(CLAIM, null), undefined);
});

const ROUTED: Partial<Claimed> = {
  target: '/a%C3%A4 → nas:80, /b → unix:/run/b.sock, /c → folder c, / → localhost:3000',
  routes: [{ path: '/a%C3%A4' }, { path: '/b' }, { path: '/c' }, { path: '/' }],
};
const routed = (...route: string[]): AgentCommand => ({ name: 'http', target: '3000', lists: { route } });
test('fitting command: routes are those of the claim, one by one', () => {
  assert.ok(isKept(routed('/aä/=http://nas', '/b=unix:/run/b.sock', '/c=file:///srv/c'), ROUTED));
  assert.equal(isKept(routed('/aä=http://nas:81', '/b=unix:/run/b.sock', '/c=file:c'), ROUTED), false);
  assert.equal(isKept(routed('/aä=http://nas', '/b=unix:/run/docker.sock', '/c=file:c'), ROUTED), false);
  assert.equal(isKept(routed('/aä=http://nas', '/x=unix:/run/b.sock', '/c=file:c'), ROUTED), false);
  assert.equal(isKept(routed('/aä=http://nas', '/b=unix:/run/b.sock', '/c=8080'), ROUTED), false);
  assert.equal(isKept(routed('/b=unix:/run/b.sock'), ROUTED), false);
});

test('fitting command: names, domains and public ports are those of the claim', () => {
  const texts = { domain: 'Shop.example.com', subdomain: 'shop', project: 'web' };
  const claimed = { subdomain: 'shop', project: 'web' };
  const flags = { domain: 'shop.example.com', remotePort: null };
  assert.ok(isKept({ name: 'http', target: '3000', texts }, claimed, flags));
  assert.equal(
    isKept({ name: 'http', target: '3000', texts }, claimed, { ...flags, domain: 'docs.example.com' }),
    false,
  );
  const ssh = { protocol: 'tcp', target: 'localhost:22', localPort: 22 } as const;
  const command: AgentCommand = { name: 'tcp', target: '22', texts: { 'remote-port': '20001' } };
  assert.ok(isKept(command, ssh, { domain: null, remotePort: 20_001 }));
  assert.equal(isKept(command, ssh, { domain: null, remotePort: 20_002 }), false);
});
