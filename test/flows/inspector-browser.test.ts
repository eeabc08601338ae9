// group: browser
/** The live feed of the inspector in a browser, on a page of the API and on one of a tunnel. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_CHROMIUM, startChromium, untilTrue } from '../harness/chromium.ts';
import { startInspectedService } from './inspected-service.ts';

/** Opens a WebSocket in a page and tells how that ended; messages become the title. */
const HEAR = `([url, protocols]) => new Promise((resolve) => {
  const socket = new WebSocket(url, protocols);
  socket.onopen = () => resolve('open ' + socket.protocol);
  socket.onmessage = ({ data }) => { document.title = data; };
  socket.onclose = ({ code }) => resolve('closed ' + code);
})`;

test('Chromium listens by the protocol that has no token in it, on a page of the API and not on one of a tunnel', {
  skip: NO_CHROMIUM,
}, async (t) => {
  const { culvert, visit } = await startInspectedService(t);
  const { apiUrl, bearer } = culvert.account;
  const browser = await startChromium(t);
  const page = await browser.newPage();
  const hear = (...protocols: string[]) =>
    page.evaluate(`(${HEAR})(${JSON.stringify([`${apiUrl.replace('http', 'ws')}/inspector/ws`, protocols])})`);
  await page.goto(`${apiUrl}/health`);
  // Which it must select one of: here the only one that was offered.
  assert.equal(await hear(`bearer.${bearer}`), `open bearer.${bearer}`);
  assert.equal(await hear('culvert.inspector', `bearer.${bearer}`), 'open culvert.inspector');
  await visit('GET', '/from-a-visitor');
  await untilTrue(page, `document.title.includes('/from-a-visitor')`);
  assert.equal(await hear('culvert.inspector'), 'closed 1006');

  await page.goto(`http://shop.localhost:${culvert.httpPort}/`);
  assert.equal(await hear('culvert.inspector', `bearer.${bearer}`), 'closed 1006');
});
