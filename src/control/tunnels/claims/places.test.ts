/** Claims that name their tunnel by a custom domain or a public port: the rules of names hold for them, and a port never says whose it is. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { domains, tunnels } from '../../db/schema.ts';
import type { UserActor } from '../../core/rules/actor.ts';
import { Plane } from '../../core/testing/plane.ts';

let p: Plane;
let ann: UserActor;
let bob: UserActor;
beforeEach(async () => {
  p = new Plane();
  ann = await p.person('ann@example.test');
  bob = await p.person('bob@example.test');
});
afterEach(() => p.close());

const at = (domain: string) => ({ narrow: { domain } });
const tcp = (port: number) => ({ protocol: 'tcp', narrow: { remote_port: port } }) as const;

/** A row of a domain, verified and bound unless said otherwise. */
function domain(actor: UserActor, name: string, of: { tunnelId: string | null; verifiedAt?: number | null }): void {
  const { tunnelId, verifiedAt = p.now } = of;
  const row = {
    id: `${name} ${actor.orgId}`,
    orgId: actor.orgId,
    domain: name,
    verificationToken: 'x',
    createdAt: p.now,
  };
  p.control.store.inTx(
    ({ db }) =>
      void db
        .insert(domains)
        .values({ ...row, tunnelId, verifiedAt })
        .run(),
  );
}

async function says(...claim: Parameters<Plane['claim']>): Promise<string> {
  const answer = await p.claim(...claim);
  return answer.ok ? `bound ${answer.route.subdomain}` : answer.message;
}

suite('claim at a domain', () => {
  test('serves the tunnel that the domain is bound to', async () => {
    const { row } = p.create(ann, { subdomain: 'shop' });
    domain(ann, 'shop.example.net', { tunnelId: row.id });
    const answer = await p.claim(p.mint(ann), at('SHOP.example.net'));
    assert.ok(answer.ok);
    assert.equal(answer.route.tunnelId, row.id);
    assert.deepEqual([answer.narrowing?.names, answer.narrowing?.domain], [['domain'], 'shop.example.net']);
    assert.equal((await p.bound(p.mint(ann), { ...at('shop.example.net'), subdomain: 'shop' })).tunnelId, row.id);
  });

  test('refuses a domain that is not verified, not bound, or of another organization, in the same words', async () => {
    const { row } = p.create(ann, { subdomain: 'shop' });
    const other = p.create(bob, { subdomain: 'bobs' }).row;
    domain(ann, 'unbound.example.net', { tunnelId: null });
    domain(ann, 'unverified.example.net', { tunnelId: row.id, verifiedAt: null });
    domain(bob, 'bobs.example.net', { tunnelId: other.id });
    for (const name of ['unbound', 'unverified', 'bobs', 'absent']) {
      const host = `${name}.example.net`;
      const message = await says(p.mint(ann), at(host));
      assert.match(message, new RegExp(`^Your organization has no domain ${host} that is verified and bound`), host);
      assert.match(message, new RegExp(`use --subdomain\\. For your own: culvert domains add ${host}`), host);
    }
  });

  test('a key may not serve a name that it does not allow, nor that of another project', async () => {
    const { row } = p.create(ann, { subdomain: 'shop' });
    domain(ann, 'shop.example.net', { tunnelId: row.id });
    const narrow = p.mint(ann, { allowedSubdomains: ['web-*'] });
    assert.match(await says(narrow, at('shop.example.net')), /does not allow shop/);
    p.projects.create(ann, { name: 'Docs', slug: 'docs' });
    const docs = p.create(ann, { subdomain: 'api', projectSlug: 'docs' }).row;
    domain(ann, 'api.example.net', { tunnelId: docs.id });
    assert.equal((await p.bound(p.mint(ann), at('api.example.net'))).tunnelId, docs.id);
    assert.match(
      await says(p.mint(ann), { ...at('shop.example.net'), subdomain: 'blog' }),
      /bound to shop\. Bind it to another tunnel, or leave out --subdomain/,
    );
  });

  test('a tcp tunnel has no domain', async () => {
    assert.match(
      await says(p.mint(ann), { ...at('a.example.net'), protocol: 'tcp' }),
      /--domain: is for http and https/,
    );
  });
});

suite('claim of a port', () => {
  const rowOf = (id: string) => p.control.store.db.select().from(tunnels).where(eq(tunnels.id, id)).get();

  test('makes a tunnel with that port, which the organization keeps', async () => {
    const key = p.mint(ann);
    const made = await p.bound(key, tcp(20_002));
    assert.equal(made.tcpPort, 20_002);
    assert.equal(rowOf(made.tunnelId)?.ephemeral, false);
    p.now += 2 * 24 * 3_600_000 - 1;
    p.control.tunnels.removeUnused();
    // Another key of the organization gets the same tunnel.
    const again = await p.bound(p.mint(ann), { ...tcp(20_002), localPort: 22 });
    assert.equal(again.tunnelId, made.tunnelId);
  });

  test('keeps the port of a tunnel that an agent opened without a name', async () => {
    const key = p.mint(ann);
    const first = await p.bound(key, { protocol: 'tcp' });
    assert.equal(rowOf(first.tunnelId)?.ephemeral, true);
    const kept = await p.bound(key, tcp(first.tcpPort ?? 0));
    assert.equal(kept.tunnelId, first.tunnelId);
    assert.equal(rowOf(first.tunnelId)?.ephemeral, false);
  });

  test('refuses the port of another organization, live or just freed, in the words of a taken one', async () => {
    const { tunnelId } = await p.bound(p.mint(bob), tcp(20_001));
    const key = p.mint(ann);
    const live = await p.claim(key, tcp(20_001));
    p.control.tunnels.delete(bob, tunnelId);
    const freed = await p.claim(key, tcp(20_001));
    for (const answer of [live, freed]) {
      assert.ok(!answer.ok);
      assert.equal(answer.code, 'no_port_free');
      assert.equal(answer.message, 'Port 20001 is not available to your organization. Choose another port.');
    }
    assert.equal((await p.bound(p.mint(bob), tcp(20_001))).tcpPort, 20_001);
  });

  test('refuses a port that the server does not have, and another port of a known name', async () => {
    const key = p.mint(ann);
    assert.match(await says(key, tcp(80)), /Port 80 is not one of this server's public TCP ports, 20000 to 20003/);
    await p.bound(key, { protocol: 'tcp', subdomain: 'db' });
    assert.match(await says(key, { ...tcp(20_003), subdomain: 'db' }), /db has the public port 2000\d\. Use that one/);
    assert.match(await says(key, { narrow: { remote_port: 20_003 } }), /--remote-port: is for tcp tunnels only/);
  });

  test('a key may not take a name that it does not allow by its port', async () => {
    const made = await p.bound(p.mint(ann), { protocol: 'tcp', subdomain: 'db' });
    const key = p.mint(ann, { allowedSubdomains: ['web-*'] });
    assert.match(await says(key, tcp(made.tcpPort ?? 0)), /does not allow db/);
  });
});
