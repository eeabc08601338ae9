/** The words that bring a tunnel back: from what its agent sent, else from the tunnel. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentCommand } from '../../../../wire/agent-command.ts';
import { startWords } from './words.ts';

const MAIN = { slug: 'default', isDefault: true };
const WEB = { slug: 'web', isDefault: false };
const shop = { label: 'shop', protocol: 'http', localPort: 3000 } as const;
const words = (sent?: AgentCommand, row: Parameters<typeof startWords>[0] = shop, project = MAIN): string =>
  startWords(row, project, sent).join(' ');

test('start words: without a command of an agent they are made from the tunnel', () => {
  assert.equal(words(), 'culvert http 3000 --subdomain shop');
  assert.equal(words(undefined, { ...shop, protocol: 'websocket' }), 'culvert http 3000 --subdomain shop');
  assert.equal(
    words(undefined, { ...shop, label: 'shop-web', protocol: 'tcp', localPort: 22 }, WEB),
    'culvert tcp 22 --subdomain shop --project web',
  );
});

test('start words: a random name becomes a flag, and the project of a key too', () => {
  const sent = { name: 'https', target: 'nas.local:8443', switches: ['verify-tls'] } as const;
  assert.equal(
    words({ ...sent, switches: [...sent.switches] }, { ...shop, label: 'calm-otter-web' }, WEB),
    'culvert https nas.local:8443 --subdomain calm-otter --project web --verify-tls',
  );
});

test('start words: a domain, a public port or a file of settings names the tunnel by itself', () => {
  assert.equal(
    words({ name: 'http', target: '3000', texts: { domain: 'shop.example.com' } }),
    'culvert http 3000 --domain shop.example.com',
  );
  assert.equal(
    words({ name: 'tcp', target: '22', texts: { 'remote-port': '20001' } }),
    'culvert tcp 22 --remote-port 20001',
  );
  assert.equal(
    words({ name: 'start', target: 'web', texts: { config: 'a.toml' } }),
    'culvert start web --config a.toml',
  );
});

test('start words: lists are repeated, and a value that looks like a flag stays a value', () => {
  const lists = { 'allow-cidr': ['10.0.0.0/8', '::1'], route: ['/api=8080'] };
  assert.deepEqual(startWords(shop, MAIN, { name: 'http', target: '3000', texts: { policy: '-p.json' }, lists }), [
    ...['culvert', 'http', '3000', '--subdomain', 'shop', '--policy=-p.json'],
    ...['--route', '/api=8080', '--allow-cidr', '10.0.0.0/8', '--allow-cidr', '::1'],
  ]);
});
