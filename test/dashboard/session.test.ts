// group: browser
/** What must not happen between two tabs, two things of one kind, and two versions of the server. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { type Ends, inReverse } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { heading, NO_CHROMIUM, settled, startFixture, type Fixture } from './fixture.ts';

const MINUTES_16 = 16 * 60_000;

suite('a tab', { timeout: 120_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  before(async () => {
    fixture = await startFixture(ends);
  });

  test('session: no action runs as an organization that another tab has chosen', async (t) => {
    const page = await fixture.open(t, '/names');
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await heading(page, 'Reserved names');
    await settled(page);
    await page.clock.install();
    await page.getByRole('textbox').first().fill('meant-for-the-first');
    // The other tab: the same cookie, another organization.
    await page.evaluate(SWITCH);
    // The token of this tab has run out by now: the next request swaps the cookie.
    await page.clock.setFixedTime(Date.now() + MINUTES_16);
    await page.getByRole('button', { name: 'Reserve name' }).click();
    await page.getByRole('alert').filter({ hasText: 'No changes were made' }).first().waitFor();
    assert.ok(sent.includes('POST /auth/refresh'), 'the cookie was not swapped');
    assert.ok(!sent.includes('POST /reserved-subdomains'), 'it was asked for as the other organization');
    // It shows which one is active now.
    await page.getByRole('button', { name: 'Organization: Other' }).waitFor();
  });

  test('session: continues in another organization after its own is deleted here, with one notice', async (t) => {
    const person = await fixture.person('two-homes@example.test');
    const page = await fixture.open(t, '/', { as: person });
    await heading(page, 'Overview');
    await page.evaluate(SWITCH);
    await page.goto(`${fixture.culvert.apiUrl}/app/organization`);
    await page.getByRole('button', { name: 'Organization: Other' }).waitFor();
    await page.getByRole('button', { name: 'Delete organization' }).click();
    const asks = page.getByRole('dialog');
    await asks.getByRole('textbox').fill('Other');
    await asks.getByRole('button', { name: 'Delete organization' }).click();
    await page.getByText('Other deleted').waitFor();
    await page.getByText('two-homes', { exact: true }).first().waitFor();
    assert.equal(await page.getByText('No changes were made').count(), 0);
  });

  test('session: no extra cookie swaps while the clock of the machine is an hour ahead', async (t) => {
    const page = await fixture.open(t, '/');
    await settled(page);
    await page.clock.setFixedTime(Date.now() + 60 * 60_000);
    let swaps = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/auth/refresh')) swaps++;
    });
    await page.reload();
    await settled(page);
    await page.getByRole('link', { name: 'Reserved names' }).click();
    await heading(page, 'Reserved names');
    await settled(page);
    assert.equal(swaps, 1);
  });

  test('session: text typed for one tunnel does not appear at another', async (t) => {
    const ids: string[] = [];
    for (const subdomain of ['first', 'second']) {
      const { body } = await fixture.culvert.account.call('POST', '/tunnels', { localPort: 3000, subdomain });
      ids.push(String(body['id']));
    }
    const page = await fixture.open(t, `/tunnels/${ids[0]}?tab=maintenance`);
    await heading(page, 'first');
    await page.getByRole('textbox').first().fill('only for the first');
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`${ids[1]}?tab=maintenance`)})`);
    await heading(page, 'second');
    assert.notEqual(await page.getByRole('textbox').first().inputValue(), 'only for the first');
  });

  test('session: survives leaving the page during a cookie swap', async (t) => {
    const late = await lateRefresh(inReverse(t), fixture.culvert.apiUrl);
    const page = await fixture.open(t, '/');
    await settled(page);
    await page.goto(`${late.url}/app/names`, { waitUntil: 'commit' });
    await late.swapped;
    await page.reload();
    late.letGo();
    await heading(page, 'Reserved names');
  });

  test('session: tabs log in and out together', async (t) => {
    const page = await fixture.open(t, '/members');
    await heading(page, 'Members');
    const other = await page.context().newPage();
    await other.goto(`${fixture.culvert.apiUrl}/app/`);
    await other.getByRole('button', { name: 'Your account' }).click();
    await other.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByLabel('Email address').waitFor();
    assert.equal(await page.getByText('admin@localhost').count(), 0);
    await other.getByLabel('Email address').fill(fixture.owner.email);
    await other.getByLabel('Password', { exact: true }).fill(fixture.owner.password);
    await other.getByRole('button', { name: 'Log in', exact: true }).click();
    await heading(page, 'Members');
  });

  test('session: no password prompt while the server does not respond', async (t) => {
    const page = await fixture.open(t, '/names');
    await heading(page, 'Reserved names');
    await page.route('**/auth/refresh', (route) => route.fulfill({ status: 503, body: 'busy' }));
    await page.reload();
    await heading(page, 'Server not responding');
    await page.unroute('**/auth/refresh');
    await page.getByRole('button', { name: 'Try again' }).click();
    await heading(page, 'Reserved names');
    // Nor while another tab swaps the cookie.
    let busy = 3;
    await page.route('**/auth/refresh', (route) =>
      busy-- > 0
        ? route.fulfill({ status: 401, json: { error: 'unauthorized', message: '', retry_after_seconds: 0.1 } })
        : route.continue(),
    );
    await page.reload();
    await heading(page, 'Reserved names');
    assert.equal(busy, -1);
  });

  test('session: works when the browser reports offline but the server responds', async (t) => {
    const page = await fixture.open(t, '/names');
    await heading(page, 'Reserved names');
    await page.evaluate(`dispatchEvent(new Event('offline'))`);
    await page.getByRole('textbox').first().fill('on-this-machine');
    await page.getByRole('button', { name: 'Reserve name' }).click();
    await page.getByRole('cell', { name: 'on-this-machine', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('table', { name: 'Members' }).waitFor();
  });

  test('session: a page that fails to load or draw shows an error with a way on', async (t) => {
    // A tab of its own: React tells the browser's console of what the page then says.
    const page = await (await fixture.open(t, '/')).context().newPage();
    await page.route('**/assets/audit-page-*', (route) => route.abort());
    await page.goto(`${fixture.culvert.apiUrl}/app/`);
    await heading(page, 'Overview');
    await page.getByRole('link', { name: 'Audit log' }).click();
    await heading(page, 'Page failed to load');
    await page.getByRole('link', { name: 'Tunnels', exact: true }).click();
    await heading(page, 'Tunnels');
    await page.getByRole('link', { name: 'Audit log' }).click();
    await heading(page, 'Page failed to load');
    await page.unroute('**/assets/audit-page-*');
    // A failure counts for half a second more: a quick visitor sees it once more.
    const shown = page.getByRole('heading', { name: /^(Audit log|Page failed to load)$/, level: 1 });
    do {
      await page.getByRole('link', { name: 'Tunnels', exact: true }).click();
      await heading(page, 'Tunnels');
      await page.getByRole('link', { name: 'Audit log' }).click();
      await shown.waitFor();
    } while ((await shown.textContent()) !== 'Audit log');
  });

  test('session: an invalid id in an address is not requested', async (t) => {
    for (const path of ['/inspector/recording', '/inspector/unrecorded', '/tunnels/abc']) {
      const page = await fixture.open(t, path);
      await heading(page, 'Page not found');
    }
  });
});

/** The server behind a line that brings the first answer with a new cookie only when it is let go. */
async function lateRefresh(
  ends: Ends,
  server: string,
): Promise<{ url: string; swapped: Promise<void>; letGo: () => void }> {
  const swapped = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  let isFirst = true;
  const { port } = await startOrigin(ends, (incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const onward = request(new URL(url ?? '/', server), { method, headers }, (answer) => {
      const pass = (): void => {
        outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(outgoing);
      };
      if (!isFirst || url !== '/auth/refresh') return pass();
      isFirst = false;
      swapped.resolve();
      void go.promise.then(pass);
    });
    incoming.pipe(onward);
  });
  return { url: `http://127.0.0.1:${port}`, swapped: swapped.promise, letGo: go.resolve };
}

/** Evaluated in the page, with an access token of its own: makes another organization and goes there. */
const SWITCH = `(async () => {
  const { access_token: token } = await (await fetch('/auth/refresh', { method: 'POST' })).json();
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
  const made = await (await fetch('/orgs', { method: 'POST', headers, body: '{"name":"Other"}' })).json();
  await fetch('/auth/switch-org', { method: 'POST', headers, body: JSON.stringify({ org_id: made.id }) });
})()`;
