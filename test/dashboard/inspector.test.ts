// group: browser
/** The inspector's list: requests come by themselves, are found again, compared, taken along and deleted. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';
import type { Page, WebSocketRoute } from 'playwright-core';
import { type Ends, inReverse } from '../harness/ends.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, PHONE, shoot, type TabOptions } from './fixture.ts';
import { type Inspected, option, startInspected } from './inspected.ts';

suite('the inspector', { timeout: 180_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Inspected['fixture'];
  let tunnel: string;
  let ask: Inspected['ask'];
  before(async () => {
    ({ fixture, tunnel, ask } = await startInspected(ends));
  });

  test('inspector: new requests appear, can be filtered, and do not move the reader', async (t) => {
    const page = await open(t, '/inspector');
    await page.getByText('Live', { exact: true }).waitFor();
    await ask('/orders?source=web', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"item":"book"}',
    });
    await option(page, 'POST /orders?source=web').waitFor();
    await ask('/admin/users');
    await option(page, 'GET /admin/users').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'inspector-list');

    await page.getByLabel('Search requests').fill('/ADMIN/us');
    await option(page, '/orders').waitFor({ state: 'detached' });
    await option(page, '/admin/users').waitFor();
    assert.match(page.url(), /\?path=%2FADMIN%2Fus$/);
    await ask('/admin/used');
    await ask('/other');
    await option(page, '/admin/used').waitFor();
    assert.equal(await option(page, '/other').count(), 0);

    await page.getByRole('button', { name: 'Clear filters' }).click();
    await option(page, '/other').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await ask('/while-paused');
    await page.getByRole('button', { name: '1 new' }).waitFor();
    assert.equal(await option(page, '/while-paused').count(), 0);
    await page.getByRole('button', { name: '1 new' }).click();
    await option(page, '/while-paused').waitFor();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
  });

  test('inspector: a search that ran out of time says how far it came, and continues', async (t) => {
    await ask('/searched', { method: 'POST', body: 'a needle in it' });
    const page = await open(t, '/inspector');
    const headers = {
      link: '<?body=needle&before=ffffffff-ffff-7fff-bfff-ffffffffffff>; rel="next"',
      'culvert-searched-to': '2026-11-22T10:41:07.250Z',
    };
    let isBehind = false;
    await page.route(/\/inspector\?.*body=needle/, (route) =>
      isBehind ? route.continue() : route.fulfill({ json: [], headers }),
    );
    await page.getByLabel('Search requests').fill('body:needle');
    await page.keyboard.press('Enter');
    await page.getByText(/^Searched back to 2026-11-22 /).waitFor();
    await shoot(page, 'inspector-searched-to');
    // It continues by itself first, as often as it may.
    const button = page.getByRole('button', { name: 'Search further back', disabled: false });
    await button.waitFor();
    isBehind = true;
    await button.click();
    await option(page, 'POST /searched').waitFor();
    assert.equal(await page.getByText('Searched back to').count(), 0);
  });

  test('inspector: a list that failed to load is not shown as empty', async (t) => {
    const page = await open(t, '/connections');
    await page.route(/\/inspector\?limit=/, (route) => route.fulfill({ status: 503, body: 'busy' }));
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Inspector' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    assert.equal(await page.getByText('No requests yet').count(), 0);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await option(page, '/admin/first').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  });

  test('inspector: arrow keys move, Enter opens, Escape closes a request', async (t) => {
    await ask('/first');
    await ask('/second');
    const page = await open(t, '/inspector');
    await option(page, '/second').waitFor();
    await page.getByRole('listbox', { name: 'Requests' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const beside = page.getByRole('region', { name: 'Selected request' });
    await beside.getByRole('heading', { name: 'GET /second' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await beside.getByRole('heading', { name: 'GET /first' }).waitFor();
    await page.keyboard.press('Escape');
    await beside.waitFor({ state: 'detached' });
    assert.equal(await page.evaluate<string>('document.activeElement.getAttribute("role")'), 'listbox');
  });

  test('inspector: single keys move, search, copy and compare', async (t) => {
    await ask('/keys/one');
    await ask('/keys/two');
    const page = await open(t, '/inspector?path=/keys', {
      context: { permissions: ['clipboard-read', 'clipboard-write'] },
    });
    const beside = page.getByRole('region', { name: 'Selected request' });
    await option(page, '/keys/two').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await beside.getByRole('heading', { name: 'GET /keys/two' }).waitFor();
    await page.keyboard.press('j');
    await beside.getByRole('heading', { name: 'GET /keys/one' }).waitFor();
    await page.keyboard.press('k');
    await beside.getByRole('heading', { name: 'GET /keys/two' }).waitFor();
    await page.keyboard.press('c');
    await page.getByText('curl command copied').waitFor();
    assert.match(await page.evaluate<string>('navigator.clipboard.readText()'), /^curl [^]*\/keys\/two/);
    await page.keyboard.press('r');
    await page.getByRole('dialog', { name: 'Replay request' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Escape');
    await beside.getByRole('heading', { name: 'GET /keys/two' }).waitFor();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await noSeriousFinding(page);
    await help.getByLabel('Use single-key shortcuts').click();
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    assert.notEqual(await page.evaluate('document.activeElement.tagName'), 'INPUT');
    await page.keyboard.press('?');
    await help.getByLabel('Use single-key shortcuts').click();
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('j?r');
    assert.equal(await page.getByLabel('Search requests').inputValue(), '/keysj?r');
  });

  test('inspector: selection and filters are in the address, and the back button works', async (t) => {
    await ask('/back/one');
    await ask('/back/two');
    const page = await open(t, '/inspector?path=/back');
    const beside = page.getByRole('region', { name: 'Selected request' });
    await option(page, '/back/two').click();
    await beside.getByRole('heading', { name: 'GET /back/two' }).waitFor();
    assert.match(page.url(), /\?path=%2Fback&request=[\da-f-]{36}$/);
    await option(page, '/back/one').click();
    await beside.getByRole('heading', { name: 'GET /back/one' }).waitFor();
    await page.reload();
    await beside.getByRole('heading', { name: 'GET /back/one' }).waitFor();
    await page.goBack();
    await beside.waitFor({ state: 'detached' });
    assert.match(page.url(), /\?path=%2Fback$/);
    await page.getByLabel('Search requests').fill('/back status:5xx method:GET');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No requests match' }).waitFor();
    assert.match(page.url(), /status=5xx/);
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await page.getByRole('menuitem', { name: 'Save filters' }).click();
    await page.getByRole('dialog', { name: 'Save filters' }).getByLabel('Name').fill('Server errors');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.goBack();
    await option(page, '/back/one').waitFor();
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await noSeriousFinding(page);
    await page.getByRole('menuitem', { name: 'Server errors', exact: true }).click();
    await page.getByRole('heading', { name: 'No requests match' }).waitFor();
    await page.getByLabel('Search requests').fill('status:9');
    await page.keyboard.press('Enter');
    await page.getByText("Can't understand status:9").waitFor();
    await page.getByRole('button', { name: 'Search words' }).click();
    await noSeriousFinding(page);
    await shoot(page, 'inspector-words');
    await page.getByRole('button', { name: 'status:404' }).click();
    assert.match(await page.getByLabel('Search requests').inputValue(), /status:404$/);
  });

  test('inspector: two requests are compared', async (t) => {
    const send = (count: number, trace: string): Promise<number> =>
      ask('/compare', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-trace': trace, cookie: `sid=${trace}` },
        body: JSON.stringify({ order: 7, items: [{ sku: 'A', count }], note: 'same' }),
      });
    await send(1, 'one');
    await send(2, 'two');
    const page = await open(t, '/inspector?path=/compare');
    const beside = page.getByRole('region', { name: 'Selected request' });
    await option(page, '/compare').click();
    await beside.getByRole('heading', { name: 'POST /compare' }).waitFor();
    await page.keyboard.press('d');
    await page.getByText('Choose a request to compare with POST /compare').waitFor();
    await page.getByRole('option').nth(1).click();
    await beside.getByRole('heading', { name: 'Comparison' }).waitFor();
    const body = beside.getByLabel('Request body', { exact: true }).locator('.culvert-diff');
    assert.match((await body.textContent()) ?? '', /-\s+"count": 2\+\s+"count": 1/);
    const headers = beside.getByRole('table', { name: 'Request headers' });
    assert.deepEqual(await headers.getByRole('row', { name: 'x-trace' }).getByRole('cell').allTextContents(), [
      'two',
      'one',
    ]);
    assert.equal(await headers.getByText('sid=').count(), 0);
    await noSeriousFinding(page);
    await shoot(page, 'inspector-compare');
    await beside.getByRole('link', { name: 'Open as page' }).click();
    await heading(page, 'Compare requests');
    await page.getByRole('link', { name: 'Swap' }).click();
    await page.getByText(/\+\s+"count": 2/).waitFor();
    await page.getByRole('link', { name: 'Close comparison' }).click();
    await heading(page, 'Request');
  });

  test('inspector: a request is exported as curl, the list as HAR', async (t) => {
    await ask('/curl', { headers: { authorization: 'Bearer hidden-word' } });
    const page = await open(t, '/inspector?path=/curl');
    await option(page, '/curl').click();
    await page.getByRole('button', { name: 'Request actions' }).click();
    await page.getByRole('menuitem', { name: 'Copy as curl' }).click();
    const command = page.getByRole('group', { name: 'the command' });
    assert.match((await command.textContent()) ?? '', /^curl .*'authorization: \*\*\*'/is);
    await page.getByLabel('Include credentials and cookies').click();
    await page.getByText('hidden-word').waitFor();
    await page.getByText('Python', { exact: true }).click();
    const code = page.getByRole('group', { name: 'the code' });
    assert.match((await code.textContent()) ?? '', /"authorization": "Bearer hidden-word"/i);
    await page.getByLabel('Include credentials and cookies').click();
    assert.match((await code.textContent()) ?? '', /"authorization": "\*\*\*"/i);
    await noSeriousFinding(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'List actions' }).click();
    await page.getByRole('menuitem', { name: 'Export as HAR' }).click();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save archive' }).click(),
    ]);
    const { log } = JSON.parse(await readFile(await saved.path(), 'utf8')) as { log: { entries: unknown[] } };
    assert.equal(log.entries.length, 1);
  });

  test('inspector: a lost feed reconnects, and missed requests appear', async (t) => {
    const page = await open(t, '/');
    await heading(page, 'Overview');
    let isAway = false;
    const feeds: WebSocketRoute[] = [];
    await page.routeWebSocket(/inspector\/ws/, async (feed) => {
      if (isAway) return feed.close({ code: 4000 });
      feed.connectToServer();
      feeds.push(feed);
    });
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Inspector' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByLabel('Search requests').fill('/gap');
    await ask('/gap/before');
    await option(page, '/gap/before').waitFor();
    isAway = true;
    for (const feed of feeds) await feed.close({ code: 4000 });
    await page.getByText('Disconnected, retrying').waitFor();
    await ask('/gap/meanwhile');
    assert.equal(await option(page, '/gap/meanwhile').count(), 0);
    isAway = false;
    await option(page, '/gap/meanwhile').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  test('inspector: a request has its own page on a phone, and all fits', async (t) => {
    await ask('/a-long-path/'.padEnd(300, 'x'));
    const page = await open(t, '/inspector?path=a-long-path', { context: { viewport: PHONE } });
    await option(page, '/a-long-path').waitFor();
    await narrow(page);
    await shoot(page, 'inspector-list-phone');
    await option(page, '/a-long-path').click();
    await heading(page, 'Request');
    await page.getByRole('heading', { level: 2, name: 'GET /a-long-path' }).waitFor();
    await narrow(page);
    await noSeriousFinding(page);
    await shoot(page, 'inspector-request-phone');
  });

  test('inspector: recorded requests of a tunnel are deleted after confirmation', async (t) => {
    await ask('/forget-me');
    const page = await open(t, `/inspector?tunnel=${tunnel}`);
    await option(page, '/forget-me').waitFor();
    await page.getByRole('button', { name: 'List actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete recorded requests' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete recorded requests for shop?' });
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Delete recorded requests' }).click();
    await page.getByRole('heading', { name: 'No requests match' }).waitFor();
  });

  function open(t: Ends, path: string, options?: TabOptions): Promise<Page> {
    return fixture.open(t, path, options);
  }
});

async function narrow(page: Page): Promise<void> {
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  assert.ok(wide <= 0, `${wide} pixels too wide`);
}
