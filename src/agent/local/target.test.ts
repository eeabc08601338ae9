/** What people may write as a target, and what it is taken for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTarget, TargetError } from './target.ts';

const GOOD = [
  ['3000', 'http', 'http', 'localhost:3000', ['127.0.0.1', '::1'], 3000],
  [':3000', 'http', 'http', 'localhost:3000', ['127.0.0.1', '::1'], 3000],
  ['localhost:3000', 'http', 'http', 'localhost:3000', ['127.0.0.1', '::1'], 3000],
  ['LOCALHOST:80', 'tcp', 'tcp', 'localhost:80', ['127.0.0.1', '::1'], 80],
  ['nas.local:8080', 'http', 'http', 'nas.local:8080', ['nas.local'], 8080],
  ['10.0.0.7:22', 'tcp', 'tcp', '10.0.0.7:22', ['10.0.0.7'], 22],
  ['[::1]:3000', 'http', 'http', '[::1]:3000', ['::1'], 3000],
  ['http://localhost:3000', 'http', 'http', 'localhost:3000', ['127.0.0.1', '::1'], 3000],
  ['http://localhost:3000/', 'http', 'http', 'localhost:3000', ['127.0.0.1', '::1'], 3000],
  ['http://[fd00::1]', 'http', 'http', '[fd00::1]:80', ['fd00::1'], 80],
  ['https://app.local', 'http', 'https', 'https://app.local:443', ['app.local'], 443],
  ['8443', 'https', 'https', 'https://localhost:8443', ['127.0.0.1', '::1'], 8443],
  ['tcp://db:5432', 'tcp', 'tcp', 'db:5432', ['db'], 5432],
] as const;

for (const [text, protocol, wanted, shown, hosts, port] of GOOD) {
  test(`${protocol} ${text} is ${shown}`, () => {
    const { target, protocol: found } = parseTarget(text, protocol);
    assert.deepEqual([found, target.text, target.hosts, target.port], [wanted, shown, hosts, port]);
    assert.equal(target.tls, wanted === 'https');
  });
}

const BAD = [
  '',
  '0',
  '65536',
  '-1',
  '3000x',
  'localhost',
  'a b:1',
  'host:',
  'ftp://x:1',
  'http://u:p@x',
  'http://x/path',
  'http://x?q',
  'http://',
  'tcp://x:1',
  '::1:3000',
  '1:2:3',
];
for (const text of BAD) {
  test(`"${text}" is no target of an http tunnel`, () => {
    assert.throws(() => parseTarget(text, 'http'), TargetError);
  });
}

const SOCKETS = [
  ['unix:/run/app.sock', '/run/app.sock', undefined],
  ['unix:///var/run/docker.sock', '/var/run/docker.sock', undefined],
  ['unix:/run/app.sock:/base', '/run/app.sock', '/base'],
  ['unix:/run/app.sock:/a/b', '/run/app.sock', '/a/b'],
] as const;
for (const [text, path, base] of SOCKETS) {
  test(`${text} is the socket ${path}`, () => {
    const parsed = parseTarget(text, 'http');
    assert.deepEqual([parsed.target.socketPath, parsed.base], [path, base]);
    assert.equal(parsed.target.text, `unix:${path}`);
  });
}

for (const text of ['unix:', 'unix:app.sock', 'unix:/', 'unix:/run/', `unix:/${'x'.repeat(103)}`]) {
  test(`"${text}" names no socket`, () => {
    assert.throws(() => parseTarget(text, 'http'), TargetError);
  });
}

test('a tcp tunnel has no base path', () => {
  assert.throws(() => parseTarget('unix:/a.sock:/b', 'tcp'), /a tcp tunnel has no paths/);
});

test('an IP address is no name for SNI', () => {
  assert.equal(parseTarget('https://10.0.0.1', 'https').target.serverName, undefined);
  assert.equal(parseTarget('https://app.local', 'https').target.serverName, 'app.local');
});
