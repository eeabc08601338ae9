/**
 * `npm run screenshots -- [--out FOLDER] [--only NAME,NAME] [--readme]`: every page of the dashboard on a desktop and a phone, light and dark, of a
 * server with something of everything (test/dashboard/seeded.ts), as PNG files: `<page>-<desktop|phone>-<light|dark>.png`. `--readme` makes the two
 * pictures of README.md alone, in docs/images.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Seeded, startSeeded } from '../test/dashboard/seeded.ts';
import { DESKTOP, PHONE, settled } from '../test/dashboard/fixture.ts';
import { Ending } from '../test/harness/ends.ts';
import { get } from '../test/harness/visitor.ts';
import { shootTerminal } from './screenshots/terminal.ts';

const { values } = parseArgs({
  options: { out: { type: 'string' }, only: { type: 'string' }, readme: { type: 'boolean' } },
});
const out = values.out ?? (values.readme === true ? 'docs/images' : 'screenshots');
const only = values.only?.split(',');
mkdirSync(out, { recursive: true });

const SIZES = { desktop: DESKTOP, phone: PHONE } as const;

/** Every page in one size and one scheme. */
async function shootAll(seeded: Seeded, size: keyof typeof SIZES, colorScheme: 'light' | 'dark'): Promise<void> {
  const context = { viewport: SIZES[size], colorScheme };
  const pages = {
    stranger: await seeded.open(ending, '/', { as: null, context }),
    newcomer: await seeded.open(ending, '/', { as: seeded.newcomer, context }),
    owner: await seeded.open(ending, '/', { context }),
  };
  const places = seeded.places.filter(({ name }) => only === undefined || only.includes(name));
  for (const { name, path, as = 'owner' } of places) {
    const page = pages[as];
    await page.goto(`${seeded.culvert.apiUrl}/app${path}`);
    await settled(page);
    await page.screenshot({ path: join(out, `${name}-${size}-${colorScheme}.png`), fullPage: true });
  }
  console.log(`${size}, ${colorScheme}: ${places.length} pages`);
}

const VISITS = [
  '/',
  '/assets/logo.png',
  '/api/cart',
  '/missing',
  '/api/orders',
  '/',
  '/products/7',
  '/broken',
  '/api/cart',
];

/** What a visitor of the project sees first: small, for they are in the repository. */
async function shootForReadme(seeded: Seeded): Promise<void> {
  await shootTerminal(seeded.browser, join(out, 'terminal.png'));
  for (const path of VISITS) await get(`http://shop.localhost${path}`, seeded.culvert.ports.http);
  const page = await seeded.open(ending, '/inspector', { context: { viewport: DESKTOP, colorScheme: 'light' } });
  await settled(page);
  await page.screenshot({ path: join(out, 'dashboard.png') });
}

const ending = new Ending();
try {
  const seeded = await startSeeded(ending);
  if (values.readme === true) await shootForReadme(seeded);
  else
    for (const size of ['desktop', 'phone'] as const)
      for (const colorScheme of ['light', 'dark'] as const) await shootAll(seeded, size, colorScheme);
} finally {
  await ending.run();
}
console.log(`look at them in ${out}`);
