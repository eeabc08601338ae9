/** A master key opens no tunnel: the command line says so before it dials, whatever form the key has. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { FakeServer } from '../../agent/fixtures/fake-server.ts';
import { signCwt } from '../../control/access-keys/wire/cwt.ts';
import { run, start, tempHome } from '../fixtures/in-process.ts';
import { isMasterKey } from '../client/key-kind.ts';

const TEXT = 'mtk_master_0123456789abcdefghijABCDEFGHIJ0123456789abc';
const { privateKey } = generateKeyPairSync('ed25519');

/** A wire form with these claims: kind, subdomains, quota. */
function wireOf(kind: string, subdomains: readonly string[] = []): string {
  const claims = new Map<number, unknown>([
    [1, 'culvert'],
    [2, 'org:019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a00'],
    [4, 1_795_336_400],
    [6, 1_795_250_000],
    [7, randomBytes(16)],
    [-65537, 1],
    [-65538, kind],
    [-65539, subdomains],
    [-65540, 0],
    [-65541, 100],
  ]);
  return Buffer.from(signCwt(claims, '00112233445566778899aabbccddeeff', privateKey).wire).toString('base64');
}

let server: FakeServer;
before(async () => {
  server = await FakeServer.start();
});
after(() => server.close());

test('a master key is known by its prefix, and in its wire form by its kind alone', () => {
  assert.ok(isMasterKey(TEXT));
  assert.ok(isMasterKey(wireOf('master')));
  assert.ok(!isMasterKey('mtk_0123456789abcdefghijABCDEFGHIJ0123456789abc'));
  for (const kind of ['agent', 'project', 'cli']) assert.ok(!isMasterKey(wireOf(kind, ['master', 'master-*'])), kind);
});

test('every command that opens tunnels refuses it before it dials, with exit code 3 and the way on', async (t) => {
  const home = tempHome(t);
  writeFileSync(join(home, 'agent.toml'), '[tunnels.shop]\ntarget = "3000"\n');
  const peers = server.peers.length;
  for (const words of [
    ['http', '3000'],
    ['https', '3000'],
    ['tcp', '3000'],
    ['udp', '51820', '--network', 'home'],
    ['start', '--config', 'agent.toml'],
  ]) {
    for (const key of [TEXT, wireOf('master')]) {
      const env = { CULVERT_TOKEN: key, CULVERT_SERVER: server.url.href };
      const { code, stdout, stderr } = await run(words, { home, env });
      assert.deepEqual([code, stdout], [3, ''], words.join(' '));
      assert.match(stderr, /^culvert: this is a master key, .*culvert tokens mint NAME --project SLUG --server http/);
      assert.ok(!stderr.includes(key));
    }
  }
  assert.equal(server.peers.length, peers);
});

test('a key file that becomes a master key ends nothing: the agent names it, and goes on with the next key', async (t) => {
  const home = tempHome(t);
  const file = join(home, 'key');
  const agentKey = 'mtk_0123456789abcdefghijABCDEFGHIJ0123456789abc';
  writeFileSync(file, agentKey, { mode: 0o600 });
  const env = { CULVERT_TOKEN_FILE: file, CULVERT_SERVER: server.url.href };
  const program = start(t, ['http', '3000'], { home, env });
  await (await server.peer()).serve();
  writeFileSync(file, TEXT);
  server.cut();
  await program.until(() => program.stderr.includes('this is a master key'));
  writeFileSync(file, agentKey);
  program.signal('SIGHUP');
  const peer = await server.peer();
  assert.equal((await peer.hear('hello')).token, agentKey);
  assert.ok(!program.stderr.includes(TEXT));
});
