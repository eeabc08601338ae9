/** Access control by flags: an agent never serves through a server that does not confirm it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeFixture, tunnelSpec } from './fixtures/fake-channel.ts';

const narrow = { allow_cidr: ['192.0.2.0/24'], deny_cidr: ['192.0.2.7'] };
const shop = { ...tunnelSpec('web', 'shop'), narrow };
const MESSAGE = /^The server does not support --allow-cidr, --deny-cidr: nothing was published\. Upgrade the server/;

test('agent flags: a server that does not know them gets no claim, and the agent ends with 4', async () => {
  const fixture = await fakeFixture({ tunnels: [shop] });
  fixture.latest().welcome();
  const reason = await fixture.agent.done;
  assert.equal(reason.code, 4);
  assert.match(reason.message, MESSAGE);
  assert.deepEqual(fixture.latest().claims, []);
});

test('agent flags: a server that binds without confirming them loses the tunnel before a stream is served', async () => {
  const fixture = await fakeFixture({ tunnels: [shop] });
  const channel = fixture.latest();
  channel.welcome({ narrows: ['allow_cidr', 'deny_cidr'] });
  assert.deepEqual(channel.claims[0]?.narrow, narrow);
  channel.bind(1, { narrowed: ['allow_cidr'] });
  assert.equal(channel.sink.targetOf(1), undefined);
  assert.deepEqual(
    channel.sent.filter(({ type }) => type === 'unbind'),
    [{ type: 'unbind', slot: 1 }],
  );
  const reason = await fixture.agent.done;
  assert.equal(reason.code, 4);
  assert.match(reason.message, /does not support --deny-cidr: nothing was published/);
  assert.equal(
    fixture.events.some(({ kind }) => kind === 'tunnel_online'),
    false,
  );
});

test('agent flags: nor does such a server get the claim of a tunnel that comes with a reload', async () => {
  const plain = tunnelSpec('plain', 'plain');
  const fixture = await fakeFixture({ tunnels: [plain] });
  const channel = fixture.latest();
  channel.welcome();
  channel.bindAll();
  fixture.agent.reload({ tunnels: [plain, shop], relays: [] });
  await fixture.time.advance(0);
  assert.equal(channel.claims.length, 1);
  const [, web] = fixture.agent.view().tunnels;
  assert.equal(web?.state, 'ended');
  assert.match(web?.reason ?? '', MESSAGE);
});

test('agent flags: other tunnels of the agent go on', async () => {
  const fixture = await fakeFixture({ tunnels: [shop, tunnelSpec('plain', 'plain')] });
  const channel = fixture.latest();
  channel.welcome();
  channel.bindAll();
  await fixture.time.advance(0);
  assert.deepEqual(
    fixture.agent.view().tunnels.map(({ name, state }) => [name, state]),
    [
      ['web', 'ended'],
      ['plain', 'online'],
    ],
  );
});

test('agent flags: they are sent again after a reconnect, and served once confirmed', async () => {
  const fixture = await fakeFixture({ tunnels: [shop] });
  const names = Object.keys(narrow);
  for (let round = 1; round <= 2; round++) {
    const channel = fixture.latest();
    channel.welcome({ narrows: names });
    assert.deepEqual(channel.claims[0]?.narrow, narrow);
    channel.bind(1, { narrowed: names });
    assert.equal(channel.sink.targetOf(1)?.port, 3000);
    channel.sink.onClosed('gone');
    await fixture.time.advance(1_000);
  }
});
