/** `culvert domains` and `culvert members`: what they ask a server. Against a real one, with all others: test/flows/cli-manage.test.ts. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { loggedInAt, type PlayedServer, playServer, refreshWith } from '../fixtures/played-server.ts';
import { type Program, start } from '../fixtures/in-process.ts';
import { TUNNEL_ITEM } from '../fixtures/tunnel-item.ts';

const WITHIN = { timeout: 60_000 };
const DOMAIN = {
  id: 'd1',
  domain: 'shop.example.net',
  verified: true,
  boundTunnelId: 't1',
  dnsRecord: { type: 'TXT', name: '_culvert.shop.example.net', value: 'culvert=1' },
  certificate: { state: 'valid' },
};
const MEMBER = { user_id: 'u1', email: 'Bob@example.com', name: 'Bob', role: 'member', mfa_enabled: true };
const BOB = { ...MEMBER, joined_at: '2026-11-21T09:00:00.000Z' };

async function asking(t: TestContext, ...words: string[]): Promise<{ program: Program; server: PlayedServer }> {
  const server = await playServer(t);
  const { home } = loggedInAt(t, server.url);
  const program = start(t, words, { home });
  refreshWith(await server.next(), 'cookie-1');
  return { program, server };
}

async function expect(server: PlayedServer, what: string, answer: unknown): Promise<unknown> {
  const request = await server.next();
  assert.equal(request.what, what);
  request.answer(200, answer);
  return request.body;
}

test('domains list: the tunnel of each by name', WITHIN, async (t) => {
  const { program, server } = await asking(t, 'domains');
  await expect(server, 'GET /domains', [DOMAIN, { ...DOMAIN, domain: 'b.example.net', boundTunnelId: null }]);
  await expect(server, 'GET /tunnels', [TUNNEL_ITEM]);
  assert.equal(await program.exit, 0, program.stderr);
  assert.match(program.stdout, /^shop\.example\.net +yes +shop +valid +d1$/m);
  assert.match(program.stdout, /^b\.example\.net +yes +- +valid +d1$/m);
});

test('domains verify: an absent record is named again', WITHIN, async (t) => {
  for (const [verified, said] of [
    [true, /^shop\.example\.net: verified\n$/],
    [false, /: not verified yet\. Set this DNS record, .*: _culvert\.shop\.example\.net TXT culvert=1\n$/],
  ] as const) {
    const { program, server } = await asking(t, 'domains', 'verify', 'Shop.example.net');
    await expect(server, 'GET /domains', [DOMAIN]);
    await expect(server, 'POST /domains/d1/verify', { ...DOMAIN, verified });
    assert.equal(await program.exit, 0, program.stderr);
    assert.match(program.stdout, said);
  }
});

test('domains bind and unbind: lead a domain to a tunnel, and to none', WITHIN, async (t) => {
  const bind = await asking(t, 'domains', 'bind', 'shop.example.net', 'shop');
  await expect(bind.server, 'GET /domains', [DOMAIN]);
  await expect(bind.server, 'GET /tunnels', [TUNNEL_ITEM]);
  assert.deepEqual(await expect(bind.server, 'PUT /domains/d1/bind', DOMAIN), { tunnel_id: 't1' });
  assert.deepEqual([await bind.program.exit, bind.program.stdout], [0, 'shop.example.net: leads to shop\n']);
  const unbind = await asking(t, 'domains', 'unbind', 'd1');
  await expect(unbind.server, 'GET /domains', [DOMAIN]);
  await expect(unbind.server, 'DELETE /domains/d1/bind', DOMAIN);
  assert.deepEqual([await unbind.program.exit, unbind.program.stdout], [0, 'shop.example.net: leads to no tunnel\n']);
});

test('members: a change or removal says how many keys it revoked', WITHIN, async (t) => {
  for (const [words, method, body, said] of [
    [['role', 'bob@example.com', 'viewer'], 'PATCH', { role: 'viewer' }, 'Bob@example.com: viewer; keys revoked: 2\n'],
    [['remove', 'u1', '--yes'], 'DELETE', undefined, 'Bob@example.com: removed; keys revoked: 2\n'],
  ] as const) {
    const { program, server } = await asking(t, 'members', ...words);
    await expect(server, 'GET /auth/me', { active_org: { id: 'o1' } });
    await expect(server, 'GET /orgs/o1/members', [BOB]);
    assert.deepEqual(await expect(server, `${method} /orgs/o1/members/u1`, { ...BOB, revoked_tokens: 2 }), body);
    assert.deepEqual([await program.exit, program.stdout], [0, said], program.stderr);
  }
});

test('members: a name that is none, or that several have, is refused', WITHIN, async (t) => {
  for (const [rows, said] of [
    [[], /there is no member "bob@example\.com"\. `culvert members list` shows them/],
    [[BOB, { ...BOB, user_id: 'u2' }], /2 have the name "bob@example\.com"\. Use the ID/],
  ] as const) {
    const { program, server } = await asking(t, 'members', 'remove', 'bob@example.com', '--yes');
    await expect(server, 'GET /auth/me', { active_org: { id: 'o1' } });
    await expect(server, 'GET /orgs/o1/members', rows);
    assert.equal(await program.exit, 1);
    assert.match(program.stderr, said);
  }
});
