// group: browser
/** The inspector: requests come by themselves, are found again, opened, understood, sent again and taken along. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Locator, Page, WebSocketRoute } from 'playwright-core';
import { type Ends, inReverse } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import {
  heading,
  NO_CHROMIUM,
  noSeriousFinding,
  PHONE,
  shoot,
  startFixture,
  type TabOptions,
  type Fixture,
} from './fixture.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

suite('the inspector', { timeout: 180_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Fixture;
  let tunnel: string;
  before(async () => {
    fixture = await startFixture(ends, { toml: '[inspector]\nreplay = true\n' });
    const { port } = await startOrigin(ends, answer);
    const agent = fixture.culvert.agent(['http', String(port), '--subdomain', 'shop']);
    await agent.printed(/shop\.localhost/);
    const { body } = await fixture.culvert.account.call('GET', '/tunnels');
    tunnel = String((body as unknown as { id: string }[])[0]?.id);
    const policy = { actions: [{ kind: 'deny', path_prefix: '/admin' }] };
    await fixture.culvert.account.call('PUT', `/tunnels/${tunnel}/policy`, policy);
    await until(async () => (await ask('/admin/first')) === 403);
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

  test('inspector: a request shows its decisions, timing and bodies', async (t) => {
    await ask('/json', {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: 'sid=opensesame' },
      body: '{"n":12345678901234567890,"__proto__":{"a":[]}}',
    });
    const page = await open(t, `/inspector?tunnel=${tunnel}&path=/json`);
    await option(page, '/json').click();
    const beside = page.getByRole('region', { name: 'Selected request' });
    // The answer came packed.
    await beside.getByText('decoded (gzip)').waitFor();
    assert.deepEqual(await treeRows(beside), ['{ 1 field }', 'ok: true']);
    await beside.getByRole('tab', { name: 'Timing' }).click();
    await beside.getByText('Agent and service, to first byte').waitFor();
    await beside.getByRole('tab', { name: 'Request' }).click();
    assert.deepEqual(await treeRows(beside), [
      '{ 2 fields }',
      'n: 12345678901234567890',
      '__proto__: { 1 field }',
      'a: []',
    ]);
    await beside.getByRole('button', { name: 'Request headers' }).click();
    assert.equal(await beside.getByText('opensesame').count(), 0);
    await beside.getByLabel('Show credentials').click();
    await beside.getByText('sid=opensesame').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'inspector-beside');
    await beside.getByText('Hex', { exact: true }).click();
    await beside.getByText(/7b 22 6e/).waitFor();
    await beside.getByRole('tab', { name: 'Decision' }).click();
    await beside.getByText('Block a path, action 1 of the policy').waitFor();

    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      (async () => {
        await beside.getByRole('tab', { name: 'Request' }).click();
        await beside.getByRole('button', { name: 'Save the request body as file' }).click();
      })(),
    ]);
    assert.match(saved.suggestedFilename(), /^request-[\w-]+\.json$/);
    assert.match(await readFile(await saved.path(), 'utf8'), /^\{"n":/);
  });

  test('inspector: a blocked request shows the reason at its top', async (t) => {
    await ask('/admin/why');
    const page = await open(t, '/inspector?path=/admin/why');
    await option(page, '/admin/why').click();
    await page.getByText('Block a path, action 1 of the policy blocked it: /admin').first().waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'inspector-refused');
  });

  test('inspector: a blocked request is sent again once its policy is fixed', async (t) => {
    const policy = (path: string) =>
      fixture.culvert.account.call('PUT', `/tunnels/${tunnel}/policy`, {
        actions: [{ kind: 'deny', path_prefix: path }],
      });
    t.after(async () => {
      await policy('/admin');
      await until(async () => (await ask('/admin/first')) === 403);
    });
    await ask('/admin/again', { headers: { cookie: 'sid=1' } });
    await policy('/elsewhere');
    await until(async () => (await ask('/admin/first')) === 200);
    const page = await open(t, '/inspector?path=/admin/again');
    await option(page, '/admin/again').click();
    await page.getByRole('button', { name: 'Send again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send blocked request again' });
    await dialog.getByText('Your service never got this request').waitFor();
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByText('Request sent').waitFor();
    await dialog.getByRole('link', { name: 'Open new request' }).click();
    await page.getByText('sent again after a block').waitFor();
    await shoot(page, 'inspector-sent-again');
  });

  test('inspector: a request is shared by a link, which can be revoked', async (t) => {
    const message = gzipSync(Buffer.from([0x08, 0x2a]));
    await ask('/shared', {
      method: 'POST',
      headers: { authorization: 'Bearer hidden-word', 'content-type': 'application/grpc', 'grpc-encoding': 'gzip' },
      body: Buffer.concat([Buffer.from([1, 0, 0, 0, message.length]), message]),
    });
    const page = await open(t, '/inspector?path=/shared');
    await option(page, '/shared').click();
    await page.getByRole('button', { name: 'Request actions' }).click();
    await page.getByRole('menuitem', { name: 'Share by link' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share request' });
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const link = (await dialog.getByRole('group', { name: 'the link' }).textContent()) ?? '';
    await dialog.getByRole('table', { name: 'Active links' }).getByText('admin@localhost').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'inspector-share');
    const visitor = await fixture.open(t, '/nowhere', { as: null });
    await visitor.goto(link);
    await visitor.getByText('/shared').first().waitFor();
    assert.equal(await visitor.getByText('hidden-word').count(), 0);
    await visitor.getByRole('treeitem', { name: '1: 42' }).first().waitFor();
    await noSeriousFinding(visitor);
    await shoot(visitor, 'inspector-shared');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Link revoked.').waitFor();
    const read = await fetch(link, { headers: { accept: 'application/json' } });
    assert.equal(read.status, 404);
  });

  test('inspector: values are masked before they are stored', async (t) => {
    const page = await open(t, `/tunnels/${tunnel}?tab=recording`);
    const rules = page.getByLabel('Mask rules');
    await rules.fill('X-Api-Key');
    await page.getByRole('button', { name: 'Save rules' }).click();
    await page.getByText('"X-Api-Key" is not a rule').waitFor();
    await rules.fill('header: X-Api-Key\njson: $.card.number');
    await page.getByRole('button', { name: 'Save rules' }).click();
    await page.getByText('Mask rules saved.').waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'inspector-mask-rules');
    await ask('/masked', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'hidden-key' },
      body: '{"card":{"number":"4111"},"total":7}',
    });
    await page.goto(`${fixture.culvert.apiUrl}/app/inspector?path=/masked`);
    await option(page, '/masked').click();
    await page.getByRole('tab', { name: 'Request' }).click();
    await page.getByText('Masked before it was stored: x-api-key, $.card.number').waitFor();
    await page.getByRole('treeitem', { name: 'number: "***"' }).waitFor();
    await page.getByRole('treeitem', { name: 'total: 7' }).waitFor();
    await fixture.culvert.account.call('PUT', `/tunnels/${tunnel}/inspector`, { mask: [] });
  });

  test('inspector: forms are shown as rows, pictures as pictures', async (t) => {
    await ask('/form', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'name=Ann+Lee&city=%C3%85rhus',
    });
    await ask('/picture');
    const page = await open(t, '/inspector?path=/form');
    await option(page, '/form').click();
    await page.getByRole('tab', { name: 'Request' }).click();
    const rows = page.getByRole('table', { name: 'Form fields' });
    assert.equal(await rows.getByRole('row', { name: 'city' }).textContent(), 'cityÅrhus');
    await page.getByLabel('Search requests').fill('/picture');
    await option(page, '/picture').click();
    const picture = page.getByRole('img', { name: 'Body as image/png' });
    await picture.waitFor();
    assert.equal(await picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth), 1);
  });

  test('inspector: a JSON tree is folded, searched, and gives its paths', async (t) => {
    const items = Array.from({ length: 400 }, (_, at) => ({ sku: `A-${at}`, tags: ['red', 'blue'] }));
    await ask('/tree', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ order: 7, items }),
    });
    const page = await open(t, '/inspector?path=/tree');
    await option(page, '/tree').click();
    await page.getByRole('tab', { name: 'Request' }).click();
    const tree = page.getByRole('tree', { name: 'Body as JSON' });
    await tree.getByRole('treeitem', { name: 'items: [ 400 items ]' }).click();
    await tree.getByRole('treeitem', { name: '0: { 2 fields }', exact: true }).waitFor();
    // Only what is in sight is drawn.
    assert.ok((await tree.getByRole('treeitem').count()) < 80);
    await page.getByLabel('Search in body as json').fill('a-399');
    await tree.getByRole('treeitem', { name: 'sku: "A-399"' }).waitFor();
    await page.getByText('1 of 1').waitFor();
    await page.getByRole('group', { name: 'Selected value' }).getByText('$.items[399].sku').waitFor();
    await page.getByRole('button', { name: 'Collapse all' }).click();
    assert.deepEqual(await treeRows(page.getByRole('tabpanel')), ['{ 2 fields }', 'order: 7', 'items: [ 400 items ]']);
    await tree.press('ArrowDown');
    await page.getByText('$', { exact: true }).waitFor();
    await noSeriousFinding(page);
  });

  test('inspector: events, gRPC messages, form parts and GraphQL are shown one by one', async (t) => {
    const grpc = Buffer.from([0, 0, 0, 0, 4, 0x08, 0x2a, 0x12, 0x00]);
    await ask('/events', {
      method: 'POST',
      headers: { 'content-type': 'text/event-stream' },
      body: `event: tick\nid: 1\ndata: {"n":1}\n\ndata: two\n\nevent: ${'long'.repeat(2_000)}\ndata: 3\n\n`,
    });
    await ask('/grpc', {
      method: 'POST',
      headers: { 'content-type': 'application/grpc' },
      body: grpc.toString('latin1'),
    });
    await ask('/parts', {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=X' },
      body: '--X\r\nContent-Disposition: form-data; name="order"\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n--X--\r\n',
    });
    await ask('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'query GetOrders($n: Int) { orders(first: $n) { id } }', variables: { n: 3 } }),
    });
    const page = await open(t, '/inspector');
    const beside = page.getByRole('region', { name: 'Selected request' });
    const choose = async (path: string): Promise<void> => {
      await option(page, path).click();
      await beside.getByRole('heading', { name: `POST ${path}` }).waitFor();
      await beside.getByRole('tab', { name: 'Request' }).click();
    };
    await choose('/events');
    const events = beside.getByRole('list', { name: 'Events' });
    await events.getByRole('button', { name: 'tick' }).waitFor();
    await events.getByRole('treeitem', { name: 'n: 1' }).waitFor();
    await events.getByText('two').waitFor();
    const long = await events.getByRole('button', { name: 'longlong' }).textContent();
    assert.ok((long?.length ?? 0) < 400, 'a name of any length would push the rest out of sight');
    await choose('/grpc');
    await beside.getByRole('button', { name: 'Message 1' }).waitFor();
    await beside.getByRole('treeitem', { name: '1: 42' }).waitFor();
    await choose('/parts');
    await beside.getByRole('list', { name: 'Form parts' }).getByRole('treeitem', { name: 'a: 1' }).waitFor();
    await noSeriousFinding(page);
    await shoot(page, 'inspector-parts');
    await choose('/graphql');
    await beside.getByText('GraphQL query GetOrders').waitFor();
    await beside.getByRole('tree', { name: 'Variables' }).getByRole('treeitem', { name: 'n: 3' }).waitFor();
  });

  test('inspector: a changed replay shows both responses side by side', async (t) => {
    await ask('/pay', {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'x-debug': '0', authorization: 'Bearer abc' },
      body: 'one',
    });
    const page = await open(t, '/inspector?path=/pay');
    await option(page, '/pay').click();
    await page.getByRole('button', { name: 'Replay' }).click();
    const dialog = page.getByRole('dialog', { name: 'Replay request' });
    const headers = dialog.getByLabel('Headers');
    assert.match(await headers.inputValue(), /^authorization: ••••••••$/im);
    await shoot(page, 'inspector-replay-covered');
    await dialog.getByRole('button', { name: 'Show credentials' }).click();
    assert.match(await headers.inputValue(), /^authorization: Bearer abc$/im);
    await dialog.getByRole('button', { name: 'Hide credentials' }).click();
    await dialog.getByLabel('Body').fill('two');
    await dialog.getByLabel('Path and query').fill('/pay?again=1');
    await noSeriousFinding(page);
    await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
    await dialog.getByText('Request sent').waitFor();
    await dialog.getByText(/\+ POST two/).waitFor();
    await shoot(page, 'inspector-replay');
    await dialog.getByRole('link', { name: 'Open new request' }).click();
    await heading(page, 'Request');
    await page.getByRole('heading', { name: 'POST /pay?again=1' }).waitFor();
    await page.getByText('POST two').waitFor();
    await page.getByRole('link', { name: 'the first request' }).click();
    await page.getByRole('heading', { name: 'POST /pay', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Request actions' }).click();
    await page.getByRole('menuitem', { name: 'Show replays' }).click();
    await option(page, 'POST /pay?again=1').waitFor();
    assert.equal(await page.getByRole('option').count(), 1);
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

  function ask(path: string, { method = 'GET', headers = {}, body = '' }: Asking = {}): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const outgoing = request({
      host: '127.0.0.1',
      port: fixture.culvert.ports.http,
      agent: false,
      path,
      method,
      headers: { host: 'shop.localhost', 'content-length': Buffer.byteLength(body), ...headers },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => void text(response).then(() => resolve(response.statusCode ?? 0), reject));
    outgoing.end(body);
    return promise;
  }
});

/** Rows of a JSON tree, without the signs that fold them. */
async function treeRows(within: Locator): Promise<string[]> {
  const rows = within.getByRole('tree', { name: 'Body as JSON' }).getByRole('treeitem');
  await rows.first().waitFor();
  return (await rows.allTextContents()).map((row) => row.replace(/^[▸▾]/, ''));
}

/** The row whose name holds this. */
function option(page: Page, name: string) {
  return page.getByRole('option', { name }).first();
}

async function narrow(page: Page): Promise<void> {
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  assert.ok(wide <= 0, `${wide} pixels too wide`);
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** The service. */
function answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (incoming.url === '/json') {
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    incoming.resume().on('end', () => outgoing.end(gzipSync('{"ok":true}')));
  } else if (incoming.url === '/picture') {
    outgoing.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(PIXEL, 'base64'));
  } else {
    outgoing.writeHead(200, { 'content-type': 'text/plain' });
    void text(incoming).then((body) => outgoing.end(`${incoming.method} ${body}`));
  }
}
