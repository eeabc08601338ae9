// group: browser
/** One request in the inspector: opened, understood, shared and sent again. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Locator, Page } from 'playwright-core';
import { type Ends, inReverse } from '../harness/ends.ts';
import { heading, NO_CHROMIUM, noSeriousFinding, shoot, type TabOptions } from './fixture.ts';
import { type Inspected, option, startInspected, until } from './inspected.ts';

suite('a request in the inspector', { timeout: 180_000, skip: NO_CHROMIUM }, () => {
  const ends = inReverse({ after });
  let fixture: Inspected['fixture'];
  let tunnel: string;
  let ask: Inspected['ask'];
  before(async () => {
    ({ fixture, tunnel, ask } = await startInspected(ends));
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

  function open(t: Ends, path: string, options?: TabOptions): Promise<Page> {
    return fixture.open(t, path, options);
  }
});

/** Rows of a JSON tree, without the signs that fold them. */
async function treeRows(within: Locator): Promise<string[]> {
  const rows = within.getByRole('tree', { name: 'Body as JSON' }).getByRole('treeitem');
  await rows.first().waitFor();
  return (await rows.allTextContents()).map((row) => row.replace(/^[▸▾]/, ''));
}
