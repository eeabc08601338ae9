// group: browser
/** Domains: added, looked up in a real DNS, bound to a tunnel, deleted. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type DnsServer, startDns } from '../harness/dns.ts';
import { inReverse } from '../harness/ends.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

suite('domains', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let dns: DnsServer;
  before(async () => {
    dns = await startDns(ends);
    const toml = `[dns]\nresolvers = ["${dns.address}"]\n`;
    const edge = 'domain = "edge.example.com"\npublic_url = "https://{subdomain}.edge.example.com"';
    fixture = await startFixture(ends, { toml, edge });
  });

  test('domains page: a domain is added, verified by its record, bound, unbound and deleted', async (t) => {
    const { account } = fixture.culvert;
    const { body: tunnel } = await account.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop' });
    assert.equal(tunnel['subdomain'], 'shop');
    const page = await fixture.open(t, '/domains');
    await page.clock.install();
    await page.getByRole('heading', { name: 'No domains yet' }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'domains-empty');
    await page.getByRole('button', { name: 'Add domain' }).first().click();
    const adding = page.getByRole('dialog', { name: 'Add domain' });
    const field = adding.getByRole('textbox', { name: 'Domain' });
    await field.fill('*.example.net');
    await adding.getByRole('button', { name: 'Add domain' }).click();
    await adding.getByText('Wildcards are not supported').waitFor();
    await noSeriousFinding(page);
    await field.fill('Shop.Example.net');
    await adding.getByRole('button', { name: 'Add domain' }).click();

    const record = page.getByRole('group', { name: 'TXT record' });
    await record.getByText('_tunnel-challenge.shop.example.net').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'domains-added');
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('but there is none').waitFor();
    await shoot(page, 'domains-missing');
    const { body } = await account.call('GET', '/domains');
    const [added] = body as unknown as ReadonlyArray<{ verificationToken: string }>;
    dns.txt.set('_tunnel-challenge.shop.example.net', [[added?.verificationToken ?? '']]);
    // After one click the check repeats by itself.
    await page.clock.fastForward(21_000);
    await page.getByText('shop.example.net is verified.').waitFor();

    await page.getByRole('combobox', { name: 'Tunnel for shop.example.net' }).click();
    await page.getByRole('option', { name: 'shop' }).click();
    await page.getByRole('button', { name: 'Bind tunnel' }).click();
    await page.getByText('Active', { exact: true }).waitFor();
    await page.getByText('which is offline').waitFor();
    const pointer = page.getByRole('group', { name: 'CNAME record' });
    await pointer.getByText('shop.edge.example.com', { exact: true }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'domains-bound');
    await page.getByRole('button', { name: 'Unbind' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unbind domain' }).click();
    await page.getByText('No tunnel', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Delete domain' }).click();
    const asking = page.getByRole('dialog', { name: 'Delete the domain shop.example.net?' });
    await asking.getByText('after 24 hours').waitFor();
    await noSeriousFinding(page);
    await asking.getByRole('button', { name: 'Delete domain' }).click();
    await page.getByRole('heading', { name: 'No domains yet' }).waitFor();
  });

  test('domains page: fits a phone', async (t) => {
    const domain = `a-rather-long-name-of-a-service.departments.example.net`;
    assert.equal((await fixture.culvert.account.call('POST', '/domains', { domain })).status, 201);
    const page = await fixture.open(t, '/domains', { context: { viewport: PHONE, colorScheme: 'dark' } });
    await heading(page, 'Domains');
    await page.getByRole('button', { name: new RegExp(domain) }).click();
    await page.getByRole('button', { name: 'Check now' }).waitFor();
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await shoot(page, 'domains-phone-dark');
  });
});
