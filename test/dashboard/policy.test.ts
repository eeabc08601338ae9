// group: browser
/** The traffic policy of a tunnel: made from an example, tested against recorded requests, tried, edited as text, and carried out at the edge. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Page } from 'playwright-core';
import { inReverse } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { get } from '../harness/visitor.ts';
import { NO_CHROMIUM, noSeriousFinding, PHONE, shoot, startFixture, type Fixture } from './fixture.ts';

const HOSTILE = '/admin/<img%20src=x%20onerror=alert(1)>';

suite('the policy of a tunnel', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let shop: string;
  let status: (path: string) => Promise<number>;
  before(async () => {
    fixture = await startFixture(ends);
    const origin = await startOrigin(ends, (_, answer) => answer.end('ok'));
    const { culvert } = fixture;
    await culvert.agent(['http', String(origin.port), '--subdomain', 'shop']).printed(/http:\/\/shop\.localhost:\d+/);
    const { body } = await culvert.account.call('GET', '/tunnels');
    const [row] = body as unknown as ReadonlyArray<{ id: string }>;
    shop = row?.id ?? '';
    status = async (path) =>
      (await get(`http://shop.localhost:${culvert.ports.http}${path}`, culvert.ports.http)).status;
    for (const path of ['/', '/cart', '/admin/users', '/orders', HOSTILE]) assert.equal(await status(path), 200);
  });

  const open = async (t: Parameters<Fixture['open']>[0], more: Parameters<Fixture['open']>[2] = {}): Promise<Page> => {
    const page = await fixture.open(t, `/tunnels/${shop}?tab=policy`, more);
    await page.getByRole('heading', { name: 'Traffic policy' }).waitFor();
    return page;
  };
  const saved = async (): Promise<unknown> =>
    (await fixture.culvert.account.call('GET', `/tunnels/${shop}/policy`)).body['policy'];
  const put = (actions: readonly object[]) =>
    fixture.culvert.account.call('PUT', `/tunnels/${shop}/policy`, { actions });

  test('policy page: an example is filled in, tested, saved, and applies immediately', async (t) => {
    const page = await open(t);
    await page.getByText('All visitors are allowed now.').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'policy-none');
    await page.getByRole('button', { name: 'Keep /admin private' }).click();
    await page.getByText('Not saved', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Run test' }).click();
    await page.getByText('Of the last 5 requests, the policy would block 2.').waitFor();
    const found = page.getByRole('table', { name: 'Requests that would be blocked' });
    assert.equal(await found.getByRole('row').count(), 3);
    await found.getByText(/^GET \/admin\/.*img/).waitFor();
    assert.match(
      (await found.getByRole('link').first().getAttribute('href')) ?? '',
      /^\/app\/inspector\/[0-9a-f-]{36}$/,
    );
    await noSeriousFinding(page);
    await shoot(page, 'policy-tested');
    assert.equal(await saved(), null);
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('Policy saved. Applies immediately.').waitFor();
    assert.equal(await status('/admin/users'), 403);
    assert.equal(await page.getByText('Not saved', { exact: true }).count(), 0);
    await page.getByLabel('Path begins with').fill('/private');
    await page.getByText('The policy changed after this test.').waitFor();
    await page.getByRole('tab', { name: 'Access control' }).click();
    await page.getByRole('tab', { name: 'Policy' }).click();
    await page.getByText('Not saved', { exact: true }).waitFor();
    assert.equal(await page.getByLabel('Path begins with').inputValue(), '/private');
    await page.getByRole('button', { name: 'Discard' }).click();
    assert.equal(await page.getByLabel('Path begins with').inputValue(), '/admin');
  });

  test('policy page: text typed during a save stays, and unreadable text too', async (t) => {
    await put([{ kind: 'deny', path_prefix: '/admin' }]);
    const page = await open(t);
    const path = page.getByLabel('Path begins with');
    await path.fill('/first');
    let answer = (): void => undefined;
    const isAsked = new Promise<void>((resolve, reject) => {
      void page.route('**/policy', async (route) => {
        if (route.request().method() !== 'PUT') {
          await route.continue();
          return;
        }
        answer = () => void route.continue().catch(reject);
        resolve();
      });
    });
    await page.getByRole('button', { name: 'Save policy' }).click();
    await isAsked;
    await path.fill('/second');
    answer();
    await page.getByText('Policy saved. Applies immediately.').waitFor();
    assert.equal(await path.inputValue(), '/second');
    await page.getByText('Not saved', { exact: true }).waitFor();
    assert.equal(await page.getByText('Another member has changed').count(), 0);
    assert.deepEqual(await saved(), { actions: [{ kind: 'deny', path_prefix: '/first' }] });
    await page.getByText('JSON', { exact: true }).click();
    const text = page.getByLabel('Policy as JSON');
    await text.fill('{ "actions": [');
    await page.getByRole('tab', { name: 'Access control' }).click();
    await page.getByRole('tab', { name: 'Policy' }).click();
    assert.equal(await text.inputValue(), '{ "actions": [');
    await page.getByText('Invalid JSON').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    assert.match(await text.inputValue(), /first/);
  });

  test('policy page: an action in log-only mode counts what it would have blocked', async (t) => {
    await put([{ kind: 'deny', path_prefix: '/admin' }]);
    const page = await open(t);
    await page.getByRole('radiogroup', { name: 'Block a path: mode' }).getByText('Log only').click();
    await page.getByText('Once saved, it blocks no request').waitFor();
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('Would have blocked nothing since the policy was saved.').waitFor();
    assert.equal(await status('/admin/reports'), 200);
    await page.getByText('Would have blocked 1 since the policy was saved').waitFor();
    await page.getByText('GET /admin/reports').waitFor();
    await shoot(page, 'policy-tried');
    await page.getByRole('button', { name: 'Run test' }).click();
    await page.getByText(/^Of the last \d+ requests, the policy would block none\.$/).waitFor();
    await page.getByRole('table').getByText('Block a path (log only)').first().waitFor();
  });

  test('policy page: faults of the page and the server stand at their field', async (t) => {
    await put([{ kind: 'deny', path_prefix: '/admin' }]);
    const page = await open(t);
    await page.getByRole('button', { name: 'Add action' }).click();
    await noSeriousFinding(page);
    await shoot(page, 'policy-kinds');
    await page.getByRole('menuitem', { name: 'Allow addresses' }).click();
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('Enter an address or network').waitFor();
    const networks = page.getByRole('combobox', { name: 'Addresses and networks' });
    assert.equal(await networks.getAttribute('aria-invalid'), 'true');
    // What only the server knows: bits behind the prefix.
    await networks.fill('10.0.0.1/8');
    await networks.press('Enter');
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('must be an IP address or a network such as 10.0.0.0/8').waitFor();
    await page.getByRole('button', { name: 'Remove: Allow addresses' }).click();
    await page.getByLabel('Path begins with').fill('admin');
    await page.getByText('Must begin with a /').waitFor();
    await noSeriousFinding(page);
    await page.getByRole('button', { name: 'Discard' }).click();
    assert.deepEqual(await saved(), { actions: [{ kind: 'deny', path_prefix: '/admin' }] });
  });

  test('policy page: text and forms stay in sync', async (t) => {
    await put([{ kind: 'deny', path_prefix: '/admin' }]);
    const page = await open(t);
    const text = page.getByLabel('Policy as JSON');
    await page.getByText('JSON', { exact: true }).click();
    assert.deepEqual(JSON.parse(await text.inputValue()), await saved());
    await text.fill('{"actions": [');
    await page.getByText(/^Invalid JSON/).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Save policy' }).isDisabled());
    await text.fill('{"actions": [{"kind": "rate_limit", "requests_per_minute": 7}]}');
    await noSeriousFinding(page);
    await shoot(page, 'policy-json');
    await page.getByText('Form', { exact: true }).click();
    assert.equal(await page.getByLabel('Requests per minute').inputValue(), '7');
    await page.getByLabel('Requests per minute').fill('600');
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('Policy saved.').waitFor();
    assert.deepEqual(await saved(), {
      actions: [{ kind: 'rate_limit', requests_per_minute: 600, per_client_ip: false }],
    });
  });

  test('policy page: a policy is removed after confirmation', async (t) => {
    await put([{ kind: 'deny', path_prefix: '/admin' }]);
    const before = await saved();
    const page = await open(t);
    await page.getByRole('button', { name: 'Remove policy' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove the policy from shop?' });
    await dialog.getByText('Applies immediately.').waitFor();
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Remove policy' }).click();
    await page.getByText('All visitors are allowed now.').waitFor();
    assert.equal(await saved(), null);
    assert.equal(await status('/admin'), 200);
    await page.getByRole('group', { name: 'Undo' }).getByText('Policy removed.').waitFor();
    await page.keyboard.press('Control+z');
    await page.getByText('Undone.').waitFor();
    assert.equal(await status('/admin'), 403);
    assert.deepEqual(await saved(), before);
  });

  test('policy page: all kinds at once fit a phone in dark mode', async (t) => {
    await put([
      { kind: 'ip_deny', networks: ['192.0.2.7', '2001:db8:1:2:3:4:5:6'], enforce: false },
      { kind: 'deny', path_prefix: `/${'long'.repeat(40)}` },
      { kind: 'rate_limit', requests_per_minute: 60, per_client_ip: true },
      { kind: 'jwt_validation', allowed_issuers: ['https://login.example.com'], allowed_audiences: ['shop'] },
      { kind: 'header_set', name: 'X-Tenant', value: 'blue' },
      { kind: 'response_header_set', name: 'X-Frame-Options', value: 'DENY' },
    ]);
    const desktop = await open(t, { context: { colorScheme: 'dark' } });
    await desktop.getByRole('listitem', { name: 'Limit rate' }).waitFor();
    await noSeriousFinding(desktop);
    await shoot(desktop, 'policy-all-dark');
    const page = await open(t, { context: { colorScheme: 'dark', viewport: PHONE } });
    await page.getByRole('button', { name: 'Run test' }).click();
    await page.getByText(/^Of the last \d+ requests, the policy would block \d+\.$/).waitFor();
    await shoot(page, 'policy-all-phone');
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(wide <= 0, `${wide} pixels too wide`);
  });
});
