import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { AGENT_DAYS, EDGE_DAYS, fingerprintOf, keepSelfSigned, pairsInUse, readCertificate } from './certificates.ts';
import { isSelfSigned } from '../../base/net/self-signed.ts';

const DAY = 24 * 3600 * 1000;
const NOW = Date.UTC(2026, 10, 21);
let dataDir = '';

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const edge = (nowMs: number, names = ['*.example.test', 'example.test', 'localhost', '127.0.0.1']) =>
  keepSelfSigned({ dataDir, name: 'edge', names, days: EDGE_DAYS, nowMs });

test('makes a certificate for the names given, kept with private mode', async () => {
  const { cert, key } = await edge(NOW);
  const leaf = new X509Certificate(cert);
  assert.equal(leaf.checkHost('shop.example.test'), '*.example.test');
  assert.equal(leaf.checkHost('example.test'), 'example.test');
  assert.equal(leaf.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(leaf.checkHost('other.test'), undefined);
  assert.ok(isSelfSigned(cert));
  assert.equal(leaf.validToDate.getTime() - leaf.validFromDate.getTime(), EDGE_DAYS * DAY);
  for (const file of ['edge.crt', 'edge.key']) {
    assert.equal(statSync(join(dataDir, 'certificates', file)).mode & 0o777, 0o600);
  }
  assert.deepEqual(await edge(NOW + DAY), { cert, key });
});

test('remakes it near its end and for other names, with the same key', async () => {
  const first = await edge(NOW);
  assert.deepEqual(await edge(NOW + (EDGE_DAYS - 31) * DAY), first);
  const later = await edge(NOW + (EDGE_DAYS - 29) * DAY);
  assert.notEqual(later.cert, first.cert);
  assert.equal(later.key, first.key);
  assert.equal(fingerprintOf(later.cert), fingerprintOf(first.cert));
  const renamed = await edge(NOW + (EDGE_DAYS - 29) * DAY, ['*.other.test']);
  assert.equal(new X509Certificate(renamed.cert).checkHost('a.other.test'), '*.other.test');
});

test('agents get one that lives ten years and a fingerprint of its public key', async () => {
  const { cert } = await keepSelfSigned({
    dataDir,
    name: 'agents',
    names: ['localhost'],
    days: AGENT_DAYS,
    nowMs: NOW,
  });
  assert.match(fingerprintOf(cert), /^sha256:[0-9a-f]{64}$/);
  const leaf = new X509Certificate(cert);
  assert.ok(leaf.validToDate.getTime() > NOW + 3600 * DAY);
});

test('refuses a key that belongs to another certificate', async () => {
  await edge(NOW);
  await keepSelfSigned({ dataDir, name: 'agents', names: ['localhost'], days: AGENT_DAYS, nowMs: NOW });
  const dir = join(dataDir, 'certificates');
  assert.throws(() => readCertificate(join(dir, 'edge.crt'), join(dir, 'agents.key')), /agents\.key does not match/);
  writeFileSync(join(dir, 'empty.crt'), '');
  assert.throws(() => readCertificate(join(dir, 'empty.crt'), join(dir, 'agents.key')));
});

test('files are in use by the listeners that take them, and those that none takes are not', () => {
  const none = { cert_file: null, key_file: null };
  const ofEdge = { cert_file: 'e.crt', key_file: 'e.key' };
  const ofAgents = { cert_file: 'a.crt', key_file: 'a.key' };
  const use = (mode: string, agents: typeof none | typeof ofAgents, https: object | null = {}): string[] =>
    pairsInUse({
      data_dir: dataDir,
      edge: { domain: 'example.test', https_listen: https, tls: { mode, ...(mode === 'files' ? ofEdge : none) } },
      agents,
    }).map(({ certFile, keyFile, edge: forEdge, agents: forAgents }) =>
      [certFile, keyFile, ...(forEdge ? ['edge'] : []), ...(forAgents ? ['agents'] : [])].join(' '),
    );
  assert.deepEqual(use('files', none), ['e.crt e.key edge agents']);
  assert.deepEqual(use('files', ofAgents), ['e.crt e.key edge', 'a.crt a.key agents']);
  assert.deepEqual(use('files', none, null), ['e.crt e.key agents']);
  assert.deepEqual(use('files', ofAgents, null), ['a.crt a.key agents']);
  assert.deepEqual(use('self_signed', ofAgents), ['a.crt a.key agents']);
  assert.deepEqual(use('self_signed', none), []);
});
