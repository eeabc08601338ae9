import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Discovery } from '../../wire/discovery.ts';
import { findServerBy } from './find-server.ts';

const never = new AbortController().signal;
const DOCUMENT: Discovery = { version: '1', agent_address: 'a:1', edge_domain: 'example.com' };

/** Servers by URL; all others refuse. */
const servers = (known: Record<string, Partial<Discovery>>) => {
  const asked: string[] = [];
  const ask = async (place: URL): Promise<Discovery> => {
    asked.push(place.origin);
    const found = known[place.origin];
    if (found === undefined) throw new Error(`${place.host}: connect ECONNREFUSED`);
    return { ...DOCUMENT, ...found };
  };
  return { asked, find: async (name: string) => (await findServerBy(name, never, ask))?.href };
};

test('find server: a name is asked by https, and the names culvert and tunnel below it', async () => {
  const below = servers({ 'https://tunnel.example.com': {} });
  assert.equal(await below.find('example.com'), 'https://tunnel.example.com/');
  assert.deepEqual(below.asked, ['https://example.com', 'https://culvert.example.com', 'https://tunnel.example.com']);
  assert.equal(
    await servers({ 'https://culvert.example.com:8443': {} }).find('example.com:8443'),
    'https://culvert.example.com:8443/',
  );
});

test('find server: the name may say where its API is, at or below itself', async () => {
  const at = (api_url: string) => servers({ 'https://example.com': { api_url } }).find('example.com');
  assert.equal(await at('https://culvert.example.com'), 'https://culvert.example.com/');
  for (const other of ['https://evil.example', 'https://notexample.com', 'http://culvert.example.com'])
    assert.equal(await at(other), 'https://example.com/', other);
});

test('find server: a URL is taken as it is, this machine is asked by http', async () => {
  const local = servers({ 'http://127.0.0.1:9090': {} });
  assert.equal(await local.find('https://culvert.example.com'), undefined);
  assert.deepEqual(local.asked, []);
  assert.equal(await local.find('127.0.0.1:9090'), 'http://127.0.0.1:9090/');
});

test('find server: the error lists what was tried', async () => {
  await assert.rejects(servers({}).find('example.com'), (error: Error) => {
    for (const host of ['https://example.com', 'https://culvert.example.com', 'https://tunnel.example.com'])
      assert.ok(error.message.includes(`${host} (`), error.message);
    return true;
  });
});
