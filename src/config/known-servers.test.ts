import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { KnownServers } from './known-servers.ts';

const ID = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const SHOP = new URL('https://shop.example.com/api/');

function fixture(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-known-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const faults: string[] = [];
  return { folder, faults, servers: new KnownServers({ XDG_CONFIG_HOME: folder }, (text) => faults.push(text)) };
}

test('known servers: an id is kept per address, for the owner alone, and replaced', (t) => {
  const { servers, faults } = fixture(t);
  assert.equal(servers.of(SHOP), undefined);
  servers.keep(SHOP, ID, 1);
  servers.keep(new URL('https://other.example.com'), OTHER, 2);
  servers.keep(SHOP, OTHER, 3);
  assert.equal(servers.of(SHOP), OTHER);
  assert.equal(servers.of(new URL('https://other.example.com')), OTHER);
  assert.equal(statSync(servers.path).mode & 0o777, 0o600);
  assert.deepEqual(faults, []);
});

test('known servers: the file stays small, and the oldest address is forgotten', (t) => {
  const { servers } = fixture(t);
  for (let i = 0; i < 205; i++) servers.keep(new URL(`https://s${i}.example.com`), ID, i * 1000);
  assert.equal(Object.keys(JSON.parse(readFileSync(servers.path, 'utf8')).servers).length, 200);
  assert.equal(servers.of(new URL('https://s0.example.com')), undefined);
  assert.equal(servers.of(new URL('https://s204.example.com')), ID);
});

test('known servers: a file that is none, or can not be written, is reported and ends nothing', (t) => {
  const { folder, servers, faults } = fixture(t);
  servers.keep(SHOP, ID, 1);
  writeFileSync(servers.path, '{"version":1,"servers":{"x":');
  assert.equal(servers.of(SHOP), undefined);
  assert.match(faults[0] ?? '', /known-servers\.json can't be read: it was not written by culvert/);
  const inFile = new KnownServers({ STATE_DIRECTORY: `${servers.path}:${folder}` }, (text) => faults.push(text));
  inFile.keep(SHOP, ID, 1);
  assert.match(faults.at(-1) ?? '', /can't be written: .*E(NOTDIR|EXIST)/);
});

test('known servers: the way is kept beside the id, and goes with a new id', (t) => {
  const { servers, faults } = fixture(t);
  servers.keepWay(SHOP, 'shop.example.com:443');
  assert.equal(servers.wayTo(SHOP), undefined, 'an unknown server');
  servers.keep(SHOP, ID, 1);
  servers.keepWay(SHOP, 'shop.example.com:443');
  assert.deepEqual([servers.of(SHOP), servers.wayTo(SHOP)], [ID, 'shop.example.com:443']);
  servers.keep(SHOP, OTHER, 2);
  assert.equal(servers.wayTo(SHOP), undefined);
  assert.deepEqual(faults, []);
});
