// group: browser
/** What a real browser takes a tunnel's cookies for: those of one tunnel never reach its neighbour under the same domain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpOrigin, Rig } from '../../src/data/edge/testing/rig.ts';
import { NO_CHROMIUM, startChromium } from '../harness/chromium.ts';
import { inReverse } from '../harness/ends.ts';

const SET = [
  'own=1; Path=/',
  'whole=1; Domain=shop.example.test',
  'shared=1; Domain=example.test',
  'dotted=1; domain=.EXAMPLE.test; Path=/',
  'spaced=1 ;\tDomain \t= example.test ; Path=/',
  'last=1; Domain=shop.example.test; Domain=example.test',
  'first=1; Domain=example.test; Domain=shop.example.test',
  'quoted="1; Domain=example.test"',
  'twice=1; Domain=example.test; Domain=example.test',
  'culvert_visitor=1; Path=/',
  '=culvert_visitor=1; Domain=example.test',
  'qnt_refresh=1; Domain=example.test',
];
const OWN = ['dotted', 'first', 'last', 'own', 'quoted', 'shared', 'spaced', 'whole'];

test('a browser gives a cookie back to the tunnel that set it, and to no other', {
  timeout: 60_000,
  skip: NO_CHROMIUM,
}, async (t) => {
  const ends = inReverse(t);
  const rig = await Rig.start(ends);
  const origin = await httpOrigin(ends, (request, response) => {
    if (request.url === '/set') response.setHeader('Set-Cookie', SET);
    response.end(request.headers.cookie ?? '');
  });
  await rig.serve('shop', origin.port);
  await rig.serve('next', origin.port);
  const browser = await startChromium(ends);
  // Names are not resolved: the edge is the browser's proxy, and takes the absolute addresses that browsers send to one.
  const context = await browser.newContext({ proxy: { server: `http://127.0.0.1:${rig.port}` } });
  ends.after(() => context.close());
  const page = await context.newPage();
  const sent = async (name: string): Promise<string[]> => {
    await page.goto(`http://${name}.example.test/`);
    const cookies = (await page.textContent('body')) ?? '';
    return cookies === '' ? [] : cookies.split('; ').map((cookie) => cookie.split('=', 1)[0] ?? '');
  };
  await page.goto('http://shop.example.test/set');
  assert.deepEqual((await sent('shop')).sort(), OWN);
  assert.deepEqual(await sent('next'), []);
});
